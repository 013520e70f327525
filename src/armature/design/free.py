"""`optimize_parameters`: the numbers of a robot with which its moves cost least.

    (F1)  min over p of Σ_i w_i V_i(p),   lower ≤ p ≤ upper

V_i(p) is the optimal cost of move i for the robot with the parameters p, and its derivative is that
of the envelope theorem (lagrangian.py), so that motions and parameters are optimal together: an
outer quasi-Newton method over p, whose every evaluation solves each move's motion to all digits
from the one before. Modes, knots and back-off are held within a round; then the moves are planned
afresh with the numbers found, and another round begins while that gains anything."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.cell.program.program import Program
from armature.cell.program.program_plan import ProgramPlan
from armature.design.descent import Evaluation, Scale, descend
from armature.design.lagrangian import Optimum
from armature.design.parameters import Parameter, parameter
from armature.design.places import move_of
from armature.design.program_jobs import as_tasks
from armature.design.sensitivity import neighbours, optimum_of
from armature.errors import ArgumentError
from armature.job.job import Job
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.planner.accelerations import with_inferred
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot

ROUNDS = 4  # of planning afresh
GAIN = 1e-5  # of the cost: a round that gains less is the last
EXACT = Options(tolerance=1e-8, iterations=300)  # of plans: rounds are compared by their costs

Law = Callable[[Robot], Robot]
Told = Callable[[str], Any]


@dataclass(frozen=True, eq=False)
class Design:
    """The best numbers of a robot for its moves.

    values: {parameter: value}.  units: of these.  robot: with them.  before, after: Σ w_i × cost of
    the plans with the old and the new numbers, J or s.  plans, first: of the moves, after and
    before.  at_bound: parameters that end at a bound.  evaluations: of all moves together.
    seconds: CPU.  of: "energy", "losses" or "time"."""

    values: dict[str, float]
    start: dict[str, float]
    units: dict[str, str]
    robot: Robot
    before: float
    after: float
    plans: tuple[Solution, ...]
    first: tuple[Solution, ...]
    at_bound: tuple[str, ...]
    converged: bool
    evaluations: int
    seconds: float
    of: str

    @property
    def ok(self) -> bool:
        """Whether every move has a plan that keeps all limits."""
        return all(plan.ok for plan in self.plans)

    @property
    def saving(self) -> float:
        """Part of the cost before that is saved."""
        return 1.0 - self.after / self.before if self.before else 0.0

    def __str__(self) -> str:
        unit = "s" if self.of == "time" else "J"
        rows = [
            f"{name}: {self.start[name]:.5g} → {value:.5g} {self.units[name]}".rstrip()
            + (" (at its bound)" if name in self.at_bound else "")
            for name, value in self.values.items()
        ]
        rows.append(
            f"{self.of}: {self.before:.5g} → {self.after:.5g} {unit}, {100 * self.saving:.1f} %"
            " saved"
        )
        if not self.converged:
            rows.append("the search ended before its tolerance: a slightly better one may exist")
        return "\n".join(rows)


def optimize_parameters(
    robot: Robot,
    moves: Move | Program | ProgramPlan | Sequence[Move | Job | Program | ProgramPlan],
    free: Mapping[str | Parameter, tuple[float, float]],
    supply: Any = None,
    laws: Sequence[Law] = (),
    weights: Sequence[float] | None = None,
    of: str | None = None,
    knots: int = 100,
    iterations: int = 60,
    told: Told | None = None,
) -> Design:
    """The numbers of a robot, within bounds, with which its moves cost least; motions are optimal
    for them.

    moves: one or several, with durations for least energy (Σ of them), all without for least time;
    or programs (their motions in the durations of their plans, without the stops); or jobs. What
    is carried may differ, numbers sought must not.
    free: {parameter: (lower, upper)}; a parameter is a name, as in `Solution.sensitivity`, or a
    `design.Parameter`.  supply, knots: as in `minimize_energy`.
    laws: what follows from the numbers, robot -> robot, in this order after each change: the mass
    of a tube that grows with its length (`design.tube`), a motor's mass on the link that bears it.
    weights: how often each move is made, 1 each by default.
    of: "energy" (drawn), "losses" or "time"; by default losses where the supply takes energy back,
    else energy.  told: called with a sentence after each step.
    A local optimum near the robot's own numbers, of the moves without smoothness; its plans have
    the moves' own, and are certified as any other."""
    begin = time.process_time()
    given = [as_job(robot, task, supply, knots) for task in as_tasks(moves)]
    tasks: list[Any] = [job.task for job in given]
    numbers, bounds = checked(robot, given, free)
    held = with_limits_held([robot] + [job.robot for job in given], tasks)
    search = Search(
        held[0],
        [replace(j, robot=r, task=least(t)) for j, r, t in zip(given, held[1:], tasks)],
        numbers,
        tuple(laws),
        checked_weights(weights, len(tasks)),
    )
    start = np.array([p.value for p in numbers])
    first = search.planned(start, None)
    search.of = what(first, of)
    p, plans = np.clip(start, *bounds.T), first
    if np.any(p != start):
        plans = search.planned(p, first)
    best, converged = search.cost(plans), False
    for _ in range(ROUNDS):
        found, converged = search.round(p, plans, bounds, iterations, told)
        renewed = search.planned(found, plans)
        cost = search.cost(renewed)
        if not cost < best:
            break
        gained, (p, plans, best) = best - cost, (found, renewed, cost)
        if gained < GAIN * abs(best):
            break
    # the moves as they were asked for, with the old numbers and the new ones
    search.jobs = [replace(job, task=task) for job, task in zip(search.jobs, tasks)]
    first, plans = (search.planned(x, y, False) for x, y in ((start, first), (p, plans)))
    names = [number.name for number in numbers]
    at_bound = np.isclose(p, bounds[:, 0], rtol=1e-6) | np.isclose(p, bounds[:, 1], rtol=1e-6)
    return Design(
        dict(zip(names, map(float, p))),
        dict(zip(names, map(float, start))),
        {number.name: number.unit for number in numbers},
        search.changed(search.robot, p),
        search.cost(first),
        search.cost(plans),
        tuple(plans),
        tuple(first),
        tuple(name for name, yes in zip(names, at_bound) if yes),
        converged,
        search.evaluations,
        time.process_time() - begin,
        search.of,
    )


def as_job(robot: Robot, task: Any, supply: Any, knots: int) -> Job:
    """A move as a job of the robot; a job as it is, its scene with its move."""
    if isinstance(task, Move):
        return Job(robot, task, "energy", supply, knots)
    if not isinstance(task, Job) or not isinstance(task.task, Move):
        what = f"{task.name!r}, along a path" if isinstance(task, Job) else repr(task)[:60]
        raise ArgumentError(
            f"moves: {what} is no move; give an arm.Move, a list of them, or a program of moves"
        )
    move = task.task if task.scene is None else replace(task.task, scene=task.scene)
    return replace(task, task=move, scene=None)


def least(move: Move) -> Move:
    """The same without smoothness, which gives a part of the saving up."""
    return replace(move, smoothness=0.0)


def checked(
    robot: Robot, jobs: Sequence[Job], free: Mapping[str | Parameter, tuple[float, float]]
) -> tuple[list[Parameter], np.ndarray]:
    """The parameters, and their bounds (count, 2)."""
    if not jobs:
        raise ArgumentError("moves: give an arm.Move, or a list of them")
    if len({job.task.duration is None for job in jobs}) > 1:
        raise ArgumentError(
            "moves: some have a duration and some have none; give all one (least energy) or none"
            " (least time)"
        )
    if not free:
        raise ArgumentError('free is empty; name a parameter: {"gear ratio of elbow": (20, 200)}')
    numbers = [parameter(robot, name) for name in free]
    bounds = np.array([tuple(map(float, pair)) for pair in free.values()]).reshape(-1, 2)
    for number, (low, high) in zip(numbers, bounds):
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise ArgumentError(
                f"{number.name}: bounds ({low:g}, {high:g}) must be two finite numbers that rise"
            )
    for name, number in zip(free, numbers):
        values = {number.value} | {parameter(job.robot, name).value for job in jobs}
        if len(values) > 1:
            raise ArgumentError(
                f"{number.name} is {' and '.join(f'{x:.4g}' for x in sorted(values))} in these"
                " tasks, whose robots carry different loads; take a parameter that they share"
            )
    return numbers, bounds


def checked_weights(weights: Sequence[float] | None, count: int) -> tuple[float, ...]:
    """How often each of `count` moves is made."""
    found = tuple(float(w) for w in (weights if weights is not None else [1.0] * count))
    if len(found) != count or not all(math.isfinite(w) and w >= 0.0 for w in found):
        raise ArgumentError(f"weights = {found}: give a number ≥ 0 for each of the {count} moves")
    return found


def with_limits_held(robots: Sequence[Robot], tasks: Sequence[Move]) -> list[Robot]:
    """The robots with the acceleration limits that their plans would infer from the drives: held,
    so that they do not follow the numbers sought."""
    found = list(robots)
    for k, robot in enumerate(found):
        for task in tasks:
            if task.duration is not None:
                found[k] = robot = with_inferred(robot, task.in_joints(robot))[0]
    return found


def as_flexible(robot: Robot) -> Robot:
    """The robot with the numbers of its drives and the masses of its links as parameters of its
    kernels; unchanged where several motors share a joint, whose shares are constants."""
    if any(len(c.drives) > 1 or len(c.joints) > 1 for c in robot.drives):
        return robot
    limits = {limit.name for c in robot.drives for d in c.drives for limit in d.limits()}
    links = (replace(x, payload=x.payload or (0.0, x.com)) for x in robot.links)
    return replace(robot, links=tuple(links), variable_limits=tuple(sorted(limits)))


def what(plans: Sequence[Solution], of: str | None) -> str:
    """What is minimised, checked."""
    timed = optimum_of(plans[0]).timed
    known = ("time",) if timed else ("energy", "losses")
    of = of or ("time" if timed else "losses" if plans[0].returns else "energy")
    if of not in known:
        raise ArgumentError(f"of = {of!r} is not what these moves give; choose {', '.join(known)}")
    return of


@dataclass(eq=False)
class Search:
    """(F1) of some moves. robot: the caller's.  jobs: with what each robot carries.  evaluations:
    counted."""

    robot: Robot
    jobs: list[Job]
    numbers: list[Parameter]
    laws: tuple[Law, ...]
    weights: tuple[float, ...]
    of: str = "energy"
    evaluations: int = 0

    def __post_init__(self) -> None:
        self.hessian = np.zeros((len(self.numbers), len(self.numbers)))

    def changed(self, robot: Robot, p: np.ndarray) -> Robot:
        """A robot with the parameters p, and what follows from them."""
        for number, value in zip(self.numbers, p):
            robot = number.change(robot, float(value))
        for law in self.laws:
            robot = law(robot)
        return robot

    def robot_at(self, p: np.ndarray, job: Job, floor: Any = None, flexible: bool = True) -> Robot:
        """The robot of a job with the parameters p. floor: of a plan.  flexible: with its drives
        and masses as parameters of its kernels, so that other ones need no compiling."""
        found = self.changed(job.robot, p)
        found = as_flexible(found) if flexible else found
        return found if floor is None else replace(found, floor=floor)

    def planned(
        self, p: np.ndarray, known: Sequence[Solution] | None, flexible: bool = True
    ) -> list[Solution]:
        """The plans of all moves with the parameters p."""
        plans = []
        for k, job in enumerate(self.jobs):
            robot, task = self.robot_at(p, job, flexible=flexible), job.task
            guess = known[k].trajectory if known else None
            plan = (
                minimize_time(robot, task, job.knots, guess, supply=job.supply)
                if task.duration is None
                else minimize_energy(robot, task, job.supply, job.knots, guess, options=EXACT)
            )
            if not plan.ok and known is None:
                raise ArgumentError(
                    f"move {k + 1} has no plan with the robot's own numbers, from which the search"
                    f" begins: {plan.diagnosis}"
                )
            plans.append(plan)
        return plans

    def cost(self, plans: Sequence[Solution]) -> float:
        """Σ w × cost; infinite where a move has no plan."""
        if not all(plan.ok for plan in plans):
            return math.inf
        each = (plan.duration if self.of == "time" else getattr(plan, self.of) for plan in plans)
        return float(sum(w * x for w, x in zip(self.weights, each)))

    def round(
        self,
        p: np.ndarray,
        plans: Sequence[Solution],
        bounds: np.ndarray,
        iterations: int,
        told: Told | None,
    ) -> tuple[np.ndarray, bool]:
        """The best parameters for motions of the modes, knots and back-off of these plans."""
        optima = [optimum_of(plan) for plan in plans]
        scale = Scale(bounds)
        names = [number.name for number in self.numbers]

        def at(y: np.ndarray, near: Any) -> Evaluation:
            self.evaluations += 1
            values = scale.values(y)
            cost, slope, solved = self.evaluate(values, near or optima, plans)
            if told:
                shown = ", ".join(f"{name} {value:.5g}" for name, value in zip(names, values))
                told(f"{shown}: {cost:.6g} {'s' if self.of == 'time' else 'J'}")
            return Evaluation(cost, slope * scale.slopes(values), solved)

        found, self.hessian, converged = descend(at, scale.places(p), self.hessian, iterations)
        return scale.values(found), converged

    def evaluate(
        self, p: np.ndarray, near: Sequence[Optimum], plans: Sequence[Solution]
    ) -> tuple[float, np.ndarray, list[Optimum]]:
        """Σ w V, its derivatives, and the optima; infinite where one is not found."""
        cost, slope, solved = 0.0, np.zeros(len(p)), []
        for weight, old, plan, job in zip(self.weights, near, plans, self.jobs):
            robot = self.robot_at(p, job, plan.robot.floor)
            try:
                here = old.solved(robot, move_of(robot, plan.task, old.problem.move))
            except ArgumentError:  # a pose out of reach
                here = None
            if here is None:
                return math.inf, slope, []
            value = here.result.cost
            value += here.stored(robot, here.problem.move) if self.of == "energy" else 0.0
            cost += weight * value
            slope += weight * self.slopes(p, here, plan, job)
            solved.append(here)
        return cost, slope, solved

    def slopes(self, p: np.ndarray, here: Optimum, plan: Solution, job: Job) -> np.ndarray:
        """dV/dp of one move, by the envelope theorem."""
        found = np.zeros(len(p))
        for k, number in enumerate(self.numbers):

            def change(_: Robot, value: float, k: int = k) -> Robot:
                return self.robot_at(np.array([*p[:k], value, *p[k + 1 :]]), job, plan.robot.floor)

            moved = replace(number, value=float(p[k]), change=change)
            low, high, width = neighbours(here.problem.robot, moved)
            pairs = [(r, move_of(r, plan.task, here.problem.move)) for r in (low, high)]
            found[k] = here.derivative(pairs[0], pairs[1], width)
            if self.of == "energy":
                found[k] += (here.stored(*pairs[1]) - here.stored(*pairs[0])) / width
        return found

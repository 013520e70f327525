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

from armature.design.descent import Evaluation, descend
from armature.design.lagrangian import Optimum
from armature.design.parameters import Parameter, parameter
from armature.design.places import move_of
from armature.design.sensitivity import neighbours, optimum_of
from armature.errors import ArgumentError
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
LOGARITHMIC = 2.0  # bounds of the same sign that are farther apart than this factor: by logarithms

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
    moves: Move | Sequence[Move],
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

    moves: one or several, with durations for least energy (Σ of them), all without for least time.
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
    tasks = [moves] if isinstance(moves, Move) else list(moves)
    numbers, bounds = checked(robot, tasks, free)
    least = [replace(task, smoothness=0.0) for task in tasks]
    search = Search(
        with_limits_held(robot, tasks),
        least,
        numbers,
        tuple(laws),
        supply,
        knots,
        tuple(weights or [1.0] * len(tasks)),
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
    search.tasks = tasks
    first, plans = (search.planned(x, y, False) for x, y in ((start, first), (p, plans)))
    names = [number.name for number in numbers]
    held = np.isclose(p, bounds[:, 0], rtol=1e-6) | np.isclose(p, bounds[:, 1], rtol=1e-6)
    return Design(
        dict(zip(names, map(float, p))),
        dict(zip(names, map(float, start))),
        {number.name: number.unit for number in numbers},
        search.robot_at(p, flexible=False),
        search.cost(first),
        search.cost(plans),
        tuple(plans),
        tuple(first),
        tuple(name for name, yes in zip(names, held) if yes),
        converged,
        search.evaluations,
        time.process_time() - begin,
        search.of,
    )


def checked(
    robot: Robot, tasks: list[Move], free: Mapping[str | Parameter, tuple[float, float]]
) -> tuple[list[Parameter], np.ndarray]:
    """The parameters, and their bounds (count, 2)."""
    if not tasks or not all(isinstance(task, Move) for task in tasks):
        raise ArgumentError("moves: give an arm.Move, or a list of them")
    if len({task.duration is None for task in tasks}) > 1:
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
    return numbers, bounds


def with_limits_held(robot: Robot, tasks: list[Move]) -> Robot:
    """The robot with the acceleration limits that its plans would infer from the drives: held, so
    that they do not follow the numbers sought."""
    for task in tasks:
        if task.duration is not None:
            robot = with_inferred(robot, task.in_joints(robot))[0]
    return robot


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
    """(F1) of some moves. robot: with its own numbers.  evaluations: counted."""

    robot: Robot
    tasks: list[Move]
    numbers: list[Parameter]
    laws: tuple[Law, ...]
    supply: Any
    knots: int
    weights: tuple[float, ...]
    of: str = "energy"
    evaluations: int = 0

    def __post_init__(self) -> None:
        self.hessian = np.zeros((len(self.numbers), len(self.numbers)))

    def robot_at(self, p: np.ndarray, floor: Any = None, flexible: bool = True) -> Robot:
        """The robot with the parameters p, and what follows from them. floor: of a plan.
        flexible: with its drives and masses as parameters of its kernels, so that other ones need
        no compiling."""
        found = self.robot
        for number, value in zip(self.numbers, p):
            found = number.change(found, float(value))
        for law in self.laws:
            found = law(found)
        found = as_flexible(found) if flexible else found
        return found if floor is None else replace(found, floor=floor)

    def planned(
        self, p: np.ndarray, known: Sequence[Solution] | None, flexible: bool = True
    ) -> list[Solution]:
        """The plans of all moves with the parameters p."""
        robot, plans = self.robot_at(p, flexible=flexible), []
        for k, task in enumerate(self.tasks):
            guess = known[k].trajectory if known else None
            plan = (
                minimize_time(robot, task, self.knots, guess, supply=self.supply)
                if task.duration is None
                else minimize_energy(robot, task, self.supply, self.knots, guess, options=EXACT)
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
        for weight, old, plan in zip(self.weights, near, plans):
            robot = self.robot_at(p, plan.robot.floor)
            try:
                here = old.solved(robot, move_of(robot, plan.task, old.problem.move))
            except ArgumentError:  # a pose out of reach
                here = None
            if here is None:
                return math.inf, slope, []
            value = here.result.cost
            value += here.stored(robot, here.problem.move) if self.of == "energy" else 0.0
            cost += weight * value
            slope += weight * self.slopes(p, here, plan)
            solved.append(here)
        return cost, slope, solved

    def slopes(self, p: np.ndarray, here: Optimum, plan: Solution) -> np.ndarray:
        """dV/dp of one move, by the envelope theorem."""
        found = np.zeros(len(p))
        for k, number in enumerate(self.numbers):

            def change(_: Robot, value: float, k: int = k) -> Robot:
                return self.robot_at(np.array([*p[:k], value, *p[k + 1 :]]), plan.robot.floor)

            moved = replace(number, value=float(p[k]), change=change)
            low, high, width = neighbours(here.problem.robot, moved)
            pairs = [(r, move_of(r, plan.task, here.problem.move)) for r in (low, high)]
            found[k] = here.derivative(pairs[0], pairs[1], width)
            if self.of == "energy":
                found[k] += (here.stored(*pairs[1]) - here.stored(*pairs[0])) / width
        return found


@dataclass(frozen=True, eq=False)
class Scale:
    """Parameters as numbers y from 0 to 1 between their bounds; by logarithms where these are far
    apart and positive."""

    bounds: np.ndarray

    @property
    def logarithmic(self) -> np.ndarray:
        """(count,) which go by logarithms."""
        low, high = self.bounds.T
        return (low > 0.0) & (high > LOGARITHMIC * np.maximum(low, 1e-300))

    def places(self, p: np.ndarray) -> np.ndarray:
        """y of p."""
        low, high = self.bounds.T
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.log(p / low) / np.log(high / low)
        return np.where(self.logarithmic, far, (p - low) / (high - low))

    def values(self, y: np.ndarray) -> np.ndarray:
        """p of y."""
        low, high = self.bounds.T
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            far = low * (high / low) ** y
        return np.clip(np.where(self.logarithmic, far, low + (high - low) * y), low, high)

    def slopes(self, p: np.ndarray) -> np.ndarray:
        """dp/dy."""
        low, high = self.bounds.T
        with np.errstate(divide="ignore", invalid="ignore"):
            far = p * np.log(high / low)
        return np.where(self.logarithmic, far, high - low)

"""`choose_drives`: for all joints at once the motor and gear that do the tasks at least cost, every
choice with motions planned for it (B11)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from armature.cell.program.program import Program
from armature.cell.program.program_plan import ProgramPlan
from armature.design.drives.catalogue_file import read_catalogue
from armature.design.drives.drive_choice import DriveChoice, Tried
from armature.design.drives.duty import Duty, Item, duties, items_of
from armature.design.drives.evaluations import Evaluations
from armature.design.drives.mounting import (
    as_variable,
    mounted,
    mounts_of,
    present_drive,
    with_contained,
)
from armature.design.drives.objective import Objective, objective_of
from armature.design.drives.pairs import Pairs, count_pairs, pairs_of
from armature.design.drives.pareto import Front, pareto_front
from armature.design.drives.replan import Evaluation, Replanner
from armature.design.drives.screen import Screened, screen
from armature.design.drives.search import (
    Bounds,
    Ranking,
    bounds,
    descend,
    exhaust,
    first_choices,
    guesses,
    settle,
)
from armature.design.runner import Runner
from armature.drive.catalogue import Catalogue, SupplyGiven
from armature.drive.drive import Drive
from armature.errors import ArgumentError, ArmatureError, check_count
from armature.job.job import Job
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.solution import Solution
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.study.dask_pool import Tls

Task = Move | FollowPath | Job | Program | ProgramPlan
WEIGHTS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the second term of a front, in units that both ends give


def choose_drives(
    robot: Robot,
    tasks: Task | Sequence[Task],
    catalogue: str | PathLike[str] | Catalogue | None = None,
    objective: str | Mapping[str, float] | Objective = "energy",
    joints: Sequence[str] | None = None,
    *,
    supply: SupplyGiven = None,
    knots: int = 60,
    mounts: Mapping[str, Any] | None = None,
    hold: bool = True,
    direct: bool = False,
    pareto: str | None = None,
    budget: int = 400,
    deadline: float | None = None,
    store: str | PathLike[str] | None = None,
    workers: int | None = 1,
    cluster: str | None = None,
    tls: Tls | None = None,
    progress: Callable[[int, float, str], None] | None = None,
) -> DriveChoice:
    """The motor and gear of every joint, from a catalogue, that do the tasks at least cost. Each
    choice that is compared has its least-energy motions planned for it; the winner's are certified.

    tasks: moves of given durations, paths, jobs (which bring their own robots: the same one with
    other payloads), or programs (their motions, in the durations of their plans). Motions keep
    clear of the tasks' scenes.
    catalogue: a .csv or .yaml file, or a `Catalogue`; the built-in one by
    default.
    objective: "energy" (of all tasks together, J; without what the drives' own masses give by
    ending lower than they began) or "losses" (J), "mass" (kg), "price", or weights of
    them, {"energy": 1, "mass": 20}.  joints: whose drives are chosen, all by default.
    supply, knots: as in `minimize_energy`.  mounts: {joint: link} or {joint: (link, (x, y, z))}
    that carries the drive, by default the joint's parent link at the joint. Link masses contain the
    present drives' masses; another drive acts by the difference.
    hold: motors hold the arm at starts and goals by their continuous current, unless a brake does.
    direct: motors without a gear are possible, too.
    pareto: a second term, e.g. "mass": the front of both is in `.front`.
    budget: choices that may be planned; with no more than these all are, and the choice is the best
    of all.  deadline: s.
    store: file of a study in which all planned choices are kept; run again, the search goes on.
    workers: processes, None: one for each core.  cluster, tls: as in `arm.study.run_study`.
    progress: called with (choices planned, cost of the best, message)."""
    begin = time.perf_counter()
    names = tuple(joints) if joints is not None else tuple(robot.joint_names)
    check_count(budget, "budget")
    items = items_of(robot, tasks, supply, knots)
    found = read_catalogue(catalogue)
    goal = objective_of(objective)
    _check(robot, names, found, goal)
    if pareto is not None:
        _check_front(goal, pareto, found)
    places = mounts_of(robot, names, mounts)
    robot = with_contained(robot, names, places)
    items = [replace(i, robot=with_contained(i.robot, names, places)) for i in items]
    template = {name: present_drive(robot, name) for name in names}
    pairs = [pairs_of(robot, name, found, template[name], direct) for name in names]
    duty = duties(items, names, places)
    frictions = [robot.drivetrain.frictions[robot.joint_names.index(name)] for name in names]
    screened = screen(pairs, duty, frictions, hold)
    _check_left(screened)
    kept = [s.pairs for s in screened]
    few = _product(kept) <= budget
    replanner = Replanner(items, places, hold, explained=few)
    ends = None if deadline is None else begin + deadline
    runner = Runner("design", ends, ("armature.design.drives.evaluations",))
    table = Evaluations(replanner, kept, goal, runner, np.array([d.climb for d in duty]), progress)
    say = lambda message: progress(table.planned, np.inf, message) if progress else None
    say(f"pairs that may do: {count_pairs(kept)}")
    with runner.stack:
        runner.open(store, workers, cluster, tls)
        search = Search(table, duty, budget, template, say)
        front = search.front(pareto) if pareto else None
        complete = search.run()
        settle(table)
        best = _best(table, kept)
        low = search.low
        return _result(robot, search, best, low, complete, screened, front, found, begin)


@dataclass(eq=False)
class Search:
    """One search with its table. template: present drives."""

    table: Evaluations
    duty: Sequence[Duty]
    budget: int
    template: Mapping[str, Drive | None]
    say: Callable[[str], None]

    @property
    def low(self) -> Bounds:
        """Lower bounds of the objective."""
        return bounds(self.table, self.duty)

    def run(self) -> bool:
        """Search for the table's objective; True if all choices that may be better were planned."""
        table, low = self.table, self.low
        if _product(table.pairs) <= self.budget:
            return exhaust(table, low)
        if table.best is None:
            self.begin()
        descend(table, low, self.budget)
        return False

    def begin(self) -> None:
        """A first choice that does all tasks: what looks best on the motions of the present drives,
        or on joint cubics where there are none."""
        table = self.table
        plans: Sequence[Any] = ()
        present = {name: drive for name, drive in self.template.items() if drive is not None}
        if len(present) == len(self.template):
            self.say("planning with the present drives")
            plans, reason = table.replanner.plan(present)
            plans = () if reason else plans
        ranking = Ranking(table, plans or self.cubics())
        self.say("planning first choices")
        tried = table(first_choices(ranking, len(table.pairs)), plans)
        if not any(e.ok for e in tried):
            strongest = tuple(int(np.argmin(x)) for x in ranking.excess)
            table([strongest], plans)

    def cubics(self) -> list[Any]:
        """Joint cubics as motions, of robots whose drives are the first of each joint's pairs."""
        table = self.table
        robots = table.replanner.robots(table.drives((0,) * len(table.pairs)))
        return [
            _Cubic(robot, _cubic(item, robot)) for item, robot in zip(table.replanner.items, robots)
        ]

    def front(self, second: str) -> Front:
        """Choices of which none is better in both terms, by searches for weighted sums."""
        first = self.table.objective.first
        goal = self.table.objective
        ends = []
        for name in (first, second):
            self._aim(Objective(**{name: 1.0}))
            self.run()
            ends.append(self.table.best)
        if ends[0] is not None and ends[1] is not None:
            rise, fall = (abs(getattr(ends[0], n) - getattr(ends[1], n)) for n in (first, second))
            for weight in WEIGHTS if rise > 0 and fall > 0 else ():
                self._aim(Objective(**{first: 1.0, second: weight * rise / fall}))
                self.run()
        self._aim(goal)
        return pareto_front(self.table, first, second)

    def _aim(self, objective: Objective) -> None:
        table = self.table
        table.objective = objective
        table.found = {c: table.judged(e) for c, e in table.found.items()}
        table.planned = 0


@dataclass(frozen=True)
class _Cubic:
    """A motion in the place of a plan."""

    robot: Robot
    trajectory: Trajectory


def _cubic(item: Item, robot: Robot) -> Trajectory:
    if item.points is None:
        raise ArgumentError(
            "a path task needs a robot whose drives can follow it: give it drives to begin with"
        )
    T = float(item.task.duration or 0.0)
    t = np.linspace(0.0, T, 61)
    s = np.linspace(0.0, 1.0, len(item.points))
    u = t / T
    way = u * u * (3 - 2 * u)
    q = np.stack([np.interp(way, s, column) for column in item.points.T], axis=1)
    v = np.gradient(q, t, axis=0)
    return Trajectory(t, q, v, np.gradient(v, t, axis=0), robot.joint_names)


def _product(pairs: Sequence[Pairs]) -> float:
    return float(np.prod([float(len(p)) for p in pairs]))


def _check(robot: Robot, names: Sequence[str], found: Catalogue, goal: Objective) -> None:
    for name in names:
        if name not in robot.joint_names:
            raise ArgumentError(
                f"joints: {name!r} is no moving joint of {robot.name!r}; it has"
                f" {', '.join(robot.joint_names)}"
            )
    if not names or len(set(names)) < len(names):
        raise ArgumentError(
            f"joints: {', '.join(names) or '(none)'}; give at least one, each once, or leave it out"
            " for all"
        )
    driven = {name for coupling in robot.drives for name in coupling.joints}
    missing = [n for n in robot.joint_names if n not in driven and n not in names]
    if missing:
        raise ArgumentError(
            f"joint {missing[0]!r} has no drive, and none is chosen for it; name it in joints=, or"
            " give it one"
        )
    if robot.loops:
        raise ArgumentError("drives are chosen for robots without closed loops")
    _check_terms(goal, found)


def _check_front(goal: Objective, second: str, found: Catalogue) -> None:
    """Refuse a front of one term with itself, or of one that the catalogue does not tell."""
    _check_terms(objective_of(second), found)
    if second == goal.first:
        raise ArgumentError(
            f"pareto: {second!r} is what the objective asks for, too; take another term, e.g."
            f" {'energy' if second == 'mass' else 'mass'}"
        )


def _check_terms(goal: Objective, found: Catalogue) -> None:
    parts = [*found.motors.values(), *found.gears.values()]
    for term in ("mass", "price"):
        if getattr(goal, term) and not any(getattr(part, term) for part in parts):
            raise ArgumentError(
                f"objective: no motor or gear of the catalogue has a {term}; add the column"
                f" `{term}`"
            )


def _check_left(screened: Sequence[Screened]) -> None:
    for s in screened:
        if not len(s.pairs):
            reasons = "; ".join(f"{n} of them: {why}" for why, n in s.dropped.items() if n)
            raise ArmatureError(
                f"no pair of the catalogue can move joint {s.pairs.joint!r} ({reasons}); take a"
                " catalogue with stronger ones, a longer duration, or hold=False (--no-hold)"
                " where a brake holds the arm"
            )


def _best(table: Evaluations, pairs: Sequence[Pairs]) -> Evaluation:
    best = table.best
    if best is not None:
        return best
    reasons = [e.reason for e in table.found.values()][-1:]
    raise ArmatureError(
        f"none of the {table.planned} choices that were planned does all tasks"
        f"{': the last one, ' + reasons[0] if reasons else ''}; give longer durations, a catalogue"
        " with stronger drives, or a larger budget"
    )


def _result(
    robot: Robot,
    search: Search,
    best: Evaluation,
    low: Bounds,
    complete: bool,
    screened: Sequence[Screened],
    front: Front | None,
    found: Catalogue,
    begin: float,
) -> DriveChoice:
    """The winner's plans, in the smoothness of the tasks, certified; and those of the present
    drives."""
    table, items = search.table, search.table.replanner.items
    search.say("planning and certifying the winner")
    drives = table.drives(best.choice)
    plans = _final(items, table, drives, guesses(table, best))
    present = {name: drive for name, drive in search.template.items() if drive is not None}
    before: tuple[Solution, ...] = ()
    if len(present) == len(search.template):
        solutions, reason = table.replanner.plan(present)
        before = () if reason else tuple(_final(items, table, present, solutions))
    tried = sorted((e for e in table.found.values() if e.ok), key=lambda e: e.cost)
    named = tuple(Tried(table.names(e.choice), e) for e in tried)
    least = best.cost if complete else min(best.cost, low.least)
    return DriveChoice(
        mounted(robot, drives, table.replanner.mounts),
        drives,
        present,
        table.objective,
        best.cost,
        least,
        complete,
        plans,
        before,
        named,
        tuple((s.pairs.joint, len(s.pairs), s.dropped) for s in screened),
        len(table.found),
        len(table.found) - len(tried),
        front,
        found.notes,
        found.without_unit,
        time.perf_counter() - begin,
    )


def _final(
    items: Sequence[Item], table: Evaluations, drives: Mapping[str, Drive], start: Sequence[Any]
) -> tuple[Solution, ...]:
    """Plans of the tasks as they are given, from the least-energy ones, by constant kernels no
    longer than by variable ones."""
    made = []
    for item, guess in zip(items, start):
        robot = as_variable(mounted(item.robot, drives, table.replanner.mounts))
        plan = table.replanner.planned(item, robot, guess, final=True)
        made.append(replace(plan, robot=replace(plan.robot, variable_limits=None)))
    return tuple(made)

"""`ways_round`: the different ways from one place to another (B9): over the top, below, by the
side, full turns, other arm postures.

Every start leads the solver to a local optimum. Starts are the joint cubic, full turns of joints
that allow them, detours of single joints and of pairs of them, and, for a goal in space, every
solution of the inverse kinematics. Optima that are the same are told once."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.dynamics.compiled import pose
from armature.dynamics.positioning.inverse_kinematics import inverse_kinematics
from armature.errors import ArgumentError, check_count
from armature.motion.goal import is_pose
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.solution import Solution
from armature.optimize.diagnosis.forbidden import forbidden
from armature.optimize.moves.answer import check_search, check_task, solution
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.baseline import baseline
from armature.optimize.planner.floor import (
    MARGINS,
    TOUCH,
    Ground,
    ground,
    lowest,
    move_ground,
    through,
)
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.planner.posture import described as posture_words
from armature.optimize.planner.smoothness import Smoother
from armature.optimize.planner.starts import detours
from armature.optimize.problem.interrupt import interruptible
from armature.optimize.problem.result import Status
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move, configuration
from armature.robot.cover import with_floor
from armature.robot.loop import refuse_loops
from armature.robot.model import Robot
from armature.robot.tip import tip
from armature.scene.floor import Floor
from armature.seam import worker

# of the motion's extent: two optima nearer than this, and of about equal cost, are one way, each as
# far as its search went
SAME = 0.05
SAME_COST = 1e-2
# the same of the plain plan: its own way, though it is smoother or was found otherwise
NEARBY = 0.2
# of the goal: no arm of six axes has more, one with freedom to spare has infinitely many
POSTURES = 16


@dataclass(frozen=True, eq=False)
class Way:
    """One way: the plan, its energy in J, and how it goes in words."""

    solution: Solution
    description: str

    @property
    def energy(self) -> float:
        """Net energy from the supply, J."""
        return self.solution.energy


@interruptible
def ways_round(
    robot: Robot,
    task: Move,
    supply: Any = None,
    knots: int = 100,
    link: str | None = None,
    most: int = 8,
    deadline: float | None = None,
    callback: Callable | None = None,
) -> tuple[Way, ...]:
    """All different locally best ways of a move, cheapest first.

    task: with a duration.  link: the goal is a pose of this link, in any form that
    `inverse_kinematics` takes, reached in every posture.
    supply, knots: as in `minimize_energy`.  most: ways that are worked out fully.  deadline:
    seconds for the search.
    callback: called with every iteration of every search; a true answer ends that search, an
    exception all of them."""
    refuse_loops(robot, "ways_round")
    if isinstance(task, Move) and task.scene is not None:
        around = worker("Move.scene ways")
        return around(robot, task, supply, knots, most, deadline, callback)
    check_task(robot, task)
    check_search(deadline, callback)
    check_count(most, "most")
    link = link or task.link or (tip(robot, "shall be at the goal") if is_pose(task.goal) else None)
    task = replace(task, start=replace(task, goal=task.start).in_joints(robot).start)
    floor = goals_ground(robot, task, link)
    if floor.below is not None:
        raise ArgumentError(str(floor.below))
    search = lambda robot: every_way(
        robot, task, supply, knots, link, most, deadline, callback, floor.floor
    )
    plain = (
        minimize_energy(robot, task, supply, knots, deadline=deadline, callback=callback)
        if link is None
        else None
    )
    ways = with_plain(search(robot), plain)
    if floor.floor is None:
        return ways
    guarded = with_floor(robot, floor.floor)
    for margin in MARGINS[:2]:
        if not any(through(guarded, way.solution.trajectory) for way in ways):
            break
        ways = with_plain(search(with_floor(robot, floor.floor.keeping(margin))), plain)
    above = [way for way in ways if through(guarded, way.solution.trajectory) is None]
    return tuple(replace(way, solution=replace(way.solution, robot=guarded)) for way in above)


def with_plain(ways: tuple[Way, ...], plain: Solution | None) -> tuple[Way, ...]:
    """The ways with the plan of `minimize_energy`, None without one: in the place of the same way
    where it is cheaper."""
    if plain is None or not plain.ok:
        return ways
    mine = Way(plain, described(plain, ""))
    alike = [way for way in ways if nearby(way.solution, plain)]
    others = tuple(way for way in ways if not any(way is other for other in alike))
    kept = min([*alike, mine], key=lambda way: (not way.solution.ok, way.energy))
    return tuple(sorted((*others, kept), key=lambda way: way.energy))


def goals_ground(robot: Robot, task: Move, link: str | None) -> Ground:
    """The floor of a task whose goal may be a pose: it is kept by its start then, and by the
    postures that reach it."""
    if link is None:
        return move_ground(robot, task)
    return ground(robot, task.floor, [("start", configuration(robot, task.start, "start"))])


def every_way(
    robot: Robot,
    task: Move,
    supply: Any,
    knots: int,
    link: str | None,
    most: int,
    deadline: float | None,
    callback: Callable | None,
    floor: Floor | None,
) -> tuple[Way, ...]:
    """The ways of a robot with its own floor, if it has one; arguments as in `ways_round`. floor:
    that goals stay above."""
    begin = time.perf_counter()
    ends = None if deadline is None else begin + deadline
    pipeline = Pipeline(Weights(energy=1.0), callback, ends)
    s = pipeline.settings
    found: list[tuple[Attempt, str]] = []
    impossible: set[MoveProblem] = set()  # the direct way to this goal is infeasible
    for problem, words, guess in every_start(robot, task, supply, knots, link, floor):
        if problem in impossible:
            continue
        attempt = pipeline.few(problem, guess, s.start, s.coarse)
        if attempt.nearly:
            found = with_way(found, attempt, words)
        elif guess is None and attempt.result.status is Status.INFEASIBLE:
            impossible.add(problem)
        if pipeline.late:
            break
    found.sort(key=lambda item: item[0].value)
    return tuple(_worked_out(replace(pipeline, ends=None), found[:most], knots))


def every_start(
    robot: Robot, task: Move, supply: Any, knots: int, link: str | None, floor: Floor | None = None
) -> Iterator[tuple[MoveProblem, str, Trajectory | None]]:
    """Problems with starting motions and words for them: the direct way to every goal first, then
    detours, for the time may be short."""
    ends = [
        (posed(robot, replace(task, goal=goal), supply, knots), turned)
        for goal, turned in goals(robot, task, link)
    ]
    ends = [
        (problem, turned)
        for problem, turned in ends
        if forbidden(robot, problem.move, search=False) is None
    ]
    if floor is not None:
        ends = [end for end in ends if lowest(robot, floor, end[0].ends.q1)[1] >= -TOUCH]
    for tries in itertools.zip_longest(*(starts(problem) for problem, _ in ends)):
        for (problem, turned), start in zip(ends, tries):
            if start is not None:
                yield (
                    problem,
                    " ".join(w for w in (turned, start[1]) if w) or "the direct way",
                    start[0],
                )


def with_way(
    found: list[tuple[Attempt, str]], attempt: Attempt, words: str
) -> list[tuple[Attempt, str]]:
    """The ways found with one more; of those that are one way, the cheapest."""
    alike = [way for way in found if same(attempt, way[0])]
    cheapest = min([*alike, (attempt, words)], key=lambda way: way[0].value)
    return [*(way for way in found if not any(way is other for other in alike)), cheapest]


def _worked_out(
    pipeline: Pipeline, roughly: list[tuple[Attempt, str]], knots: int
) -> Iterator[Way]:
    """The ways with all their knots, cheapest first; those that keep no limits are left out."""
    ways: list[tuple[Attempt, Way]] = []
    for attempt, words in roughly:
        begin = time.perf_counter()
        task = replace(attempt.problem, N=knots)
        best = pipeline.with_all_knots(task, attempt)
        if not best.runs or any(same(best, other) for other, _ in ways):
            continue
        compare = baseline(best.problem, best.motion.duration)
        smooth = Smoother(pipeline, task.move.smoothness)(best, compare.ledger.energy)
        found = solution(smooth, None, [], time.perf_counter() - begin, compare)
        ways.append((best, Way(found, described(best, words))))
    return (way for _, way in sorted(ways, key=lambda item: item[0].value))


def goals(robot: Robot, task: Move, link: str | None) -> Iterator[tuple[np.ndarray, str]]:
    """Goal configurations with what is special about them: postures for a pose, full turns for
    joints whose range allows them."""
    start = configuration(robot, task.start, "start")
    for posture, name in postures(robot, task, link):
        yield posture, name
        for j, joint in enumerate(_joints(robot)):
            if joint is None or joint.kind == "prismatic":
                continue
            for turn in (-1, 1):
                q = posture.copy()
                q[j] += 2 * np.pi * turn
                inside = joint.limits.lower <= q[j] <= joint.limits.upper
                if inside and abs(q[j] - start[j]) <= 2 * np.pi:
                    words = f"{joint.name} turned {'back' if turn < 0 else 'on'} by a full turn"
                    yield q, f"{name}, {words}" if name else words


def _joints(robot: Robot) -> list[Any]:
    known = {joint.name: joint for joint in robot.joints}
    return [known.get(name) for name in robot.joint_names]


def postures(robot: Robot, task: Move, link: str | None) -> list[tuple[np.ndarray, str]]:
    """Configurations of the goal."""
    if link is None:
        return [(task.vectors(robot).q1, "")]
    found = inverse_kinematics(
        robot, task.goal, link, configuration(robot, task.start, "start"), most=POSTURES
    )
    if len(found) == 0:
        place = ", ".join(f"{x:.4g}" for x in pose(robot, found.nearest, link).p)
        raise ArgumentError(
            f"the goal cannot be reached by {link!r}: {found.message}; the nearest place that it"
            f" reaches is ({place}) m"
        )
    names = [posture_words(robot, q, link) or f"posture {k}" for k, q in enumerate(found, start=1)]
    several = [
        names[:k].count(name) + 1 if names.count(name) > 1 else 0 for k, name in enumerate(names)
    ]
    return [
        (np.asarray(q, dtype=float), f"{name} ({k})" if k else name)
        for q, name, k in zip(found, names, several)
    ]


def starts(problem: MoveProblem) -> Iterator[tuple[Trajectory | None, str]]:
    """Starting motions: the joint cubic, detours of each joint, and of the first two pairs of
    them."""
    yield None, ""
    single = detours(problem)
    for motion in single:
        yield motion, "with a detour"
    straight = problem.cubic(single[0].t)[0] if single else None
    for a, b in itertools.islice(itertools.combinations(single, 2), 6):
        if straight is not None and np.abs((a.q - straight) * (b.q - straight)).max() == 0.0:
            q, v, acc = (
                getattr(a, k) + getattr(b, k) - x for k, x in zip("qva", problem.cubic(a.t))
            )
            yield Trajectory(a.t, q, v, acc, a.joint_names), "with a detour"


def same(a: Attempt, b: Attempt) -> bool:
    """Whether two optima are one motion: equal cost, and nowhere far apart."""
    alike = abs(a.value - b.value) <= SAME_COST * max(abs(a.value), abs(b.value), 1e-6) + 1e-9
    return alike and together(a.motion, b.motion)


def nearby(a: Solution, b: Solution) -> bool:
    """Whether two plans go the same way, however smoothly."""
    return together(a.trajectory, b.trajectory, NEARBY)


def together(a: Trajectory, b: Trajectory, part: float = SAME) -> bool:
    """Whether two motions of one duration are nowhere farther apart than a part of the first one's
    extent."""
    extent = np.maximum(np.ptp(a.q, axis=0), 0.1 * np.ptp(a.q, axis=0).max(initial=1e-3))
    t = np.linspace(0.0, a.duration, 101)
    return bool(np.all(np.abs(a(t).q - b(t).q) <= part * extent + 1e-6))


def described(found: Attempt | Solution, words: str) -> str:
    """How a way goes: the joints that leave the span between their ends, and how far."""
    q, robot = (
        (found.trajectory.q, found.robot)
        if isinstance(found, Solution)
        else (found.motion.q, found.problem.robot)
    )
    low, high = np.minimum(q[0], q[-1]), np.maximum(q[0], q[-1])
    under, over = (low - q).max(0), (q - high).max(0)
    room = 0.05 * np.maximum(np.ptp(q, axis=0), 0.1)
    parts = [
        f"{name} {'rises' if up > down else 'falls'} by {max(up, down):.3g} beyond its ends"
        for name, up, down, r in zip(robot.joint_names, over, under, room)
        if max(up, down) > r
    ]
    return "; ".join([words.replace("with a detour", "").strip() or "the direct way", *parts])

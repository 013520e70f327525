"""What is asked of a base that is not placed yet: stops in the world, and the motions between
them."""

from __future__ import annotations

import functools
import hashlib
import itertools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from armature.cell.program.plan_program import plan_program
from armature.cell.program.program import Along, MoveTo, Program
from armature.cell.program.program_plan import ProgramPlan
from armature.errors import ArgumentError
from armature.job.job import Job
from armature.motion.goal import Goal, as_goal, is_pose
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.robot.tip import tip
from armature.scene.scene import Scene


@dataclass(frozen=True, eq=False)
class Layout:
    """What is asked at every place. stops: poses in the world, or configurations (n,), in the order
    in which they are visited.  moves: of every leg, a template for its options; None where no
    motion is asked for between two stops.  robots: of every leg, with what it carries.  scenes: of
    every leg, the world's obstacles, or None."""

    robot: Robot
    stops: tuple[Any, ...]
    moves: tuple[Move | None, ...]
    robots: tuple[Robot, ...]
    scenes: tuple[Scene | None, ...]
    link: str
    objective: str
    floor: float | str | None
    supply: Any
    knots: int
    z: float

    @functools.cached_property
    def about(self) -> str:
        """Digest of all that values depend on."""
        r = self.robot
        stops = [
            (s.p.tolist(), np.asarray(s.R).tolist()) if isinstance(s, Goal) else list(s)
            for s in self.stops
        ]
        scenes = [None if s is None else (s.obstacles, s.allowed) for s in self.scenes]
        links = [robot.links for robot in self.robots]
        facts = (links, r.joints, r.drives, r.gravity, r.supply, stops, self.moves, self.link)
        more = (self.objective, scenes, self.floor, self.supply, self.knots, self.z)
        return hashlib.sha256(repr((facts, more)).encode()).hexdigest()


def layout_of(
    robot: Robot,
    tasks: Any,
    link: str | None,
    duration: float | None,
    objective: str,
    scene: Scene | None,
    floor: Any,
    supply: Any,
    knots: int,
    z: float,
) -> Layout:
    """The stops and legs of a list of poses, or of moves."""
    g = np.asarray(robot.gravity)
    if np.any(g[:2]) or robot.nq != robot.n or robot.loops:
        raise ArgumentError(
            "a base is placed for arms on a level floor, without closed loops: gravity must be"
            " along z"
        )
    if objective == "energy" and not robot.drives:
        raise ArgumentError(
            f"robot {robot.name!r} has no drives, so no energy can be counted; add them, or place"
            ' it by objective="time"'
        )
    name = link or tip(robot, "shall be at the poses")
    legs = legs_of(robot, tasks, duration, scene)
    stops: list[Any] = []
    moves: list[Leg] = []
    for leg in legs:
        start, goal = (_stop(robot, place) for place in (leg.move.start, leg.move.goal))
        if stops and not _same(stops[-1], start):
            moves.append(leg._replace(move=None))
        stops += [goal] if stops and _same(stops[-1], start) else [start, goal]
        moves.append(leg._replace(move=_timed(leg.move, objective)))
    columns = (tuple(leg.move for leg in moves), tuple(leg.robot for leg in moves))
    scenes = tuple(leg.scene for leg in moves)
    return Layout(robot, tuple(stops), *columns, scenes, name, objective, floor, supply, knots, z)


class Leg(NamedTuple):
    """A motion between two stops. move: None where none is asked for.  robot: with what it carries.
    scene: the world's obstacles, or None."""

    move: Any
    robot: Robot
    scene: Scene | None


def legs_of(robot: Robot, tasks: Any, duration: float | None, scene: Scene | None) -> list[Leg]:
    """The motions of poses in their order, of moves, of jobs, or of a program."""
    if isinstance(tasks, Program | ProgramPlan):
        return program_legs(tasks)
    given = [tasks] if isinstance(tasks, Move | Job) else list(tasks)
    if not given or not all(isinstance(task, Move | Job) for task in given):
        if len(given) < 2:
            raise ArgumentError("give two poses or more, or moves between poses")
        moves = [Move(a, b, duration) for a, b in itertools.pairwise(given)]
        return [Leg(move, robot, scene) for move in moves]
    found = []
    for task in given:
        move, own = (task.task, task.robot) if isinstance(task, Job) else (task, robot)
        if not isinstance(move, Move) or move.via:
            raise ArgumentError(
                "moves with via points and paths cannot be placed yet; split them into moves"
            )
        around = task.scene if task.scene is not None else move.scene
        around = scene if around is None else around
        made = replace(move, scene=None, duration=move.duration or duration)
        found.append(Leg(made, own, around))
    return found


def program_legs(given: Program | ProgramPlan) -> list[Leg]:
    """The motions of a program, its goals as poses of the world where it gives poses, in the
    durations of its plan where the robot stands now."""
    plan = plan_program(given) if isinstance(given, Program) else given
    moving: list[Any] = [s for s in plan.program.steps if isinstance(s, MoveTo | Along)]
    wrong = [s for s in moving if isinstance(s, Along) or len(s.via) or s.upright or not s.stop]
    if wrong:
        raise ArgumentError(
            f"step {wrong[0].name!r}: paths, upright moves, via points and moves that do not stop"
            " cannot be placed yet; a base is placed for moves from stop to stop"
        )
    here: Any = plan.program.start
    begin, found = here, []
    for step, leg in zip(moving, plan.legs):
        back = isinstance(step.goal, str)  # "start"
        goal = begin if back else step.goal if is_pose(step.goal) else leg.leg.q1
        start = here if is_pose(here) else leg.leg.q0
        move = Move(start, goal, leg.duration, smoothness=step.smoothness)
        found.append(Leg(move, leg.leg.robot, leg.leg.scene))
        here = goal
    return found


def _timed(move: Move, objective: str) -> Move:
    if objective == "energy" and move.duration is None:
        raise ArgumentError("least energy needs durations; give duration=…, s, of every motion")
    return move if objective == "energy" else replace(move, duration=None)


def _stop(robot: Robot, place: Any) -> Any:
    if is_pose(place):
        return as_goal(place)
    q = np.asarray(place, dtype=float)
    if q.shape != (robot.n,):
        raise ArgumentError(
            f"{place!r:.60} is neither a pose of the hand, (R, p), (p, quaternion) or 4 × 4, nor a"
            f" configuration of {robot.n} joints"
        )
    return q


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Goal) != isinstance(b, Goal):
        return False
    if isinstance(a, Goal):
        return bool(np.allclose(a.p, b.p) and np.allclose(a.R, b.R))  # type: ignore[arg-type]
    return bool(np.allclose(a, b))

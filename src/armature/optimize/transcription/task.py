"""Tasks: what a motion shall do, without how."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.annotations import Place, Values
from armature.errors import ArgumentError
from armature.motion.goal import is_pose
from armature.optimize.transcription.closure import closure
from armature.robot.model import Robot
from armature.robot.tip import tip
from armature.scene.scene import Scene
from armature.seam import worker

STEPS = 32  # of the way along which loops are followed to a goal
LONGEST = 1e8  # s, of a motion: three years
SMOOTHNESS = 0.1  # of a move that gives none: 95 % of the saving are kept


@dataclass(frozen=True)
class Via:
    """A configuration to pass. at: time after the start, s; None: whenever it is best.

    velocity: (n,), None leaves it free (passing without stopping); 0 stops there.
    """

    configuration: Place
    at: float | None = None
    velocity: Values | None = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "at", _seconds(self.at, "passing time", "leave it out to have the best one found")
        )


@dataclass(frozen=True)
class Move:
    """From one configuration to another.

    start, goal: (n,) joint coordinates, rad or m, or {joint name: value}; with closed loops a goal
    may name the motors' joints only.
    Or a pose of the hand: (R, p) as `arm.pose` gives it, (p, quaternion x y z w) or a 4 × 4 matrix;
    via points too.
    duration: s; None where it is to be found.
    via: configurations to pass on the way, in order, as (n,) arrays or `Via` objects.
    start_velocity, goal_velocity: (n,), or {joint name: value} with 0 for the others; rest by
    default.
    floor: height, m, of the floor that all links stay above; None for no floor.  "auto": at the
    foot of an arm that stands on a fixed base, if start, goal and via points are above it.
    posture: of poses: "as the start", "elbow up", "elbow down", "wrist flipped", "wrist not
    flipped", "shoulder front", "shoulder back", a list of such words, or a configuration near the
    one that is meant; by default the one nearest to the start that keeps the floor (of the start
    itself the one farthest from singular).
    link: what poses are of; `robot.tip` by default.
    smoothness: 0 … 1, how much of the saving against the baseline may be given up for less jerk; a
    least-energy plan keeps the part 1 − smoothness/2 of it. 0: energy alone.  0.1, the default: the
    smoothest motion that keeps 95 %.  1: that keeps half of it.
    acceleration_limits: "inferred": where the robot has none, a least-energy plan takes what its
    drives keep up for long (`optimize/planner/accelerations.py`), and says so in its notes.
    "none": none.
    scene: obstacles to keep clear of; the motion is proved free of them at every instant."""

    start: Place
    goal: Place
    duration: float | None = None
    via: Any = ()
    start_velocity: Values = 0.0
    goal_velocity: Values = 0.0
    floor: float | str | None = "auto"
    posture: str | Sequence[str] | Values | None = None
    link: str | None = None
    smoothness: float = SMOOTHNESS
    acceleration_limits: str = "inferred"
    scene: Scene | None = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "duration", _seconds(self.duration, "duration", "leave it out to have it found")
        )
        object.__setattr__(self, "smoothness", _part(self.smoothness, "smoothness"))
        if self.acceleration_limits not in ("inferred", "none"):
            raise ArgumentError(
                f"acceleration_limits = {self.acceleration_limits!r} must be 'inferred' or 'none'"
            )
        stops = _stops(self.via)
        object.__setattr__(self, "via", stops)
        given = [v.at for v in stops if v.at is not None]
        inside = all(0 < t < (self.duration or np.inf) for t in given)
        if not inside or any(b <= a for a, b in itertools.pairwise(given)):
            raise ArgumentError(
                f"passing times {given} must rise and lie between 0 and the duration"
                f" {self.duration} s"
            )

    def in_joints(self, robot: Robot) -> Move:
        """The same move with poses of the hand replaced by joint coordinates, in the posture that
        is asked for."""
        if not any(
            is_pose(place)
            for place in (self.start, self.goal, *(via.configuration for via in self.via))
        ):
            worker("Move.check_posture")(robot, self.posture)  # a misspelt one is no posture at all
            return self
        in_posture = worker("Move.in_posture")
        link = self.link or tip(robot, "shall be at the goal")
        joints = lambda place, start, posture: (
            in_posture(robot, place, link, start, posture, self.floor, self.scene)
            if is_pose(place)
            else place
        )
        like_start = isinstance(self.posture, str) and self.posture == "as the start"
        own = None if like_start else self.posture
        start = configuration(robot, joints(self.start, None, own), "start")
        via, near = [], start
        for stop in self.via:
            near = configuration(
                robot, joints(stop.configuration, near, self.posture), "via configuration"
            )
            via.append(replace(stop, configuration=near))
        return replace(
            self, start=start, goal=joints(self.goal, start, self.posture), via=tuple(via)
        )

    def vectors(self, robot: Robot) -> Ends:
        """Start, goal and end velocities as arrays for a robot, checked."""
        if (move := self.in_joints(robot)) is not self:
            return move.vectors(robot)
        start = configuration(robot, self.start, "start")
        goal = configuration(robot, reached(robot, start, self.goal), "goal")
        v0, v1 = (
            velocity(robot, self.start_velocity, "start_velocity"),
            velocity(robot, self.goal_velocity, "goal_velocity"),
        )
        self._apart(robot)
        return Ends(start, goal, v0, v1)

    def _apart(self, robot: Robot) -> None:
        """Refuse a via point where the one before it is, unless both have their time: a leg without
        a way has no duration of its own."""
        places = [
            configuration(robot, via.configuration, f"via configuration {k}")
            for k, via in enumerate(self.via, start=1)
        ]
        for k, (a, b) in enumerate(itertools.pairwise(places), start=1):
            if np.array_equal(a, b) and None in (self.via[k - 1].at, self.via[k].at):
                raise ArgumentError(
                    f"via points {k} and {k + 1} are the same place; leave one out, or give both a"
                    " time, to stay there"
                )


def _seconds(value: Any, what: str, otherwise: str) -> float | None:
    """A positive number, s; None stays None. otherwise: what to do instead of giving one."""
    try:
        number = None if value is None else float(value)
    except (TypeError, ValueError):
        number = np.nan
    if number is not None and not (np.isfinite(number) and number > 0):
        raise ArgumentError(f"{what} = {value!r} must be a positive number, s; {otherwise}")
    if number is not None and number > LONGEST:
        raise ArgumentError(
            f"{what} = {value!r}: at most {LONGEST:.0e} s are taken; check its unit"
        )
    return number


def _part(value: Any, what: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not 0.0 <= number <= 1.0:
        raise ArgumentError(
            f"{what} = {value!r} must be a number from 0 (least energy) to 1; {SMOOTHNESS} is usual"
        )
    return number


def _stops(via: Any) -> tuple[Via, ...]:
    """Via points of a list of them or of configurations; one `Via` may stand alone."""
    if isinstance(via, Via):
        return (via,)
    if (
        isinstance(via, Mapping)
        or not np.iterable(via)
        or any(np.ndim(v) == 0 and not isinstance(v, Via | Mapping) for v in via)
    ):
        raise ArgumentError(
            f"via = {via!r} must be a list of configurations or of arm.optimize.Via objects:"
            " via=[[…], […]]"
        )
    return tuple(v if isinstance(v, Via) else Via(v) for v in via)


@dataclass(frozen=True, eq=False)
class Ends:
    """Both ends of a move, (n,) each."""

    q0: np.ndarray
    q1: np.ndarray
    v0: np.ndarray
    v1: np.ndarray


def reached(robot: Robot, start: np.ndarray, goal: Any) -> Any:
    """The goal; where it names some joints of a robot with closed loops, all joints, as the loops
    lead them from the start."""
    if not (robot.loops and isinstance(goal, Mapping) and set(goal) < set(robot.joint_names)):
        return goal
    path = np.repeat(start[None], STEPS + 1, axis=0)
    for name, value in goal.items():
        j = robot.joint_names.index(name)
        path[:, j] += np.linspace(0.0, 1.0, STEPS + 1) * (float(value) - start[j])
    found = closure(robot, start)
    motors = [robot.joint_names[j] for j in found.independent]
    missing = [name for name in motors if name not in goal]
    if missing:
        raise ArgumentError(
            f"goal: joint {missing[0]!r} is missing; give the joints with motors:"
            f" {', '.join(motors)}"
        )
    return found.closed(path)[-1]


def configuration(robot: Robot, value: Any, what: str) -> np.ndarray:
    """(n,) joint coordinates from an array or {joint: value}; an error names what is missing."""
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base; moves are planned for robots on a fixed"
            " base"
        )
    if isinstance(value, Mapping):
        unknown = [k for k in value if k not in robot.joint_names]
        missing = [k for k in robot.joint_names if k not in value]
        if unknown or missing:
            raise ArgumentError(
                f"{what}: unknown joints {unknown}, missing joints {missing}; joints are"
                f" {', '.join(robot.joint_names)}"
            )
        value = [value[k] for k in robot.joint_names]
    return velocity(robot, value, what, scalar=False)


def velocity(robot: Robot, value: Any, what: str, scalar: bool = True) -> np.ndarray:
    """(n,) finite numbers; where `scalar`, one number for all joints will do, or {joint name:
    value} with 0 for the others."""
    if scalar and isinstance(value, Mapping):
        unknown = [k for k in value if k not in robot.joint_names]
        if unknown:
            raise ArgumentError(
                f"{what}: unknown joints {unknown}; joints are {', '.join(robot.joint_names)}"
            )
        value = [value.get(name, 0.0) for name in robot.joint_names]
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{what} = {value!r} must be {robot.n} numbers, one for each of"
            f" {', '.join(robot.joint_names)}"
        ) from None
    if scalar and array.ndim == 0:
        array = np.full(robot.n, float(array))
    if array.shape != (robot.n,):
        raise ArgumentError(
            f"{what} has shape {array.shape}; expected ({robot.n},): {', '.join(robot.joint_names)}"
        )
    if not np.all(np.isfinite(array)):
        raise ArgumentError(f"{what} = {array} has values that are not finite")
    return array

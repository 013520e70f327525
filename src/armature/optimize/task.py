"""Tasks: what a motion shall do, without how."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.optimize.closure import closure
from armature.robot.model import Robot

STEPS = 32  # of the way along which loops are followed to a goal


@dataclass(frozen=True)
class Via:
    """A configuration to pass. at: time after the start, s; None: whenever it is best.

    velocity: (n,), None leaves it free (passing without stopping); 0 stops there.
    """

    configuration: Any
    at: float | None = None
    velocity: Any = None


@dataclass(frozen=True)
class Move:
    """From one configuration to another.

    start, goal: (n,) joint coordinates, rad or m, or {joint name: value}; with closed loops a goal may name the motors' joints only.
    duration: s; None where it is to be found.
    via: configurations to pass on the way, in order, as (n,) arrays or `Via` objects.
    start_velocity, goal_velocity: (n,), rest by default.
    """

    start: Any
    goal: Any
    duration: float | None = None
    via: Sequence[Any] = ()
    start_velocity: Any = 0.0
    goal_velocity: Any = 0.0

    def __post_init__(self) -> None:
        if self.duration is not None and not (np.isfinite(self.duration) and self.duration > 0):
            raise ArgumentError(f"duration = {self.duration} s must be a positive number; leave it out to have it found")
        stops = tuple(v if isinstance(v, Via) else Via(v) for v in self.via)
        object.__setattr__(self, "via", stops)
        given = [v.at for v in stops if v.at is not None]
        inside = all(0 < t < (self.duration or np.inf) for t in given)
        if not inside or any(b <= a for a, b in itertools.pairwise(given)):
            raise ArgumentError(f"passing times {given} must rise and lie between 0 and the duration {self.duration} s")

    def vectors(self, robot: Robot) -> Ends:
        """Start, goal and end velocities as arrays for a robot, checked."""
        start = configuration(robot, self.start, "start")
        goal = configuration(robot, reached(robot, start, self.goal), "goal")
        v0, v1 = velocity(robot, self.start_velocity, "start_velocity"), velocity(robot, self.goal_velocity, "goal_velocity")
        return Ends(start, goal, v0, v1)


@dataclass(frozen=True, eq=False)
class Ends:
    """Both ends of a move, (n,) each."""

    q0: np.ndarray
    q1: np.ndarray
    v0: np.ndarray
    v1: np.ndarray


def reached(robot: Robot, start: np.ndarray, goal: Any) -> Any:
    """The goal; where it names some joints of a robot with closed loops, all joints, as the loops lead them from the start."""
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
        raise ArgumentError(f"goal: joint {missing[0]!r} is missing; give the joints with motors: {', '.join(motors)}")
    return found.closed(path)[-1]


def configuration(robot: Robot, value: Any, what: str) -> np.ndarray:
    """(n,) joint coordinates from an array or {joint: value}; an error names what is missing."""
    if robot.nq != robot.nv:
        raise ArgumentError(f"robot {robot.name!r} has a floating base; moves are planned for robots on a fixed base")
    if isinstance(value, Mapping):
        unknown = [k for k in value if k not in robot.joint_names]
        missing = [k for k in robot.joint_names if k not in value]
        if unknown or missing:
            raise ArgumentError(f"{what}: unknown joints {unknown}, missing joints {missing}; joints are {', '.join(robot.joint_names)}")
        value = [value[k] for k in robot.joint_names]
    return velocity(robot, value, what, scalar=False)


def velocity(robot: Robot, value: Any, what: str, scalar: bool = True) -> np.ndarray:
    """(n,) finite numbers; one number for all joints where `scalar`."""
    try:
        array = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} = {value!r} must be {robot.n} numbers, one for each of {', '.join(robot.joint_names)}") from None
    if scalar and array.ndim == 0:
        array = np.full(robot.n, float(array))
    if array.shape != (robot.n,):
        raise ArgumentError(f"{what} has shape {array.shape}; expected ({robot.n},): {', '.join(robot.joint_names)}")
    if not np.all(np.isfinite(array)):
        raise ArgumentError(f"{what} = {array} has values that are not finite")
    return array

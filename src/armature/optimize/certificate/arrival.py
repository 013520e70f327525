"""Whether a motion is where it has to be, and as fast as it has to be, at its start, via points and
goal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.rows import Label, Margin
from armature.robot.model import Robot
from armature.robot.unit import unit_of

# largest distance from a target, rad or m, and difference from a given velocity, rad/s or m/s
ARRIVED = 1e-6


WORDS = "distance from the", "difference from the velocity at the"


class Target(NamedTuple):
    """What a task gives at one time (s): name ("goal"), position and velocity (n,) each, None where
    they are free."""

    name: str
    time: float
    position: np.ndarray | None = None
    velocity: np.ndarray | None = None


def arrival(robot: Robot, motion: Trajectory, targets: Sequence[Target]) -> list[Margin]:
    """The distance of every joint from every target, and the difference from the velocities given
    there, as margins of 1e-6."""
    found = []
    for target in targets:
        at = motion(target.time)
        pairs = (
            (WORDS[0], target.position, at.q, "rad or m"),
            (WORDS[1], target.velocity, at.v, "rad/s or m/s"),
        )
        for what, wanted, is_there, unit in pairs:
            for name, off in zip(
                robot.joint_names, () if wanted is None else np.abs(is_there - wanted)
            ):
                label = Label(
                    name, f"{what} {target.name}", ARRIVED, unit_of(robot, name, unit), ARRIVED
                )
                found.append(label.margin(float(off), target.time))
    return found


def is_target(margin: Margin) -> bool:
    """Whether a margin is one of arrival."""
    return margin.limit.startswith(WORDS)

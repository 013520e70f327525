"""The task of following a path, and the joints' curve that it means for a robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.motion.path import JointPath, Path
from armature.optimize.along_path import Curve, check_curve
from armature.robot.model import Robot


@dataclass(frozen=True, eq=False)
class FollowPath:
    """Along a path, as fast or as slowly as is best.

    path: of the joints (`arm.joint_path`) or of the hand (`arm.line`, `arm.circle`, …).  duration: s; None where it is to be found.
    link: what follows a path of the hand; the tip of a chain by default.  seed: (n,) a configuration near the start.
    start_speed, end_speed: ṗ at the ends, 1/s (p runs from 0 to 1); rest by default.
    """

    path: Any
    duration: float | None = None
    link: str | None = None
    seed: Any = None
    start_speed: float = 0.0
    end_speed: float = 0.0

    def __post_init__(self) -> None:
        if self.duration is not None and not (np.isfinite(self.duration) and self.duration > 0):
            raise ArgumentError(f"duration = {self.duration} s must be a positive number; leave it out to have it found")
        for name in ("start_speed", "end_speed"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise ArgumentError(f"{name} = {getattr(self, name)} 1/s must be a number ≥ 0: paths are run forwards")

    def curve(self, robot: Robot) -> Curve:
        """The joints along the path for a robot, within their ranges; an ArgumentError says where and why there is none."""
        if isinstance(self.path, JointPath):
            if self.path.n != robot.n:
                raise ArgumentError(f"the path moves {self.path.n} joints, robot {robot.name!r} has {robot.n}")
            found = Curve(robot, self.path, (), tuple(float(p) for p in self.path.breaks))
        elif isinstance(self.path, Curve):
            found = self.path
        elif isinstance(self.path, Path):
            raise ArgumentError("paths of the hand need inverse kinematics along the path")
        else:
            raise ArgumentError(f"the path is {self.path!r}; give arm.joint_path(...), or a path of the hand such as arm.line(...)")
        check_curve(found)
        return found

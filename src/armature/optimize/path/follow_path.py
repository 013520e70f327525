"""The task of following a path, and the joints' curve that it means for a robot."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.annotations import Numbers
from armature.dynamics.compiled import pose
from armature.dynamics.positioning.follow import Followed, follow
from armature.errors import ArgumentError
from armature.motion.path import JointPath, JointPoint, Path
from armature.optimize.path.along_path import Curve, check_curve
from armature.robot.model import Robot
from armature.robot.tip import tip

MOST_BREAKS = 40  # of a path that become knots
# share of the largest third derivative by which it may jump where two polynomials meet: jerk is
# made from it
SMOOTH = 0.05
# m or rad: how far the hand may be from its path between the places where inverse kinematics was
# solved
ON_PATH = 1e-6


@dataclass(frozen=True, eq=False)
class FollowPath:
    """Along a path, as fast or as slowly as is best.

    path: of the joints (`arm.motion.joint_path`) or of the hand (`arm.line`, `arm.circle`, …).
    duration: s; None where it is to be found.
    time_price: W, where the duration is free: what a second costs beside the energy.
    link: what follows a path of the hand; the tip of a chain by default.  start: (n,) the
    configuration at the start of a hand's path.
    seed: (n,) a configuration near the start.  home, pull: where a redundant arm is drawn to within
    its freedom, see `arm.dynamics.follow`.
    start_speed, end_speed: ṗ at the ends, 1/s (p runs from 0 to 1); rest by default.
    floor: as in `Move`; a path that leads a link through it is refused.
    """

    path: Any
    duration: float | None = None
    time_price: float = 0.0
    link: str | None = None
    start: Numbers | None = None
    seed: Numbers | None = None
    home: Numbers | None = None
    pull: float = 2.0
    start_speed: float = 0.0
    end_speed: float = 0.0
    floor: float | str | None = "auto"

    def __post_init__(self) -> None:
        if not isinstance(self.path, (JointPath, Path, Curve)):
            raise ArgumentError(
                f"the path is {self.path!r:.60}; give arm.motion.joint_path(...), or a path of the"
                " hand such as arm.line(...)"
            )
        if self.duration is not None and not (np.isfinite(self.duration) and self.duration > 0):
            raise ArgumentError(
                f"duration = {self.duration} s must be a positive number; leave it out to have it"
                " found"
            )
        for name, why in (
            ("start_speed", "paths are run forwards"),
            ("end_speed", "paths are run forwards"),
            ("time_price", "time costs"),
        ):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise ArgumentError(f"{name} = {getattr(self, name)} must be a number ≥ 0: {why}")

    @property
    def ends(self) -> tuple[float, float]:
        """ṗ at the ends, 1/s."""
        return float(self.start_speed), float(self.end_speed)

    def curve(self, robot: Robot) -> Curve:
        """The joints along the path for a robot, within their ranges; an ArgumentError says where
        and why there is none."""
        if isinstance(self.path, JointPath):
            if self.path.n != robot.n:
                raise ArgumentError(
                    f"the path moves {self.path.n} joints, robot {robot.name!r} has {robot.n}"
                )
            found = Curve(robot, self.path, breaks=inner_breaks(self.path.breaks))
        elif isinstance(self.path, Path):
            found = self._hand_curve(robot)
        else:
            found = self.path
        check_curve(found)
        return found

    def _hand_curve(self, robot: Robot) -> Curve:
        """Inverse kinematics along every part between corners, each going on from where the last
        one ended."""
        link = self.link or tip(robot, "follows the path")
        edges = [0.0, *self.path.corners, 1.0]
        legs: list[JointPath] = []
        start = self.start
        for a, b in itertools.pairwise(edges):
            part = self.path if len(edges) == 2 else part_of(self.path, a, b)
            leg = _followed(robot, part, link, start, self, (a, b))
            legs.append(leg)
            start = leg(1.0).q
        function = legs[0] if len(legs) == 1 else Joined(tuple(legs), np.array(edges))
        return Curve(
            robot, function, tuple(self.path.corners), breaks=inner_breaks(self.path.breaks)
        )


def inner_breaks(breaks: np.ndarray) -> tuple[float, ...]:
    """A path's breaks without its ends; none where there are so many that the knots lie close
    enough anyway."""
    return tuple(float(p) for p in breaks[1:-1]) if len(breaks) <= MOST_BREAKS else ()


def _followed(
    robot: Robot, path: Path, link: str, start: Any, task: FollowPath, edges: tuple[float, float]
) -> JointPath:
    """The joints along one part, at so many places that the hand is on its path between them
    too."""
    count = 101
    while True:
        found = follow(
            robot, path, link, start, seed=task.seed, home=task.home, pull=task.pull, count=count
        )
        if not found.ok:
            where = edges[0] + found.place * (edges[1] - edges[0])
            raise ArgumentError(
                f"the path cannot be followed beyond p = {where:.4g}: {found.message}"
            )
        joints = found.path
        if count > 2000 or (
            off_path(robot, path, link, joints, found) <= ON_PATH
            and roughness(joints, path.breaks) <= SMOOTH
        ):
            return joints
        # all branches are stepped along together: where another one ends, the steps are tiny, and
        # rough. From here on it goes alone
        count = count if start is None else 4 * (count - 1) + 1
        start = found.q[0]


def roughness(joints: JointPath, breaks: np.ndarray) -> float:
    """The largest jump of the third derivative between the pieces of a joint path, at places that
    are no breaks of the hand's path, by the largest there is."""
    inner = joints.breaks[1:-1]
    inner = inner[np.min(np.abs(inner[:, None] - breaks), axis=1, initial=1.0) > 1e-9]
    if not len(inner):
        return 0.0
    before, after = joints(inner - 1e-9).dddq, joints(inner + 1e-9).dddq
    least = 10.0 * np.max(
        np.abs(joints(inner).dq)
    )  # on an almost straight line of the joints nothing is rough
    return float(
        np.max(np.abs(after - before)) / max(np.max(np.abs([before, after])), least, 1e-12)
    )


def off_path(robot: Robot, path: Path, link: str, joints: JointPath, found: Followed) -> float:
    """The largest distance of the hand from its path half-way between the places where inverse
    kinematics was solved, m."""
    middle = (found.p[1:] + found.p[:-1]) / 2
    return float(
        np.max(np.linalg.norm(pose(robot, joints(middle).q, link).p - path(middle).x, axis=-1))
    )


@dataclass(frozen=True, eq=False)
class Joined:
    """Joint paths one after the other. edges: (k+1,) values of p where they meet."""

    legs: tuple[JointPath, ...]
    edges: np.ndarray

    def __call__(self, p: Any) -> JointPoint:
        """q and three derivatives at p (...)."""
        p = np.asarray(p, dtype=float)
        k = np.clip(np.searchsorted(self.edges, p, side="right") - 1, 0, len(self.legs) - 1)
        size = np.diff(self.edges)[k]
        x = np.clip((p - self.edges[k]) / size, 0.0, 1.0)
        parts = [np.zeros((*p.shape, self.legs[0].n)) for _ in range(4)]
        for i, leg in enumerate(self.legs):
            here = k == i
            for order, value in enumerate(leg(x[here])):
                parts[order][here] = value / (self.edges[i + 1] - self.edges[i]) ** order
        return JointPoint(*parts)


def part_of(path: Path, a: float, b: float) -> Path:
    """The part of a path from p = a to p = b, between corners, as a path of its own."""
    rotation = None if path.rotation is None else _Part(path.rotation, a, b)
    return Path(_Part(path.position, a, b), rotation)


@dataclass(frozen=True, eq=False)
class _Part:
    """A curve on [a, b] as one on [0, 1]: the k-th of its results (x, x', … or R, ω, ω', …) grows
    by (b − a)^k."""

    curve: Any
    a: float
    b: float

    @property
    def breaks(self) -> np.ndarray:
        inner = np.asarray(self.curve.breaks)
        inner = inner[(inner > self.a + 1e-12) & (inner < self.b - 1e-12)]
        return np.concatenate([[0.0], (inner - self.a) / (self.b - self.a), [1.0]])

    def __call__(self, p: Any, *orders: int) -> list[np.ndarray]:
        size, nudge = self.b - self.a, 1e-12
        at = np.clip(self.a + size * np.asarray(p, dtype=float), self.a + nudge, self.b - nudge)
        return [value * size**k for k, value in enumerate(self.curve(at, *orders))]

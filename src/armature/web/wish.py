"""What is wished for: all that a plan in the app depends on, and first wishes for new robots."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from armature.drive import as_supply
from armature.dynamics.compiled import link_poses, pose
from armature.dynamics.positioning.inverse_kinematics import middle
from armature.errors import ArgumentError
from armature.job.job import Job
from armature.motion import shapes
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.planner.baseline import stretched
from armature.optimize.transcription.move import guess_duration
from armature.optimize.transcription.task import SMOOTHNESS, Move, Via
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.shape import ZERO, Vec3
from armature.robot.tip import hands, moves
from armature.scene.scene import Scene

# where the built-in arms begin: start and goal, rad or m; seconds, kg, supply
FIRST: dict[str, tuple[Any, Any, float, float, str]] = {
    "six_axis": (
        np.radians([-37, -88, 71, -73, 90, 53]),
        np.radians([52, -65, 110, -135, 90, 142]),
        1.6,
        3.0,
        "non-regenerative",
    ),
    "seven_axis": (
        np.radians([-50, 40, 0, -60, 0, 60, 0]),
        np.radians([50, 55, 20, -30, 0, 50, 40]),
        1.8,
        2.0,
        "non-regenerative",
    ),
    "valasek": (np.array([0.0, 0.2, 0.5]), np.array([1.2, 0.7, 0.9]), 1.5, 0.0, "non-regenerative"),
}
BULGE = 0.25  # of the distance between start and goal: how high the hand's arc rises
# of the space that hands reach: the height of a first move's links above the base
WELL_ABOVE = 0.15


@lru_cache(maxsize=32)
def with_payload(robot: Robot, mass: float, centre: Vec3 = ZERO, inertia: Vec3 = ZERO) -> Robot:
    """The robot with a payload (kg) at its hand, also one of 0 kg: kernels that carry anything are
    then known before it is changed.

    centre: in the hand's frame, m.  inertia: xx, yy, zz about the centre, kg·m²; of a payload of 0
    kg it does not count.

    The same object every time, because kernels are kept with it."""
    return robot.with_payload(max(mass, 0.0), centre, hand(robot), inertia if mass > 0.0 else None)


def hand(robot: Robot) -> str:
    """The link that the handles hold: the hand, or that of the first arm (see `robot.tip`)."""
    return hands(robot)[0]


def payload_range(robot: Robot) -> float:
    """The end of the payload slider, kg: half of the mass that moves, rounded up to 1, 2 or 5 times
    a power of 10; 10 if it has none."""
    half = 0.5 * sum(link.mass for link in robot.links if moves(robot, link.name))
    if not half:
        return 10.0
    power = 10.0 ** np.floor(np.log10(half))
    return float(next(k * power for k in (1, 2, 5, 10) if k * power >= half * (1 - 1e-9)))


def named(supply: Any) -> Any:
    """The name of a supply that has one, else the supply itself."""
    return next(
        (name for name in ("regenerative", "non-regenerative") if supply == as_supply(name)), supply
    )


@dataclass(frozen=True, eq=False)
class Wish:
    """All that a plan depends on.

    robot: without payload.  start, goal: (n,), rad or m.  duration: s.  payload: kg at the hand,
    its centre (in the hand's frame, m) and inertia (xx, yy, zz about the centre, kg·m²).  supply:
    its name, or None for the robot's own.  objective: "energy" or "time".  way: of the hand from
    start to goal: "free", a straight "line", or an "arc" above it.
    floor: as in `Move`.
    given: a move whose via points and end velocities a free way keeps; passing times as parts of
    its duration.
    smoothness: of the motion of least energy, as in `Move`.  scene: obstacles to go round.
    remarks: what was changed of the robot's file, sentences.  program: the steps of a program
    (`program.sketch.Sketch`) that is edited, None without any.
    """

    robot: Robot
    start: np.ndarray
    goal: np.ndarray
    duration: float = 1.5
    payload: float = 0.0
    supply: Any = None
    objective: str = "energy"
    way: str = "free"
    given: Move | None = None
    floor: Any = "auto"
    smoothness: float = SMOOTHNESS
    centre: Vec3 = ZERO
    inertia: Vec3 = ZERO
    scene: Scene | None = None
    remarks: tuple[str, ...] = ()
    program: Any = None

    @property
    def loaded(self) -> Robot:
        """The robot with its payload."""
        return with_payload(self.robot, self.payload, self.centre, self.inertia)

    @cached_property
    def task(self) -> Move | FollowPath:
        """What is asked for; an ArgumentError where the hand cannot follow the way."""
        return self._move() if self.way == "free" else self._along()

    def _move(self) -> Move:
        """From start to goal, by way of what the task file gives."""
        if self.given is None:
            return Move(
                self.start, self.goal, self.duration, floor=self.floor, smoothness=self.smoothness
            )
        ends = {
            "start": self.start,
            "goal": self.goal,
            "floor": self.floor,
            "smoothness": self.smoothness,
        }
        return replace(
            stretched(self.given, self.duration, self.given.duration or self.duration), **ends
        )

    def _along(self) -> FollowPath:
        """The same with the hand on a given way. An arm that cannot turn its hand at will leads
        only the hand's place along it."""
        free = self.robot.n >= 6
        ends = [pose(self.robot, q, hand(self.robot)) for q in (self.start, self.goal)]
        a, b = ((end.R, end.p) if free else end.p for end in ends)
        path = shapes.line(a, b)
        if self.way == "arc":
            p, q = (np.asarray(end.p) for end in ends)
            middle = (p + q) / 2 + BULGE * float(np.linalg.norm(q - p)) * above(q - p)
            path = shapes.arc(a, (ends[0].R, middle) if free else middle, b)
        try:
            return FollowPath(
                FollowPath(path, link=hand(self.robot), start=self.start).curve(self.loaded),
                self.duration,
                floor=self.floor,
            )
        except ArgumentError as error:
            raise ArgumentError(f"The hand does not get to the goal on this way: {error}") from None

    def job(self, knots: int) -> Job:
        """The same as a job for the planners."""
        return Job(
            self.loaded,
            self.task,
            self.objective,
            self.supply,
            knots,
            self.robot.name,
            scene=self.scene,
        )

    @property
    def via(self) -> tuple[np.ndarray, ...]:
        """The configurations (n,) to pass, in order."""
        return tuple(np.asarray(v.configuration) for v in self.given.via) if self.given else ()

    def at(self, which: str) -> np.ndarray:
        """The configuration (n,) of "start", "goal" or "via 1", "via 2" …"""
        return self.via[number_of(which)] if which.startswith("via") else getattr(self, which)

    def moved(self, which: str, q: np.ndarray) -> Wish:
        """The same with another start, goal or via point."""
        if not which.startswith("via"):
            return replace(self, **{which: q})
        via = list(self._given.via)
        via[number_of(which)] = replace(via[number_of(which)], configuration=q)
        return replace(self, given=replace(self._given, via=tuple(via)))

    def with_via(self, k: int, q: np.ndarray) -> Wish:
        """The same by way of one more configuration, before the k-th one, at whatever time is best;
        the way of the hand is free."""
        via = [*self._given.via]
        via.insert(k, Via(q))
        return replace(self, way="free", given=replace(self._given, via=tuple(via)))

    def without_via(self, which: str) -> Wish:
        """The same without one of its via points."""
        k = number_of(which)
        return replace(
            self, given=replace(self._given, via=self._given.via[:k] + self._given.via[k + 1 :])
        )

    @property
    def _given(self) -> Move:
        return self.given or Move(self.start, self.goal, self.duration)

    def same_move(self, other: Wish) -> bool:
        """Whether only the duration or the objective differs."""
        ends = np.array_equal(self.start, other.start) and np.array_equal(self.goal, other.goal)
        kept = ("payload", "centre", "inertia", "supply", "way", "floor", "smoothness", "scene")
        same = all(getattr(self, name) == getattr(other, name) for name in kept)
        return ends and same and self.robot is other.robot and self.given is other.given


def number_of(which: str) -> int:
    """The index of "via 1" (0), "via 2" (1) …"""
    return int(which.removeprefix("via ")) - 1


def first_wish(robot: Robot, remarks: tuple[str, ...] = ()) -> Wish:
    """A move worth looking at, for a robot of which nothing is known but its ranges. remarks: as in
    `Wish`."""
    if robot.name in FIRST and robot.n == len(FIRST[robot.name][0]):
        start, goal, duration, payload, supply = FIRST[robot.name]
        return Wish(robot, start, goal, duration, payload, supply)
    low, high = ranges(robot)
    start, goal = _worth_seeing(robot, low, high)
    wish = Wish(robot, start, goal, remarks=remarks)
    return replace(
        wish, duration=round(1.5 * guess_duration(robot, Move(start, goal).vectors(robot)), 2)
    )


def _worth_seeing(robot: Robot, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A start and a goal on both sides of the ranges' middle; of some such pairs whose links stay
    well above the base (or as high as any) the one between whose ends the hand's way is longest."""
    centre, swing = middle(robot), np.minimum(0.25 * (high - low), 0.6)
    signs = np.array([s for s, _ in zip(itertools.cycle((1, -1)), range(robot.n))])
    if robot.loops:
        return centre - signs * swing, centre + signs * swing
    draws = np.random.default_rng(0).uniform(-1.0, 1.0, (256, 2, robot.n))
    draws = draws[np.abs(draws[:, 1] - draws[:, 0]).min(axis=-1) > 0.25]  # every joint moves
    pairs = np.clip(centre + np.array([(-signs, signs), *draws]) * swing, low, high)
    z = np.asarray(link_poses(robot, pairs).p)[..., 2]
    height = np.where(np.ptp(z, axis=(0, 1)) > 1e-9, z, np.inf).min(
        axis=(-2, -1)
    )  # of the links that go up and down
    hands = np.asarray(pose(robot, pairs, hand(robot)).p)
    way = np.linalg.norm(hands[:, 1] - hands[:, 0], axis=-1)
    enough = min(height.max(), WELL_ABOVE * float(np.ptp(hands, axis=(0, 1)).max()))
    best = int(np.where(height >= enough, way, -1.0).argmax())
    return pairs[best, 0], pairs[best, 1]


def above(along: np.ndarray) -> np.ndarray:
    """The direction (3,) across a line that points upwards as much as it can; to one side for an
    upright line."""
    side = (
        np.array([0.0, 0.0, 1.0])
        if np.hypot(along[0], along[1]) > 1e-3 * np.linalg.norm(along)
        else np.array([1.0, 0.0, 0.0])
    )
    across = side - along * (side @ along) / (along @ along)
    return across / np.linalg.norm(across)


def ranges(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper ends (n,) for sliders: the joints' ranges, one turn to both sides where there
    is none."""
    limits = bounds(robot)
    sliding = [
        j.kind == "prismatic" for name in robot.joint_names for j in robot.joints if j.name == name
    ]
    reach = np.where(sliding, 1.0, np.pi) if len(sliding) == robot.n else np.full(robot.n, np.pi)
    low = np.where(np.isfinite(limits.lower), limits.lower, -reach)
    return low, np.where(np.isfinite(limits.upper), limits.upper, reach)

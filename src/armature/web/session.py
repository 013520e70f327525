"""The state of one browser: what is wished for and what was found. It knows nothing of pages and
draws nothing."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from armature.drive import as_supply
from armature.dynamics.compiled import link_poses, pose
from armature.dynamics.positioning.inverse_kinematics import inverse_kinematics, middle
from armature.errors import ArgumentError
from armature.job.job import Job
from armature.motion import shapes
from armature.motion.trajectory import Trajectory
from armature.optimize.moves.curve import Curve
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.planner.baseline import stretched
from armature.optimize.transcription.move import guess_duration
from armature.optimize.transcription.task import SMOOTHNESS, Move, Via
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.shape import ZERO, Vec3
from armature.robot.tip import hands, moves

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
BENT = 0.02  # rad or m: a joint that ends farther from the goal is bent in another way
FAR = 1.2  # rad or m: a joint that must move farther for a drag is on another branch
BULGE = 0.25  # of the distance between start and goal: how high the hand's arc rises
FEW_STARTS = 8  # of the inverse kinematics: the nearest branch is wanted, not all of them
ONE_CHANGE = 1.0  # seconds: changes of one thing that follow each other faster are undone together
FEW = 8  # configurations of a plan that tell where it goes
WELL_ABOVE = (
    0.15  # of the space that hands reach: the height of a first move's links above the base
)
MOST_CHANGES = 200  # that can be undone
INSIDE = (0.05, 0.95)  # of the duration: where a via point can be added


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
    smoothness: of the motion of least energy, as in `Move`.
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
        return Job(self.loaded, self.task, self.objective, self.supply, knots, self.robot.name)

    @property
    def via(self) -> tuple[np.ndarray, ...]:
        """The configurations (n,) to pass, in order."""
        return tuple(np.asarray(v.configuration) for v in self.given.via) if self.given else ()

    def at(self, which: str) -> np.ndarray:
        """The configuration (n,) of "start", "goal" or "via 1", "via 2" …"""
        return self.via[_number(which)] if which.startswith("via") else getattr(self, which)

    def moved(self, which: str, q: np.ndarray) -> Wish:
        """The same with another start, goal or via point."""
        if not which.startswith("via"):
            return replace(self, **{which: q})
        via = list(self._given.via)
        via[_number(which)] = replace(via[_number(which)], configuration=q)
        return replace(self, given=replace(self._given, via=tuple(via)))

    def with_via(self, k: int, q: np.ndarray) -> Wish:
        """The same by way of one more configuration, before the k-th one, at whatever time is best;
        the way of the hand is free."""
        via = [*self._given.via]
        via.insert(k, Via(q))
        return replace(self, way="free", given=replace(self._given, via=tuple(via)))

    def without_via(self, which: str) -> Wish:
        """The same without one of its via points."""
        k = _number(which)
        return replace(
            self, given=replace(self._given, via=self._given.via[:k] + self._given.via[k + 1 :])
        )

    @property
    def _given(self) -> Move:
        return self.given or Move(self.start, self.goal, self.duration)

    def same_move(self, other: Wish) -> bool:
        """Whether only the duration or the objective differs."""
        ends = np.array_equal(self.start, other.start) and np.array_equal(self.goal, other.goal)
        kept = ("payload", "centre", "inertia", "supply", "way", "floor", "smoothness")
        same = all(getattr(self, name) == getattr(other, name) for name in kept)
        return ends and same and self.robot is other.robot and self.given is other.given


def _number(which: str) -> int:
    """The index of "via 1" (0), "via 2" (1) …"""
    return int(which.removeprefix("via ")) - 1


def first_wish(robot: Robot) -> Wish:
    """A move worth looking at, for a robot of which nothing is known but its ranges."""
    if robot.name in FIRST and robot.n == len(FIRST[robot.name][0]):
        start, goal, duration, payload, supply = FIRST[robot.name]
        return Wish(robot, start, goal, duration, payload, supply)
    low, high = ranges(robot)
    start, goal = _worth_seeing(robot, low, high)
    wish = Wish(robot, start, goal)
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


@dataclass
class Session:
    """One browser's state.

    wish: what is asked for.  plan: the newest Solution or SavedPlan, None before the first.
    certified: whether its certificate is known.
    curve: energy against time for this move, None while unknown.  least: its shortest duration, s.
    other: a plan to compare with.
    mesh_folders: where the robot's meshes may lie.  planning: False while a saved plan or a study
    is looked at.
    problem: what is in the way.  note: what is worth knowing of the plan.  touched: whether the
    user has changed anything yet.
    past, future: wishes (with their mesh folders) that undo and redo go to.
    """

    wish: Wish
    plan: Any = None
    certified: bool = False
    curve: Curve | None = None
    least: float | None = None
    other: Any = None
    mesh_folders: tuple[Path, ...] = ()
    planning: bool = True
    problem: str = ""
    note: str = ""
    touched: bool = False
    past: list[tuple[Wish, tuple[Path, ...]]] = field(default_factory=list)
    future: list[tuple[Wish, tuple[Path, ...]]] = field(default_factory=list)
    _last: tuple[str, float] = ("", 0.0)  # what was changed last, and when

    @property
    def robot(self) -> Robot:
        """The robot on the table."""
        return self.wish.robot

    def change(self, **values: Any) -> bool:
        """Wish for something else; False where it is what was wished for already. What holds for
        another move is forgotten."""
        return self.change_to(replace(self.wish, **values), " ".join(values))

    def change_to(self, wish: Wish, what: str) -> bool:
        """The same by the whole new wish. what: the thing that is changed; quick changes of one
        thing are undone together."""
        unchanged = wish.same_move(self.wish) and (wish.duration, wish.objective) == (
            self.wish.duration,
            self.wish.objective,
        )
        if not unchanged:
            self._remember(what)
        self.planning = self.touched = True
        self._wish_for(wish)
        return not unchanged

    def _wish_for(self, wish: Wish) -> None:
        if not wish.same_move(self.wish):
            self.curve = self.least = None
        self.wish = wish

    def _remember(self, what: str) -> None:
        """Keep the present wish for undo, unless it is in the middle of one long change."""
        now = time.monotonic()
        name, when = self._last
        if not (what and what == name and now - when < ONE_CHANGE and self.past):
            self.past.append((self.wish, self.mesh_folders))
            del self.past[:-MOST_CHANGES]
        self._last = (what, now)
        self.future.clear()

    def undo(self) -> bool:
        """Wish for what was wished for before; False where nothing was."""
        return self._go(self.past, self.future)

    def redo(self) -> bool:
        """Wish again for what was undone last; False where nothing was undone."""
        return self._go(self.future, self.past)

    def _go(self, there: list, back: list) -> bool:
        if not there:
            return False
        back.append((self.wish, self.mesh_folders))
        wish, folders = there.pop()
        if wish.robot.joint_names != self.robot.joint_names:
            self._forget()
        self._wish_for(wish)
        self.mesh_folders, self.planning, self.touched, self._last = folders, True, True, ("", 0.0)
        return True

    def add_via(self, t: float) -> str:
        """A via point where the plan is at time t (s); returns what is in the way, if anything."""
        if self.plan is None or not self.plan.ok or not self.planning:
            return "A via point is put on a plan: make a plan first."
        track = self.plan.trajectory
        part = t / self.plan.duration
        when = track.t[0] + self.plan.duration * (part if INSIDE[0] <= part <= INSIDE[1] else 0.5)
        passed = [track.t[int(np.abs(track.q - q).max(axis=-1).argmin())] for q in self.wish.via]
        if any(abs(when - other) < 0.02 * self.plan.duration for other in passed):
            return "There is a via point here already: set another time, then add one."
        self.change_to(self.wish.with_via(sum(other < when for other in passed), track(when).q), "")
        return ""

    @property
    def seen(self) -> list[np.ndarray]:
        """Configurations (n,) between which all happens: start, goal, via points, and some of the
        plan."""
        wish, plan = self.wish, self.plan
        track = plan.trajectory if plan is not None and plan.ok else None
        if track is None or track.joint_names != self.robot.joint_names:
            return [wish.start, wish.goal, *wish.via]
        return [wish.start, wish.goal, *wish.via, *track.q[:: max(len(track.q) // FEW, 1)]]

    def pin(self) -> None:
        """Keep the present plan to compare others with."""
        if self.plan is None or not self.plan.ok:
            raise ArgumentError("there is no motion to pin yet; make the plan possible first")
        self.other = self.plan

    @property
    def aside(self) -> bool:
        """Whether the other plan stands beside the first one (two cases of a study) or within it (a
        pinned plan)."""
        return self.other is not None and not self.planning

    def take(self, robot: Robot, mesh_folders: tuple[Path, ...] = ()) -> None:
        """Put another robot on the table, with a first move of its own."""
        self._remember("")
        self.wish, self.mesh_folders, self.touched = first_wish(robot), mesh_folders, False
        self._forget()

    def _forget(self) -> None:
        """Nothing is known of this robot yet."""
        self.plan = self.curve = self.least = self.other = None
        self.certified, self.planning, self.problem, self.note = False, True, "", ""

    def found(self, plan: Any, certified: bool, wish: Wish) -> None:
        """A plan was made for a wish, which may be a moment old."""
        self.plan, self.certified, self.problem = plan, certified, ""
        self.note = ""
        if (
            wish.way != "free"
            and plan.ok
            and np.max(np.abs(plan.trajectory.q[-1] - wish.goal)) > BENT
        ):
            self.note = (
                "The hand gets to its goal on this way, but the arm is then bent in another way"
                " than the orange one."
            )

    def look_at(self, plan: Any, other: Any = None) -> None:
        """Look at a saved plan (and another beside it) instead of making one."""
        ends = plan.trajectory.q[0], plan.trajectory.q[-1]
        self.wish = Wish(
            plan.robot, *ends, round(plan.duration, 4), 0.0, named(plan.supply), "energy"
        )
        self.plan, self.other, self.certified, self.planning = plan, other, True, False
        self.problem = self.note = ""
        self.curve = self.least = None

    @property
    def own_supply(self) -> Any:
        """The supply that has no common name: that of the robot, or of the plan that is looked at;
        None where there is none."""
        supply = named(self.plan.supply) if self.plan is not None else None
        return self.robot.supply if supply is None or isinstance(supply, str) else supply

    def guess(self) -> Trajectory | None:
        """The last plan, if it is one of a robot with the same joints: where a new search
        starts."""
        plan = self.plan
        if plan is None or not plan.ok or plan.trajectory.joint_names != self.robot.joint_names:
            return None
        return plan.trajectory

    def where(self, which: str) -> Any:
        """The hand's pose at the start or the goal."""
        return pose(self.robot, self.wish.at(which), hand(self.robot))

    def reach(self, which: str, R: np.ndarray, p: np.ndarray) -> str:
        """Bring the hand of the start, goal or a via point to a pose, on its branch; returns what
        is in the way, if anything."""
        target = (R, p) if self.robot.n >= 6 else p
        seed = self.wish.at(which)
        found = inverse_kinematics(
            self.robot, target, hand(self.robot), seed=seed, starts=FEW_STARTS
        )
        q = found.best if found.ok else found.nearest
        if np.max(np.abs(q - seed)) > FAR:
            return (
                "The hand cannot get there the way the arm is bent now. To bend it another way, use"
                " the sliders."
            )
        self.change_to(self.wish.moved(which, q), which)
        return "" if found.ok else "The hand cannot get there: this is the nearest it comes."

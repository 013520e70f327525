"""A robot program: moves, paths, dwells, grips and releases in the order in which they are done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

import numpy as np

from armature.annotations import Place
from armature.drive.catalogue import SupplyGiven
from armature.errors import ArgumentError, check_count
from armature.motion.path import JointPath, Path
from armature.optimize.transcription.task import SMOOTHNESS
from armature.robot.model import Robot
from armature.scene.scene import Scene

BACK = "start"  # a goal: where the program begins
HOLDS = ("cheaper", "motors", "brake")


@dataclass(frozen=True, eq=False)
class MoveTo:
    """A move from where the robot is.

    goal: as in `Move`: (n,) joint coordinates, {joint: value} (others stay), a pose of the hand; or
    "start", where the program begins.  via: configurations to pass on the way, in order.
    stop: False joins it smoothly to the next move: its goal is passed without stopping.
    upright: the hand goes straight to the goal and its tool axis (z of `robot.tip`) stays parallel
    to itself; start and goal must have the same tool axis.
    posture, smoothness: as in `Move`.  most: s, the longest duration allowed.  name: for tables.
    """

    goal: Place | Literal["start"]
    via: Any = ()
    stop: bool = True
    upright: bool = False
    posture: Any = None
    smoothness: float = SMOOTHNESS
    most: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        _check_most(self.most, self.name)
        if self.upright and len(self.via):
            raise ArgumentError(
                f"{self.name or 'a move'}: an upright move goes straight and passes no via points; "
                "make a move of every part"
            )


@dataclass(frozen=True, eq=False)
class Along:
    """Along a path of the joints or of the hand, which begins where the robot is.

    path: `arm.motion.joint_path`, `arm.line`, `arm.circle`, …  link: what follows a path of the
    hand.  most: s, the longest duration allowed.  name: for tables.
    """

    path: Any
    link: str | None = None
    most: float | None = None
    name: str = ""

    def __post_init__(self) -> None:
        _check_most(self.most, self.name)
        if not isinstance(self.path, JointPath | Path):
            raise ArgumentError(
                f"the path of {self.name or 'a step'} is {self.path!r:.60}; give "
                "arm.motion.joint_path(...), or a path of the hand such as arm.line(...)"
            )


@dataclass(frozen=True, eq=False)
class Dwell:
    """Standing still for at least `seconds` (s).

    hold: "cheaper": by motors or on the brakes, whichever takes less (brake times included);
    "motors": ready to move; "brake": on the brakes of all axes.  fixed: no longer than `seconds`.
    """

    seconds: float
    hold: Literal["cheaper", "motors", "brake"] = "cheaper"
    fixed: bool = False
    name: str = "dwell"

    def __post_init__(self) -> None:
        _check_seconds(self.seconds, self.name)
        if self.hold not in HOLDS:
            raise ArgumentError(f"{self.name}: hold = {self.hold!r} must be one of {HOLDS}")


@dataclass(frozen=True, eq=False)
class Grip:
    """Take up a part: `seconds` held by the motors, then the robot carries it.

    mass: kg.  at: its centre in the link's frame, m.  link: `robot.tip` by default.
    inertia: (xx, yy, zz) or six moments about its centre, kg·m².  thing: name of an object of the
    program's scene that goes with the link from now on, at the pose it has then.
    """

    mass: float
    at: Iterable[float] | None = None
    link: str | None = None
    inertia: Iterable[float] | None = None
    seconds: float = 0.0
    thing: str | None = None
    name: str = "grip"

    def __post_init__(self) -> None:
        _check_seconds(self.seconds, self.name)
        if not (np.isfinite(self.mass) and self.mass >= 0):
            raise ArgumentError(f"{self.name}: a mass of {self.mass} kg; give a number ≥ 0")
        for field in ("at", "inertia"):
            value = getattr(self, field)
            object.__setattr__(self, field, None if value is None else tuple(value))


@dataclass(frozen=True, eq=False)
class Release:
    """Let the part go: `seconds` held by the motors, then the robot is empty."""

    seconds: float = 0.0
    name: str = "release"

    def __post_init__(self) -> None:
        _check_seconds(self.seconds, self.name)


@dataclass(frozen=True)
class PowerMode:
    """A state of the whole robot in which its motors are off and its brakes hold: stand-by, off.

    power: W meanwhile.  enter, leave: s, during which the motors hold.  energy: J of entering and
    leaving, beside what holding takes."""

    name: str
    power: float
    enter: float = 0.0
    leave: float = 0.0
    energy: float = 0.0

    def __post_init__(self) -> None:
        for field, unit in (("power", "W"), ("enter", "s"), ("leave", "s"), ("energy", "J")):
            value = getattr(self, field)
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not 0.0 <= float(value) < np.inf:
                raise ArgumentError(
                    f"power mode {self.name!r}: {field} = {value!r:.40} {unit}; give a number ≥ 0"
                )

    @property
    def shortest(self) -> float:
        """The shortest stay, with entering and leaving, s."""
        return self.enter + self.leave


Step = MoveTo | Along | Dwell | Grip | Release


@dataclass(frozen=True, eq=False)
class Program:
    """What one robot does in every cycle.

    robot: empty, with its drives and limits.  start: configuration or pose where it begins.
    steps: MoveTo, Along, Dwell, Grip, Release, in order.  cycle: s; None where it is to be found.
    supply: as in `minimize_energy`.  closed: the cycle is repeated, so that it ends where it began,
    with what it carried then.  scene: obstacles and parts that the plan is checked against.
    floor: as in `Move`.  knots: steps in time of every motion.  points: durations on the
    energy-time curve of each.  mean_limits: "motion": every motion keeps the motors' mean limits
    (heat, continuous current) by itself; "cycle": the whole cycle does, so that motions may be
    hotter than stops.  modes: power modes that the robot may take while it waits, where brakes hold
    every axis that needs it."""

    robot: Robot
    start: Place
    steps: tuple[Step, ...]
    cycle: float | None = None
    supply: SupplyGiven = None
    name: str = "program"
    closed: bool = True
    scene: Scene | None = None
    floor: float | str | None = "auto"
    knots: int = 50
    points: int = 12
    mean_limits: Literal["motion", "cycle"] = "motion"
    modes: tuple[PowerMode, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "modes", _modes(self.modes))
        given = tuple(self.steps) if np.iterable(self.steps) else (self.steps,)
        for k, step in enumerate(given, start=1):
            if not isinstance(step, Step):
                raise ArgumentError(
                    f"step {k} is {step!r:.60}; give MoveTo, Along, Dwell, Grip or Release of"
                    " arm.cell"
                )
        object.__setattr__(self, "steps", _named(given))
        if self.cycle is not None and not (np.isfinite(self.cycle) and self.cycle > 0):
            raise ArgumentError(
                f"cycle = {self.cycle} s must be a positive number; leave it out to have it found"
            )
        if self.mean_limits not in ("motion", "cycle"):
            raise ArgumentError(f"mean_limits = {self.mean_limits!r} must be 'motion' or 'cycle'")
        check_count(self.knots, "knots")
        check_count(self.points, "points")
        if not any(isinstance(step, MoveTo | Along) for step in self.steps):
            raise ArgumentError(
                f"program {self.name!r} moves nothing; give it a MoveTo or an Along"
            )


def _modes(given: Any) -> tuple[PowerMode, ...]:
    modes: list[PowerMode] = []
    for mode in given if np.iterable(given) and not isinstance(given, str) else (given,):
        if not isinstance(mode, PowerMode):
            raise ArgumentError(f"modes: {mode!r:.60} must be a PowerMode of arm.cell")
        modes.append(mode)
    names = [m.name for m in modes]
    if len(set(names)) < len(names) or {"motors", "brakes"} & set(names):
        raise ArgumentError(
            f"modes are called {', '.join(names)}; give each a name of its own, not motors or"
            " brakes, which every robot has"
        )
    return tuple(modes)


def _named(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps, each with a name of its own: those without one, or with another's, are
    numbered."""
    named: list[Step] = []
    taken: set[str] = set()
    for k, step in enumerate(steps, start=1):
        name = step.name or ("path" if isinstance(step, Along) else "move")
        name = f"{name} {k}" if name in taken or not step.name else name
        taken.add(name)
        named.append(replace(step, name=name))
    return tuple(named)


def _check_seconds(seconds: Any, name: str) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        raise ArgumentError(f"{name}: {seconds!r:.40} must be a number of seconds ≥ 0")
    if not 0.0 <= float(seconds) < np.inf:
        raise ArgumentError(f"{name}: {seconds} s must be a number ≥ 0")


def _check_most(most: Any, name: str) -> None:
    if most is not None and not (np.isfinite(most) and most > 0):
        raise ArgumentError(f"{name or 'a step'}: most = {most} s must be a positive number")

"""`check_program`: what can be said of a program before anything is planned: where every step
leads, whether it can be reached and held, how quick it can be at best, and which numbers are
missing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.cell.program.program import Program
from armature.cell.program.stages import Leg, Stop, stages
from armature.errors import ArgumentError, several
from armature.optimize.diagnosis.forbidden import fastest, forbidden, out_of_range
from armature.optimize.diagnosis.holding import at_rest, holding
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.planner.floor import ground
from armature.optimize.transcription.task import Move, configuration
from armature.robot.model import Robot
from armature.scene.measure import distance
from armature.scene.scene import Scene

PLACES = 200  # of a path that are looked at


@dataclass(frozen=True)
class StepCheck:
    """What is known of a step before it is planned.

    name: of the step, or of the stop.  kind: "move", "path" or "stop".  least: s, proved: no
    motion within the limits of speed is quicker (stops: their times).  by: the joint that sets it.
    payload: kg carried.  holds: (axis, limit, fraction) nearest to what the drives can hold at
    rest, where the step ends; 1 is at the limit.  near: (m, first, second): what comes nearest in
    the scene there.  faults: what makes it impossible, a sentence each."""

    name: str
    kind: str
    least: float
    by: str = ""
    payload: float = 0.0
    holds: tuple[str, str, float] | None = None
    near: tuple[float, str, str] | None = None
    faults: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProgramCheck:
    """A program before it is planned. steps: in order.  least: s, proved: no cycle is shorter.
    cycle: s, as given.  missing: numbers that are not given, and what is taken instead."""

    name: str
    robot: str
    steps: tuple[StepCheck, ...]
    cycle: float | None
    missing: tuple[str, ...] = ()

    @property
    def least(self) -> float:
        """s."""
        return sum(s.least for s in self.steps)

    @property
    def faults(self) -> tuple[str, ...]:
        """What makes it impossible, with the step and the number that would help."""
        found = [f"step {s.name!r}: {fault}" for s in self.steps for fault in s.faults]
        if self.cycle is not None and self.least > self.cycle * (1 + 1e-9):
            slow = max(self.steps, key=lambda s: s.least)
            found.append(
                f"a cycle of {self.cycle:.4g} s is too short: by the limits of speed alone the"
                f" steps need {self.least:.4g} s ({slow.name!r} {slow.least:.4g} s); give more"
            )
        return tuple(found)

    @property
    def ok(self) -> bool:
        """Whether nothing was found that makes it impossible; planning may still find it so."""
        return not self.faults

    def __str__(self) -> str:
        head = f"{'step':26} {'kind':5} {'least s':>8} {'by':14} {'kg':>6} {'held at':>8}  near"
        rows = []
        for s in self.steps:
            held = "" if s.holds is None else f"{100 * s.holds[2]:.0f} %"
            near = "" if s.near is None else f"{s.near[1]} {s.near[0]:.3g} m from {s.near[2]}"
            rows.append(
                f"{s.name:26.26} {s.kind:5} {s.least:8.3f} {s.by:14.14} {s.payload:6.3g}"
                f" {held:>8}  {near}".rstrip()
            )
        given = "no cycle given" if self.cycle is None else f"cycle {self.cycle:.4g} s"
        total = f"{given}; by the limits of speed alone at least {self.least:.4g} s"
        verdict = (
            "nothing speaks against it; armature plan finds and proves the motions"
            if self.ok
            else "impossible as it is:"
        )
        title = f"{self.name}: robot {self.robot}, steps and stops: {len(self.steps)}"
        return "\n".join([title, head, *rows, total, *self.missing, verdict, *self.faults])


def check_program(program: Program) -> ProgramCheck:
    """Check a program without planning it: goals within range, held by the drives with what is
    carried, free of the scene; a lower bound of its cycle; what is missing. A step that makes no
    sense (ArgumentError) is named."""
    if not isinstance(program, Program):
        raise ArgumentError(
            f"program = {program!r:.60} must be a Program; make one, or read one by load_program"
        )
    rows = []
    for stage in stages(program):
        if isinstance(stage, Leg):
            rows.append(check_leg(stage, program.robot))
        elif stage.seconds > 0.0:
            rows.append(_stop(program, stage))
    return ProgramCheck(
        program.name, program.robot.name, tuple(rows), program.cycle, _missing(program)
    )


def check_leg(leg: Leg, empty: Robot) -> StepCheck:
    """A motion before it is planned. empty: the robot without payload."""
    path = isinstance(leg.task, FollowPath)
    places = _places(leg)
    least, by = _quickest(leg.robot, places)
    faults = []
    if path:
        off = next((f for q in places if (f := out_of_range(leg.robot, "path", q))), None)
        faults += [] if off is None else [str(off)]
    else:
        wrong = forbidden(leg.robot, leg.task, search=False)  # type: ignore[arg-type]
        faults += [] if wrong is None else [str(wrong)]
    low = ground(leg.robot, leg.task.floor, _named(places, path)).below
    faults += [] if low is None else [str(low)]
    if leg.most < least:
        faults.append(
            f"it may take {leg.most:.4g} s at most, but needs {least:.4g} s by the speed of {by};"
            " allow more"
        )
    near = None if leg.scene is None else _nearest(leg.robot, leg.scene, leg.q1)
    if leg.scene is not None:
        faults += _collisions(leg.robot, leg.scene, leg, path)
    payload = leg.robot.mass - empty.mass
    held = _held(leg.robot, leg.q1)
    kind = "path" if path else "move"
    return StepCheck(leg.name, kind, least, by, payload, held, near, tuple(faults))


def _stop(program: Program, stop: Stop) -> StepCheck:
    names = ", ".join(p.name for p in stop.pauses if p.seconds > 0.0)
    robot = stop.pauses[-1].robot
    held = _held(robot, stop.q)
    return StepCheck(
        names, "stop", stop.seconds, "", robot.mass - program.robot.mass, held, None, ()
    )


def _places(leg: Leg) -> np.ndarray:
    """(k, n): where a leg leads, in order."""
    if isinstance(leg.task, Move):
        via = [configuration(leg.robot, v.configuration, "via") for v in leg.task.via]
        return np.array([leg.q0, *via, leg.q1])
    return np.asarray(leg.task.curve(leg.robot)(np.linspace(0.0, 1.0, PLACES)).q)


def _named(places: np.ndarray, path: bool) -> list[tuple[str, np.ndarray]]:
    """Places with what they are called in messages."""
    if path:
        return [("path", places)]
    between = [("via point", places[1:-1])] if len(places) > 2 else []
    return [("start", places[:1]), *between, ("goal", places[-1:])]


def _quickest(robot: Robot, places: np.ndarray) -> tuple[float, str]:
    """The least time by the limits of speed alone, s, and the joint that sets it."""
    way = np.abs(np.diff(places, axis=0)).sum(0)
    most = np.array([fastest(robot, j)[0] for j in range(robot.n)])
    times = way / most
    j = int(times.argmax())
    return float(times[j]), robot.joint_names[j] if times[j] > 0.0 else ""


def _held(robot: Robot, q: np.ndarray) -> tuple[str, str, float] | None:
    """The limit that holding still asks most of; None where nothing is limited."""
    loads = [load for load in holding(robot, at_rest(robot, q)) if np.isfinite(load.bound)]
    worst = max(loads, key=lambda load: load.ratio, default=None)
    return None if worst is None else (worst.joint, worst.limit, float(worst.ratio))


def _nearest(robot: Robot, scene: Scene, q: np.ndarray) -> tuple[float, str, str] | None:
    found = distance(robot, scene, q)
    if int(found.nearest) < 0:
        return None
    first, second = found.pairs[int(found.nearest)]
    return float(found.least), first, second


def _collisions(robot: Robot, scene: Scene, leg: Leg, path: bool) -> list[str]:
    """Places that are in collision: both ends, via points, or the path."""
    places = _places(leg)
    found = distance(robot, scene, places)
    words = []
    for k in np.nonzero(found.least < 0.0)[0][:1]:
        first, second = found.pairs[int(found.nearest[k])]
        where = (
            f"the path at {k / (len(places) - 1):.2f} of its way"
            if path
            else {0: "the start", len(places) - 1: "the goal"}.get(int(k), f"via point {k}")
        )
        words.append(
            f"{where} is in collision: {first} is {-float(found.least[k]):.3g} m inside {second};"
            " move one of them, or allow the pair"
        )
    return words


def _missing(program: Program) -> tuple[str, ...]:
    """Numbers that are not given, and what that means."""
    robot, words = program.robot, []
    driven = {name for c in robot.drives for name in c.joints}
    bare = [name for name in robot.joint_names if name not in driven]
    if bare:
        words.append(f"no drive on {several(bare)}: planning asks for one; add it, or hold it")
    if program.supply is None and robot.supply is None:
        words.append("no supply given: a regenerative one is counted with")
    if program.cycle is None:
        words.append("no cycle given: ask for the least one, or give one to save energy")
    free = [n for j, n in enumerate(robot.joint_names) if not np.isfinite(fastest(robot, j)[0])]
    if free:
        words.append(f"no limit of speed for {several(free)}, nor for their motors")
    hot = [
        name
        for name, d in zip(robot.drivetrain.axis_names, robot.drivetrain.drives)
        if not np.isfinite(min(d.motor.average_heat, d.motor.continuous_current))
    ]
    if hot:
        words.append(f"no mean limit (continuous current or heat) of the motors of {several(hot)}")
    if all(d.brake is None for d in robot.drivetrain.drives):
        words.append("no brakes: waiting is held by the motors")
    return tuple(words)

"""A line of stations that share one cycle (B12): each station's moves are slowed along their
energy-time curves until the cycle is used.

The slowest station at its least time gives the cycle, or the user does. Every other station has
time to spare, which is shared out among its moves and its rests, on the brake or held by the
motors, so that its energy is least: dynamic programming over a time grid, exact on the grid for
curves of any shape (`allocate`). The motions are then planned at the durations found, and
certified."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator

from armature.drive.catalogue import SupplyGiven
from armature.errors import ArgumentError
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.curve import energy_time_curve
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.simulate.ledger import ledger
from armature.study.allocate import allocate
from armature.study.rest import Rest, coil_power, rest
from armature.study.work import least_time

GRID = 240  # steps into which the time to spare is cut
NEAREST = 1.01  # the first of them, in multiples of the least time
ROUNDING = 1e-9  # s
SAME = 1e-6  # rad or m between the end of one move and the start of the next


@dataclass(frozen=True, eq=False)
class Process:
    """A fixed time in which the robot stands ready, held by its motors: gripping, welding, waiting
    for a signal. seconds: s."""

    seconds: float
    name: str = "process"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.seconds) and self.seconds >= 0):
            raise ArgumentError(f"process {self.name!r}: {self.seconds} s must be a number ≥ 0")


@dataclass(frozen=True, eq=False)
class StationMove:
    """A move of a station, from rest to rest. task: its duration, if any, is not used.  payload: kg
    that it carries.  name: for tables."""

    task: Move
    payload: float = 0.0
    name: str = ""


@dataclass(frozen=True, eq=False)
class Station:
    """A robot and what it does in every cycle, in order: moves and processes. supply: as in
    `minimize_energy`."""

    name: str
    robot: Robot
    steps: tuple[StationMove | Process, ...]
    supply: SupplyGiven = None

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "steps",
            tuple(
                s if isinstance(s, StationMove | Process) else StationMove(s) for s in self.steps
            ),
        )
        if not self.moves:
            raise ArgumentError(f"station {self.name!r} has no moves; give at least one")
        self._check_chain()

    @cached_property
    def moves(self) -> tuple[StationMove, ...]:
        """The moves alone."""
        return tuple(s for s in self.steps if isinstance(s, StationMove))

    @property
    def process_time(self) -> float:
        """All fixed times together, s."""
        return sum(s.seconds for s in self.steps if isinstance(s, Process))

    def loaded(self, move: StationMove) -> Robot:
        """The robot with what it carries in a move."""
        return self.robot.with_payload(move.payload) if move.payload else self.robot

    def _check_chain(self) -> None:
        """Every move begins where the last one ended, at rest, and the cycle returns to its
        start."""
        ends = [m.task.vectors(self.robot) for m in self.moves]
        for k, (move, end) in enumerate(zip(self.moves, ends)):
            where = f"station {self.name!r}: move {move.name or k + 1}"
            if np.any(end.v0) or np.any(end.v1):
                raise ArgumentError(
                    f"{where} does not begin and end at rest; leave out start_velocity and"
                    " goal_velocity"
                )
            last = ends[k - 1]
            off = np.abs(end.q0 - last.q1)
            if off.max() > SAME:
                joint = self.robot.joint_names[int(off.argmax())]
                words = (
                    f"begins with {joint} at {end.q0[off.argmax()]:.6g}, but the one before it ends"
                    f" at {last.q1[off.argmax()]:.6g}"
                )
                raise ArgumentError(
                    f"{where} {words}; moves must join, and the last one must return to the first's"
                    " start"
                )


@dataclass(frozen=True, eq=False)
class Line:
    """Stations that work at the same cycle. cycle: s; None: that of the slowest station at its
    least time.
    knots: steps in time of every plan.  points: durations on each energy-time curve."""

    stations: tuple[Station, ...]
    cycle: float | None = None
    name: str = "line"
    knots: int = 50
    points: int = 16

    def __post_init__(self) -> None:
        object.__setattr__(self, "stations", tuple(self.stations))
        names = [s.name for s in self.stations]
        if not names or len(set(names)) < len(names):
            raise ArgumentError(
                f"the line's stations are called {', '.join(names) or '(none)'}; give at least one,"
                " each with its own name"
            )
        if self.cycle is not None and not (np.isfinite(self.cycle) and self.cycle > 0):
            raise ArgumentError(
                f"cycle = {self.cycle} s must be a positive number; leave it out to take that of"
                " the slowest station"
            )


@dataclass(frozen=True, eq=False)
class BalancedMove:
    """A move before and after. least: the shortest motion.  plan: the motion of least energy at the
    time it was given.
    wait: s of rest after it.  durations, energies: its energy-time curve (with the brakes' coils),
    s and J; a single point where the station has no time to spare.  before, after: J, with the
    brakes' coils.  rest_energy: J of the wait."""

    name: str
    least: Solution
    plan: Solution
    wait: float
    durations: np.ndarray
    energies: np.ndarray
    before: float
    after: float
    rest_energy: float

    @property
    def certified(self) -> bool:
        """Whether the plan is an optimum that keeps all limits, with its proof."""
        return bool(self.plan.ok and self.plan.certificate.ok)


@dataclass(frozen=True, eq=False)
class BalancedStation:
    """A station before and after, for one cycle. least_time: s.  before: all moves at their least
    time, then waiting (wait_before, J);
    after: as balanced.  process: J of standing ready, the same in both."""

    name: str
    least_time: float
    process_time: float
    moves: tuple[BalancedMove, ...]
    wait_before: float
    process: float

    @property
    def before(self) -> float:
        """Energy of a cycle before, J."""
        return sum(m.before for m in self.moves) + self.wait_before + self.process

    @property
    def after(self) -> float:
        """Energy of a cycle after, J."""
        return sum(m.after + m.rest_energy for m in self.moves) + self.process

    @property
    def certified(self) -> bool:
        """Whether all of its plans are."""
        return all(m.certified for m in self.moves)


@dataclass(frozen=True, eq=False)
class BalancedLine:
    """A balanced line. cycle: s.  slowest: name of the station that sets the least cycle.
    stations: before and after."""

    name: str
    cycle: float
    slowest: str
    stations: tuple[BalancedStation, ...]

    @property
    def before(self) -> float:
        """Energy of a cycle of the line, every move at its least time, J."""
        return sum(s.before for s in self.stations)

    @property
    def after(self) -> float:
        """Energy of a cycle of the balanced line, J."""
        return sum(s.after for s in self.stations)

    @property
    def saving(self) -> float:
        """Fraction saved."""
        return 1.0 - self.after / self.before if self.before > 0 else 0.0

    @property
    def certified(self) -> bool:
        """Whether all plans are."""
        return all(s.certified for s in self.stations)

    def __str__(self) -> str:
        head = (
            f"{self.name}: cycle {self.cycle:.4g} s, set by {self.slowest}; {self.before:.4g} J"
            f" before, {self.after:.4g} J after"
        )
        rows = [
            f"{'station':16} {'least s':>8} {'moves s':>8} {'waits s':>8} {'before J':>9}"
            f" {'after J':>9} {'saved':>6}  certified"
        ]
        for s in self.stations:
            used, waits = sum(m.plan.duration for m in s.moves), sum(m.wait for m in s.moves)
            saved = 100 * (1 - s.after / s.before) if s.before > 0 else 0.0
            numbers = (
                f"{s.least_time:8.3f} {used:8.3f} {waits:8.3f} {s.before:9.4g} {s.after:9.4g}"
                f" {saved:5.1f}%"
            )
            rows.append(f"{s.name:16} {numbers}  {'yes' if s.certified else 'NO'}")
        return "\n".join([f"{head}: {100 * self.saving:.1f} % saved", *rows])


def balance_line(
    line: Line, progress: Callable[[str, int, int], None] | None = None
) -> BalancedLine:
    """Use the whole cycle at every station with the least energy. An ArgumentError names the
    station that cannot keep the cycle.

    progress: called with what was done, how many steps are done, and of how many (three for each
    move)."""
    if not isinstance(line, Line):
        raise ArgumentError(
            f"balance_line takes a Line, not {line!r:.60}; make one, or read one by"
            ' load_line("line.yaml")'
        )
    tell = _Progress(progress, 3 * sum(len(s.moves) for s in line.stations))
    fastest = {s.name: [_least(s, m, line.knots, tell) for m in s.moves] for s in line.stations}
    least = {
        s.name: sum(f.duration for f in fastest[s.name]) + s.process_time for s in line.stations
    }
    slowest = max(least, key=lambda name: least[name])
    cycle = line.cycle if line.cycle is not None else least[slowest]
    late = [f"{name} needs {T:.4g} s" for name, T in least.items() if cycle - T < -1e-9 * T]
    if late:
        raise ArgumentError(
            f"the cycle of {cycle:.4g} s is too short: {', '.join(late)}; give at least"
            f" {least[slowest]:.4g} s"
        )
    stations = tuple(
        _balanced(s, fastest[s.name], max(0.0, cycle - least[s.name]), line, tell)
        for s in line.stations
    )
    return BalancedLine(line.name, cycle, slowest, stations)


class _Progress:
    """Tells how far it is."""

    def __init__(self, listener: Callable[[str, int, int], None] | None, total: int):
        self.listener, self.total, self.done = listener, total, 0

    def __call__(self, what: str, steps: int = 1) -> None:
        self.done += steps
        if self.listener is not None:
            self.listener(what, self.done, self.total)


def _least(station: Station, move: StationMove, knots: int, tell: _Progress) -> Solution:
    """The shortest motion of a move."""
    found = least_time(station.loaded(move), replace(move.task, duration=None), knots)
    if not found.ok:
        raise ArgumentError(
            f"station {station.name!r}: move {move.name!r} has no shortest motion:"
            f" {found.diagnosis or found.status.value}"
        )
    tell(f"{station.name}: least time of {move.name or 'a move'}")
    return found


@dataclass(frozen=True, eq=False)
class _Choice:
    """What a station may do with its time: for each move its curve and the rest after it."""

    move: StationMove
    robot: Robot
    least: Solution
    before: float
    durations: np.ndarray
    energies: np.ndarray
    motions: Sequence[Any]
    place: Rest

    def costs(self, times: np.ndarray) -> np.ndarray:
        """Energy with so much more time than the least (s), J; infinite past the end of the
        curve."""
        T = self.least.duration + times
        if len(self.durations) == 1:
            return np.where(times == 0.0, self.energies[0], np.inf)
        return np.where(
            self.durations[-1] + 1e-12 >= T,
            PchipInterpolator(self.durations, self.energies)(T),
            np.inf,
        )


def _balanced(
    station: Station, fastest: list[Solution], spare: float, line: Line, tell: _Progress
) -> BalancedStation:
    """Share the spare time out among moves and rests, and plan the moves at what they were
    given."""
    choices = [_choice(station, m, f, spare, line, tell) for m, f in zip(station.moves, fastest)]
    times = np.linspace(0.0, spare, GRID + 1)
    waits = [np.array([c.place.energy(t) for t in times]) for c in choices]
    steps = GRID if spare > 0 else 0
    given, _ = allocate([*(c.costs(times) for c in choices), *waits], steps)
    moves = []
    for k, choice in enumerate(choices):
        extra, wait = float(times[given[k]]), float(times[given[len(choices) + k]])
        moves.append(_planned(station, choice, choice.least.duration + extra, wait, line.knots))
        tell(f"{station.name}: plan of {choice.move.name or 'a move'}")
    least = sum(f.duration for f in fastest) + station.process_time
    return BalancedStation(
        station.name,
        least,
        station.process_time,
        tuple(moves),
        choices[-1].place.energy(spare),
        _process_energy(station),
    )


def _choice(
    station: Station, move: StationMove, least: Solution, spare: float, line: Line, tell: _Progress
) -> _Choice:
    """The energy-time curve of a move from its least time to all of the spare time, and the rest at
    its goal."""
    robot = station.loaded(move)
    coil, T0 = coil_power(robot), least.duration
    before = ledger(robot, least.trajectory, station.supply).energy + coil * T0
    durations, energies, motions = [T0], [before], [least.trajectory]
    if spare > 1e-6 * T0:
        first = min(NEAREST, 1 + 0.5 * spare / T0)
        T = T0 * np.geomspace(first, 1 + spare / T0, line.points)
        curve = energy_time_curve(
            robot,
            replace(move.task, duration=None),
            T.tolist(),
            station.supply,
            line.knots,
            refine=False,
        )
        for t, e, motion in zip(curve.durations, curve.energies, curve.trajectories):
            if motion is not None and np.isfinite(e):
                durations.append(float(t))
                energies.append(float(e + coil * t))
                motions.append(motion)
    tell(f"{station.name}: energy against time of {move.name or 'a move'}")
    goal = move.task.vectors(robot).q1
    return _Choice(
        move,
        robot,
        least,
        before,
        np.array(durations),
        np.array(energies),
        motions,
        rest(robot, goal),
    )


def _planned(
    station: Station, choice: _Choice, duration: float, wait: float, knots: int
) -> BalancedMove:
    """The plan at a duration; where none is found there, the nearest shorter one that is, and a
    longer wait."""
    end, coil = duration + wait, coil_power(choice.robot)
    plan = choice.least
    shorter = [float(t) for t in choice.durations[::-1] if choice.least.duration < t < duration]
    for T in [duration, *shorter] if duration > choice.least.duration else []:
        guess = choice.motions[int(np.abs(choice.durations - T).argmin())]
        found = minimize_energy(
            choice.robot,
            replace(choice.move.task, duration=T),
            station.supply,
            knots=knots,
            guess=guess,
        )
        if found.ok and found.certificate.ok:
            plan = found
            break
    rest_time = end - plan.duration if end - plan.duration > ROUNDING else 0.0
    after = choice.before if plan is choice.least else plan.energy + coil * plan.duration
    name = choice.move.name
    waiting = choice.place.energy(rest_time)
    return BalancedMove(
        name,
        choice.least,
        plan,
        rest_time,
        choice.durations,
        choice.energies,
        choice.before,
        after,
        waiting,
    )


def _process_energy(station: Station) -> float:
    """What standing ready costs in all processes, J: at the goal of the move before each, with what
    that move carried."""
    total, at = 0.0, station.moves[-1]
    for step in station.steps:
        if isinstance(step, StationMove):
            at = step
        else:
            robot = station.loaded(at)
            total += rest(robot, at.task.vectors(robot).q1).held(step.seconds)
    return total

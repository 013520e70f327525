"""A line of stations that share one cycle (B12): each station's moves are slowed along their
energy-time curves until the cycle is used.

The slowest station at its least time gives the cycle, or the user does. Every other station has
time to spare, which is shared out among its moves and its rests, on the brake or held by the
motors, so that its energy is least: dynamic programming over a time grid, exact on the grid for
curves of any shape (`allocate`). The motions are then planned at the durations found, and
certified."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from armature.errors import ArgumentError, check_count
from armature.optimize.certificate.solution import Solution
from armature.study.station import BalancedMove, BalancedStation, Process, Station, StationMove
from armature.study.station_balance import balance_station
from armature.study.work import least_time

__all__ = [
    "BalancedLine",
    "BalancedMove",
    "BalancedStation",
    "Line",
    "Process",
    "Station",
    "StationMove",
    "balance_line",
]


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
        check_count(self.knots, "knots")
        check_count(self.points, "points")
        if self.cycle is not None and not (np.isfinite(self.cycle) and self.cycle > 0):
            raise ArgumentError(
                f"cycle = {self.cycle} s must be a positive number; leave it out to take that of"
                " the slowest station"
            )


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
            used = sum(m.plan.duration for m in s.moves)
            saved = 100 * (1 - s.after / s.before) if s.before > 0 else 0.0
            numbers = (
                f"{s.least_time:8.3f} {used:8.3f} {s.waits:8.3f} {s.before:9.4g} {s.after:9.4g}"
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
    spare = lambda name: max(0.0, cycle - least[name])
    stations = tuple(
        balance_station(s, fastest[s.name], spare(s.name), (line.knots, line.points), tell)
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
    where = f"station {station.name!r}: move {move.name!r}"
    try:
        found = least_time(station.loaded(move), replace(move.task, duration=None), knots)
    except ArgumentError as error:
        raise ArgumentError(f"{where}: {error}") from None
    if not found.ok:
        raise ArgumentError(
            f"{where} has no shortest motion: {found.diagnosis or found.status.value}"
        )
    tell(f"{station.name}: least time of {move.name or 'a move'}")
    return found

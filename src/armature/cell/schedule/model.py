"""The schedule model of a cell: robots that stand and move in one common cycle.

After Bukata, Šůcha, Hanzálek and Burget, Energy Optimization of Robotic Cells, IEEE Transactions on
Industrial Informatics 13 (2017) 92–102: every robot alternates between stands (weld, grip, wait; at
one of several places, in one of several power modes) and travels (one of several movements, each
with its energy as a convex function of its duration). Robots hand parts over (time lags, compatible
places) and may not be in each other's way (clashes).
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from armature.errors import ArgumentError


@dataclass(frozen=True)
class Energy:
    """Energy of a movement against its duration d: Σ coefficient · d^degree, J and s; convex for d
    > 0.

    terms: ((coefficient, degree), …).
    """

    terms: tuple[tuple[float, float], ...]

    def __call__(self, d: float) -> float:
        """J at duration d, s."""
        return sum(c * d**k for c, k in self.terms)

    def slope(self, d: float) -> float:
        """W at duration d, s."""
        return sum(c * k * d ** (k - 1) for c, k in self.terms if k)

    def is_convex(self, least: float, most: float) -> bool:
        """Whether the second derivative is not negative from least to most (s): exact where every
        curving term is convex by itself, else at 200 places."""
        if all(c * k * (k - 1) >= 0 for c, k in self.terms):
            return True
        places = (least + (most - least) * i / 199 for i in range(200))
        return all(
            sum(c * k * (k - 1) * d ** (k - 2) for c, k in self.terms) >= 0 for d in places if d > 0
        )


@dataclass(frozen=True)
class Sampled:
    """Energy of a movement by points of its energy-time curve, straight between them; convex.

    durations: rising, s.  energies: J.
    """

    durations: tuple[float, ...]
    energies: tuple[float, ...]

    def _piece(self, d: float) -> int:
        return min(max(bisect.bisect_right(self.durations, d) - 1, 0), len(self.durations) - 2)

    def __call__(self, d: float) -> float:
        """J at duration d, s."""
        if len(self.durations) == 1:
            return self.energies[0]
        k = self._piece(d)
        return self.energies[k] + self.slope(d) * (d - self.durations[k])

    def slope(self, d: float) -> float:
        """W to the right of duration d, s."""
        if len(self.durations) == 1:
            return 0.0
        k = self._piece(d)
        t, e = self.durations, self.energies
        return (e[k + 1] - e[k]) / (t[k + 1] - t[k])

    def is_convex(self, least: float, most: float) -> bool:
        """Whether slopes rise."""
        slopes = [self.slope(t) for t in self.durations[:-1]]
        scale = max((abs(s) for s in slopes), default=0.0)
        return all(b >= a - 1e-9 * scale for a, b in itertools.pairwise(slopes))


@dataclass(frozen=True)
class Mode:
    """A power mode at rest. name: motors, brakes, stand-by, off.  power: W.  least: s, the shortest
    stay, with entering and leaving.  energy: J of entering and leaving."""

    name: str
    power: float
    least: float = 0.0
    energy: float = 0.0


@dataclass(frozen=True)
class Spot:
    """Where a stand may take place. modes: that it allows there, with their power there."""

    name: str
    modes: tuple[Mode, ...]


@dataclass(frozen=True)
class Stand:
    """A robot stands: for `least` to `most` seconds, at one of its spots. last: it closes the
    robot's cycle."""

    name: str
    least: float
    most: float
    spots: tuple[Spot, ...]
    last: bool = False


@dataclass(frozen=True)
class Movement:
    """A motion between two spots, in `least` to `most` seconds. energy: of its duration."""

    name: str
    origin: str
    target: str
    least: float
    most: float
    energy: Energy | Sampled


@dataclass(frozen=True)
class Travel:
    """A robot moves between two of its stands, by one of the movements; optional where the order of
    stands is open. origin, target: names of stands."""

    name: str
    origin: str
    target: str
    movements: tuple[Movement, ...]


@dataclass(frozen=True)
class CellRobot:
    """A robot: its stands and the travels between them, which say which orders are possible."""

    name: str
    stands: tuple[Stand, ...]
    travels: tuple[Travel, ...]

    @cached_property
    def last(self) -> Stand:
        """The stand that closes its cycle."""
        return next(s for s in self.stands if s.last)


@dataclass(frozen=True)
class Lag:
    """Start of `target` − start of `origin` ≥ length − height · cycle, s. origin, target:
    activities (stands or travels); it counts only if both are done."""

    origin: str
    target: str
    length: float
    height: int = 0


@dataclass(frozen=True)
class HandOver:
    """Pairs of (stand, spot) that suit each other: whoever is at one of them needs a partner's."""

    pairs: tuple[tuple[tuple[str, str], tuple[str, str]], ...]


@dataclass(frozen=True)
class Clash:
    """Two of (stand, spot) or (travel, movement) that may not overlap in time, in any cycle."""

    first: tuple[str, str]
    second: tuple[str, str]


@dataclass(frozen=True)
class CellModel:
    """A cell with a common cycle (s). Names of activities differ in the whole cell."""

    name: str
    cycle: float
    robots: tuple[CellRobot, ...]
    lags: tuple[Lag, ...] = ()
    hand_overs: tuple[HandOver, ...] = ()
    clashes: tuple[Clash, ...] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cycle) and self.cycle > 0):
            raise ArgumentError(
                f"cell {self.name!r}: a cycle of {self.cycle} s; give a positive number"
            )
        names = [a.name for r in self.robots for a in (*r.stands, *r.travels)]
        twice = {n for n in names if names.count(n) > 1}
        if twice:
            raise ArgumentError(
                f"cell {self.name!r}: two activities are called {min(twice)!r}; rename one"
            )
        for robot in self.robots:
            _check_robot(robot, self.cycle)
        known = set(names)
        for lag in self.lags:
            for end in (lag.origin, lag.target):
                if end not in known:
                    raise ArgumentError(
                        f"a lag names {end!r}, which is no activity of cell {self.name!r}"
                    )
        options = {(a, o) for a, o in self.options()}
        for group in (
            *(h.pairs for h in self.hand_overs),
            *([(c.first, c.second)] for c in self.clashes),
        ):
            for pair in group:
                for one in pair:
                    if one not in options:
                        raise ArgumentError(
                            f"{one[0]!r} has no place or movement {one[1]!r}; check the name"
                        )

    def options(self) -> Iterator[tuple[str, str]]:
        """(activity, spot or movement), all of them."""
        for robot in self.robots:
            yield from ((s.name, spot.name) for s in robot.stands for spot in s.spots)
            yield from ((t.name, m.name) for t in robot.travels for m in t.movements)

    @cached_property
    def owner(self) -> dict[str, int]:
        """Index of the robot of every activity."""
        return {a.name: k for k, r in enumerate(self.robots) for a in (*r.stands, *r.travels)}


def _check_robot(robot: CellRobot, cycle: float) -> None:
    """Refuse a robot whose activities cannot be put in a cycle, with what would make it
    possible."""
    lasts = [s.name for s in robot.stands if s.last]
    if len(lasts) != 1:
        raise ArgumentError(
            f"robot {robot.name!r} has {len(lasts)} stands marked last; mark the one that closes"
            " its cycle"
        )
    spots = {(s.name, p.name) for s in robot.stands for p in s.spots}
    names = {s.name for s in robot.stands}
    for stand in robot.stands:
        _check_times(f"robot {robot.name!r}, stand {stand.name!r}", stand.least, stand.most)
        if not any(spot.modes for spot in stand.spots):
            raise ArgumentError(
                f"robot {robot.name!r}, stand {stand.name!r} has no place with a power mode"
            )
    for travel in robot.travels:
        for end in (travel.origin, travel.target):
            if end not in names:
                raise ArgumentError(
                    f"travel {travel.name!r} of robot {robot.name!r} names {end!r}, which is no"
                    " stand of it"
                )
        for m in travel.movements:
            where = f"robot {robot.name!r}, travel {travel.name!r}, movement {m.name!r}"
            _check_times(where, m.least, m.most)
            for stand, spot in ((travel.origin, m.origin), (travel.target, m.target)):
                if (stand, spot) not in spots:
                    raise ArgumentError(f"{where}: stand {stand!r} has no place {spot!r}")
            if m.least <= 0.0:
                raise ArgumentError(
                    f"{where}: a least duration of {m.least:g} s; give a positive one"
                )
            if not m.energy.is_convex(m.least, min(m.most, cycle)):
                raise ArgumentError(
                    f"{where}: the energy is no convex function of the duration; split it at its"
                    " bends"
                )


def _check_times(where: str, least: float, most: float) -> None:
    if not (0.0 <= least <= most):
        raise ArgumentError(
            f"{where}: from {least:g} s to {most:g} s is no span of time; give least ≤ most"
        )

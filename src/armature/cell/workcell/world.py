"""Robots in one world: which steps of two robots sweep through the same space, and the proof that
no two robots touch at any instant of the schedule.

Both are conservative. Links are covered by spheres that contain their shapes; between two instants
a distance changes by at most Σ max|v_j| · lever of both robots (D5 of the certificate). Steps whose
sweeps are not proved apart count as sharing a zone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.clearance import speed_bounds
from armature.scene.model import Model

PARTS = 4  # of every step in time, the finest that sweeps are looked at
ROWS = 100_000  # pairs of parts of two sweeps at once; more count as not proved apart
ROUNDS = 20  # times that intervals of the schedule are halved
FAR = 0.1  # m: distances are told up to this
CLOSE = 1e-3  # m: how far a proved distance may lie below the smallest that was met


@dataclass(frozen=True, eq=False)
class Sweep:
    """A motion, or a place, as a tree of its parts in time. q: (k, n) in the middle of each part.
    half: (k,), s.  speed: (k, n) bounds.  left: (k,) the first of the two parts that it consists
    of, which stand side by side; −1: none."""

    q: np.ndarray
    half: np.ndarray
    speed: np.ndarray
    left: np.ndarray


def sweep_of(motion: Trajectory | np.ndarray) -> Sweep:
    """A motion, or a configuration (n,) that is kept."""
    if not isinstance(motion, Trajectory):
        q = np.asarray(motion, dtype=float)[None]
        return Sweep(q, np.zeros(1), np.zeros_like(q), np.full(1, -1))
    fine = np.linspace(0.0, 1.0, PARTS + 1)[:-1]
    edges = np.append(
        (motion.t[:-1, None] + np.diff(motion.t)[:, None] * fine).ravel(), motion.t[-1]
    )
    count = 1 << int(np.ceil(np.log2(len(edges) - 1)))
    edges = np.append(edges, np.full(count + 1 - len(edges), edges[-1]))
    speed = np.zeros((count, motion.n))
    real = np.diff(edges) > 0.0
    speed[real] = speed_bounds(motion, edges[:-1][real], edges[1:][real])
    # a heap: part 0 is the whole, 2k + 1 and 2k + 2 are the halves of k
    begin, end, fastest = edges[:-1], edges[1:], speed
    rows = [(begin, end, fastest)]
    while len(begin) > 1:
        begin, end, fastest = begin[::2], end[1::2], np.maximum(fastest[::2], fastest[1::2])
        rows.append((begin, end, fastest))
    starts, ends, speeds = (np.concatenate([row[k] for row in rows[::-1]]) for k in range(3))
    left = np.where(np.arange(len(starts)) < count - 1, 2 * np.arange(len(starts)) + 1, -1)
    return Sweep(motion((starts + ends) / 2).q, (ends - starts) / 2, speeds, left)


def meet(model: Model, lever: np.ndarray, one: Sweep, two: Sweep, apart: float = 0.0) -> bool:
    """Whether two sweeps come within `apart` (m) of each other, or are not proved not to."""
    n = one.q.shape[1]
    i, k = np.zeros(1, dtype=int), np.zeros(1, dtype=int)
    while len(i):
        if len(i) > ROWS:
            return True
        mine = (one.half[i, None] * one.speed[i]) @ lever[:, :n].T
        other = (two.half[k, None] * two.speed[k]) @ lever[:, n:].T
        change = mine + other
        found, _ = model.distances(np.hstack([one.q[i], two.q[k]]), change + apart)
        if (found < apart).any():
            return True
        open_ = (found - change < apart).any(1)
        i, k, mine, other = i[open_], k[open_], mine[open_].max(1), other[open_].max(1)
        whole_i, whole_k = one.left[i] < 0, two.left[k] < 0
        if (whole_i & whole_k).any():
            return True
        first = ~whole_i & ((mine >= other) | whole_k)  # the one that moves more is halved
        a, b = one.left[i[first]], two.left[k[~first]]
        i, k = (
            np.concatenate([a, a + 1, i[~first], i[~first]]),
            np.concatenate([k[first], k[first], b, b + 1]),
        )
    return False


@dataclass(frozen=True, eq=False)
class Piece:
    """What a robot does from `start` on (s, of the cell's clock) for `duration` seconds. motion: a
    trajectory, or the configuration (n,) that it keeps.  key: what it carries, by which models
    differ.  name: of the step."""

    start: float
    duration: float
    motion: Trajectory | np.ndarray
    key: int
    name: str

    def q(self, t: np.ndarray) -> np.ndarray:
        """(K, n) at times of the cell's clock within it, s."""
        if not isinstance(self.motion, Trajectory):
            return np.repeat(np.asarray(self.motion)[None], len(t), axis=0)
        return self.motion(self._own(t)).q

    def speeds(self, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
        """(K, n) bounds of speeds in intervals that hold no knot inside."""
        if not isinstance(self.motion, Trajectory):
            return np.zeros((len(begin), len(self.motion)))
        return speed_bounds(self.motion, self._own(begin), self._own(end))

    def knots(self, begin: float, end: float) -> np.ndarray:
        """Its knots inside a span of the cell's clock, s."""
        if not isinstance(self.motion, Trajectory):
            return np.zeros(0)
        t = self.motion.t - self.motion.t[0] + self.start
        return t[(t > begin) & (t < end)]

    def _own(self, t: np.ndarray) -> np.ndarray:
        motion = self.motion
        assert isinstance(motion, Trajectory)
        return np.clip(t - self.start + motion.t[0], motion.t[0], motion.t[-1])


@dataclass(frozen=True)
class Apart:
    """How near two robots come in a cycle. free: proved at every instant.  distance: m; where free,
    they never come nearer (0.1 where they stay farther); else what was met.  pair: the links.
    time: s.  steps: what both do then."""

    free: bool
    distance: float
    pair: tuple[str, str] | None
    time: float
    steps: tuple[str, str] | None

    def __str__(self) -> str:
        who = (
            "" if self.pair is None else f" ({self.pair[0]} and {self.pair[1]}, {self.time:.4g} s)"
        )
        if self.free:
            return f"apart at every instant, by at least {self.distance:.3g} m{who}"
        doing = (
            "" if self.steps is None else f" while they do {self.steps[0]!r} and {self.steps[1]!r}"
        )
        if self.distance < 0.0:
            return f"touch: {-self.distance:.3g} m into each other{doing}{who}"
        return f"not proved to be apart: {self.distance:.3g} m left{doing}{who}"


def keep_apart(
    models: dict[tuple[int, int], tuple[Model, np.ndarray]],
    one: Sequence[Piece],
    two: Sequence[Piece],
    cycle: float,
    least: float = 0.0,
) -> Apart:
    """Prove that two robots stay `least` metres apart in a cycle (s) that is repeated, or find
    where not. models: by what both carry (keys of the pieces), with the levers of their pairs."""
    worst = Apart(True, FAR, None, 0.0, None)
    for a, b in itertools.product(one, two):
        model, lever = models[a.key, b.key]
        for shifted, begin, end in _overlaps(a, b, cycle):
            found = _prove(model, lever, (a, shifted), begin, end, least)
            if not found.free:
                return found
            if found.distance < worst.distance:
                worst = found
    return worst


def _overlaps(a: Piece, b: Piece, cycle: float) -> Iterator[tuple[Piece, float, float]]:
    """Piece b of a cycle in which it overlaps a, and when, s."""
    first = int(np.floor((a.start - b.start - b.duration) / cycle))
    for n in range(first, first + int(np.ceil((a.duration + b.duration) / cycle)) + 2):
        start = b.start + n * cycle
        begin, end = max(a.start, start), min(a.start + a.duration, start + b.duration)
        if end - begin > 1e-9:
            yield Piece(start, b.duration, b.motion, b.key, b.name), begin, end


def _prove(
    model: Model,
    lever: np.ndarray,
    pieces: tuple[Piece, Piece],
    first: float,
    last: float,
    least: float,
) -> Apart:
    """(D5) for two robots at once, on intervals that are halved until they decide."""
    inside = [p.knots(first, last) for p in pieces]
    edges = np.unique(np.concatenate([[first, last], *inside]))
    begin, end = edges[:-1], edges[1:]
    met, who, when, proved = FAR, -1, first, FAR
    told = lambda free, d: Apart(
        free, d, None if who < 0 else model.pairs[who], when, (pieces[0].name, pieces[1].name)
    )
    for _ in range(ROUNDS):
        middle, half = (begin + end) / 2, (end - begin) / 2
        speed = np.hstack([p.speeds(begin, end) for p in pieces])
        change = half[:, None] * (speed @ lever.T)
        states = np.hstack([p.q(middle) for p in pieces])
        found, _ = model.distances(states, change + max(met, least))
        k, pair = np.unravel_index(int(found.argmin()), found.shape)
        if found[k, pair] < met:
            met, who, when = float(found[k, pair]), int(pair), float(middle[k])
        if met < least:
            return told(False, met)
        low = (found - change).min(1)
        open_ = low < min(max(met - CLOSE, least + 0.5 * (met - least)), proved)
        proved = min(proved, float(low[~open_].min(initial=FAR)))
        if not open_.any():
            return told(proved >= least, proved)
        begin, end = (
            np.concatenate([begin[open_], middle[open_]]),
            np.concatenate([middle[open_], end[open_]]),
        )
    return told(False, met)

"""A dynamic programme on (p, ṗ): the best profile of speeds on a grid, globally (up to the grid),
then on ever finer grids around it.

Between two knots p̈ is constant, so that a profile is a speed at every knot:
    (D1)  V_k(s) = min over s' of  E_k(s, s') + λ h_k(s, s') + Σ_m μ_m J_km(s, s') + V_{k+1}(s'),
    h = 2Δp/(s + s')
with energy E, time h and the integrals J of means from path_step.py, exact laws. λ prices time; a
given duration or a mean limit is met through its multiplier, which reaches the points of the lower
convex hull of energy against time (and heat) only: where the curve E(T) is not convex, the nearest
hull point is found, and the interior solver goes on from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.kernel.keep import compiled_loop
from armature.kernel.loops import call
from armature.optimize.path.path_step import PathStep

Array = np.ndarray
AROUND = np.linspace(-1.0, 1.0, 15)  # a finer grid around the last profile, in units of its width
# of a first grid's step, for twice the steps half as much: how far around a profile of coarser
# steps the best is looked for
CLOSER = 0.25
WIDER = (
    1.0,
    4.0,
    16.0,
)  # times that, where there is none within the limits, or none as quick as asked for
GAP = 1e-3  # between the durations at both sides of a price that counts as a gap of the hull
WARM = 1e-3  # excess of a mean that counts as none, as a fraction of its limit
PRICED = 10  # prices tried for limits of means
ALLOWED = 1e-6  # excess of a limit that counts as none, as a fraction of it


@dataclass(frozen=True, eq=False)
class Steps:
    """A path in N steps. p: (N+1,) knots.  lengths: (N,).  G: (N, 3, 6, n) coefficients at start,
    middle and end of each step.
    sides: (N, n) directions of the joints.  stops: (N+1,) where the hand must stand still
    (corners).  ends: speeds ṗ at both ends, 1/s.
    level: whether p̈ vanishes at the ends, as it must at a corner where two parts of a path meet.
    """

    p: Array
    lengths: Array
    G: Array
    sides: Array
    stops: Array
    ends: tuple[float, float] = (0.0, 0.0)
    level: tuple[bool, bool] = (False, False)

    @property
    def N(self) -> int:
        """Steps."""
        return len(self.lengths)


@dataclass(frozen=True, eq=False)
class Profile:
    """Speeds along a path, p̈ constant in every step. s: (N+1,) ṗ at the knots, 1/s.  times: (N,)
    of the steps, s.  energy: J.

    price: λ, W; infinite where no profile of the grid is as quick as asked for.
    bound: L(λ) − λT, the least energy at the duration asked for by duality (no profile of the grid
    is below it), J.
    edge: (N+1,) where the speed is at an end of its grid.
    other: (N+1,) the speeds of the profile at the other side of a gap of the hull, where the
    duration asked for lies in one."""

    steps: Steps
    s: Array
    times: Array
    energy: float
    price: float
    bound: float
    excess: float
    edge: Array
    other: Array | None = None

    @property
    def duration(self) -> float:
        """s."""
        return float(np.sum(self.times))

    @property
    def accelerations(self) -> Array:
        """(N,) p̈ in every step."""
        return np.diff(self.s**2) / (2 * self.steps.lengths)

    def at(self, p: Array) -> list[Array]:
        """The speeds at other knots p, with those at the other side of a gap; ṗ² is straight
        between knots."""
        return [
            np.sqrt(np.interp(p, self.steps.p, s * s))
            for s in (self.s, self.other)
            if s is not None
        ]


@compiled_loop(nogil=True)
def transitions(address, S, lengths, G, sides, E, H, X, J):
    """All transitions of all steps: S (N+1, B) speeds at the knots; E, H, X (N, B, B), J (N, B, B,
    K)."""
    N, B = lengths.shape[0], S.shape[1]
    table, strides = (
        np.empty(9, dtype=np.int64),
        np.array([1, 1, 0, 0, 0, 1, 1, 1, J.shape[3]], dtype=np.int64),
    )
    s0, s1 = np.empty(B * B), np.empty(B * B)
    for k in range(N):
        for i in range(B):
            for j in range(B):
                s0[i * B + j] = S[k, i]
                s1[i * B + j] = S[k + 1, j]
        table[0], table[1], table[2] = s0.ctypes.data, s1.ctypes.data, lengths[k:].ctypes.data
        table[3], table[4] = G[k].ctypes.data, sides[k].ctypes.data
        table[5], table[6], table[7], table[8] = (
            E[k].ctypes.data,
            H[k].ctypes.data,
            X[k].ctypes.data,
            J[k].ctypes.data,
        )
        call(address, table.ctypes.data, strides.ctypes.data, B * B)  # type: ignore[call-arg]


@compiled_loop(nogil=True)
def sweep(E, H, X, J, weight, price, prices, allowed, chosen):
    """(D1) backwards; chosen (N+1,): the best speeds' indices. Returns (value, energy, time),
    infinite where no profile exists.

    weight: of the energy.  Where speeds at the start are all equal the first index is taken.
    """
    N, B, K = E.shape[0], E.shape[1], prices.shape[0]
    V, W = np.zeros(B), np.empty(B)
    best = np.empty((N, B), dtype=np.int32)
    for k in range(N - 1, -1, -1):
        for i in range(B):
            least, at = np.inf, -1
            for j in range(B):
                if X[k, i, j] <= allowed and H[k, i, j] < 1e12:
                    value = weight * E[k, i, j] + price * H[k, i, j] + V[j]
                    for m in range(K):
                        value += prices[m] * J[k, i, j, m]
                    if value < least:
                        least, at = value, j
            W[i], best[k, i] = least, at
        V, W = W, V
    start = np.argmin(V)
    if not np.isfinite(V[start]):
        return np.inf, np.inf, np.inf
    value, energy, time = V[start], 0.0, 0.0
    chosen[0] = start
    for k in range(N):
        i = chosen[k]
        j = best[k, i]
        chosen[k + 1] = j
        energy += E[k, i, j]
        time += H[k, i, j]
    return value, energy, time


class Plane:
    """The tables of one grid of speeds S (N+1, B)."""

    def __init__(self, step: PathStep, steps: Steps, S: Array):
        N, B, K = steps.N, S.shape[1], step.kernel.outputs[3].size
        self.steps, self.S = steps, np.ascontiguousarray(S)
        self.E, self.H, self.X = (np.empty((N, B, B)) for _ in range(3))
        self.J = np.empty((N, B, B, K))
        G, sides = np.ascontiguousarray(steps.G), np.ascontiguousarray(steps.sides)
        transitions(
            step.kernel.address,
            self.S,
            np.ascontiguousarray(steps.lengths),
            G,
            sides,
            self.E,
            self.H,
            self.X,
            self.J,
        )
        self.chosen = np.zeros(N + 1, dtype=np.int64)

    def best(
        self, price: float, weight: float = 1.0, prices: Array | None = None
    ) -> tuple[float, float, float]:
        """(value, energy, time) of the best profile at a price of time, W, and prices of the means'
        integrals."""
        prices = np.zeros(self.J.shape[3] - 1) if prices is None else prices
        return sweep(self.E, self.H, self.X, self.J, weight, price, prices, ALLOWED, self.chosen)

    def at_duration(
        self, duration: float, scale: float, prices: Array | None = None
    ) -> tuple[float, float, Array | None]:
        """(λ, L(λ) − λT, other) for which the best profile takes this time, as nearly as the hull
        allows. scale: W, of the first prices.

        Where the hull has a gap there, the two profiles at its sides are equally good at one price:
        the one nearer in time is taken, the speeds of the other are told."""
        low, high = -scale, scale  # time falls as the price rises
        for _ in range(10):
            if self.best(high, 1.0, prices)[2] <= duration:
                break
            low, high = high, 8 * high
        for _ in range(10):
            if self.best(low, 1.0, prices)[2] >= duration:
                break
            low, high = 8 * low, low
        for _ in range(48):
            middle = (low + high) / 2
            low, high = (
                (middle, high) if self.best(middle, 1.0, prices)[2] > duration else (low, middle)
            )
        far, near = sorted(
            (low, high), key=lambda price: -abs(np.log(self.best(price, 1.0, prices)[2] / duration))
        )
        beyond, other = self.best(far, 1.0, prices)[2], self.speeds
        value, _, time = self.best(near, 1.0, prices)
        return near, value - near * duration, other if abs(beyond / time - 1.0) > GAP else None

    @property
    def speeds(self) -> Array:
        """(N+1,) of the profile that was chosen last."""
        return self.S[np.arange(len(self.S)), self.chosen]

    def profile(self, price: float, bound: float, other: Array | None = None) -> Profile:
        """The profile that was chosen last."""
        k, i, j = np.arange(self.steps.N), self.chosen[:-1], self.chosen[1:]
        edge = (self.chosen == 0) | (self.chosen == self.S.shape[1] - 1)
        edge = edge | np.roll(edge, 1) | np.roll(edge, -1)
        excess, energy = float(self.X[k, i, j].max()), float(self.E[k, i, j].sum())
        return Profile(
            self.steps, self.speeds, self.H[k, i, j], energy, price, bound, excess, edge, other
        )


def grid(steps: Steps, top: Any, count: int) -> Array:
    """Speeds (N+1, count), even from a little above zero to `top` (N+1,); fixed at the ends and
    where the hand must stop."""
    S = np.linspace(1.0 / count, 1.0, count) * np.broadcast_to(top, (steps.N + 1,))[:, None]
    return _fixed(steps, S)


def _fixed(steps: Steps, S: Array) -> Array:
    S[steps.stops] = 0.0
    S[0], S[-1] = steps.ends
    return S


def best_profile(
    step: PathStep,
    steps: Steps,
    top: Array,
    duration: float | None = None,
    price: float = 0.0,
    weight: float = 1.0,
    count: int = 60,
    passes: int = 24,
    prices: Array | None = None,
    near: Profile | None = None,
) -> Profile | None:
    """The best profile: least weight × energy + price × time, or least energy at a given duration;
    None where the grid has none.

    top: (N+1,) highest speed worth looking at, 1/s.  count: speeds at every knot in the first,
    global pass.  passes: finer ones around it.
    near: a profile of the same path in other steps to start the finer passes from, instead of a
    global one."""
    if duration is None and weight == 0.0 and price <= 0.0:
        raise ArgumentError(
            "the price of time must be positive where energy does not count; give price > 0"
        )
    top = np.broadcast_to(top, (steps.N + 1,))
    width, found = top * 2.0 / count, None
    solved = lambda S: _solved(
        Plane(step, steps, _fixed(steps, S)), duration, price, weight, prices
    )
    if near is not None:
        width = width * (1.0 if near.steps is steps else CLOSER * near.steps.N / steps.N)
        for wider in WIDER:
            if found is None or not np.isfinite(found.price):
                found = solved(tube(near.at(steps.p), wider * width))
    if found is None:
        width, found = top * 2.0 / count, solved(grid(steps, top, count))
    for _ in range(passes if found is not None else 0):
        assert found is not None
        again = solved(tube(found.at(steps.p), width))
        # the tube narrows where the best speed was inside it
        width = width * (0.6 if again is None else np.where(again.edge, 1.0, 0.6))
        found = again or found
    return found


def tube(around: list[Array], width: Array) -> Array:
    """Speeds (N+1, B) around one profile, or around both sides of a gap of the hull."""
    S = [np.maximum(s[:, None] + width[:, None] * AROUND, 0.02 * width[:, None]) for s in around]
    return np.sort(np.concatenate(S, axis=1), axis=1)


def mean_excesses(step: PathStep, profile: Profile) -> Array:
    """(K,) by how much a profile exceeds the limits of means (average heat, continuous current), as
    fractions of them."""
    steps = profile.steps
    found = step.kernel(profile.s[:-1], profile.s[1:], steps.lengths, steps.G, steps.sides)[3]
    return np.asarray(found)[:, :-1].sum(axis=0) / profile.duration


def best_within_means(
    step: PathStep, steps: Steps, top: Array, duration: float | None, price: float, weight: float
) -> Profile | None:
    """`best_profile` with limits of means met through prices of their integrals: each is bracketed,
    then halved.

    Prices reach the lower hull only: where it has a gap, the profile within the limits is given.
    """
    found = best_profile(step, steps, top, duration, price, weight)
    if found is None or not step.means or np.max(mean_excesses(step, found)) <= WARM:
        return found
    scale = max(abs(weight * found.energy + price * found.duration), 1e-9) / found.duration
    low, high, prices, within = (
        np.zeros(len(step.means)),
        np.full(len(step.means), np.inf),
        np.zeros(len(step.means)),
        None,
    )
    for _ in range(PRICED):
        over = mean_excesses(step, found) > WARM
        within = within if over.any() else found
        low, high = np.where(over, prices, low), np.where(over | (prices == 0.0), high, prices)
        open_ended = np.where(prices > 0.0, 4.0 * prices, 0.3 * scale)
        prices = np.where(
            np.isfinite(high),
            (low + np.where(np.isfinite(high), high, 0.0)) / 2,
            np.where(over, open_ended, prices),
        )
        again = best_profile(step, steps, top, duration, price, weight, prices=prices, near=found)
        if again is None:
            break
        found = again
    return found if within is None or np.max(mean_excesses(step, found)) <= WARM else within


def _solved(
    plane: Plane, duration: float | None, price: float, weight: float, prices: Array | None
) -> Profile | None:
    value, _, quickest = (
        plane.best(1.0, 0.0) if duration is not None else plane.best(price, weight, prices)
    )
    if not np.isfinite(value):
        return None
    bound, other = value, None
    if duration is not None:
        if quickest > duration:  # nothing here is as quick: the quickest
            return plane.profile(np.inf, -np.inf)
        scale = max(1.0, abs(plane.best(0.0, 1.0, prices)[1]) / duration)
        price, bound, other = plane.at_duration(duration, scale, prices)
    return plane.profile(price, bound, other)

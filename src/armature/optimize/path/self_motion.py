"""The self-motion along a path of the hand that costs least (K5): a spline of joint deviations,
projected on the path.

    (S1)  q(p) = q₀(p) + B(p) c + J₀(p)ᵀ λ(p)   with λ such that the hand is on its path (Newton's
    method) (S2)  δq = (E − J₀ᵀ (J J₀ᵀ)⁻¹ J) B δc
q₀ is a first curve, J₀ the hand's Jacobian along it, B splines of fifth degree. At a given p(t) the
energy is a smooth function of c, its gradient exact by (S2); a quasi-Newton method minimises it,
then the curve found becomes q₀ and it goes on, so that c may lead far away."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.optimize import minimize

from armature.dynamics.compiled import jacobian, pose
from armature.motion.path import JointPath, Path
from armature.motion.piecewise import Piecewise
from armature.motion.rotation import log
from armature.optimize.path.along_path import Curve, plain_at
from armature.optimize.path.follow_path import Joined
from armature.optimize.transcription.instant import Instants
from armature.robot.bounds import bounds

Array = np.ndarray
SPANS = 6  # of the splines B
TIMES = 161  # instants at which the energy of a trial is counted
PLACES = 161  # of a curve between corners, at least
ROUNDS = 4  # times that a curve found becomes the first one
GAIN = 1e-4  # of the energy's size: less is no gain
CLOSE, TURNS = 1e-10, 15  # of the hand to its path, m and rad, and Newton steps to get there
MARGIN = 0.02  # rad or m: nearer to the end of a range costs


@dataclass(frozen=True, eq=False)
class Places:
    """A first curve at M places p: q (M, n), J (M, c, n), where the hand shall be, and the splines
    B (M, m)."""

    q: Array
    J: Array
    x: Array
    R: Array | None
    B: Array


@dataclass(frozen=True, eq=False)
class SelfMotion:
    """One first curve. link: the hand.  held: whether the configuration at the start stays."""

    curve: Curve
    path: Path
    link: str
    at: Instants
    held: bool

    def places(self, p: Array) -> Places:
        """The first curve at p (M,)."""
        q, goal = self.curve(p).q, self.path(p)
        knots = np.concatenate([np.zeros(5), np.linspace(0.0, 1.0, SPANS + 1), np.ones(5)])
        B = BSpline.design_matrix(np.clip(p, 0.0, 1.0), knots, 5).toarray()[:, int(self.held) :]
        return Places(q, self.moved(q), goal.x, goal.R, B)

    def moved(self, q: Array) -> Array:
        """The Jacobian of what the path prescribes."""
        J = np.asarray(jacobian(self.curve.robot, q, self.link))
        return J if self.path.rotation is not None else J[..., :3, :]

    def missed(self, places: Places, q: Array) -> Array:
        """(M, c) how far the hand is from where it shall be."""
        hand = pose(self.curve.robot, q, self.link)
        if places.R is None:
            return places.x - hand.p
        return np.concatenate(
            [places.x - hand.p, log(places.R @ np.swapaxes(hand.R, -1, -2))], axis=-1
        )

    def joints(self, places: Places, c: Array) -> Array | None:
        """(S1): (M, n); None where Newton's method does not get there."""
        q, normal = places.q + places.B @ c, np.swapaxes(places.J, -1, -2)
        for _ in range(TURNS):
            off = self.missed(places, q)
            if not np.all(np.isfinite(off)) or np.max(np.abs(off)) > 10.0:
                return None
            if np.max(np.abs(off)) < CLOSE:
                return q
            try:
                q = q + (normal @ np.linalg.solve(self.moved(q) @ normal, off[..., None]))[..., 0]
            except np.linalg.LinAlgError:
                return None
        return None

    def pulled_back(self, places: Places, q: Array, slope: Array) -> Array:
        """(S2) transposed: the gradient by c (m, n) from that by q (M, n)."""
        J = self.moved(q)
        along = np.linalg.solve(places.J @ np.swapaxes(J, -1, -2), places.J @ slope[..., None])
        return places.B.T @ (slope - (np.swapaxes(J, -1, -2) @ along)[..., 0])

    def found(self, c: Array) -> Curve | None:
        """The curve of c: polynomials of fifth degree through many places, legs between corners one
        by one."""
        edges, legs = [0.0, *self.curve.corners, 1.0], []
        for a, b in itertools.pairwise(edges):
            inner = [x for x in self.curve.breaks if a < x < b]
            leg = self._leg(c, [a, *inner, b])
            if leg is None:
                return None
            legs.append(leg)
        function = legs[0] if len(legs) == 1 else Joined(tuple(legs), np.array(edges))
        return Curve(
            self.curve.robot, function, self.curve.corners, self.curve.level, self.curve.breaks
        )

    def _leg(self, c: Array, edges: list[float]) -> JointPath | None:
        parts: list[list[Array]] = []
        for a, b in itertools.pairwise(edges):
            p = np.linspace(a, b, max(41, round(PLACES * (b - a)) + 1))
            q = self.joints(self.places(np.clip(p, a + 1e-12, b - 1e-12)), c)
            if q is None:
                return None
            curve = make_interp_spline(p, q, k=7)
            rows = [p, curve(p), curve(p, 1), curve(p, 2)]
            if parts:  # one value where two pieces meet
                for last, row in zip(parts[-1], rows):
                    row[0] = (last[-1] + row[0]) / 2
                parts[-1] = [row[:-1] for row in parts[-1]]
            parts.append(rows)
        p, q, d1, d2 = (np.concatenate(column) for column in zip(*parts))
        size = edges[-1] - edges[0]
        path = Piecewise.hermite((p - edges[0]) / size, q, d1 * size, d2 * size**2)
        return JointPath(path, self.curve.robot.joint_names)


@dataclass(frozen=True, eq=False)
class Timed:
    """When a path is where: t (TIMES,) evenly spaced, p (TIMES,)."""

    t: Array
    p: Array

    @cached_property
    def slopes(self) -> tuple[Array, Array]:
        """Matrices (TIMES, TIMES) that make velocities and accelerations of values at these
        times."""
        curve = make_interp_spline(self.t, np.eye(len(self.t)), k=5)
        return curve(self.t, 1), curve(self.t, 2)

    @cached_property
    def weights(self) -> Array:
        """Of Simpson's rule."""
        w = np.ones(len(self.t))
        w[1:-1:2], w[2:-1:2] = 4.0, 2.0
        return w * (self.t[1] - self.t[0]) / 3.0


def plain_times(curve: Curve, duration: float) -> Timed:
    """Of the plain profile."""
    t = np.linspace(0.0, duration, TIMES)
    return Timed(t, plain_at(curve, t, duration)[0])


def times_of(curve: Curve, motion: Any) -> Timed:
    """Of a motion along the curve, by the way that its joints have gone."""
    p, t = np.linspace(0.0, 1.0, 20001), np.linspace(motion.t[0], motion.t[-1], 20001)
    ways = [
        np.linalg.norm(speed, axis=1)
        for speed in (curve((p[1:] + p[:-1]) / 2).dq, motion((t[1:] + t[:-1]) / 2).v)
    ]
    gone = [np.concatenate([[0.0], np.cumsum(way)]) / way.sum() for way in ways]
    at = np.linspace(0.0, motion.duration, TIMES)
    rising = gone[0] + 1e-15 * np.arange(len(p))
    return Timed(at, np.interp(np.interp(at, t - t[0], gone[1]), rising, p))


def energy_and_slope(
    chart: SelfMotion, places: Places, timed: Timed, c: Array
) -> tuple[float, Array]:
    """The energy of c, J, and its gradient (m, n); infinite where (S1) has no solution."""
    q = chart.joints(places, c)
    if q is None:
        return np.inf, np.zeros_like(c)
    D1, D2 = timed.slopes
    w, b = timed.weights[:, None], bounds(chart.curve.robot)
    g = chart.at.gradient(q, D1 @ q, D2 @ q)
    size = float(np.sum(timed.weights * np.abs(g.L)))
    beyond = np.maximum(q - b.upper + MARGIN, 0.0) - np.maximum(b.lower + MARGIN - q, 0.0)
    price = size / (timed.t[-1] * MARGIN**2)
    value = float(np.sum(timed.weights * g.L)) + price * float(np.sum(w * beyond**2))
    slope = w * (g.q + 2 * price * beyond) + D1.T @ (w * g.v) + D2.T @ (w * g.a)
    return value, chart.pulled_back(places, q, slope)


def least(
    curve: Curve, path: Path, link: str, at: Instants, timed: Timed, held: bool, iterations: int
) -> tuple[float, Curve]:
    """The least energy near a first curve, J, with p(t) given, and the curve that has it."""
    best, value = curve, np.inf
    for _ in range(ROUNDS):
        chart = SelfMotion(best, path, link, at, held)
        places = chart.places(timed.p)
        shape = (places.B.shape[1], curve.robot.n)
        first, _ = energy_and_slope(chart, places, timed, np.zeros(shape))
        size = max(abs(first), 1e-9)

        def scaled(
            x: Array, chart=chart, places=places, shape=shape, size=size
        ) -> tuple[float, Array]:
            energy, slope = energy_and_slope(chart, places, timed, x.reshape(shape))
            return min(energy / size, 1e6), slope.ravel() / size

        c = minimize(
            scaled,
            np.zeros(shape).ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": iterations},
        ).x.reshape(shape)
        reached, _ = energy_and_slope(chart, places, timed, c)
        further = chart.found(c) if reached < first - GAIN * size else None
        if further is None:
            return min(value, first), best
        gain, best, value = first - reached, further, reached
        if gain < 10 * GAIN * size:
            break
    return value, best

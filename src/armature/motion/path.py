"""Geometric paths of the hand and of the joints: frozen functions of a parameter p from 0 to 1,
with three derivatives.

A path of the hand has a position curve and, where the orientation matters, a rotation curve.
Derivatives are with respect to p; those of an orientation are the angular velocity ω (world axes,
rad per unit of p) and its two derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from armature.errors import ArgumentError
from armature.motion.piecewise import Piecewise
from armature.motion.rotation import exp, from_quaternion

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


class PathPoint(NamedTuple):
    """A hand path at p (...): position x and its derivatives (..., 3), m; orientation R (..., 3,
    3), angular velocity w per unit of p and its derivatives (..., 3), world axes; the last four are
    None where orientation is free."""

    x: np.ndarray
    dx: np.ndarray
    ddx: np.ndarray
    dddx: np.ndarray
    R: np.ndarray | None = None
    w: np.ndarray | None = None
    dw: np.ndarray | None = None
    ddw: np.ndarray | None = None


class JointPoint(NamedTuple):
    """A joint path at p (...): coordinates and their derivatives with respect to p, each (...,
    n)."""

    q: np.ndarray
    dq: np.ndarray
    ddq: np.ndarray
    dddq: np.ndarray


@dataclass(frozen=True, eq=False)
class Helix:
    """x = centre + cosine · cos(angle p) + sine · sin(angle p) + advance · p: a circle, or a screw.
    All (3,), m; angle in rad."""

    centre: np.ndarray
    cosine: np.ndarray
    sine: np.ndarray
    advance: np.ndarray
    angle: float

    @property
    def breaks(self) -> np.ndarray:
        """One piece."""
        return np.array([0.0, 1.0])

    def __call__(self, p: np.ndarray, orders: int = 3) -> list[np.ndarray]:
        """Position and derivatives: the k-th turns the circle by k quarters and grows by
        angle^k."""
        p = np.asarray(p, dtype=float)[..., None]
        results = []
        for k in range(orders + 1):
            phase = self.angle * p + k * np.pi / 2
            results.append(
                self.angle**k * (self.cosine * np.cos(phase) + self.sine * np.sin(phase))
            )
        results[0] = results[0] + self.centre + self.advance * p
        if orders > 0:
            results[1] = results[1] + self.advance
        return results


@dataclass(frozen=True, eq=False)
class Turns:
    """R(p) = exp(e₀ a(p)) exp(e₁ b(p)) R_c in each of K pieces: a turn about a fixed axis, or the
    passage from one to the next.

    first, second: e₀, e₁ (K, 3), world axes, rad.  base: R_c (K, 3, 3).  angles: a, b as
    polynomials (d = 2)."""

    first: np.ndarray
    second: np.ndarray
    base: np.ndarray
    angles: Piecewise

    def __call__(self, p: np.ndarray) -> tuple[np.ndarray, ...]:
        """R, ω, ω', ω'': with ω_A = e₀a' and f = exp(e₀a) e₁, ω = ω_A + f b', f' = ω_A × f."""
        p = np.asarray(p, dtype=float)
        breaks = self.angles.breaks
        k = np.clip(np.searchsorted(breaks, p, side="right") - 1, 0, len(breaks) - 2)
        (a, b), (a1, b1), (a2, b2), (a3, b3) = (
            np.moveaxis(x, -1, 0)[..., None] for x in self.angles(p)
        )
        e0, e1 = self.first[k], self.second[k]
        A = exp(e0 * a)
        R = A @ exp(e1 * b) @ self.base[k]
        f = (A @ e1[..., None])[..., 0]
        df = np.cross(e0 * a1, f)
        ddf = np.cross(e0 * a2, f) + np.cross(e0 * a1, df)
        return (
            R,
            e0 * a1 + f * b1,
            e0 * a2 + df * b1 + f * b2,
            e0 * a3 + ddf * b1 + 2 * df * b2 + f * b3,
        )


@dataclass(frozen=True, eq=False)
class QuaternionCurve:
    """The orientation of a curve Q(p) of quaternions (x, y, z, w), made of unit length:
    R(Q/|Q|)."""

    curve: Piecewise

    def __call__(self, p: np.ndarray) -> tuple[np.ndarray, ...]:
        """R, ω, ω', ω'': ω = N/D with N = 2 vec(Q' Q*), N' = 2 vec(Q'' Q*), N'' = 2 vec(Q''' Q* +
        Q'' Q'*), D = Q·Q."""
        Q, Q1, Q2, Q3 = self.curve(p)
        N, N1, N2 = _vec(Q1, Q), _vec(Q2, Q), _vec(Q3, Q) + _vec(Q2, Q1)
        dot = lambda x, y: np.sum(x * y, -1, keepdims=True)
        D, D1, D2 = dot(Q, Q), 2 * dot(Q, Q1), 2 * (dot(Q1, Q1) + dot(Q, Q2))
        w = N / D
        dw = (N1 - w * D1) / D
        return from_quaternion(Q), w, dw, (N2 - 2 * dw * D1 - w * D2) / D


def _vec(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """2 vec(P Q*) of quaternions (..., 4), x y z w."""
    return 2 * (
        P[..., :3] * Q[..., 3:] - P[..., 3:] * Q[..., :3] - np.cross(P[..., :3], Q[..., :3])
    )


@dataclass(frozen=True, eq=False)
class Path:
    """A path of a hand. Call it with p (...) in [0, 1] for a PathPoint; made by `line`, `circle`,
    `polyline`, `spline`, ….

    position: p, orders → position and derivatives.  rotation: p → R, ω, ω', ω''; None leaves the
    orientation free.
    corners: values of p where the direction jumps: there the motion must stop.
    """

    position: Callable[..., Sequence[np.ndarray]]
    rotation: Callable[[np.ndarray], Sequence[np.ndarray]] | None = None
    corners: tuple[float, ...] = ()

    def __call__(self, p: Any) -> PathPoint:
        """Position, orientation and three derivatives at p (...)."""
        p = _parameter(p)
        return PathPoint(
            *self.position(p), *(self.rotation(p) if self.rotation is not None else ())
        )

    @property
    def breaks(self) -> np.ndarray:
        """Values of p (k,), 0 and 1 included, between which all derivatives are continuous."""
        return self.position.breaks  # type: ignore[attr-defined]

    @cached_property
    def length(self) -> float:
        """Of the position curve, m."""
        return float(self._lengths[-1][-1])

    @cached_property
    def _lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Values of p and the length from 0 to each, by Gauss's rule in eighths of every piece."""
        edges = np.unique(
            np.concatenate(
                [np.linspace(a, b, 9) for a, b in zip(self.breaks[:-1], self.breaks[1:])]
            )
        )
        half = np.diff(edges)[:, None] / 2
        speed = np.linalg.norm(self.position(edges[:-1, None] + half * (1 + NODES), 1)[1], axis=-1)
        return edges, np.concatenate([[0.0], np.cumsum(np.sum(speed * half * WEIGHTS, axis=1))])

    def sample(self, count: int, by: str = "p") -> np.ndarray:
        """`count` values of p from 0 to 1, evenly spaced in p, or (by="length") along the curve."""
        if count < 2:
            raise ArgumentError(f"a path is sampled at {count} points; give at least 2")
        if by == "p":
            return np.linspace(0.0, 1.0, count)
        if by != "length":
            raise ArgumentError(f"sampling by {by!r} is not known; use 'p' or 'length'")
        edges, lengths = self._lengths
        if lengths[-1] == 0.0:
            return np.linspace(0.0, 1.0, count)
        wanted = np.linspace(0.0, lengths[-1], count)
        p = np.interp(wanted, lengths, edges)
        for _ in range(3):  # Newton on the length: dp = (wanted − length)/speed
            p = np.clip(
                p + (wanted - self._length_to(p)) / np.linalg.norm(self.position(p, 1)[1], axis=-1),
                0.0,
                1.0,
            )
        return p

    def _length_to(self, p: np.ndarray) -> np.ndarray:
        edges, lengths = self._lengths
        k = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, len(edges) - 2)
        half = (p - edges[k])[:, None] / 2
        speed = np.linalg.norm(self.position(edges[k][:, None] + half * (1 + NODES), 1)[1], axis=-1)
        return lengths[k] + np.sum(speed * half * WEIGHTS, axis=1)

    def reversed(self) -> Path:
        """The same path from its end to its start."""
        rotation = None if self.rotation is None else _Reversed(self.rotation, 1)
        return Path(
            _Reversed(self.position, 0), rotation, tuple(1.0 - c for c in self.corners[::-1])
        )

    def __repr__(self) -> str:
        return (
            f"<Path of {self.length:.6g} m,"
            f" {'orientation free' if self.rotation is None else 'with orientation'}>"
        )


@dataclass(frozen=True, eq=False)
class _Reversed:
    """A curve from its end to its start: odd derivatives change sign; `rate` is the place of the
    first derivative's order 0."""

    curve: Any
    rate: int

    @property
    def breaks(self) -> np.ndarray:
        return 1.0 - self.curve.breaks[::-1]

    def __call__(self, p: np.ndarray, *orders: int) -> list[np.ndarray]:
        values = self.curve(1.0 - np.asarray(p, dtype=float), *orders)
        if self.rate:  # R, ω, ω', ω'': ω is odd, ω' even, ω'' odd
            return [values[0], -values[1], values[2], -values[3]]
        return [x if k % 2 == 0 else -x for k, x in enumerate(values)]


@dataclass(frozen=True, eq=False)
class JointPath:
    """A path of the joints. Call it with p (...) in [0, 1] for q, q', q'', q''' (..., n).

    curve: polynomials in p.  joint_names: n.
    """

    curve: Piecewise
    joint_names: tuple[str, ...] = ()

    def __call__(self, p: Any) -> JointPoint:
        """Coordinates and three derivatives at p (...)."""
        return JointPoint(*self.curve(_parameter(p)))

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.curve.coefficients.shape[-1]

    @property
    def breaks(self) -> np.ndarray:
        """Values of p (k,), 0 and 1 included, between which all derivatives are continuous."""
        return self.curve.breaks

    def __repr__(self) -> str:
        return f"<JointPath of {self.n} joints, {len(self.breaks) - 1} pieces>"


def _parameter(p: Any) -> np.ndarray:
    """p as an array in [0, 1]."""
    try:
        array = np.asarray(p, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"the place on the path {p!r} is not a number; give numbers from 0 to 1"
        ) from None
    if array.size and not (array.min() >= -1e-9 and array.max() <= 1.0 + 1e-9):
        raise ArgumentError(
            f"the place on the path runs from {array.min():g} to {array.max():g}; give numbers from"
            " 0 to 1"
        )
    return np.clip(array, 0.0, 1.0)

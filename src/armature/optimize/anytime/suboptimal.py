"""The method of suboptimal approximations, literally (Valášek 1986): every iterate meets its ends,
keeps all limits, and can be run.

With the change of input (6)–(11) the motion is linear: x₁' = x₂, x₂' = w. From an admissible motion
J:
    (18)–(20)  ψ₁ = ψ₁(0) + ∫ L_q dt,  ψ₂ = ψ₂(0) − ψ₁(0) t + ∫ (L_v − ∫ L_q) dt      along the
    iterate (19), (21) W (w* − w) = ψ₂ − L_a,  W = Σ 2 e_i M_im M_il: linear in ψ(0)
    (22)       2n linear equations for ψ(0): w* leads to the same end
    (23), (24) w ← (1 − α) w + α w*, α by a line search
    (29)       δI = −∫ α (w* − w)ᵀ W (w* − w) dt ≤ 0, also for α(t) ≥ 0
    (30)       α(t) smaller where a limit is near;  (31) α(t) such that the boundary is ridden
    there; (22) is solved anew with α(t)
Accelerations run straight between knots, so that (11) and (22) are integrated exactly: ends hold to
rounding. The method is the same for the joints (n of them) and for the place on a path (one):
`Along` says which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.anytime.riding import NEWTON, Contacts, contacts, excesses
from armature.optimize.transcription.instant import Gradient, Instants

Array = np.ndarray
NODES, WEIGHTS = (
    (np.polynomial.legendre.leggauss(3)[0] + 1) / 2,
    np.polynomial.legendre.leggauss(3)[1] / 2,
)
CHECKED = np.linspace(
    0.0, 1.0, 9
)  # fractions of every step at which limits are checked, the knots included
ALLOWED = 1e-9  # excess that counts as none, as a fraction of the limit
FIRST = 1e-6  # the same for the motion that is given
ALPHAS = np.geomspace(1.0, 1e-4, 14)  # first mixes of a line search
# way in the time of the motion at the speed of its end that counts as none, rad or m
AT_REST = 1e-6
SETTING = 4  # knots of a motion in a step along a path: an acceleration sets in between two of them
NONE = Contacts(np.zeros(0, dtype=int), np.zeros(0, dtype=int), np.zeros((0, 1, 1)))
TRIES = 6  # reductions of α(t) in one iteration


@dataclass(frozen=True, eq=False)
class Iterate(Trajectory):
    """An approximation that can be run: a Trajectory, with number, energy (J, net from the supply),
    the mix α that led to it (its mean where it varied in time), and for a path p, its rate and
    acceleration at the knots (N+1, 3)."""

    number: int = 0
    energy: float = float("nan")
    mix: float = 0.0
    place: Array | None = None


class Along(Protocol):
    """What moves: coordinates x (M, d) with rates and accelerations. Cost and limits at instants,
    gradients, and an executable motion."""

    @property
    def d(self) -> int:
        """Coordinates."""
        ...

    @property
    def at(self) -> Instants:
        """Power and limits."""
        ...

    def values(self, x: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Power (...) and excess of every limit (..., R)."""
        ...

    def gradient(self, x: Array, v: Array, a: Array) -> Gradient:
        """Of the power."""
        ...

    def mean(self) -> Array:
        """(R,) which limits are of the mean."""
        ...

    def rates(self, x: Array, v: Array, a: Array, j: Array) -> tuple[Array, Array]:
        """The joints' jerks and torques at instants, (..., n) each; j: rate of a."""
        ...

    def iterate(self, t: Array, x: Array, v: Array, a: Array) -> Iterate:
        """The motion."""
        ...


@dataclass(frozen=True, eq=False)
class InJoints:
    """The coordinates are the joints (positional control, §3)."""

    at: Instants

    @property
    def d(self) -> int:
        """n."""
        return self.at.robot.n

    def values(self, x: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Power and excesses."""
        return self.at.values(x, v, a)

    def gradient(self, x: Array, v: Array, a: Array) -> Gradient:
        """Of the power."""
        return self.at.gradient(x, v, a)

    def mean(self) -> Array:
        """Which limits are of the mean."""
        return self.at.mean

    def rates(self, x: Array, v: Array, a: Array, j: Array) -> tuple[Array, Array]:
        """Jerks and torques."""
        return j, inverse_dynamics(self.at.robot, x, v, a)

    def iterate(self, t: Array, x: Array, v: Array, a: Array) -> Iterate:
        """The motion."""
        return Iterate(t, x, v, a, self.at.robot.joint_names, interpolation="linear")


class Approximations:
    """One run of the method. t: (N+1,) knots.  x0, v0: (d,) at the start.  w: (N+1, d)
    accelerations, straight between the knots."""

    def __init__(
        self,
        along: Along,
        t: Array,
        x0: Array,
        v0: Array,
        w: Array,
        riding: str = "spline",
        limited: bool = True,
    ):
        self.along, self.t, self.h = along, t, np.diff(t)
        self.x0, self.v0, self.w = x0, v0, w
        self.riding, self.limited = riding, limited
        # weights of knot values in ∫ w dt and ∫ (T − t) w dt, exact for w straight between knots
        left, right = np.append(self.h, 0.0), np.append(0.0, self.h)
        rest = t[-1] - t
        first = np.append(rest[:-1] * self.h / 2 - self.h**2 / 6, 0.0) + np.append(
            0.0, rest[1:] * self.h / 2 + self.h**2 / 6
        )
        self.m = np.stack([(left + right) / 2, first])
        self.held = NONE  # contacts that are kept
        self.gentle = limited and bool(
            np.isfinite([along.at.limits.jerk, along.at.limits.torque_rate]).any()
        )

    # motions and what they cost ------------------------------------------------------------------

    def motion(self, w: Array) -> tuple[Array, Array]:
        """x₁, x₂ at the knots from accelerations (..., N+1, d): (11) integrated exactly."""
        h = self.h[:, None]
        rise = np.concatenate(
            [
                np.zeros_like(w[..., :1, :]),
                np.cumsum(h * (w[..., 1:, :] + w[..., :-1, :]) / 2, axis=-2),
            ],
            axis=-2,
        )
        v = self.v0 + rise
        steps = h * v[..., :-1, :] + h * h * (w[..., :-1, :] / 3 + w[..., 1:, :] / 6)
        return (
            self.x0
            + np.concatenate(
                [np.zeros_like(steps[..., :1, :]), np.cumsum(steps, axis=-2)], axis=-2
            ),
            v,
        )

    def between(self, w: Array, c: Array) -> tuple[Array, Array, Array]:
        """x₁, x₂, w at fractions c (k,) of every step: (..., N, k, d)."""
        x, v = self.motion(w)
        s, j = (
            self.h[:, None, None] * c[:, None],
            (np.diff(w, axis=-2) / self.h[:, None])[..., None, :],
        )
        x, v, a = (y[..., :-1, None, :] for y in (x, v, w))
        return x + s * (v + s * (a / 2 + s * j / 6)), v + s * (a + s * j / 2), a + s * j

    def cost(self, w: Array) -> Array:
        """I (24) of motions (..., N+1, d): three Gauss points in every step."""
        power, _ = self.along.values(*self.between(w, NODES))
        return np.einsum("...kc,k,c->...", power, self.h, WEIGHTS)

    def excess(self, w: Array) -> tuple[Array, float]:
        """The worst excess in every step (N,), and of the means over the motion."""
        state = self.between(w, CHECKED)
        _, rows = self.along.values(*state)
        mean = self.along.mean()
        worst = rows[..., ~mean].max(axis=(-2, -1), initial=-np.inf)
        if self.gentle:
            worst = np.maximum(worst, self.rate_excess(w, *state))
        if not mean.any():
            return worst, -np.inf
        _, rows = self.along.values(*self.between(w, NODES))
        return worst, float(
            np.max(
                np.einsum("kcr,k,c->r", rows[..., mean], self.h, WEIGHTS) / (self.t[-1] - self.t[0])
            )
        )

    def rate_excess(self, w: Array, x: Array, v: Array, a: Array) -> Array:
        """The worst excess of jerk and torque rate in every step (N,)."""
        limits = self.along.at.limits
        jerk, tau = self.along.rates(
            x, v, a, (np.diff(w, axis=0) / self.h[:, None])[:, None, :] + 0.0 * a
        )
        rate = np.diff(tau, axis=1) / (np.diff(CHECKED)[:, None] * self.h[:, None, None])
        worst = np.maximum(
            (np.abs(jerk) / limits.jerk).max(axis=(1, 2)),
            (np.abs(rate) / limits.torque_rate).max(axis=(1, 2)),
        )
        for k, c in (
            (0, 0),
            (-1, -1),
        ):  # from and to rest accelerations set in within a knot's time
            worst[k] = max(worst[k], self.jump(x[k, c], v[k, c], w[k], float(self.h[k])))
        return worst - 1.0

    def jump(self, x: Array, v: Array, w: Array, h: float) -> float:
        """An acceleration that sets in at rest, as a fraction of what jerk and torque rate allow in
        the time of a motion's knot."""
        if np.max(np.abs(v)) * (self.t[-1] - self.t[0]) > AT_REST:
            return 0.0
        limits, zero = self.along.at.limits, np.zeros_like(x)
        (jerk, tau), (_, held) = (self.along.rates(x, zero, a, a * SETTING / h) for a in (w, zero))
        return float(
            max(
                np.max(np.abs(jerk) / limits.jerk),
                np.max(np.abs(tau - held) * SETTING / h / limits.torque_rate),
            )
        )

    def admissible(self, w: Array, allowed: float = ALLOWED) -> bool:
        """Whether all limits hold, between the knots too."""
        if not self.limited:
            return True
        worst, mean = self.excess(w)
        return bool(max(worst.max(initial=-np.inf), mean) <= allowed)

    # one approximation ---------------------------------------------------------------------------

    def conjugate(self) -> tuple[Array, Array]:
        """w* − w = f + A c, c = (ψ₁(0), ψ₂(0)): f (N+1, d), A (N+1, d, 2d); (18)–(21)."""
        g, d = self.along.gradient(*self.knots(), self.w), self.along.d
        p1 = self.integral(g.q)
        psi2 = self.integral(g.v - p1)  # with ψ(0) = 0
        T = self.t[-1] - self.t[0]
        tt = ((self.t - self.t[0]) / T)[:, None, None] * np.eye(d)
        right = np.concatenate(
            [(psi2 - g.a)[..., None], -tt, np.broadcast_to(np.eye(d), tt.shape)], axis=-1
        )
        self.metric_inverse = np.linalg.inv(g.W)
        solved = np.linalg.solve(g.W, right)
        return solved[..., 0], solved[..., 1:]

    def knots(self) -> tuple[Array, Array]:
        """x₁, x₂ of the iterate."""
        return self.motion(self.w)

    def integral(self, y: Array) -> Array:
        """∫ from the start to every knot, y straight between knots."""
        return np.concatenate(
            [np.zeros_like(y[:1]), np.cumsum(self.h[:, None] * (y[1:] + y[:-1]) / 2, axis=0)]
        )

    def basis(self, A: Array) -> Array:
        """A with W⁻¹Λ of every contact (31) beside it, (N+1, d, 2d + K)."""
        if not len(self.held):
            return A
        share = np.einsum(
            "kij,ckj->kic", self.metric_inverse, self.held.weights / self.m[0][:, None]
        )
        return np.concatenate(
            [A, share / np.maximum(np.max(np.abs(share), axis=(0, 1)), 1e-300)], axis=-1
        )

    def equations(self, A: Array, alpha: Array) -> Array:
        """What the unknowns change: the ends (22), and at the contacts the limits (31). (2d + K,
        unknowns)."""
        ends = np.einsum("mk,kdu->mdu", self.m * alpha, A).reshape(-1, A.shape[-1])
        return (
            np.vstack([ends, np.einsum("ckd,kdu->cu", self.held.weights * alpha[:, None], A)])
            if len(self.held)
            else ends
        )

    def solved(self, A: Array, alpha: Array, right: Array) -> Array:
        """The unknowns for which the equations have these values."""
        left = self.equations(A, alpha)
        scale = np.linalg.norm(left, axis=1) + 1e-300
        return np.linalg.lstsq(left / scale[:, None], right / scale, rcond=1e-12)[0]

    def towards(self, f: Array, A: Array, alpha: Array) -> Array:
        """α(t)(w* − w) with ψ(0) such that the ends stay, and the contacts: (22), (30), (31).
        alpha: (N+1,).

        Contacts that would pull the motion back to a limit which it wants to leave are given up."""
        d = 2 * self.along.d
        while True:
            B = self.basis(A)
            right = self.equations(f[..., None], alpha)[:, 0]
            c = self.solved(B, alpha, -right)
            pulling = c[d:] > 0.0
            if not pulling.any():
                break
            self.held = self.held.chosen(~pulling)
        step = alpha[:, None] * (f + B @ c)
        zero = np.zeros(A.shape[1])
        return step + end_correction(
            self.t, zero, zero, step, zero, zero
        )  # what rounding left of the ends

    def kept(self, w: Array, A: Array) -> Array | None:
        """A motion within the limits: this one, or this one put back on the limits that it rides;
        None where that fails."""
        if self.admissible(w):
            return w
        if not len(self.held):
            return None
        B, ones, ends, zero = (
            self.basis(A),
            np.ones(len(self.t)),
            np.zeros(2 * self.along.d),
            np.zeros(self.along.d),
        )
        for _ in range(NEWTON):
            change = B @ self.solved(
                B, ones, np.concatenate([ends, -np.maximum(excesses(self, w, self.held), 0.0)])
            )
            w = w + change + end_correction(self.t, zero, zero, change, zero, zero)
            if self.admissible(w):
                return w
        return None

    def moment_until(self, k: int) -> Array:
        """Weights (N+1,) of knot values in ∫ (t_k − t) w dt up to knot k."""
        h, rest = self.h[:k], (self.t[k] - self.t)[: k + 1]
        weights = np.zeros(len(self.t))
        weights[:k] += rest[:-1] * h / 2 - h**2 / 6
        weights[1 : k + 1] += rest[1:] * h / 2 + h**2 / 6
        return weights

    def rise_until(self, k: int) -> Array:
        """Weights (N+1,) of knot values in ∫ w dt up to knot k."""
        weights = np.zeros(len(self.t))
        weights[:k] += self.h[:k] / 2
        weights[1 : k + 1] += self.h[:k] / 2
        return weights

    def line_search(self, step: Array, A: Array) -> tuple[float, float, Array]:
        """α in [0, 1] of least cost (24) within the limits, that cost and the motion: a geometric
        sweep, then ever closer."""
        alphas, chosen = ALPHAS, self.w
        best, least = 0.0, float(self.cost(self.w))
        for _ in range(7):
            costs = self.cost(self.w + alphas[:, None, None] * step)
            for k in (k for k in np.argsort(costs) if costs[k] < least):
                w = self.kept(self.w + alphas[k] * step, A)
                cost = np.inf if w is None else float(self.cost(w))
                if w is not None and cost < least:
                    best, least, chosen = float(alphas[k]), cost, w
                    break
            if best == 0.0:
                break
            near = np.unique(np.concatenate([[0.0], alphas, [best, 1.0]]))
            i = int(np.searchsorted(near, best))
            alphas = np.linspace(near[i - 1], near[min(i + 1, len(near) - 1)], 11)[1:]
        return best, least, chosen

    def advance(self) -> tuple[float, float]:
        """One approximation: (mean α, cost) of what it led to; α = 0 when nothing better was
        found."""
        f, A = self.conjugate()
        alpha = self.first_mix()
        self.held = contacts(self) if self.limited else NONE
        step = self.towards(f, A, alpha)
        chosen, least, w = self.line_search(step, A)
        best = (least, chosen, w)
        if self.limited and self.held_back(step, least):
            for _ in range(
                TRIES
            ):  # limits, not the cost, hold α back: let it vary in time (30), (31)
                alpha = self.reduced(alpha, step)
                step = self.towards(f, A, alpha)
                chosen, least, w = self.line_search(step, A)
                if chosen and least < best[0]:
                    best = (least, chosen * float(np.mean(alpha)), w)
        self.w = best[2]
        return best[1], best[0]

    def first_mix(self) -> Array:
        """α(t) = 1; where jerk or torque rate are limited it rises from 0 and falls to 0 at the
        ends, where accelerations then stay."""
        if not self.gentle:
            return np.ones(len(self.t))
        x = (self.t - self.t[0]) / (self.t[-1] - self.t[0])
        return np.sin(np.pi / 2 * np.clip(np.minimum(x, 1 - x) / 0.1, 0.0, 1.0)) ** 2

    def held_back(self, step: Array, least: float) -> bool:
        """Whether some α beyond the limits would cost clearly less."""
        return bool(
            np.min(self.cost(self.w + ALPHAS[:, None, None] * step)) < least - 1e-3 * abs(least)
        )

    def reduced(self, alpha: Array, step: Array) -> Array:
        """α(t) smaller around the steps where the limits would be broken first: halved along a
        smooth dip (30), or cut to what the boundary leaves (31)."""
        trial = next(
            (s for s in np.geomspace(1.0, 1e-3, 8) if not self.admissible(self.w + s * step)), 1.0
        )
        beyond, _ = self.excess(self.w + trial * step)
        inside, _ = self.excess(self.w)
        room = np.clip(-inside, 0.0, np.inf) / np.maximum(
            np.maximum(beyond, 0.0) - np.minimum(inside, 0.0), 1e-12
        )
        cut = np.where(beyond > ALLOWED, room if self.riding == "boundary" else 0.5, 1.0)
        at_knots = np.minimum(np.append(cut, 1.0), np.append(1.0, cut))
        return alpha * (at_knots if self.riding == "boundary" else smooth_dip(self.t, at_knots))


def smooth_dip(t: Array, factor: Array) -> Array:
    """The factor (N+1,) widened to a smooth curve in time: the least of cos²-bells around the knots
    where it is below one."""
    result, width = np.ones_like(factor), (t[-1] - t[0]) / 8
    for k in np.flatnonzero(factor < 1.0):
        s = np.clip(np.abs(t - t[k]) / width, 0.0, 1.0)
        result = np.minimum(result, 1.0 - (1.0 - factor[k]) * np.cos(np.pi / 2 * s) ** 2)
    return result


def on_knots(motion: Trajectory, knots: int) -> tuple[Array, Array, Array, Array]:
    """t, q, v, a at knots with the acceleration straight between them; the small misses at the end
    are spread over the motion."""
    if motion.interpolation == "linear":
        return motion.t, motion.q, motion.v, motion.a
    t = np.linspace(motion.t[0], motion.t[-1], knots + 1)
    q, v, a = motion(np.clip(t, t[0] + 1e-12, t[-1] - 1e-12))
    return t, q, v, a + end_correction(t, q[0], v[0], a, q[-1], v[-1])


def end_correction(t: Array, x0: Array, v0: Array, w: Array, x1: Array, v1: Array) -> Array:
    """The linear function of time that, added to accelerations w (N+1, d) straight between knots,
    leads exactly to x1, v1."""
    h, T = np.diff(t)[:, None], t[-1] - t[0]
    dv = v1 - v0 - np.sum(h * (w[1:] + w[:-1]) / 2, axis=0)
    left = (t[-1] - t[1:])[:, None]
    dx = (
        x1
        - x0
        - v0 * T
        - np.sum(h * left * (w[1:] + w[:-1]) / 2 + h * h * (w[:-1] / 3 + w[1:] / 6), axis=0)
    )
    # c0 T + c1 T²/2 = dv,  c0 T²/2 + c1 T³/6 = dx
    c1 = (dv / 2 * T - dx) * 12 / T**3
    return dv / T - c1 * T / 2 + c1 * (t - t[0])[:, None]

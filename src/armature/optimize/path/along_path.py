"""The joints along a path: the curve q(p), its knots with torque coefficients, profiles p(t), and
the motions that they make (36)–(43)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from armature.dynamics.compiled import inverse_dynamics, kinetic_energy, potential_energy
from armature.errors import ArgumentError
from armature.motion.path import JointPoint
from armature.motion.trajectory import Trajectory
from armature.optimize.anytime.suboptimal import Array, Iterate, end_correction
from armature.optimize.path.path_step import coefficients, sides_of
from armature.optimize.path.phase_plane import Profile, Steps
from armature.optimize.transcription.guess import LAWS
from armature.optimize.transcription.instant import Gradient, Instants
from armature.robot.bounds import bounds
from armature.robot.model import Robot

STILL = 1e-9  # rad or m: a joint that moves less stands still
MERGED = 0.05  # of a mean step: turning points of joints nearer than this to each other are one
MANY = 8.0  # e-foldings of the cost of p̈ that are worth a third of the knots
GAUSS, GAUSS_WEIGHTS = (
    (np.polynomial.legendre.leggauss(20)[0] + 1) / 2,
    np.polynomial.legendre.leggauss(20)[1] / 2,
)
SUBSTEPS = 4  # knots of the joints' motion in every step along the path


@dataclass(frozen=True, eq=False)
class Curve:
    """The joints along a path, p from 0 to 1. function: p (...) → q and three derivatives (..., n).
    corners: where q' jumps, inside.
    level: whether the ends are such corners, where p̈ must vanish.  breaks: where the third
    derivative may jump, inside (where a blend begins or ends, a spline's points)."""

    robot: Robot
    function: Callable[[Any], JointPoint]
    corners: tuple[float, ...] = ()
    level: tuple[bool, bool] = (False, False)
    breaks: tuple[float, ...] = ()

    @cached_property
    def moving(self) -> Array:
        """(n,) 1 for joints that move on the path, 0 for those that stand still up to rounding,
        whose direction would be noise."""
        q = JointPoint(*self.function(np.linspace(0.0, 1.0, 401))).q
        return np.where(np.ptp(q, axis=0) > STILL, 1.0, 0.0)

    def __call__(self, p: Any) -> JointPoint:
        """q and its three derivatives at p (...), kept within 0 … 1."""
        point = JointPoint(*self.function(np.clip(p, 0.0, 1.0)))
        if self.moving.all():
            return point
        return JointPoint(
            point.q, point.dq * self.moving, point.ddq * self.moving, point.dddq * self.moving
        )

    def inside(self, a: Array, b: Array, x: float) -> JointPoint:
        """The curve at the fraction x of the steps from a to b (N,), from inside the step where q'
        or q'' jump at its ends."""
        nudge = 1e-9
        return self(a + np.clip(x, nudge, 1.0 - nudge) * (b - a))


def steps_along(curve: Curve, p: Array, ends: tuple[float, float]) -> Steps:
    """A path cut at p (N+1,): the coefficients of (43) at start, middle and end of every step."""
    points = [curve.inside(p[:-1], p[1:], x) for x in (0.0, 0.5, 1.0)]
    G = np.stack([coefficients(curve.robot, *point) for point in points], axis=1)
    stops = np.isin(np.round(p, 12), np.round(curve.corners, 12))
    return Steps(
        p, np.diff(p), np.ascontiguousarray(G), sides_of(points[1].dq), stops, ends, curve.level
    )


def knots_along(curve: Curve, count: int, density: Array | None = None) -> Array:
    """About `count` + 1 values of p from 0 to 1: the ends, corners, breaks and turning points of
    joints, and others spread in between.

    density: (M,) weights on M equal parts of [0, 1], how many knots belong there; by default the
    timing of a cubic (dense at standstill) and the way of the joints, half each.
    """
    fine = np.linspace(0.0, 1.0, 4001)
    if density is None:
        density = default_density(curve, fine)
    share = np.concatenate([[0.0], np.cumsum(density / np.sum(density))])
    fixed = apart(np.array([0.0, 1.0, *curve.corners]), np.array(curve.breaks), MERGED / count)
    fixed = apart(fixed, turning_points(curve, fine), MERGED / count)
    level = np.interp(fixed, np.linspace(0.0, 1.0, len(share)), share)
    knots = [np.array([0.0])]
    for a, b in itertools.pairwise(level):
        parts = max(2, round(count * (b - a)))
        knots.append(np.linspace(a, b, parts + 1)[1:])
    p = np.interp(np.concatenate(knots), share, np.linspace(0.0, 1.0, len(share)))
    for value in fixed:
        p[np.argmin(np.abs(p - value))] = value
    return p


def apart(first: Array, others: Array, least: float) -> Array:
    """The first values, and those of the others that are at least so far from every one taken
    before; sorted."""
    taken = list(np.unique(first))
    for value in np.sort(others):
        if np.min(np.abs(np.array(taken) - value)) >= least:
            taken.append(value)
    return np.sort(taken)


def default_density(curve: Curve, fine: Array) -> Array:
    """Half by the time of a cubic between stops, half by the way of the joints."""
    stops = np.unique([0.0, 1.0, *curve.corners])
    middle = (fine[1:] + fine[:-1]) / 2
    k = np.clip(np.searchsorted(stops, middle, side="right") - 1, 0, len(stops) - 2)
    x = (middle - stops[k]) / (stops[k + 1] - stops[k])
    law = LAWS["quintic" if curve.corners or any(curve.level) else "cubic"]
    time = 1.0 / np.maximum(law(inverse_of(law, x))[1], 1e-2)
    return spread(time, curve, middle)


def spread(time: Array, curve: Curve, middle: Array) -> Array:
    """Density of knots: by a time per unit of p, by the way of the joints, each (M,) at the middles
    of equal parts, and by how often what p̈ costs doubles or halves: near a singularity it falls to
    nothing within a hair's breadth, and there the speed wants to change."""
    q, d1, _, _ = curve(middle)
    way = np.linalg.norm(d1 / np.maximum(np.ptp(q, axis=0), 1e-3), axis=-1)
    m = inverse_dynamics(curve.robot, q, 0.0 * q, d1) - inverse_dynamics(
        curve.robot, q, 0.0 * q, 0.0 * q
    )
    turns = np.abs(np.gradient(np.log(np.sum((m / effort(curve.robot)) ** 2, axis=-1) + 1e-300)))
    return time / time.sum() + way / max(way.sum(), 1e-12) + turns / max(turns.sum(), MANY)


def effort(robot: Robot) -> Array:
    """(n,) the torques that make a watt of heat each, by which torques of different joints are
    compared; N·m or N."""
    train = robot.drivetrain
    S = np.array(train.share).reshape(len(train.drives), robot.n)
    heat = np.array([d.motor.resistance / d.constant**2 for d in train.drives]) @ S**2
    return 1.0 / np.sqrt(np.maximum(heat, 1e-12 * np.max(heat, initial=1e-300)))


def turning_points(curve: Curve, fine: Array) -> Array:
    """Where a joint with dry friction or a lossy gear turns back: sign changes of q', to 1e-12."""
    train = curve.robot.drivetrain
    dry = np.array([bool(f.coulomb or f.stiction or f.load) for f in train.frictions])
    for row, drive in zip(train.matrix, train.drives):
        if (
            not drive.gear.lossless
            or drive.friction.coulomb
            or drive.friction.load
            or drive.motor.iron_torque
        ):
            dry |= np.array(row) != 0
    found = []
    d1 = curve(fine).dq if dry.any() else np.zeros((0, len(dry)))
    for j in np.flatnonzero(dry):
        for k in np.flatnonzero(d1[:-1, j] * d1[1:, j] < 0):
            a, b = fine[k], fine[k + 1]
            for _ in range(30):
                c = (a + b) / 2
                a, b = (c, b) if curve(c).dq[j] * d1[k, j] > 0 else (a, c)
            found.append((a + b) / 2)
    return np.array(found)


def check_curve(curve: Curve) -> None:
    """Refuse a path that leaves a joint's range, with the place and the joint."""
    p, b = np.linspace(0.0, 1.0, 2001), bounds(curve.robot)
    q = curve(p).q
    if q.shape[-1] != curve.robot.n:
        raise ArgumentError(
            f"the path moves {q.shape[-1]} joints, robot {curve.robot.name!r} has {curve.robot.n}"
        )
    if not np.all(np.isfinite(q)):
        at = p[int(np.argmin(np.isfinite(q).all(axis=-1)))]
        raise ArgumentError(f"the path is not finite at p = {at:.4g}")
    beyond = np.maximum(b.lower - q, q - b.upper)
    if np.max(beyond) > 1e-9:
        first = int(np.flatnonzero(np.max(beyond, axis=1) > 1e-9)[0])
        j = int(np.argmax(beyond[first]))
        k = int(np.argmax(beyond[:, j]))
        name = curve.robot.joint_names[j]
        raise ArgumentError(
            f"the path leaves the range of joint {name!r} at p = {p[first]:.4g} and would lead it"
            f" to {q[k, j]:.6g}, its range is {b.lower[j]:.6g} to {b.upper[j]:.6g} rad or m; move"
            " the path, or start it in another configuration (seed=…)"
        )


# profiles and motions ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Timing:
    """How a path is run: p̈ straight in time between knots. p, s, a: (N+1,) place, speed (1/s) and
    acceleration (1/s²); h: (N,) s."""

    p: Array
    s: Array
    a: Array
    h: Array

    @property
    def t(self) -> Array:
        """(N+1,) times, s."""
        return np.concatenate([[0.0], np.cumsum(self.h)])

    def sampled(self, substeps: int) -> tuple[Array, Array, Array, Array]:
        """t, p, ṗ, p̈ in equal parts of every step, and at the end."""
        x, t0 = np.arange(substeps) / substeps * self.h[:, None], self.t[:-1, None]
        j = (np.diff(self.a) / self.h)[:, None]
        p0, s0, a0 = self.p[:-1, None], self.s[:-1, None], self.a[:-1, None]
        t, p = (
            np.append(t0 + x, self.t[-1]),
            np.append(p0 + x * (s0 + x * (a0 / 2 + x * j / 6)), self.p[-1]),
        )
        return (
            t,
            p,
            np.append(s0 + x * (a0 + x * j / 2), self.s[-1]),
            np.append(a0 + x * j, self.a[-1]),
        )

    def trajectory(self, curve: Curve, substeps: int = SUBSTEPS) -> Trajectory:
        """The joints' motion, with knots in equal parts of every step."""
        return joint_motion(curve, *self.sampled(substeps))


def joint_motion(curve: Curve, t: Array, p: Array, s: Array, a: Array) -> Trajectory:
    """(40): q(p), q' ṗ, q'' ṗ² + q' p̈ as a motion."""
    q, d1, d2, _ = curve(p)
    s, a = s[:, None], a[:, None]
    return Trajectory(t, q, d1 * s, d2 * s * s + d1 * a, curve.robot.joint_names)


def energy_along(at: Instants, curve: Curve, run: Timing | Profile) -> float:
    """∫ power dt along the path itself, J: twenty Gauss points in every step, p̈ straight in it (a
    Timing) or constant (a Profile)."""
    h, p, s = (run.h, run.p, run.s) if isinstance(run, Timing) else (run.times, run.steps.p, run.s)
    a0, a1 = (
        (run.a[:-1], run.a[1:])
        if isinstance(run, Timing)
        else (run.accelerations, run.accelerations)
    )
    x = GAUSS * h[:, None]
    s0, a0, j = s[:-1, None], a0[:, None], ((a1 - a0) / h)[:, None]
    point = curve(p[:-1, None] + x * (s0 + x * (a0 / 2 + x * j / 6)))
    v, a = (s0 + x * (a0 + x * j / 2))[..., None], (a0 + x * j)[..., None]
    power, _ = at.values(point.q, point.dq * v, point.ddq * v * v + point.dq * a)
    return float(np.einsum("kc,k,c->", power, h, GAUSS_WEIGHTS))


def losses_along(at: Instants, curve: Curve, run: Timing | Profile) -> float:
    """What of the energy became heat, J: all but what bodies store at the end."""
    point, speed = curve(np.array([0.0, 1.0])), run.s[[0, -1], None]
    stored = kinetic_energy(curve.robot, point.q, point.dq * speed) + potential_energy(
        curve.robot, point.q
    )
    return energy_along(at, curve, run) - float(np.diff(stored)[0])


def timing_of(profile: Profile) -> Timing:
    """A profile with constant p̈ in every step, its accelerations taken at the knots."""
    inner = profile.accelerations
    a = np.concatenate([[inner[0]], (inner[1:] + inner[:-1]) / 2, [inner[-1]]])
    return Timing(profile.steps.p, profile.s, a, profile.times)


def plain_law(curve: Curve) -> str:
    """Of the plain profile: the quintic where p̈ must vanish at stops (corners, limits of jerk or
    torque rate), else the cubic."""
    b = bounds(curve.robot)
    gentle = np.isfinite([b.jerk, b.torque_rate]).any()
    return "quintic" if gentle or curve.corners or any(curve.level) else "cubic"


def plain_timing(curve: Curve, p: Array, duration: float) -> Timing:
    """The plain profile at knots p: 3x² − 2x³, or 10x³ − 15x⁴ + 6x⁵ where no p̈ is allowed at a
    stop.

    Each part between stops gets time by its share of p."""
    stops = np.unique([0.0, 1.0, *curve.corners])
    k = np.clip(np.searchsorted(stops, p, side="right") - 1, 0, len(stops) - 2)
    size = stops[k + 1] - stops[k]
    x = inverse_of(LAWS[plain_law(curve)], np.clip((p - stops[k]) / size, 0.0, 1.0))
    t = duration * (stops[k] + size * x)
    _, s, a = plain_at(curve, t, duration)
    return Timing(p, s, a, np.maximum(np.diff(t), 1e-9 * duration))


def plain_at(curve: Curve, t: Array, duration: float) -> tuple[Array, Array, Array]:
    """p, ṗ and p̈ of the plain profile at times t (M,) from 0 to the duration, s."""
    stops = np.unique([0.0, 1.0, *curve.corners])
    k = np.clip(np.searchsorted(stops, t / duration, side="right") - 1, 0, len(stops) - 2)
    size = stops[k + 1] - stops[k]
    p, rate, bend = LAWS[plain_law(curve)](np.clip((t / duration - stops[k]) / size, 0.0, 1.0))
    return stops[k] + size * p, rate / duration, bend / (duration**2 * size)


def inverse_of(law: Callable, share: Array) -> Array:
    """x in [0, 1] with law(x) = share, by bisection."""
    low, high = np.zeros_like(share), np.ones_like(share)
    for _ in range(60):
        x = (low + high) / 2
        below = law(x)[0] < share
        low, high = np.where(below, x, low), np.where(below, high, x)
    return np.where(share <= 0.0, 0.0, np.where(share >= 1.0, 1.0, (low + high) / 2))


def slowed(timing: Timing, factor: float) -> Timing:
    """The same profile, `factor` times slower."""
    return Timing(timing.p, timing.s / factor, timing.a / factor**2, timing.h * factor)


# the literal method along a path -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class OnCurve:
    """The coordinate is the place on the path (path tracking, §4): L(p, ṗ, p̈) = ℓ(q(p), q' ṗ, q''
    ṗ² + q' p̈)."""

    curve: Curve
    at: Instants
    d: int = 1

    def joints(self, x: Array, v: Array, a: Array) -> tuple[JointPoint, Array, Array]:
        """The path's point, and the joints' velocities and accelerations, for p, ṗ, p̈ (..., 1)."""
        point = self.curve(x[..., 0])
        return point, point.dq * v, point.ddq * v * v + point.dq * a

    def values(self, x: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Power and excesses; the last row is that the path is run forwards, ṗ ≥ 0."""
        point, qd, qdd = self.joints(x, v, a)
        power, rows = self.at.values(point.q, qd, qdd)
        return power, np.concatenate([rows, -v], axis=-1)

    def gradient(self, x: Array, v: Array, a: Array) -> Gradient:
        """(48), (49): the chain rule along the path."""
        point, qd, qdd = self.joints(x, v, a)
        g = self.at.gradient(point.q, qd, qdd)
        dot = lambda y, z: np.sum(y * z, axis=-1, keepdims=True)
        d1, d2, d3 = point.dq, point.ddq, point.dddq
        Lp = dot(g.q, d1) + dot(g.v, d2 * v) + dot(g.a, d3 * v * v + d2 * a)
        Ls = dot(g.v, d1) + 2 * v * dot(g.a, d2)
        W = np.einsum("...i,...ij,...j->...", d1, g.W, d1)[..., None, None]
        return Gradient(g.L, Lp, Ls, dot(g.a, d1), np.maximum(W, 1e-12 * np.max(W)))

    def mean(self) -> Array:
        """Which limits are of the mean."""
        return np.append(self.at.mean, False)

    def rates(self, x: Array, v: Array, a: Array, j: Array) -> tuple[Array, Array]:
        """The joints' jerks and torques."""
        point, qd, qdd = self.joints(x, v, a)
        jerk = point.dq * j + 3 * point.ddq * v * a + point.dddq * v**3
        return jerk, inverse_dynamics(self.curve.robot, point.q, qd, qdd)

    def iterate(self, t: Array, x: Array, v: Array, a: Array) -> Iterate:
        """The joints' motion, with knots in equal parts of every step."""
        timing = Timing(x[:, 0], v[:, 0], a[:, 0], np.diff(t))
        motion = timing.trajectory(self.curve)
        return Iterate(
            motion.t + t[0],
            motion.q,
            motion.v,
            motion.a,
            motion.joint_names,
            place=np.column_stack([t, x, v, a]),
        )


def straight_profile(t: Array, p: Array, s: Array, a: Array) -> tuple[Array, Array, Array, Array]:
    """t, p, ṗ, p̈ (N+1, 1) of a profile from rest to rest with p̈ straight between its knots, what
    it misses at its end spread over it."""
    column = lambda y: y[:, None]
    one, zero = np.ones(1), np.zeros(1)
    return t, column(p), column(s), column(a) + end_correction(t, zero, zero, column(a), one, zero)

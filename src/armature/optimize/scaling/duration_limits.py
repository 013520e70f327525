"""What limits the speed of a geometric motion: every limit as polynomials in x = 1/T between
corners, (T1) and (T2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from armature.drive.drive import Drive, Flow
from armature.drive.gear import EfficiencyTable
from armature.drive.limit import readable
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.scaling.polynomial_sets import Forbidden, fitted, joined, positive, roots
from armature.robot.bounds import bounds
from armature.robot.model import Robot

# five points of Lobatto's rule, the ends taken from inside, and the slope of the polynomial through
# them
NODES = np.array([-1.0, -np.sqrt(3 / 7), 0.0, np.sqrt(3 / 7), 1.0])
WEIGHTS = np.array([0.1, 49 / 90, 32 / 45, 49 / 90, 0.1]) / 2
INSIDE, NEAR = 1e-9, 1e-6
FINE = np.geomspace(1e-2, 1e2, 81)  # pieces for laws that are no polynomials
_POWERS = np.arange(5)[:, None]
SLOPE = np.linalg.solve(NODES**_POWERS, _POWERS * NODES ** np.maximum(_POWERS - 1, 0)).T
UNITS = {
    "velocity": "rad/s or m/s",
    "acceleration": "rad/s² or m/s²",
    "jerk": "rad/s³ or m/s³",
    "torque": "N·m or N",
}
UNITS["torque rate"] = "N·m/s or N/s"


@dataclass(frozen=True)
class Reason:
    """A limit in the way: its name, the joint or axis, the place s on the motion (0 to 1), and
    where there is no duration at all by how much it is exceeded at the best one (a fraction of the
    limit)."""

    limit: str
    joint: str
    place: float
    bound: float
    unit: str
    excess: float = 0.0

    def __str__(self) -> str:
        _, bound, unit = readable(0.0, self.bound, self.unit)
        return f"{self.limit} of {self.joint!r} ({bound:.6g} {unit}) at s = {self.place:.4g}"


class _Label(NamedTuple):
    """What a limit is called."""

    limit: str
    joint: str
    bound: float
    unit: str


class DurationLimits:
    """A motion at M places, and all that limits its speed there."""

    def __init__(self, robot: Robot, motion: Trajectory, edges: np.ndarray, rest: float):
        self.robot, self.motion, self.rest, self.train = robot, motion, rest, robot.drivetrain
        half = np.diff(edges)[:, None] / 2
        s = edges[:-1, None] + half * (1 + NODES * (1 - INSIDE))
        T = motion.duration
        at = motion(motion.t[0] + T * s)
        self.s, self.weights = s.ravel(), (2 * half * WEIGHTS).ravel()
        flat = lambda y: np.ascontiguousarray(y.reshape(-1, y.shape[-1]))
        self.q, self.d1, self.d2 = flat(at.q), flat(at.v) * T, flat(at.a) * T**2
        self.slope = lambda y: flat(
            np.einsum("ij,pjn->pin", SLOPE, y.reshape(len(half), 5, -1)) / half[..., None]
        )
        still = np.zeros_like(self.q)
        self.G = np.asarray(inverse_dynamics(robot, self.q, still, still))
        self.A = np.asarray(inverse_dynamics(robot, self.q, self.d1, self.d2)) - self.G
        self.x = 1.0 / T  # a natural scale of x
        self.labels: list[_Label] = []  # row number = label · M + sample

    def reason(self, row: int, excess: float = 0.0) -> Reason:
        """What a row means; a mean over the cycle stands at s = 1."""
        label, sample = divmod(row, len(self.s))
        name, joint, bound, unit = self.labels[label]
        return Reason(name, joint, round(float(self.s[sample]), 9), bound, unit, excess)

    def _labelled(self, limit: str, joint: str, bound: float, unit: str) -> np.ndarray:
        """Row numbers (M,) of one more limit."""
        self.labels.append(_Label(limit, joint, float(bound), unit))
        return (len(self.labels) - 1) * len(self.s) + np.arange(len(self.s))

    # (T1): torque, velocity, acceleration at x ---------------------------------------------------

    def state(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Torques, velocities and accelerations (M, ..., n) at x (M, ...)."""
        lift = lambda y: y.reshape(len(y), *(1,) * (x.ndim - 1), y.shape[-1])
        each = x[..., None]
        return lift(self.A) * each**2 + lift(self.G), lift(self.d1) * each, lift(self.d2) * each**2

    def joint_torque(self, x: np.ndarray) -> np.ndarray:
        """Delivered at the joints, all friction included (M, ..., n)."""
        tau, v, _ = self.state(x)
        return np.stack(np.broadcast_arrays(*self.train.delivered_torque(tau, v)), axis=-1)

    def flow(self, x: np.ndarray) -> list[Flow]:
        """What every drive does (M, ...)."""
        return self.train.flow(*self.state(x))

    # corners -------------------------------------------------------------------------------------

    @property
    def exact(self) -> bool:
        """True where every law is a polynomial between its corners."""
        frictions = [*self.train.frictions, *(d.friction for d in self.train.drives)]
        return not any(f.stiction for f in frictions) and all(
            _polynomial(d) for d in self.train.drives
        )

    def corners(self) -> np.ndarray:
        """Places (M, K + 2) in x, 0 and infinity included, between which all laws are polynomials
        (or nearly so)."""
        found = np.tile([0.0, np.inf], (len(self.s), 1))
        if not self.exact:
            found = _with(found, np.broadcast_to(self.x * FINE, (len(self.s), len(FINE))))
        for j, f in enumerate(self.train.frictions):
            if f.load:
                found = self._with_roots(found, self.state(self.nodes(found))[0][..., j])
        for k, d in enumerate(self.train.drives):
            if d.friction.load:
                found = self._with_roots(found, self.flow(self.nodes(found))[k].torque)
            if not d.gear.lossless:
                found = self._with_roots(found, self.flow(self.nodes(found))[k].gear_torque)
        return found

    def _with_roots(self, corners: np.ndarray, values: Any) -> np.ndarray:
        """The corners and the zeros of a law that is quadratic between them, given at the nodes (M,
        K, 3)."""
        x = self.nodes(corners)
        c = fitted(x, np.broadcast_to(values, x.shape))
        zero = roots(c.reshape(-1, 3)).reshape(*c.shape[:2], 2)
        # a corner so near to another, or so far from all sense, changes nothing but would spoil the
        # parabolas' digits
        inside = (zero > corners[:, :-1, None] * (1 + NEAR)) & (
            zero < corners[:, 1:, None] * (1 - NEAR)
        )
        inside &= (zero > NEAR * self.x) & (zero < self.x / NEAR)
        inside[..., 1] &= ~inside[..., 0] | (
            np.abs(zero[..., 1] - zero[..., 0]) > NEAR * np.abs(zero[..., 0])
        )
        return _with(corners, np.where(inside, zero, np.inf).reshape(len(corners), -1))

    def nodes(self, corners: np.ndarray) -> np.ndarray:
        """Three values of x (M, K, 3) in each piece between the corners, which determine its
        parabola."""
        low, high = corners[:, :-1], corners[:, 1:]
        low = np.where(np.isinf(low), self.x, low)  # pieces that are none
        end = np.where(np.isinf(high), np.maximum(4 * low, 2 * self.x), high)
        x = low[..., None] + (end - low)[..., None] * np.array([0.2, 0.5, 0.8])
        return np.where((end <= low)[..., None], self.x * np.array([0.5, 1.0, 2.0]), x)

    # what is forbidden ---------------------------------------------------------------------------

    def forbidden(self) -> Forbidden:
        """All intervals of x that some limit forbids; the rows tell which."""
        self.labels = []
        corners = self.corners()
        return joined(
            [*self._ranges_and_rates(), *self._torques(corners), *self._drives(corners)]
            or [_nothing()]
        )

    def _ranges_and_rates(self) -> list[Forbidden]:
        """Ranges forbid every x or none; |d^k q/ds^k| x^k ≤ limit forbids all above one x."""
        limits, names = bounds(self.robot), self.train.joint_names
        parts, third = [], self.third()
        for j, name in enumerate(names):
            for side, out in (
                ("lower", limits.lower[j] - self.q[:, j]),
                ("upper", self.q[:, j] - limits.upper[j]),
            ):
                if out.max() > 1e-9:
                    start = np.where(out > 1e-9, 0.0, np.inf)
                    parts.append(
                        self._above(
                            f"{side} end of its range",
                            name,
                            getattr(limits, side)[j],
                            "rad or m",
                            start,
                        )
                    )
            for k, (what, rate) in enumerate(
                (("velocity", self.d1), ("acceleration", self.d2), ("jerk", third)), start=1
            ):
                bound, size = getattr(limits, what)[j], np.abs(rate[:, j])
                if np.isfinite(bound):
                    start = np.where(
                        size > 0.0, (bound / np.where(size > 0.0, size, 1.0)) ** (1 / k), np.inf
                    )
                    parts.append(self._above(what, name, bound, UNITS[what], start))
        return parts

    def third(self) -> np.ndarray:
        """q''' (M, n); where accelerations are held, their jump by the interval before which it
        happens."""
        d3 = self.slope(self.d2)
        if self.motion.interpolation == "held" and len(self.motion) > 2:
            T = self.motion.duration
            jump = (
                np.diff(self.motion.a[:-1], axis=0) * T**2 / np.diff(self.motion.t[1:])[:, None] * T
            )
            k = np.clip(
                np.searchsorted(self.motion.t[1:-1] - self.motion.t[0], self.s * T),
                0,
                len(jump) - 1,
            )
            d3 = np.maximum(np.abs(d3), np.abs(jump[k]))
        return d3

    def _above(
        self, limit: str, joint: str, bound: float, unit: str, start: np.ndarray
    ) -> Forbidden:
        """Every x above `start` (M,) is forbidden."""
        rows = self._labelled(limit, joint, bound, unit)
        bad = np.isfinite(start)
        return Forbidden(start[bad], np.full(int(bad.sum()), np.inf), rows[bad])

    def _torques(self, corners: np.ndarray) -> list[Forbidden]:
        """|torque| ≤ limit, and |torque rate| = |x (A'x² + c q''x + G')| ≤ limit, c of viscous
        friction (dry friction has no rate)."""
        limits, parts, whole = bounds(self.robot), [], np.tile([0.0, np.inf], (len(self.s), 1))
        x = self.nodes(corners)
        tau = self.joint_torque(x) if np.isfinite(limits.torque).any() else x[..., None]
        for j, name in enumerate(self.train.joint_names):
            bound, rate = limits.torque[j], limits.torque_rate[j]
            if np.isfinite(bound):
                parts += self._within(
                    fitted(x, tau[..., j]) / bound,
                    corners,
                    self._labelled("torque", name, bound, UNITS["torque"]),
                )
            if np.isfinite(rate):
                cubic, rows = (
                    self.torque_rate(j)[:, None] / rate,
                    self._labelled("torque rate", name, rate, UNITS["torque rate"]),
                )
                parts += self._within(cubic, whole, rows)
        return parts

    def torque_rate(self, j: int) -> np.ndarray:
        """Coefficients (M, 4) of the torque's rate in x."""
        terms = np.stack(
            [self.G[:, j], self.train.frictions[j].viscous * self.d1[:, j], self.A[:, j]], axis=-1
        )
        return np.concatenate([np.zeros((len(terms), 1)), self.slope(terms)], axis=1)

    def _within(
        self, c: np.ndarray, corners: np.ndarray, rows: np.ndarray, signs: Any = (1.0, -1.0)
    ) -> list[Forbidden]:
        """±(polynomial c (M, K, d)) ≤ 1 in each piece."""
        M, K, d = c.shape
        low, high, rows = corners[:, :-1].ravel(), corners[:, 1:].ravel(), np.repeat(rows, K)
        one = np.eye(1, d)[0]
        return [positive((sign * c - one).reshape(M * K, d), low, high, rows) for sign in signs]

    def _drives(self, corners: np.ndarray) -> list[Forbidden]:
        """Every limit of every drive: heat R i² ≤ P is |i| ≤ √(P/R), means over the cycle are one
        polynomial of degree four in x."""
        parts, x = [], self.nodes(corners)
        flows = self.flow(x)
        for axis, name, limit in self.train.limits():
            R = self.train.drives[axis].motor.resistance
            current = limit.quantity in ("copper", "current_squared")
            c = fitted(
                x,
                np.broadcast_to(
                    getattr(flows[axis], "current" if current else limit.quantity), x.shape
                ),
            )
            rows = self._labelled(limit.name, name, limit.bound, limit.unit)
            if limit.mean:
                parts.append(
                    self._mean(
                        c,
                        corners,
                        rows[-1],
                        (R if limit.quantity == "copper" else 1.0) / limit.bound,
                    )
                )
            elif current:
                parts += self._within(c / np.sqrt(limit.bound / R), corners, rows)
            else:
                parts += self._within(c / limit.bound, corners, rows, (limit.sign,))
        return parts

    def _mean(self, c: np.ndarray, corners: np.ndarray, row: int, factor: float) -> Forbidden:
        """∫ factor i² ds ≤ 1 + rest x: quartic between all corners of all samples; passing one
        changes the sum's coefficients."""
        quartic = np.zeros((*c.shape[:2], 5))
        for i in range(3):
            for k in range(3):
                quartic[..., i + k] += c[..., i] * c[..., k]
        quartic *= factor * self.weights[:, None, None]
        change, where = np.diff(quartic, axis=1).reshape(-1, 5), corners[:, 1:-1].ravel()
        order = np.argsort(where, kind="stable")
        order = order[np.isfinite(where[order])]
        total = np.cumsum(np.concatenate([quartic[:, 0].sum(0)[None], change[order]]), axis=0)
        total[:, 0] -= 1.0
        total[:, 1] -= self.rest
        edges = np.concatenate([[0.0], where[order], [np.inf]])
        return positive(total, edges[:-1], edges[1:], np.full(len(total), row))

    # how far a single x is off -------------------------------------------------------------------

    def excess(self, x: float) -> list[tuple[float, Reason]]:
        """The largest excess, as a fraction of the limit, of every limit at one x, straight from
        the laws."""
        at, names, limits = np.full(len(self.s), x), self.train.joint_names, bounds(self.robot)
        tau, third = self.joint_torque(at), self.third()
        found = []

        def add(value: np.ndarray, bound: float, limit: str, name: str, unit: str) -> None:
            i = int(np.argmax(value))
            found.append(
                (
                    float(value[i]),
                    Reason(
                        limit, name, round(float(self.s[i]), 9), float(bound), unit, float(value[i])
                    ),
                )
            )

        for j, name in enumerate(names):
            span = limits.upper[j] - limits.lower[j]
            for side, out in (
                ("lower", limits.lower[j] - self.q[:, j]),
                ("upper", self.q[:, j] - limits.upper[j]),
            ):
                if np.isfinite(bound := getattr(limits, side)[j]):
                    add(
                        out / (span if np.isfinite(span) and span else 1.0),
                        bound,
                        f"{side} end of its range",
                        name,
                        "rad or m",
                    )
            values = {
                "velocity": self.d1 * x,
                "acceleration": self.d2 * x**2,
                "jerk": third * x**3,
                "torque": tau,
            }
            for what, value in values.items():
                if np.isfinite(bound := getattr(limits, what)[j]):
                    add(
                        np.abs(value[:, j]) / max(bound, 1e-300) - 1.0,
                        bound,
                        what,
                        name,
                        UNITS[what],
                    )
            if np.isfinite(bound := limits.torque_rate[j]):
                rate = self.torque_rate(j) @ x ** np.arange(4)
                add(
                    np.abs(rate) / max(bound, 1e-300) - 1.0,
                    bound,
                    "torque rate",
                    name,
                    UNITS["torque rate"],
                )
        flows = self.flow(at)
        for axis, name, limit in self.train.limits():
            g = np.broadcast_to(limit.scaled(flows[axis]), at.shape)
            if limit.mean:
                g = np.array([((g + 1.0) @ self.weights) / (1.0 + self.rest * x) - 1.0])
            add(g, limit.bound, limit.name, name, limit.unit)
        return found


def _polynomial(drive: Drive) -> bool:
    """The drive's laws are polynomials between changes of the direction of power."""
    gear = drive.gear
    return gear.lossless or (
        not isinstance(gear.efficiency, EfficiencyTable) and gear.rule == "mechanical"
    )


def _with(corners: np.ndarray, more: np.ndarray) -> np.ndarray:
    """More corners, sorted; columns that are infinite in every row are dropped but one."""
    merged = np.sort(np.concatenate([corners, more], axis=1), axis=1)
    return merged[:, : int(np.isfinite(merged).sum(1).max()) + 1]


def _nothing() -> Forbidden:
    return Forbidden(np.empty(0), np.empty(0), np.empty(0, dtype=int))

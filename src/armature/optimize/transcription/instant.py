"""What a robot with its drives costs and how near its limits it is, at many instants at once: (q,
v, a) → power, its gradient, excesses.

Two compiled functions of (q, v, a, τ): the power drawn and every limit, exact; and the gradient of
the power, with corners rounded. The planners along paths and the suboptimal approximations use them
on whole motions; torques come from inverse dynamics."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from armature.drive import EXACT, Bus, Smooth, as_supply
from armature.dynamics.compiled import inverse_dynamics, inverse_dynamics_derivatives
from armature.dynamics.kernels import physics_source
from armature.errors import ArgumentError
from armature.kernel import Kernel, compiled, trace
from armature.kernel.symbol import from_casadi_column, to_casadi
from armature.memo import memo
from armature.optimize.transcription.driven import driven_source
from armature.robot.bounds import Bounds, bounds
from armature.robot.model import Robot

Array = np.ndarray


@dataclass(frozen=True)
class Row:
    """One limit. joint: joint or axis.  limit: its name.  bound: in `unit`; the excess is (value −
    bound)/scale.  mean: over the motion."""

    joint: str
    limit: str
    bound: float
    scale: float
    unit: str
    mean: bool = False

    def value(self, excess: float) -> float:
        """The value that an excess stands for, in the limit's unit."""
        return self.bound + excess * self.scale

    def __str__(self) -> str:
        return f"{self.limit} of {self.joint}"


class Gradient(NamedTuple):
    """Power L (M,), W, its gradients in q, v, a (M, n), and a positive definite metric W (M, n, n):
    what L's second derivative in a is for lossless gears, 2 Mᵀ Sᵀ diag(R/K²) S M ((29): Σ e_i M_im
    M_il, twice)."""

    L: Array
    q: Array
    v: Array
    a: Array
    W: Array


@dataclass(frozen=True, eq=False)
class Instants:
    """The power and the limits of a robot on a supply. smooth: how corners of friction, gears and
    supply are rounded in gradients."""

    robot: Robot
    supply: Any
    smooth: Smooth

    @cached_property
    def limits(self) -> Bounds:
        """Of the joints."""
        return bounds(self.robot)

    # limits --------------------------------------------------------------------------------------

    def limited(
        self, q: Any, v: Any, a: Any, tau: Any, smooth: Any = EXACT
    ) -> list[tuple[Row, Any]]:
        """Every finite limit with its excess: ≤ 0 inside, as a fraction of the limit (of the range,
        for positions; q None leaves these out). n numbers, arrays or symbols each."""
        found: list[tuple[Row, Any]] = []
        b, train, names = self.limits, self.robot.drivetrain, self.robot.joint_names
        delivered = train.delivered_torque(tau, v, smooth)
        for j, name in enumerate(names):
            span = b.upper[j] - b.lower[j] if 0 < b.upper[j] - b.lower[j] < np.inf else 1.0
            if q is not None and np.isfinite(b.lower[j]):
                found.append(
                    (
                        Row(name, "lower end of the range", b.lower[j], -span, "rad or m"),
                        (b.lower[j] - q[j]) / span,
                    )
                )
            if q is not None and np.isfinite(b.upper[j]):
                found.append(
                    (
                        Row(name, "upper end of the range", b.upper[j], span, "rad or m"),
                        (q[j] - b.upper[j]) / span,
                    )
                )
            sized = (
                ("velocity", v[j], "rad/s or m/s"),
                ("acceleration", a[j], "rad/s² or m/s²"),
                ("torque", delivered[j], "N·m or N"),
            )
            for what, value, unit in sized:
                bound = float(getattr(b, what)[j])
                if np.isfinite(bound):
                    scale = bound if bound > 0 else 1.0
                    found += [
                        (Row(name, what, s * bound, s * scale, unit), (s * value - bound) / scale)
                        for s in (1.0, -1.0)
                    ]
        flows = train.flow(tau, v, a, smooth=smooth)
        for axis, name, limit in train.limits():
            s = limit.sign
            found.append(
                (
                    Row(name, limit.name, s * limit.bound, s * limit.bound, limit.unit, limit.mean),
                    limit.scaled(flows[axis]),
                )
            )
        return found

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """All limits, those of the mean over the motion included."""
        zero = np.zeros(self.robot.n)
        return tuple(row for row, _ in self.limited(zero, zero, zero, zero))

    @cached_property
    def mean(self) -> Array:
        """(R,) which rows limit the mean over the motion."""
        return np.array([row.mean for row in self.rows], dtype=bool)

    # kernels -------------------------------------------------------------------------------------

    def key(self, what: str) -> str:
        """All that a function made from this object depends on."""
        train, b = self.robot.drivetrain, self.limits
        numbers = [
            getattr(b, f).tolist() for f in ("lower", "upper", "velocity", "acceleration", "torque")
        ]
        parts = (
            train.drives,
            train.matrix,
            train.share,
            train.frictions,
            self.supply,
            self.smooth,
            numbers,
            SOURCE,
        )
        return f"{what} {parts!r} {driven_source()} {physics_source()}"

    @cached_property
    def _values(self) -> Kernel:
        def plain(q, v, a, tau):
            powers = [flow.power for flow in self.robot.drivetrain.flow(tau, v, a)]
            rows = [value for _, value in self.limited(q, v, a, tau)]
            return self.supply.drawn(powers), np.array([*rows, 0.0], dtype=object)

        n = self.robot.n
        return compiled(
            self.key("instants"),
            lambda: trace(plain, {"q": n, "v": n, "a": n, "tau": n}, name="instants"),
        )

    @cached_property
    def _slopes(self) -> Kernel:
        def plain(v, a, tau):
            flows = self.robot.drivetrain.flow(tau, v, a, smooth=self.smooth)
            power = to_casadi(
                np.array(
                    [self.supply.drawn([f.power for f in flows], self.smooth.power)], dtype=object
                )
            )
            slopes = [ca.densify(ca.gradient(power, to_casadi(x))) for x in (v, a, tau)]
            return tuple(from_casadi_column(x, (self.robot.n,)) for x in slopes)

        n = self.robot.n
        return compiled(
            self.key("slopes"), lambda: trace(plain, {"v": n, "a": n, "tau": n}, name="slopes")
        )

    # on motions ----------------------------------------------------------------------------------

    def values(self, q: Array, v: Array, a: Array) -> tuple[Array, Array]:
        """Power drawn (...), W, and the excess of every limit (..., R), at instants (..., n)."""
        power, rows = self._values(q, v, a, inverse_dynamics(self.robot, q, v, a))
        return power, rows[..., :-1]

    def gradient(self, q: Array, v: Array, a: Array) -> Gradient:
        """The power's gradient at instants (M, n): with τ(q, v, a), L_q = τ_qᵀ L_τ and so on."""
        tau = inverse_dynamics(self.robot, q, v, a)
        slope = inverse_dynamics_derivatives(self.robot, q, v, a)
        Lv, La, Lt = self._slopes(v, a, tau)
        through = lambda J: np.einsum("...ij,...i->...j", J, Lt)
        W = np.einsum("...ki,kl,...lj->...ij", slope.da, self.heat, slope.da)
        return Gradient(
            self._values(q, v, a, tau)[0],
            through(slope.dq),
            Lv + through(slope.dv),
            La + through(slope.da),
            W,
        )

    @cached_property
    def heat(self) -> Array:
        """2 Sᵀ diag(R/K²) S, (n, n), with a little for joints without a drive."""
        train = self.robot.drivetrain
        S = np.array(train.share).reshape(len(train.drives), self.robot.n)
        H = 2.0 * S.T @ np.diag([d.motor.resistance / d.constant**2 for d in train.drives]) @ S
        return H + 1e-9 * np.max(H, initial=1e-9) * np.eye(self.robot.n)


SOURCE = 1  # raise when the functions above change what they compute


def instants(
    robot: Robot, supply: Any = None, smooth: Smooth | None = None, counted: bool = True
) -> Instants:
    """The instants of a robot on a supply, kept with the robot. counted: energy is, so that the
    robot needs drives."""
    supply = as_supply(supply if supply is not None else robot.supply)
    if isinstance(supply, Bus):
        raise ArgumentError(
            f"{supply.label}: what a capacitor holds depends on the past; give"
            " supply='regenerative' or 'non-regenerative'"
        )
    if counted and not robot.drives:
        raise ArgumentError(
            f"robot {robot.name!r} has no drives, so no energy can be counted; add them with"
            " robot.with_drives(...)"
        )
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base; motions are planned for robots on a fixed"
            " base"
        )
    smooth = smooth or (
        EXACT if _quadratic(robot, supply) else Smooth(power=1.0, velocity=1e-2, table=0.05)
    )
    store = memo(robot, "instants")
    key = (repr(supply), smooth)
    if key not in store:
        store[key] = Instants(robot, supply, smooth)
    return store[key]


def _quadratic(robot: Robot, supply: Any) -> bool:
    """Whether the power has no corner: lossless gears, viscous friction only, a supply that takes
    everything back."""
    train = robot.drivetrain
    dry = any(
        f.coulomb or f.load or f.stiction
        for f in (*train.frictions, *(d.friction for d in train.drives))
    )
    cornered = any(
        not d.gear.lossless or d.amplifier.efficiency != 1.0 or d.motor.iron_torque
        for d in train.drives
    )
    return not dry and not cornered and getattr(supply, "efficiency", 0.0) == 1.0

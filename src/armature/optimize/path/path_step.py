"""One step along a path, as a plain function on any number type: (p, ṗ) instead of the joints
((33)–(44)).

Along q(p) the torques are (43)  τ = m p̈ + c ṗ² + e,  m = M q', c = M q'' + C(q, q'), e = gravity;
velocities q' ṗ, accelerations q' p̈ + q'' ṗ², jerks q' p⃛ + 3q'' ṗ p̈ + q''' ṗ³. Over a step of
length Δp in the time h, p̈ runs straight from a₀ to a₁:
    (A1)  Δp = s₀ h + (2a₀ + a₁) h²/6,   s₁ = s₀ + (a₀ + a₁) h/2,      s = ṗ
Geometry (m, c, e, q', q'', q''') is known at the start, the middle and the end of the step (in p)
and runs as a parabola between them. Since s ≥ 0, the direction of every joint is the sign of q':
dry friction has no corner."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.kernel import Kernel, compiled, trace
from armature.optimize.transcription.instant import Instants, Row
from armature.robot.model import Robot
from armature.spatial.numbers import maximum

PARTS = 6  # m, c, e, q', q'', q'''
NODES = 3  # of a step
VERSION = 6  # part of every key: raise it when the functions below change
SIMPSON = ((0.0, 1 / 6), (0.5, 2 / 3), (1.0, 1 / 6))


def coefficients(
    robot: Robot, q: np.ndarray, d1: np.ndarray, d2: np.ndarray, d3: np.ndarray
) -> np.ndarray:
    """(42): m, c, e, q', q'', q''' stacked, (..., 6, n), for a path's q, q', q'', q''' (..., n)."""
    zero = np.zeros_like(q)
    e = inverse_dynamics(robot, q, zero, zero)
    return np.stack(
        [
            inverse_dynamics(robot, q, zero, d1) - e,
            inverse_dynamics(robot, q, d1, d2) - e,
            e,
            d1,
            d2,
            d3,
        ],
        axis=-2,
    )


class Moment(NamedTuple):
    """An instant of a step: joint torques of rigid bodies, velocities, accelerations, jerks, torque
    rates, and flows of the axes."""

    tau: Any
    v: Any
    a: Any
    jerk: Any
    tau_rate: Any
    flows: Any
    widths: Any


@dataclass(frozen=True, eq=False)
class PathStep:
    """Costs and limits of a step for a robot on a supply (`at`)."""

    at: Instants

    @property
    def n(self) -> int:
        """Joints."""
        return self.at.robot.n

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The limits of an instant that depend on how fast the path is run: all but the joints'
        ranges and the means."""
        return tuple(row for row in self.at.rows if not row.mean and "range" not in row.limit)

    @cached_property
    def means(self) -> tuple[Row, ...]:
        """Limits of the mean over the motion."""
        return tuple(row for row in self.at.rows if row.mean)

    def moment(self, c: float, step: Any, length: Any, G: Any, sides: Any, exact: bool) -> Moment:
        """The instant at the fraction c of the time of a step (s₀, a₀, h, a₁); G (3, 6, n), sides
        (n,) directions of the joints."""
        s0, a0, h, a1 = step
        t = c * h
        j = c * (a1 - a0)  # rate of p̈ × time since the start
        s, a = s0 + t * (a0 + j / 2), a0 + j
        x = t * (s0 + t * (a0 / 2 + j / 6)) / length
        # Lagrange's parabola through the nodes 0, ½, 1
        l = (2 * (x - 0.5) * (x - 1), -4 * x * (x - 1), 2 * x * (x - 0.5))
        m, f, e, d1, d2, d3 = (
            G[int(2 * c)] if c in (0.0, 1.0) else l[0] * G[0] + l[1] * G[1] + l[2] * G[2]
        )
        tau, v, acc = m * a + f * (s * s) + e, d1 * s, d1 * a + d2 * (s * s)
        rate = (a1 - a0) / h
        jerk = d1 * rate + d2 * (3 * s * a) + d3 * (s * s * s)
        # (43) differentiated: m p⃛ + m' ṗ p̈ + 2c ṗ p̈ + c' ṗ³ + e' ṗ
        slopes = ((4 * x - 3) / length, (4 - 8 * x) / length, (4 * x - 1) / length)
        dm, df, de = slopes[0] * G[0][:3] + slopes[1] * G[1][:3] + slopes[2] * G[2][:3]
        tau_rate = m * rate + (dm + 2 * f) * (s * a) + df * (s * s * s) + de * s
        base = (
            replace(self.at.smooth, velocity=0.0)
            if not exact
            else replace(self.at.smooth, power=0.0, velocity=0.0, table=0.0)
        )
        widths = [replace(base, direction=sides[d]) for d in range(self.n)]
        return Moment(
            tau,
            v,
            acc,
            jerk,
            tau_rate,
            self.at.robot.drivetrain.flow(tau, v, acc, smooth=widths),
            widths,
        )

    def excesses(self, moment: Moment) -> list[Any]:
        """Of `rows`, at an instant."""
        found = self.at.limited(None, moment.v, moment.a, moment.tau, moment.widths)
        return [value for row, value in found if not row.mean]

    def mean_excesses(self, moment: Moment) -> list[Any]:
        """Of `means`: their integrands."""
        found = self.at.limited(None, moment.v, moment.a, moment.tau, moment.widths)
        return [value for row, value in found if row.mean]

    # one transition with constant p̈, exact laws: what the phase plane is made of ----------------

    def transition(
        self, s0: Any, s1: Any, length: Any, G: Any, sides: Any
    ) -> tuple[Any, Any, Any, Any]:
        """Energy (J), time (s), worst excess, and the integrals of `means` (s) from speed s₀ to s₁
        with constant p̈."""
        h, a = 2 * length / (s0 + s1), (s1 * s1 - s0 * s0) / (2 * length)
        moments = [
            (self.moment(c, (s0, a, h, a), length, G, sides, exact=True), w) for c, w in SIMPSON
        ]
        energy = (
            sum(w * self.at.supply.drawn([f.power for f in moment.flows]) for moment, w in moments)
            * h
        )
        worst: Any = -1.0
        for moment, _ in moments:
            for value in self.excesses(moment):
                worst = maximum(value, worst)
        means = [
            h * sum(w * value for value, w in pairs)
            for pairs in zip(*([(x, w) for x in self.mean_excesses(m)] for m, w in moments))
        ]
        return energy, h, worst, np.array([*means, 0.0], dtype=object)

    @cached_property
    def kernel(self) -> Kernel:
        """`transition`, compiled: (s0, s1, Δp, G, sides) → (energy, time, excess, integrals of
        means and a zero)."""
        inputs: dict[str, Any] = {
            "s0": (),
            "s1": (),
            "length": (),
            "G": (NODES, PARTS, self.n),
            "sides": self.n,
        }
        return compiled(
            self.at.key(f"transition {VERSION}"),
            lambda: trace(self.transition, inputs, name="transition"),
        )


def sides_of(d1: np.ndarray) -> np.ndarray:
    """±1 for each joint (..., n), the sign of q'; 0 where it does not move at all: dry friction
    then holds it, and costs nothing."""
    return np.sign(d1)

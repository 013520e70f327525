"""A driven robot whose corners are rounded in velocity and torque by one number f, for the homotopy f → 0 inside one solve.

    (L1)  i = ½(i₊ + i₋) + ½ s (i₊ − i₋),   s = x/√(1 + x²),   x = v/(f V_j)

i± are the currents if a joint moves forward, or backward (`Drive.flow`), with the torque's magnitude rounded by 0.3 f T_j. V_j, T_j: the
greatest speed and torque of a joint on the joint cubic; P_k: the greatest power of an axis there. (L2): what a supply draws is rounded by
0.3 f P_k, so that no slacks are needed; a bus keeps them.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from armature.drive import Bus, Smooth, as_supply
from armature.drive.corner import side
from armature.dynamics.compiled import inverse_dynamics
from armature.optimize.driven import WEIGHTS, unit
from armature.optimize.move import AT_KNOTS, INSIDE, MoveProblem
from armature.optimize.speeds import Moving
from armature.optimize.transcribe import At, Instant, Shape
from armature.robot.model import Robot
from armature.simulate.flows import drives_at

TABLE = 0.05  # of a cell, for efficiency tables
PART = 0.3  # of f: how far torques and powers are rounded


class Scales(NamedTuple):
    """What is usual in a motion. velocity, torque: (n,), rad/s or m/s, N·m or N.  power: (axes,), W.  jerk: (n,)."""

    velocity: np.ndarray
    torque: np.ndarray
    power: np.ndarray


@dataclass(frozen=True)
class Smoothed(Moving):
    """Data after weights and means: f, V (n), T (n), P (axes), modes (n)."""

    @functools.cached_property
    def shape(self) -> Shape:
        base = super().shape
        n, m = self.robot.n, len(self.robot.drivetrain.drives)
        slacks = base.slacks if isinstance(self.supply, Bus) else 0
        return replace(base, nd=WEIGHTS + len(self.means) + 1 + 3 * n + m, slacks=slacks, slack_names=base.slack_names[:slacks])

    @property
    def supply_rows(self) -> int:
        return super().supply_rows if isinstance(self.supply, Bus) else 0

    @property
    def key(self) -> str:
        return f"smoothed {super().key}"

    @property
    def first(self) -> int:
        """Where f is among a knot's data."""
        return 1 + self.durations + WEIGHTS + len(self.means)

    def numbers(self, f: float, scales: Scales) -> np.ndarray:
        """Data of a knot from f on, but for the modes."""
        return np.concatenate([[f], scales.velocity, scales.torque, scales.power])

    def instant(self, at: At) -> Instant:
        """Cost rate and limits at an instant."""
        n, m = self.robot.n, len(self.robot.drivetrain.drives)
        d = at.d[WEIGHTS + len(self.means) :]
        f, V, T, P, modes = d[0], d[1 : 1 + n], d[1 + n : 1 + 2 * n], d[1 + 2 * n : 1 + 2 * n + m], d[1 + 2 * n + m :]
        power = [PART * f * x for x in P]
        most = sum(power)
        free = [side(at.mean[j], f * V[j]) for j in range(n)]
        blend = [modes[j] + (1 - modes[j] * modes[j]) * free[j] for j in range(n)]
        widths = [Smooth(most / max(m, 1), f * V[j], TABLE, 0.0, PART * f * T[j], blend[j]) for j in range(n)]
        flows = self.robot.drivetrain.flow(at.tau, at.v, at.a, smooth=widths)
        powers = [flow.power for flow in flows]
        weights = at.d[:WEIGHTS]
        rates: tuple[Any, ...] = ()
        conditions: tuple[Any, ...] = ()
        if isinstance(self.supply, Bus):
            supply = self.balance(powers, at.slacks)
            cost, conditions, rates = supply.cost, supply.inequalities, (supply.stored_rate,)
        else:
            one = self.supply.slacks(m) == 1
            cost = self.supply.drawn(powers, most if one else power)
        jerk = sum((at.jerk[j] / V[j]) ** 2 for j in range(n))
        terms = [cost, sum(flow.copper for flow in flows), 1.0, sum(at.tau**2), sum(at.a**2), jerk]
        rows = [getattr(flows[axis], quantity) / unit(*bounds) for axis, quantity, _, *bounds in self.quantities]
        drag = self.robot.drivetrain.joint_friction(at.tau, at.v, widths)
        rows += [at.tau[j] + drag[j] for j in range(n) if np.isfinite(self.torques[1][j])]
        rows += list(self.extra(at)) if self.extra else []
        means = enumerate(self.means)
        totals = [(getattr(flows[axis], quantity) - at.d[WEIGHTS + k]) / unit(bound) for k, (axis, quantity, _, bound) in means]
        totals += [1.0] if self.durations > 1 else []
        return Instant(sum(w * term for w, term in zip(weights, terms)), rows, conditions, totals, rates)


def smoothed_model(robot: Robot, supply: Any, durations: int, dense: bool) -> Smoothed:
    """The model, kept with the robot."""
    supply = as_supply(supply if supply is not None else robot.supply)
    store = robot.__dict__.setdefault("_models", {})
    key = ("smoothed", repr(supply), durations, dense)
    if key not in store:
        rule = "gauss" if isinstance(supply, Bus) else "simpson"
        store[key] = Smoothed(robot, supply, True, rule, INSIDE if dense else AT_KNOTS, durations, Smooth(1.0, 1.0, 1.0))
    return store[key]


@dataclass(frozen=True, eq=False)
class SmoothedMove(MoveProblem):
    """A move with rounded corners. f: how far."""

    f: float = 1.0

    @functools.cached_property
    def driven(self) -> Smoothed:
        return smoothed_model(self.robot, self.supply, self.legs, self.dense)

    @functools.cached_property
    def scales(self) -> Scales:
        """Of the joint cubic, at least a tenth of the greatest of the same kind."""
        q, v, a = self.cubic(np.linspace(0.0, self.duration, 101))
        tau = np.asarray(inverse_dynamics(self.robot, q, v, a))
        train = self.robot.drivetrain
        powers = drives_at(self.robot, tau, v, a).together.power if train.drives else np.zeros((101, 0))
        slides = np.array([self.robot.joint(name).kind == "prismatic" for name in self.robot.joint_names])
        speed, torque = np.abs(v).max(0), np.abs(tau).max(0)
        for values in (speed, torque):
            for kind in (slides, ~slides):
                most = values[kind].max(initial=0.0)
                values[kind] = np.maximum(values[kind], 0.1 * most if most > 0 else 0.1 * max(values.max(), 1e-6))
        power = np.abs(powers).max(0)
        return Scales(speed, torque, np.maximum(power, 0.05 * max(power.max(initial=0.0), 1e-6)))

    def _limits_once(self, bounds):
        return tuple(np.tile(s, (self.N, 1)) for s in bounds)

    def problem(self, weights):
        base = super().problem(weights)
        data = np.array(base.data)
        n, first = self.robot.n, self.driven.first
        numbers = self.driven.numbers(self.f, self.scales)
        data[:, first : first + numbers.size] = numbers
        data[:, first + numbers.size :] = 0.0
        if self.directions is not None:
            data[: self.N, first + numbers.size :] = self.directions
        return replace(base, data=data)

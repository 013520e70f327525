"""Rows of what depends on torques: the torques delivered at the joints, their rates, and every
limit of the drives.

The bound between two points: torques of rigid bodies are within τ'' h²/8 of the chord, with |τ''|
bounded by `growth.py` of dynamics; velocities and accelerations are polynomials. Friction, gear and
motor pass these deviations on; where a gear or a load's friction changes its branch inside a cell,
the whole difference of the branches counts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armature.drive import Drive
from armature.drive.friction import Friction
from armature.drive.gear import EfficiencyTable, Gear
from armature.drive.limit import Limit
from armature.dynamics.compiled import inverse_dynamics, inverse_dynamics_derivatives
from armature.dynamics.recursion.growth import torque_growth
from armature.motion.polynomials import derivative, value
from armature.optimize.certificate.rows import Label, Table, scaled
from armature.robot.bounds import Bounds, bounds
from armature.robot.model import Robot
from armature.robot.unit import unit_of
from armature.simulate.flows import Drives, drives_at
from armature.simulate.pieces import Pieces, Points


class State(NamedTuple):
    """At P points: tau (P, n) of rigid bodies and rotors, what the drives do, and torque rates (P,
    n) where they are limited."""

    points: Points
    tau: np.ndarray
    drives: Drives
    rates: np.ndarray | None


class Strayed(NamedTuple):
    """By how much quantities stray from their chords in a cell: tau, v, a (P − 1, n); slow: (P − 1,
    n) least |v|; and bounds of accelerations and jerks there."""

    tau: np.ndarray
    v: np.ndarray
    a: np.ndarray
    slow: np.ndarray
    accelerations: np.ndarray
    jerks: np.ndarray
    h2: np.ndarray

    def combined(self, weights: np.ndarray, v: np.ndarray) -> Strayed:
        """Of an axis that moves by a combination of joints, (P − 1,) each. v: (P, n) velocities of
        the joints."""
        speed, size = v @ weights, np.abs(weights)
        stray = self.v @ size
        slow = np.maximum(np.minimum(np.abs(speed[1:]), np.abs(speed[:-1])) - stray, 0.0)
        return Strayed(
            self.tau @ size,
            stray,
            self.a @ size,
            slow,
            self.accelerations @ size,
            self.jerks @ size,
            self.h2,
        )


@dataclass(frozen=True, eq=False)
class DriveRows:
    """Torques, torque rates and drives of a robot along a motion: a source of rows."""

    robot: Robot
    pieces: Pieces

    @cached_property
    def why_unproved(self) -> str:
        """Why no bound of the variation is known; empty where one is."""
        if self.robot.loops:
            return "closed loops"
        return (
            "gears by the thesis's rule"
            if any(d.gear.rule == "thesis" for d in self.robot.drivetrain.drives)
            else ""
        )

    @cached_property
    def most(self) -> Bounds:
        """The joints' limits."""
        return bounds(self.robot)

    @cached_property
    def rated(self) -> bool:
        """Whether torque rates are limited."""
        return bool(np.isfinite(self.most.torque_rate).any())

    def state(self, points: Points) -> State:
        """Torques and drives at points, by the law of each point's side."""
        q, v, a = points.q, points.v, points.a
        tau = np.asarray(inverse_dynamics(self.robot, q, v, a))
        return State(
            points,
            tau,
            drives_at(self.robot, tau, v, a, points.direction),
            self._rates(points) if self.rated else None,
        )

    def _rates(self, points: Points) -> np.ndarray:
        """(P, n) τ' of rigid bodies and rotors, from the derivatives of inverse dynamics."""
        slopes = inverse_dynamics_derivatives(self.robot, points.q, points.v, points.a)
        third = derivative(derivative(derivative(self.pieces.position)))[points.step]
        jerk = value(third, points.x[:, None]) / self.pieces.h[points.step][:, None] ** 3
        along = lambda slope, x: np.einsum("kij,kj->ki", slope, x)
        return along(slopes.dq, points.v) + along(slopes.dv, points.a) + along(slopes.da, jerk)

    def __call__(self, points: Points) -> Table:
        return self.table(self.state(points))

    def table(self, s: State) -> Table:
        """The rows of a state."""
        values = [np.abs(s.drives.torque[:, self.limited])]
        if s.rates is not None:
            values.append(np.abs(s.rates[:, self.rate_limited]))
        together = s.drives.together
        values += [
            law.sign * getattr(together, law.quantity)[:, [axis]]
            for axis, _, law in self.instant_laws
        ]
        rise = None if self.why_unproved else lambda: self.rise(s)
        return Table(self.labels(s.rates is not None), np.hstack(values), rise, self.why_unproved)

    @cached_property
    def limited(self) -> np.ndarray:
        """Joints whose torque is limited."""
        return np.flatnonzero(np.isfinite(self.most.torque))

    @cached_property
    def rate_limited(self) -> np.ndarray:
        """Joints whose torque rate is limited."""
        return np.flatnonzero(np.isfinite(self.most.torque_rate))

    @cached_property
    def instant_laws(self) -> list[tuple[int, str, Limit]]:
        """(axis, name, limit) of the drives' limits at every instant."""
        return [row for row in self.robot.drivetrain.limits() if not row[2].mean]

    def labels(self, rates: bool) -> list[Label]:
        """One for each row. rates: with those of the torque rates."""
        robot, most, found = self.robot, self.most, []
        kinds = [("torque", self.limited, most.torque, "N·m or N")]
        kinds += (
            [("torque rate", self.rate_limited, most.torque_rate, "N·m/s or N/s")] if rates else []
        )
        for what, joints, bound, unit in kinds:
            names = [robot.joint_names[j] for j in joints]
            most_of = [float(bound[j]) for j in joints]
            found += [
                Label(x, what, b, unit_of(robot, x, unit), scaled(b))
                for x, b in zip(names, most_of)
            ]
        return found + [
            Label(name, law.name, law.bound, law.unit, law.bound)
            for _, name, law in self.instant_laws
        ]

    # how far values can rise between points ------------------------------------------------------

    @cached_property
    def growth(self) -> tuple[np.ndarray, np.ndarray]:
        """(derivatives of the torques, (3 or 4, N, n); of the motion, (6, N, n)): bounds of their
        magnitudes in every step."""
        order = 3 if self.rated else 2
        rates = self.pieces.rates(order + 2)
        return torque_growth(self.robot.tree, rates, order), rates

    def rise(self, s: State) -> np.ndarray:
        """(P − 1, R) by how much a value in a cell can exceed the larger of its ends."""
        points, (torques, rates) = s.points, self.growth
        step = points.step[:-1]
        h2 = (np.diff(points.x) * self.pieces.h[step])[:, None] ** 2 / 8
        v = np.abs(points.v)
        dv = rates[3][step] * h2
        slow = np.maximum(np.minimum(v[1:], v[:-1]) - dv, 0.0)
        strayed = Strayed(
            torques[2][step] * h2,
            dv,
            rates[4][step] * h2,
            slow,
            rates[2][step],
            rates[3][step],
            h2[:, 0],
        )
        needed = strayed.tau + self._joint_drag(s, strayed)
        delivered, axes = needed.copy(), []
        for k, drive in enumerate(self.robot.drivetrain.drives):
            drag, found = _of_drive(
                drive,
                k,
                s,
                strayed.combined(self.pieces.matrix[k], points.v),
                needed @ np.abs(self._share[k]),
            )
            delivered += drag[:, None] * np.abs(self.pieces.matrix[k])
            axes.append(found)
        columns = [delivered[:, self.limited]]
        if s.rates is not None:
            columns.append((torques[3][step] * h2)[:, self.rate_limited])
        columns += [axes[axis][law.quantity][:, None] for axis, _, law in self.instant_laws]
        return np.hstack(columns)

    @cached_property
    def _share(self) -> np.ndarray:
        return np.array(self.robot.drivetrain.share, dtype=float).reshape(-1, self.robot.n)

    def _joint_drag(self, s: State, by: Strayed) -> np.ndarray:
        """(P − 1, n) by how much the joints' own friction strays."""
        frictions = self.robot.drivetrain.frictions
        each = (Strayed(*(x if x.ndim == 1 else x[:, j] for x in by)) for j in range(self.robot.n))
        columns = [
            _of_friction(f, s.tau[:, j], of, of.tau)
            for j, (f, of) in enumerate(zip(frictions, each))
        ]
        return np.stack(columns, axis=1)


def _of_drive(
    drive: Drive, k: int, s: State, by: Strayed, torque: np.ndarray
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """By how much the friction of drive k strays from its chord, and its limited quantities.
    torque: (P − 1,) the axis torque does."""
    flow, motor, gear = s.drives.together, drive.motor, drive.gear
    drag = _of_friction(drive.friction, flow.torque[:, k], by, torque)
    rotor = drive.inertia * by.a
    carried = torque + drag + rotor
    ratio, K = abs(gear.ratio), motor.torque_constant
    effort = _of_gear(gear, flow.gear_torque[:, k], flow.motor_speed[:, k], carried, ratio * by.v)
    current = (effort + rotor) / (ratio * K) + motor.viscous * ratio * by.v / K
    amperes = np.abs(flow.current[:, k])
    largest = np.maximum(amperes[1:], amperes[:-1])
    copper = motor.resistance * current * (2 * largest + current)
    volts = motor.resistance * current + motor.k_e * ratio * by.v
    return drag, {
        "current": current,
        "voltage": volts,
        "copper": copper,
        "motor_speed": ratio * by.v,
        "gear_torque": carried,
    }


def _of_gear(
    gear: Gear, load: np.ndarray, speed: np.ndarray, carried: np.ndarray, faster: np.ndarray
) -> np.ndarray:
    """(P − 1,) by how much the motor's torque at the joint strays, under loads and speeds (P,) that
    stray by `carried` and `faster`."""
    if not isinstance(gear.efficiency, EfficiencyTable):
        forward, backward = gear.factors(0.0, 0.0)
        return max(forward, backward) * carried + abs(forward - backward) * _branch(load, carried)
    # 1/η changes within a cell: by at most (1/η_min)² |∂η| times the change of speed and load; η
    # itself by less
    table = np.array(gear.efficiency.values)
    most = 1.0 / table.min()
    back = table.min() if gear.efficiency_back is None else gear.efficiency_back
    by_speed = np.abs(np.diff(table, axis=0)) / np.diff(gear.efficiency.speeds)[:, None]
    by_load = np.abs(np.diff(table, axis=1)) / np.diff(gear.efficiency.loads)
    change = sum(
        slope.max(initial=0.0) * (np.abs(np.diff(x)) + 2 * stray)
        for slope, x, stray in zip((by_speed, by_load), (speed, load), (faster, carried))
    )
    largest = np.maximum(np.abs(load[1:]), np.abs(load[:-1])) + carried
    return most * carried + most**2 * change * largest + (most - back) * _branch(load, carried)


def _of_friction(
    friction: Friction, load: np.ndarray, by: Strayed, strayed: np.ndarray
) -> np.ndarray:
    """(P − 1,) by how much friction under a load (P,) strays from its chord; strayed: (P − 1,) by
    how much the load does."""
    found = friction.viscous * by.v
    if friction.load:
        found = found + friction.load * (strayed + 2 * _branch(load, strayed))
    if friction.stiction:
        # Stribeck's s(v) = exp(−x²), x = v/v_s: |s'| ≤ 2x exp(−x²)/v_s, |s''| ≤ 2 (2x² + 1)
        # exp(−x²)/v_s², both falling from x = 0.71 on
        width, x = friction.stribeck_velocity, by.slow / friction.stribeck_velocity
        fall = np.exp(-np.minimum(x * x, 700.0))
        first = np.where(x < 0.5**0.5, 0.858, 2 * x * fall) / width
        second = np.minimum(1.0, np.where(x < 0.5**0.5, 1.0, (2 * x * x + 1) * fall)) * 2 / width**2
        bend = (second * by.accelerations**2 + first * by.jerks) * by.h2
        found = found + friction.stiction * np.minimum(bend, 1.0)
    return found


def _branch(x: np.ndarray, strayed: np.ndarray) -> np.ndarray:
    """(P − 1,) the largest |x| in cells in which x (P,) may change its sign, else 0."""
    low, high = np.minimum(x[1:], x[:-1]) - strayed, np.maximum(x[1:], x[:-1]) + strayed
    return np.where((low < 0.0) & (high > 0.0), np.maximum(-low, high), 0.0)

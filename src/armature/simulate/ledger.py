"""Where the energy of a motion went: drawn, lost, returned, stored, per joint and in total, and
what remains unexplained (X3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.drive import Flow, as_supply
from armature.drive.drive import LOSSES
from armature.dynamics.compiled import inverse_dynamics, kinetic_energy, potential_energy
from armature.motion.trajectory import Trajectory
from armature.notebook import ledger_html
from armature.robot.model import Robot
from armature.simulate.flows import drives_at
from armature.simulate.heating import Heating, heating
from armature.simulate.quadrature import Steps, axis_powers, quadrature
from armature.simulate.quadrature import motion_steps as motion_steps

COLUMNS: tuple[str, ...] = ("mechanical", "taken", "given", *LOSSES)


@dataclass(frozen=True, eq=False)
class Ledger:
    """Energies of a motion, J.

    drawn, returned: from and to the supply.  copper, iron, friction, gear, amplifier, resistor
    (braking), supply_loss: what became heat.
    kinetic, potential, capacitor: increase of what is stored.
    per_joint: {joint or axis: {"mechanical", "taken", "given", "copper", "iron", "friction",
    "gear", "amplifier": J}}, where taken and given are what the axis took from and gave to the
    supply.
    throughput: ∫ Σ |power| dt of all axes.  heating: one entry for each drive.
    quadrature_error: estimate of the error of `energy` by the sums over time, J.
    """

    duration: float
    drawn: float
    returned: float
    copper: float
    iron: float
    friction: float
    gear: float
    amplifier: float
    resistor: float
    supply_loss: float
    kinetic: float
    potential: float
    capacitor: float
    throughput: float
    per_joint: Mapping[str, Mapping[str, float]]
    heating: tuple[Heating, ...]
    quadrature_error: float = 0.0

    @property
    def energy(self) -> float:
        """Net energy from the supply, drawn − returned, J."""
        return self.drawn - self.returned

    @property
    def losses(self) -> float:
        """All that became heat, J."""
        return (
            self.copper
            + self.iron
            + self.friction
            + self.gear
            + self.amplifier
            + self.resistor
            + self.supply_loss
        )

    @property
    def stored(self) -> float:
        """Increase of kinetic and potential energy and of what the bus's capacitor holds, J."""
        return self.kinetic + self.potential + self.capacitor

    @property
    def residual(self) -> float:
        """What the ledger does not explain, J: drawn − returned − losses − stored. Powers and
        losses are summed over the same instants, so that an error of the sums can cancel here:
        `quadrature_error` estimates it."""
        return self.energy - self.losses - self.stored

    @property
    def hottest(self) -> Heating | None:
        """The axis that comes nearest to one of its heat limits."""
        return max(self.heating, key=lambda h: h.worst[1], default=None)

    _repr_html_ = ledger_html

    def __repr__(self) -> str:
        parts = (
            f"{self.drawn:.4g} J drawn, {self.returned:.4g} J returned, {self.losses:.4g} J lost"
        )
        return f"<Ledger of {self.duration:.4g} s: {parts}>"

    def __str__(self) -> str:
        rows = [("drawn", self.drawn), ("returned", -self.returned)]
        rows += [
            (name, -getattr(self, name))
            for name in (*LOSSES, "resistor", "supply_loss", "kinetic", "potential", "capacitor")
        ]
        lines = [
            f"{name.replace('_', ' '):12} {value:14.6f} J"
            for name, value in rows
            if value or name == "drawn"
        ]
        lines.append(f"{'residual':12} {self.residual:14.2e} J")
        lines.append(f"{'quadrature':12} {self.quadrature_error:14.2e} J")
        lines += ["", f"{'':16}" + "".join(f"{x:>12}" for x in COLUMNS)]
        lines += [
            f"{joint:16}" + "".join(f"{row[x]:12.4f}" for x in COLUMNS)
            for joint, row in self.per_joint.items()
        ]
        if self.hottest is not None and self.hottest.fractions:
            limit, fraction = self.hottest.worst
            lines += [
                "",
                f"hottest: {self.hottest.name}, {limit} at {100 * fraction:.1f} % of its limit",
            ]
        return "\n".join(lines)


def ledger(robot: Robot, trajectory: Trajectory, supply: Any = None, steps: int = 600) -> Ledger:
    """Where the energy of a motion went.

    supply: "regenerative", "non-regenerative", or a Regenerative, NonRegenerative or Bus object;
    the robot's own, else regenerative.
    steps: at least so many Gauss points in time. Torques come from inverse dynamics along the
    motion between the knots, so that the ledger closes for coarse knots too. Sums over time break
    at knots and where joints turn, and their intervals are halved until powers and their positive
    parts no longer change (`quadrature_error`). A joint without a drive counts as moved by an ideal
    one. Windings at 20 °C."""
    s, drives, error = quadrature(robot, trajectory, steps)
    flows, friction = drives.flows, drives.friction
    axes = axis_powers(robot, s, drives)
    powers = np.column_stack([axes[name] for name in axes]) if axes else np.zeros((len(s.dt), 0))
    account = as_supply(supply if supply is not None else robot.supply).account(s.dt, powers)
    per_joint = _per_joint(robot, s, flows, friction, axes)
    total = {loss: sum(row[loss] for row in per_joint.values()) for loss in LOSSES}
    kinetic, potential = _stored(robot, trajectory)
    heats = tuple(
        heating(name, d, s.dt, f)
        for name, d, f in zip(robot.drivetrain.axis_names, robot.drivetrain.drives, flows)
    )
    sums = {
        name: float(np.sum(getattr(account, name))) for name in ("drawn", "returned", "resistor")
    }
    return Ledger(
        duration=trajectory.duration,
        **sums,
        **total,
        supply_loss=float(np.sum(account.lost)),
        kinetic=kinetic,
        potential=potential,
        capacitor=float(account.stored[-1]) if len(account.stored) else 0.0,
        throughput=float(np.sum(s.dt * np.abs(powers).sum(-1))),
        per_joint=per_joint,
        heating=heats,
        quadrature_error=error,
    )


def flow_of(robot: Robot, s: Steps) -> list[Flow]:
    """What every drive does at the steps."""
    return drives_at(robot, s.tau, s.v, s.a).flows


def drive_signals(robot: Robot, trajectory: Trajectory) -> Trajectory:
    """The same motion with torques of the drives (rigid bodies, rotors and joint friction),
    currents, voltages and powers at its knots."""
    q, v, a = trajectory.q, trajectory.v, trajectory.a
    s = Steps(trajectory.t, trajectory.t, q, v, a, np.asarray(inverse_dynamics(robot, q, v, a)))
    together, friction, _ = drives_at(robot, s.tau, s.v, s.a)
    signals = (
        {name: getattr(together, name) for name in ("current", "voltage", "power")}
        if robot.drivetrain.drives
        else {}
    )
    return replace(trajectory, tau=s.tau + friction, **signals)


def _per_joint(
    robot: Robot, s: Steps, flows: list[Flow], friction: np.ndarray, axes: dict[str, np.ndarray]
) -> dict[str, dict[str, float]]:
    """One row for each axis and joint; the drives' losses stand at their axes, the joints' own
    friction at the joints."""
    total = lambda x: float(np.sum(s.dt * x))
    train = robot.drivetrain
    rows = {name: dict.fromkeys(COLUMNS, 0.0) for name in (*train.axis_names, *train.joint_names)}
    for name, power in axes.items():
        rows[name]["taken"], rows[name]["given"] = (
            total(np.maximum(0.0, power)),
            total(np.maximum(0.0, -power)),
        )
    for name, f in zip(train.axis_names, flows):
        rows[name] |= {loss: total(getattr(f, loss)) for loss in LOSSES}
    for j, name in enumerate(train.joint_names):
        rows[name]["friction"] += total(friction[:, j] * s.v[:, j])
        rows[name]["mechanical"] = total(s.tau[:, j] * s.v[:, j])
    return rows


def _stored(robot: Robot, trajectory: Trajectory) -> tuple[float, float]:
    """Increase of kinetic and potential energy from the first knot to the last, J."""
    q, v = trajectory.q[[0, -1]], trajectory.v[[0, -1]]
    kinetic, potential = np.diff(kinetic_energy(robot, q, v)), np.diff(potential_energy(robot, q))
    return float(kinetic[0]), float(potential[0])

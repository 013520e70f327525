"""One energy ledger for a whole program: motions with their payloads, and standing still on motors
or brakes, on one supply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.cell.program.program import PowerMode
from armature.cell.program.stages import Pause
from armature.drive import Flow, as_supply
from armature.drive.drive import LOSSES
from armature.drive.flow import FLOW_QUANTITIES
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot
from armature.simulate.heating import heating
from armature.simulate.ledger import COLUMNS, Ledger, ledger
from armature.simulate.quadrature import axis_powers, quadrature
from armature.study.rest import RestingAxis, coil_power

COILS = "brake coils"


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a program in M steps of time. dt: (M,), s.  powers: (M, axes), W, of all axes.
    coils: (M,), W, of brakes.  flows: of each drive, fields (M,).  account: its ledger, or None."""

    dt: np.ndarray
    powers: np.ndarray
    coils: np.ndarray
    flows: list[Flow]
    account: Ledger | None


def moving(robot: Robot, trajectory: Trajectory, supply: Any) -> Part:
    """A motion: brakes are released."""
    s, drives, _ = quadrature(robot, trajectory)
    axes = axis_powers(robot, s, drives)
    powers = np.column_stack([axes[name] for name in axes])
    coils = np.full(len(s.dt), coil_power(robot))
    return Part(s.dt, powers, coils, drives.flows, ledger(robot, trajectory, supply))


def standing(pause: Pause, seconds: float) -> Part:
    """A pause of `seconds` (s): every axis held by its motor, or by its brake between closing and
    opening, during which the motor holds."""
    if (mode := pause.mode(seconds)) is not None:
        return _asleep(pause, mode, seconds)
    axes = pause.place.axes
    braked = [pause.braked and _is_braked(axis, seconds) for axis in axes]
    close = [
        axis.brake.engage_time if axis.brake and b else seconds for axis, b in zip(axes, braked)
    ]
    open_ = [axis.brake.release_time if axis.brake and b else 0.0 for axis, b in zip(axes, braked)]
    edges = np.unique([0.0, seconds, *close, *(seconds - x for x in open_)])
    dt, middle = np.diff(edges), (edges[1:] + edges[:-1]) / 2
    flows, coils = [], np.zeros(len(dt))
    for k, axis in enumerate(axes):
        on = (middle < close[k]) | (middle > seconds - open_[k])
        opened = (middle > seconds - open_[k]) if braked[k] else on
        coils += np.where(opened, axis.brake.power, 0.0) if axis.brake else 0.0
        flows.append(_still(axis, on))
    powers = np.column_stack([f.power for f in flows]) if flows else np.zeros((len(dt), 0))
    return Part(dt, powers, coils, flows, None)


def _asleep(pause: Pause, mode: PowerMode, seconds: float) -> Part:
    """A pause in a power mode: motors hold while it is entered and left, and are off between; what
    the mode takes is shared out evenly among the axes."""
    axes = pause.place.axes
    edges = np.array([0.0, mode.enter, seconds - mode.leave, seconds])
    dt, on = np.diff(edges), np.array([True, False, True])
    keep = dt > 0.0
    dt, on = dt[keep], on[keep]
    awake = float(dt[on].sum())
    switching = np.where(on, mode.energy / awake if awake > 0.0 else 0.0, 0.0)
    if awake == 0.0 and seconds > 0.0:
        switching = np.full(len(dt), mode.energy / seconds)
    more = (np.where(on, 0.0, mode.power) + switching) / max(len(axes), 1)
    coils, flows = np.zeros(len(dt)), []
    for axis in axes:
        coils += np.where(on, axis.brake.power, 0.0) if axis.brake else 0.0
        flow = _still(axis, on)
        power = np.where(on, flow.power, 0.0) + more
        flows.append(replace(flow, power=power, amplifier=power - flow.copper))
    powers = np.column_stack([f.power for f in flows]) if flows else np.zeros((len(dt), 0))
    return Part(dt, powers, coils, flows, None)


def _is_braked(axis: RestingAxis, seconds: float) -> bool:
    """Whether an axis spends a pause on its brake: it has one, time for it, and it takes less."""
    return axis.brake is not None and axis.rest(seconds) < axis.by_motor(seconds)


def _still(axis: RestingAxis, on: np.ndarray) -> Flow:
    """What an axis does at rest, (M,); on: where its motor holds."""
    zero = np.zeros(len(on))
    held = {"current": np.where(on, axis.current, 0.0), "copper": np.where(on, axis.copper, 0.0)}
    power = np.where(on, axis.holding, 0.0) + axis.standby
    rest = dict.fromkeys(FLOW_QUANTITIES, zero) | held
    return Flow(**(rest | {"power": power, "amplifier": power - held["copper"]}))


def program_ledger(robot: Robot, parts: Sequence[Part], supply: Any) -> Ledger:
    """The ledger of all parts one after the other on one supply. Mean heat, continuous current and
    temperatures are those of the whole cycle."""
    dt = np.concatenate([p.dt for p in parts])
    powers = np.column_stack(
        [np.vstack([p.powers for p in parts]), np.concatenate([p.coils for p in parts])]
    )
    account = as_supply(supply if supply is not None else robot.supply).account(dt, powers)
    books = [p.account for p in parts if p.account is not None]
    rows = _rows(robot, parts, books)
    total = lambda name: float(sum(getattr(b, name) for b in books))
    losses = {loss: sum(row[loss] for row in rows.values()) for loss in LOSSES}
    train = robot.drivetrain
    warm = tuple(
        heating(name, drive, dt, _chained(parts, k))
        for k, (name, drive) in enumerate(zip(train.axis_names, train.drives))
    )
    return Ledger(
        duration=float(dt.sum()),
        **{
            name: float(np.sum(getattr(account, name)))
            for name in ("drawn", "returned", "resistor")
        },
        **losses,
        supply_loss=float(np.sum(account.lost)),
        kinetic=total("kinetic"),
        potential=total("potential"),
        capacitor=float(account.stored[-1]) if len(account.stored) else 0.0,
        throughput=float(np.sum(dt * np.abs(powers).sum(-1))),
        per_joint=rows,
        heating=warm,
        quadrature_error=total("quadrature_error"),
    )


def _chained(parts: Sequence[Part], axis: int) -> Flow:
    """What one drive does in all parts."""
    chain = lambda name: np.concatenate(
        [np.broadcast_to(getattr(p.flows[axis], name), p.dt.shape) for p in parts]
    )
    return Flow(**{name: chain(name) for name in FLOW_QUANTITIES})


def _rows(
    robot: Robot, parts: Sequence[Part], books: Sequence[Ledger]
) -> dict[str, dict[str, float]]:
    """Energies of every joint and axis: of the motions' ledgers, and of standing still; then
    coils."""
    rows = {
        name: {c: sum(b.per_joint[name][c] for b in books) for c in COLUMNS}
        for name in books[0].per_joint
    }
    for part in (p for p in parts if p.account is None):
        for name, flow in zip(robot.drivetrain.axis_names, part.flows):
            rows[name]["taken"] += float(part.dt @ flow.power)
            for loss in ("copper", "amplifier"):
                rows[name][loss] += float(part.dt @ getattr(flow, loss))
    coils = sum(float(p.dt @ p.coils) for p in parts)
    if coils > 0.0:
        rows[COILS] = dict.fromkeys(COLUMNS, 0.0) | {"taken": coils, "amplifier": coils}
    return rows

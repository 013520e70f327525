"""Drives as data: the numbers of motors and gears, and their rotors', as parameters of a robot's
kernels, so that other drives need no compiling.

Robots with `variable_limits` (set where drives are chosen) have them; of all others these numbers
are constants of the code. What decides which formulas there are stays constant and part of the key:
efficiency tables, the thesis's rule, friction of the drive, the amplifier's losses."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from armature.drive.drive import Drive
from armature.drive.gear import EfficiencyTable
from armature.drive.train import Drivetrain
from armature.robot.model import Robot
from armature.robot.tree import Body

ROTOR = 2  # numbers of a driven body: rotor's inertia, ratio
MOTOR = ("resistance", "torque_constant", "k_e", "inertia", "iron_torque", "viscous")
GEAR = ("ratio", "inertia", "efficiency", "efficiency_back")
NUMBERS = len(MOTOR) + len(GEAR)


def driven_bodies(robot: Robot) -> tuple[int, ...]:
    """Bodies whose rotors are parameters: those of the driven joints, of robots with variable
    drives."""
    if robot.variable_limits is None:
        return ()
    driven = {name for coupling in robot.drives for name in coupling.joints}
    return tuple(i for i, body in enumerate(robot.tree.bodies) if body.name in driven)


def drive_carriers(robot: Robot) -> set[int]:
    """Bodies that carry a variable drive: its mass is theirs."""
    found = {robot.tree.bodies[i].parent for i in driven_bodies(robot)}
    return {body for body in found if body >= 0}


def rotor_numbers(robot: Robot) -> list[float]:
    """ROTOR numbers of every driven body."""
    bodies = (robot.tree.bodies[i] for i in driven_bodies(robot))
    return [float(x) for b in bodies for x in (b.rotor, b.ratio)]


def drive_numbers(robot: Robot) -> list[float]:
    """NUMBERS numbers of every drive, then the units of its limits; none without variable
    drives."""
    if robot.variable_limits is None:
        return []
    drives = robot.drivetrain.drives
    return [x for d in drives for x in _numbers(d)] + [
        x for d in drives for x in limit_units(d).values()
    ]


def _numbers(drive: Drive) -> list[float]:
    gear = drive.gear
    table = isinstance(gear.efficiency, EfficiencyTable)
    forward: Any = 1.0 if table else gear.efficiency
    back = forward if gear.efficiency_back is None else gear.efficiency_back
    values = [getattr(drive.motor, name) for name in MOTOR]
    return [float(x) for x in (*values, gear.ratio, gear.inertia, forward, back)]


def limit_units(drive: Drive) -> dict[tuple[str, bool], float]:
    """{(quantity, mean): unit} of every limit that a drive may have: the limit itself where that
    is less than 1 (see `transcription.driven.unit`)."""
    limits = drive.limits(finite=False)
    return {(limit.quantity, limit.mean): min(1.0, limit.bound) for limit in limits}


def rotors_as(robot: Robot, bodies: list[Body], symbols: Any) -> None:
    """Put symbols into the places of rotors and ratios, (driven bodies × ROTOR,)."""
    for k, i in enumerate(driven_bodies(robot)):
        rotor, ratio = symbols[ROTOR * k : ROTOR * (k + 1)]
        bodies[i] = replace(bodies[i], rotor=rotor, ratio=ratio)


def drivetrain_as(train: Drivetrain, symbols: Any) -> Drivetrain:
    """The drivetrain with symbols for the numbers of its drives."""
    drives = []
    for k, drive in enumerate(train.drives):
        values = symbols[NUMBERS * k : NUMBERS * (k + 1)]
        motor: dict[str, Any] = dict(zip(MOTOR, values[: len(MOTOR)]))
        motor["back_emf_constant"] = motor.pop("k_e")
        gear: dict[str, Any] = dict(zip(GEAR, values[len(MOTOR) :]))
        if isinstance(drive.gear.efficiency, EfficiencyTable):
            del gear["efficiency"]
            if drive.gear.efficiency_back is None:
                del gear["efficiency_back"]
        parts = {"motor": _with(drive.motor, motor), "gear": _with(drive.gear, gear)}
        drives.append(_with(drive, parts))
    return replace(train, drives=tuple(drives))


def structure(train: Drivetrain) -> str:
    """What decides which formulas there are."""
    rows = [
        (
            d.gear.efficiency if isinstance(d.gear.efficiency, EfficiencyTable) else "symbol",
            d.gear.efficiency_back is None,
            d.gear.rule,
            d.gear.ratio > 0,
            d.friction,
            d.amplifier.efficiency,
            d.amplifier.standby,
        )
        for d in train.drives
    ]
    return repr((rows, train.matrix, train.share, train.frictions))


def _with(part: Any, values: dict[str, Any]) -> Any:
    """A copy of a frozen part with symbols in it, which are no numbers to be checked."""
    new = copy.copy(part)
    for name, value in values.items():
        object.__setattr__(new, name, value)
    return new


def units_as(train: Drivetrain, symbols: Any) -> dict[tuple[int, str, bool], Any]:
    """{(axis, quantity, mean): unit} from the symbols after those of the drives."""
    kinds = [
        (axis, *kind) for axis, drive in enumerate(train.drives) for kind in limit_units(drive)
    ]
    return dict(zip(kinds, symbols[NUMBERS * len(train.drives) :]))

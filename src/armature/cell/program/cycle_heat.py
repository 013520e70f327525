"""Mean limits of motors (heat, continuous current) over the whole cycle instead of over every
motion.

Motions are planned with mean limits that are k times the motors' own, with a k for every motor.
Without any (k = ∞) they are cheapest and quickest; if the cycle with its stops then keeps the
motors' own limits, that is the plan. Else k of the motors that exceed theirs is lowered by what the
cycle exceeds; k = 1 always keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from armature.cell.program.program import Program
from armature.cell.program.program_plan import ProgramPlan
from armature.errors import ArgumentError
from armature.robot.model import Robot
from armature.simulate.heating import Heating

TRIES = 6  # values of k from ∞ on
SAFE = 0.95  # of the next k


def with_mean_limits(robot: Robot, k: float | Sequence[float]) -> Robot:
    """The robot with mean limits of heat k times as high, and of continuous currents √k times.
    k: one number, or one for every drive, in the order of `robot.drivetrain`."""
    drives = robot.drivetrain.drives
    each = iter(np.broadcast_to(np.asarray(k, dtype=float), len(drives)).tolist())

    def higher(drive):
        k = next(each)
        motor, amplifier = drive.motor, drive.amplifier
        motor = replace(
            motor,
            average_heat=motor.average_heat * k,
            continuous_current=motor.continuous_current * math.sqrt(k),
        )
        amplifier = replace(
            amplifier, continuous_current=amplifier.continuous_current * math.sqrt(k)
        )
        return replace(drive, motor=motor, amplifier=amplifier)

    return replace(
        robot, drives=tuple(replace(c, drives=tuple(map(higher, c.drives))) for c in robot.drives)
    )


def plan_over_cycle(
    program: Program, plan: Callable[[Program], ProgramPlan], objective: str
) -> ProgramPlan:
    """The plan of a program whose motors keep their mean limits over the whole cycle. plan: makes
    one of a program whose motions keep the robot's limits each; it is compared with that."""
    found, own = _hotter(program, plan), None
    if objective == "energy" or found is None:
        try:
            own = plan(program)
        except ArgumentError:  # the cycle is too short for motions that keep the limits each
            if found is None:
                raise
    if found is None or (own is not None and own.energy <= found.energy):
        assert own is not None
        return replace(
            own,
            notes=(
                *own.notes,
                "no better plan was found with motions that are hotter than their stops",
            ),
        )
    return found


def _hotter(program: Program, plan: Callable[[Program], ProgramPlan]) -> ProgramPlan | None:
    """The plan with the highest mean limits of motions at which the cycle keeps the motors' own;
    None where none was found above these."""
    drives = program.robot.drivetrain.drives
    k = np.full(len(drives), math.inf)
    for _ in range(TRIES):
        robot = with_mean_limits(program.robot, k.tolist())
        try:
            found = replace(plan(replace(program, robot=robot)), program=program)
        except ArgumentError:  # too slow for the cycle; without any limits, it is impossible
            if np.isinf(k).all():
                raise
            return None
        over = np.array([_ratio(h) for h in found.ledger.heating])
        if np.all(over <= 1.0):
            note = (
                f"motors keep their mean limits over the cycle, at {100 * over.max():.0f} % of the"
                " nearest"
            )
            return replace(found, notes=(*found.notes, note))
        rows = [
            [_ratio(replace(h, drive=d)) for h, d in zip(leg.plan.ledger.heating, drives)]
            for leg in found.legs
        ]
        used = np.minimum(np.max(rows, axis=0), k)
        k = np.where(over > 1.0, np.maximum(1.0, SAFE * used / over), k)
        if np.all(k <= 1.0):
            break
    return None


def _ratio(h: Heating) -> float:
    """Mean heat of a drive against its limit; 1 is at it."""
    motor, amplifier = h.drive.motor, h.drive.amplifier
    current = min(motor.continuous_current, amplifier.continuous_current)
    return max(
        h.mean_heat / motor.average_heat,
        (h.rms_current / current) ** 2,
        h.fractions.get("winding temperature", 0.0),
    )

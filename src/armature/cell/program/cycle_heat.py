"""Mean limits of motors (heat, continuous current) over the whole cycle instead of over every
motion.

Motions are planned with mean limits that are k times the motors' own. Without any (k = ∞) they are
cheapest and quickest; if the cycle with its stops then keeps the motors' own limits, that is the
plan. Else k is lowered by what the cycle exceeds; k = 1 always keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from armature.cell.program.program import Program
from armature.cell.program.program_plan import ProgramPlan
from armature.errors import ArgumentError
from armature.robot.model import Robot
from armature.simulate.heating import Heating

TRIES = 4  # values of k from ∞ on
SAFE = 0.95  # of the next k


def with_mean_limits(robot: Robot, k: float) -> Robot:
    """The robot with mean limits of heat k times as high, and of continuous currents √k times."""
    root = math.sqrt(k)

    def higher(drive):
        motor, amplifier = drive.motor, drive.amplifier
        motor = replace(
            motor,
            average_heat=motor.average_heat * k,
            continuous_current=motor.continuous_current * root,
        )
        amplifier = replace(amplifier, continuous_current=amplifier.continuous_current * root)
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
    k = math.inf
    for _ in range(TRIES):
        try:
            found = replace(
                plan(replace(program, robot=with_mean_limits(program.robot, k))), program=program
            )
        except (
            ArgumentError
        ):  # too slow for the cycle with such limits; without any, it is impossible
            if math.isinf(k):
                raise
            return None
        over = max((_ratio(h) for h in found.ledger.heating), default=0.0)
        if over <= 1.0:
            note = (
                f"motors keep their mean limits over the cycle, at {100 * over:.0f} % of the"
                " nearest"
            )
            return replace(found, notes=(*found.notes, note))
        most = max(
            _ratio(replace(h, drive=d))
            for leg in found.legs
            for h, d in zip(leg.plan.ledger.heating, program.robot.drivetrain.drives)
        )
        k = SAFE * min(most, k) / over
        if k <= 1.0:
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

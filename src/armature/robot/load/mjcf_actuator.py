"""Torque limits of MJCF joints: what their actuators and `actuatorfrcrange` allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armature.robot.load.xml import Source
from armature.robot.model import INF

ON_JOINT = (0, 1)  # transmissions: joint, joint in the parent's axes
FIXED, NO_BIAS, NO_DYNAMICS = 0, 0, 0
FREE, BALL = 0, 1


def torque_limits(model: Any, names: Sequence[str], source: Source) -> dict[str, float]:
    """{joint: greatest torque, N·m or N} of hinges and slides; infinite where nothing limits it.

    An actuator gives |gear| × force; the force is limited by `forcerange`, and where the control is
    a force (fixed gain, no bias: motors) by gain × `ctrlrange`. Several actuators on a joint add
    up. `actuatorfrcrange` limits the sum."""
    limits = {}
    for j, name in enumerate(names):
        if int(model.jnt_type[j]) in (FREE, BALL):
            continue
        own = [
            i
            for i in range(model.nu)
            if int(model.actuator_trntype[i]) in ON_JOINT and int(model.actuator_trnid[i][0]) == j
        ]
        summed = sum(_greatest(model, i, name, source) for i in own) if own else INF
        given = (
            _side(model.jnt_actfrcrange[j], name, "actuatorfrcrange", source)
            if model.jnt_actfrclimited[j]
            else INF
        )
        limits[name] = min(summed, given)
    others = sum(1 for i in range(model.nu) if int(model.actuator_trntype[i]) not in ON_JOINT)
    if others:
        source.warn(
            None,
            f"{others} actuators act on tendons, sites or bodies and limit no joint here; give"
            " torque limits by hand",
        )
    return limits


def _greatest(model: Any, i: int, joint: str, source: Source) -> float:
    """The greatest torque of one actuator at its joint."""
    gear = abs(float(model.actuator_gear[i][0]))
    force = (
        _side(model.actuator_forcerange[i], joint, "forcerange", source)
        if model.actuator_forcelimited[i]
        else INF
    )
    motor = (
        int(model.actuator_gaintype[i]) == FIXED
        and int(model.actuator_biastype[i]) == NO_BIAS
        and int(model.actuator_dyntype[i]) == NO_DYNAMICS
    )
    if motor and model.actuator_ctrllimited[i]:
        gain = abs(float(model.actuator_gainprm[i][0]))
        force = min(force, gain * _side(model.actuator_ctrlrange[i], joint, "ctrlrange", source))
    return gear * force if gear else 0.0


def _side(bounds: Any, joint: str, key: str, source: Source) -> float:
    """One number of a range: limits of torque are alike in both directions, so that the smaller
    side counts, if there are two."""
    low, high = float(bounds[0]), float(bounds[1])
    if low == -high:
        return abs(high)
    if low < 0.0 < high:
        source.warn(
            None,
            f"joint {joint!r}: {key} {low:.6g} … {high:.6g} is taken as ±{min(-low, high):.6g}, its"
            " smaller side",
        )
        return min(-low, high)
    source.warn(
        None,
        f"joint {joint!r}: {key} {low:.6g} … {high:.6g} pushes one way only;"
        f" ±{max(abs(low), abs(high)):.6g} is taken",
    )
    return max(abs(low), abs(high))

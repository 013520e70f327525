"""Units follow the kind of a joint."""

import pytest

from armature.robot.library import library
from armature.robot.unit import unit_of


@pytest.mark.parametrize(
    "joint, unit", [("turn1", "rad/s"), ("stroke", "m/s"), ("turn1+turn2", "rad/s or m/s")]
)
def test_a_turning_joint_is_told_in_radians_and_a_sliding_one_in_metres(joint, unit):
    assert unit_of(library("scara"), joint, "rad/s or m/s") == unit
    assert unit_of(library("scara"), joint, "W") == "W"

"""What drives do along a motion, compiled, against the plain law."""

import numpy as np
import pytest

import armature as arm
from armature.drive import Smooth
from armature.drive.flow import FLOW_QUANTITIES
from armature.simulate.flows import drives_at


@pytest.mark.parametrize("direction", [0.0, -1.0])
@pytest.mark.parametrize("name", ["six_axis", "burgevin", "valasek"])
def test_compiled_flows_and_friction_are_those_of_the_law_at_rest_too(name, direction):
    robot = arm.library(name)
    tau, v, a = np.random.default_rng(0).normal(scale=10.0, size=(3, 50, robot.n))
    v[0], law = 0.0, Smooth(direction=direction)
    found, train = drives_at(robot, tau, v, a, direction), robot.drivetrain
    for axis, (flow, known) in enumerate(
        zip(found.flows, train.flow(tau, v, a, smooth=law), strict=True)
    ):
        for quantity in FLOW_QUANTITIES:
            np.testing.assert_allclose(
                getattr(flow, quantity), getattr(known, quantity), rtol=1e-12, atol=1e-9
            )
            assert np.array_equal(
                getattr(flow, quantity), getattr(found.together, quantity)[:, axis]
            )
    known = np.stack(np.broadcast_arrays(*train.joint_friction(tau, v, law)), axis=-1)
    np.testing.assert_allclose(found.friction, known, rtol=1e-12, atol=1e-12)

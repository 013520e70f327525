"""Closed loops against Pinocchio's constrained dynamics: a spatial chain whose end is held at a
point, or welded."""

import numpy as np
import pinocchio as pin
import pytest

from armature.dynamics import compiled
from armature.dynamics.holonomic.closed_loops import loop_forces
from armature.robot.loop import Loop
from armature.robot.model import Joint, Link, Robot

N = 7
AXES = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0)]
OFFSET = (0.1, 0.2, 0.3)


def chain() -> Robot:
    links = (
        Link("base"),
        *(Link(f"l{i}", 1.0 + i, (0.1, 0.05, 0.2), (0.05, 0.06, 0.04, 0, 0, 0)) for i in range(N)),
    )
    joints = tuple(
        Joint(
            f"j{i}", "continuous", "base" if i == 0 else f"l{i - 1}", f"l{i}", OFFSET, axis=AXES[i]
        )
        for i in range(N)
    )
    return Robot("chain", links, joints, "base")


def model() -> pin.Model:
    m = pin.Model()
    parent = 0
    for i in range(N):
        parent = m.addJoint(
            parent,
            pin.JointModelRevoluteUnaligned(np.array(AXES[i], float)),
            pin.SE3(np.eye(3), np.array(OFFSET)),
            f"j{i}",
        )
        m.appendBodyToJoint(
            parent,
            pin.Inertia(1.0 + i, np.array([0.1, 0.05, 0.2]), np.diag([0.05, 0.06, 0.04])),
            pin.SE3.Identity(),
        )
    return m


@pytest.mark.parametrize(
    "kind, contact",
    [("spherical", pin.ContactType.CONTACT_3D), ("fixed", pin.ContactType.CONTACT_6D)],
)
def test_held_chain_accelerates_as_in_pinocchio(kind, contact):
    rng = np.random.default_rng(3)
    open_chain, m = chain(), model()
    q, tau = rng.uniform(-1, 1, N), rng.uniform(-5, 5, N)
    pose, tip = compiled.pose(open_chain, q, f"l{N - 1}"), np.array([0.1, 0.0, 0.05])
    held = pose.p + pose.R @ tip
    robot = open_chain.with_loops(
        [Loop("end", kind, "base", f"l{N - 1}", tuple(held), tuple(tip), tuple(map(tuple, pose.R)))]
    )
    # a velocity that keeps the end: project a random one
    J = compiled.jacobian(open_chain, q, f"l{N - 1}", at=tip)[: 3 if kind == "spherical" else 6]
    v = rng.uniform(-1, 1, N)
    v -= np.linalg.pinv(J) @ (J @ v)
    constraint = pin.RigidConstraintModel(
        contact, m, N, pin.SE3(np.eye(3), tip), 0, pin.SE3(pose.R, held), pin.ReferenceFrame.LOCAL
    )
    data, models, datas = (
        m.createData(),
        pin.StdVec_RigidConstraintModel(),
        pin.StdVec_RigidConstraintData(),
    )
    models.append(constraint)
    datas.append(constraint.createData())
    pin.initConstraintDynamics(m, data, models, datas)
    expected = pin.constraintDynamics(
        m, data, q, v, tau, models, datas, pin.ProximalSettings(1e-14, 1e-14, 20)
    )
    found = compiled.forward_dynamics(robot, q, v, tau)
    assert np.allclose(found, expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())
    # the force at the end, in world axes
    force = pose.R @ datas[0].contact_force.linear
    assert np.allclose(loop_forces(robot, q, v, tau)["end"][:3], force, rtol=1e-6, atol=1e-6)

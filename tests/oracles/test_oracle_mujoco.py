"""MuJoCo's answers on every robot of example-robot-data that its stricter checks let in.

Meshes are left out of the files (MuJoCo would look for them); mimic joints are free joints there,
held by constraints, which are switched
off: they are projected here, q_full = G q + o.
"""

from __future__ import annotations

import re

import mujoco
import numpy as np
import pytest
from lxml import etree
from robot_files import FILES, MOVES_NOTHING, VALID, couplings, indices, robot, state

from armature.dynamics.recursion import kinematics, mass, recursive
from random_robots import acceleration_tolerance, assert_near

NEGATIVE, TRIANGLE, MASSLESS = "positive eigenvalues", r"A \+ B >= C", "mjMINVAL"
# what MuJoCo refuses, and why: moments with a negative or zero eigenvalue (on some dummy link), the
# triangle inequality, massless links
REFUSED = {
    "allegro_hand_description/urdf/allegro_left_hand": TRIANGLE,
    "allegro_hand_description/urdf/allegro_right_hand": TRIANGLE,
    "anymal_b_simple_description/robots/anymal-kinova": NEGATIVE,
    "anymal_b_simple_description/robots/anymal": NEGATIVE,
    "anymal_c_simple_description/urdf/anymal": TRIANGLE,
    "b1_description/urdf/b1-z1": NEGATIVE,
    "b1_description/urdf/b1": NEGATIVE,
    "finger_edu_description/robots/finger_edu": NEGATIVE,
    "go1_description/urdf/go1": NEGATIVE,
    "human_description/robots/human": MASSLESS,
    "hyq_description/robots/hyq_no_sensors": NEGATIVE,
    "icub_description/robots/icub": NEGATIVE,
    "icub_description/robots/icub_reduced": NEGATIVE,
    "pr2_description/urdf/pr2": TRIANGLE,
    "romeo_description/urdf/romeo": MASSLESS,
    "romeo_description/urdf/romeo_laas_small": NEGATIVE,
    "romeo_description/urdf/romeo_small": TRIANGLE,
    "tiago_description/robots/tiago": NEGATIVE,
    "tiago_description/robots/tiago_dual": NEGATIVE,
    "tiago_description/robots/tiago_no_hand": NEGATIVE,
}


def model_of(name: str) -> mujoco.MjModel:
    """The file without shapes, every link kept, inertias as they are, and nothing but rigid bodies:
    no damping, friction or constraint."""
    root = etree.parse(str(FILES[name])).getroot()
    for element in list(
        root.iter("visual", "collision", "gazebo", "transmission", "material", "mujoco")
    ):
        element.getparent().remove(element)
    settings = {"fusestatic": "false", "balanceinertia": "false", "inertiafromgeom": "false"}
    etree.SubElement(etree.SubElement(root, "mujoco"), "compiler", settings)
    model = mujoco.MjModel.from_xml_string(etree.tostring(root).decode())
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.dof_damping[:] = 0.0
    return model


@pytest.mark.parametrize("name", VALID)
def test_dynamics_and_kinematics_as_by_mujoco(name: str):
    """Files that MuJoCo refuses load here with a warning; Pinocchio alone is their oracle."""
    try:
        ours, model = robot(name), model_of(name)
    except ValueError as refusal:
        assert name in REFUSED, f"MuJoCo refuses it, which is not listed: {refusal}"
        assert re.search(REFUSED[name], str(refusal))
        return
    tree, data, where = ours.tree, mujoco.MjData(model), indices(ours)
    q, v, a = state(ours, 4)
    G, full = np.zeros((model.nv, ours.nv)), np.zeros(model.nq)
    for joint, master, multiplier, offset in couplings(ours):
        theirs = model.joint(joint)
        G[theirs.dofadr[0], where[master][1]] = multiplier
        full[theirs.qposadr[0]] = multiplier * q[where[master][0]] + offset
    data.qpos[:], data.qvel[:] = full, G @ v
    mujoco.mj_forward(model, data)
    _same_frames(ours, model, data, q, G)
    M = np.zeros((model.nv, model.nv))
    for k, e in enumerate(np.eye(model.nv)):
        mujoco.mj_mulM(model, data, M[k], e)
    M, bias = G.T @ M @ G, G.T @ data.qfrc_bias
    assert_near(mass.mass_matrix(tree, q), M, 1e-12)
    assert_near(recursive.bias_forces(tree, q, v), bias, 1e-12)
    tau = recursive.inverse_dynamics(tree, q, v, a)
    assert_near(tau, M @ a + bias, 1e-12)
    # MuJoCo's own forward dynamics where no joint mimics another
    assert name not in MOVES_NOTHING
    if model.nv == ours.nv:
        data.qfrc_applied[:] = G @ tau
        mujoco.mj_forward(model, data)
        expected = G.T @ data.qacc
    else:
        expected = np.linalg.solve(M, tau - bias)
    error = np.abs(recursive.forward_dynamics(tree, q, v, tau) - expected)
    assert not ours.n or np.all(
        error <= 4.0 * acceleration_tolerance(M, a, np.abs(tau) + np.abs(bias))
    ), f"{error.max():.3g}"


def _same_frames(
    ours, model: mujoco.MjModel, data: mujoco.MjData, q: np.ndarray, G: np.ndarray
) -> None:
    """Poses of all links, Jacobians of some."""
    for k, link in enumerate(ours.link_names):
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, link)
        if body < 0:
            assert link == ours.base  # MuJoCo makes the root link its world
            continue
        pose = kinematics.link_pose(ours.tree, q, link)
        assert_near(pose.R, data.xmat[body].reshape(3, 3), 1e-13)
        assert_near(pose.p, data.xpos[body], 1e-13)
        if k % 7 == 2:
            J = np.zeros((2, 3, model.nv))
            mujoco.mj_jacBody(model, data, J[0], J[1], body)
            assert_near(
                kinematics.jacobian(ours.tree, q, link, np.zeros(3)), J.reshape(6, -1) @ G, 1e-13
            )

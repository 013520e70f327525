"""Built-in robots against the papers' own formulas."""

import json
from math import cos, sin
from pathlib import Path

import numpy as np
import pytest
import robot_mechanics as mechanics

from armature.errors import ArgumentError
from armature.robot import check, library

TABLE_1 = json.loads((Path(__file__).parents[1] / "data" / "burgevin.json").read_text())["robot"]


def burgevin_inertias(R, theta, m):
    """I₁, I₂, m_t of the thesis, from Table 1."""
    k = TABLE_1
    m_t = m + k["m_s"]
    I0 = m_t * R**2 - k["m_s"] * k["L"] * R + k["m_s"] * k["L"] ** 2 / 3 + k["m_h"] * k["r_h"] ** 2
    I2 = k["J_b"] + k["J_r"] * cos(theta) ** 2 + (I0 + k["J_h_phi"]) * sin(theta) ** 2
    return I0 + k["J_h_theta"], I2, m_t


@pytest.mark.parametrize("m", [0.0, 2.0])
def test_burgevins_kinetic_energy_is_the_thesis(m):
    robot = library("burgevin").with_payload(m)
    rng = np.random.default_rng(1)
    for phi, theta, R in rng.uniform((-3, -3, 0.1), (3, 3, 1), (20, 3)):
        I1, I2, m_t = burgevin_inertias(R, theta, m)
        M = mechanics.mass_matrix(robot, {"phi": phi, "theta": theta, "r": R})
        assert np.allclose(M, np.diag([I2, I1, m_t]), rtol=0, atol=1e-13)


@pytest.mark.parametrize("m", [0.0, 2.0])
def test_burgevins_gravity_is_the_thesis(m):
    k, robot = TABLE_1, library("burgevin").with_payload(m)
    rng = np.random.default_rng(2)
    for phi, theta, R in rng.uniform((-3, -3, 0.1), (3, 3, 1), (20, 3)):
        m_t = m + k["m_s"]
        I4 = m_t * R - k["m_s"] * k["L"] / 2
        expected = [
            0.0,
            -(I4 + k["m_h"] * k["r_h"]) * k["g"] * sin(theta),
            m_t * k["g"] * cos(theta),
        ]
        assert np.allclose(
            mechanics.gravity_torque(robot, {"phi": phi, "theta": theta, "r": R}),
            expected,
            rtol=0,
            atol=1e-12,
        )


def test_burgevin_has_table_1s_ranges_and_order():
    robot = library("burgevin")
    assert robot.joint_names == ("phi", "theta", "r")
    assert (robot.joint("r").limits.lower, robot.joint("r").limits.upper) == tuple(
        TABLE_1["R_range_m"]
    )
    theta = robot.joint("theta").limits
    assert np.allclose(
        np.degrees([theta.lower, theta.upper]), TABLE_1["theta_range_deg"], rtol=1e-15
    )
    assert robot.joint("phi").limits.lower == -np.inf and robot.gravity == (0.0, 0.0, -9.81)


def test_burgevins_tip_is_at_R_from_the_vertical():
    _, p = mechanics.poses(library("burgevin"), {"phi": 0.4, "theta": 0.7, "r": 0.8})["slider"]
    assert np.allclose(
        p, 0.8 * np.array([sin(0.7) * cos(0.4), sin(0.7) * sin(0.4), cos(0.7)]), atol=1e-15
    )


def test_valaseks_arm_is_a_point_mass_in_spherical_coordinates():
    robot = library("valasek")
    assert robot.joint_names == ("phi", "theta", "r") and robot.gravity == (0.0, 0.0, -9.80665)
    rng = np.random.default_rng(3)
    for phi, theta, r in rng.uniform((-3, -1.5, 0.1), (3, 1.5, 2), (20, 3)):
        q = {"phi": phi, "theta": theta, "r": r}
        assert np.allclose(
            mechanics.mass_matrix(robot, q),
            np.diag([(r * cos(theta)) ** 2, r**2, 1.0]),
            rtol=0,
            atol=1e-14,
        )
        assert np.allclose(
            mechanics.gravity_torque(robot, q),
            [0, 9.80665 * r * cos(theta), 9.80665 * sin(theta)],
            rtol=0,
            atol=1e-13,
        )


def test_two_uniform_rods_are_the_textbooks_double_pendulum():
    m1, m2, l1, l2 = 2.0, 1.0, 1.0, 1.0
    for q2 in (-2.0, 0.0, 0.3, 1.5):
        c = m2 * l1 * l2 / 2 * cos(q2)
        a, b = m1 * l1**2 / 3 + m2 * (l1**2 + l2**2 / 3) + 2 * c, m2 * l2**2 / 3 + c
        M = mechanics.mass_matrix(library("planar2"), {"shoulder": 0.4, "elbow": q2})
        assert np.allclose(M, [[a, b], [b, m2 * l2**2 / 3]], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", library())
def test_built_in_robots_are_physical_and_move(name):
    robot = library(name)
    assert robot.name == name and check(robot) == []
    q = {j: 0.1 + 0.2 * i for i, j in enumerate(robot.joint_names)}
    assert np.linalg.eigvalsh(mechanics.mass_matrix(robot, q)).min() > 0
    assert library(name) is robot


@pytest.mark.parametrize(
    ("name", "n", "reach"),
    [("six_axis", 6, 0.85), ("seven_axis", 7, 1.3), ("scara", 4, 0.65), ("planar2", 2, 2.0)],
)
def test_arms_have_their_joints_and_reach(name, n, reach):
    robot = library(name)
    assert robot.n == n and len(robot.tips) == 1
    _, tip = mechanics.poses(robot, {})[robot.tips[0]]
    assert reach - 0.1 < np.linalg.norm(tip) < reach + 0.2


def test_an_unknown_name_is_answered_with_the_likely_one():
    with pytest.raises(
        ArgumentError, match=r"no built-in robot 'six-axis'; did you mean 'six_axis'"
    ):
        library("six-axis")

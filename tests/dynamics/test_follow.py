"""The joints along a path of the hand: on the path everywhere, true derivatives, and the place
where it cannot go on."""

from __future__ import annotations

import numpy as np
import pytest

from armature.dynamics import compiled
from armature.dynamics.positioning.follow import PathStatus, follow
from armature.errors import ArgumentError
from armature.motion.path import Path
from armature.motion.shapes import circle, line, polyline, screw
from armature.robot.library import library

SIX = np.array([0.4, -1.0, 1.2, -0.7, 0.9, 0.2])
SEVEN = np.array([0.3, 0.7, -0.4, 1.2, 0.5, -0.6, 0.1])


def pose_of(name: str, q: np.ndarray):
    return compiled.pose(library(name), q, "tool")


def cases():
    six, seven = pose_of("six_axis", SIX), pose_of("seven_axis", SEVEN)
    turned = pose_of("six_axis", SIX + 0.3)
    yield "line", "six_axis", SIX, line(six, turned)
    yield "circle", "six_axis", SIX, circle(six, six.p + [0.05, 0.0, 0.0], [0.0, 1.0, 0.3])
    yield "screw", "six_axis", SIX, screw(six, six.p + [0.05, 0.0, 0.0], [0.0, 0.2, 1.0], 1.0, 0.1)
    yield (
        "polyline",
        "six_axis",
        SIX,
        polyline([six, six.p + [0.1, 0.0, 0.0], six.p + [0.1, -0.1, 0.05]], blend=0.03),
    )
    yield "point", "six_axis", SIX, line(six.p, six.p + [0.1, -0.1, 0.1])
    yield (
        "redundant",
        "seven_axis",
        SEVEN,
        circle(seven, seven.p + [0.1, 0.0, 0.0], [0.0, 1.0, 0.3]),
    )


CASES = list(cases())


@pytest.mark.parametrize(("name", "robot", "start", "path"), CASES, ids=[c[0] for c in CASES])
def test_the_hand_is_on_the_path_between_the_knots_too(
    name: str, robot: str, start: np.ndarray, path: Path
):
    arm = library(robot)
    found = follow(arm, path, "tool", start=start)
    assert found.ok and found.place == 1.0 and "whole path" in found.message
    p = np.linspace(0, 1, 777)
    at, hand = path(p), compiled.pose(arm, found.path(p).q, "tool")
    assert np.abs(hand.p - at.x).max() < 1e-7
    assert at.R is None or np.abs(hand.R - at.R).max() < 1e-7
    np.testing.assert_allclose(found.q[0], start, atol=1e-6)
    on_knots = compiled.pose(arm, found.q, "tool")
    assert np.abs(on_knots.p - path(found.p).x).max() < 1e-11


@pytest.mark.parametrize(("name", "robot", "start", "path"), CASES, ids=[c[0] for c in CASES])
def test_derivatives_are_those_of_the_motion(name: str, robot: str, start: np.ndarray, path: Path):
    """(F1), (F2): J q' = x', J q'' + J'q' = x'', and q', q'' are the slopes of q, q' at the
    knots."""
    arm = library(robot)
    found = follow(arm, path, "tool", start=start, count=401)
    motion = compiled.point_kinematics(arm, found.q, found.dq, found.ddq, "tool")
    at = path(found.p)
    np.testing.assert_allclose(motion.velocity[:, :3], at.dx, atol=1e-9)
    np.testing.assert_allclose(motion.acceleration[:, :3], at.ddx, atol=1e-7)
    if at.w is not None and at.dw is not None:
        np.testing.assert_allclose(motion.velocity[:, 3:], at.w, atol=1e-9)
        np.testing.assert_allclose(motion.acceleration[:, 3:], at.dw, atol=1e-7)
    h = np.diff(found.p)[:, None]
    # Hermite's rule is exact to fourth order: ∫ f = h/2 (f₀ + f₁) + h²/12 (f₀' − f₁')
    step = h / 2 * (found.dq[1:] + found.dq[:-1]) + h**2 / 12 * (found.ddq[:-1] - found.ddq[1:])
    np.testing.assert_allclose(np.diff(found.q, axis=0), step, atol=1e-8)


def test_knots_are_dense_where_the_joints_hurry():
    """Beside the wrist's singularity two axes turn by half a turn within a small part of the
    path."""
    robot = library("six_axis")
    q = np.array([0.4, -1.0, 1.2, -0.7, 0.3, 0.2])
    a, b = (
        pose_of("six_axis", q),
        pose_of("six_axis", q * [1, 1, 1, 1, -1, 1] + [0, 0, 0, 0.03, 0, 0]),
    )
    path = line(a, b)
    found = follow(robot, path, "tool", start=q)
    p = np.linspace(0, 1, 5001)
    assert found.ok and found.conditioning.min() < 0.01 and np.abs(found.dq).max() > 20
    assert np.abs(compiled.pose(robot, found.path(p).q, "tool").p - path(p).x).max() < 1e-7
    assert len(found.p) > 110 and np.diff(found.p).min() < 0.004


def test_redundant_arms_move_by_least_norm_or_return_home():
    robot = library("seven_axis")
    path = CASES[-1][3]
    least = follow(robot, path, "tool", start=SEVEN)
    J = compiled.jacobian(robot, least.q, "tool")
    null = np.linalg.svd(J)[2][:, -1]
    assert np.abs(np.einsum("ka,ka->k", null, least.dq)).max() < 1e-9  # no part in the null space
    home = follow(robot, path, "tool", start=SEVEN, home=SEVEN, pull=5.0)
    drift = lambda f: np.linalg.norm(f.q[-1] - f.q[0])
    assert home.ok and drift(home) < 0.1 * drift(least)


def test_all_branches_are_tried_and_the_nearest_to_the_seed_taken():
    robot, path = library("six_axis"), CASES[0][3]
    every = follow(robot, path, "tool")
    assert every.ok and len(every.others) >= 3
    assert every.travel == min(f.travel for f in (every, *every.others) if f.ok)
    seeded = follow(robot, path, "tool", seed=SIX + 0.05)
    np.testing.assert_allclose(seeded.q[0], SIX, atol=1e-6)


def test_leaving_the_workspace_is_told_with_the_place():
    robot = library("planar2")
    found = follow(robot, line([1.0, 0.0, 0.0], [3.0, 0.0, 0.0]), "tip")  # reach is 2 m: half way
    assert found.status is PathStatus.OUT_OF_WORKSPACE and found.place == pytest.approx(
        0.5, abs=1e-4
    )
    assert "p = 0.5" in found.message or "p = 0.49999" in found.message
    with pytest.raises(ArgumentError, match="leaves what the arm can reach"):
        _ = found.path
    never = follow(robot, line([3.0, 0.0, 0.0], [1.0, 0.0, 0.0]), "tip")
    assert never.place == 0.0 and "at its start" in never.message


def test_a_joint_at_the_end_of_its_range_is_told_with_the_place():
    robot = library("planar2")
    found = follow(robot, line([1.0, 0.0, -0.2], [-1.0, 0.0, -0.2]), "tip")
    # the elbow's 150° end where the distance is 2 cos 75°
    distance = 2 * np.cos(np.radians(75))
    expected = (1.0 - np.sqrt(distance**2 - 0.04)) / 2
    assert found.status is PathStatus.OUT_OF_RANGE and found.joint == "elbow"
    assert found.place == pytest.approx(expected, abs=1e-4)


def test_a_singularity_is_told_with_the_place():
    """Burgevin's arm cannot pass straight beside its vertical axis: through it, phi would have to
    jump by half a turn."""
    robot = library("burgevin").with_limits({"theta": {"lower": 0.0}})
    found = follow(robot, line([0.3, 0.0, 0.5], [-0.3, 0.0, 0.5]), "slider")
    assert found.status in (
        PathStatus.SINGULAR,
        PathStatus.OUT_OF_RANGE,
    ) and found.place == pytest.approx(0.5, abs=1e-3)
    free = library("burgevin")
    over = follow(free, line([0.3, 0.0, 0.5], [-0.3, 0.0, 0.5]), "slider")
    assert (
        over.status is PathStatus.SINGULAR
        and over.place == pytest.approx(0.5, abs=1e-3)
        and "conditioning" in over.message
    )


def test_bad_starts_and_corners_are_refused():
    robot, path = library("six_axis"), CASES[0][3]
    with pytest.raises(ArgumentError, match="away from the path's start"):
        follow(robot, path, "tool", start=SIX + 0.1)
    with pytest.raises(ArgumentError, match="shape"):
        follow(robot, path, "tool", start=[0.0])
    with pytest.raises(ArgumentError, match=r"corner at p = 0\.5"):
        follow(robot, polyline([[0.5, 0, 0.5], [0.5, 0.1, 0.5], [0.5, 0.1, 0.4]]), "tool")

"""Starting motions: ends met, derivatives consistent, straight lines straight."""

from __future__ import annotations

import numpy as np
import pytest

from armature.dynamics import compiled
from armature.errors import ArgumentError
from armature.motion.shapes import joint_path
from armature.motion.trajectory import Trajectory
from armature.optimize.transcription import guess
from armature.robot.library import library

Q0, Q1 = np.array([0.2, -1.0, 0.5]), np.array([1.5, 0.3, -0.2])
KINDS = {
    "cubic": lambda: guess.joint_cubic(Q0, Q1, 0.8),
    "cubic with velocities": lambda: guess.joint_cubic(
        Q0, Q1, 0.8, velocities=([1.0, 0.0, -2.0], 0.5)
    ),
    "quintic": lambda: guess.joint_quintic(Q0, Q1, 0.8, velocities=([1.0, 0.0, -2.0], 0.5)),
    "trapezoid": lambda: guess.joint_trapezoid(Q0, Q1, 0.8, ramp=0.21),
    "through": lambda: guess.through([Q0, 2 * Q1, Q1], 0.8),
    "along": lambda: guess.along(joint_path([Q0, 2 * Q1, Q1]), 0.8, 200),
    "resampled": lambda: guess.resampled(guess.joint_quintic(Q0, Q1, 0.3), 0.8),
    "held": lambda: guess.held(guess.joint_quintic(Q0, Q1, 0.8), 40),
}


@pytest.fixture(params=KINDS)
def motion(request) -> Trajectory:
    return KINDS[request.param]()


def test_ends_are_met_and_velocity_is_the_slope_everywhere(motion: Trajectory):
    np.testing.assert_allclose(motion.q[[0, -1]], [Q0, Q1], atol=1e-12)
    assert motion.duration == pytest.approx(0.8)
    t, h = np.linspace(0.003, 0.797, 401), 1e-6
    t = t[np.abs(t[:, None] - motion.t).min(1) > 2 * h]
    before, at, after = motion(t - h), motion(t), motion(t + h)
    np.testing.assert_allclose(at.v, (after.q - before.q) / (2 * h), atol=1e-6 * np.abs(at.v).max())
    np.testing.assert_allclose(at.a, (after.v - before.v) / (2 * h), atol=1e-5 * np.abs(at.a).max())


@pytest.mark.parametrize("name", ["cubic with velocities", "quintic"])
def test_given_end_velocities_are_met(name: str):
    motion = KINDS[name]()
    np.testing.assert_allclose(motion.v[[0, -1]], [[1.0, 0.0, -2.0], [0.5, 0.5, 0.5]], atol=1e-12)
    if name == "quintic":
        np.testing.assert_allclose(motion.a[[0, -1]], 0.0, atol=1e-9)


def test_the_cubic_is_the_papers_baseline():
    s = np.linspace(0, 1, 101)[:, None]
    np.testing.assert_allclose(
        KINDS["cubic"]().q, Q0 + (Q1 - Q0) * (3 * s**2 - 2 * s**3), atol=1e-14
    )


def test_trapezoid_holds_its_velocity_between_the_ramps():
    motion = KINDS["trapezoid"]()
    middle = motion(np.linspace(0.21 * 0.8, 0.79 * 0.8, 20))
    np.testing.assert_allclose(
        middle.v, np.broadcast_to((Q1 - Q0) / 0.8 / 0.79, middle.v.shape), rtol=1e-12
    )
    # exact between knots: integrating the held accelerations gives the knots themselves
    h = np.diff(motion.t)[:, None]
    np.testing.assert_allclose(np.diff(motion.v, axis=0), motion.a[:-1] * h, atol=1e-12)
    np.testing.assert_allclose(
        np.diff(motion.q, axis=0), motion.v[:-1] * h + motion.a[:-1] * h**2 / 2, atol=1e-12
    )


def test_held_motions_are_exact_and_near():
    smooth = guess.joint_quintic(Q0, Q1, 0.8, velocities=([1.0, 0.0, -2.0], 0.5))
    motion = guess.held(smooth, 50)
    h = 0.8 / 50
    np.testing.assert_allclose(np.diff(motion.v, axis=0), motion.a[:-1] * h, atol=1e-12)
    np.testing.assert_allclose(
        np.diff(motion.q, axis=0), motion.v[:-1] * h + motion.a[:-1] * h**2 / 2, atol=1e-12
    )
    np.testing.assert_allclose(motion.q[-1], Q1, atol=1e-12)
    np.testing.assert_allclose(motion.v[[0, -1]], smooth.v[[0, -1]], atol=1e-12)
    assert np.abs(motion.q - smooth(motion.t).q).max() < 1e-3


def test_via_points_are_passed_in_time():
    motion = guess.through([Q0, 2 * Q1, Q1], 0.8, times=[0.0, 0.3, 0.8])
    np.testing.assert_allclose(motion(0.3).q, 2 * Q1, atol=1e-6)


def test_stretching_keeps_the_geometry():
    motion = KINDS["cubic"]()
    slow = guess.stretched(motion, 3.2)
    np.testing.assert_array_equal(slow.q, motion.q)
    np.testing.assert_allclose(slow(1.6).v, motion(0.4).v / 4, rtol=1e-12)
    np.testing.assert_allclose(slow(1.0).a, motion(0.25).a / 16, rtol=1e-9)


@pytest.mark.parametrize("name", ["six_axis", "burgevin", "seven_axis"])
def test_the_hand_goes_straight(name: str):
    robot = library(name)
    starts = {"six_axis": [0.4, -1.0, 1.2, -0.7, 0.9, 0.2], "burgevin": [0.0, 1.0, 0.5]}
    starts["seven_axis"] = [0.3, 0.7, -0.4, 1.2, 0.5, -0.6, 0.1]
    q0 = np.array(starts[name])
    q1 = q0 + 0.15 * np.cos(np.arange(robot.n))
    motion = guess.hand_line(robot, q0, q1, 0.7, 60)
    np.testing.assert_allclose(motion.q[[0, -1]], [q0, q1], atol=1e-9)
    np.testing.assert_allclose(motion.v[[0, -1]], 0.0, atol=1e-12)
    hand = compiled.pose(robot, motion.q, robot.tips[0]).p
    d = (hand[-1] - hand[0]) / np.linalg.norm(hand[-1] - hand[0])
    off = np.linalg.norm(np.cross(hand - hand[0], d), axis=1).max()
    assert off < (1e-9 if name != "seven_axis" else 0.02)
    h = 1e-6
    np.testing.assert_allclose(
        motion(0.3).v, (motion(0.3 + h).q - motion(0.3 - h).q) / (2 * h), atol=1e-6
    )


def test_lines_that_end_in_another_branch_are_refused():
    robot = library("planar2")
    with pytest.raises(ArgumentError, match="another branch"):
        guess.hand_line(robot, [0.3, 1.0], [1.2, -1.0], 1.0)
    with pytest.raises(ArgumentError, match=r"range|singular"):
        guess.hand_line(robot, [0.3, 1.0], [0.3 - np.pi, 1.0], 1.0)  # through the shoulder


@pytest.mark.parametrize(
    "call",
    [
        lambda: guess.joint_cubic(Q0, Q1[:2], 1.0),
        lambda: guess.joint_cubic(Q0, Q1, 0.0),
        lambda: guess.joint_cubic(Q0, Q1, 1.0, 0),
        lambda: guess.joint_trapezoid(Q0, Q1, 1.0, ramp=0.6),
        lambda: guess.through([Q0], 1.0),
        lambda: guess.through([Q0, Q1], 1.0, times=[0.0, 2.0]),
        lambda: guess.along(joint_path([Q0, Q1]), 1.0, law="sine"),
        lambda: guess.stretched(guess.joint_cubic(Q0, Q1, 1.0), -1.0),
    ],
)
def test_bad_arguments_are_refused(call):
    with pytest.raises(ArgumentError):
        call()


def test_a_motion_through_points_passes_each_to_what_a_certificate_allows():
    times = [0.0, 0.1234567, 0.1334567, 0.61, 0.8]
    points = np.array([Q0, 2 * Q1, 1.9 * Q1, -0.5 * Q1, Q1])
    for intervals in (3, 10, 100):
        motion = guess.through(points, 0.8, intervals, times=times)
        off = np.abs(motion(np.array(times)).q - points).max()
        assert off < 1e-12 and np.all(np.diff(motion.t) > 0.0)
    assert len(motion.t) == 101

"""Bounds of the torques' time derivatives against the derivatives themselves, by differences along
random motions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import armature as arm
from armature.dynamics.recursion.growth import torque_growth
from random_robots import robots


def worst_ratio(robot, seed):
    """Largest of |derivative|/bound for orders 0 to 3, over instants of a polynomial motion."""
    rng = np.random.default_rng(seed)
    c = rng.normal(size=(6, robot.nv)) * np.array([1.0, 1.0, 1.0, 0.7, 0.5, 0.3])[:, None]
    h = 2e-3
    t = 0.3 + h * (np.arange(7) - 3)
    power = lambda k: np.stack(
        [np.prod(np.arange(p, p - k, -1)) * t ** max(p - k, 0) * (p >= k) for p in range(6)]
    )
    motion = [power(k).T @ c for k in range(6)]
    tau = np.asarray(arm.inverse_dynamics(robot, *motion[:3]))
    rates = np.stack([np.abs(x).max(0) for x in motion])[:, None, :]
    bound = torque_growth(robot.tree, rates, 3)[:, 0]
    middle = tau[3], (tau[4] - tau[2]) / (2 * h), (tau[4] - 2 * tau[3] + tau[2]) / h**2
    third = (tau[5] - 2 * tau[4] + 2 * tau[2] - tau[1]) / (2 * h**3)
    return max(
        float(np.max(np.abs(x) / (1.01 * b + 1e-3))) for x, b in zip((*middle, third), bound)
    )


@settings(max_examples=40)
@given(robots(most=4, floating=False), st.integers(0, 2**32 - 1))
def test_derivatives_of_torques_stay_below_their_bounds(robot, seed):
    assert worst_ratio(robot, seed) <= 1.0


@pytest.mark.parametrize("name", ["six_axis", "scara", "burgevin"])
def test_bounds_hold_with_rotors_and_sliding_joints(name):
    assert all(worst_ratio(arm.library(name), seed) <= 1.0 for seed in range(20))

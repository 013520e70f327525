"""Exciting motions: within limits, at rest at both ends, and better than random ones for the
parameters."""

import numpy as np
import pytest

import armature as arm
from armature.identify.identify import identify
from armature.identify.recording import Recording
from identify.simulated import Truth, bare


@pytest.fixture(scope="module")
def found():
    return arm.exciting_motion(arm.library("scara"), 6.0, iterations=15)


def test_an_exciting_motion_is_certified_and_periodic(found):
    motion = found.trajectory
    assert found.certificate.ok and found.certificate.proved
    assert (
        np.allclose(motion.q[0], motion.q[-1])
        and np.allclose(motion.v[[0, -1]], 0)
        and np.allclose(motion.a[[0, -1]], 0, atol=1e-9)
    )


def test_it_is_better_conditioned_than_random_motions(found):
    assert found.condition < 0.8 * found.random_condition
    six = arm.exciting_motion(arm.library("six_axis"), 5.0, iterations=8)
    assert six.certificate.ok and six.condition < 0.5 * six.random_condition


def test_parameters_are_known_better_after_it_than_after_a_random_motion(found):
    """The witness is the identification itself: standard errors from recordings of both motions, of
    the same length and noise."""
    truth = Truth(bare(arm.library("scara")))
    errors = []
    random = truth.recording(10, duration=6.0)
    for run in (_played(truth, found.trajectory, 0.01 * random.current.std(axis=0)), random):
        result = identify(truth.robot, run, gains=truth.gains)
        errors.append([p.standard_error for p in result.parameters[: len(result.base.pivots)]])
    assert np.exp(np.mean(np.log(errors[0]) - np.log(errors[1]))) < 0.8


def _played(truth, motion, noise_size):
    t = np.arange(0.0, motion.duration, 0.01)
    q, v, a = motion(t)
    dry = np.tanh(v / (1e-3 * np.sqrt(np.mean(v**2, axis=0))))
    tau = (
        arm.inverse_dynamics(truth.robot, q, v, a)
        + truth.viscous * v
        + truth.coulomb * dry
        + truth.rotor * a
    )
    noise = noise_size * np.random.default_rng(0).normal(size=tau.shape)
    return Recording(t, np.asarray(q), current=tau / truth.gains + noise, name="played")


def test_bad_arguments_are_refused():
    for arguments, words in (
        ({"duration": 0.5}, "duration"),
        ({"duration": 5.0, "criterion": "A"}, "criterion"),
    ):
        with pytest.raises(arm.ArmatureError, match=words):
            arm.exciting_motion(arm.library("scara"), **arguments)

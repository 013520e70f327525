"""Identification: the regressor against other routes, consistency, and recordings whose truth is known."""

import numpy as np
import pinocchio as pin
import pytest

import armature as arm
from armature.dynamics.recursion.regressor import INERTIAL
from armature.identify import pseudo_inertia
from armature.identify.friction import dahl
from armature.identify.identify import identify
from armature.identify.recording import Recording
from armature.identify.regressor import prior_parameters, regressor
from oracles.robot_files import ROOT

UR5 = ROOT / "ur_description/urdf/ur5_robot.urdf"


def motion(n: int, seed: int, duration: float = 40.0, rate: float = 100.0):
    """Random Fourier motion: t, q, v, a."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, duration, 1.0 / rate)
    w = 2 * np.pi * 0.05 * np.arange(1, 9)
    c = rng.normal(size=(2, 8, n)) / (1 + np.arange(8))[:, None]
    s, k = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q = s @ c[0] + k @ c[1]
    v = (k * w) @ c[0] - (s * w) @ c[1]
    a = -(s * w**2) @ c[0] - (k * w**2) @ c[1]
    return t, q, v, a


def recorded(robot, seed, viscous, coulomb, rotor, noise=0.01):
    """A recording of a simulated truth: quantised encoders, noisy torques."""
    t, q, v, a = motion(robot.n, seed)
    tau = (
        arm.inverse_dynamics(robot, q, v, a) + viscous * v + coulomb * np.tanh(v / 0.01) + rotor * a
    )
    rng = np.random.default_rng(seed + 1)
    tau = tau + noise * tau.std(axis=0) * rng.normal(size=tau.shape)
    return Recording(t, np.round(q / 1e-5) * 1e-5, torque=tau, name=f"run {seed}")


def test_regressor_is_pinocchios():
    robot = arm.load(UR5)
    model = pin.buildModelFromUrdf(str(UR5))
    data = model.createData()
    rng = np.random.default_rng(0)
    q, v, a = rng.uniform(-2, 2, (3, robot.n))
    pi = np.concatenate([i.toDynamicParameters() for i in list(model.inertias)[1:]])
    theirs = pin.computeJointTorqueRegressor(model, data, q, v, a) @ pi
    mine = regressor(robot, q, v, a) @ prior_parameters(robot)
    assert np.allclose(mine, theirs, atol=1e-9)


def test_torque_is_linear_in_the_parameters_of_every_body():
    robot = arm.load(UR5)
    q, v, a = np.random.default_rng(1).normal(size=(3, 7, robot.n))
    tau = regressor(robot, q, v, a) @ prior_parameters(robot)
    assert np.allclose(tau, arm.inverse_dynamics(robot, q, v, a), atol=1e-10)


def test_dahls_element_keeps_its_value_at_standstill_and_reaches_the_direction():
    q = np.concatenate([np.linspace(0, 0.1, 50), np.full(20, 0.1), np.linspace(0.1, 0, 50)])
    z = dahl(q, 1e-3)
    assert z[49] == pytest.approx(1.0, abs=1e-9) and np.all(z[50:70] == z[49])
    assert z[-1] == pytest.approx(-1.0, abs=1e-9)


def test_lifted_priors_are_strictly_consistent():
    for mass in (0.0, 1.0, 150.0):
        lifted = pseudo_inertia.lifted(np.array([mass, *np.zeros(9)]), 10.0)
        assert np.linalg.eigvalsh(pseudo_inertia.matrix(lifted))[0] > 0


def test_simulated_truth_is_found_and_held_out_torque_predicted():
    truth = arm.load(UR5)
    viscous, coulomb, rotor = 8.0, 3.0, np.linspace(2.0, 0.1, truth.n)
    wrong = np.random.default_rng(5).uniform(0.7, 1.3, len(truth.links))
    prior = arm.Robot(
        truth.name,
        tuple(
            arm.robot.Link(k.name, k.mass * f, k.com, tuple(f * x for x in k.inertia))
            for k, f in zip(truth.links, wrong)
        ),
        truth.joints,
        truth.base,
    )
    runs = [recorded(truth, seed, viscous, coulomb, rotor) for seed in (10, 20, 30)]
    found = identify(prior, runs[:2], held_out=runs[2:])
    assert np.all(found.error["run 30"] < 1.5), found.error
    assert np.all(found.error["run 30"] < 0.5 * found.prior_error["run 30"])
    bodies = found.estimate.phi[: found.layout.inertial].reshape(-1, INERTIAL)
    assert all(pseudo_inertia.is_consistent(x) for x in bodies)
    friction = [found.robot.joint(name).friction for name in found.robot.joint_names]
    assert np.allclose([f.viscous for f in friction], viscous, rtol=0.1)
    assert np.allclose([f.coulomb for f in friction], coulomb, rtol=0.1)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t, q: (np.where(np.arange(len(t)) == 50, 0.0, t), q), "time goes back"),
        (lambda t, q: (t, np.where(np.arange(len(t))[:, None] == 9, np.nan, q)), "not finite"),
        (lambda t, q: (t, np.zeros_like(q)), "nothing moves"),
        (lambda t, q: (t, np.degrees(q)), "outside its range"),
    ],
)
def test_bad_recordings_get_one_clear_sentence(change, words):
    robot = arm.load(UR5)
    t, q, _, _ = motion(robot.n, 3, 10.0)
    t, q = change(t, q)
    with pytest.raises(arm.ArmatureError, match=words):
        identify(robot, Recording(t, q, torque=np.ones_like(q)))

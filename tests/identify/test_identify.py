"""Identification: the regressor against Pinocchio's, consistency, and recordings whose truth is
known."""

import numpy as np
import pinocchio as pin
import pytest

import armature as arm
from armature.dynamics.recursion.regressor import INERTIAL
from armature.identify import pseudo_inertia
from armature.identify.base import base_columns, base_parameters
from armature.identify.friction import dahl
from armature.identify.identify import identify
from armature.identify.recording import Recording
from armature.identify.regressor import prior_parameters, regressor
from armature.identify.signals import _content
from identify.simulated import UR5, Truth, motion, robots


@pytest.fixture(scope="module")
def truths():
    return {name: Truth(robot) for name, robot in robots().items()}


@pytest.fixture(scope="module")
def found(truths):
    """Each robot identified from two recordings, a third held out."""
    results = {}
    for name, truth in truths.items():
        runs = [truth.recording(seed) for seed in (10, 20, 30)]
        results[name] = identify(truth.described(), runs[:2], held_out=runs[2:], gains=truth.gains)
    return results


def test_regressor_is_pinocchios():
    robot = arm.load(UR5)
    model = pin.buildModelFromUrdf(str(UR5))
    data = model.createData()
    q, v, a = np.random.default_rng(0).uniform(-2, 2, (3, robot.n))
    pi = np.concatenate([i.toDynamicParameters() for i in list(model.inertias)[1:]])
    theirs = pin.computeJointTorqueRegressor(model, data, q, v, a) @ pi
    assert np.allclose(regressor(robot, q, v, a) @ prior_parameters(robot), theirs, atol=1e-9)


def test_torque_is_linear_in_the_parameters_of_every_body():
    robot = arm.load(UR5)
    q, v, a = np.random.default_rng(1).normal(size=(3, 7, robot.n))
    tau = regressor(robot, q, v, a) @ prior_parameters(robot)
    assert np.allclose(tau, arm.inverse_dynamics(robot, q, v, a), atol=1e-10)


@pytest.mark.parametrize("name", ["ur5", "seven_axis", "scara"])
def test_number_of_base_parameters_is_the_rank_of_pinocchios_or_our_regressor(name):
    robot = robots()[name]
    base = base_parameters(robot)
    rng = np.random.default_rng(3)
    q, v, a = rng.uniform(-1, 1, (3, 200, robot.n))
    if name == "ur5":
        model = pin.buildModelFromUrdf(str(UR5))
        data = model.createData()
        rows = np.concatenate(
            [pin.computeJointTorqueRegressor(model, data, *x) for x in zip(q, v, a)]
        )
    else:
        rows = regressor(robot, q, v, a).reshape(200 * robot.n, -1)
    eye = np.eye(robot.n)
    rows = np.hstack(
        [
            rows,
            *(
                np.concatenate([x * eye for x in col])
                for col in (a[:, None, :], np.ones((200, 1, robot.n)))
            ),
        ]
    )
    size = np.linalg.norm(rows, axis=0)
    rank = np.linalg.matrix_rank(rows / np.where(size > 1e-9 * size.max(), size, np.inf), tol=1e-7)
    assert len(base.pivots) == rank < len(base.labels)


def test_torques_depend_on_base_parameters_alone():
    robot = robots()["ur5"]
    base = base_parameters(robot)
    null = np.linalg.svd(base.matrix)[2][len(base.pivots) :]
    assert np.allclose(base.matrix @ null.T, 0, atol=1e-9)
    q, v, a = np.random.default_rng(4).uniform(-1, 1, (3, 5, robot.n))
    eye = np.eye(robot.n)
    W = np.concatenate(
        [regressor(robot, q, v, a), a[:, :, None] * eye, np.broadcast_to(eye, (5, *eye.shape))],
        axis=2,
    )
    assert np.abs(W @ null.T).max() < 1e-8
    assert (
        "shoulder_pan_joint.m" in base.unseen
    )  # what turns about a vertical axis has no weight for it


@pytest.mark.parametrize("name", ["ur5", "seven_axis", "scara"])
def test_held_out_torque_is_predicted_to_a_percent_and_half(found, name):
    result = found[name]
    (held,) = result.held_out
    assert np.all(result.error[held] < 1.5), result.error
    assert np.all(result.error[held] < 0.5 * result.prior_error[held])
    assert result.robot.model_error.torque < 3.0 and result.robot.model_error.energy < 3.0


def test_parameters_lie_within_three_standard_errors_of_the_truth(found, truths):
    deviations = []
    for name, result in found.items():
        truth, places = truths[name], result.layout
        phi = np.zeros(places.size)
        phi[: places.inertial] = prior_parameters(truth.robot)
        for k in range(truth.robot.n):
            phi[places.of(k, "rotor")[0]] = truth.rotor[k]
        expected = dict(
            zip((p.name for p in result.parameters), result.base.matrix @ phi[base_columns(places)])
        )
        for k, joint in enumerate(truth.robot.joint_names):
            expected |= {f"{joint}.viscous": truth.viscous[k], f"{joint}.coulomb": truth.coulomb[k]}
        deviations += [
            (p.value - expected[p.name]) / p.standard_error
            for p in result.parameters
            if p.name in expected
        ]
    deviations = np.array(deviations)
    assert len(deviations) > 130
    assert np.mean(np.abs(deviations) <= 3.0) >= 0.98
    assert 0.5 < np.sqrt(np.mean(deviations**2)) < 2.0  # nor are the standard errors far too large


@pytest.mark.parametrize("width", [1e-5, 0.01, 0.2])
def test_dry_friction_of_any_width_is_predicted(truths, width):
    truth = Truth(truths["scara"].robot, width)
    runs = [truth.recording(seed, duration=20.0) for seed in (110, 120, 130)]
    result = identify(truth.described(7), runs[:2], runs[2], truth.gains)
    assert np.all(result.error["run 130"] < 1.5), result.error
    assert result.robot.model_error.torque < 10.0  # gravity of the slide is no offset


def test_the_cutoff_is_the_motions_not_the_encoders(truths):
    clean = truths["scara"].recording(10, duration=20.0)  # up to 0.5 Hz
    for bits in (13, 17, 21):
        step = 2 * np.pi / 2**bits
        coarse = Recording(clean.t, np.round(clean.q / step) * step, current=clean.current)
        assert _content(coarse) < 1.5


def test_standard_errors_are_those_of_repeated_recordings_with_noise_that_lasts(truths):
    """Monte Carlo: noise correlated over half a second, one joint's five times worse."""
    truth, w = truths["scara"], np.exp(-np.arange(200) / 50)
    clean = truth.recording(10, noise=0.0, duration=20.0)
    values, errors = [], []
    for seed in range(12):
        white = np.random.default_rng(seed).normal(size=(len(clean.t) + 199, 4))
        lasting = np.column_stack([np.convolve(x, w, "valid") for x in white.T])
        noise = 0.003 * clean.current.std(axis=0) * lasting
        log = Recording(clean.t, clean.q, current=clean.current + noise, name="log")
        told = [
            p
            for p in identify(truth.robot, log, gains=truth.gains, delay=0.0).parameters
            if p.name.endswith("viscous")
        ]
        values.append([p.value for p in told])
        errors.append([p.standard_error for p in told])
    ratio = np.std(values, axis=0) / np.mean(errors, axis=0)
    assert np.all(ratio < 1.6), ratio
    assert np.all(ratio > 0.2), ratio


def test_bodies_are_physically_consistent_and_the_file_reads_back(found, tmp_path):
    for result in found.values():
        bodies = result.estimate.phi[: result.layout.inertial].reshape(-1, INERTIAL)
        assert all(pseudo_inertia.is_consistent(x) for x in bodies)
        result.robot.save(tmp_path / "robot.yaml")
        again = arm.load(tmp_path / "robot.yaml")
        assert again == result.robot and again.model_error == result.robot.model_error


def test_a_known_payload_makes_the_gains_observable(truths):
    truth = truths["ur5"]
    wrong = truth.gains * np.array([1.2, 0.85, 1.15, 0.9, 1.1, 1.0])
    runs = [truth.recording(10), truth.recording(20, payload=5.0)]
    result = identify(truth.robot, runs, gains=wrong, gain_spread=0.3)
    told = {p.name: p for p in result.parameters if p.unit == "N·m/A"}
    for k in (1, 2, 3):  # joints that carry the payload
        gain = told[f"{truth.robot.joint_names[k]}.gain"]
        assert gain.value == pytest.approx(truth.gains[k], rel=0.03)
        assert abs(gain.value - truth.gains[k]) < 4 * gain.standard_error


def test_outliers_do_not_spoil_the_estimate(truths):
    truth = truths["scara"]
    clean, other = truth.recording(10), truth.recording(30)
    current = clean.current.copy()
    hit = np.random.default_rng(0).choice(len(current), 40, replace=False)
    current[hit] += 20 * current.std(axis=0)
    result = identify(
        truth.described(),
        Recording(clean.t, clean.q, current=current, name="hit"),
        other,
        truth.gains,
    )
    assert np.all(result.error["run 30"] < 5.0), result.error


@pytest.mark.parametrize("delay", [0.0, 0.004, 0.02])
def test_a_delay_of_the_currents_is_found_and_taken_out(truths, delay):
    truth = truths["scara"]
    runs = [truth.recording(seed, delay=delay) for seed in (10, 30)]
    result = identify(truth.described(), runs[0], runs[1], truth.gains)
    assert result.delay == pytest.approx(delay, abs=3e-4)
    assert np.all(result.error["run 30"] < 1.5), result.error
    # predicting a recording as it was read is the same
    _, predicted, measured = result.predict(runs[1])
    error = 100 * np.sqrt(np.mean((predicted - measured) ** 2, axis=0)) / measured.std(axis=0)
    assert np.allclose(error, result.error["run 30"])


def test_dahls_element_keeps_its_value_at_standstill_and_reaches_the_direction():
    q = np.concatenate([np.linspace(0, 0.1, 50), np.full(20, 0.1), np.linspace(0.1, 0, 50)])
    z = dahl(q, 1e-3)
    assert z[49] == pytest.approx(1.0, abs=1e-9) and np.all(z[50:70] == z[49])
    assert z[-1] == pytest.approx(-1.0, abs=1e-9)


def test_lifted_priors_are_strictly_consistent():
    for mass in (0.0, 1.0, 150.0):
        lifted = pseudo_inertia.lifted(np.array([mass, *np.zeros(9)]), 10.0)
        assert np.linalg.eigvalsh(pseudo_inertia.matrix(lifted))[0] > 0


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
    t, q, _, _ = motion(robot, 3, 5.0)
    t, q = change(t, q)
    with pytest.raises(arm.ArmatureError, match=words):
        identify(robot, Recording(t, q, torque=np.ones_like(q)))


def test_a_recording_that_is_given_twice_is_refused(truths):
    run = truths["scara"].recording(10, duration=5.0)
    with pytest.raises(arm.ArmatureError, match="two recordings are called"):
        identify(truths["scara"].robot, [run], held_out=[run], gains=truths["scara"].gains)


def test_rehearsed_robots_are_drawn_from_what_identification_left_open(found, truths):
    """Torques of robots drawn spread about the identified one by far less than the description was
    wrong."""
    truth, result = truths["ur5"], found["ur5"]
    _, q, v, a = motion(truth.robot, 40, 5.0)
    Y = regressor(truth.robot, q, v, a)
    own = result.estimate.phi[: result.layout.inertial]
    drawn, _ = result.uncertainty.draw(result.robot, 200, np.random.default_rng(0))
    spread = np.std(np.einsum("tjp,rp->rtj", Y, drawn), axis=0).mean(axis=0)
    wrong = np.std(Y @ (prior_parameters(truth.described()) - own), axis=0)
    assert np.all(spread[1:4] < 0.2 * wrong[1:4]) and np.all(spread > 0)
    plan = arm.Trajectory(
        *(x[:200:10] for x in motion(truth.robot, 40, 5.0)), truth.robot.joint_names
    )
    runs = arm.rehearse(result.robot, plan, result.uncertainty, runs=8)
    assert not runs.failed.any() and runs.error.max() < 0.05


@pytest.mark.parametrize("joint", [1, 2])  # a turn, and a slide whose weight is constant
def test_a_joint_that_never_moves_keeps_the_friction_of_its_description(truths, joint):
    """Nothing tells its friction: what the recordings explain of others is no measure of it."""
    truth = truths["scara"]
    name = truth.robot.joint_names[joint]
    viscous, coulomb = float(truth.viscous[joint]), float(truth.coulomb[joint])

    def locked(seed):
        t, q, v, a = motion(truth.robot, seed, 15.0)
        q[:, joint], v[:, joint], a[:, joint] = q[:, joint].mean(), 0.0, 0.0
        torque = arm.inverse_dynamics(truth.robot, q, v, a) + truth.viscous * v + truth.rotor * a
        torque += truth.coulomb * np.tanh(v / 1e-3)
        return Recording(t, q, torque=torque, name=f"run {seed}")

    described = truth.described().with_friction({name: {"viscous": viscous, "coulomb": coulomb}})
    result = identify(described, [locked(1), locked(2)])
    assert f"{name} never moves" in result.agreement
    own = result.robot.joint(name).friction
    assert own.viscous == pytest.approx(viscous, rel=0.02)
    assert own.coulomb == pytest.approx(coulomb, rel=0.02)
    unknown = next(p for p in result.parameters if p.name == f"{name}.coulomb")
    assert unknown.standard_error > coulomb  # and it is said that it is not known

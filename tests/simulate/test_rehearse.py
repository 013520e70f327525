"""Rehearsals: the plan on perturbed robots (K7)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.drive import Friction
from armature.dynamics.recursion import recursive
from armature.optimize.transcription.guess import joint_quintic
from armature.simulate.draws import ModelUncertainty, changed, scaled_masses
from armature.simulate.rehearse import CONTROLLERS, Perturbations, rehearse, torque_limits

ROBOT = arm.library("six_axis")
PLAN = joint_quintic(
    np.zeros(6), np.array([0.8, -0.5, 0.6, 0.3, 0.4, 0.2]), 1.0, joint_names=ROBOT.joint_names
)
NOTHING = Perturbations(mass=0.0, friction=0.0, delay=0.0, noise=0.0, velocity_noise=0.0)


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_without_perturbations_the_plan_is_followed_and_its_energy_is_the_ledgers(controller):
    found = rehearse(ROBOT, PLAN, NOTHING, runs=3, controller=controller)
    assert found.error.max() < 1e-4 and not found.failed.any()
    assert found.energy == pytest.approx(arm.ledger(ROBOT, PLAN).energy, rel=5e-3)


def test_friction_of_a_drive_acts_as_the_same_friction_of_its_joint():
    bare = arm.library("planar2")
    bare = bare.with_friction(dict.fromkeys(bare.joint_names, Friction()))
    motion = joint_quintic(
        np.array([0.3, 0.4]), np.array([0.9, 0.8]), 1.0, joint_names=bare.joint_names
    )
    friction = Friction(viscous=1.5, coulomb=0.8)
    drives = {c.joints[0]: replace(c.drives[0], friction=friction) for c in bare.drives}
    on_drives, on_joints = (
        bare.with_drives(drives),
        bare.with_friction(dict.fromkeys(bare.joint_names, friction)),
    )
    given = Perturbations(friction=0.9)
    for controller in CONTROLLERS:
        a, b = (
            rehearse(robot, motion, given, runs=8, controller=controller)
            for robot in (on_drives, on_joints)
        )
        assert a.energy == pytest.approx(b.energy, rel=1e-9) and a.rms == pytest.approx(
            b.rms, rel=1e-6
        )
        assert a.energy.std() > 0.01 * a.planned_energy  # it counts
    still = rehearse(on_drives, motion, NOTHING, runs=1)
    certificate = arm.optimize.certify(on_drives, motion)
    assert still.error.max() < 1e-4 and still.energy[0] == pytest.approx(
        certificate.energy, rel=5e-3
    )


@pytest.mark.parametrize("controller", CONTROLLERS)
def test_perturbed_robots_follow_within_the_servos_stiffness(controller):
    found = rehearse(ROBOT, PLAN, runs=32, controller=controller)
    assert not found.failed.any() and 1e-5 < found.error.max() < 0.02
    assert found.energy.std() > 0.0 and str(found.runs) in str(found)


def test_stiffer_servo_is_nearer():
    given = Perturbations(delay=0.0, velocity_noise=0.0)
    soft, stiff = (
        rehearse(ROBOT, PLAN, given, runs=16, bandwidth=f).rms.mean() for f in (4.0, 12.0)
    )
    assert stiff < 0.5 * soft


def test_delay_makes_a_stiff_servo_unstable():
    kept, lost = (
        rehearse(
            ROBOT, PLAN, Perturbations(delay=delay, velocity_noise=1e-3), runs=4, bandwidth=40.0
        ).error.max()
        for delay in (0.0, 0.008)
    )
    assert kept < 0.01 < 0.1 < lost


def test_weak_drives_saturate_and_lag():
    weak = ROBOT.with_limits({"lift": {"torque": 45.0}})
    found, free = (
        rehearse(weak, PLAN, Perturbations(saturation=limited), runs=8) for limited in (True, False)
    )
    assert found.saturated.max() > 0.0 == free.saturated.max()
    assert found.error.max() > free.error.max()


def test_masses_act_as_those_of_a_heavier_robot():
    rng = np.random.default_rng(2)
    factors = rng.uniform(0.8, 1.2, len(ROBOT.tree.bodies))
    q, v, tau = rng.uniform(-1, 1, (3, 6))
    bodies = tuple(
        replace(b, mass=b.mass * f, first_moment=b.first_moment * f, inertia=b.inertia * f)
        for b, f in zip(ROBOT.tree.bodies, factors)
    )
    expected = recursive.forward_dynamics(replace(ROBOT.tree, bodies=bodies), q, v, tau)
    differences = scaled_masses(ROBOT, factors[None])[0]
    assert np.allclose(
        np.array(
            recursive.forward_dynamics(changed(ROBOT.tree, differences), q, v, tau), dtype=float
        ),
        expected,
    )
    assert not np.allclose(recursive.forward_dynamics(ROBOT.tree, q, v, tau), expected, rtol=1e-3)


def test_runs_drawn_from_a_covariance_spread_as_the_covariance_says():
    # the first moments of the second body alone are uncertain
    size = 10 * len(ROBOT.tree.bodies)
    covariance = np.zeros((size, size))
    covariance[11:14, 11:14] = np.eye(3) * 0.5**2
    model = ModelUncertainty(covariance, np.zeros(ROBOT.nv))
    bodies, friction = model.draw(ROBOT, 4000, np.random.default_rng(0))
    assert np.std(bodies[:, 11:14], axis=0) == pytest.approx(0.5, rel=0.05) and np.all(
        friction == 1.0
    )
    assert np.count_nonzero(np.abs(bodies).max(axis=0) > 1e-12) == 3
    small, large = (
        rehearse(
            ROBOT,
            PLAN,
            Perturbations(
                0.0, 0.0, 0.0, 0.0, 0.0, model=ModelUncertainty(k * covariance, np.zeros(6))
            ),
            runs=16,
        )
        for k in (1e-4, 1.0)
    )
    assert large.error.max() > 10 * small.error.max()


def test_an_uncertainty_of_another_robot_is_refused():
    with pytest.raises(arm.ArmatureError, match="bodies"):
        rehearse(ROBOT, PLAN, ModelUncertainty(np.eye(20), np.ones(2)), runs=2)


def test_same_seed_same_runs():
    a, b, c = (rehearse(ROBOT, PLAN, runs=4, seed=seed).energy for seed in (1, 1, 2))
    assert np.array_equal(a, b) and not np.allclose(a, c)


def test_a_planned_solution_is_taken_as_it_is():
    robot = arm.library("planar2")
    plan = arm.minimize_energy(robot, arm.Move([-0.5, 0.4], [0.5, -0.4], duration=1.0))
    assert rehearse(robot, plan, runs=8).error.max() < 0.05


def test_torque_limits_are_those_of_the_currents():
    assert np.allclose(torque_limits(arm.library("valasek")), [10.0, 30.0, 20.0])


def test_bad_arguments_are_refused():
    for arguments, words in (
        ({"controller": "magic"}, "controller"),
        ({"runs": 0}, "runs"),
        ({"step": 2.0}, "step"),
    ):
        with pytest.raises(arm.errors.ArgumentError, match=words):
            rehearse(ROBOT, PLAN, **arguments)
    for wrong, words in ((PLAN.q, "takes a Trajectory"), (None, "takes a Trajectory")):
        with pytest.raises(arm.errors.ArgumentError, match=words):
            rehearse(ROBOT, wrong)
    with pytest.raises(arm.errors.ArgumentError, match="noise = 'much'"):
        rehearse(ROBOT, PLAN, {"noise": "much"})
    with pytest.raises(arm.errors.ArgumentError, match=r"runs = 2\.5"):
        rehearse(ROBOT, PLAN, runs=2.5)  # type: ignore[arg-type]
    with pytest.raises(arm.errors.ArgumentError, match="joints"):
        rehearse(arm.library("planar2"), PLAN)
    with pytest.raises(arm.errors.ArgumentError, match="mass"):
        Perturbations(mass=1.5)


def test_perturbations_are_a_mapping_too_and_others_are_refused():
    robot = arm.library("planar2")
    motion = joint_quintic(
        np.array([0.0, 0.5]), np.array([0.5, 0.9]), 1.0, joint_names=robot.joint_names
    )
    named, given = (
        arm.rehearse(robot, motion, p, runs=4)
        for p in (arm.simulation.Perturbations(mass=0.1, noise=0.0), {"mass": 0.1, "noise": 0.0})
    )
    assert np.array_equal(named.error, given.error)
    for wrong in ({"weight": 0.1}, 0.2):
        with pytest.raises(arm.errors.ArgumentError, match="perturbations"):
            arm.rehearse(robot, motion, wrong)

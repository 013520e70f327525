"""Model sanity: placeholder masses, limits of torque below gravity, and stand-in motors that hold
the robot and reach its speeds."""

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.dynamics.forces.stand_in import (
    has_stand_ins,
    lasting_torque,
    peak_torque,
    stand_ins,
    top_speed,
    with_stand_ins,
)
from armature.dynamics.positioning.workspace import (
    doubtful_torque_limits,
    gravity_torques,
    weak_joints,
)
from armature.robot.check import mass_doubt
from armature.robot.model import Joint, Limits, Link, Robot

BALL = (0.1, 0.1, 0.1, 0.0, 0.0, 0.0)


def chain(links, torque=np.inf, velocity=3.0):
    """Links one after the other along x, turning about y: gravity acts on all of them. links:
    (mass, inertia)."""
    bodies = [Link(f"l{k}", m, (0.2, 0.0, 0.0), inertia) for k, (m, inertia) in enumerate(links, 1)]
    joints = [
        Joint(
            f"j{k}",
            "revolute",
            f"l{k - 1}" if k > 1 else "base",
            f"l{k}",
            (0.4 if k > 1 else 0.0, 0.0, 0.0),
            axis=(0.0, 1.0, 0.0),
            limits=Limits(-3.1, 3.1, velocity, torque=torque),
        )
        for k in range(1, len(links) + 1)
    ]
    return Robot("chain", (Link("base"), *bodies), tuple(joints), "base", (0.0, 0.0, -9.81))


def test_placeholder_masses_are_found_and_real_ones_are_not():
    rod = lambda m: (m, (0.001, 0.01 * m, 0.01 * m, 0.0, 0.0, 0.0))
    assert "placeholders" in mass_doubt(chain([(2.0, BALL)] * 4)) and "2 kg" in mass_doubt(
        chain([(2.0, BALL)] * 4)
    )
    assert "placeholders" in mass_doubt(
        chain([(m, (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)) for m in (1.0, 2.0, 3.0)])
    )
    assert "no masses" in mass_doubt(chain([(0.0, (0.0,) * 6)] * 3))
    assert "no masses" in mass_doubt(chain([(0.0, (0.0,) * 6)] * 3).with_payload(2.0, link="l3"))
    assert not mass_doubt(chain([rod(3.0), rod(2.0), rod(1.0)])) and not mass_doubt(
        chain([rod(2.0)] * 4)
    )
    assert not any(mass_doubt(arm.library(name)) for name in arm.library())


def test_torque_limits_below_gravity_are_found_over_the_ranges():
    robot = chain([(3.0, BALL), (2.0, BALL)], torque=12.0)
    stretched = 9.81 * (3.0 * 0.2 + 2.0 * 0.6), 9.81 * 2.0 * 0.2  # N·m, by hand; both joints at 0
    assert gravity_torques(robot) == pytest.approx(stretched, rel=0.03) and np.all(
        gravity_torques(robot) <= stretched
    )
    (weak,) = weak_joints(robot)
    assert weak.joint == "j1" and weak.limit == 12.0 and "limits: {j1: {torque: .inf}}" in str(weak)
    assert not weak_joints(chain([(3.0, BALL), (2.0, BALL)], torque=30.0))


def test_the_remedy_of_a_weak_limit_leads_to_a_plan():
    robot = with_stand_ins(chain([(3.0, BALL)], torque=1.0))
    move = arm.Move([-0.5], [0.6], 1.5)
    assert not arm.minimize_energy(robot, move, "non-regenerative", knots=40).ok
    plan = arm.minimize_energy(
        robot.with_limits({"j1": {"torque": np.inf}}), move, "non-regenerative", knots=40
    )
    assert plan.ok and plan.certificate.ok and "stand-in motors" in str(plan)


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 5.0])
def test_stand_ins_hold_the_robot_reach_its_speed_and_are_not_far_too_strong(scale):
    robot = chain([(scale * m, tuple(scale * x for x in BALL)) for m in (8.0, 4.0, 2.0)])
    hold, drives = gravity_torques(robot), stand_ins(robot)
    for need, drive in zip(hold, drives.values()):
        assert (
            lasting_torque(drive) >= need
            and peak_torque(drive) >= 2 * need
            and top_speed(drive) >= 3.0
        )
        assert peak_torque(drive) <= max(60 * need, 20.0)
    assert has_stand_ins(with_stand_ins(robot)) and not has_stand_ins(robot)


def test_a_lift_with_a_screw_gets_a_motor_that_turns_it_fast_enough():
    """A lift of 20 kg, 0.05 m/s, whose file names 3000 rad of the motor for a metre."""
    limits = Limits(0.0, 0.5, 0.05)
    joint = Joint(
        "lift", "prismatic", "base", "cage", axis=(0.0, 0.0, 1.0), limits=limits, reduction=-3000.0
    )
    robot = Robot(
        "lift",
        (Link("base"), Link("cage", 20.0, (0.0, 0.0, 0.0), BALL)),
        (joint,),
        "base",
        (0.0, 0.0, -9.81),
    )
    (drive,) = stand_ins(robot).values()
    assert not drive.motor.linear and abs(drive.gear.ratio) == 3000.0
    assert top_speed(drive) >= 0.05 and lasting_torque(drive) >= 20.0 * 9.81
    assert arm.minimize_energy(with_stand_ins(robot), arm.Move([0.1], [0.2], 4.0), knots=20).ok


def test_a_placeholder_of_a_velocity_limit_does_not_make_motors_weak():
    """10,000 rad/s is no joint's speed: the motors are those of a robot without a limit, and hold
    it."""
    absurd, unknown = (
        chain([(2.0, BALL), (1.0, BALL)], velocity=velocity) for velocity in (1e4, np.inf)
    )
    assert stand_ins(absurd) == stand_ins(unknown)
    assert all(
        lasting_torque(stand_ins(absurd)[f"j{k + 1}"]) >= gravity_torques(absurd)[k]
        for k in range(2)
    )


def test_a_motor_overcomes_dry_friction_for_long():
    robot = chain([(1.0, BALL)])
    stiff = robot.with_friction({"j1": {"coulomb": 40.0}})
    assert lasting_torque(stand_ins(stiff)["j1"]) >= gravity_torques(robot)[0] + 40.0


def test_a_weak_servo_gets_a_weak_motor():
    robot = chain([(0.1, (1e-4,) * 3 + (0.0,) * 3)], torque=2.94)
    assert peak_torque(stand_ins(robot)["j1"]) < 10.0


def test_stand_ins_reach_the_speed_against_the_friction_of_the_file():
    """50 N·m·s/rad, as a vendor's file has it: what the motor gives at full speed exceeds that."""
    bare = chain([(3.0, BALL), (1.0, BALL)])
    rough = bare.with_friction({"j2": {"viscous": 50.0, "coulomb": 1.0}})
    assert peak_torque(stand_ins(bare)["j2"]) < 3.0 * 50.0 < peak_torque(stand_ins(rough)["j2"])


def test_a_torque_limit_that_is_a_placeholder_on_one_joint_is_one_on_all():
    """1 N·m on every joint, where gravity asks the first for 17 N·m and the last, which is
    vertical, for none."""
    robot = chain([(3.0, BALL), (2.0, BALL), (1.0, BALL)], torque=1.0)
    *joints, last = robot.joints
    robot = replace(robot, joints=(*joints, replace(last, axis=(1.0, 0.0, 0.0))))
    assert {joint.joint for joint in weak_joints(robot)} == {"j1", "j2"}
    assert doubtful_torque_limits(robot) == {"j1", "j2", "j3"}
    assert peak_torque(stand_ins(robot)["j3"]) > 1.0
    assert not doubtful_torque_limits(chain([(3.0, BALL)], torque=100.0))


def test_rotors_and_dry_friction_of_the_file_are_not_counted_twice():
    robot = chain([(3.0, BALL), (2.0, BALL)])
    rotor = arm.robot.Rotor(2e-5, 100.0)
    joints = tuple(
        replace(joint, rotor=rotor, friction=arm.drive.Friction(coulomb=0.4))
        for joint in robot.joints
    )
    measured = replace(robot, joints=joints)
    driven = with_stand_ins(measured)
    q = np.array([0.3, -0.8])
    assert arm.mass_matrix(driven, q) == pytest.approx(arm.mass_matrix(measured, q), rel=1e-12)
    assert all(d.gear.efficiency == 1.0 for c in driven.drives for d in c.drives)
    bare = with_stand_ins(robot)  # a file that knows of neither gets those of the stand-ins
    assert np.all(np.diag(arm.mass_matrix(bare, q)) > np.diag(arm.mass_matrix(robot, q)))
    assert all(d.gear.efficiency < 1.0 for c in bare.drives for d in c.drives)

"""Greatest speeds hold at every instant: a speed lies between the control points of its spline."""

from dataclasses import replace

import numpy as np

import armature as arm
from armature.drive import Coupling, as_supply
from armature.motion.trajectory import Trajectory
from armature.optimize.transcription.move import AT_KNOTS, default_smooth
from armature.optimize.transcription.speeds import Moving
from armature.optimize.transcription.transcribe import At


def moving(robot: arm.Robot) -> Moving:
    return Moving(
        robot, as_supply("regenerative"), True, "simpson", AT_KNOTS, 0, default_smooth(robot)
    )


def with_slow_motor(robot: arm.Robot, joint: str, speed: float) -> arm.Robot:
    """The robot with a motor that allows its joint this speed, rad/s."""
    coupling = next(c for c in robot.drives if c.joints == (joint,))
    drive = coupling.drives[0]
    slow = replace(drive, motor=replace(drive.motor, maximum_speed=abs(drive.gear.ratio) * speed))
    return robot.with_drives({joint: slow})


def test_speeds_lie_between_their_control_points_and_knots_are_means_of_them():
    robot, rng = arm.library("planar2"), np.random.default_rng(0)
    model, h = (
        moving(robot.with_limits({name: {"velocity": 3.0} for name in robot.joint_names})),
        rng.uniform(0.1, 0.4, 12),
    )
    assert [name for name, _, _ in model.speeds] == [
        f"velocity of {name}" for name in robot.joint_names
    ]
    a = rng.normal(size=(13, 2))
    v = np.vstack([np.zeros(2), np.cumsum(h[:, None] * (a[1:] + a[:-1]) / 2, axis=0)])
    motion = Trajectory(
        np.concatenate([[0.0], np.cumsum(h)]),
        0.0 * v,
        v,
        a,
        robot.joint_names,
        interpolation="linear",
    )
    at = [At(*(np.zeros(2), v[k], a[k]), *[np.zeros(2)] * 6) for k in range(13)]
    c = np.array([model.between(at[k], at[k + 1], h[k]) for k in range(12)])
    mean = (h[1:, None] * c[:-1] + h[:-1, None] * c[1:]) / (h[1:] + h[:-1])[:, None]
    assert np.abs(mean - v[1:-1]).max() < 1e-12
    for k in range(12):
        inside = motion(np.linspace(motion.t[k], motion.t[k + 1], 101)).v
        hull = np.array([v[k], c[k], v[k + 1]])
        assert np.all(inside <= hull.max(0) + 1e-12) and np.all(inside >= hull.min(0) - 1e-12)


def test_the_slower_of_joint_and_motor_is_kept_at_every_instant_by_one_solve():
    robot = arm.library("planar2")
    joint = robot.joint_names[1]
    slow = with_slow_motor(robot, joint, 1.15)
    assert f"motor speed of {joint}" in names(slow) and f"motor speed of {joint}" not in names(
        robot
    )
    plan = arm.minimize_energy(slow, arm.Move([0.3, 0.2], [0.8, 1.2], 1.0))
    assert (
        plan.certificate.ok
        and not any("between" in note for note in plan.notes)
        and len(plan.trajectory) == 101
    )
    fastest = np.abs(plan.trajectory(np.linspace(0.0, 1.0, 4001)).v[:, 1]).max()
    assert 0.999 * 1.15 < fastest <= 1.15 * (1 + 1e-6)


def test_a_motor_that_moves_two_joints_limits_the_sum_of_their_speeds():
    robot = arm.library("planar2")
    drives = [
        replace(c.drives[0], motor=replace(c.drives[0].motor, maximum_speed=300.0))
        for c in robot.drives
    ]
    both = replace(
        robot, drives=(Coupling(robot.joint_names, tuple(drives), ((1.0, 1.0), (0.5, -1.0))),)
    )
    coupled = [
        (factors, bound)
        for name, factors, bound in moving(both).speeds
        if name.startswith("motor speed")
    ]
    ratios = [drive.gear.ratio for drive in drives]
    assert coupled == [
        ({0: ratios[0], 1: ratios[0]}, 300.0),
        ({0: 0.5 * ratios[1], 1: -ratios[1]}, 300.0),
    ]


def names(robot: arm.Robot) -> list[str]:
    return [name for name, _, _ in moving(robot).speeds]

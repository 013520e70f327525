"""Least times where joints turn, where drives are weak and where limits are small numbers: the exact laws decide, in any units."""

from dataclasses import replace

import pytest

import armature as arm
from armature.drive import Friction
from armature.robot.model import Robot

MOVE = arm.Move([0.3, -1.0], [1.4, 0.8], via=[[0.2, -0.2]])


def lossy(mass: float = 1.0, turns: float = 1.0) -> Robot:
    """A two-joint arm with gears that lose a quarter. mass: of arm and rotors, and what the drives give, as parts of the first ones.
    turns: of the windings, as parts of the first ones, with the voltage that this asks for."""
    robot, drives = arm.library("planar2"), {}
    for name, drive in zip(robot.joint_names, robot.drivetrain.drives):
        m, current = drive.motor, mass / turns
        peak = min(drive.motor.peak_current, drive.amplifier.peak_current)
        motor = arm.Motor(
            resistance=m.resistance * turns**2 / mass, torque_constant=m.torque_constant * turns, inertia=mass * m.inertia,
            peak_current=0.5 * peak * current, continuous_current=0.3 * peak * current,
        )  # fmt: skip
        amplifier = arm.Amplifier(drive.amplifier.voltage * turns)
        drives[name] = arm.Drive(motor, arm.Gear(drive.gear.ratio, 0.75), amplifier, Friction(coulomb=0.3 * mass))
    links = tuple(replace(link, mass=mass * link.mass, inertia=tuple(mass * x for x in link.inertia)) for link in robot.links)
    joints = tuple(replace(j, friction=replace(j.friction, viscous=mass * j.friction.viscous)) for j in robot.joints)
    return replace(robot, links=links, joints=joints, drives=()).with_drives(drives)


@pytest.fixture(scope="module")
def least() -> arm.Solution:
    return arm.minimize_time(lossy(), MOVE)


@pytest.mark.parametrize("mass, turns", [(1.0, 1e3), (1e-4, 1.0)], ids=["windings", "masses"])
def test_the_least_time_depends_neither_on_windings_nor_on_the_size_of_masses_and_drives(least: arm.Solution, mass: float, turns: float):
    """K → cK, R → c²R, V → cV, i → i/c is the same motor wound otherwise; m → cm, i → ci, R → R/c has the same motions."""
    other = arm.minimize_time(lossy(mass, turns), MOVE)
    assert other.ok and other.certificate.ok
    assert other.duration == pytest.approx(least.duration, rel=1e-3)

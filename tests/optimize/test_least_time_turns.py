"""Least times where joints turn, where drives are weak and where limits are small numbers: the exact laws decide, in any units."""

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.drive import Friction
from armature.optimize.planner import mend
from armature.optimize.planner.ladder import kept, sharpened
from armature.optimize.moves.least_time import branches, free_problem
from armature.optimize.planner.plan import Planner
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.loop_move import move_problem
from armature.optimize.transcription.move import MoveProblem
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
    friction = lambda j: replace(j.friction, viscous=mass * j.friction.viscous)
    limits = lambda j: replace(j.limits, torque=mass * j.limits.torque)
    joints = tuple(replace(j, friction=friction(j), limits=limits(j)) for j in robot.joints)
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


def test_joints_turn_at_knots_where_the_laws_of_both_sides_hold(monkeypatch: pytest.MonkeyPatch):
    """Where a loaded joint turns, its gear begins to drive, and the current jumps by 1/η² between two knots that both keep its limit."""
    robot = lossy().with_payload(2.0)
    drives = zip(robot.joint_names, robot.drivetrain.drives)
    worse = {name: replace(d, gear=arm.Gear(d.gear.ratio, 0.6), amplifier=arm.Amplifier(120.0)) for name, d in drives}
    robot = replace(robot, drives=()).with_drives(worse)
    free = free_problem(move_problem(robot, arm.Move([-0.3, 1.3], [0.17, -0.78]), "regenerative", 100, free=True))
    planner = Planner(Weights(time=1.0), Options(tolerance=1e-5, iterations=100))
    low = sharpened(planner, free, branches(planner, replace(free, N=50), None, 1), 1.0)
    assert low is not None and -low.margins[0].fraction > 0.1
    best, notes = mend.mended(planner, low)
    assert kept(best) and any("turn at knots" in note for note in notes)
    v = best.motion.v
    assert np.all(v[1:] * v[:-1] > -1e-9) and np.any(v[2:] * v[:-2] < 0.0)
    monkeypatch.setattr(mend, "turned_problem", lambda best: (best.problem, ""))
    drawn_in, _ = mend.mended(planner, low)
    assert best.motion.duration < drawn_in.motion.duration or not kept(drawn_in)


def test_who_turns_or_stops_at_a_knot_slows_down_before_it_and_speeds_up_after_it():
    task = MoveProblem(lossy(), arm.Move([0.0, 0.0], [0.0, 1.0], 1.0), "regenerative", 10)
    way = np.where(np.arange(10)[:, None] < 5, [1.0, 1.0], [-1.0, 1.0])
    low, high = replace(task, directions=way, outset=(0, 1)).problem(Weights(time=1.0)).x
    assert low[5, 2] == high[5, 2] == 0.0 and high[5, 4] == 0.0 and low[5, 4] < 0.0
    assert low[0, 4] == 0.0 < high[0, 4] and low[10, 4] == 0.0 < high[10, 4]
    assert low[5, 3] > 0.0 and low[5, 5] < 0.0 < high[5, 5]

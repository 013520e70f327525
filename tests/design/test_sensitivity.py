"""Sensitivities of plans: against closed forms, re-solved differences and plans made again."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from axis import LOAD, ROTOR, T, axis, least_losses
from benchmarks.sensitivity import compared_plan, error

import armature as arm
from armature.design.free import as_flexible
from armature.design.sensitivity import optimum_of
from armature.drive import Amplifier, Drive, Friction, Gear, Motor
from armature.errors import ArgumentError
from armature.robot.model import Joint, Link, Robot

MOVE = arm.Move([0.0], [1.0], T, smoothness=0.0)


def slope(function, x, step=1e-5):
    """Central difference."""
    return (function(x * (1 + step)) - function(x * (1 - step))) / (2 * step * x)


@pytest.mark.parametrize(("viscous", "coulomb"), [(0.0, 0.0), (0.8, 0.0), (0.3, 2.0)])
def test_least_losses_of_an_axis_change_as_their_closed_form_does(viscous, coulomb):
    plan = arm.minimize_energy(axis(viscous=viscous, coulomb=coulomb), MOVE)
    friction = {"viscous": viscous, "coulomb": coulomb}
    expected = {
        "gear ratio of j": slope(lambda x: least_losses(x, **friction), 30.0),
        "inertia of load": LOAD * slope(lambda x: least_losses(30.0, load=x, **friction), LOAD),
    }
    if viscous:
        expected["viscous friction of j"] = slope(
            lambda x: least_losses(30.0, viscous=x, coulomb=coulomb), viscous
        )
    if coulomb:
        expected["Coulomb friction of j"] = slope(
            lambda x: least_losses(30.0, viscous=viscous, coulomb=x), coulomb
        )
    for name, value in expected.items():
        assert plan.sensitivity(name).derivative == pytest.approx(value, rel=2e-3), name


def test_least_time_of_an_axis_changes_as_its_closed_form_does():
    """Full torque forth and back: T = 2 √(I x/τ)."""
    plan = arm.minimize_time(axis(torque=20.0), arm.Move([0.0], [1.0]))
    inertia = LOAD + ROTOR * 900.0
    torque, load = (plan.sensitivity(name) for name in ("torque limit of j", "inertia of load"))
    assert torque.of == "time"
    assert torque.elasticity == pytest.approx(-0.5, rel=0.01)
    assert load.elasticity == pytest.approx(0.5 * LOAD / inertia, rel=0.01)
    assert torque.sentence() == "torque limit of j 10 % higher saves about 5 % of the duration"


@pytest.mark.parametrize("number", range(4))
def test_sensitivities_of_random_arms_equal_resolved_differences(number):
    """`python -m benchmarks sensitivity` does so for 20 arms of up to three axes."""
    robot, rng = random_arm(number)
    move = arm.Move(*rng.uniform(-1.0, 1.0, (2, 2)), smoothness=0.0, floor=None)
    timed, supply = number == 3, "non-regenerative"
    plan = (
        arm.minimize_time(robot, move)
        if timed
        else arm.minimize_energy(robot, replace(move, duration=0.7), supply)
    )
    compiled = {"length", "friction"} if timed else set()  # constants of kernels: seconds each
    found = [x for x in compared_plan(plan, without=compiled) if abs(x.told) > 5e-3]
    assert len(found) >= 7
    assert max(error(x.told, x.resolved) for x in found) < 0.01, found


def random_arm(number):
    """Two axes under gravity with random masses and drives, whose numbers are parameters of the
    kernels: all arms, and changed ones, compile once."""
    rng = np.random.default_rng(number)
    some = lambda x: float(x * rng.uniform(0.6, 1.6))
    drives = {
        name: Drive(
            Motor(some(0.6), some(0.08), inertia=some(1e-4), peak_current=some(18.0)),
            Gear(ratio=some(70.0), efficiency=float(rng.uniform(0.7, 0.95))),
            Amplifier(voltage=some(50.0)),
            Friction(viscous=0.5, coulomb=1.0),
        )
        for name in ("joint1", "joint2")
    }
    robot = arm.library("planar2")
    drives = dict(zip(robot.joint_names, drives.values()))
    links = (replace(x, mass=some(x.mass)) for x in robot.links)
    robot = replace(robot, links=tuple(links)).with_payload(some(0.5))
    return as_flexible(robot.with_drives(drives)), rng


def two_axes():
    """A planar arm under gravity with friction, lossy gears and limits."""
    drive = Drive(
        Motor(0.6, 0.08, inertia=1e-4, peak_current=25.0),
        Gear(ratio=80.0, efficiency=0.85),
        Amplifier(voltage=48.0),
        Friction(viscous=0.5, coulomb=1.0),
    )
    library = arm.library("planar2")
    return library.with_drives(dict.fromkeys(library.joint_names, drive))


def test_energy_and_losses_differ_by_what_is_stored():
    robot = two_axes()
    move = arm.Move([0.2, 0.3], [1.0, -0.4], 1.0, smoothness=0.0, floor=None)
    plan = arm.minimize_energy(robot, move)
    energy, losses = (plan.sensitivity("payload", of=of) for of in ("energy", "losses"))
    heights = [arm.pose(robot, q, robot.tip).p[2] for q in (move.start, move.goal)]
    stored = 9.81 * (heights[1] - heights[0])
    assert energy.derivative - losses.derivative == pytest.approx(stored, rel=1e-6)


def test_planning_again_with_a_payload_costs_what_the_sensitivity_says():
    robot = two_axes().with_payload(0.5)
    move = arm.Move([0.2, 0.3], [1.0, -0.4], 1.2, smoothness=0.0, floor=None)
    plan, *others = (
        arm.minimize_energy(robot.with_payload(more), move, "non-regenerative")
        for more in (0.0, 0.02, 0.04)
    )
    quotient = (-others[1].energy + 4 * others[0].energy - 3 * plan.energy) / 0.04
    assert plan.sensitivity("payload").derivative == pytest.approx(quotient, rel=0.02)


def test_the_joints_of_a_pose_follow_the_robot():
    """The hand's pose is the task. With the base moved, planned again: inverse kinematics finds
    other joint coordinates."""
    drive = Drive(Motor(0.6, 0.08, inertia=1e-4), Gear(ratio=80.0))
    links = [Link("base"), *(Link(f"l{k}", 2.0, (0.2, 0.0, 0.0)) for k in range(3))]
    joints = [
        Joint(
            f"j{k}", "revolute", links[k].name, f"l{k}", (0.4 * bool(k), 0.0, 0.0), axis=(0, 1, 0)
        )
        for k in range(3)
    ]
    robot = Robot("planar3", tuple(links), tuple(joints), "base")
    robot = robot.with_drives({joint.name: drive for joint in joints}).with_tool((0.4, 0.0, 0.0))
    q = np.array([-0.4, 1.0, -0.5])
    start, (R, p) = [0.3, 0.2, 0.4], arm.pose(robot, q, robot.tip)
    move = arm.Move(start, (R, p), 1.0, smoothness=0.0, posture=q, floor=None)
    plan = arm.minimize_energy(robot, move)
    number = arm.design.parameter(robot, "base x")
    low, high = (arm.minimize_energy(number.change(robot, x), move).losses for x in (-5e-3, 5e-3))
    found = plan.sensitivity(number).derivative
    assert abs(found) > 0.1 * plan.losses
    assert found == pytest.approx((high - low) / 0.01, rel=0.01)
    held = arm.minimize_energy(robot, replace(move, goal=plan.trajectory.q[-1]))
    assert held.sensitivity(number).derivative == pytest.approx(0.0, abs=1e-6 * abs(found))


def test_a_plan_travels_with_its_sensitivities():
    plan = arm.minimize_energy(axis(), MOVE)
    there = pickle.loads(pickle.dumps(plan))
    assert there.sensitivity("gear ratio of j") == plan.sensitivity("gear ratio of j")


def test_the_weight_on_jerk_is_held():
    """A smooth plan's cost is energy and jerk: the derivative is that of both, the weight held."""
    robot, name = two_axes(), "payload"
    plan = arm.minimize_energy(robot, arm.Move([0.2, 0.3], [1.0, -0.4], 1.0, floor=None))
    optimum, number = optimum_of(plan), arm.design.parameter(plan.robot, name)
    assert optimum.jerk_weight > 0.0
    costs = [
        optimum.solved(number.change(plan.robot, more), optimum.problem.move).result.cost
        for more in (0.0, 2e-3, 4e-3)
    ]
    quotient = (-costs[2] + 4 * costs[1] - 3 * costs[0]) / 4e-3
    assert plan.sensitivity(name).derivative == pytest.approx(quotient, rel=1e-3)


def test_what_has_no_sensitivity_says_why():
    plan = arm.minimize_energy(axis(), MOVE)
    with pytest.raises(ArgumentError, match="did you mean 'gear ratio of j'"):
        plan.sensitivity("gear ratio of k")
    with pytest.raises(ArgumentError, match="not what was minimised; choose energy or losses"):
        plan.sensitivity("payload", of="time")
    turned = arm.design.Parameter("gravity", 9.81, lambda r, g: r.with_gravity((0, 0, -g)))
    with pytest.raises(ArgumentError, match="gravity, couplings"):
        plan.sensitivity(turned)
    refused = arm.minimize_energy(axis(torque=20.0), arm.Move([0.0], [1.0], 0.1))
    with pytest.raises(ArgumentError, match="no plan to differentiate"):
        refused.sensitivity("payload")


def test_the_table_is_sorted_and_found_by_name():
    table = arm.minimize_energy(axis(coulomb=1.0), MOVE).sensitivities()
    sizes = [abs(row.elasticity) for row in table if row.parameter != "payload"]
    assert sizes == sorted(sizes, reverse=True)
    assert table["resistance of j"].elasticity > 0.0
    assert "resistance of j = 0.8 Ω" in str(table)

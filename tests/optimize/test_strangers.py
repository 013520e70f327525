"""Moves and robots that were drawn as a stranger would: what went wrong with them once."""

import numpy as np
import pytest

import armature as arm


def strong_arm():
    """Two rods with motors that reach the joints' greatest speeds in a few hundredths of a
    second."""
    upper = arm.Link("a", 2.0, (0, 0, 0.2), (0.03, 0.03, 1e-3, 0, 0, 0))
    links = arm.Link("base"), upper, arm.Link("b", 1.0, (0, 0, 0.15), (0.01, 0.01, 1e-3, 0, 0, 0))
    turning = {"kind": "revolute", "axis": (0, 1, 0)}
    joints = [
        arm.Joint("s", parent="base", child="a", limits=arm.Limits(-3.0, 3.0, 2.0), **turning),
        arm.Joint(
            "e",
            parent="a",
            child="b",
            position=(0, 0, 0.4),
            limits=arm.Limits(-3.0, 3.0, 3.0),
            **turning,
        ),
    ]
    drive = arm.Drive(
        arm.Motor(resistance=0.5, torque_constant=0.1, peak_current=20.0),
        arm.Gear(60.0),
        arm.Amplifier(100.0),
    )
    return arm.Robot("strong", links, tuple(joints), "base", (0.0, 0.0, -9.81)).with_drives(
        {"s": drive, "e": drive}
    )


def test_motions_at_their_greatest_speed_do_not_zigzag_around_it():
    # 0.9066 s is the least time; with limits at knots only, an acceleration at the greatest speed
    # is followed by its opposite
    plan = arm.minimize_energy(strong_arm(), arm.Move([-0.8, 1.0], [1.0, -1.2], 1.01 * 0.9066))
    motion = plan.trajectory
    assert plan.certificate.ok and not plan.notes and len(motion) == 101
    fine = np.abs(motion(np.linspace(0.0, motion.duration, 5001)).v)
    assert (
        np.all(fine.max(0) <= np.array([2.0, 3.0]) * (1 + 1e-6)) and fine[:, 1].max() > 0.9999 * 3.0
    )
    running = np.abs(motion.v[:, 1]) > 0.997 * 3.0
    inside = running[:-2] & running[1:-1] & running[2:]
    assert (
        inside.sum() > 10
        and np.abs(motion.a[1:-1, 1][inside]).max() < 0.02 * np.abs(motion.a[:, 1]).max()
    )


@pytest.mark.parametrize("knots", ["regenerative", 50.5, None])
def test_what_is_no_number_of_knots_is_told(knots):
    with pytest.raises(arm.ArgumentError, match="must be a whole number"):
        arm.minimize_time(strong_arm(), arm.Move([0.0, 0.0], [0.5, 0.5]), knots)


def test_a_lossy_gear_that_turns_back_at_full_current_is_held_back_where_it_turns_only():
    # braking, the gear's losses help; once it has turned they hinder: the current jumps by 1/(0.7 ·
    # 0.5) between two knots
    gear = arm.Gear(50.0, 0.7, efficiency_back=0.5)
    turn = arm.Drive(
        arm.Motor(resistance=1.0, torque_constant=0.05, peak_current=2.0), gear, arm.Amplifier(48.0)
    )
    limits = arm.Limits(-3.0, 3.0)
    link = arm.Link("a", 4.0, (0.3, 0, 0), (0.01, 0.05, 0.05, 0, 0, 0))
    joint = arm.Joint("turn", "revolute", "base", "a", axis=(0, 0, 1), limits=limits)
    robot = arm.Robot(
        "turntable", (arm.Link("base"), link), (joint,), "base", (0.0, 0.0, -9.81)
    ).with_drives({"turn": turn})
    # 1.42 s is the least time; the limit drawn in for the whole motion cost 2.9 J, with four times
    # the knots
    plan = arm.minimize_energy(robot, arm.Move([0.0], [0.0], 1.7, via=[[1.0]], smoothness=0.0))
    assert plan.certificate.ok, str(plan.certificate)
    assert plan.energy < 2.0 and len(plan.trajectory) == 101


def test_a_lossy_gear_sets_out_with_the_current_of_the_side_to_which_it_turns():
    # at standstill the rounded law takes the mean of driving and driven: 20 % less current than the
    # motor needs to set out
    turn = arm.Drive(
        arm.Motor(resistance=1.0, torque_constant=0.05, peak_current=2.0),
        arm.Gear(50.0, 0.7, efficiency_back=0.5),
    )
    link = arm.Link("a", 4.0, (0.3, 0, 0), (0.01, 0.05, 0.05, 0, 0, 0))
    joint = arm.Joint("turn", "revolute", "base", "a", axis=(0, 0, 1), limits=arm.Limits(-3.0, 3.0))
    robot = arm.Robot(
        "turntable", (arm.Link("base"), link), (joint,), "base", (0.0, 0.0, -9.81)
    ).with_drives({"turn": turn})
    plan = arm.minimize_energy(robot, arm.Move([0.0], [1.0], 0.82))
    assert plan.certificate.ok, str(plan.certificate)
    assert plan.energy < 1.08 and len(plan.trajectory) == 101


@pytest.mark.parametrize(("factor", "stop"), [(1.01, False), (1.05, True), (1.2, False)])
def test_a_light_joint_with_much_friction_keeps_its_torque_between_knots(factor, stop):
    # inertia / friction = 0.2 ms, a tenth of a step: accelerations zigzag from knot to knot, and
    # more knots do so faster
    link = arm.Link("a", 0.05, (0, 0, 0.05), (2e-5, 2e-5, 2e-5, 0, 0, 0))
    limits, friction = arm.Limits(-3.0, 3.0, torque=0.3), arm.Friction(viscous=0.1, coulomb=0.05)
    joint = arm.Joint(
        "turn", "revolute", "base", "a", axis=(0, 0, 1), limits=limits, friction=friction
    )
    drive = arm.Drive(
        arm.Motor(resistance=1.0, torque_constant=0.01), arm.Gear(30.0, 0.8), arm.Amplifier(24.0)
    )
    robot = arm.Robot(
        "light", (arm.Link("base"), link), (joint,), "base", (0.0, 0.0, -9.81)
    ).with_drives({"turn": drive})
    T = 0.6107 * factor  # the least time, without a stop
    plan = arm.minimize_energy(
        robot,
        arm.Move([0.0], [1.5], T, via=[arm.Via([0.75], T / 2, 0.0)] if stop else ()),
        "non-regenerative",
    )
    assert plan.certificate.ok, str(plan.certificate)
    # at constant speed friction and copper take the least that is possible: (I²R + (μ + d v) v/η)
    # T, I = (μ + d v)/(η n K)
    drag = 0.05 + 0.1 * 1.5 / T
    least = ((drag / (0.8 * 30.0 * 0.01)) ** 2 + drag * 1.5 / T / 0.8) * T
    assert least < plan.energy < (1.1 if stop else 1.02) * least


def test_the_joint_cubic_stops_where_the_task_stops():
    stop = arm.Via([0.2, 0.3], at=0.9, velocity=0.0)
    robot = strong_arm().with_friction({"e": {"viscous": 1.0}})
    plan = arm.minimize_energy(
        robot, arm.Move([-0.8, 1.0], [1.0, -1.2], 2.0, via=[[-0.4, 0.6], stop])
    )
    cubic = plan.baseline.trajectory
    k = int(np.abs(cubic.t - 0.9).argmin())
    assert np.abs(cubic.q[k] - [0.2, 0.3]).max() < 1e-9 and np.abs(cubic.v[k]).max() < 1e-9
    assert plan.certificate.ok and plan.energy < plan.baseline.ledger.energy


def test_the_certificate_does_not_count_its_own_table_of_currents():
    # where a joint with dry friction sets out, its current jumps: for half a row of the table it is
    # wrong
    limits = {"s": {"acceleration": 20.0}, "e": {"acceleration": 40.0}}
    robot = strong_arm().with_friction({"e": {"coulomb": 1.0}}).with_limits(limits)
    plan = arm.minimize_energy(robot, arm.Move([-0.8, 1.0], [1.0, 1.15], 1.2), "non-regenerative")
    assert (
        plan.certificate.ok and plan.certificate.tracking_error < 1e-4
    )  # 1.6e-4 with 40 rows between knots

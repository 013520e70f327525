"""The certificate at every instant: what a grid of instants misses is found, what is proved holds
on any finer grid."""

import numpy as np
import pytest

import armature as arm
from armature.drive import Amplifier, Drive, EfficiencyTable, Friction, Gear, Motor
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.arrival import Target, arrival
from armature.optimize.certificate.margins import margins, proved_margins
from armature.optimize.certificate.prove import prove
from armature.optimize.certificate.rows import ALLOWED, Label, Table
from armature.simulate.pieces import pieces

ROBOT = arm.library("planar2").with_friction(
    {"shoulder": {"viscous": 0.0}, "elbow": {"viscous": 0.0}}
)
TURN = 0.03 + 0.5  # s, where the elbow turns; knots lie at multiples of 0.05 s


def swing(robot, knots=20, sizes=(0.2, 0.3)):
    """A motion whose elbow turns inside a step."""
    t, w = np.linspace(0.0, 1.0, knots + 1), np.array([2.0, 2 * np.pi])
    phase = w * (t[:, None] - [0.0, 0.03])
    q = sizes * np.stack([np.sin(phase[:, 0]), np.cos(phase[:, 1])], 1)
    v = sizes * w * np.stack([np.cos(phase[:, 0]), -np.sin(phase[:, 1])], 1)
    return Trajectory(t, q, v, -w * w * q, robot.joint_names)


def driven(robot=ROBOT, peak=np.inf, gear=None, **friction):
    """The robot with one kind of drive on each joint."""
    motor = Motor(1.0, 0.1, inertia=1e-5, peak_current=peak)
    drive = Drive(motor, gear or Gear(50.0), Amplifier(48.0), Friction(**friction))
    return robot.with_drives(dict.fromkeys(robot.joint_names, drive))


def dense_current(robot, motion, near, width, count=200_001):
    """Largest |current| of the elbow on a fine grid about a time, by the plain law."""
    t = np.linspace(near - width, near + width, count)
    q, v, a = motion(t)
    flow = robot.drivetrain.flow(np.asarray(arm.inverse_dynamics(robot, q, v, a)), v, a)[1]
    return float(np.max(np.abs(flow.current)))


def test_a_friction_peak_between_grid_points_is_found_with_its_instant():
    sticky = {"viscous": 0.5, "coulomb": 1.0, "stiction": 12.0, "stribeck_velocity": 0.01}
    free = driven(**sticky)
    motion = swing(free)
    peak = dense_current(free, motion, TURN, 1e-3)
    away = np.linspace(0.0, 1.0, 401)
    away = away[np.abs(away - TURN) > 1e-9]
    on_a_grid = free.drivetrain.flow(
        np.asarray(arm.inverse_dynamics(free, *motion(away))), *motion(away)[1:]
    )[1].current
    limit = (peak + float(np.max(np.abs(on_a_grid)))) / 2
    assert float(np.max(np.abs(on_a_grid))) < 0.9 * peak  # 20 instants in every step do not see it
    found, proof = proved_margins(driven(peak=limit, **sticky), motion)
    worst = found["elbow"]["peak current"]
    assert worst.fraction < -ALLOWED and worst.time == pytest.approx(TURN, abs=1e-4)
    assert worst.value == pytest.approx(peak, rel=1e-4) and proof.proved
    certificate = arm.certify(driven(peak=limit, **sticky), motion)
    assert not certificate.ok and f"{worst.time:.2f}" in str(certificate)


@pytest.mark.parametrize(
    "gear",
    [
        Gear(50.0, 0.7),
        Gear(50.0, EfficiencyTable((0.0, 100.0), (0.0, 20.0), ((0.5, 0.7), (0.6, 0.9)))),
    ],
)
def test_what_is_proved_holds_on_a_fine_grid_and_needs_few_instants(gear):
    free = driven(
        gear=gear, viscous=0.2, coulomb=0.5, stiction=1.0, stribeck_velocity=0.1, load=0.05
    )
    motion = swing(free)
    worst = dense_current(free, motion, 0.5, 0.5, 400_001)
    for limit, kept in ((1.002 * worst, True), (0.99 * worst, False)):
        robot = driven(
            gear=gear,
            peak=limit,
            viscous=0.2,
            coulomb=0.5,
            stiction=1.0,
            stribeck_velocity=0.1,
            load=0.05,
        )
        found, proof = proved_margins(robot, motion)
        assert proof.proved and proof.instants < 20_000
        assert (found["elbow"]["peak current"].fraction >= -ALLOWED) == kept


def test_the_same_friction_counts_the_same_in_a_joint_and_in_its_drive():
    law = {"viscous": 0.4, "coulomb": 2.0}
    inside = driven(**law).with_limits({"elbow": {"torque": 20.0}})
    outside = (
        driven()
        .with_friction(dict.fromkeys(ROBOT.joint_names, law))
        .with_limits({"elbow": {"torque": 20.0}})
    )
    plain = driven().with_limits({"elbow": {"torque": 20.0}})
    found = [margins(robot, swing(robot))["elbow"]["torque"] for robot in (inside, outside, plain)]
    assert found[0].value == pytest.approx(found[1].value, rel=1e-12)
    assert found[0].value > found[2].value + 1.5  # and it counts


def test_positions_and_their_derivatives_are_exact_between_knots():
    robot = driven().with_limits({"elbow": {"jerk": 1e3, "acceleration": 100.0, "velocity": 5.0}})
    motion = swing(robot, knots=8)
    found, t = margins(robot, motion, 1)["elbow"], np.linspace(0.0, 1.0, 2_000_001)
    q, v, a = motion(t)
    assert found["upper end of its range"].value == pytest.approx(q[:, 1].max(), rel=1e-10)
    assert found["velocity"].value == pytest.approx(np.abs(v[:, 1]).max(), rel=1e-10)
    assert found["acceleration"].value == pytest.approx(np.abs(a[:, 1]).max(), rel=1e-10)


def test_torque_rates_are_those_of_the_torques_between_knots():
    robot = driven().with_limits({name: {"torque_rate": 1e4} for name in ROBOT.joint_names})
    motion = swing(robot)
    t = np.linspace(1e-6, 1.0 - 1e-6, 100_001)
    tau = np.asarray(arm.inverse_dynamics(robot, *motion(t)))
    slopes = np.abs(np.diff(tau, axis=0) / np.diff(t)[:, None]).max(0)
    found, proof = proved_margins(robot, motion)
    for name, slope in zip(robot.joint_names, slopes):
        assert found[name]["torque rate"].value == pytest.approx(slope, rel=1e-3)
    assert proof.proved


def test_a_row_of_ones_own_is_divided_until_it_is_proved_or_exceeded():
    """A spike 1e-4 s wide between grid points: a bound of its slope is all that the prover
    knows."""
    cut = pieces(ROBOT, swing(ROBOT))
    spike = lambda t: np.maximum(0.0, 1.0 - np.abs(t - 0.4321) / 1e-4)

    def source(bound):
        def rows(points):
            rise = lambda: 1e4 * np.diff(points.x)[:, None] * cut.h[points.step[:-1], None] / 2
            return Table(
                [Label("tool", "height", bound, "m", bound)], spike(points.t)[:, None], rise
            )

        return rows

    proofs = [prove(cut, [source(bound)], cut.points(20)) for bound in (1.1, 0.5)]
    assert all(proof.proved for proof in proofs)
    assert proofs[0].margins[0].fraction >= -ALLOWED
    assert (
        proofs[1].margins[0].fraction < -ALLOWED and abs(proofs[1].margins[0].time - 0.4321) < 1e-4
    )


def test_arrival_is_part_of_the_certificate():
    robot = driven()
    plan = arm.minimize_energy(
        robot, arm.Move([0.0, 0.0], [0.5, 0.3], duration=0.8, via=[arm.Via([0.2, 0.3], at=0.4)])
    )
    names = {m.limit for row in plan.certificate.margins.values() for m in row.values()}
    assert {
        "distance from the goal",
        "distance from the via point 1",
        "difference from the velocity at the goal",
    } <= names
    assert plan.certificate.ok
    beside = Target("goal", plan.duration, plan.trajectory.q[-1] + [2e-6, 0.0])
    missed = arm.certify(robot, plan.trajectory, targets=[beside])
    assert (
        not missed.ok
        and missed.worst.limit == "distance from the goal"
        and missed.worst.joint == robot.joint_names[0]
    )
    assert (
        arrival(
            robot, plan.trajectory, [Target("goal", plan.duration, velocity=np.array([1e-5, 0.0]))]
        )[0].fraction
        < 0
    )


def test_self_locking_gears_are_certified():
    robot = driven(gear=Gear(50.0, 0.6, efficiency_back=0.0))
    plan = arm.minimize_energy(robot, arm.Move([0.0, 0.0], [0.8, 0.5], duration=1.0))
    assert plan.ok and plan.certificate.ok and "self-locking" in str(plan.certificate)


def test_certificate_and_ledger_count_the_same_energy_on_slow_motions():
    robot = driven(viscous=0.1, coulomb=1.0)
    t = np.linspace(0.0, 300.0, 101)
    x = t / 300.0
    shape = (
        10 * x**3 - 15 * x**4 + 6 * x**5,
        (30 * x**2 - 60 * x**3 + 30 * x**4) / 300,
        (60 * x - 180 * x**2 + 120 * x**3) / 300**2,
    )
    motion = Trajectory(t, *(y[:, None] * [0.5, 0.4] for y in shape), robot.joint_names)
    certificate, book = arm.certify(robot, motion), arm.ledger(robot, motion)
    assert certificate.energy == pytest.approx(book.energy, abs=1e-2 * book.throughput)

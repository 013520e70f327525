"""All durations of a geometric motion (K6): closed forms, and the laws themselves tried duration by
duration."""

from __future__ import annotations

import numpy as np
import pytest

from armature.drive import Amplifier, Drive, EfficiencyTable, Friction, Gear, Motor
from armature.dynamics.compiled import inverse_dynamics
from armature.errors import ArgumentError
from armature.motion.shapes import joint_path
from armature.motion.trajectory import Trajectory
from armature.optimize.scaling.polynomial_sets import Forbidden, gaps, positive, roots
from armature.optimize.scaling.time_scaling import time_scaling
from armature.optimize.transcription.guess import (
    joint_cubic,
    joint_quintic,
    joint_trapezoid,
    stretched,
    through,
)
from armature.robot.bounds import bounds
from armature.robot.library import library
from armature.robot.model import Joint, Limits, Link, Robot

NO_FRICTION = Friction()


def slider(**limits: float) -> Robot:
    """A mass of 2 kg on a vertical slide."""
    return Robot(
        "slider",
        (Link("base"), Link("mass", 2.0)),
        (Joint("z", "prismatic", "base", "mass", limits=Limits(**limits)),),
        "base",
    )


def turntable(inertia: float = 0.5, **limits: float) -> Robot:
    """A disc about a vertical axis: no gravity."""
    links = Link("base"), Link("disc", 1.0, inertia=(inertia, inertia, inertia, 0.0, 0.0, 0.0))
    return Robot(
        "turntable",
        links,
        (Joint("turn", "continuous", "base", "disc", limits=Limits(**limits)),),
        "base",
    )


def worst_margin(robot: Robot, motion: Trajectory, rest: float = 0.0) -> float:
    """The least margin of all limits, each as a fraction of itself, straight from the laws on a
    fine grid of times."""
    edges = np.linspace(motion.t[0], motion.t[-1], 4001)
    t = (edges[1:] + edges[:-1]) / 2
    q, v, a = motion(t)
    tau = np.asarray(inverse_dynamics(robot, q, v, a))
    # the drive's own friction acts on what the joint's leaves to carry
    needed = tau + np.stack(np.broadcast_arrays(*robot.drivetrain.joint_friction(tau, v)), axis=-1)
    own = [d.friction.torque(v[:, j], needed[:, j]) for j, d in enumerate(robot.drivetrain.drives)]
    friction = needed - tau + np.stack(np.broadcast_arrays(*own), axis=-1)
    limits, margins = bounds(robot), [1.0]
    for value, bound in (
        (v, limits.velocity),
        (a, limits.acceleration),
        (tau + friction, limits.torque),
    ):
        margins.append(float(np.min(1 - np.abs(value) / bound)))
    margins.append(float(min(np.min(limits.upper - q), np.min(q - limits.lower))))
    flows = robot.drivetrain.flow(tau, v, a)
    for axis, _, limit in robot.drivetrain.limits():
        g = np.broadcast_to(-limit.scaled(flows[axis]), t.shape)
        margins.append(
            float(1 - (1 - g).mean() * motion.duration / (motion.duration + rest))
            if limit.mean
            else float(g.min())
        )
    return min(margins)


def test_cubic_of_a_turntable_in_closed_form():
    """|q̈| ≤ 6Δ/T², |q̇| ≤ 1.5Δ/T: whichever limit comes first."""
    motion = joint_cubic([0.0], [2.0], 1.0)
    by_torque = time_scaling(turntable(torque=3.0), motion)
    assert (
        by_torque.intervals[0][0] == pytest.approx(np.sqrt(0.5 * 6 * 2 / 3.0), rel=1e-7)
        and by_torque.intervals[0][1] == np.inf
    )
    assert by_torque.reasons[0].limit == "torque" and by_torque.reasons[0].joint == "turn"
    by_velocity = time_scaling(turntable(velocity=1.2), motion)
    assert by_velocity.shortest == pytest.approx(1.5 * 2 / 1.2, rel=1e-9) and by_velocity.reasons[
        0
    ].place == pytest.approx(0.5, abs=1e-4)
    by_jerk = time_scaling(turntable(jerk=40.0), motion)
    assert by_jerk.shortest == pytest.approx((12 * 2 / 40.0) ** (1 / 3), rel=1e-6)
    by_rate = time_scaling(turntable(torque_rate=40.0), motion)
    assert by_rate.shortest == pytest.approx((0.5 * 12 * 2 / 40.0) ** (1 / 3), rel=1e-6)
    assert "velocity of 'turn'" in by_velocity.message and by_velocity.exact
    free = time_scaling(turntable(), motion)
    assert free.intervals == ((0.0, np.inf),) and free.reasons == (None,)


def test_average_heat_of_a_turntable_in_closed_form():
    """i = J q̈/K: ∫ R i² ds = R (J/K)² 12Δ²/T⁴ for the cubic; a rest shares the heat out over the
    cycle."""
    motor = Motor(2.0, 0.1, average_heat=5.0)
    robot = turntable().with_drives({"turn": Drive(motor, Gear(10.0))})
    motion = joint_cubic([0.0], [2.0], 1.0)
    heat = 2.0 * (0.5 / 1.0) ** 2 * 12 * 2.0**2
    assert time_scaling(robot, motion).shortest == pytest.approx((heat / 5.0) ** 0.25, rel=1e-7)
    T = time_scaling(robot, motion, rest=0.7).shortest
    assert heat / T**4 * T / (T + 0.7) == pytest.approx(5.0, rel=1e-7)
    voltage = turntable().with_drives({"turn": Drive(Motor(2.0, 0.1), Gear(10.0), Amplifier(24.0))})
    T = time_scaling(voltage, motion).shortest
    s = np.linspace(0, 1, 100001)
    assert np.abs(
        2.0 * 0.5 * (6 - 12 * s) * 2 / T**2 + 1.0 * 6 * s * (1 - s) * 2 / T
    ).max() == pytest.approx(24.0, rel=1e-7)


def test_a_load_too_heavy_to_hold_can_be_thrown_within_an_interval():
    """Force m(g − c/T²) within ±F of half the weight: T² between c/(1.5 g) and c/(0.5 g)."""
    robot = slider(torque=0.5 * 2.0 * 9.81)
    c = 3.0
    motion = Trajectory(
        [0.0, 1.0], [[0.0], [1.0 - c / 2]], [[1.0], [1.0 - c]], [[-c], [-c]], ("z",)
    )
    found = time_scaling(robot, motion)
    assert len(found.intervals) == 1
    np.testing.assert_allclose(
        found.intervals[0], np.sqrt([c / (1.5 * 9.81), c / (0.5 * 9.81)]), rtol=1e-7
    )
    assert found.allows(0.5) and not found.allows(1.0)
    with pytest.raises(ArgumentError, match="not possible"):
        found.trajectory(1.0)


def test_several_intervals_are_all_returned():
    """g + (b/m)q'x − c x² rises above a limit and comes back: slow and fast are possible, what lies
    between is not."""
    c, V, b, m = 1.0, 10.0, 2.0, 2.0
    robot = slider(torque=1.5 * 2.0 * 9.81).with_friction({"z": {"viscous": b}})
    motion = Trajectory([0.0, 1.0], [[0.0], [V - c / 2]], [[V], [V - c]], [[-c], [-c]], ("z",))
    found = time_scaling(robot, motion)
    assert len(found.intervals) == 2 and found.intervals[1][1] == np.inf
    F = 1.5 * m * 9.81
    force = lambda s, x: m * 9.81 + b * (V - c * s) * x - m * c * x * x
    (fast, middle), (slow, _) = found.intervals
    assert force(0.0, 1 / slow) == pytest.approx(F, rel=1e-6) and force(
        0.0, 1 / middle
    ) == pytest.approx(F, rel=1e-6)
    assert min(force(s, 1 / fast) for s in (0.0, 1.0)) == pytest.approx(-F, rel=1e-6)
    assert max(force(s, 2 / (slow + middle)) for s in np.linspace(0, 1, 50)) > F


def geared(
    name: str, gear: Gear, friction: Friction = NO_FRICTION, joint_friction: dict | None = None
) -> Robot:
    robot = library(name)
    robot = robot.with_friction({n: joint_friction or {} for n in robot.joint_names})
    drives = {
        n: Drive(
            Motor(1.0, 1.7, peak_heat=80.0, average_heat=12.0), gear, Amplifier(60.0), friction
        )
        for n in robot.joint_names
    }
    return robot.with_payload(1.0).with_drives(drives)


def without_jerk(name: str) -> Robot:
    robot = library(name)
    return robot.with_limits({n: {"jerk": np.inf} for n in robot.joint_names})


ROBOTS = {
    "thesis": library("burgevin").with_payload(2.0),
    "lossy gears": geared("burgevin", Gear(7.0, efficiency=0.7, efficiency_back=0.5)),
    "load friction": geared(
        "burgevin",
        Gear(7.0),
        Friction(viscous=2.0, coulomb=1.0, load=0.1),
        {"load": 0.08, "viscous": 1.0},
    ),
    "all at once": geared(
        "planar2", Gear(9.0, efficiency=0.8), Friction(coulomb=0.5, load=0.05), {"load": 0.1}
    ),
    "six axes": without_jerk("six_axis"),
    "scara": without_jerk("scara"),
    "tables": geared(
        "burgevin",
        Gear(
            7.0, efficiency=EfficiencyTable((0.0, 50.0), (0.0, 100.0), ((0.6, 0.8), (0.65, 0.85)))
        ),
    ),
}


@pytest.mark.parametrize("name", ROBOTS)
def test_allowed_durations_are_those_that_the_laws_allow(name: str):
    robot = ROBOTS[name]
    assert time_scaling(robot, joint_cubic(*ends(robot, 0), 1.0, 40)).exact == (name != "tables")
    slack = 2e-3 if name == "tables" else 1e-5
    for seed, make in enumerate((joint_cubic, joint_quintic, joint_trapezoid)):
        motion = make(*ends(robot, seed), 1.0, 40)
        found = time_scaling(robot, motion, rest=0.2)
        tried = 0
        for T in np.geomspace(0.02, 20.0, 60):
            margin = worst_margin(robot, stretched(motion, T), rest=0.2)
            if abs(margin) > slack:
                assert found.allows(T) == (margin > 0), (T, margin, found)
                tried += 1
        assert tried > 50
        for low, high in found.intervals:  # at an end some limit is just met
            for T in (low, high):
                if 0 < T < np.inf:
                    assert (
                        abs(worst_margin(robot, stretched(motion, T), rest=0.2)) < 3 * slack + 2e-3
                    )


def ends(robot: Robot, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng, limits = np.random.default_rng(seed), bounds(robot)
    low, high = np.maximum(limits.lower, -1.5), np.minimum(limits.upper, 1.5)
    return rng.uniform(low, high), rng.uniform(low, high)


def test_motions_that_no_duration_allows_are_told_with_the_reason():
    robot = library("burgevin").with_payload(60.0)
    found = time_scaling(robot, joint_cubic([0.0, 1.0, 0.4], [0.0, 1.4, 0.8], 1.0))
    assert not found.ok and found.shortest == np.inf and found.best == np.inf
    assert (
        found.reason.joint == "theta"
        and found.reason.limit == "peak heat"
        and found.reason.excess > 1.0
    )
    assert "however slowly" in found.message
    with pytest.raises(ArgumentError, match="no duration"):
        found.trajectory()
    out = time_scaling(library("burgevin"), joint_cubic([0.0, 1.0, 0.4], [0.0, 1.4, 1.2], 1.0))
    assert not out.ok and out.reason.limit == "upper end of its range" and out.reason.joint == "r"
    assert out.reason.place == pytest.approx(1.0, abs=1e-6) and out.reason.excess == pytest.approx(
        (1.2 - 0.91) / 0.75, rel=1e-6
    )


def test_the_scaled_motion_is_the_same_way_in_its_shortest_time():
    robot = ROBOTS["thesis"]
    motion = through([[0.0, 0.5, 0.3], [0.8, 1.2, 0.6], [1.5, 0.9, 0.5]], 3.0)
    found = time_scaling(robot, motion)
    fast = found.trajectory()
    assert fast.duration == pytest.approx(found.shortest)
    np.testing.assert_array_equal(fast.q, motion.q)
    assert -1e-4 < worst_margin(robot, fast) < 2e-3
    # its own duration plays no part, and a path means the same
    again = time_scaling(robot, stretched(motion, 0.3))
    assert again.shortest == pytest.approx(found.shortest, rel=1e-7)


def test_a_joint_path_is_run_evenly():
    robot = turntable(velocity=2.0)
    assert time_scaling(robot, joint_path([[0.0], [3.0]])).shortest == pytest.approx(1.5, rel=1e-9)


def test_durations_of_links_without_mass_are_bounded_by_their_rotors():
    # nothing but rounding passes the gear: its torque has double zeros everywhere, which are no
    # corners of the law
    links, limits = tuple(Link(f"l{k}") for k in range(5)), Limits(torque=1e-3)
    joints = tuple(
        Joint(f"j{k}", "revolute", f"l{k}", f"l{k + 1}", (0, 0, 0.3), axis=(0, 1, 0), limits=limits)
        for k in range(4)
    )
    motor = Motor(resistance=0.25, torque_constant=0.12, inertia=8e-5, continuous_current=8.0)
    drive = Drive(motor, Gear(100.0, 0.8), Amplifier(48.0))
    robot = Robot("weightless", links, joints, "l0", (0, 0, -9.81)).with_drives(
        {j.name: drive for j in joints}
    )
    found = time_scaling(robot, joint_quintic([-0.4] * 4, [0.4] * 4, 2.0))
    # |q̈| ≤ (10/√3) Δq/T² on a quintic, and the rotor weighs 0.8 kg·m² at the joint
    assert found.intervals[0][0] == pytest.approx(
        np.sqrt(10 / np.sqrt(3) * 0.8 * 0.8 / 1e-3), rel=1e-3
    )


def test_bad_arguments_are_refused():
    with pytest.raises(ArgumentError, match="does not fit"):
        time_scaling(library("burgevin"), joint_cubic([0.0], [1.0], 1.0))
    with pytest.raises(ArgumentError, match="rest"):
        time_scaling(turntable(), joint_cubic([0.0], [1.0], 1.0), rest=-1.0)


def test_roots_and_signs_of_polynomials():
    rng = np.random.default_rng(0)
    for degree in (1, 2, 3, 4):
        c = rng.normal(size=(200, degree + 1)) * 10.0 ** rng.integers(-3, 4, (200, 1))
        for row, found in zip(c, roots(c)):
            expected = np.roots(row[::-1])
            expected = np.sort(expected[np.abs(expected.imag) < 1e-9].real)
            np.testing.assert_allclose(
                np.sort(found[~np.isnan(found)]), expected, rtol=1e-6, atol=1e-9
            )
        k = np.arange(200)
        bad = positive(c, np.zeros(200), np.full(200, np.inf), k)
        for x in rng.exponential(2.0, 20):
            inside = np.zeros(200, dtype=bool)
            hit = (bad.low < x) & (x < bad.high)
            inside[bad.row[hit]] = True
            np.testing.assert_array_equal(inside, c @ x ** np.arange(degree + 1) > 0)


def test_gaps_are_what_the_intervals_leave():
    f = Forbidden(
        np.array([5.0, 1.0, 0.0, 7.0]), np.array([6.0, 2.0, 0.5, 9.0]), np.array([0, 1, 2, 3])
    )
    assert [tuple(g) for g in gaps(f)] == [
        (0.5, 1.0, 2, 1),
        (2.0, 5.0, 1, 0),
        (6.0, 7.0, 0, 3),
        (9.0, np.inf, 3, -1),
    ]
    assert gaps(Forbidden(np.array([0.0]), np.array([np.inf]), np.array([4]))) == []

"""The energy ledger closes: on random robots and motions, on a fine simulation, on every supply;
and says what heats most."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from armature.drive import (
    Amplifier,
    Bus,
    Drive,
    Friction,
    Gear,
    Motor,
    NonRegenerative,
    Regenerative,
    Thermal,
    gear,
    motor,
)
from armature.dynamics.compiled import forward_dynamics
from armature.errors import ArgumentError
from armature.motion import Trajectory
from armature.robot import library
from armature.simulate.ledger import drive_signals, ledger
from armature.simulate.quadrature import quadrature
from armature.simulation import simulate
from random_robots import ONE_AXIS, robots

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "burgevin.json").read_text())
SUPPLIES = (
    Regenerative(),
    Regenerative(0.7),
    NonRegenerative(),
    Bus(5e-4, 48.0, 60.0),
    Bus(1e-4, 48.0, 60.0, 30.0),
)


def random_motion(n, rng, knots=25, interpolation="hermite"):
    """A few random oscillations, or random held accelerations."""
    t = np.cumsum(rng.uniform(0.02, 0.08, knots))
    if interpolation == "held":
        a, q, v = rng.normal(size=(knots, n)) * 3, np.zeros((knots, n)), np.zeros((knots, n))
        v[0] = rng.normal(size=n)
        for k, h in enumerate(np.diff(t)):
            v[k + 1], q[k + 1] = v[k] + h * a[k], q[k] + h * v[k] + h * h / 2 * a[k]
        return Trajectory(t, q, v, a, interpolation="held")
    w, p, A = rng.uniform(1, 6, (3, n)), rng.uniform(0, 6, (3, n)), rng.normal(size=(3, n)) * 0.4
    phase = w * t[:, None, None] + p
    return Trajectory(
        t,
        (A * np.sin(phase)).sum(1),
        (A * w * np.cos(phase)).sum(1),
        (-A * w * w * np.sin(phase)).sum(1),
    )


def random_drive(rng):
    return Drive(
        Motor(
            rng.uniform(0.2, 2),
            rng.uniform(0.05, 0.5),
            inertia=rng.uniform(0, 1e-4),
            iron_torque=0.01,
            viscous=1e-5,
        ),
        Gear(rng.choice([-1, 1]) * rng.uniform(5, 50), rng.uniform(0.5, 1), inertia=1e-5),
        Amplifier(efficiency=rng.uniform(0.8, 1), standby=1.0),
        Friction(0.1, 0.2, 0.1, 0.1, 0.05),
    )


@settings(max_examples=30)
@given(robots(most=2, floating=False), st.integers(0, 2**32 - 1))
def test_ledger_closes_on_random_robots_and_motions(robot, seed):
    rng = np.random.default_rng(seed)
    able = [j.name for j in robot.joints if j.kind in ONE_AXIS and j.mimic is None]
    robot = robot.with_drives({name: random_drive(rng) for name in able if rng.random() < 0.8})
    robot = robot.with_friction({name: {"viscous": 0.2, "coulomb": 0.1} for name in able})
    motion = random_motion(robot.nv, rng, interpolation=rng.choice(["hermite", "held"]))
    book = ledger(robot, motion, SUPPLIES[seed % len(SUPPLIES)], steps=300)
    assert abs(book.residual) <= 1e-6 * book.throughput
    assert (
        min(
            book.copper,
            book.iron,
            book.friction,
            book.gear,
            book.amplifier,
            book.resistor,
            book.supply_loss,
        )
        >= -1e-12
    )
    rows = book.per_joint.values()
    assert sum(r["mechanical"] for r in rows) == pytest.approx(
        book.kinetic + book.potential, abs=1e-6 * book.throughput
    )
    assert sum(r["taken"] - r["given"] for r in rows) == pytest.approx(
        book.energy - book.resistor - book.supply_loss - book.capacitor, abs=1e-9 * book.throughput
    )


def test_ledger_of_a_fine_simulation():
    """Witness: currents are given, the motion comes from an integrator; the ledger, which sees the
    motion only, must find the same heat."""
    robot = (
        library("burgevin")
        .with_payload(2.0)
        .with_friction({"phi": {"viscous": 2.0}, "theta": {"viscous": 2.0}, "r": {"viscous": 20.0}})
    )
    K, c = np.array([1.7 / 0.15, 1.7 / 0.15, 20.0]), np.array([2.0, 2.0, 20.0])
    current = lambda t: np.stack([2 * np.sin(6 * t), -1.5 + np.sin(9 * t), 0.3 * np.cos(5 * t)], -1)

    def rhs(t, x):
        return np.concatenate(
            [
                x[3:-2],
                forward_dynamics(robot, x[:3], x[3:-2], K * current(t) - c * x[3:-2]),
                [current(t) @ current(t)],
                [c @ x[3:-2] ** 2],
            ]
        )

    t = np.linspace(0, 0.8, 401)
    start = [0.0, 1.2, 0.6, 0, 0, 0, 0, 0]
    x = solve_ivp(rhs, (0, 0.8), start, t_eval=t, method="DOP853", rtol=1e-12, atol=1e-12).y.T
    q, v = np.ascontiguousarray(x[:, :3]), np.ascontiguousarray(x[:, 3:-2])
    motion = Trajectory(t, q, v, forward_dynamics(robot, q, v, K * current(t) - c * v))
    book = ledger(robot, motion)
    assert abs(book.residual) <= 1e-6 * book.throughput
    assert book.copper == pytest.approx(x[-1, -2], rel=1e-6) and book.friction == pytest.approx(
        x[-1, -1], rel=1e-6
    )
    signals = drive_signals(robot, motion)
    assert np.allclose(signals.current, current(t), atol=1e-8)
    assert np.allclose(signals.voltage, current(t) + K * v, atol=1e-8) and np.allclose(
        signals.power, signals.voltage * signals.current
    )
    assert np.allclose(signals.tau, K * current(t), atol=1e-7)


def test_ledger_closes_on_simulations_by_any_method():
    robot = (
        library("burgevin")
        .with_payload(2.0)
        .with_friction({"phi": {"viscous": 2.0, "coulomb": 1.0}, "r": {"viscous": 20.0}})
    )
    push = lambda t, q, v: np.array([8 * np.sin(6 * t), -15.0, 5 * np.cos(5 * t)])
    for options in ({}, {"method": "rk4", "step": 1e-3}, {"times": np.linspace(0, 0.8, 21)}):
        run = simulate(robot, push, [0.0, 1.2, 0.6], [0.0, 0.0, 0.0], 0.8, **options)
        book = ledger(robot, run)
        assert abs(book.residual) <= 1e-6 * book.throughput
        assert np.sum(drive_signals(robot, run).tau * run.v) == pytest.approx(
            np.sum(run.tau * run.v), rel=0.02
        )


def cubic(case, knots=41):
    start, end = (
        np.array([np.radians(x[2]), np.radians(x[1]), x[0]]) for x in (case["q0"], case["qf"])
    )
    t = np.linspace(0, case["T_s"], knots)
    s, T = (t / case["T_s"])[:, None], case["T_s"]
    return Trajectory(
        t,
        start + (end - start) * (3 * s**2 - 2 * s**3),
        (end - start) * (6 * s - 6 * s**2) / T,
        (end - start) * (6 - 12 * s) / T**2,
    )


@pytest.mark.parametrize(
    "case",
    [c for c in REFERENCE["non_regenerative"] if c["E_cubic_joint_line_J"]],
    ids=lambda c: c["name"],
)
def test_ledger_of_the_thesis_robot(case):
    robot = library("burgevin").with_payload(case["payload_kg"])
    motion = cubic(case)
    assert ledger(robot, motion, "non-regenerative").drawn == pytest.approx(
        case["E_cubic_joint_line_J"], rel=1e-5
    )
    book = ledger(robot, motion)
    heat = next(c for c in REFERENCE["regenerative_no_friction"] if c["name"] == case["name"])[
        "E_cubic_joint_line_J"
    ]
    # without friction signed energy = heat + change of potential energy
    assert book.losses == pytest.approx(heat, rel=1e-6) and book.energy == pytest.approx(
        book.losses + book.potential, rel=1e-9
    )


def test_the_hottest_axis_is_told_by_limit():
    robot = library("burgevin").with_payload(2.0)
    case = REFERENCE["regenerative_no_friction"][0]
    book = ledger(robot, cubic(case))
    hottest = book.hottest
    assert hottest is not None and hottest.name == "phi" and hottest.worst[0] == "peak heat"
    assert hottest.peak_current == pytest.approx(4.9563, rel=1e-3) and hottest.fractions[
        "peak heat"
    ] == pytest.approx(4.9563**2 / 80, rel=2e-3)
    assert "phi, peak heat" in str(book) and "drawn" in str(book)
    assert ledger(robot, cubic(case)).heating[0].rms_current == pytest.approx(8.1884**0.5, rel=1e-4)


def test_winding_temperature_over_repeated_cycles():
    warm = Motor(1.0, 1.7, thermal=Thermal(1.0, 3.0, 10.0, 200.0, 155.0, 25.0))
    robot = library("burgevin").with_payload(2.0).with_drives({"phi": Drive(warm, Gear(1 / 0.15))})
    phi = ledger(robot, cubic(REFERENCE["regenerative_no_friction"][0])).heating[0]
    # on average: ΔT = P (R_wh + R_ha) with P = P₂₀ (1 + α (T − 20)); the ripple within a cycle is
    # small beside it
    P, alpha = phi.mean_heat, 0.00393
    mean = (25 + 4 * P * (1 - 20 * alpha)) / (1 - 4 * P * alpha)
    assert phi.steady_winding == pytest.approx(mean, rel=0.02) and phi.steady_winding > mean
    assert 25 < phi.winding(1) < phi.winding(10) < phi.steady_winding and phi.winding(
        5000
    ) == pytest.approx(phi.steady_winding, abs=1e-6)
    assert phi.fractions["winding temperature"] == pytest.approx((phi.steady_winding - 25) / 130)


def test_two_robots_on_one_bus_draw_less_than_on_two():
    from armature.simulate.ledger import flow_of, motion_steps

    robot = (
        library("burgevin")
        .with_payload(2.0)
        .with_drives(
            {
                n: Drive(
                    motor("servo-325v-750w"),
                    gear("cycloidal-80") if n != "r" else gear("ballscrew-20mm"),
                )
                for n in ("phi", "theta", "r")
            }
        )
    )
    motion = cubic(REFERENCE["regenerative_no_friction"][0])
    s = motion_steps(robot, motion)
    power = np.stack([f.power for f in flow_of(robot, s)], -1)
    bus = Bus(5e-4, 325.0, 380.0)
    half = len(s.dt) // 2
    shifted = np.roll(power, half, axis=0)  # the second robot brakes while the first accelerates
    together = bus.account(s.dt, np.hstack([power, shifted])).drawn.sum()
    apart = bus.account(s.dt, power).drawn.sum() + bus.account(s.dt, shifted).drawn.sum()
    assert together < 0.9 * apart


def test_a_motion_of_another_robot_is_refused():
    with pytest.raises(ArgumentError, match="5 velocities"):
        ledger(library("burgevin"), random_motion(5, np.random.default_rng(0)))
    with pytest.raises(ArgumentError, match="one knot"):
        ledger(
            library("burgevin"),
            Trajectory(np.zeros(1), np.zeros((1, 3)), np.zeros((1, 3)), np.zeros((1, 3))),
        )


def test_motion_without_numbers_has_a_ledger_without_numbers_and_no_more_points_than_others():
    robot, motion = library("burgevin"), random_motion(3, np.random.default_rng(5))
    q = motion.q.copy()
    q[3:6] = np.nan
    broken = replace(motion, q=q)
    assert np.isnan(ledger(robot, broken).energy)
    assert len(quadrature(robot, broken)[0].t) <= len(quadrature(robot, motion)[0].t)

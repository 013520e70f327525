"""The drive's laws: power balance, direction of power flow, standstill, inversion, limits, and one
source for all number types."""

import itertools

import numpy as np
import pytest

from armature.drive import (
    EXACT,
    Amplifier,
    Drive,
    EfficiencyTable,
    Flow,
    Friction,
    Gear,
    Motor,
    Smooth,
)
from armature.drive.corner import SIGN_POWER_ERROR
from armature.drive.drive import LOSSES
from armature.drive.flow import FLOW_QUANTITIES
from armature.errors import RobotError

TABLE = EfficiencyTable((10.0, 100.0, 300.0), (1.0, 10.0), ((0.6, 0.8), (0.5, 0.7), (0.4, 0.65)))
MOTOR = Motor(0.6, 0.06, inertia=1.4e-5, iron_torque=4e-3, viscous=1e-5)
FULL = Drive(
    MOTOR,
    Gear(-50.0, 0.8, inertia=5e-6),
    Amplifier(48.0, 30.0, 5.0, 0.93, 2.0),
    Friction(0.2, 0.4, 0.3, 0.1, 0.05),
)
DRIVES = {
    "ideal": Drive(Motor(1.0, 0.8), Gear(25.0)),
    "full": FULL,
    "table": Drive(MOTOR, Gear(30.0, TABLE)),
    "thesis rule": Drive(Motor(1.0, 0.8), Gear(25.0, 0.9, rule="thesis")),
    "linear": Drive(Motor(2.0, 20.0, inertia=0.8, linear=True), friction=Friction(5.0, 3.0)),
    "one way": Drive(MOTOR, Gear(40.0, 0.6, efficiency_back=0.35)),
}
RNG = np.random.default_rng(7)
TAU, V, A = (RNG.normal(size=400) * s for s in (15.0, 2.0, 10.0))
SMOOTHS = (EXACT, Smooth(0.5, 0.02, 0.1))


@pytest.mark.parametrize("smooth", SMOOTHS)
@pytest.mark.parametrize("name", DRIVES)
def test_power_taken_is_mechanical_power_and_all_losses(name, smooth):
    f = DRIVES[name].flow(TAU, V, A, smooth=smooth)
    total = f.mechanical + sum(getattr(f, loss) for loss in LOSSES)
    assert np.allclose(f.power, total, rtol=1e-12, atol=1e-10)


@pytest.mark.parametrize("name", DRIVES)
def test_no_exact_loss_is_negative(name):
    f = DRIVES[name].flow(TAU, V, A)
    losses = (
        LOSSES if name != "thesis rule" else [x for x in LOSSES if x != "gear"]
    )  # the thesis's rule creates energy in its gap
    assert all(np.all(getattr(f, loss) >= -1e-12) for loss in losses)


@pytest.mark.parametrize("name", DRIVES)
def test_terminal_power_is_voltage_times_current(name):
    f = DRIVES[name].flow(TAU, V, A)
    assert np.allclose(f.terminal, f.voltage * f.current, rtol=1e-12)


def test_thesis_numbers():
    # Table 2, first motor: 20 N/A; v = R i + 20 q̇, by hand
    f = DRIVES["ideal"].flow(40.0, 1.5)
    assert (f.current, f.voltage, f.copper, f.power) == pytest.approx((2.0, 32.0, 4.0, 64.0))


def test_gear_law_by_direction_of_mechanical_power():
    gear = Gear(10.0, 0.8)
    for tau, v in itertools.product((-3.0, 3.0), (-2.0, 2.0)):
        expected = tau / 0.8 if tau * v > 0 else tau * 0.8  # [20]
        assert gear.effort(tau, v) == pytest.approx(expected)
        assert gear.delivered(expected, v) == pytest.approx(tau)


def test_at_standstill_any_effort_in_the_band_holds():
    gear = Gear(10.0, 0.8)
    assert gear.holding_band(10.0) == pytest.approx((8.0, 12.5)) and gear.holding_band(
        -10.0
    ) == pytest.approx((-12.5, -8.0))
    assert gear.effort(10.0, 0.0) == pytest.approx(8.0)  # the least
    smooth = [float(gear.effort(10.0, v, Smooth(power=1.0))) for v in np.linspace(-1, 1, 41)]
    assert min(smooth) >= 8.0 and max(smooth) <= 12.5


def test_thesis_rule_tests_electrical_power():
    """Forwards [20] is evaluated literally on the current that `flow` gives: the joint torque must
    come back."""
    drive = DRIVES["thesis rule"]
    R, K, eta = 1.0, 20.0, 0.9
    tau, v = 10 * TAU, V / 5
    i = drive.flow(tau, v).current
    literal = np.where(R * i**2 + K * i * v >= 0, K * i * eta, K * i / eta)
    assert np.allclose(literal, tau, rtol=1e-12)
    mechanical = Drive(Motor(1.0, 0.8), Gear(25.0, 0.9)).flow(tau, v).current
    gap = ~np.isclose(i, mechanical)
    assert gap.sum() > 20 and np.all(
        (tau * v < 0)[gap]
    )  # they differ only where the load drives and copper eats more than it gives


@pytest.mark.parametrize("eps", (0.01, 0.5, 5.0))
def test_smooth_gear_power_is_within_its_bound(eps):
    gear = Gear(10.0, 0.7)
    error = np.abs((gear.effort(TAU, V, Smooth(power=eps)) - gear.effort(TAU, V)) * V)
    assert error.max() <= SIGN_POWER_ERROR * eps * (1 / 0.7 - 0.7) / 2 * (1 + 1e-9)


@pytest.mark.parametrize("eps", (0.001, 0.05))
def test_smooth_friction_power_is_within_its_bound(eps):
    f = Friction(0.3, 2.0, 1.5, 0.2, 0.1)
    v = np.linspace(-1, 1, 20001)
    error = np.abs(v * (f.torque(v, 5.0, Smooth(power=eps, velocity=eps)) - f.torque(v, 5.0)))
    assert error.max() <= SIGN_POWER_ERROR * ((2.0 + 1.5) * eps + 0.1 * eps) * (1 + 1e-9)


def test_friction_curve_by_hand():
    f = Friction(2.0, 1.0, 0.5, 0.1, 0.1)
    expected = 2.0 * 0.3 + (1.0 + 0.5 * np.exp(-9.0)) + 0.1 * 20.0
    assert f.torque(0.3, -20.0) == pytest.approx(expected) and f.torque(
        -0.3, 20.0
    ) == pytest.approx(-expected)
    assert f.torque(0.0, 20.0) == 0.0 and f.holding(20.0) == pytest.approx(3.5)


def test_efficiency_table_is_bilinear_and_constant_outside():
    from scipy.interpolate import RegularGridInterpolator

    witness = RegularGridInterpolator((TABLE.speeds, TABLE.loads), np.array(TABLE.values))
    speed, load = RNG.uniform(-400, 400, 300), RNG.uniform(-15, 15, 300)
    inside = np.stack([np.clip(np.abs(speed), 10, 300), np.clip(np.abs(load), 1, 10)], -1)
    assert np.allclose(TABLE(speed, load), witness(inside), atol=1e-14)
    assert np.abs(TABLE(speed, load, 0.05) - witness(inside)).max() < 0.05 / 2 * 0.8


@pytest.mark.parametrize("smooth", SMOOTHS)
@pytest.mark.parametrize("name", ["ideal", "full", "thesis rule", "linear", "one way"])
def test_torque_of_the_current_is_the_torque(name, smooth):
    drive = DRIVES[name]
    i = drive.flow(TAU, V, A, smooth=smooth).current
    back = drive.torque(i, V, A, smooth=smooth)
    if name == "thesis rule":
        assert np.allclose(back, TAU, rtol=1e-9 if smooth == EXACT else 0.1)
        return
    # friction may turn the direction of power in the gear between torque and torque + friction: the
    # law still inverts, except where motor drag and gear disagree about the direction, which needs
    # an effort of the opposite sign
    effort_matches = np.sign(drive.gear.ratio * MOTOR.torque_constant * i) == np.sign(
        drive.flow(TAU, V, A).gear_torque
    )
    assert effort_matches.sum() > 200 and np.allclose(
        back[effort_matches], TAU[effort_matches], rtol=1e-8, atol=1e-8
    )


@pytest.mark.parametrize("smooth", SMOOTHS)
@pytest.mark.parametrize("name", DRIVES)
def test_symbols_floats_and_arrays_give_one_answer(name, smooth):
    import casadi

    t, v, a = (casadi.SX.sym(x) for x in "tva")
    drive = DRIVES[name]
    flow = drive.flow(t, v, a, smooth=smooth)
    f = casadi.Function(
        "f", [t, v, a], [casadi.vertcat(*[getattr(flow, x) for x in FLOW_QUANTITIES])]
    )
    arrays = drive.flow(TAU[:20], V[:20], A[:20], smooth=smooth)
    for k in range(20):
        numbers = drive.flow(float(TAU[k]), float(V[k]), float(A[k]), smooth=smooth)
        symbols = np.array(f(TAU[k], V[k], A[k])).ravel()
        assert np.allclose(
            [float(getattr(numbers, x)) for x in FLOW_QUANTITIES], symbols, rtol=1e-12, atol=1e-12
        )
        assert np.allclose(
            [getattr(arrays, x)[k] for x in FLOW_QUANTITIES], symbols, rtol=1e-12, atol=1e-12
        )


@pytest.mark.parametrize("name", DRIVES)
def test_smooth_derivatives_by_symbols_equal_the_complex_step(name):
    import casadi

    smooth = Smooth(0.5, 0.02, 0.1)
    x = casadi.SX.sym("x", 3)
    power = DRIVES[name].flow(x[0], x[1], x[2], smooth=smooth).power
    gradient = casadi.Function("g", [x], [casadi.gradient(power, x)])
    for point in ([3.0, 0.5, 1.0], [-2.0, 0.01, -5.0], [0.0, -0.3, 2.0]):
        steps = []
        for k in range(3):
            z = [complex(p) for p in point]
            z[k] += 1e-40j
            steps.append(np.imag(DRIVES[name].flow(*z, smooth=smooth).power) / 1e-40)
        assert np.allclose(np.array(gradient(point)).ravel(), steps, rtol=1e-10, atol=1e-10)


def test_warm_winding_has_more_resistance():
    cold, warm = FULL.flow(10.0, 1.0), FULL.flow(10.0, 1.0, temperature=120.0)
    assert warm.current == cold.current and warm.copper / cold.copper == pytest.approx(1.393)


def test_rotor_torque_does_not_pass_the_gear():
    drive = Drive(Motor(1.0, 0.1, inertia=1e-3), Gear(10.0, 0.5))
    f = drive.flow(0.1 * 2.0, 1.0, 2.0)  # the torque that turns the rotor alone: J N² a = 0.1 · 2
    assert (
        f.gear_torque == pytest.approx(0.0)
        and f.gear == pytest.approx(0.0)
        and f.current == pytest.approx(0.2 / 10 / 0.1)
    )


def test_holding_current_is_helped_by_all_friction():
    drive = Drive(
        Motor(1.0, 0.1, iron_torque=0.05),
        Gear(-10.0, 0.8),
        friction=Friction(coulomb=1.0, stiction=0.5),
    )
    # 10 N·m: friction carries 1.5, the gear passes 0.8 · 8.5 = 6.8, at the shaft 0.68, iron carries
    # 0.05: 0.63 N·m = 6.3 A, ratio negative
    assert drive.holding_current(10.0) == pytest.approx(-6.3) and drive.holding_power(
        10.0
    ) == pytest.approx(6.3**2)
    assert drive.holding_current(1.0) == 0.0


def test_gear_modes_and_complementarity_agree_with_the_law():
    gear = Gear(10.0, 0.8)
    for tau, v in itertools.product((-3.0, 3.0), (-2.0, 2.0)):
        p = tau * v
        effort, g = gear.mode(tau, v, driving=p > 0)
        assert (
            effort == pytest.approx(gear.effort(tau, v))
            and g <= 0 < -gear.mode(tau, v, driving=p > 0)[1] + 1e-12
        )
        assert gear.mode(tau, v, driving=p < 0)[1] > 0  # the wrong mode is refused
        effort, equations, inequalities = gear.complementarity(
            tau, v, max(p, 0), max(-p, 0), np.sign(p)
        )
        assert (
            effort == pytest.approx(gear.effort(tau, v))
            and np.allclose(equations, 0)
            and max(inequalities) <= 0
        )
        _, equations, _ = gear.complementarity(tau, v, max(p, 0), max(-p, 0), -np.sign(p))
        assert np.abs(equations).max() > 1  # the wrong direction is not a solution
    for direction in (-1.0, 0.0, 1.0):  # at standstill every effort in the band is
        effort, equations, _ = gear.complementarity(10.0, 0.0, 0.0, 0.0, direction)
        assert 8.0 - 1e-12 <= effort <= 12.5 + 1e-12 and np.allclose(equations, 0)


def test_limits_name_every_finite_bound_and_change_sign_at_it():
    motor = Motor(
        1.0,
        0.8,
        peak_heat=80.0,
        average_heat=20.0,
        peak_current=7.0,
        continuous_current=3.0,
        maximum_speed=100.0,
    )
    drive = Drive(
        motor, Gear(25.0, maximum_torque=90.0, maximum_speed=80.0), Amplifier(100.0, 9.0, 2.5)
    )
    limits = drive.limits()
    assert {x.name for x in limits} == {
        "voltage",
        "peak current",
        "peak heat",
        "motor speed",
        "gear torque",
        "average heat",
        "continuous current",
    }
    bounds = {x.name: x.bound for x in limits}
    assert bounds == {
        "voltage": 100.0,
        "peak current": 7.0,
        "peak heat": 80.0,
        "motor speed": 80.0,
        "gear torque": 90.0,
        "average heat": 20.0,
        "continuous current": 6.25,
    }
    at = {
        "voltage": (20.0, 99.0 / 20.0),
        "peak current": (140.0, 0.0),
        "peak heat": (20 * 80**0.5, 0.0),
        "motor speed": (0.0, 80 / 25),
        "gear torque": (90.0, 0.0),
        "average heat": (20 * 20**0.5, 0.0),
        "continuous current": (20 * 2.5, 0.0),
    }
    for limit in limits:
        tau, v = (limit.sign * x for x in at[limit.name])
        for factor, sign in ((0.999, -1), (1.001, 1)):
            assert np.sign(limit.scaled(drive.flow(tau * factor, v * factor))) == sign
    assert Drive(Motor(1.0, 1.0)).limits() == ()


def test_mean_limit_is_over_the_cycle():
    drive = Drive(Motor(1.0, 1.0, average_heat=2.0))
    t = np.linspace(0, 1, 2001)
    g, _ = drive.limits()[0].worst(t, drive.flow(3 * np.sin(2 * np.pi * t), np.zeros_like(t)))
    assert g == pytest.approx(9 / 2 - 2, rel=1e-6)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Gear(10.0, 1.3), ("gear", "efficiency", "1.3", "at most 1")),
        (lambda: Gear(10.0, 0.0), ("gear", "efficiency", "above 0")),
        (lambda: Gear(0.0), ("gear", "ratio")),
        (lambda: Gear(float("nan")), ("gear", "ratio")),
        (lambda: Motor(0.0, 0.1, name="m7"), ("motor 'm7'", "resistance", "ohm", "above 0")),
        (lambda: Motor(-1.0, 0.1), ("resistance", "-1")),
        (lambda: Motor(1.0, "x"), ("torque_constant", "'x'", "number")),  # type: ignore[arg-type]
        (lambda: Friction(viscous=-0.1), ("friction", "viscous", "-0.1", "at least 0")),
        (lambda: Amplifier(efficiency=1.1), ("amplifier", "efficiency", "1.1")),
        (lambda: EfficiencyTable((1, 1), (1,), ((0.5,), (0.6,))), ("speeds", "rise")),
        (lambda: EfficiencyTable((1, 2), (1,), ((0.5,), (1.2,))), ("1.2", "at most 1")),
        (lambda: EfficiencyTable((1, 2), (1,), ((0.5,),)), ("rows",)),
        (lambda: Gear(1.0, rule="other"), ("rule", "other")),  # type: ignore[arg-type]
        (lambda: Drive("dc"), ("motor", "Motor")),  # type: ignore[arg-type]
    ],
)
def test_what_contradicts_physics_is_refused_by_name(make, words):
    with pytest.raises(RobotError) as error:
        make()
    assert all(word in str(error.value) for word in words), str(error.value)


def test_backlash_and_stiffness():
    gear = Gear(50.0, backlash=0.002, stiffness=1e4)
    assert [gear.twist_torque(x) for x in (-0.002, -0.001, 0.0005, 0.003)] == pytest.approx(
        [-10.0, 0.0, 0.0, 20.0]
    )
    assert gear.lost_motion(-20.0) == pytest.approx(0.003)
    x = np.linspace(-0.005, 0.005, 1001)
    assert np.abs(gear.twist_torque(x, 1e-4) - gear.twist_torque(x)).max() <= 1e4 * 1e-4 / 2


def test_parts_are_data():
    assert (
        isinstance(FULL.flow(1.0, 1.0), Flow)
        and hash(FULL) == hash(DRIVES["full"])
        and {FULL: 1}[DRIVES["full"]] == 1
    )

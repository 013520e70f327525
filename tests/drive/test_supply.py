"""Supplies: every watt is accounted for, the smooth and the slack form agree with the exact one, the bus keeps its energy."""

import numpy as np
import pytest
from scipy.optimize import linprog

from armature.drive import Brake, Bus, NonRegenerative, Regenerative
from armature.drive.energy import both_ways, integral, interval_energy
from armature.errors import ArgumentError, RobotError

RNG = np.random.default_rng(5)
T = np.linspace(0.0, 2.0, 801)
P = np.stack([60 * np.sin(5 * T), -40 * np.cos(3 * T), 25 * np.sin(9 * T + 1)], -1)
BUS = Bus(1e-3, 300.0, 320.0)  # capacity ½·1e-3·(320² − 300²) = 6.2 J
SUPPLIES = (Regenerative(), Regenerative(0.6), NonRegenerative())


def test_interval_energies_are_exact_for_parabolas_and_of_fourth_order():
    t = np.sort(np.concatenate([[0.0, 3.0], RNG.uniform(0, 3, 30)]))
    quadratic = lambda x: 2 - 3 * x + 4 * x**2
    assert np.allclose(interval_energy(t, quadratic(t)), np.diff(2 * t - 1.5 * t**2 + 4 / 3 * t**3), atol=1e-12)
    errors = [
        abs(integral(t, np.exp(-t) * np.sin(5 * t)) - (5 - np.exp(-3) * (np.sin(15) + 5 * np.cos(15))) / 26)
        for t in (np.linspace(0, 3, n + 1) for n in (50, 100, 200))
    ]
    assert errors[0] / errors[1] > 12 and errors[1] / errors[2] > 12


def test_energy_both_ways_is_the_net_energy():
    forward, backward = both_ways(T, P)
    assert np.allclose(forward - backward, interval_energy(T, P), atol=1e-15) and forward.min() >= 0 and backward.min() >= 0
    fine = np.linspace(0, 2, 2_000_001)
    exact = np.sum(np.maximum(0, 60 * np.sin(5 * (fine[1:] + fine[:-1]) / 2))) * (fine[1] - fine[0])
    assert forward[:, 0].sum() == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("supply", (*SUPPLIES, BUS))
def test_account_balances_in_every_interval(supply):
    a = supply.account(T, P)
    assert np.allclose(a.drawn - a.returned, interval_energy(T, P.sum(-1)) + a.resistor + a.lost + np.diff(a.stored), atol=1e-12)
    assert all(np.all(x >= 0) for x in a[:4])


@pytest.mark.parametrize("supply", SUPPLIES)
def test_net_power_is_the_account(supply):
    a = supply.account(T, P)
    exact = np.array([float(supply.drawn(list(p))) for p in P])
    assert np.sum(a.drawn - a.returned) == pytest.approx(integral(T, exact), rel=1e-4)
    smooth = np.array([float(supply.drawn(list(p), 0.5)) for p in P])
    assert np.all((smooth >= exact - 1e-12) & (smooth <= exact + 3 * 0.5 / 2))


def test_thesis_costs():
    # [24] sums signed powers, [26] only the positive ones, axis by axis
    assert Regenerative().drawn([3.0, -2.0]) == 1.0 and NonRegenerative().drawn([3.0, -2.0]) == 3.0


@pytest.mark.parametrize("supply", SUPPLIES)
def test_epigraph_at_its_optimum_is_the_exact_cost(supply):
    """The slack form is a linear programme in the slacks: solved independently, its optimum is the exact cost."""
    for p in P[::80]:
        m = supply.slacks(3)
        if m == 0:
            assert supply.epigraph(list(p), []).cost == pytest.approx(float(supply.drawn(list(p))))
            continue
        at = lambda s, p=p: supply.epigraph(list(p), list(s))
        zero = at(np.zeros(m))
        c = np.array([at(e).cost - zero.cost for e in np.eye(m)])
        G = np.array([np.array(at(e).inequalities) - np.array(zero.inequalities) for e in np.eye(m)]).T
        best = linprog(c, A_ub=G, b_ub=-np.array(zero.inequalities), bounds=(None, None))
        assert best.fun + zero.cost == pytest.approx(float(supply.drawn(list(p))), abs=1e-9)
    with pytest.raises(ArgumentError, match="slack"):
        supply.epigraph([1.0, 2.0, 3.0], [0.0] * 7)


def test_bus_conserves_energy_and_stays_within_its_voltages():
    a = BUS.account(T, P)
    drawn, burnt = (np.sum(x) for x in (a.drawn, a.resistor))
    assert drawn - burnt - a.stored[-1] == pytest.approx(integral(T, P.sum(-1)), abs=1e-9)
    U = BUS.voltage_at(a.stored)
    assert U.min() >= 300 - 1e-9 and U.max() <= 320 + 1e-9 and burnt > 1.0 and drawn > 1.0
    assert BUS.energy(U) == pytest.approx(a.stored, abs=1e-9)


def test_bus_against_an_event_free_integration_with_tiny_steps():
    """Witness: the ideal rectifier and chopper as stiff springs in energy, integrated by small explicit steps."""
    fine = np.linspace(0, 2, 400001)
    total = np.interp(fine, T, P.sum(-1))
    E = drawn = 0.0
    for p in (total[1:] + total[:-1]) / 2 * (fine[1] - fine[0]):
        E -= p
        if E < 0:
            drawn, E = drawn - E, 0.0
        E = min(E, BUS.capacity)
    assert BUS.account(T, P).drawn.sum() == pytest.approx(drawn, rel=1e-4)


def test_shared_bus_never_needs_more_than_separate_axes():
    shared = BUS.account(T, P).drawn.sum()
    instant = integral(T, np.maximum(0, P.sum(-1)))
    apart = NonRegenerative().account(T, P).drawn.sum()
    assert shared < instant < apart
    # the capacitor saves at most its capacity in each of four swings
    assert BUS.capacity == pytest.approx(6.2) and instant - shared <= 4 * BUS.capacity


def test_weak_resistor_lets_the_voltage_rise():
    weak = Bus(2e-4, 300.0, 320.0, resistance=4000.0, maximum_voltage=800.0)  # 25 W at 320 V
    a = weak.account(T, P)
    assert weak.voltage_at(a.stored).max() > 325 and (a.resistor / np.diff(T)).max() <= weak.voltage_at(a.stored).max() ** 2 / 4000 + 1e-9
    drawn, burnt = (np.sum(x) for x in (a.drawn, a.resistor))
    assert drawn - burnt - a.stored[-1] == pytest.approx(integral(T, P.sum(-1)), abs=1e-9)


def test_bus_epigraph_as_a_linear_programme_gives_the_account():
    """Minimise the rectifier's energy over all powers that keep the capacitor within its range: the physical bus is that optimum."""
    t, p = T[::20], P[::20].sum(-1)
    dt, n = np.diff(t), len(t) - 1
    mean = (p[1:] + p[:-1]) / 2
    # unknowns: source (n), resistor (n); stored after k steps = Σ (s − r − p) dt in [0, capacity]
    L = np.tril(np.ones((n, n))) * dt
    A = np.block([[L, -L], [-L, L]])
    used = L @ mean
    best = linprog(np.concatenate([dt, np.zeros(n)]), A_ub=A, b_ub=np.concatenate([BUS.capacity + used, -used]), bounds=(0, None))
    steps = Bus(1e-3, 300.0, 320.0)
    E = drawn = 0.0
    for m, h in zip(mean, dt):
        E, given, _ = steps._exchange(E, m * h, h)
        drawn += given
    assert best.fun == pytest.approx(drawn, rel=1e-7)
    form = BUS.epigraph([1.0, 2.0], [5.0, 1.0])
    assert (form.cost, form.inequalities, form.stored_rate) == (5.0, (-5.0, -1.0), 1.0)


def test_bus_refuses_a_threshold_below_its_voltage():
    with pytest.raises(RobotError, match="raise resistor_voltage"):
        Bus(1e-3, 300.0, 290.0)


def test_rest_on_the_brake_costs_only_closing_and_opening():
    brake = Brake(50.0, 0.1, 0.05, power=12.0)
    # by the motor 20 W + 12 W of an open brake; on the brake 20 W · 0.15 s + 12 W · 0.05 s
    assert brake.rest_energy(10.0, 20.0) == pytest.approx(20 * 0.15 + 12 * 0.05)
    assert brake.rest_energy(0.1, 20.0) == pytest.approx(3.2)  # too short to close and open
    assert brake.can_hold(-50.0) and not brake.can_hold(50.1)

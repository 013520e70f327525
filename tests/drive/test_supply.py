"""Supplies: every watt is accounted for, the smooth and the slack form agree with the exact one,
the bus keeps its energy."""

import numpy as np
import pytest
from scipy.optimize import linprog

from armature.drive import Brake, Bus, NonRegenerative, Regenerative, as_supply
from armature.errors import ArgumentError, RobotError

DT = np.full(800, 2 / 800)
T = np.cumsum(DT) - DT / 2
P = np.stack([60 * np.sin(5 * T), -40 * np.cos(3 * T), 25 * np.sin(9 * T + 1)], -1)
BUS = Bus(1e-3, 300.0, 320.0)  # capacity ½·1e-3·(320² − 300²) = 6.2 J
SUPPLIES = (Regenerative(), Regenerative(0.6), NonRegenerative())


@pytest.mark.parametrize("supply", (*SUPPLIES, BUS))
def test_account_balances_in_every_step(supply):
    a = supply.account(DT, P)
    assert np.allclose(
        a.drawn - a.returned,
        DT * P.sum(-1) + a.resistor + a.lost + np.diff(a.stored, prepend=0.0),
        atol=1e-12,
    )
    assert all(np.all(x >= 0) for x in a[:4])


@pytest.mark.parametrize("supply", SUPPLIES)
def test_net_power_is_the_account(supply):
    a = supply.account(DT, P)
    exact = np.array([float(supply.drawn(list(p))) for p in P])
    assert np.allclose(a.drawn - a.returned, DT * exact)
    smooth = np.array([float(supply.drawn(list(p), 0.5)) for p in P])
    assert np.all((smooth >= exact - 1e-12) & (smooth <= exact + 3 * 0.5 / 2))


def test_thesis_costs():
    # [24] sums signed powers, [26] only the positive ones, axis by axis
    assert Regenerative().drawn([3.0, -2.0]) == 1.0 and NonRegenerative().drawn([3.0, -2.0]) == 3.0


@pytest.mark.parametrize("supply", SUPPLIES)
def test_epigraph_at_its_optimum_is_the_exact_cost(supply):
    """The slack form is a linear programme in the slacks: solved independently, its optimum is the
    exact cost."""
    for p in P[::80]:
        m = supply.slacks(3)
        if m == 0:
            assert supply.epigraph(list(p), []).cost == pytest.approx(float(supply.drawn(list(p))))
            continue
        at = lambda s, p=p: supply.epigraph(list(p), list(s))
        zero = at(np.zeros(m))
        c = np.array([at(e).cost - zero.cost for e in np.eye(m)])
        G = np.array(
            [np.array(at(e).inequalities) - np.array(zero.inequalities) for e in np.eye(m)]
        ).T
        best = linprog(c, A_ub=G, b_ub=-np.array(zero.inequalities), bounds=(None, None))
        assert best.fun + zero.cost == pytest.approx(float(supply.drawn(list(p))), abs=1e-9)
    with pytest.raises(ArgumentError, match="slack"):
        supply.epigraph([1.0, 2.0, 3.0], [0.0] * 7)


def test_bus_conserves_energy_and_stays_within_its_voltages():
    a = BUS.account(DT, P)
    drawn, burnt = (np.sum(x) for x in (a.drawn, a.resistor))
    assert drawn - burnt - a.stored[-1] == pytest.approx(np.sum(DT * P.sum(-1)), abs=1e-9)
    U = BUS.voltage_at(a.stored)
    assert U.min() >= 300 - 1e-9 and U.max() <= 320 + 1e-9 and burnt > 1.0 and drawn > 1.0
    assert BUS.energy(U) == pytest.approx(a.stored, abs=1e-9)


def test_bus_against_its_physics_by_hand():
    """Witness: a capacitor between an ideal diode at U₀ and an ideal chopper at U_r, in small
    explicit steps of the voltage itself."""
    substeps, U, drawn = 500, 300.0, 0.0
    for p, h in zip(P.sum(-1), DT / 500):
        for _ in range(substeps):
            U = (U * U - 2 * p * h / 1e-3) ** 0.5
            if U < 300.0:
                drawn, U = drawn + 0.5e-3 * (300.0**2 - U**2), 300.0
            U = min(U, 320.0)
    assert BUS.account(DT, P).drawn.sum() == pytest.approx(drawn, rel=1e-9)


def test_shared_bus_never_needs_more_than_separate_axes():
    shared = BUS.account(DT, P).drawn.sum()
    instant = np.sum(DT * np.maximum(0, P.sum(-1)))
    apart = NonRegenerative().account(DT, P).drawn.sum()
    assert shared < instant < apart
    # the capacitor saves at most its capacity in each of four swings
    assert BUS.capacity == pytest.approx(6.2) and instant - shared <= 4 * BUS.capacity


def test_weak_resistor_lets_the_voltage_rise():
    weak = Bus(2e-4, 300.0, 320.0, resistance=4000.0, maximum_voltage=800.0)  # 25 W at 320 V
    a = weak.account(DT, P)
    assert (
        weak.voltage_at(a.stored).max() > 325
        and (a.resistor / DT).max() <= weak.voltage_at(a.stored).max() ** 2 / 4000 + 1e-9
    )
    drawn, burnt = (np.sum(x) for x in (a.drawn, a.resistor))
    assert drawn - burnt - a.stored[-1] == pytest.approx(np.sum(DT * P.sum(-1)), abs=1e-9)


def test_bus_epigraph_as_a_linear_programme_gives_the_account():
    """Minimise the rectifier's energy over all powers that keep the capacitor within its range: the
    physical bus is that optimum."""
    dt, mean = DT[::20] * 20, P[::20].sum(-1)
    n = len(dt)
    # unknowns: source (n), resistor (n); stored after k steps = Σ (s − r − p) dt in [0, capacity]
    L = np.tril(np.ones((n, n))) * dt
    A = np.block([[L, -L], [-L, L]])
    used = L @ mean
    best = linprog(
        np.concatenate([dt, np.zeros(n)]),
        A_ub=A,
        b_ub=np.concatenate([BUS.capacity + used, -used]),
        bounds=(0, None),
    )
    assert best.fun == pytest.approx(BUS.account(dt, mean[:, None]).drawn.sum(), rel=1e-7)
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


def test_supplies_by_name():
    assert (
        as_supply("non-regenerative") == NonRegenerative()
        and as_supply(None) == as_supply("regenerative") == Regenerative()
    )
    assert as_supply(BUS) is BUS
    with pytest.raises(ArgumentError, match="non-regenerative"):
        as_supply("solar")


@pytest.mark.parametrize("axes", [1, 2])
def test_one_width_for_all_axes_may_be_a_symbol(axes):
    ca = pytest.importorskip("casadi")
    width = ca.SX.sym("width")
    found = ca.Function(
        "f", [width], [NonRegenerative().drawn([ca.SX(3.0), ca.SX(-2.0)][:axes], width)]
    )
    assert float(found(0.5)) == pytest.approx(
        float(NonRegenerative().drawn([3.0, -2.0][:axes], 0.5))
    )

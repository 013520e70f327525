"""Robots on one bus draw less than on two, the ledger of the bus closes, and the voltage stays
within its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.cell.program.plan_program import plan_program
from armature.cell.program.program import Dwell, MoveTo, Program
from armature.cell.workcell.bus_cycle import (
    PowerCycle,
    power_cycle,
    run_bus,
    run_buses,
    simulated_cycle,
)
from armature.cell.workcell.on_bus import share_bus
from armature.cell.workcell.replan import replan_on_bus

ROBOT = arm.library("planar2")
BUS = arm.drive.Bus(1e-4, 48.0, 56.0, resistance=0.5, maximum_voltage=62.0)


@pytest.fixture(scope="module")
def plans():
    steps = (MoveTo([1.4, -0.5], name="out"), Dwell(0.1), MoveTo("start", name="back"))
    one = Program(ROBOT, [-0.6, 0.2], steps, 1.6, BUS, name="one", knots=20, points=3)
    first = plan_program(one)
    return [first, replace(first, program=replace(one, name="two"))]


@pytest.fixture(scope="module")
def shared(plans):
    return share_bus(BUS, plans)


def test_two_robots_on_one_bus_draw_less_than_on_two_buses(shared) -> None:
    assert shared.energy < 0.99 * sum(a.energy for a in shared.apart) and shared.saving > 0.01
    assert shared.energy <= shared.at_once.energy * (1 + 1e-6)


def test_the_simulation_of_both_keeps_the_voltage_and_the_energy(shared) -> None:
    proof = shared.certificate
    assert proof.ok, str(proof)
    assert proof.voltage[0] >= 48.0 * (1 - 1e-9) and proof.voltage[1] <= 62.0
    assert proof.energy == pytest.approx(shared.energy, rel=0.02)


def test_a_bus_that_is_too_small_tells_the_capacitor_or_the_resistor_that_is_enough(plans) -> None:
    """The witness: the certificate on buses with these parts, and with parts a little worse."""
    small = replace(BUS, resistance=3000.0)
    proof = lambda bus: share_bus(bus, plans, start=[0.0, 0.0], allowed=lambda s: not any(s))
    failed = proof(small).certificate
    assert not failed.ok and failed.needs is not None
    assert "the bus reaches" in str(failed) and "it needs a capacitor of at least" in str(failed)
    C, R = failed.needs.capacitance, failed.needs.resistance
    assert C is not None and R is not None and small.capacitance < C and small.resistance > R
    assert proof(replace(small, capacitance=C)).certificate.ok
    assert proof(replace(small, resistance=R)).certificate.ok
    assert not proof(replace(small, capacitance=0.9 * C)).certificate.ok
    assert not proof(replace(small, resistance=1.2 * R)).certificate.ok


def test_the_ledger_of_the_bus_closes(shared) -> None:
    for cycle in (shared.together, shared.at_once, *shared.apart):
        assert abs(cycle.residual) < 1e-9 * abs(cycle.powers).sum()
        assert cycle.stored[0] == pytest.approx(cycle.stored[-1], abs=1e-6)  # it is repeated


def test_no_shift_of_a_finer_grid_draws_less(plans, shared) -> None:
    cycles = [power_cycle(p) for p in plans]
    edges = shared.together.t[::10]
    draw = [
        run_bus(
            BUS, edges, np.column_stack([cycles[0].powers(edges, 0.0), cycles[1].powers(edges, s)])
        ).energy
        for s in np.linspace(0.0, 1.6, 57)
    ]
    at = run_bus(
        BUS,
        edges,
        np.column_stack([c.powers(edges, s) for c, s in zip(cycles, shared.shifts.values())]),
    )
    assert at.energy <= min(draw) + 2e-3 * abs(min(draw))


def test_steps_of_many_buses_are_those_of_the_bus_itself() -> None:
    rng = np.random.default_rng(0)
    dt, demand = np.full(50, 0.01), 300 * rng.normal(size=(50, 3))
    stored, drawn, burnt = run_buses(BUS, dt, demand)
    for k in range(3):
        account = BUS.account(dt, demand[:, k : k + 1], stored=stored[0, k])
        assert np.allclose(account.stored, stored[1:, k]) and np.allclose(
            account.drawn, dt * drawn[:, k]
        )
        assert np.allclose(account.resistor, dt * burnt[:, k])


def test_opposite_powers_cancel_when_they_are_shifted_by_half_a_cycle() -> None:
    """A robot that takes 100 W for half a cycle and gives 100 W for the other half; nothing can be
    stored."""
    from armature.cell.workcell.on_bus import _best_shifts

    wave = PowerCycle("w", np.array([0.0, 1.0, 2.0]), np.array([0.0, 100.0, 0.0]))
    tiny = arm.drive.Bus(1e-9, 48.0, 48.001)
    edges = np.linspace(0.0, 2.0, 401)
    for objective in ("energy", "peak"):
        shifts = _best_shifts(tiny, [wave, wave], edges, objective, None)
        assert shifts == pytest.approx([0.0, 1.0], abs=0.02)
    with pytest.raises(arm.ArmatureError, match=r"more than -5 W at once.*lowest peak found is"):
        _best_shifts(tiny, [wave, wave], edges, "peak", -5.0)
    third = _best_shifts(tiny, [wave, wave, wave, wave], edges, "energy", None)
    total = sum(wave.powers(edges, s) for s in third)
    assert np.abs(total).max() < 10.0  # two pairs that cancel


def test_peaks_are_lowered_and_a_limit_that_none_keeps_is_told(plans) -> None:
    low = share_bus(BUS, plans, "peak")
    assert low.together.peak < 0.9 * low.at_once.peak
    with pytest.raises(
        arm.ArmatureError, match=r"one, two need more than 1 W at once.*lowest peak found is .* W"
    ):
        share_bus(BUS, plans, most_power=1.0)
    kept = share_bus(BUS, plans, most_power=1.1 * low.together.peak)
    assert kept.together.peak <= 1.15 * low.together.peak


def test_a_simulated_cycle_takes_what_the_plan_takes(plans) -> None:
    planned, simulated = power_cycle(plans[0]), simulated_cycle(plans[0])
    assert simulated.work[-1] == pytest.approx(
        planned.work[-1], rel=0.02, abs=0.02 * np.ptp(planned.work)
    )


def test_other_cycles_are_refused(plans) -> None:
    with pytest.raises(arm.ArmatureError, match="one common cycle"):
        share_bus(BUS, [plans[0], replace(plans[1], cycle=2.0)])


def test_motions_re_planned_for_the_bus_draw_less_and_are_certified() -> None:
    """The draw is counted once more from all robots simulated under their new currents."""
    steps = MoveTo([1.4, -0.5], name="out"), MoveTo("start", name="back")
    one = plan_program(Program(ROBOT, [-0.6, 0.2], steps, 1.6, BUS, name="one", knots=20, points=3))
    plans = [one, replace(one, program=replace(one.program, name="two"))]
    before = share_bus(BUS, plans)
    found, new = replan_on_bus(BUS, plans)
    assert found.energy < 0.99 * before.energy and found.certificate.ok
    assert all(plan.certificate.ok for plan in new)
    for plan in new:
        assert [s.duration for s in plan.stages] == pytest.approx([s.duration for s in one.stages])
    edges = np.linspace(0.0, 1.6, 4001)
    cycles = [simulated_cycle(plan) for plan in new]
    powers = [c.powers(edges, s) for c, s in zip(cycles, found.shifts.values())]
    drawn = run_bus(BUS, edges, np.column_stack(powers)).energy
    assert drawn == pytest.approx(found.energy, rel=1e-2) and drawn < before.energy


def test_energies_between_steps_differ_from_straight_lines_by_at_most_their_bends() -> None:
    rng = np.random.default_rng(3)
    times = np.concatenate([[0.0], np.sort(rng.uniform(0.0, 2.0, 60)), [2.0]])
    cycle = PowerCycle("c", times, np.concatenate([[0.0], np.cumsum(rng.normal(size=61))]))
    for shift in (0.0, 0.37, 1.9):
        edges, fine = np.linspace(0.0, 2.0, 41), np.linspace(0.0, 2.0, 40 * 500 + 1)
        taken = np.concatenate([[0.0], np.cumsum(cycle.powers(fine, shift) * np.diff(fine))])
        off = np.abs(taken - np.interp(fine, edges, taken[::500]))[:-1].reshape(40, 500).max(1)
        bends = cycle.bends(edges, shift)
        assert np.all(off <= bends + 1e-12) and off.max() > 0.9 * bends.max()

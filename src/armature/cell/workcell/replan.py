"""Motions re-planned for the bus that robots share.

A robot alone plans for a supply of its own, on which energy that comes back is kept in its own
capacitor, or burnt. On a shared bus it may feed another robot, so that another motion may be the
better one. One motion at a time is planned anew, in the same time, for a supply that takes all
energy back, for one that takes none, and for the bus; it is taken if the bus, with what all others
do as it is, then draws less (or has a lower peak), and if it is certified. Then the robots are
shifted against each other again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armature.cell.program.curves import least_energy_of
from armature.cell.program.program_plan import PlannedLeg, ProgramPlan
from armature.cell.workcell.bus_cycle import power_cycle, run_bus
from armature.cell.workcell.bus_size import most_volts
from armature.cell.workcell.on_bus import STEPS, Allowed, BusPlan, share_bus
from armature.drive import Bus
from armature.optimize.certificate.solution import Solution

ROUNDS = 2  # over all motions of all robots
WORTH = 1e-3  # part of the energy or peak that another motion must save
SUPPLIES = ("regenerative", "non-regenerative")


def replan_on_bus(
    bus: Bus,
    plans: Sequence[ProgramPlan],
    objective: str = "energy",
    most_power: float | None = None,
    allowed: Allowed | None = None,
    start: Sequence[float] | None = None,
) -> tuple[BusPlan, list[ProgramPlan]]:
    """Share one bus as `share_bus` does, and plan motions anew where the bus draws less with them.
    Arguments: as in `share_bus`. Returns the bus and the programs' plans, each with the durations
    that it had."""
    found, chosen = share_bus(bus, plans, objective, most_power, allowed, start), list(plans)
    for _ in range(ROUNDS):
        shifts = list(found.shifts.values())
        changed = _changed(bus, chosen, shifts, objective)
        if changed is None:
            break
        other = share_bus(bus, changed, objective, most_power, allowed, shifts if allowed else None)
        if not other.certificate.ok or _value(other, objective) >= _value(found, objective):
            break
        found, chosen = other, changed
    return found, chosen


def _value(plan: BusPlan, objective: str) -> float:
    return plan.together.peak if objective == "peak" else plan.together.energy


def _changed(
    bus: Bus, plans: Sequence[ProgramPlan], shifts: Sequence[float], objective: str
) -> list[ProgramPlan] | None:
    """The plans with motions with which the bus draws less; None where there is none."""
    edges = np.linspace(0.0, plans[0].cycle, STEPS + 1)
    taken = [power_cycle(plan).powers(edges, s) for plan, s in zip(plans, shifts)]
    value = _on_bus(bus, edges, taken, objective)
    chosen, better = list(plans), False
    for k, plan in enumerate(plans):
        for j, stage in enumerate(plan.stages):
            if not isinstance(stage, PlannedLeg):
                continue
            for motion in _candidates(bus, chosen[k], stage):
                stages = list(chosen[k].stages)
                stages[j] = replace(stage, plan=motion)
                other = replace(chosen[k], stages=tuple(stages))
                row = power_cycle(other).powers(edges, shifts[k])
                new = _on_bus(bus, edges, [*taken[:k], row, *taken[k + 1 :]], objective)
                if new < value * (1 - WORTH) and other.certificate.ok:
                    chosen[k], taken[k], value, better = other, row, new, True
    return chosen if better else None


def _candidates(bus: Bus, plan: ProgramPlan, leg: PlannedLeg) -> Iterator[Solution]:
    """Certified motions of the same step in the same time, for other supplies."""
    supplies: list[Any] = [*SUPPLIES, bus]
    for supply in supplies:
        if supply == plan.program.supply:
            continue
        guess = leg.plan.trajectory
        found = least_energy_of(leg.leg, leg.duration, supply, plan.program.knots, guess)
        if found is not None and found.certificate.ok:
            yield found


def _on_bus(bus: Bus, edges: np.ndarray, taken: Sequence[np.ndarray], objective: str) -> float:
    """What the bus draws in a cycle, J, or its peak, W; infinite where its voltage is too high."""
    cycle = run_bus(bus, edges, np.column_stack(taken))
    if bus.voltage_at(cycle.stored.max()) > most_volts(bus):
        return np.inf
    return cycle.peak if objective == "peak" else cycle.energy

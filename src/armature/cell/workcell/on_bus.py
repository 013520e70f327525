"""Several robots on one d.c. bus: their cycles shifted so that one brakes while another
accelerates.

The bus keeps what comes back up to its capacitor's limit; what it draws in a cycle that is
repeated, and the largest power of its rectifier, depend on when each robot begins. Certified by a
simulation of all robots, whose powers charge and discharge one capacitor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armature.cell.program.program_plan import ProgramPlan
from armature.cell.workcell.bus_cycle import (
    BusCycle,
    PowerCycle,
    power_cycle,
    run_bus,
    run_buses,
    simulated_cycle,
)
from armature.cell.workcell.bus_size import Enough, enough, highest_voltage, most_volts
from armature.drive import Bus
from armature.errors import ArgumentError

STEPS = 600  # of a cycle while shifts are searched
SHIFTS = 120  # that are tried for each robot
FINE = 6000  # steps of a cycle in the certificate
SWEEPS = 4  # over more than two robots

Value = tuple[
    float, float, float
]  # W above the rectifier's limit, V above the bus's, energy or peak
ENERGY = 1e-2  # by which simulated and planned draw may differ, as a fraction of what goes through
OBJECTIVES = ("energy", "peak")
Allowed = Callable[[list[float]], bool]


@dataclass(frozen=True)
class BusCertificate:
    """What a simulation of all robots on the bus found. voltage: (lowest, highest), V, bounds for
    every instant.  allowed: (lowest, highest), V.  energy: drawn in a cycle, J.  energy_error: its
    difference from the plan, as a fraction of what goes through.  peak: W.  uncertified: robots
    whose programs are not certified.  needs: what the bus would need, where the voltage is too
    high."""

    voltage: tuple[float, float]
    allowed: tuple[float, float]
    energy: float
    energy_error: float
    peak: float
    uncertified: tuple[str, ...] = ()
    needs: Enough | None = None

    @property
    def holds_voltage(self) -> bool:
        """Whether the voltage stays within its limits."""
        low, high = self.voltage
        return low >= self.allowed[0] * (1 - 1e-9) and high <= self.allowed[1] * (1 + 1e-3)

    @property
    def failed(self) -> tuple[str, ...]:
        """What does not hold, a sentence each."""
        found = [f"the program of {name!r} is not certified" for name in self.uncertified]
        if not self.holds_voltage:
            found.append(
                f"the bus reaches {self.voltage[1]:.4g} V, allowed are {self.allowed[1]:.4g} V: it"
                f" needs {self.needs}"
            )
        if self.energy_error > ENERGY:
            found.append(
                f"the simulation draws {100 * self.energy_error:.2g} % of what goes through more"
                " or less than the plan: give the programs more knots"
            )
        return tuple(found)

    @property
    def ok(self) -> bool:
        """All programs are certified, the voltage stays within its limits, the energy is the
        plan's."""
        return not self.failed

    def __str__(self) -> str:
        low, high = self.voltage
        return (
            f"certificate of the bus: {'passed' if self.ok else 'NOT passed'}; all robots"
            f" simulated: {low:.5g} V to {high:.5g} V at every instant (allowed"
            f" {self.allowed[0]:.5g} to {self.allowed[1]:.5g} V), {self.energy:.5g} J drawn, off by"
            f" {self.energy_error:.1e} of what goes through"
            + "".join(f"\n  {sentence}" for sentence in self.failed)
        )


@dataclass(frozen=True, eq=False)
class BusPlan:
    """Robots on one bus. shifts: {robot: s, when its cycle begins}.  together: the bus over a
    cycle.
    at_once: the same without shifts.  apart: each robot on such a bus of its own."""

    bus: Bus
    shifts: dict[str, float]
    together: BusCycle
    at_once: BusCycle
    apart: tuple[BusCycle, ...]
    certificate: BusCertificate

    @property
    def energy(self) -> float:
        """Drawn in a cycle, J."""
        return self.together.energy

    @property
    def saving(self) -> float:
        """Fraction of what robots on buses of their own draw."""
        alone = sum(a.energy for a in self.apart)
        return 1.0 - self.energy / alone if alone > 0 else 0.0

    def __str__(self) -> str:
        alone, peak = sum(a.energy for a in self.apart), sum(a.peak for a in self.apart)
        burnt = lambda c: float(c.burnt @ np.diff(c.t))
        shifts = ", ".join(f"{name} at {s:.4g} s" for name, s in self.shifts.items())
        rows = [
            (
                f"one bus: {self.energy:.5g} J drawn in a cycle, {burnt(self.together):.4g} J"
                f" burnt, peak {self.together.peak:.5g} W; {shifts}"
            ),
            f"  without shifts: {self.at_once.energy:.5g} J, peak {self.at_once.peak:.5g} W",
            (
                f"  on {len(self.apart)} buses: {alone:.5g} J, {sum(map(burnt, self.apart)):.4g} J"
                f" burnt, peaks {peak:.5g} W in sum; saved {100 * self.saving:.1f} %"
            ),
            str(self.certificate),
        ]
        return "\n".join(rows)


def share_bus(
    bus: Bus,
    plans: Sequence[ProgramPlan],
    objective: str = "energy",
    most_power: float | None = None,
    allowed: Allowed | None = None,
    start: Sequence[float] | None = None,
) -> BusPlan:
    """When each robot begins its cycle, so that all on one bus draw least, or their peak is lowest.

    plans: programs with one common cycle.  objective: "energy": drawn in a cycle; "peak": the
    rectifier's largest power.  most_power: W that the rectifier gives at most; an ArgumentError
    tells the lowest peak that was found where none keeps it.  allowed: tells of shifts (robots,),
    s, whether they may be; by default all may.  start: shifts that may be, to begin with.
    """
    names, cycle = _checked(bus, plans, objective)
    if most_power is not None and not most_power > 0.0:
        raise ArgumentError(f"most_power = {most_power} W; give a positive number, or leave it out")
    if start is not None and len(start) != len(plans):
        raise ArgumentError(
            f"start has {len(start)} shifts for {len(plans)} programs; give each one"
        )
    cycles = [power_cycle(plan, name) for plan, name in zip(plans, names)]
    edges = np.linspace(0.0, cycle, STEPS + 1)
    shifts = _best_shifts(bus, cycles, edges, objective, most_power, allowed, start)
    fine = np.linspace(0.0, cycle, FINE + 1)
    on = lambda chosen, which: run_bus(
        bus, fine, np.column_stack([c.powers(fine, s) for c, s in zip(which, chosen)])
    )
    together, at_once = on(shifts, cycles), on([0.0] * len(cycles), cycles)
    apart = tuple(on([s], [c]) for c, s in zip(cycles, shifts))
    proof = _certificate(bus, plans, names, shifts, fine, together)
    return BusPlan(bus, dict(zip(names, shifts)), together, at_once, apart, proof)


def _checked(bus: Bus, plans: Sequence[ProgramPlan], objective: str) -> tuple[list[str], float]:
    if not isinstance(bus, Bus):
        raise ArgumentError(f"bus = {bus!r:.60} must be an arm.drive.Bus")
    if objective not in OBJECTIVES:
        raise ArgumentError(f"objective = {objective!r} must be one of {', '.join(OBJECTIVES)}")
    if not plans or any(not isinstance(p, ProgramPlan) for p in plans):
        raise ArgumentError("give the plans of at least one program (plan_program)")
    cycle = plans[0].cycle
    for plan in plans:
        if abs(plan.cycle - cycle) > 1e-6 * cycle:
            raise ArgumentError(
                f"program {plan.program.name!r} has a cycle of {plan.cycle:.6g} s, another one of "
                f"{cycle:.6g} s; robots on one bus need one common cycle"
            )
    names = [p.program.name for p in plans]
    return [f"{n} {k + 1}" if names.count(n) > 1 else n for k, n in enumerate(names)], cycle


def _best_shifts(
    bus: Bus,
    cycles: Sequence[PowerCycle],
    edges: np.ndarray,
    objective: str,
    most: float | None,
    allowed: Allowed | None = None,
    start: Sequence[float] | None = None,
) -> list[float]:
    """Shifts of all robots, s; the first one begins at 0. One robot at a time over a grid, from
    several starts, then over a finer grid around the best."""
    T, dt, K = float(edges[-1]), np.diff(edges), len(cycles)
    if K == 1:
        own = cycles[0].powers(edges, 0.0)[:, None]
        _check_peak(cycles, most, _along(bus, dt, own, np.zeros(1), objective, most)[1][0])
        return [0.0]
    grid = T * np.arange(SHIFTS) / SHIFTS
    known = [np.column_stack([c.powers(edges, s) for s in grid]) for c in cycles]
    best: tuple[Value, list[float]] | None = None
    rng = np.random.default_rng(0)
    starts = (
        [[0.0] * K]
        if K == 2
        else [
            [0.0] * K,
            [T * k / K for k in range(K)],
            *([0.0, *rng.uniform(0, T, K - 1)] for _ in range(2)),
        ]
    )
    starts = starts if start is None else [list(start)]
    for first in starts:
        shifts, value = list(first), (np.inf, np.inf, np.inf)
        for _ in range(1 if K == 2 else SWEEPS):
            for k in range(1, K):
                others = np.sum(
                    [cycles[j].powers(edges, shifts[j]) for j in range(K) if j != k], axis=0
                )
                free = _free(grid, shifts, k, allowed)
                if free.any():
                    shifts[k], value = _along(
                        bus, dt, others[:, None] + known[k][:, free], grid[free], objective, most
                    )
        if best is None or value < best[0]:
            best = value, shifts
    assert best is not None
    value, shifts = best
    for k in range(1, K):
        near = shifts[k] + T / SHIFTS * np.linspace(-1.0, 1.0, 41)
        others = np.sum([cycles[j].powers(edges, shifts[j]) for j in range(K) if j != k], axis=0)
        near = near[_free(near, shifts, k, allowed)]
        if not len(near):
            continue
        own = np.column_stack([cycles[k].powers(edges, s) for s in near])
        shifts[k], value = _along(bus, dt, others[:, None] + own, near, objective, most)
    _check_peak(cycles, most, value[0])
    return [float(s % T) for s in shifts]


def _check_peak(cycles: Sequence[PowerCycle], most: float | None, over: float) -> None:
    """Refuse a limit of the rectifier (W) that is exceeded by `over` at best."""
    if most is not None and over > 0.0:
        raise ArgumentError(
            f"the robots {', '.join(c.name for c in cycles)} need more than {most:g} W at once,"
            f" however they are shifted; the lowest peak found is {most + over:.5g} W: allow"
            " that much, or a longer cycle"
        )


def _free(grid: np.ndarray, shifts: list[float], k: int, allowed: Allowed | None) -> np.ndarray:
    """Which shifts of robot k may be, with those of the others."""
    if allowed is None:
        return np.ones(len(grid), dtype=bool)
    return np.array([allowed([*shifts[:k], float(s), *shifts[k + 1 :]]) for s in grid])


def _along(
    bus: Bus,
    dt: np.ndarray,
    demands: np.ndarray,
    grid: np.ndarray,
    objective: str,
    most: float | None,
) -> tuple[float, Value]:
    """The best shift of one robot, and its value."""
    stored, drawn, _ = run_buses(bus, dt, demands)
    peak = drawn.max(0)
    over = np.zeros(len(grid)) if most is None else np.maximum(0.0, peak - most)
    volts = np.maximum(0.0, bus.voltage_at(stored.max(0)) - most_volts(bus))
    goal = dt @ drawn if objective == "energy" else peak
    k = int(np.lexsort((goal, volts, over))[0])
    return float(grid[k]), (float(over[k]), float(volts[k]), float(goal[k]))


def _certificate(
    bus: Bus,
    plans: Sequence[ProgramPlan],
    names: Sequence[str],
    shifts: Sequence[float],
    edges: np.ndarray,
    planned: BusCycle,
) -> BusCertificate:
    """All robots simulated, their powers on one capacitor; between steps the stored energy differs
    from a monotone one by at most what the energies taken differ from straight lines."""
    cycles = [simulated_cycle(plan, name) for plan, name in zip(plans, names)]
    found = run_bus(
        bus, edges, np.column_stack([c.powers(edges, s) for c, s in zip(cycles, shifts)])
    )
    bends = np.sum([c.bends(edges, s) for c, s in zip(cycles, shifts)], axis=0)
    limit = most_volts(bus)
    through = float(np.diff(edges) @ np.abs(planned.powers).sum(1))
    error = abs(found.energy - planned.energy) / max(through, 1e-12)
    low = float(bus.voltage_at(max(found.stored.min(), 0.0)))
    proof = BusCertificate(
        (low, highest_voltage(bus, found, bends)),
        (bus.voltage, limit),
        found.energy,
        error,
        found.peak,
        tuple(name for name, plan in zip(names, plans) if not plan.ok),
    )
    return (
        proof
        if proof.holds_voltage
        else replace(proof, needs=enough(bus, edges, found.powers, bends))
    )

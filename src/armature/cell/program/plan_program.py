"""`plan_program`: least energy for a cycle, least cycle, or the whole curve of a robot program."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armature.cell.program.curves import Counter, Progress, Timed, planned, shortest, timed
from armature.cell.program.cycle_heat import plan_over_cycle
from armature.cell.program.price import share_by_price
from armature.cell.program.program import Program
from armature.cell.program.program_plan import (
    PlannedLeg,
    PlannedStage,
    PlannedStop,
    ProgramPlan,
    parts_of,
    program_energy,
)
from armature.cell.program.share import Cost, share, share_curve
from armature.cell.program.stages import Leg, Stage, Stop, stages
from armature.errors import ArgumentError
from armature.optimize.certificate.solution import Solution
from armature.study.rest import coil_power

OBJECTIVES = ("energy", "time")
LONGEST = 3.0  # the longest cycle of a curve, in multiples of the least one
ROUNDING = 1e-9
ROUNDS = 4  # of sharing out and planning
WORTH = 1e-3  # part of the energy that another round must promise


@dataclass(frozen=True, eq=False)
class ProgramCurve:
    """Least energy of a program against its cycle. cycles: (K,), s.  energies: (K,), J: the exact
    optimum over the motions' energy-time curves, not certified.  best: (s, J) of the cheapest."""

    name: str
    cycles: np.ndarray
    energies: np.ndarray

    @property
    def best(self) -> tuple[float, float]:
        """(cycle, energy) of the cheapest cycle, s and J."""
        k = int(np.nanargmin(self.energies))
        return float(self.cycles[k]), float(self.energies[k])

    def __str__(self) -> str:
        pick = np.unique(np.linspace(0, len(self.cycles) - 1, 13).round().astype(int))
        rows = [f"{self.cycles[k]:10.4f} s {self.energies[k]:12.4f} J" for k in pick]
        T, E = self.best
        return "\n".join(
            [f"{self.name}: energy against cycle", *rows, f"cheapest: {T:.4g} s, {E:.4g} J"]
        )


def plan_program(
    program: Program, objective: str = "energy", progress: Progress | None = None
) -> ProgramPlan:
    """Plan a whole program: every motion certified, time shared out so that the energy is least.

    objective: "energy": least energy in `program.cycle`; "time": the least cycle.
    progress: called with what was done, how many steps are done, and of how many.
    An ArgumentError names the step that is impossible and the number that would make it possible.
    """
    _check(program, objective)
    if program.mean_limits == "cycle":
        by_motions = lambda p: plan_program(replace(p, mean_limits="motion"), objective, progress)
        return plan_over_cycle(program, by_motions, objective)
    begin = time.perf_counter()
    timeless = objective == "time"
    if program.cycle is None and not timeless:
        raise ArgumentError(
            f"program {program.name!r} has no cycle; give one (cycle=…), or ask for the least time"
        )
    parts = stages(program)
    legs = [s for s in parts if isinstance(s, Leg)]
    tell = Counter(progress, (1 if timeless else 4) * len(legs))
    fastest = fastest_motions(program, legs, tell)
    least = sum(f.duration for f in fastest) + sum(s.seconds for s in parts if isinstance(s, Stop))
    cycle = least if timeless or program.cycle is None else float(program.cycle)
    if cycle < least * (1 - ROUNDING):
        raise ArgumentError(_too_short(program, parts, fastest, cycle, least))
    spare = max(0.0, cycle - least)
    if timeless:
        known = [
            timed(leg, f, 0.0, program.supply, program.knots, program.points)
            for leg, f in zip(legs, fastest)
        ]
        return assembled(program, parts, known, None, cycle, least, begin, tell)
    known = energy_curves(program, legs, fastest, spare, tell)
    return assembled(program, parts, known, [], cycle, least, begin, tell)


def program_curve(
    program: Program, longest: float | None = None, progress: Progress | None = None
) -> ProgramCurve:
    """Least energy of a program against its cycle, from the least one to `longest` (s; by default
    three times the least)."""
    _check(program, "energy")
    parts = stages(program)
    legs = [s for s in parts if isinstance(s, Leg)]
    tell = Counter(progress, 2 * len(legs))
    fastest = fastest_motions(program, legs, tell)
    least = sum(f.duration for f in fastest) + sum(s.seconds for s in parts if isinstance(s, Stop))
    end = LONGEST * least if longest is None else float(longest)
    if not end > least:
        raise ArgumentError(f"longest = {end:.4g} s must be above the least cycle, {least:.4g} s")
    known = energy_curves(program, legs, fastest, end - least, tell)
    times, energies = share_curve(_costs(parts, known), end - least)
    return ProgramCurve(program.name, least + times, energies)


def _check(program: Program, objective: str) -> None:
    if not isinstance(program, Program):
        raise ArgumentError(
            f"program = {program!r:.60} must be a Program; make one, or read one by load_program"
        )
    if objective not in OBJECTIVES:
        raise ArgumentError(f"objective = {objective!r} must be one of {', '.join(OBJECTIVES)}")
    if not program.robot.drives:
        raise ArgumentError(
            f"robot {program.robot.name!r} has no drives, so that no energy is counted; "
            "give it some by robot.with_drives(...)"
        )


def fastest_motions(program: Program, legs: Sequence[Leg], tell: Counter) -> list[Solution]:
    """The shortest motion of every leg."""
    found = []
    for leg in legs:
        found.append(shortest(leg, program.supply, program.knots))
        tell(f"least time of {leg.name}")
    return found


def energy_curves(
    program: Program, legs: Sequence[Leg], fastest: Sequence[Solution], spare: float, tell: Counter
) -> list[Timed]:
    """Every leg with its energy-time curve up to `spare` seconds more than its least time."""
    found = []
    for leg, f in zip(legs, fastest):
        found.append(timed(leg, f, spare, program.supply, program.knots, program.points))
        tell(f"energy against time of {leg.name}")
    return found


def _too_short(
    program: Program,
    parts: Sequence[Stage],
    fastest: Sequence[Solution],
    cycle: float,
    least: float,
) -> str:
    """Which steps need how much of a cycle that is too short."""
    rest = iter(fastest)
    needs = [(s.name, next(rest).duration if isinstance(s, Leg) else s.seconds) for s in parts]
    told = ", ".join(f"{name} {seconds:.4g} s" for name, seconds in needs if seconds > 0)
    return (
        f"program {program.name!r} of robot {program.robot.name!r} cannot be done in {cycle:.4g} s:"
        f" its steps need {told}; give at least {least:.6g} s"
    )


# sharing out the time ----------------------------------------------------------------------------


def _costs(parts: Sequence[Stage], known: Sequence[Timed]) -> list[Cost]:
    """Energy of every stage with so much more time than its least."""
    rest = iter(known)
    return [_leg_cost(next(rest)) if isinstance(s, Leg) else _stop_cost(s) for s in parts]


def _leg_cost(of: Timed) -> Cost:
    return lambda x: of.curve(of.curve.least + np.asarray(x))


def _stop_cost(stop: Stop) -> Cost:
    def cost(x: np.ndarray) -> np.ndarray:
        most = np.inf if stop.waiting >= 0 else 0.0
        return np.array([stop.energy(t) if t <= most else np.inf for t in np.asarray(x).tolist()])

    return cost


def _even(parts: Sequence[Stage], known: Sequence[Timed], spare: float) -> list[float]:
    """The same for each motion; what one may not take is waited for after it, where that is
    possible."""
    each = spare / len(known)
    rest, given, left = iter(known), [], 0.0
    for s in parts:
        if isinstance(s, Leg):
            of = next(rest)
            taken = min(each, float(of.curve.durations[-1] - of.curve.least))
            given.append(taken)
            left += each - taken
        else:
            waits = left if s.waiting >= 0 else 0.0
            given.append(waits)
            left -= waits
    return given


# planning at the durations found -----------------------------------------------------------------


def assembled(
    program: Program,
    parts: Sequence[Stage],
    known: Sequence[Timed],
    given: Sequence[float] | None,
    cycle: float,
    least: float,
    begin: float,
    tell: Counter,
    compare: bool = True,
) -> ProgramPlan:
    """The plan with what every stage is given beyond its least time (s), and what it is compared
    with.

    given: None: every motion at its least time.  compare: share the time out here, and compare with
    an even share, which is taken where it costs less; False: as `given`, by others."""
    spare = cycle - least
    quick = [0.0] * len(parts)
    fast = _laid_out(
        program, parts, known, _waiting(parts, quick, spare), [k.fastest for k in known]
    )
    if given is None:
        energy = _energy(program, fast)
        seconds = time.perf_counter() - begin
        return ProgramPlan(program, tuple(fast), cycle, least, energy, energy, (), seconds)
    if not compare:
        chosen, even, notes = _solved(program, parts, known, given, "plan", tell), None, []
        price = None
    else:
        alone = _solved(program, parts, known, _even(parts, known, spare), "even share", tell)
        even, notes = _energy(program, alone), []
        chosen = _refined(program, parts, _with_points(known, alone), spare, tell)
        chosen, price, told = _at_one_price(program, parts, known, chosen, tell)
        notes += told
        if even < _energy(program, chosen):  # the curves are sampled: what was planned decides
            chosen = alone
            price, notes = None, []
            notes.append("an even share of the time needs no more energy: it is taken")
    moved = [
        s.name
        for s in chosen
        if isinstance(s, PlannedLeg) and abs(s.duration - s.share) > 1e-6 * s.share
    ]
    notes += [
        f"no certified plan of {name!r} in the time that it was given: a shorter one, and waiting"
        for name in moved
    ]
    return ProgramPlan(
        program,
        tuple(chosen),
        cycle,
        least,
        even,
        _energy(program, fast),
        tuple(notes),
        time.perf_counter() - begin,
        price,
    )


def _at_one_price(
    program: Program,
    parts: Sequence[Stage],
    known: Sequence[Timed],
    laid: list[PlannedStage],
    tell: Counter,
) -> tuple[list[PlannedStage], float | None, list[str]]:
    """The plan with durations at which time has one price for all motions, where that needs less;
    the price, W; and what is said of it."""
    shared = share_by_price(program, laid, known)
    if shared is None:
        return laid, None, []
    before = _energy(program, laid)
    other = _solved(program, parts, _with_points(known, laid), shared.given, "one price", tell)
    after = _energy(program, other)
    if after >= before:
        return laid, None, []
    said = (
        f"one price of time for all motions, {shared.price + 0.0:.3g} W: {before - after:.3g} J"
        f" ({100 * (1 - after / before):.2g} %) less than by their curves"
    )
    return other, shared.price, [said]


def _solved(
    program: Program,
    parts: Sequence[Stage],
    known: Sequence[Timed],
    extra: Sequence[float],
    what: str,
    tell: Counter,
) -> list[PlannedStage]:
    """Every motion planned with what it is given beyond its least time, s."""
    given = [x for s, x in zip(parts, extra) if isinstance(s, Leg)]
    plans = []
    for of, x in zip(known, given):
        plans.append(planned(of, of.curve.least + x, program.supply, program.knots))
        tell(f"{what} of {of.leg.name}")
    return _laid_out(program, parts, known, extra, plans)


def _refined(
    program: Program, parts: Sequence[Stage], known: Sequence[Timed], spare: float, tell: Counter
) -> list[PlannedStage]:
    """The time shared out, the motions planned, and their energies put into the curves, until
    another share promises no more than WORTH; the cheapest plan."""
    best: tuple[float, list[PlannedStage]] | None = None
    for _ in range(ROUNDS):
        given, promised = share(_costs(parts, known), spare)
        if best is not None and promised > best[0] * (1 - WORTH):
            break
        laid = _solved(program, parts, known, given, "plan", tell)
        energy = _energy(program, laid)
        if best is None or energy < best[0]:
            best = energy, laid
        known = _with_points(known, laid)
    assert best is not None
    return best[1]


def _with_points(known: Sequence[Timed], laid: Sequence[PlannedStage]) -> list[Timed]:
    """Curves with the durations and energies of plans as further points."""
    legs = [s for s in laid if isinstance(s, PlannedLeg)]
    return [
        replace(of, curve=of.curve.with_point(leg.plan, coil_power(leg.leg.robot)))
        for of, leg in zip(known, legs)
    ]


def _waiting(parts: Sequence[Stage], given: list[float], spare: float) -> list[float]:
    """All of the spare time waited for at the stop where that costs least."""
    open_ = [k for k, s in enumerate(parts) if isinstance(s, Stop) and s.waiting >= 0]
    if not open_:
        return given
    best = min(open_, key=lambda k: parts[k].energy(spare) - parts[k].energy())  # type: ignore[union-attr]
    return [spare if k == best else x for k, x in enumerate(given)]


def _laid_out(
    program: Program,
    parts: Sequence[Stage],
    known: Sequence[Timed],
    given: Sequence[float],
    plans: Sequence[Solution],
) -> list[PlannedStage]:
    """Stages one after the other; what a motion does not use of its time is waited for after it."""
    found: list[PlannedStage] = []
    at, left = 0.0, 0.0
    each = iter(zip(known, plans))
    for s, extra in zip(parts, given):
        if isinstance(s, Leg):
            of, plan = next(each)
            share_ = of.curve.least + extra
            found.append(PlannedLeg(s, at, plan, of.curve, share_))
            left += share_ - plan.duration
            left = left if abs(left) > ROUNDING else 0.0
        else:
            wait = extra + left if s.waiting >= 0 else extra
            left = 0.0 if s.waiting >= 0 else left
            found.append(PlannedStop(s, at, wait))
        at += found[-1].duration
    return found


def _energy(program: Program, laid: Sequence[PlannedStage]) -> float:
    parts = [part for stage in laid for part in parts_of(stage, program.supply)]
    return program_energy(program.robot, parts, program.supply)

"""`plan_cell`: the schedule of a cell of programs, its motions re-planned and certified, and its
bus."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import starmap
from typing import Any

from armature.cell.program.curves import Counter, Progress, Timed
from armature.cell.program.plan_program import assembled, energy_curves, fastest_motions
from armature.cell.program.program import Program
from armature.cell.program.program_plan import PlannedLeg, ProgramPlan
from armature.cell.program.stages import Leg, Stage, Stop, stages
from armature.cell.schedule.optimize_cell import optimize_cell
from armature.cell.schedule.schedule import Schedule, simulate
from armature.cell.workcell.cell import Cell, CellPlan, Zone, activity
from armature.cell.workcell.cell_model import cell_model, find_stage
from armature.cell.workcell.on_bus import BusPlan
from armature.cell.workcell.replan import replan_on_bus
from armature.cell.workcell.zones import Shared, World
from armature.errors import ArgumentError, several

ROUNDS = 4  # of scheduling and planning until robots are proved to stay apart


def plan_cell(cell: Cell, progress: Progress | None = None, seconds: float = 60.0) -> CellPlan:
    """Plan a cell: the schedule of least energy over the certified curves of all motions, then
    every motion re-planned and certified at the duration it was given, then the bus.

    seconds: for the schedule.  An ArgumentError names the robot, the step and the number that would
    help."""
    if not isinstance(cell, Cell):
        raise ArgumentError(
            f"cell = {cell!r:.60} must be a Cell; make one, or read one by load_cell"
        )
    begin = time.perf_counter()
    parts = checked_stages(cell)
    tell = Counter(progress, 3 * sum(isinstance(s, Leg) for all_ in parts.values() for s in all_))
    known = {name: _timed(cell, name, parts[name], tell) for name in parts}
    world = None if cell.bases is None else World(cell, parts)
    shared = [] if world is None else world.shared(known)
    for _ in range(ROUNDS):
        schedule = _scheduled(cell, parts, known, (world, shared), seconds)
        plans = {
            name: _planned(cell, name, parts[name], known[name], schedule, tell) for name in parts
        }
        on_bus = None
        if cell.bus is not None:
            on_bus, schedule, plans = _on_bus(cell, schedule, plans)
        starts = {name: _program_start(schedule, plan, name) for name, plan in plans.items()}
        apart = {} if world is None else world.proofs(plans, starts)
        more = [] if world is None else list(filter(None, starmap(world.met, apart.items())))
        if not more:
            break
        shared += more
    zones = tuple(
        Zone(((a, one.name), (b, two.name)), f"found {k}")
        for k, ((a, one), (b, two)) in enumerate(shared, start=1)
    )
    return CellPlan(cell, schedule, plans, on_bus, time.perf_counter() - begin, apart, zones)


def _scheduled(
    cell: Cell,
    parts: Mapping[str, Sequence[Stage]],
    known: Mapping[str, Sequence[Timed]],
    zones: tuple[World | None, Sequence[Shared]],
    seconds: float,
) -> Schedule:
    """The schedule of least energy; where zones that were found leave none, they are named, with
    the distance between bases at which there would be none."""
    world, shared = zones
    try:
        return optimize_cell(cell_model(cell, parts, known, shared), seconds)
    except ArgumentError as error:
        if world is None or not shared:
            raise
        told = [f"{a}/{one.name} with {b}/{two.name}" for (a, one), (b, two) in shared]
        remedies = []
        for a, b in dict.fromkeys((a, b) for (a, _), (b, _) in shared):
            more = world.separation(a, b, known)
            if more is not None:
                remedies.append(f"with {b!r} {more:.2f} m farther from {a!r} none of theirs meet")
        raise ArgumentError(
            f"{error}. Steps that sweep through the same space: {several(told)};"
            f" {'; '.join(remedies) or 'lead the steps elsewhere'}"
        ) from None


def _planned(
    cell: Cell,
    name: str,
    parts: Sequence[Stage],
    known: Sequence[Timed],
    schedule: Schedule,
    tell: Counter,
) -> ProgramPlan:
    """A robot's program at the durations that the schedule gives."""
    return assembled(
        cell.robots[name],
        parts,
        known,
        _given(name, parts, known, schedule),
        cell.cycle,
        _least(parts, known),
        time.perf_counter(),
        tell,
        compare=False,
    )


def checked_stages(cell: Cell) -> dict[str, tuple[Stage, ...]]:
    """Legs and stops of all robots; an ArgumentError names a step of a wait or zone that is none of
    them."""
    parts = {name: stages_of(name, program) for name, program in cell.robots.items()}
    named = [step for wait in cell.waits for step in (wait.step, wait.after)]
    for where in (*named, *(step for zone in cell.zones for step in zone.steps)):
        find_stage(cell, parts, where)
    return parts


def stages_of(name: str, program: Program) -> tuple[Stage, ...]:
    """Legs and stops of a robot's program; an ArgumentError names the robot."""
    if not program.closed:
        raise ArgumentError(
            f"robot {name!r}: programs of a cell are repeated; leave out closed=False"
        )
    try:
        return stages(program)
    except ArgumentError as error:
        raise ArgumentError(f"robot {name!r}: {error}") from None


def _timed(cell: Cell, name: str, parts: Sequence[Stage], tell: Counter) -> list[Timed]:
    """The energy-time curves of a robot's motions; refuses a cycle that is too short for it."""
    program = cell.robots[name]
    legs = [s for s in parts if isinstance(s, Leg)]
    try:
        fastest = fastest_motions(program, legs, tell)
    except ArgumentError as error:
        raise ArgumentError(f"cell {cell.name!r}, robot {name!r}: {error}") from None
    least = sum(f.duration for f in fastest) + sum(s.seconds for s in parts if isinstance(s, Stop))
    if least > cell.cycle * (1 + 1e-9):
        raise ArgumentError(
            f"cell {cell.name!r}: robot {name!r} needs {least:.6g} s, but the cycle is "
            f"{cell.cycle:.6g} s; give at least that"
        )
    return energy_curves(program, legs, fastest, cell.cycle - least, tell)


def _least(parts: Sequence[Stage], known: Sequence[Timed]) -> float:
    return sum(k.curve.least for k in known) + sum(s.seconds for s in parts if isinstance(s, Stop))


def _given(
    name: str, parts: Sequence[Stage], known: Sequence[Timed], schedule: Schedule
) -> list[float]:
    """What the schedule gives every stage beyond its least time, s."""
    lasts = {t.activity: t.duration for t in schedule.tasks[name]}
    rest = iter(known)
    first = parts[0].seconds if isinstance(parts[0], Stop) else 0.0
    given = []
    for k, s in enumerate(parts):
        if isinstance(s, Leg):
            given.append(max(0.0, lasts[activity(name, s)] - next(rest).curve.least))
        elif k == 0:
            given.append(0.0)
        else:
            merged = first if k == len(parts) - 1 else 0.0
            given.append(max(0.0, lasts[activity(name, s)] - s.seconds - merged))
    return given


# the bus -----------------------------------------------------------------------------------------


def _on_bus(
    cell: Cell, schedule: Schedule, plans: Mapping[str, ProgramPlan]
) -> tuple[BusPlan, Schedule, dict[str, ProgramPlan]]:
    """Robots shifted against each other, as far as hand-overs and zones allow, and motions planned
    anew, for the bus's sake."""
    names = list(plans)
    base = [_program_start(schedule, plans[n], n) for n in names]

    def moved(shifts: Sequence[float]) -> Schedule:
        by = [s - b for s, b in zip(shifts, base)]
        by = [
            x - round((x - by[0]) / cell.cycle) * cell.cycle for x in by
        ]  # the nearest cycle: lags count cycles
        tasks = {
            n: tuple(replace(t, start=t.start + x) for t in schedule.tasks[n])
            for n, x in zip(names, by)
        }
        return replace(schedule, tasks=tasks)

    bound = bool(schedule.model.lags or schedule.model.clashes)
    start = base[0]
    allowed = (lambda shifts: not simulate(moved([s + start for s in shifts]))) if bound else None
    assert cell.bus is not None
    own = [x - start for x in base] if bound else None
    found, chosen = replan_on_bus(
        cell.bus, [plans[n] for n in names], cell.objective, cell.most_power, allowed, own
    )
    schedule = moved([s + start for s in found.shifts.values()])
    return found, schedule, dict(zip(names, chosen))


def _program_start(schedule: Schedule, plan: ProgramPlan, name: str) -> float:
    """When a program's clock begins in the cell, s."""
    first = next(s for s in plan.stages if isinstance(s, PlannedLeg))
    task: Any = next(t for t in schedule.tasks[name] if t.activity == activity(name, first.leg))
    return task.start - first.begin

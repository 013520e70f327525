"""`plan_cell`: the schedule of a cell of programs, its motions re-planned and certified, and its
bus."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armature.cell.program.curves import Counter, Progress, Timed
from armature.cell.program.plan_program import assembled, energy_curves, fastest_motions
from armature.cell.program.program import Program
from armature.cell.program.program_plan import PlannedLeg, ProgramPlan
from armature.cell.program.share import EnergyCurve
from armature.cell.program.stages import Leg, Stage, Stop, stages
from armature.cell.schedule.model import (
    CellModel,
    CellRobot,
    Clash,
    Lag,
    Mode,
    Movement,
    Sampled,
    Spot,
    Stand,
    Travel,
)
from armature.cell.schedule.optimize_cell import optimize_cell
from armature.cell.schedule.schedule import Schedule, simulate
from armature.cell.workcell.cell import Cell, CellPlan, Wait, activity
from armature.cell.workcell.on_bus import BusPlan, share_bus
from armature.errors import ArgumentError

LONG = 1000.0  # s: waiting times from which the cost of standing on brakes is read off


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
    parts = {name: stages_of(name, program) for name, program in cell.robots.items()}
    tell = Counter(progress, 3 * sum(isinstance(s, Leg) for all_ in parts.values() for s in all_))
    known = {name: _timed(cell, name, parts[name], tell) for name in parts}
    schedule = optimize_cell(cell_model(cell, parts, known), seconds)
    plans = {}
    for name, program in cell.robots.items():
        given = _given(name, parts[name], known[name], schedule)
        least = _least(parts[name], known[name])
        plan = assembled(
            program,
            parts[name],
            known[name],
            given,
            cell.cycle,
            least,
            time.perf_counter(),
            tell,
            compare=False,
        )
        plans[name] = plan
    on_bus = None
    if cell.bus is not None:
        on_bus, schedule = _on_bus(cell, schedule, plans)
    return CellPlan(cell, schedule, plans, on_bus, time.perf_counter() - begin)


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


# the schedule model ------------------------------------------------------------------------------


def cell_model(
    cell: Cell, parts: Mapping[str, Sequence[Stage]], known: Mapping[str, Sequence[Timed]]
) -> CellModel:
    """The cell as numbers: stops are stands, motions are travels with their energy-time curves."""
    robots = tuple(_robot(name, parts[name], known[name]) for name in parts)
    lags = tuple(_lag(cell, w, parts) for w in cell.waits)
    options = {e.name: [m.name for m in e.movements] for r in robots for e in r.travels}
    options |= {s.name: [p.name for p in s.spots] for r in robots for s in r.stands}
    clashes = []
    for zone in cell.zones:
        for one, two in itertools.combinations(zone.steps, 2):
            if one[0] != two[0]:
                names = [
                    activity(robot, find_stage(cell, parts, (robot, step)))
                    for robot, step in (one, two)
                ]
                pairs = itertools.product(options[names[0]], options[names[1]])
                clashes += [Clash((names[0], a), (names[1], b)) for a, b in pairs]
    return CellModel(cell.name, cell.cycle, robots, lags, (), tuple(clashes))


def _robot(name: str, parts: Sequence[Stage], known: Sequence[Timed]) -> CellRobot:
    stops = [s for s in parts if isinstance(s, Stop)]
    first = (
        stops[0] if isinstance(parts[0], Stop) else None
    )  # it goes on from the last stop of the cycle before
    places = stops[1:] if first else stops
    stands = tuple(
        _stand(name, s, first if s is places[-1] else None, s is places[-1]) for s in places
    )
    travels = []
    for k, of in enumerate(known):
        ends = stands[k - 1].name, stands[k].name
        travels.append(Travel(activity(name, of.leg), *ends, movements(of.curve)))
    return CellRobot(name, stands, tuple(travels))


def movements(curve: EnergyCurve) -> tuple[Movement, ...]:
    """A curve as movements with convex energies: one for each convex piece of it."""
    T, E = curve.durations.tolist(), curve.energies.tolist()
    if len(T) == 1:
        return (Movement("0", "here", "here", T[0], T[0], Sampled((T[0],), (E[0],))),)
    slopes = np.diff(E) / np.diff(T)
    bends = [k for k in range(1, len(slopes)) if slopes[k] < slopes[k - 1]]
    edges = [0, *bends, len(T) - 1]
    pieces = []
    for k, (a, b) in enumerate(itertools.pairwise(edges)):
        t, e = tuple(T[a : b + 1]), tuple(E[a : b + 1])
        pieces.append(Movement(str(k), "here", "here", t[0], t[-1], Sampled(t, e)))
    return tuple(pieces)


def _stand(robot: str, stop: Stop, before: Stop | None, last: bool) -> Stand:
    """A stop with its power modes; before: what is done here at the beginning of the cycle."""
    fixed = before.seconds if before else 0.0
    base = (before.energy() if before else 0.0) + stop.energy()
    least = stop.seconds + fixed
    if stop.waiting < 0:
        spot = Spot("here", (Mode("held", 0.0, least, base),))
        return Stand(activity(robot, stop), least, least, (spot,), last)
    pause = stop.pauses[stop.waiting]
    held = pause.place.held(1.0)
    slope = (stop.energy(2 * LONG) - stop.energy(LONG)) / LONG
    rest = stop.energy(LONG) - slope * (LONG + least) + (before.energy() if before else 0.0)
    closing = max((a.brake.shortest_rest for a in pause.place.axes if a.brake), default=0.0)
    motors = base - pause.energy() + pause.place.held(pause.seconds)
    modes = [Mode("motors", held, least, motors - held * least)]
    if slope < held * (1 - 1e-9) and pause.braked:
        modes.append(Mode("brakes", slope, max(least, least - pause.seconds + closing), rest))
    return Stand(activity(robot, stop), least, 1e6, (Spot("here", tuple(modes)),), last)


def find_stage(cell: Cell, parts: Mapping[str, Sequence[Stage]], where: tuple[str, str]) -> Stage:
    """The stage of a step, by the robot's and the step's name."""
    robot, step = where
    if robot not in parts:
        raise ArgumentError(f"cell {cell.name!r} has no robot {robot!r}; it has {', '.join(parts)}")
    for stage in parts[robot]:
        names = (
            [stage.name, *stage.name.split(" + ")]
            if isinstance(stage, Leg)
            else [p.name for p in stage.pauses]
        )
        if step in names:
            return stage
    known = [
        n
        for s in parts[robot]
        for n in (
            [s.name] if isinstance(s, Leg) else [p.name for p in s.pauses if p.name != "wait"]
        )
    ]
    raise ArgumentError(f"robot {robot!r} has no step {step!r}; it has {', '.join(known)}")


def _lag(cell: Cell, wait: Wait, parts: Mapping[str, Sequence[Stage]]) -> Lag:
    """The step's stage begins after the other's has ended, which is when the stage after that
    begins."""
    target, giver = find_stage(cell, parts, wait.step), find_stage(cell, parts, wait.after)
    row = parts[wait.after[0]]
    k = list(row).index(giver)
    height = wait.cycles
    if k + 1 < len(row):
        following = row[k + 1]
    else:  # the next cycle's first motion
        following, height = next(s for s in row if isinstance(s, Leg)), wait.cycles - 1
    if following is row[0]:
        following = next(s for s in row if isinstance(s, Leg))
    mine = parts[wait.step[0]]
    if target is mine[0] and isinstance(
        target, Stop
    ):  # it is merged with the last stop of the cycle before
        target, height = mine[-1], height + 1
    return Lag(
        activity(wait.after[0], following), activity(wait.step[0], target), wait.seconds, height
    )


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
) -> tuple[BusPlan, Schedule]:
    """Robots shifted against each other, as far as hand-overs and zones allow, for the bus's
    sake."""
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
    found = share_bus(
        cell.bus, [plans[n] for n in names], cell.objective, cell.most_power, allowed, own
    )
    return found, moved([s + start for s in found.shifts.values()])


def _program_start(schedule: Schedule, plan: ProgramPlan, name: str) -> float:
    """When a program's clock begins in the cell, s."""
    first = next(s for s in plan.stages if isinstance(s, PlannedLeg))
    task: Any = next(t for t in schedule.tasks[name] if t.activity == activity(name, first.leg))
    return task.start - first.begin

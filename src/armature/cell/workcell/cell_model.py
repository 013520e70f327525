"""A cell of programs as numbers: stops are stands with their power modes, motions are travels with
their energy-time curves, hand-overs are lags, zones are clashes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from armature.cell.program.curves import Timed
from armature.cell.program.share import EnergyCurve
from armature.cell.program.stages import Leg, Stage, Stop
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
from armature.cell.workcell.cell import Cell, Wait, activity
from armature.errors import ArgumentError

LONG = 1000.0  # s: waiting times from which the cost of standing is read off


def cell_model(
    cell: Cell,
    parts: Mapping[str, Sequence[Stage]],
    known: Mapping[str, Sequence[Timed]],
    found: Iterable[tuple[tuple[str, Stage], tuple[str, Stage]]] = (),
) -> CellModel:
    """The cell as numbers: stops are stands, motions are travels with their energy-time curves.
    found: pairs of (robot, stage) that may not overlap in time, beside the cell's own zones."""
    robots = tuple(_robot(name, parts[name], known[name]) for name in parts)
    lags = tuple(_lag(cell, w, parts) for w in cell.waits)
    options = {e.name: [m.name for m in e.movements] for r in robots for e in r.travels}
    options |= {s.name: [p.name for p in s.spots] for r in robots for s in r.stands}
    given = [
        tuple((robot, find_stage(cell, parts, (robot, step))) for robot, step in pair)
        for zone in cell.zones
        for pair in itertools.combinations(zone.steps, 2)
        if pair[0][0] != pair[1][0]
    ]
    clashes: dict[Clash, None] = {}
    for pair in (*given, *found):
        names = [activity(robot, merged(parts[robot], stage)) for robot, stage in pair]
        for a, b in itertools.product(options[names[0]], options[names[1]]):
            clashes[Clash((names[0], a), (names[1], b))] = None
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
    least = stop.seconds + fixed
    if stop.waiting < 0:
        energy = (before.energy() if before else 0.0) + stop.energy()
        spot = Spot("here", (Mode("held", 0.0, least, energy),))
        return Stand(activity(robot, stop), least, least, (spot,), last)
    pause = stop.pauses[stop.waiting]
    other = sum(p.energy() for p in stop.pauses if p is not pause)
    other += before.energy() if before else 0.0
    rest = least - pause.seconds  # s of all that is done here beside this pause

    def mode(name: str, energy: Callable[[float], float], shortest: float) -> Mode:
        """A mode whose energy against the time of the pause is straight from `shortest` on."""
        slope = (energy(2 * LONG) - energy(LONG)) / LONG
        start = energy(LONG) - slope * LONG
        return Mode(name, slope, max(least, rest + shortest), other + start - slope * rest)

    place = pause.place
    modes = [mode("motors", place.held, 0.0)]
    if pause.braked:
        closing = max((a.brake.shortest_rest for a in place.axes if a.brake), default=0.0)
        brakes = mode("brakes", place.energy, closing)
        modes += [brakes] if brakes.power < modes[0].power * (1 - 1e-9) else []
        modes += [
            mode(m.name, partial(pause.asleep, m), m.shortest)
            for m in pause.modes
            if m.shortest < LONG
        ]
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


def merged(row: Sequence[Stage], stage: Stage) -> Stage:
    """The stage itself; the last stop for the first one, which goes on from it."""
    return row[-1] if stage is row[0] and isinstance(stage, Stop) else stage


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

"""`optimize_cell`: the schedule of least energy, proved by an upper and a lower bound.

Tangents (S4) lie below the energies, so that every bound of the mixed-integer program is a lower
bound. Its choices, with the best durations by the exact energies, are a schedule: an upper bound.
Tangents are added at these durations until both agree. They stay few: HiGHS has called wrong
answers optimal where there were thousands. Where the choices are few enough, the lower bound is
proved a second time by a branch and bound of our own over linear programs.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from armature.cell.schedule.cell_diagnosis import impossible
from armature.cell.schedule.milp import CellProgram, Choice
from armature.cell.schedule.model import CellModel, CellRobot, Mode, Movement, Travel
from armature.cell.schedule.schedule import Schedule, Task
from armature.errors import ArgumentError

TOLERANCE = 1e-6  # gap at which a search ends
ROUNDS = 60
COMPARE = 0.1  # part of the time that is kept for the cell at full speed, for comparison
INNER = 40  # rounds of tangents with fixed choices
FEW = 40  # open choices at most for the second proof
NODES = 4000  # linear programs of it at most
FOUND, INFEASIBLE = 0, 2  # statuses of HiGHS


@dataclass(frozen=True)
class Bounds:
    """Best schedule so far, as columns; its energy; and the best lower bound, J."""

    x: np.ndarray | None
    energy: float
    lower: float
    solves: int
    notes: tuple[str, ...] = ()
    infeasible: bool = False


def optimize_cell(
    model: CellModel,
    seconds: float = 60.0,
    gap: float = TOLERANCE,
    progress: Callable[[str], None] | None = None,
) -> Schedule:
    """The schedule of a cell with the least energy in its cycle.

    seconds: of computing (wall time), after which the best schedule is returned with its gap.  gap:
    relative, at which the search ends.  progress: called with a sentence after every solve.
    An ArgumentError names the robot, what it needs, and a cycle that is possible, where there is
    none."""
    for name, value in (("seconds", seconds), ("gap", gap)):
        if not (np.isfinite(value) and value > 0.0):
            raise ArgumentError(f"{name} = {value} must be a positive number")
    begin = time.perf_counter()
    program = CellProgram(model)
    found = _search(program, begin + (1.0 - COMPARE) * seconds, gap, progress)
    if found.x is None:
        raise ArgumentError(impossible(model, proved=found.infeasible))
    tasks = {robot.name: _tasks(program, k, robot, found.x) for k, robot in enumerate(model.robots)}
    fast = _full_speed(model, max(COMPARE * seconds, begin + seconds - time.perf_counter()))
    return Schedule(
        model, tasks, found.lower, fast, found.solves, time.perf_counter() - begin, found.notes
    )


def _search(
    program: CellProgram, end: float, gap: float, progress: Callable[[str], None] | None
) -> Bounds:
    """Rounds of the mixed-integer program and of the best durations of its choices."""
    best = Bounds(None, np.inf, -np.inf, 0)
    notes: list[str] = []
    for _ in range(ROUNDS):
        left = end - time.perf_counter()
        if left <= 0.0 and best.solves:
            break
        wide = (
            0.05 if not np.isfinite(best.energy) else (best.energy - best.lower) / abs(best.energy)
        )
        answer = program.solve(left, max(0.1 * wide, 0.1 * gap))
        lower = best.lower
        bound = getattr(answer, "mip_dual_bound", None)
        if bound is not None and np.isfinite(bound):
            lower = max(lower, float(bound))
        x, energy = best.x, best.energy
        if answer.x is not None:
            point, value = best_durations(program, answer.x)
            if value < energy:
                x, energy = point, value
        if lower > energy * (1 + 10 * gap) + 1e-9:  # no bound can be above a schedule that exists
            notes.append(
                f"HiGHS gave a bound of {lower:.8g} J above a schedule of {energy:.8g} J: not used"
            )
            lower = best.lower
        best = Bounds(x, energy, lower, best.solves + 1, tuple(notes), answer.status == INFEASIBLE)
        if progress is not None:
            progress(f"solve {best.solves}: {energy:.7g} J, bound {lower:.7g} J")
        if answer.x is None or energy - lower <= gap * abs(energy):
            break
    return _proved_again(program, best, end, gap)


def best_durations(program: CellProgram, x: np.ndarray) -> tuple[np.ndarray | None, float]:
    """The best durations for the choices of x (columns,) by the exact energies, and their energy,
    J; tangents are added on the way. (None, inf) where the choices allow none."""
    best: tuple[np.ndarray | None, float] = None, np.inf
    for _ in range(INNER):
        answer = program.solve_fixed(x)
        if answer.status != FOUND:
            return best
        used = [
            c for c in program.choices if isinstance(c.what, Movement) and answer.x[c.used] > 0.5
        ]
        missing = [_energy(c, answer.x) - answer.x[c.energy] for c in used]
        value = float(answer.fun + sum(missing))
        if value < best[1]:
            best = answer.x, value
        wide = 1e-9 * abs(value)
        new = [
            program.add_tangent(c, answer.x[c.lasts])
            for c, off in zip(used, missing)
            if off > wide / len(used)
        ]
        if not any(new):
            break
    return best


def _energy(choice: Choice, x: np.ndarray) -> float:
    """Exact energy of a movement that is chosen in x, J."""
    assert isinstance(choice.what, Movement)
    return choice.what.energy(float(np.clip(x[choice.lasts], choice.what.least, choice.what.most)))


def _proved_again(program: CellProgram, best: Bounds, end: float, gap: float) -> Bounds:
    """The lower bound once more by branch and bound over linear programs, where choices are few."""
    whole = np.flatnonzero(program.table.whole)
    lower, upper = np.array(program.table.lower), np.array(program.table.upper)
    root = program.solve_relaxed(lower, upper)
    if best.x is None or root.status != FOUND:
        return best
    loose = [int(j) for j in whole if upper[j] > lower[j]]
    if not loose or len(loose) > FEW or program.shifts:
        return best
    count, heap = itertools.count(), [(float(root.fun), 0, lower, upper, root.x)]
    for _ in range(NODES):
        if not heap or heap[0][0] >= best.energy * (1 - gap) or time.perf_counter() > end:
            break
        _, _, low, high, x = heapq.heappop(heap)
        apart = [min(x[j] - np.floor(x[j]), np.ceil(x[j]) - x[j]) for j in loose]
        j = loose[int(np.argmax(apart))]
        if max(apart) < 1e-7:  # whole: its tangents may still lie below the energies
            point, value = best_durations(program, x)
            if value < best.energy * (1 - gap):
                note = f"HiGHS missed this schedule: it gave {best.energy:.8g} J"
                best = replace(best, x=point, energy=value, notes=(*best.notes, note))
            answer = program.solve_relaxed(low, high)
            if (
                answer.status == FOUND
                and answer.fun < best.energy * (1 - gap)
                and np.allclose(answer.x, x)
            ):
                break  # no progress: the bound stands where it is
            if answer.status == FOUND:
                heapq.heappush(heap, (float(answer.fun), next(count) + 1, low, high, answer.x))
            continue
        for side in (0.0, 1.0):
            a, b = low.copy(), high.copy()
            a[j] = b[j] = side
            answer = program.solve_relaxed(a, b)
            if answer.status == FOUND:
                heapq.heappush(heap, (float(answer.fun), next(count) + 1, a, b, answer.x))
    own = min(best.energy, heap[0][0]) if heap else best.energy
    agrees = own >= best.energy * (1 - 10 * gap)
    said = "the bound was proved a second time by branch and bound over linear programs"
    return replace(
        best,
        lower=own if agrees else min(best.lower, own),
        notes=(*best.notes, said) if agrees else best.notes,
    )


# the schedule ------------------------------------------------------------------------------------


def _tasks(program: CellProgram, k: int, robot: CellRobot, x: np.ndarray) -> tuple[Task, ...]:
    """What a robot does, in order, from the travel after the stand that closes its cycle."""
    used = {
        c.activity: c
        for c in program.choices
        if x[c.used] > 0.5 and program.model.owner[c.activity] == k
    }
    away = {e.origin: e for e in robot.travels if e.name in used}
    at, now = robot.last.name, float(x[program.offset[k]])
    found: list[Task] = []
    for _ in robot.stands:
        travel: Travel = away[at]
        for activity in (travel.name, travel.target):
            found.append(_task(used[activity], now, x))
            now = found[-1].end
        at = travel.target
    return tuple(found)


def _task(choice: Choice, start: float, x: np.ndarray) -> Task:
    what, lasts = choice.what, float(x[choice.lasts])
    if isinstance(what, Mode):
        energy = what.energy + what.power * lasts
        return Task(choice.activity, choice.option, what.name, start, lasts, energy)
    return Task(choice.activity, choice.option, "", start, lasts, what.energy(lasts))


def _full_speed(model: CellModel, seconds: float) -> float | None:
    """Energy with every movement as fast as it can be and motors on, J, robots not waiting for each
    other; None where that fills no cycle."""
    robots = []
    for robot in model.robots:
        stands = tuple(
            replace(s, spots=tuple(replace(p, modes=_awake(p.modes)) for p in s.spots))
            for s in robot.stands
        )
        travels = tuple(
            replace(e, movements=tuple(replace(m, most=m.least) for m in e.movements))
            for e in robot.travels
        )
        robots.append(replace(robot, stands=stands, travels=travels))
    program = CellProgram(replace(model, robots=tuple(robots), lags=(), clashes=()))
    answer = program.solve(seconds, 1e-3)
    return None if answer.x is None else best_durations(program, answer.x)[1]


def _awake(modes: tuple[Mode, ...]) -> tuple[Mode, ...]:
    """The mode that can be left at once: motors on."""
    return tuple(sorted(modes, key=lambda m: m.least)[:1])

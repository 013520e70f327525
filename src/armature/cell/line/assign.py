"""Tasks allocated to the stations of a line under precedence (assembly-line balancing), exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult

from armature.cell.schedule.milp import Table, solve_table
from armature.errors import ArgumentError

SECONDS = 60.0


@dataclass(frozen=True)
class Allocation:
    """Which station does which tasks.

    stations: {station: its tasks, in an order that keeps the precedence}.  loads: {station: s}.
    cycle: s, the largest load.  bound: s, proved: no allocation has a shorter cycle.
    """

    stations: dict[str, tuple[str, ...]]
    loads: dict[str, float]
    cycle: float
    bound: float

    @property
    def gap(self) -> float:
        """By how much the cycle may be above the least, as a fraction."""
        return max(0.0, self.cycle - self.bound) / self.cycle if self.cycle > 0 else 0.0

    def __str__(self) -> str:
        proof = (
            "proved least" if self.gap < 1e-6 else f"at most {100 * self.gap:.2g} % above the least"
        )
        head = f"allocation: least cycle {self.cycle:.6g} s, {proof} (bound {self.bound:.6g} s)"
        rows = [
            f"  {name:16} {self.loads[name]:9.4f} s  {', '.join(tasks) or '-'}"
            for name, tasks in self.stations.items()
        ]
        return "\n".join([head, *rows])


def assign_tasks(
    times: Mapping[str, float | Mapping[str, float]],
    stations: Sequence[str],
    after: Sequence[tuple[str, str]] = (),
    seconds: float = SECONDS,
) -> Allocation:
    """Allocate every task to one of the stations, which stand in the order of the line, so that the
    largest load is least.

    times: {task: s}, or {task: {station: s}} where it depends on the station; a station that is
    missing there cannot do the task.  after: (task, earlier task): a task is done at the same
    station as the earlier one or at a later one.  seconds: of computing; the bound tells how far
    the answer may be off."""
    names, lines = list(times), list(stations)
    needs = _checked(times, lines)
    order = _ordered(names, after)
    T = Table()
    cycle = T.column(0.0, np.inf, cost=1.0)
    used = {
        (a, s): T.column(0.0, 1.0 if s in needs[a] else 0.0, True) for a in names for s in lines
    }
    for a in names:
        T.row({used[a, s]: 1.0 for s in lines}, 1.0, 1.0)
    for s in lines:
        T.row({used[a, s]: needs[a].get(s, 0.0) for a in names} | {cycle: -1.0}, upper=0.0)
    for later, earlier in after:  # done up to station k only if the earlier one is
        for k in range(len(lines) - 1):
            row = {used[later, s]: 1.0 for s in lines[: k + 1]} | {
                used[earlier, s]: -1.0 for s in lines[: k + 1]
            }
            T.row(row, upper=0.0)
    answer = solve_table(T, seconds, 1e-9)
    if answer.x is None:
        raise ArgumentError(_no_allocation(answer, names, lines))
    at = {a: max(lines, key=lambda s: answer.x[used[a, s]]) for a in names}
    groups = {s: tuple(a for a in order if at[a] == s) for s in lines}
    loads = {s: float(sum(needs[a][s] for a in groups[s])) for s in lines}
    bound = min(float(answer.mip_dual_bound), max(loads.values()))
    return Allocation(groups, loads, max(loads.values()), bound)


def _checked(
    times: Mapping[str, float | Mapping[str, float]], lines: list[str]
) -> dict[str, dict[str, float]]:
    """Seconds of every task at every station that can do it."""
    if not times or not lines or len(set(lines)) < len(lines):
        given = f"{len(times)} tasks for the stations {', '.join(lines) or '(none)'}"
        raise ArgumentError(f"{given}; give tasks, and stations with different names")
    found = {}
    for a, given in times.items():
        needs = dict(given) if isinstance(given, Mapping) else dict.fromkeys(lines, given)
        unknown = [s for s in needs if s not in lines]
        bad = [x for x in needs.values() if not (np.isfinite(x) and x >= 0.0)]
        if unknown or bad:
            what = (
                f"there is no station {unknown[0]!r}" if unknown else f"{bad[0]} s is no duration"
            )
            raise ArgumentError(f"task {a!r}: {what}; stations are {', '.join(lines)}")
        if not needs:
            raise ArgumentError(
                f"task {a!r}: no station can do it; give one that can, or another robot"
            )
        found[a] = {s: float(x) for s, x in needs.items()}
    return found


def _ordered(names: list[str], after: Sequence[tuple[str, str]]) -> list[str]:
    """Tasks in an order that keeps the precedence; an ArgumentError names tasks that wait for each
    other."""
    for later, earlier in after:
        for name in (later, earlier):
            if name not in names:
                raise ArgumentError(
                    f"{later!r} comes after {earlier!r}, but there is no task {name!r}"
                )
    left, done = list(names), []
    while left:
        free = [a for a in left if all(e in done for x, e in after if x == a)]
        if not free:
            raise ArgumentError(
                f"the tasks {', '.join(left)} wait for each other; take one of their `after` away"
            )
        done.append(free[0])
        left.remove(free[0])
    return done


def _no_allocation(answer: OptimizeResult, names: list[str], lines: list[str]) -> str:
    if answer.status == 1:
        return f"no allocation of {len(names)} tasks was found in the time given; allow more"
    return (
        f"no allocation of {len(names)} tasks to {', '.join(lines)} keeps the precedence with the"
        " stations that can do them; let more stations do the tasks, or take an `after` away"
    )

"""Why a cell has no schedule, and the cycle that would do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import OptimizeResult

from armature.cell.schedule.milp import CellProgram
from armature.cell.schedule.model import CellModel, CellRobot

LONGEST = 64.0  # cycles of so many times the given one are looked at
CLOSE = 1e-3  # of the cycle told
SECONDS = 5.0  # for each solve
INFEASIBLE = 2  # a status of HiGHS


def impossible(model: CellModel, proved: bool = True) -> str:
    """A sentence that names the robot or the hand-over that fails, and a cycle that is possible.
    proved: no schedule exists; else none was found in time."""
    if not proved:
        return (
            f"cell {model.name!r}: no schedule was found in the time given, and none was proved to"
            " be impossible; allow more time"
        )
    needs = {r.name: least_time(model, r) for r in model.robots}
    dead = [name for name, T in needs.items() if T is None]
    if dead:
        return (
            f"cell {model.name!r}: robot {dead[0]!r} has no order of its travels that visits every"
            " stand once and comes back; add the travels that are missing"
        )
    slow = {name: T for name, T in needs.items() if T is not None and model.cycle * (1 + 1e-9) < T}
    if slow:
        told = ", ".join(f"robot {name!r} needs {T:.6g} s" for name, T in slow.items())
        return (
            f"cell {model.name!r}: a cycle of {model.cycle:.6g} s is too short: {told}; give at"
            f" least {max(slow.values()):.6g} s"
        )
    if _excluded(replace(model, lags=(), clashes=())):
        return (
            f"cell {model.name!r}: the robots' stands may not last long enough to fill a cycle of "
            f"{model.cycle:.6g} s, or no places for a hand-over suit each other"
        )
    what = "hand-overs" if _excluded(replace(model, clashes=())) else "shared zones"
    cycle = _least_cycle(model)
    remedy = (
        f"no longer cycle, up to {LONGEST:g} times of it, was found to help: take one of them away"
        + (", or let one count another cycle" if what == "hand-overs" else "")
        if cycle is None
        else f"a cycle of {cycle:.6g} s is possible"
    )
    late = f" ({_missed(model)})" if what == "hand-overs" else ""
    return (
        f"cell {model.name!r}: the {what} leave no schedule in a cycle of {model.cycle:.6g}"
        f" s{late}; {remedy}"
    )


def least_time(model: CellModel, robot: CellRobot) -> float | None:
    """The shortest cycle of one robot by itself, s; None where its travels form no cycle."""
    sum_least = sum(s.least for s in robot.stands) + sum(
        max((m.least for m in e.movements), default=0.0) for e in robot.travels
    )
    alone = CellModel(model.name, max(model.cycle, sum_least) + 1.0, (_patient(robot),))
    program = CellProgram(alone)
    T = program.table
    T.cost = [0.0] * len(T.cost)
    for c in program.choices:
        T.cost[c.used] = max(
            c.what.least, next((s.least for s in robot.stands if s.name == c.activity), 0.0)
        )
    answer = program.solve(SECONDS, 1e-6)
    return None if answer.x is None else float(answer.fun)


def _patient(robot: CellRobot) -> CellRobot:
    """The robot with stands that may last as long as they like."""
    return replace(robot, stands=tuple(replace(s, most=np.inf) for s in robot.stands))


def _any_schedule(model: CellModel) -> OptimizeResult:
    """A schedule of a cell, whatever it costs."""
    program = CellProgram(model)
    program.table.cost = [0.0] * len(program.table.cost)
    return program.solve(SECONDS, 1.0)


def _possible(model: CellModel) -> bool:
    """Whether a schedule of a cell was found."""
    return _any_schedule(model).x is not None


def _excluded(model: CellModel) -> bool:
    """Whether a cell is proved to have no schedule."""
    return _any_schedule(model).status == INFEASIBLE


def _least_cycle(model: CellModel) -> float | None:
    """A cycle that is possible where shorter ones are not, s, by bisection; None where none is
    found."""
    low, high = model.cycle, 2 * model.cycle
    while not _possible(replace(model, cycle=high)):
        low, high = high, 2 * high
        if high > LONGEST * model.cycle:
            return None
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        if _possible(replace(model, cycle=middle)):
            high = middle
        else:
            low = middle
    return high


def _missed(model: CellModel) -> str:
    """The lag that is missed most, where all together are missed as little as possible."""
    program = CellProgram(replace(model, clashes=(), lags=()))
    program.model = model
    first = len(program.table.rows)
    program._lags()
    T = program.table
    T.cost = [0.0] * len(T.cost)
    slacks = []
    for k in range(first, len(T.rows)):
        slacks.append(T.column(0.0, np.inf, cost=1.0))
        terms, low, high = T.rows[k]
        T.rows[k] = (terms | {slacks[-1]: 1.0}, low, high)
    # robots may be shifted against each other as far as lags ask for
    for column in program.offset:
        T.lower[column], T.upper[column] = -np.inf, np.inf
    answer = program.solve(SECONDS, 1e-3)
    if answer.x is None:
        return "its lags contradict each other"
    k = int(np.argmax(answer.x[slacks]))
    lag = model.lags[k]
    return f"{lag.target!r} would start {answer.x[slacks[k]]:.4g} s too early after {lag.origin!r}"

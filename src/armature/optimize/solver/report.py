"""From the solver's scaled arrays to a `Result` in the user's units."""

from __future__ import annotations

import time

import numpy as np

from armature.optimize.problem.problem import Model
from armature.optimize.problem.result import Multipliers, Result, Status, Violation
from armature.optimize.solver.evaluate import Evaluator
from armature.optimize.solver.state import Search


def make_result(search: Search, status: Status) -> Result:
    """The current point of a search as a result."""
    evaluator = search.evaluator
    n, point, factors = evaluator.n, search.point, row_factors(evaluator)
    totals = point.v[n.R - n.nt :] / factors[n.R - n.nt :]
    return Result(
        status,
        point.z[:, : n.nx].copy(),
        point.z[: n.N, n.nx :].copy(),
        point.p.copy(),
        float(point.l.sum()) / evaluator.blocks[0].w[0],
        totals,
        violations(evaluator, factors),
        tuple(search.record),
        multipliers(search, factors),
        time.perf_counter() - search.began,
    )


def row_factors(evaluator: Evaluator) -> np.ndarray:
    """The scale of every row, (R,)."""
    n, (running, end) = evaluator.n, evaluator.blocks
    factors = np.ones(n.R)
    knots = factors[: (n.N + 1) * n.nr].reshape(n.N + 1, n.nr)
    knots[: n.N, n.nz : n.nz + running.stage.nc] = running.w[1 : 1 + running.stage.nc]
    knots[n.N, n.nz : n.nz + end.stage.nc] = end.w[1 : 1 + end.stage.nc]
    factors[n.R - n.nt :] = (running if running.stage.nt else end).w[-n.nt :] if n.nt else 1.0
    return factors


def violations(
    evaluator: Evaluator, factors: np.ndarray, tolerance: float = 1e-6
) -> tuple[Violation, ...]:
    """The worst violation of every constraint and of the dynamics, in their own units, worst
    first."""
    point, limits, model = evaluator.point, evaluator.limits, evaluator.problem.model
    excess = np.maximum(limits.lower - point.v, point.v - limits.upper)
    excess[limits.kind == 0] = 0.0
    excess = np.where(excess > tolerance * np.maximum(1.0, np.abs(point.v)), excess / factors, 0.0)
    worst: dict[str, Violation] = {}
    for i in np.flatnonzero(excess > 0):
        name, knot = name_of_row(int(i), evaluator)
        if name not in worst or excess[i] > worst[name].amount:
            worst[name] = Violation(name, knot, float(excess[i]))
    if np.abs(point.gap).max() > tolerance:
        k, s = np.unravel_index(np.argmax(np.abs(point.gap)), point.gap.shape)
        name = f"the dynamics of {label(model.state_names, int(s), 'state')}"
        worst[name] = Violation(name, int(k), float(np.abs(point.gap).max()))
    return tuple(sorted(worst.values(), key=lambda violation: -violation.amount))


def name_of_row(i: int, evaluator: Evaluator) -> tuple[str, int | None]:
    """The name of a row and its knot."""
    n, m = evaluator.n, evaluator.problem.model
    if i >= n.R - n.nt:
        return label(m.total_names, i - (n.R - n.nt), "total"), None
    if i >= n.R - n.nt - n.np:
        return label(m.parameter_names, i - (n.R - n.nt - n.np), "parameter"), None
    k, j = divmod(i, n.nr)
    return knot_row_name(m, n, k, j), k


def knot_row_name(m: Model, n, k: int, j: int) -> str:
    """The name of row j of knot k."""
    if j < n.nx:
        return label(m.state_names, j, "state")
    if j < n.nz:
        return label(m.control_names, j - n.nx, "control")
    return (
        label(m.constraint_names, j - n.nz, "constraint")
        if k < n.N
        else label(m.end_names, j - n.nz, "end constraint")
    )


def label(names, index: int, kind: str) -> str:
    """A name, or kind and number."""
    return names[index] if index < len(names) else f"{kind} {index}"


def multipliers(search: Search, factors: np.ndarray) -> Multipliers:
    """Multipliers of the unscaled problem."""
    evaluator, point = search.evaluator, search.point
    n, (running, end) = evaluator.n, evaluator.blocks
    cost = running.w[0]
    y = point.rows.y * factors / cost
    knots = y[: (n.N + 1) * n.nr].reshape(n.N + 1, n.nr)
    tail = y[n.R - n.np - n.nt :]
    return Multipliers(
        point.lam / cost,
        knots[:, : n.nx].copy(),
        knots[: n.N, n.nx : n.nz].copy(),
        knots[: n.N, n.nz : n.nz + running.stage.nc].copy(),
        knots[n.N, n.nz : n.nz + end.stage.nc].copy(),
        tail[: n.np].copy(),
        tail[n.np :].copy(),
        y,
        search.mu,
    )

"""Before the first step: scale the problem, and put the starting motion inside its bounds."""

from __future__ import annotations

import math

import numpy as np

from armature.errors import ArgumentError
from armature.optimize.problem.problem import Guess, filled
from armature.optimize.problem.result import Result
from armature.optimize.solver.evaluate import Evaluator
from armature.optimize.solver.report import row_factors
from armature.optimize.solver.rows import ABSENT, BOUNDED, Limits, Rows, put_inside
from armature.optimize.solver.state import Search

LARGEST_GRADIENT = 100.0
COLD_PUSH, WARM_PUSH = 1e-2, 1e-4  # how far inside its bounds a slack starts, at least


def place(search: Search, guess: Guess | Result) -> None:
    """Take over the guess; variables with bounds are moved inside them, fixed ones set."""
    n, point, limits = search.evaluator.n, search.point, search.limits
    point.z[:, : n.nx] = filled(guess.x, (n.N + 1, n.nx), "the guess for x")
    point.z[: n.N, n.nx :] = filled(guess.u, (n.N, n.nu), "the guess for u")
    point.p[:] = filled(guess.p, (n.np,), "the guess for p")
    push = 0.0 if isinstance(guess, Result) else COLD_PUSH
    put_inside(point.z, 0, n.nr, limits, push)
    put_inside(point.p[None, :], (n.N + 1) * n.nr, n.np, limits, push)


def take_multipliers(search: Search, result: Result) -> None:
    """The multipliers of an earlier result, in the scale of this search; slacks and bound
    multipliers that fit them."""
    evaluator, point = search.evaluator, search.point
    cost = evaluator.blocks[0].w[0]
    if result.multipliers.rows.shape != point.rows.y.shape:
        raise ArgumentError(
            "the earlier result has another number of steps or constraints; start from"
            " Guess(result.x, result.u, result.p)"
        )
    point.lam[:] = cost * result.multipliers.lam
    point.rows.y[:] = cost * result.multipliers.rows / row_factors(evaluator)
    point.rows.y[search.limits.kind == ABSENT] = 0.0
    place_warm(point.v, search.limits, point.rows, search.mu)


def place_warm(v: np.ndarray, limits: Limits, rows: Rows, mu: float) -> None:
    """Slacks nearest to the values v, but no nearer to their bounds than the multipliers y tell,
    μ/|y|; bound multipliers that fit.

    Where they tell nothing, as for bounds that are new, √μ is near enough: multiplier and distance
    are then equally small."""
    lower, upper, kind = limits
    s, y, a, b = rows.s, rows.y, rows.a, rows.b
    bounded = kind == BOUNDED
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.where(np.isfinite(upper - lower), 0.5 * (upper - lower), np.inf)
        push = max(WARM_PUSH, math.sqrt(mu))
        least = lambda bound, pull: np.minimum(
            np.minimum(push * np.maximum(1.0, np.abs(bound)), half), mu / np.maximum(pull, 1e-300)
        )
        low, high = lower + least(lower, -y), upper - least(upper, y)
        s[:] = np.where(
            bounded, np.minimum(np.maximum(v, low), high), np.where(kind == ABSENT, v, lower)
        )
        a[:] = np.where(bounded, mu / (s - lower), 0.0)
        b[:] = np.where(bounded, mu / (upper - s), 0.0)
    np.copyto(b, np.maximum(b, y + a), where=bounded & np.isfinite(upper))
    np.copyto(a, np.maximum(a, b - y), where=bounded & np.isfinite(lower))


def scale(evaluator: Evaluator) -> bool:
    """Scale cost, constraints and totals so that no gradient at the start exceeds 100; False when
    one is not finite."""
    running, end = evaluator.blocks
    evaluator.values(evaluator.point)
    evaluator.derivatives()
    parts = [evaluator.point.v, evaluator.point.f, evaluator.point.l, *running.d, *end.d]
    if not math.isfinite(sum(float(part.sum()) for part in parts)):
        return False
    n = evaluator.n
    steepest = max(np.abs(running.d.g[:, : n.nz]).max(), np.abs(end.d.g[:, : n.nz]).max())
    steepest = max(
        steepest, np.abs(running.d.g[:, n.nz :].sum(0) + end.d.g[:, n.nz :].sum(0)).max(initial=0.0)
    )
    cost = float(factor(steepest))
    totals = factor(
        np.maximum(
            *(largest(b.d.T, n.nt if b.stage.nt else 0, n.nz + n.np, n.nt) for b in (running, end))
        )
    )
    for block in (running, end):
        nc = block.stage.nc
        J, first = (
            np.maximum(block.d.J.max(0, initial=0.0), -block.d.J.min(0, initial=0.0)),
            block.stage.layout.J_first,
        )
        size = np.array([J[first[c] : first[c + 1]].max(initial=0.0) for c in range(nc)])
        size = np.maximum(size, largest(block.d.Jp, nc, n.np, nc))
        block.w[0] = cost
        block.w[1 : 1 + nc] = factor(size)
        block.w[1 + nc :] = totals[: block.stage.nt]
        scale_limits(evaluator, block.first, block.count, nc, block.w[1 : 1 + nc])
    for side in (evaluator.limits.lower, evaluator.limits.upper):
        side[n.R - n.nt :] *= totals
    return True


def largest(array: np.ndarray, functions: int, width: int, size: int) -> np.ndarray:
    """Largest |entry| of each function's gradient over the knots, (size,); zero for functions that
    the block does not have."""
    if functions == 0:
        return np.zeros(size)
    return np.abs(array).reshape(array.shape[0], functions, width).max((0, 2), initial=0.0)


def scale_limits(
    evaluator: Evaluator, first: int, count: int, nc: int, factors: np.ndarray
) -> None:
    """Bounds of constraints take the constraints' scale."""
    n = evaluator.n
    for side in (evaluator.limits.lower, evaluator.limits.upper):
        knots = side[: (n.N + 1) * n.nr].reshape(n.N + 1, n.nr)
        knots[first : first + count, n.nz : n.nz + nc] *= factors


def factor(size):
    """1 for gradients up to 100, less for larger ones."""
    return np.maximum(np.minimum(1.0, LARGEST_GRADIENT / np.maximum(size, 1e-300)), 1e-8)

"""Every constraint is a row: lower ≤ v(z) ≤ upper, with its slack, multipliers and barrier.

A row with equal bounds is an equation, v = s with s fixed; any other bounded row has a slack s
strictly between its bounds:

    (I1)  v − s − e⁺ + e⁻ = 0                         residual; e⁺, e⁻ ≥ 0 only while rows are
    elastic, at the price ρ each (I2)  −y − a + b = 0,  a(s − lower) = μ,  b(upper − s) = μ
    (I3)  ρ − y − a⁺ = 0,  a⁺e⁺ = μ;    ρ + y − a⁻ = 0,  a⁻e⁻ = μ

Slacks and elastics leave the Newton system row by row, which turns (I1) into

    (I4)  J dz − D dy = −r̂,    D = δ + 1/Σ_s + 1/Σ⁺ + 1/Σ⁻,   Σ_s = a/(s − lower) + b/(upper − s),
    Σ^± = a^±/e^±

so that a row only adds JᵀD⁻¹J to the Hessian. δ > 0 is a proximal term: rows may be redundant, or
of any rank; a full step leaves the residual δ dy, which vanishes with the step. An elastic row
bounds its multiplier: |y| < ρ.

A direction whose step a bound cuts short is corrected (Gondzio 1996): where a step a little longer
would leave a product of (I2) outside βμ … μ/β, what it lacks, t, is added to its aim, with the same
matrix:

    (I5)  a ds + (s − lower) da = μ + t − a(s − lower),   t = min(max(π, βμ), μ/β) − π ≥ −μ/β,   π =
    (s + αds − lower)(a + αda)
"""

from typing import NamedTuple

import numpy as np

from armature.optimize.solver.loops import Indices, Matrix, Vector, inner, loop

BETA = 0.1  # of (I5)
ABSENT, RIGID, EQUATION, BOUNDED = (
    0,
    1,
    2,
    3,
)  # rigid: an equation that is never elastic, such as the initial state


class Rows(NamedTuple):
    """Slack, multipliers and elastics of all rows (or their steps), each (R,)."""

    s: Vector
    y: Vector
    a: Vector
    b: Vector
    ep: Vector
    em: Vector
    ap: Vector
    am: Vector


PLAIN = 4  # fields of `Rows` that rows have which are not elastic


class Limits(NamedTuple):
    """Bounds and kind of all rows, each (R,)."""

    lower: Vector
    upper: Vector
    kind: Indices


def empty_rows(count: int) -> Rows:
    """Rows of zeros."""
    return Rows(*np.zeros((len(Rows._fields), count)))


def limits_of(lower: np.ndarray, upper: np.ndarray) -> Limits:
    """Sort rows by their bounds; bounds closer than rounding make an equation."""
    close = upper - lower <= 1e-12 * np.maximum(
        1.0, np.abs(np.where(np.isfinite(lower), lower, 1.0))
    )
    absent = ~np.isfinite(lower) & ~np.isfinite(upper)
    kind = np.where(absent, ABSENT, np.where(close, EQUATION, BOUNDED)).astype(np.int64)
    return Limits(lower, upper, kind)


def inside(value: np.ndarray, lower: np.ndarray, upper: np.ndarray, push: float) -> np.ndarray:
    """The numbers nearest to the values that keep a distance from both bounds."""
    with np.errstate(invalid="ignore"):
        width = np.where(np.isfinite(lower) & np.isfinite(upper), upper - lower, np.inf)
        low = np.where(
            np.isfinite(lower),
            lower + push * np.minimum(np.maximum(1.0, np.abs(lower)), width),
            -np.inf,
        )
        high = np.where(
            np.isfinite(upper),
            upper - push * np.minimum(np.maximum(1.0, np.abs(upper)), width),
            np.inf,
        )
    return np.minimum(np.maximum(value, low), high)


def put_inside(values: np.ndarray, first: int, width: int, limits: Limits, push: float) -> None:
    """Move variables inside their limits: values (knots, count) are the rows first + k·width + i;
    fixed ones are set."""
    knots, count = values.shape
    lower, upper, kind = (
        side[first : first + knots * width].reshape(knots, width)[:, :count] for side in limits
    )
    values[:] = np.where(
        kind == BOUNDED, inside(values, lower, upper, push), np.where(kind == ABSENT, values, lower)
    )


def place_slacks(v: np.ndarray, limits: Limits, rows: Rows, push: float, mu: float) -> None:
    """Slacks nearest to the values v, inside their bounds, with bound multipliers that fit the
    barrier."""
    lower, upper, kind = limits
    bounded = kind == BOUNDED
    rows.s[:] = np.where(bounded, inside(v, lower, upper, push), np.where(kind == ABSENT, v, lower))
    with np.errstate(divide="ignore"):
        rows.a[:] = np.where(bounded, mu / (rows.s - lower), 0.0)
        rows.b[:] = np.where(bounded, mu / (upper - rows.s), 0.0)


@loop
def loosen(v: Vector, limits: Limits, rows: Rows, rho: float, mu: float) -> None:
    """Start the elastics of every row so that (I1) and (I3) hold, with multipliers inside ±ρ."""
    for i in range(v.size):
        if limits.kind[i] < EQUATION:
            continue
        rows.y[i] = min(max(rows.y[i], -0.9 * rho), 0.9 * rho)
        r = v[i] - rows.s[i]
        half, product = 0.5 * (mu / rho - abs(r)), 0.5 * mu * abs(r) / rho
        root = np.sqrt(half * half + product)
        small = (
            half + root if half >= 0.0 else product / (root - half)
        )  # the positive root, without cancellation
        large = small + abs(r)
        rows.ep[i] = large if r > 0.0 else small
        rows.em[i] = small if r > 0.0 else large
        rows.ap[i], rows.am[i] = mu / rows.ep[i], mu / rows.em[i]


@loop
def residuals(v: Vector, limits: Limits, rows: Rows, elastic: bool, r: Vector) -> None:
    """(I1)."""
    for i in range(v.size):
        if limits.kind[i] == ABSENT:
            r[i] = 0.0
        else:
            r[i] = v[i] - rows.s[i]
            if elastic and limits.kind[i] >= EQUATION:
                r[i] += rows.em[i] - rows.ep[i]


@inner
def slack_terms(
    s: float, y: float, a: float, b: float, lower: float, upper: float, mu_a: float, mu_b: float
) -> tuple[float, float]:
    """(Σ_s, gradient of the barrier Lagrangian in s) of a bounded row. mu_a, mu_b: what its two
    products shall be."""
    sigma, gradient = 0.0, -y
    if np.isfinite(lower):
        inverse = 1.0 / (s - lower)
        sigma += a * inverse
        gradient -= mu_a * inverse
    if np.isfinite(upper):
        inverse = 1.0 / (upper - s)
        sigma += b * inverse
        gradient += mu_b * inverse
    return sigma, gradient


@inner
def eliminate(
    limits: Limits,
    rows: Rows,
    r: Vector,
    mu: float,
    added: Matrix,
    rho: float,
    elastic: bool,
    delta: float,
    weight: Vector,
    rhat: Vector,
) -> None:
    """(I4): weight = 1/D and r̂ of every row. mu, added: see (I5) and `centre`."""
    for i in range(r.size):
        if limits.kind[i] == ABSENT:
            weight[i] = rhat[i] = 0.0
            continue
        D, value = delta, r[i]
        if limits.kind[i] == BOUNDED:
            lower, upper = mu + added[0, i], mu + added[1, i]
            sigma, gradient = slack_terms(
                rows.s[i],
                rows.y[i],
                rows.a[i],
                rows.b[i],
                limits.lower[i],
                limits.upper[i],
                lower,
                upper,
            )
            D += 1.0 / sigma
            value += gradient / sigma
        if elastic and limits.kind[i] >= EQUATION:
            plus, minus = rows.ep[i] / rows.ap[i], rows.em[i] / rows.am[i]
            D += plus + minus
            value += plus * (rho - rows.y[i] - mu / rows.ep[i]) - minus * (
                rho + rows.y[i] - mu / rows.em[i]
            )
        weight[i], rhat[i] = 1.0 / D, value


@inner
def recover(
    limits: Limits,
    rows: Rows,
    mu: float,
    added: Matrix,
    rho: float,
    elastic: bool,
    dy: Vector,
    step: Rows,
) -> None:
    """Steps of slacks, bound multipliers and elastics that belong to dy."""
    for i in range(dy.size):
        ds = da = db = 0.0
        if limits.kind[i] == BOUNDED:
            s, a, b = rows.s[i], rows.a[i], rows.b[i]
            lower, upper = mu + added[0, i], mu + added[1, i]
            sigma, gradient = slack_terms(
                s, rows.y[i], a, b, limits.lower[i], limits.upper[i], lower, upper
            )
            ds = (dy[i] - gradient) / sigma
            if np.isfinite(limits.lower[i]):
                da = (lower - a * ds) / (s - limits.lower[i]) - a
            if np.isfinite(limits.upper[i]):
                db = (upper + b * ds) / (limits.upper[i] - s) - b
        step.y[i] = dy[i]
        step.s[i], step.a[i], step.b[i] = ds, da, db
    if elastic:
        recover_elastics(limits, rows, mu, rho, dy, step)


@inner
def recover_elastics(
    limits: Limits, rows: Rows, mu: float, rho: float, dy: Vector, step: Rows
) -> None:
    """Steps of the elastics. A loop of its own: stores that are only masked out to memory never
    touched are very slow."""
    for i in range(dy.size):
        if limits.kind[i] >= EQUATION:
            step.ep[i] = rows.ep[i] / rows.ap[i] * (dy[i] - (rho - rows.y[i] - mu / rows.ep[i]))
            step.em[i] = rows.em[i] / rows.am[i] * (-dy[i] - (rho + rows.y[i] - mu / rows.em[i]))
            step.ap[i] = (mu - rows.ap[i] * step.ep[i]) / rows.ep[i] - rows.ap[i]
            step.am[i] = (mu - rows.am[i] * step.em[i]) / rows.em[i] - rows.am[i]


@inner
def longest(value: float, step: float, keep: float, alpha: float) -> float:
    """The part of alpha after which value + alpha·step still has (1 − keep)·value."""
    return -keep * value / step if step * alpha < -keep * value else alpha


@inner
def step_to_boundary(
    limits: Limits, rows: Rows, step: Rows, elastic: bool, keep: float
) -> tuple[float, float]:
    """Longest primal and dual steps that stay inside all bounds by the fraction 1 − keep."""
    primal = dual = 1.0
    for i in range(limits.kind.size):
        if limits.kind[i] == BOUNDED:
            if np.isfinite(limits.lower[i]):
                primal = longest(rows.s[i] - limits.lower[i], step.s[i], keep, primal)
                dual = longest(rows.a[i], step.a[i], keep, dual)
            if np.isfinite(limits.upper[i]):
                primal = longest(limits.upper[i] - rows.s[i], -step.s[i], keep, primal)
                dual = longest(rows.b[i], step.b[i], keep, dual)
        if elastic and limits.kind[i] >= EQUATION:
            primal = longest(rows.ep[i], step.ep[i], keep, primal)
            primal = longest(rows.em[i], step.em[i], keep, primal)
            dual = longest(rows.ap[i], step.ap[i], keep, dual)
            dual = longest(rows.am[i], step.am[i], keep, dual)
    return primal, dual


@inner
def lacking(product: float, mu: float) -> float:
    """t of (I5)."""
    return max(min(max(product, BETA * mu), mu / BETA) - product, -mu / BETA)


@inner
def centre(
    limits: Limits,
    rows: Rows,
    step: Rows,
    primal: float,
    dual: float,
    mu: float,
    added: Matrix,
) -> None:
    """(I5) for a step of these lengths: what its products lack is added to their aim.

    added: (2, R) what is added to mu for the lower and the upper bound of every row.
    """
    for i in range(limits.kind.size):
        if limits.kind[i] == BOUNDED:
            s = rows.s[i] + primal * step.s[i]
            if np.isfinite(limits.lower[i]):
                product = (s - limits.lower[i]) * (rows.a[i] + dual * step.a[i])
                added[0, i] += lacking(product, mu)
            if np.isfinite(limits.upper[i]):
                product = (limits.upper[i] - s) * (rows.b[i] + dual * step.b[i])
                added[1, i] += lacking(product, mu)


@inner
def barrier(limits: Limits, rows: Rows, elastic: bool) -> tuple[float, float]:
    """(Σ log of all distances to bounds, Σ elastics): what rows add to the cost is −μ times the
    first and ρ times the second."""
    logs = stretch = 0.0
    product = 1.0
    for i in range(limits.kind.size):
        if limits.kind[i] == BOUNDED:
            if np.isfinite(limits.lower[i]):
                product *= rows.s[i] - limits.lower[i]
            if np.isfinite(limits.upper[i]):
                product *= limits.upper[i] - rows.s[i]
        if elastic and limits.kind[i] >= EQUATION:
            stretch += rows.ep[i] + rows.em[i]
            product *= rows.ep[i] * rows.em[i]
        if not 1e-100 < product < 1e100:  # one logarithm for many rows
            logs += np.log(product)
            product = 1.0
    return logs + np.log(product), stretch


@inner
def barrier_slope(
    limits: Limits, rows: Rows, step: Rows, mu: float, rho: float, elastic: bool
) -> float:
    """Derivative of `barrier` along a step."""
    total = 0.0
    for i in range(limits.kind.size):
        if limits.kind[i] == BOUNDED:
            if np.isfinite(limits.lower[i]):
                total -= mu * step.s[i] / (rows.s[i] - limits.lower[i])
            if np.isfinite(limits.upper[i]):
                total += mu * step.s[i] / (limits.upper[i] - rows.s[i])
        if elastic and limits.kind[i] >= EQUATION:
            total += (rho - mu / rows.ep[i]) * step.ep[i] + (rho - mu / rows.em[i]) * step.em[i]
    return total


@inner
def advance(
    limits: Limits,
    rows: Rows,
    step: Rows,
    primal: float,
    dual: float,
    elastic: bool,
    mu: float,
    result: Rows,
) -> None:
    """result = rows + step; primal, dual: step lengths. Bound multipliers are kept within a factor
    1e10 of μ / distance."""
    for i in range(limits.kind.size):
        result.s[i] = rows.s[i] + primal * step.s[i]
        result.y[i] = rows.y[i] + primal * step.y[i]
        if limits.kind[i] == BOUNDED:
            if np.isfinite(limits.lower[i]):
                centre = mu / (result.s[i] - limits.lower[i])
                result.a[i] = min(max(rows.a[i] + dual * step.a[i], 1e-10 * centre), 1e10 * centre)
            if np.isfinite(limits.upper[i]):
                centre = mu / (limits.upper[i] - result.s[i])
                result.b[i] = min(max(rows.b[i] + dual * step.b[i], 1e-10 * centre), 1e10 * centre)
        if elastic and limits.kind[i] >= EQUATION:
            result.ep[i] = rows.ep[i] + primal * step.ep[i]
            result.em[i] = rows.em[i] + primal * step.em[i]
            result.ap[i] = rows.ap[i] + dual * step.ap[i]
            result.am[i] = rows.am[i] + dual * step.am[i]


@inner
def complementarity(
    limits: Limits, rows: Rows, mu: float, rho: float, elastic: bool
) -> tuple[float, float, float, int]:
    """(worst error of the complementarity in (I2), (I3), worst of their gradients, sum of
    |multipliers| of bounds, their number)."""
    error = slope = total = 0.0
    count = 0
    for i in range(limits.kind.size):
        if limits.kind[i] == BOUNDED:
            if np.isfinite(limits.lower[i]):
                error = max(error, abs(rows.a[i] * (rows.s[i] - limits.lower[i]) - mu))
                count += 1
            if np.isfinite(limits.upper[i]):
                error = max(error, abs(rows.b[i] * (limits.upper[i] - rows.s[i]) - mu))
                count += 1
            slope = max(slope, abs(-rows.y[i] - rows.a[i] + rows.b[i]))
            total += rows.a[i] + rows.b[i]
        if elastic and limits.kind[i] >= EQUATION:
            error = max(error, abs(rows.ap[i] * rows.ep[i] - mu), abs(rows.am[i] * rows.em[i] - mu))
            slope = max(slope, abs(rho - rows.y[i] - rows.ap[i]), abs(rho + rows.y[i] - rows.am[i]))
            total += rows.ap[i] + rows.am[i]
            count += 2
    return error, slope, total, count

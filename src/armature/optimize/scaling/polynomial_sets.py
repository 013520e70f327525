"""Where polynomials are positive, and what many such sets leave free: exact sets of numbers x >
0."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ROUNDING = 1e-12  # relative: a crossing by less is rounding


class Forbidden(NamedTuple):
    """Open intervals (low, high) of x that are forbidden, each (k,), and the number of the row that
    forbids each."""

    low: np.ndarray
    high: np.ndarray
    row: np.ndarray


class Gap(NamedTuple):
    """An interval of x that is free, and the rows that end it on either side (−1: nothing does)."""

    low: float
    high: float
    row_low: int
    row_high: int


def fitted(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coefficients (..., 3), constant term first, of the parabolas through three points x, y (...,
    3)."""
    x0, x1, x2 = np.moveaxis(x, -1, 0)
    y0, y1, y2 = np.moveaxis(y, -1, 0)
    d1, d2 = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
    c2 = (d2 - d1) / (x2 - x0)
    return np.stack(
        np.broadcast_arrays(y0 - x0 * d1 + x0 * x1 * c2, d1 - (x0 + x1) * c2, c2), axis=-1
    )


def roots(c: np.ndarray) -> np.ndarray:
    """Real roots (k, d) of polynomials c (k, d + 1), constant term first; NaN for those that are
    not real."""
    if c.shape[1] == 1:
        return np.empty((len(c), 0))
    return _closed(c) if c.shape[1] <= 3 else _companion(c)


def _closed(c: np.ndarray) -> np.ndarray:
    """Roots of c₀ + c₁x + c₂x² without cancellation: h = −(c₁ + sign(c₁)√(c₁² − 4c₀c₂))/2, then
    h/c₂ and c₀/h."""
    c0, c1 = c[:, 0], c[:, 1]
    c2 = c[:, 2] if c.shape[1] == 3 else np.zeros_like(c0)
    with np.errstate(all="ignore"):
        h = -0.5 * (c1 + np.where(c1 < 0.0, -1.0, 1.0) * np.sqrt(c1 * c1 - 4 * c0 * c2))
        found = np.stack([h / c2, c0 / h], axis=1)
    return np.where(np.isfinite(found), found, np.nan)


def _companion(c: np.ndarray) -> np.ndarray:
    """Roots as eigenvalues of companion matrices, in a variable scaled so that the coefficients are
    alike; degrees may be lower."""
    d = c.shape[1] - 1
    found = np.full((len(c), d), np.nan)
    size = np.abs(c)
    scale = np.where(size[:, 0] > 0.0, size[:, 0], 1.0) ** (1.0 / d) / np.maximum(
        size.max(1), 1e-300
    ) ** (1.0 / d)
    scaled = c * scale[:, None] ** np.arange(d + 1)
    degree = d - np.argmax(
        np.abs(scaled[:, ::-1]) > 1e-14 * np.abs(scaled).max(1, keepdims=True), axis=1
    )
    for k in range(1, d + 1):
        rows = np.flatnonzero(degree == k)
        if not len(rows):
            continue
        matrix = np.zeros((len(rows), k, k))
        matrix[:, np.arange(1, k), np.arange(k - 1)] = 1.0
        matrix[:, :, -1] = -scaled[rows, :k] / scaled[rows, k : k + 1]
        values = np.linalg.eigvals(matrix)
        real = np.abs(values.imag) <= 1e-7 * np.maximum(np.abs(values.real), 1e-300)
        found[np.ix_(rows, np.arange(k))] = np.where(real, values.real, np.nan) * scale[rows, None]
    return found


def positive(c: np.ndarray, low: np.ndarray, high: np.ndarray, row: np.ndarray) -> Forbidden:
    """Where each polynomial c (k, d + 1) exceeds its own rounding within [low, high] (k,):
    intervals between its roots, tried inside."""
    r = roots(c)
    r = np.sort(
        np.clip(np.where(np.isnan(r), high[:, None], r), low[:, None], high[:, None]), axis=1
    )
    edges = np.concatenate([low[:, None], r, high[:, None]], axis=1)
    a, b = edges[:, :-1], edges[:, 1:]
    some = b > a
    k = np.nonzero(some)[0]
    a, b = a[some], b[some]
    middle = np.where(np.isinf(b), 2.0 * a + 1.0, 0.5 * (a + np.where(np.isinf(b), a, b)))
    value, size = np.zeros_like(a), np.zeros_like(a)
    for d in range(c.shape[1] - 1, -1, -1):
        value, size = value * middle + c[k, d], size * middle + np.abs(c[k, d])
    bad = value > ROUNDING * size
    return Forbidden(a[bad], b[bad], row[k[bad]])


def joined(parts: list[Forbidden]) -> Forbidden:
    """All forbidden intervals together."""
    return Forbidden(*(np.concatenate(columns) for columns in zip(*parts)))


def gaps(f: Forbidden) -> list[Gap]:
    """What x > 0 is left free, from small to large."""
    if not len(f.low):
        return [Gap(0.0, np.inf, -1, -1)]
    order = np.argsort(f.low, kind="stable")
    low, high, row = f.low[order], f.high[order], f.row[order]
    reach = np.maximum.accumulate(high)
    holder = row[np.maximum.accumulate(np.where(high == reach, np.arange(len(high)), 0))]
    found = [Gap(0.0, float(low[0]), -1, int(row[0]))] if low[0] > 0.0 else []
    for i in np.flatnonzero(low[1:] > reach[:-1] * (1 + ROUNDING)):
        found.append(Gap(float(reach[i]), float(low[i + 1]), int(holder[i]), int(row[i + 1])))
    if np.isfinite(reach[-1]):
        found.append(Gap(float(reach[-1]), np.inf, int(holder[-1]), -1))
    return found

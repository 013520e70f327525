"""The sparse KKT system of Gauss's principle, [W Aᵀ; A 0] (x, μ) = (F, D), also with redundant
rows: LDLᵀ without pivoting on

    [W + δ  Aᵀ; A  −ε],

which is quasi-definite and so factors in any order, then refinement against the system itself (a
proximal method: for consistent rows x converges to the solution, μ to the one nearest to zero). The
pattern is analysed once; a new factorisation is one compiled loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csc_matrix, triu
from scipy.sparse.linalg import LinearOperator, minres, splu

from armature.kernel.keep import compiled_loop

ROW_REGULAR = 1e-8  # ε against the diagonal of A W⁻¹Aᵀ
# δ against a typical weight, where W has none; well above the rounding that ε lets grow, eps/ε
WEIGHT_REGULAR = 1e-6
REFINEMENTS = 12
GOOD = 1e-14  # componentwise backward error that ends the refinement


class Solved(NamedTuple):
    """x (n,), multipliers μ (rows,), and how far each equation is from being met, relative to its
    terms (n + rows,); iterations."""

    x: np.ndarray
    mu: np.ndarray
    error: np.ndarray
    iterations: int


class System:
    """A pattern of W and A, analysed once; `set` gives new values of A, `solve` as many right sides
    as wanted.

    W: (values, rows, columns) of a constant symmetric matrix.  a_rows, a_columns: places of the
    values of A, which may repeat."""

    def __init__(
        self,
        n: int,
        m: int,
        W: tuple[np.ndarray, np.ndarray, np.ndarray],
        a_rows: np.ndarray,
        a_columns: np.ndarray,
    ):
        self.n, self.m = n, m
        w_values, w_rows, w_columns = W
        upper = w_rows <= w_columns
        rows = np.concatenate([w_rows[upper], a_columns, np.arange(n + m)])
        columns = np.concatenate([w_columns[upper], a_rows + n, np.arange(n + m)])
        self.order = _fill_reducing(n + m, rows, columns)
        place = np.empty(n + m, dtype=np.int64)
        place[self.order] = np.arange(n + m)
        i, j = np.minimum(place[rows], place[columns]), np.maximum(place[rows], place[columns])
        keys, self.where = np.unique(j * (n + m) + i, return_inverse=True)
        self.indices = (keys % (n + m)).astype(np.int64)
        self.starts = np.searchsorted(keys // (n + m), np.arange(n + m + 1)).astype(np.int64)
        self.a_rows, self.a_columns = a_rows, a_columns
        self.w_upper = w_values[upper]
        diagonal = np.zeros(n)
        np.add.at(diagonal, w_rows[w_rows == w_columns], w_values[w_rows == w_columns])
        self.weight, self.delta = _weights(diagonal)
        self.parent, self.l_starts = _symbolic(self.starts, self.indices)

    def set(self, a_values: np.ndarray, factor: bool = True) -> None:
        """Take these values of A, and factor."""
        n, m, size = self.n, self.m, len(self.indices)
        zero = np.zeros(n + m)
        self.values = np.bincount(self.where, np.concatenate([self.w_upper, a_values, zero]), size)
        # S_ii of A W⁻¹ Aᵀ scales ε
        self.scale = np.bincount(self.a_rows, a_values**2 / self.weight[self.a_columns], m)
        small = np.where(self.scale > 0, self.scale, 1.0)
        added = np.concatenate(
            [np.zeros(len(self.w_upper) + len(a_values)), self.delta, -ROW_REGULAR * small]
        )
        self.a_values = a_values
        if not factor:
            return
        regular = self.values + np.bincount(self.where, added, size)
        factors = _factor(self.starts, self.indices, regular, self.parent, self.l_starts, -1.0)
        self.L: tuple[np.ndarray, np.ndarray, np.ndarray] = factors[:3]

    def solve(self, F: np.ndarray, D: np.ndarray) -> Solved:
        """x and μ by the factors and refinement."""
        b = np.concatenate([F, D])[self.order]
        L, lower, pivots = self.L
        y = _substitute(self.l_starts, L, lower, pivots, b)
        floor = self._floor(F, y)
        y, error, count = _refined(
            self.starts,
            self.indices,
            self.values,
            self.l_starts,
            L,
            lower,
            pivots,
            b,
            y,
            floor,
            REFINEMENTS,
            GOOD,
        )
        return self._solved(y, error, count)

    def _floor(self, F: np.ndarray, y: np.ndarray) -> np.ndarray:
        """What errors are compared with at least, in the order of elimination: a thousandth of the
        largest accelerations' terms."""
        x = np.empty(self.n + self.m)
        x[self.order] = y
        largest = max(np.max(np.abs(x[: self.n])), np.max(np.abs(F) / self.weight))
        sums = np.bincount(self.a_rows, np.abs(self.a_values), self.m)
        return np.maximum(1e-3 * largest * np.concatenate([self.weight, sums])[self.order], 1e-300)

    def iterate(
        self, F: np.ndarray, D: np.ndarray, guess: Solved | None, rtol: float = 1e-12
    ) -> Solved:
        """The same by iteration (minimum residuals), from an earlier solution: no factorisation,
        only products with W and A.

        Preconditioned by the diagonals of W and of A W⁻¹Aᵀ.
        """
        size = self.n + self.m
        d = np.concatenate([1.0 / self.weight, 1.0 / np.where(self.scale > 0, self.scale, 1.0)])[
            self.order
        ]
        b = np.concatenate([F, D])[self.order]
        start = None if guess is None else np.concatenate([guess.x, guess.mu])[self.order]
        K = lambda x: _multiply(self.starts, self.indices, self.values, x)[0]
        root, count = np.sqrt(d), [0]

        def counted(_: Any) -> None:
            count[0] += 1

        # D½ K D½ z = D½ r, from the residual r of the guess: a good guess needs few iterations for
        # the same absolute accuracy
        y = np.zeros(size) if start is None else start
        r = b - K(y)
        made: Any = LinearOperator
        scaled: Any = made(shape=(size, size), dtype=float, matvec=lambda z: root * K(root * z))
        goal = rtol * np.linalg.norm(root * b)
        for _ in range(3):
            left = np.linalg.norm(root * r)
            if left <= goal:
                break
            z, _ = minres(
                scaled,
                root * r,
                rtol=float(max(goal / left / 2, 1e-15)),
                maxiter=20 * size,
                callback=counted,
            )
            y = y + root * z
            r = b - K(y)
        _, terms = _multiply(self.starts, self.indices, self.values, y)
        return self._solved(y, np.abs(r) / (terms + np.abs(b) + self._floor(F, y)), count[0])

    def independent(self, tolerance: float = 1e-9) -> np.ndarray:
        """(rows,) True where a row of A does not depend on those before it: pivots of A W⁻¹Aᵀ, in
        the order of the rows."""
        A = csc_matrix((self.a_values, (self.a_rows, self.a_columns)), shape=(self.m, self.n))
        S = csc_matrix(triu(A.multiply(1.0 / self.weight) @ A.T))
        S.sort_indices()
        starts, indices = S.indptr.astype(np.int64), S.indices.astype(np.int64)
        return _factor(starts, indices, S.data, *_symbolic(starts, indices), tolerance)[3]

    def _solved(self, y: np.ndarray, error: np.ndarray, count: int) -> Solved:
        x, e = np.empty(self.n + self.m), np.empty(self.n + self.m)
        x[self.order], e[self.order] = y, error
        return Solved(x[: self.n], x[self.n :], e, count)


def _weights(diagonal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Diagonal of W with a stand-in where it is zero (point masses, coordinates without rotors),
    and δ, which is zero elsewhere."""
    positive = diagonal[diagonal > 0]
    typical = float(np.exp(np.mean(np.log(positive)))) if len(positive) else 1.0
    empty = diagonal <= 0
    return np.where(empty, typical, diagonal), np.where(empty, WEIGHT_REGULAR * typical, 0.0)


def _fill_reducing(size: int, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """An order of elimination with little fill: minimum degree on the pattern."""
    values = np.where(rows == columns, 1e3 * (1 + np.bincount(rows, minlength=size)[rows]), 1.0)
    K = csc_matrix((values, (rows, columns)), shape=(size, size))
    factor = splu(
        (K + K.T).tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.argsort(factor.perm_c)


# compiled loops: upper triangle in compressed columns --------------------------------------------


@compiled_loop()
def _symbolic(starts, indices):
    """Elimination tree and the starts of the columns of L."""
    n = len(starts) - 1
    parent, flag, count = np.full(n, -1), np.full(n, -1), np.zeros(n, dtype=np.int64)
    for k in range(n):
        flag[k] = k
        for p in range(starts[k], starts[k + 1]):
            i = indices[p]
            while flag[i] != k:
                if parent[i] == -1:
                    parent[i] = k
                count[i] += 1
                flag[i] = k
                i = parent[i]
    l_starts = np.zeros(n + 1, dtype=np.int64)
    for k in range(n):
        l_starts[k + 1] = l_starts[k] + count[k]
    return parent, l_starts


@compiled_loop(error_model="numpy")
def _factor(starts, indices, values, parent, l_starts, tolerance):
    """K = L D Lᵀ row by row: row k of L solves the triangle before it.

    With a tolerance ≥ 0, K is positive semidefinite: a pivot below tolerance × its diagonal depends
    on the rows before it and is left out. The last result says which were kept.
    """
    n = len(starts) - 1
    l_indices, l_values, D = (
        np.empty(l_starts[n], dtype=np.int64),
        np.empty(l_starts[n]),
        np.zeros(n),
    )
    y, pattern, flag, filled = (
        np.zeros(n),
        np.empty(n, dtype=np.int64),
        np.full(n, -1),
        np.zeros(n, dtype=np.int64),
    )
    kept = np.zeros(n, dtype=np.bool_)
    for k in range(n):
        top = n
        flag[k] = k
        for p in range(starts[k], starts[k + 1]):
            i = indices[p]
            y[i] += values[p]
            length = 0
            while flag[i] != k:
                pattern[length] = i
                length += 1
                flag[i] = k
                i = parent[i]
            while length > 0:
                top -= 1
                length -= 1
                pattern[top] = pattern[length]
        own = y[k]
        D[k] = own
        y[k] = 0.0
        for s in range(top, n):
            i = pattern[s]
            yi = y[i]
            y[i] = 0.0
            end = l_starts[i] + filled[i]
            for p in range(l_starts[i], end):
                y[l_indices[p]] -= l_values[p] * yi
            lki = yi / D[i] if kept[i] else 0.0
            D[k] -= lki * yi
            l_indices[end], l_values[end] = k, lki
            filled[i] += 1
        kept[k] = tolerance < 0.0 or D[k] > tolerance * own
    return l_indices, l_values, D, kept


@compiled_loop(error_model="numpy")
def _substitute(l_starts, l_indices, l_values, D, b):
    """Solve L D Lᵀ x = b."""
    n = len(D)
    x = b.copy()
    for k in range(n):
        for p in range(l_starts[k], l_starts[k + 1]):
            x[l_indices[p]] -= l_values[p] * x[k]
    for k in range(n - 1, -1, -1):
        x[k] /= D[k]
        for p in range(l_starts[k], l_starts[k + 1]):
            x[k] -= l_values[p] * x[l_indices[p]]
    return x


@compiled_loop()
def _multiply(starts, indices, values, x):
    """K x and |K||x| of the symmetric matrix whose upper triangle is stored."""
    n = len(starts) - 1
    y, terms = np.zeros(n), np.zeros(n)
    for j in range(n):
        for p in range(starts[j], starts[j + 1]):
            i, a = indices[p], values[p]
            y[i] += a * x[j]
            terms[i] += abs(a * x[j])
            if i != j:
                y[j] += a * x[i]
                terms[j] += abs(a * x[i])
    return y, terms


@compiled_loop()
def _refined(starts, indices, values, l_starts, l_indices, l_values, D, b, x, floor, most, good):
    """x with K x = b by corrections from the regular factors, while they help; errors relative to
    the terms; corrections made."""
    product, terms = _multiply(starts, indices, values, x)
    error = np.abs(b - product) / (terms + np.abs(b) + floor)
    count = 0
    while count < most and np.max(error) > good:
        trial = x + _substitute(l_starts, l_indices, l_values, D, b - product)
        next_product, terms = _multiply(starts, indices, values, trial)
        next_error = np.abs(b - next_product) / (terms + np.abs(b) + floor)
        if np.max(next_error) > 0.5 * np.max(error):
            if np.max(next_error) < np.max(error):
                x, error = trial, next_error
            break
        x, product, error = trial, next_product, next_error
        count += 1
    return x, error, count

"""The border of the Newton system (N1): a few parameters and totals, by the Schur complement S = B
+ Vᵀ(−K⁻¹V)."""

from typing import NamedTuple

import numpy as np

from armature.optimize.solver import riccati
from armature.optimize.solver.loops import Indices, Matrices, Matrix, Vector, inner
from armature.optimize.solver.system import System, border_product


class Border(NamedTuple):
    """z, lam: (nb, …) columns −K⁻¹V.  schur, inverse, scratch: (nb, nb).  product, beta: (nb,).

    influence: (nb,) of a total T when it was last used, what the others leave of TK⁻¹Tᵀ; infinite
    before.
    used: (nb,) 0 for columns that are left out, else 1.  own: (nb,) of a total, −1/w, what stands
    in B without local variables (local.py)."""

    z: Matrices
    lam: Matrices
    schur: Matrix
    inverse: Matrix
    scratch: Matrix
    product: Vector
    beta: Vector
    influence: Vector
    used: Vector
    own: Vector


def workspace(nb: int, knots: int, nz: int, nx: int) -> Border:
    """Arrays for nb columns."""
    shapes = [(nb, knots, nz), (nb, knots, nx), *[(nb, nb)] * 3, (nb,), (nb,)]
    return Border(
        *(np.zeros(shape) for shape in shapes),
        influence=np.full(nb, np.inf),
        used=np.ones(nb),
        own=np.zeros(nb),
    )


@inner
def factor(
    F: Matrix,
    rows: Indices,
    cols: Indices,
    factors: riccati.Factors,
    system: System,
    border: Border,
    np_: int,
    shift: float,
) -> bool:
    """S and its inverse; False when its block of totals is not negative definite or, those
    eliminated, that of parameters not positive."""
    nb = border.beta.size
    for j in range(nb):
        if border.used[j] == 0.0:
            for i in range(nb):
                border.schur[i, j] = system.B[i, j]
            continue
        riccati.solve(F, rows, cols, system.V[j], system.Vf[j], factors, border.z[j], border.lam[j])
        border_product(system, border.used, border.z[j], border.lam[j], border.product)
        for i in range(nb):
            border.schur[i, j] = system.B[i, j] + border.product[i]
        if j < np_:
            border.schur[j, j] += shift
    if not invert(border.schur, border.inverse, border.scratch, np_):
        return False
    for j in range(np_, nb):
        if border.used[j] != 0.0:
            border.influence[j] = border.own[j] - 1.0 / border.inverse[j, j]
    return True


@inner
def invert(S: Matrix, inverse: Matrix, A: Matrix, np_: int) -> bool:
    """Gauss–Jordan from the last row to the first; the pivots' signs are the inertia: totals (last)
    negative, parameters positive."""
    nb = S.shape[0]
    for i in range(nb):
        for j in range(nb):
            A[i, j], inverse[i, j] = S[i, j], 0.0
        inverse[i, i] = 1.0
    for c in range(nb - 1, -1, -1):
        pivot = A[c, c]
        right = pivot if c < np_ else -pivot
        if not right > 1e-13 * abs(S[c, c]):
            return False
        for j in range(nb):
            A[c, j] /= pivot
            inverse[c, j] /= pivot
        for i in range(nb):
            if i != c:
                value = A[i, c]
                for j in range(nb):
                    A[i, j] -= value * A[c, j]
                    inverse[i, j] -= value * inverse[c, j]
    return True


@inner
def solve(
    F: Matrix,
    rows: Indices,
    cols: Indices,
    factors: riccati.Factors,
    system: System,
    border: Border,
    r: Matrix,
    gap: Matrix,
    rb: Vector,
    dz: Matrix,
    dlam: Matrix,
) -> None:
    """(N1) for one right-hand side: border.beta, dz, dlam."""
    riccati.solve(F, rows, cols, r, gap, factors, dz, dlam)
    nb = border.beta.size
    border_product(system, border.used, dz, dlam, border.product)
    for i in range(nb):
        total = 0.0
        for j in range(nb):
            total -= border.inverse[i, j] * (rb[j] + border.product[j])
        border.beta[i] = total
    for j in range(nb):
        value = border.beta[j]
        if border.used[j] == 0.0:
            continue
        for k in range(dz.shape[0]):
            for a in range(dz.shape[1]):
                dz[k, a] += value * border.z[j, k, a]
            for s in range(dlam.shape[1]):
                dlam[k, s] += value * border.lam[j, k, s]


@inner
def sizes(
    r: Matrix, rp: Vector, residual: Vector, gap: Matrix, lam: Matrix, y: Vector
) -> tuple[float, float, float]:
    """(largest of the gradient, largest residual of rows and dynamics, sum of |multipliers|)."""
    gradient = violation = total = 0.0
    for value in r.flat:
        gradient = max(gradient, abs(value))
    for value in rp:
        gradient = max(gradient, abs(value))
    for value in residual:
        violation = max(violation, abs(value))
    for value in gap.flat:
        violation = max(violation, abs(value))
    for value in lam.flat:
        total += abs(value)
    for value in y:
        total += abs(value)
    return gradient, violation, total

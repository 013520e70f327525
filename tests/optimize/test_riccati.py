"""The Riccati recursion against the whole system solved at once, and its inertia test against
eigenvalues."""

import numpy as np
import pytest

from armature.optimize.solver import riccati


def random_system(seed, N=7, nx=4, nu=2, convex=True):
    rng = np.random.default_rng(seed)
    nz = nx + nu
    W = rng.normal(size=(N + 1, nz, nz))
    W = W @ W.transpose(0, 2, 1) + 0.1 * np.eye(nz) if convex else W + W.transpose(0, 2, 1)
    W[N, nx:, :] = W[N, :, nx:] = 0.0
    pattern = rng.random((nx, nz)) < 0.7
    rows, cols = map(np.ascontiguousarray, np.nonzero(pattern))
    F = rng.normal(size=(N, rows.size))
    return W, F, rows, cols, rng.normal(size=(N + 1, nz)), rng.normal(size=(N, nx))


def dense_system(W, F, rows, cols):
    """The matrix of (R1), (R2) in the unknowns (z_0 … z_N without u_N, λ_1 … λ_N), and the number
    of primal ones."""
    N, nz = F.shape[0], W.shape[1]
    nx = int(rows.max()) + 1
    n = N * nz + nx
    K = np.zeros((n + N * nx, n + N * nx))
    for k in range(N + 1):
        width = nz if k < N else nx
        K[k * nz : k * nz + width, k * nz : k * nz + width] = W[k, :width, :width]
    for k in range(N):
        C = np.zeros((nx, n))
        C[rows, k * nz + cols] = F[k]
        C[:, (k + 1) * nz : (k + 1) * nz + nx] -= np.eye(nx)
        K[n + k * nx : n + (k + 1) * nx, :n] = C
        K[:n, n + k * nx : n + (k + 1) * nx] = C.T
    return K, n


@pytest.mark.parametrize("seed", range(5))
def test_recursion_equals_the_dense_solve(seed):
    W, F, rows, cols, r, b = random_system(seed)
    N, nz, nx = 7, 6, 4
    factors = riccati.workspace(N, nx, nz - nx)
    assert riccati.factor(W, F, rows, cols, np.zeros(6), factors)
    dz, dlam = np.zeros((N + 1, nz)), np.zeros((N + 1, nx))
    riccati.solve(F, rows, cols, r, b, factors, dz, dlam)
    K, n = dense_system(W, F, rows, cols)
    expected = np.linalg.solve(K, -np.concatenate([r.ravel()[:n], b.ravel()]))
    np.testing.assert_allclose(dz.ravel()[:n], expected[:n], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(dlam[1:].ravel(), expected[n:], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(20))
def test_factorisation_succeeds_exactly_when_the_inertia_is_right(seed):
    W, F, rows, cols, _, _ = random_system(seed, convex=False)
    K, n = dense_system(W, F, rows, cols)
    factors = riccati.workspace(7, 4, 2)
    for shift in (0.0, 1.0, 3.0, 5.0, 10.0):
        shifted = K + np.diag([shift] * n + [0.0] * (K.shape[0] - n))
        right = np.sum(np.linalg.eigvalsh(shifted) > 0) == n
        assert riccati.factor(W, F, rows, cols, np.full(6, shift), factors) == right

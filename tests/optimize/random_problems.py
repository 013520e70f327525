"""Random motions with random active limits, all solvable: the limits are drawn around a motion that
exists."""

import functools

import casadi as ca
import numpy as np

from armature.optimize.problem.problem import Guess, Model, Problem


def split(d, nx, nu):
    """A, B, C (matrices), q, r (weights), target of the cost, from a column of data."""
    shapes = [(nx, nx), (nx, nu), (nx, nx), (nx, 1), (nu, 1), (nx, 1)]
    parts, start = [], 0
    for rows, cols in shapes:
        parts.append(ca.reshape(d[start : start + rows * cols], rows, cols))
        start += rows * cols
    return parts


def size(nx, nu):
    return 2 * nx * nx + nx * nu + 2 * nx + nu


@functools.cache
def model(nx, nu):
    """x⁺ = x + h(A x + B u + C sin x), quadratic cost, |u|² and a mixed constraint as rows; every
    number is data."""
    h = 0.1

    def dynamics(x, u, p, d):
        A, B, C, *_ = split(d, nx, nu)
        return x + h * (A @ x + B @ u + C @ ca.sin(x))

    def cost(x, u, p, d):
        *_, q, r, target = split(d, nx, nu)
        return h * (ca.dot(q, (x - target) ** 2) + ca.dot(r, u**2))

    def constraints(x, u, p, d):
        return ca.vertcat(ca.sumsqr(u), x[0] * u[0] + x[1])

    return Model(
        nx, nu, dynamics, cost, constraints, nd=size(nx, nu), key=f"random problems {nx} {nu} 1"
    )


def random_problem(seed):
    """(problem, guess)."""
    rng = np.random.default_rng(seed)
    nx, N = int(rng.integers(3, 10)), int(rng.integers(15, 40))
    nu = int(rng.integers(1, (nx + 1) // 2 + 1))
    A, B, C = (
        rng.normal(size=(nx, nx)) / np.sqrt(nx),
        rng.normal(size=(nx, nu)),
        0.5 * rng.normal(size=(nx, nx)),
    )
    q, r, target = rng.random(nx), 0.01 + rng.random(nu), rng.normal(size=nx)
    data = np.concatenate([a.ravel(order="F") for a in (A, B, C, q, r, target)])
    # a motion that exists: smooth random controls
    phase, speed = rng.uniform(0, 6, nu), rng.uniform(0.1, 0.6, nu)
    u = np.sin(phase + speed * np.arange(N)[:, None])
    x = np.zeros((N + 1, nx))
    x[0] = rng.normal(size=nx)
    for k in range(N):
        x[k + 1] = x[k] + 0.1 * (A @ x[k] + B @ u[k] + C @ np.sin(x[k]))
    # limits around it, with little room, some absent
    room = np.maximum(0.05, 0.1 * np.abs(x).max(0)) * rng.uniform(0.5, 3.0, nx)
    lower, upper = np.tile(x.min(0) - room, (N + 1, 1)), np.tile(x.max(0) + room, (N + 1, 1))
    free = rng.random(nx) < 0.4
    lower[:, free], upper[:, free] = -np.inf, np.inf
    lower[0] = upper[0] = x[0]
    if rng.random() < 0.5:
        lower[N, :2] = upper[N, :2] = x[N, :2]
    mixed = x[:-1, 0] * u[:, 0] + x[:-1, 1]
    c_upper = (
        np.array([nu * 1.0, mixed.max() + 0.1])
        if rng.random() < 0.5
        else np.array([np.inf, np.inf])
    )
    problem = Problem(
        model(nx, nu),
        N,
        x=(lower, upper),
        u=(-1.05, 1.05),
        constraints=(-np.inf, c_upper),
        data=data,
    )
    return problem, Guess(x=np.tile(x[0], (N + 1, 1)))

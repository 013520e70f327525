"""The same discrete problem for the solvers behind CasADi (Ipopt, fatrop, an SQP method): an
independent answer, and a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from armature.kernel.trace import bound
from armature.optimize.problem.problem import Guess, Model, Problem, filled, interval
from armature.optimize.problem.result import Result
from armature.optimize.problem.stage import column

QUIET = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False}


@dataclass(frozen=True)
class Answer:
    """What a solver behind CasADi found. seconds: of its solve, without building; iterations: -1
    when it does not tell."""

    cost: float
    x: np.ndarray
    u: np.ndarray
    p: np.ndarray
    converged: bool
    iterations: int
    seconds: float
    constraint_multipliers: np.ndarray


@dataclass(frozen=True, eq=False)
class Nlp:
    """A problem as one nonlinear programme in (x₀, u₀, x₁, u₁, …, x_N, p); constraints step by
    step: dynamics, then the model's own."""

    problem: Problem
    solver: Any
    bounds: dict[str, np.ndarray]

    def solve(self, guess: Guess | Result) -> Answer:
        """The answer from a guess."""
        m, N = self.problem.model, self.problem.N
        x, u = (
            filled(guess.x, (N + 1, m.nx), "the guess for x"),
            filled(guess.u, (N, m.nu), "the guess for u"),
        )
        answer = self.solver(
            x0=pack(x, u, filled(guess.p, (m.np,), "the guess for p")), **self.bounds
        )
        stats = self.solver.stats()
        z = np.array(answer["x"]).ravel()
        steps, end = z[: N * (m.nx + m.nu)].reshape(N, -1), z[N * (m.nx + m.nu) :]
        return Answer(
            float(answer["f"]),
            np.vstack([steps[:, : m.nx], end[: m.nx]]),
            steps[:, m.nx :],
            end[m.nx :],
            bool(stats["success"]),
            int(stats.get("iter_count", -1)),
            float(stats.get("t_wall_total", np.nan)),
            np.array(answer["lam_g"]).ravel(),
        )


def pack(x: np.ndarray, u: np.ndarray, p: Any) -> np.ndarray:
    """Variables in the order of the programme."""
    return np.concatenate([np.hstack([x[:-1], u]).ravel(), x[-1], np.ravel(p)])


def as_nlp(problem: Problem, solver: str = "ipopt", options: dict | None = None) -> Nlp:
    """The problem for `casadi.nlpsol(..., solver, ..., options)`."""
    m, N = problem.model, problem.N
    F, data = functions(m), filled(problem.data, (problem.N + 1, problem.model.nd), "data")
    x, u = (
        [ca.SX.sym(f"x{k}", m.nx) for k in range(N + 1)],
        [ca.SX.sym(f"u{k}", m.nu) for k in range(N)],
    )
    p = ca.SX.sym("p", m.np)
    limits = interval(problem.constraints, (N, F["c"].numel_out()), "constraints")
    cost, total, g, low, high = ca.SX(0), ca.SX(0), [], [], []
    for k in range(N):
        args = (x[k], u[k], p, data[k])
        cost, total = cost + F["l"](*args), total + F["t"](*args)
        g += [x[k + 1] - F["f"](*args), F["c"](*args)]
        low += [np.zeros(m.nx), limits[0][k]]
        high += [np.zeros(m.nx), limits[1][k]]
    last = (x[N], p, data[N])
    cost = cost + F["l_end"](*last) if m.end_cost else cost
    total = total + F["t_end"](*last) if m.end_totals else total
    ends = interval(problem.end, (F["c_end"].numel_out(),), "end constraints")
    sums = interval(problem.totals, (F["t"].numel_out() or F["t_end"].numel_out(),), "totals")
    g += [F["c_end"](*last), total if sums[0].size else ca.SX(0, 1)]
    nlp = {
        "x": ca.vertcat(*(v for k in range(N) for v in (x[k], u[k])), x[N], p),
        "f": cost,
        "g": ca.vertcat(*g),
    }
    X, U, P = (
        interval(pair, shape, "bounds")
        for pair, shape in (
            (problem.x, (N + 1, m.nx)),
            (problem.u, (N, m.nu)),
            (problem.p, (m.np,)),
        )
    )
    bounds = {
        "lbx": pack(X[0], U[0], P[0]),
        "ubx": pack(X[1], U[1], P[1]),
        "lbg": np.concatenate([*low, ends[0], sums[0]]),
        "ubg": np.concatenate([*high, ends[1], sums[1]]),
    }
    made = ca.nlpsol(
        "peer", solver, nlp, {**(QUIET if solver == "ipopt" else {}), **(options or {})}
    )
    return Nlp(problem, made, bounds)


def functions(model: Model) -> dict[str, ca.Function]:
    """The model's functions f, l, c, t of (x, u, p, d), and those of the last knot of (x, p, d)."""
    x, u, p, d = (
        ca.SX.sym("x", model.nx),
        ca.SX.sym("u", model.nu),
        ca.SX.sym("p", model.np),
        ca.SX.sym("d", model.nd),
    )
    inner = model.inner
    w = (
        (inner.unrolled(lambda xi: column(inner.function(column(xi))), x, u, p, d)[1],)
        if inner
        else ()
    )
    steps = {"f": model.dynamics, "l": model.cost, "c": model.constraints, "t": model.totals}
    known = lambda value: bound(column(value), model.parameters)
    made = {
        key: ca.Function(key, [x, u, p, d], [known(part(x, u, p, d, *w)) if part else ca.SX(0, 1)])
        for key, part in steps.items()
    }
    ends = {"l_end": model.end_cost, "c_end": model.end_constraints, "t_end": model.end_totals}
    made |= {
        key: ca.Function(key, [x, p, d], [column(part(x, p, d)) if part else ca.SX(0, 1)])
        for key, part in ends.items()
    }
    return made

"""The same discrete problem given to Ipopt through CasADi: an independent answer."""

import casadi as ca
import numpy as np

from armature.optimize.problem import Problem, filled, interval
from armature.optimize.stage import column


def functions(model):
    """CasADi functions of (x, u, p, d): f, l, c, t."""
    x, u, p, d = ca.SX.sym("x", model.nx), ca.SX.sym("u", model.nu), ca.SX.sym("p", model.np), ca.SX.sym("d", model.nd)
    parts = {"f": model.dynamics, "l": model.cost, "c": model.constraints, "t": model.totals}
    inner = model.inner
    w = ([column(inner.function(column(xi))) for xi in inner.arguments(x, u, p, d)],) if inner else ()
    made = {key: ca.Function(key, [x, u, p, d], [column(part(x, u, p, d, *w)) if part else ca.SX(0, 1)]) for key, part in parts.items()}
    ends = {"lN": model.end_cost, "cN": model.end_constraints, "tN": model.end_totals}
    made |= {key: ca.Function(key, [x, p, d], [column(part(x, p, d)) if part else ca.SX(0, 1)]) for key, part in ends.items()}
    return made


def build(problem: Problem, options=None, solver="ipopt"):
    """(solver, bounds as keyword arguments, function that packs a guess)."""
    m, N = problem.model, problem.N
    F = functions(m)
    data = filled(problem.data, (N + 1, m.nd), "data")
    x, u, p = [ca.SX.sym(f"x{k}", m.nx) for k in range(N + 1)], [ca.SX.sym(f"u{k}", m.nu) for k in range(N)], ca.SX.sym("p", m.np)
    variables = [v for k in range(N) for v in (x[k], u[k])] + [x[N], p]
    cost, total, g, low, high = 0, 0, [], [], []
    c = interval(problem.constraints, (N, F["c"].numel_out()), "c")
    for k in range(N):
        args = (x[k], u[k], p, data[k])
        cost, total = cost + F["l"](*args), total + F["t"](*args)
        g += [F["f"](*args) - x[k + 1], F["c"](*args)]
        low += [np.zeros(m.nx), c[0][k]]
        high += [np.zeros(m.nx), c[1][k]]
    end = (x[N], p, data[N])
    if m.end_cost:
        cost = cost + F["lN"](*end)
    if m.end_totals:
        total = total + F["tN"](*end)
    e = interval(problem.end, (F["cN"].numel_out(),), "end")
    t = interval(problem.totals, (F["t"].numel_out() or F["tN"].numel_out(),), "totals")
    g, low, high = [*g, F["cN"](*end), total if t[0].size else ca.SX(0, 1)], [*low, e[0], t[0]], [*high, e[1], t[1]]
    options = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9} if options is None else options
    nlp = {"x": ca.vertcat(*variables), "f": cost, "g": ca.vertcat(*g)}
    X, U = interval(problem.x, (N + 1, m.nx), "x"), interval(problem.u, (N, m.nu), "u")
    P = interval(problem.p, (m.np,), "p")
    bounds = {"lbx": pack(X[0], U[0], P[0]), "ubx": pack(X[1], U[1], P[1]), "lbg": np.concatenate(low), "ubg": np.concatenate(high)}
    return ca.nlpsol("oracle", solver, nlp, options), bounds


def pack(x, u, p):
    """Variables in the oracle's order."""
    return np.concatenate([np.hstack([x[:-1], u]).ravel(), x[-1], np.ravel(p)])


def solve_with_ipopt(problem: Problem, guess):
    """(cost, x, converged) of Ipopt from the same guess."""
    m, N = problem.model, problem.N
    solver, bounds = build(problem)
    x, u, p = filled(guess.x, (N + 1, m.nx), "x"), filled(guess.u, (N, m.nu), "u"), filled(guess.p, (m.np,), "p")
    answer = solver(x0=pack(x, u, p), **bounds)
    z = np.array(answer["x"]).ravel()
    states = np.vstack([z[: N * (m.nx + m.nu)].reshape(N, -1)[:, : m.nx], z[N * (m.nx + m.nu) :][: m.nx]])
    return float(answer["f"]), states, solver.stats()["success"], solver.stats()["iter_count"]

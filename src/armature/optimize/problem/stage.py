"""The functions of a step as kernels: values, exact first derivatives and the Hessian of the
Lagrangian, all knots in one call.

    (S1)  ℒ(z, p) = w₀ l + λᵀf + yᵀ(w_c c) + ηᵀ(w_t t),      z = (x, u)

w scales cost, constraints and totals. Jacobians of f and c and the Hessian are passed as nonzeros;
their places (the layout) are kept in the disk cache beside the kernels, so that no new trace is
needed. Where the functions share an inner one (shared.py),
derivatives are three kernels in turn: `outer` and `points`, whose results `derivatives` puts
together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import casadi as ca
import numpy as np

from armature.kernel import Argument, Expression, Kernel
from armature.kernel.kernel import compiled
from armature.kernel.machine_code import read_cache, write_cache
from armature.kernel.trace import function_of
from armature.optimize.problem.problem import Inner, Model
from armature.optimize.problem.shared import NotShared, Shared

VERSION = "stage 6"  # part of every key: change it with the trace below


@dataclass(frozen=True)
class Layout:
    """Places of the nonzeros: F (rows, columns in z), J (first entry of each row, columns in z), H
    (lower triangle, in (z, p))."""

    F_rows: np.ndarray
    F_cols: np.ndarray
    J_first: np.ndarray
    J_cols: np.ndarray
    H_rows: np.ndarray
    H_cols: np.ndarray


@dataclass(frozen=True)
class Stage:
    """The kernels of one kind of knot. nf: states that the step produces (0 at the last knot); nc,
    nt: constraints and totals.

    values: (z, p, d, w) -> f, c, t, l and with an inner function ξ, ω.
    derivatives: (z, p, d, w, λ, y, η [, ω, S, C]) -> what `system.Derivatives` holds.
    outer: (z, p, d, w, λ, y, η, ω) -> m, D, and points: (ξ, m, D) -> S, C at one point, (C2); None
    without an inner function."""

    values: Kernel
    derivatives: Kernel
    layout: Layout
    nf: int
    nc: int
    nt: int
    outer: Kernel | None = None
    points: Kernel | None = None


def running_stage(model: Model) -> Stage:
    """Kernels for the knots 0 … N−1."""

    def functions(x, u, p, d, *w):
        parts = (model.dynamics, model.cost, model.constraints, model.totals)
        return tuple(column(part(x, u, p, d, *w)) if part else ca.SX(0, 1) for part in parts)

    return build_stage(model, functions, model.inner, f"{model.key} running" if model.key else "")


def end_stage(model: Model) -> Stage:
    """Kernels for the last knot, which has a state but no control."""

    def functions(x, u, p, d):
        parts = (model.end_cost, model.end_constraints, model.end_totals)
        cost, constraints, totals = (
            column(part(x, p, d)) if part else ca.SX(0, 1) for part in parts
        )
        return ca.SX(0, 1), cost if cost.numel() else ca.SX(0), constraints, totals

    return build_stage(model, functions, None, f"{model.key} end" if model.key else "")


def build_stage(model: Model, functions: Callable, inner: Inner | None, key: str) -> Stage:
    """Trace (or find in the cache) the kernels of a stage."""

    @functools.cache
    def traced() -> tuple[dict[str, Expression], Layout]:
        return trace_stage(model, functions, inner)

    if not key:
        key = "".join(part.function.serialize() for part in traced()[0].values())
    names = ("values", "derivatives", *(("outer", "points") if inner else ()))
    kernels = {
        name: compiled(
            f"{VERSION} {name} {key}", lambda name=name: traced()[0][name], model.parameters
        )
        for name in names
    }
    layout = kept_layout(f"{VERSION} layout {key}", lambda: traced()[1])
    nf, nc, nt = (a.size for a in kernels["values"].outputs[:3])
    return Stage(
        kernels["values"],
        kernels["derivatives"],
        layout,
        nf,
        nc,
        nt,
        kernels.get("outer"),
        kernels.get("points"),
    )


def kept_layout(key: str, make: Callable[[], Layout]) -> Layout:
    """The layout from the disk cache, else made and kept there."""
    entry = read_cache(key)
    if entry is not None:
        return Layout(*(np.array(entry[0][f.name], dtype=np.int64) for f in fields(Layout)))
    layout = make()
    write_cache(key, {f.name: getattr(layout, f.name).tolist() for f in fields(Layout)}, b"")
    return layout


def trace_stage(
    model: Model, functions: Callable, inner: Inner | None
) -> tuple[dict[str, Expression], Layout]:
    """The kernels as expressions, and the layout."""
    nx, nz = model.nx, model.nx + model.nu
    z, p, d = ca.SX.sym("z", nz), ca.SX.sym("p", model.np), ca.SX.sym("d", model.nd)
    x, u, zp = z[:nx], z[nx:], ca.vertcat(z, p)
    shared = Shared(inner, x, u, p, d) if inner else NotShared()
    f, l, c, t = functions(x, u, p, d, *shared.values)
    lam, y, eta = (
        ca.SX.sym("lam", f.numel()),
        ca.SX.sym("y", c.numel()),
        ca.SX.sym("eta", t.numel()),
    )
    w_l, w_c, w_t = ca.SX.sym("w_l"), ca.SX.sym("w_c", c.numel()), ca.SX.sym("w_t", t.numel())
    w = ca.vertcat(w_l, w_c, w_t)
    l, c, t = w_l * l, w_c * c, w_t * t
    # (S1) and its derivatives
    F, J = shared.jacobian(f, zp), shared.jacobian(c, zp)
    T, g = ca.densify(shared.jacobian(t, zp)), ca.densify(shared.jacobian(l, zp))
    H = shared.hessian(l + ca.dot(lam, f) + ca.dot(y, c) + ca.dot(eta, t), zp)
    Fz, Fp, Jz, Jp = F[:, :nz], F[:, nz:], J[:, :nz], J[:, nz:]
    values = {"f": f, "c": c, "t": t, "l": l, **shared.kept}
    derivatives = {
        "F": nonzeros_by_row(Fz),
        "Fp": Fp,
        "g": g,
        "J": nonzeros_by_row(Jz),
        "Jp": Jp,
        "T": T,
        "H": nonzeros_by_row(H),
    }
    inputs = {"z": z, "p": p, "d": d, "w": w}
    weighted = {**inputs, "lam": lam, "y": y, "eta": eta}
    traced = {
        "values": expression("values", inputs, shared.insert(values)),
        "derivatives": expression("derivatives", {**weighted, **shared.inputs}, derivatives),
    }
    if isinstance(shared, Shared):
        traced["outer"] = expression("outer", {**weighted, "omega": shared.w}, shared.outer)
        traced["points"] = expression("points", shared.point_inputs, shared.point_outputs)
    return traced, layout_of(Fz, Jz, H)


def expression(name: str, inputs: dict[str, ca.SX], outputs: dict[str, ca.SX]) -> Expression:
    """Flat, dense, C-ordered arguments with shared sub-expressions."""
    columns = ca.cse([ca.vec(ca.densify(value).T) for value in outputs.values()])
    arguments_in = tuple(Argument(key, (symbol.numel(),)) for key, symbol in inputs.items())
    arguments_out = tuple(Argument(key, (col.numel(),)) for key, col in zip(outputs, columns))
    return Expression(
        name, arguments_in, arguments_out, *function_of(name, list(inputs.values()), columns)
    )


def layout_of(F: ca.SX, J: ca.SX, H: ca.SX) -> Layout:
    """The places of the nonzeros, in the order of `nonzeros_by_row`."""
    (fr, fc), (jr, jc), (hr, hc) = (by_row(M) for M in (F, J, H))
    return Layout(fr, fc, np.searchsorted(jr, np.arange(J.shape[0] + 1)), jc, hr, hc)


def by_row(matrix: ca.SX) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the nonzeros, ordered by row."""
    cols, rows = matrix.T.sparsity().get_triplet()  # of the transpose: CasADi orders by column
    return np.asarray(rows, dtype=np.int64), np.asarray(cols, dtype=np.int64)


def nonzeros_by_row(matrix: ca.SX) -> ca.SX:
    """The nonzeros as a column, ordered by row."""
    return ca.vec(ca.SX(matrix.T.nz[:])) if matrix.nnz() else ca.SX(0, 1)


def column(value: Any) -> ca.SX:
    """Whatever a user's function returned as a dense symbolic column."""
    if isinstance(value, ca.SX):
        return ca.densify(ca.vec(value))
    values = [value] if np.ndim(value) == 0 else list(value)
    return ca.densify(ca.vertcat(*(ca.SX(v) for v in values))) if values else ca.SX(0, 1)

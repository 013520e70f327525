"""Derivatives through a shared inner function by the chain rule: w = ω(ξ_j(ζ)) at the points j of a step, ζ = (z, p).

    (C1)  De = ∂e/∂ζ + ∂e/∂w Ω,   Ω_j = S_j G_j,   S = ∂ω/∂ξ,   G = ∂ξ/∂ζ
    (C2)  C_j = Σ m_i ∇²ω_i + S_jᵀ D_j S_j,   m = ℒ_w,   D_j = the block of ℒ_ww that belongs to the point j
    (C3)  D²ℒ = ℒ_ζζ + Ωᵀℒ_wζ + (Ωᵀℒ_wζ)ᵀ + Σ G_jᵀ C_j G_j + Ωᵀ(ℒ_ww − D)Ω + Σ n_k ∇²ξ_k,   n_j = S_jᵀm_j

S and C are one short kernel in (ξ, m, D), called for all points of all knots: its code does not grow with the number of points.
(C1) and (C3) are another, in which S and C are inputs.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import casadi as ca

from armature.optimize.problem import Inner


class NotShared:
    """No inner function: plain derivatives."""

    def __init__(self) -> None:
        self.values, self.inputs, self.kept = (), {}, {}

    def jacobian(self, e: ca.SX, zp: ca.SX) -> ca.SX:
        """∂e/∂ζ."""
        return ca.jacobian(e, zp)

    def hessian(self, lagrangian: ca.SX, zp: ca.SX) -> ca.SX:
        """∂²ℒ/∂ζ², lower triangle."""
        return ca.tril(ca.hessian(lagrangian, zp)[0])

    def insert(self, outputs: dict[str, ca.SX]) -> dict[str, ca.SX]:
        """The outputs as they are."""
        return outputs


class Shared:
    """w as symbols of their own while the functions around them are differentiated; S and C as symbols in what follows."""

    def __init__(self, inner: Inner, arguments: Any, zp: ca.SX):
        self.inner, self.xi = inner, ca.SX.sym("xi", inner.size)
        w = as_column(inner.function(self.xi))
        self.n, self.omega = w.numel(), ca.Function("omega", [self.xi], [w])
        self.slope = ca.sparsify(inner.slope(self.xi) if inner.slope else ca.jacobian(w, self.xi))
        self.bend = inner.curvature or (lambda xi, m: ca.hessian(ca.dot(m, w), xi)[0])
        self.xis = [as_column(argument) for argument in arguments]
        points = range(len(self.xis))
        self.symbols = [ca.SX.sym(f"w{j}", self.n) for j in points]
        self.values = ([*self.symbols],)
        self.w = ca.vertcat(*self.symbols)
        self.S = [ca.SX.sym(f"S{j}", self.slope.sparsity()) for j in points]
        self.G = [ca.jacobian(x, zp) for x in self.xis]
        self.Omega = ca.vertcat(*(S @ G for S, G in zip(self.S, self.G)))

    @property
    def kept(self) -> dict[str, ca.SX]:
        """What the values' kernel writes besides: ξ and w of all points."""
        return {"xi": ca.vertcat(*self.xis), "omega": self.w}

    def jacobian(self, e: ca.SX, zp: ca.SX) -> ca.SX:
        """(C1)."""
        return ca.jacobian(e, zp) + ca.jacobian(e, self.w) @ self.Omega

    def hessian(self, lagrangian: ca.SX, zp: ca.SX) -> ca.SX:
        """(C3), lower triangle; leaves `outer`, (m, D), and `curved`, (S, C), as the outputs of two kernels."""
        m = ca.densify(ca.gradient(lagrangian, self.w))
        M = ca.jacobian(m, self.w)
        diagonal = ca.diagsplit(M, self.n)
        pattern = functools.reduce(operator.add, (ca.tril(block).sparsity() for block in diagonal))
        curved = self.curved(pattern)
        self.outer = {"m": m, "D": ca.vertcat(*(nonzeros(ca.project(ca.tril(block), pattern)) for block in diagonal))}
        C = [ca.SX.sym(f"C{j}", curved.sparsity()) for j in range(len(self.xis))]
        self.inputs = {"omega": self.w, "S": ca.vertcat(*map(nonzeros, self.S)), "C": ca.vertcat(*map(nonzeros, C))}
        cross = self.Omega.T @ ca.jacobian(m, zp)
        rest = ca.sparsify(M - ca.diagcat(*diagonal))
        H = ca.hessian(lagrangian, zp)[0] + cross + cross.T + self.Omega.T @ (rest @ self.Omega)
        for x, G, S, lower, part in zip(self.xis, self.G, self.S, C, ca.vertsplit(m, self.n)):
            n = ca.SX.sym("n", x.numel())
            bend = ca.hessian(ca.dot(n, x), zp)[0]
            H = H + G.T @ (ca.tril2symm(lower) @ G) + ca.substitute(bend, n, ca.densify(S.T @ part))
        return ca.tril(H)

    def curved(self, pattern: ca.Sparsity) -> ca.SX:
        """(C2), lower triangle, as a function of ξ, m and the nonzeros of D."""
        m, D = ca.SX.sym("m", self.n), ca.SX.sym("D", pattern)
        C = ca.sparsify(ca.tril(self.bend(self.xi, m) + self.slope.T @ (ca.tril2symm(D) @ self.slope)))
        self.point_inputs = {"xi": self.xi, "m": m, "D": nonzeros(D)}
        self.point_outputs = {"S": nonzeros(self.slope), "C": nonzeros(C)}
        return C

    def insert(self, outputs: dict[str, ca.SX]) -> dict[str, ca.SX]:
        """The outputs with w replaced by ω(ξ)."""
        w = ca.vertcat(*(self.omega(x) for x in self.xis))
        return dict(zip(outputs, ca.substitute(list(outputs.values()), [self.w], [w])))


def nonzeros(matrix: ca.SX) -> ca.SX:
    """The nonzeros as a column, in CasADi's order."""
    return ca.SX(matrix.nz[:]) if matrix.nnz() else ca.SX(0, 1)


def as_column(value: Any) -> ca.SX:
    """A sequence of scalars, or a matrix, as a dense symbolic column."""
    return ca.densify(ca.vec(value)) if isinstance(value, ca.SX) else ca.densify(ca.vertcat(*(ca.SX(v) for v in value)))

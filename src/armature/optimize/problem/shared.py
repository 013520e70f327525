"""Derivatives through a shared inner function by the chain rule: w_j = ω(ξ_j(ζ, w_i, i < j)) at the
points j of a step, ζ = (z, p).

    (C1)  De = ∂e/∂ζ + ∂e/∂w Ω,   Ω_j = S_j G_j,   S = ∂ω/∂ξ,   G_j = ∂ξ_j/∂ζ + Σ_{i<j} ∂ξ_j/∂w_i
    Ω_i (C2)  C_j = Σ m_i ∇²ω_i + S_jᵀ D_j S_j,   D_j = the block of ℒ_ww that belongs to the point
    j (C3)  D²ℒ = Λ_ζζ + Ωᵀℒ_wζ + (Ωᵀℒ_wζ)ᵀ + Σ G_jᵀ C_j G_j + Ωᵀ(Λ_ww − D)Ω,   Λ = ℒ + Σ n_j·ξ_j
    (C4)  m_j = ℒ_{w_j} + Σ_{i>j} (∂ξ_i/∂w_j)ᵀ n_i,   n_j = S_jᵀ m_j

Where no argument depends on an earlier value (quadrature points) the sums over i vanish; in a step
of Runge and Kutta they do not. S and C are one short kernel in (ξ, m, D), called for all points of
all knots: its code does not grow with the number of points. (C1) and (C3) are another, in which S
and C are inputs."""

from __future__ import annotations

import functools
import operator
from typing import Any

import casadi as ca

from armature.kernel.trace import FREE
from armature.optimize.problem.problem import Inner


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
    """w as symbols of their own while the functions around them are differentiated; S and C as
    symbols in what follows."""

    def __init__(self, inner: Inner, x: ca.SX, u: ca.SX, p: ca.SX, d: ca.SX):
        self.inner, self.xi = inner, ca.SX.sym("xi", inner.size)
        w, zp = as_column(inner.function(self.xi)), ca.vertcat(x, u, p)
        self.n, self.omega = w.numel(), ca.Function("omega", [self.xi], [w], FREE)
        self.slope = ca.sparsify(inner.slope(self.xi) if inner.slope else ca.jacobian(w, self.xi))
        self.bend = inner.curvature or (lambda xi, m: ca.hessian(ca.dot(m, w), xi)[0])
        self.symbols: list[ca.SX] = []
        arguments, _ = inner.unrolled(self.symbol, x, u, p, d)
        self.xis = [as_column(argument) for argument in arguments]
        points = range(len(self.xis))
        self.values = ([*self.symbols],)
        self.w = ca.vertcat(*self.symbols)
        self.S = [ca.SX.sym(f"S{j}", self.slope.sparsity()) for j in points]
        # (C1)
        self.G: list[ca.SX] = []
        blocks: list[ca.SX] = []
        for xi, S in zip(self.xis, self.S):
            before = [
                ca.jacobian(xi, symbol) @ block for symbol, block in zip(self.symbols, blocks)
            ]
            self.G.append(functools.reduce(operator.add, before, ca.jacobian(xi, zp)))
            blocks.append(S @ self.G[-1])
        self.Omega = ca.vertcat(*blocks)

    def symbol(self, xi: Any) -> ca.SX:
        """The next w."""
        self.symbols.append(ca.SX.sym(f"w{len(self.symbols)}", self.n))
        return self.symbols[-1]

    @property
    def kept(self) -> dict[str, ca.SX]:
        """What the values' kernel writes besides: ξ and w of all points."""
        return {"xi": ca.vertcat(*self.xis), "omega": self.w}

    def jacobian(self, e: ca.SX, zp: ca.SX) -> ca.SX:
        """(C1)."""
        return ca.jacobian(e, zp) + ca.jacobian(e, self.w) @ self.Omega

    def adjoints(
        self, lagrangian: ca.SX, slopes: list[ca.SX] | None
    ) -> tuple[list[ca.SX], list[ca.SX]]:
        """(C4): m and n of all points; slopes: S as symbols, or None to differentiate ω where they
        are needed."""
        own = ca.vertsplit(ca.densify(ca.gradient(lagrangian, self.w)), self.n)
        m: list[ca.SX] = []
        n: list[ca.SX] = []
        for j in reversed(range(len(self.xis))):
            later = [ca.jacobian(xi, self.symbols[j]) for xi in self.xis[j + 1 :]]
            m.insert(
                0,
                functools.reduce(
                    operator.add, (J.T @ b for J, b in zip(later, n) if J.nnz()), own[j]
                ),
            )
            n.insert(0, ca.densify(slopes[j].T @ m[0]) if slopes else self.pulled(j, m[0]))
        return m, n

    def pulled(self, j: int, m: ca.SX) -> ca.SX:
        """S_jᵀ m from the function itself; nothing where no other point needs it."""
        if not self.inner.points or j == 0:
            return ca.SX(self.inner.size, 1)
        weight = ca.SX.sym("m", self.n)
        function = ca.Function(
            "pulled",
            [self.xi, weight],
            [ca.jtimes(self.omega(self.xi), self.xi, weight, True)],
            FREE,
        )
        return function(self.xis[j], m)

    def hessian(self, lagrangian: ca.SX, zp: ca.SX) -> ca.SX:
        """(C3), lower triangle; leaves `outer`, (m, D), and `curved`, (S, C), as the outputs of two
        kernels."""
        M = ca.jacobian(ca.gradient(lagrangian, self.w), self.w)
        diagonal = ca.diagsplit(M, self.n)
        pattern = functools.reduce(operator.add, (ca.tril(block).sparsity() for block in diagonal))
        curved = self.curved(pattern)
        D = ca.vertcat(*(nonzeros(ca.project(ca.tril(block), pattern)) for block in diagonal))
        self.outer = {"m": ca.densify(ca.vertcat(*self.adjoints(lagrangian, None)[0])), "D": D}
        C = [ca.SX.sym(f"C{j}", curved.sparsity()) for j in range(len(self.xis))]
        self.inputs = {
            "omega": self.w,
            "S": ca.vertcat(*map(nonzeros, self.S)),
            "C": ca.vertcat(*map(nonzeros, C)),
        }
        # Λ with n as constants
        pulls = [ca.SX.sym(f"n{j}", xi.numel()) for j, xi in enumerate(self.xis)]
        whole = functools.reduce(
            operator.add, (ca.dot(n, xi) for n, xi in zip(pulls, self.xis)), lagrangian
        )
        slope = ca.gradient(whole, self.w)
        cross = self.Omega.T @ ca.jacobian(slope, zp)
        rest = ca.sparsify(ca.jacobian(slope, self.w) - ca.diagcat(*diagonal))
        H = ca.hessian(whole, zp)[0] + cross + cross.T + self.Omega.T @ (rest @ self.Omega)
        H = ca.substitute(
            [H], pulls, [ca.densify(n) for n in self.adjoints(lagrangian, self.S)[1]]
        )[0]
        for G, lower in zip(self.G, C):
            H = H + G.T @ (ca.tril2symm(lower) @ G)
        return ca.tril(H)

    def curved(self, pattern: ca.Sparsity) -> ca.SX:
        """(C2), lower triangle, as a function of ξ, m and the nonzeros of D."""
        m, D = ca.SX.sym("m", self.n), ca.SX.sym("D", pattern)
        C = ca.sparsify(
            ca.tril(self.bend(self.xi, m) + self.slope.T @ (ca.tril2symm(D) @ self.slope))
        )
        self.point_inputs = {"xi": self.xi, "m": m, "D": nonzeros(D)}
        self.point_outputs = {"S": nonzeros(self.slope), "C": nonzeros(C)}
        return C

    def insert(self, outputs: dict[str, ca.SX]) -> dict[str, ca.SX]:
        """The outputs with w replaced by ω(ξ), one after the other."""
        found: list[ca.SX] = []
        for j, xi in enumerate(self.xis):
            found.append(
                self.omega(
                    ca.substitute([xi], self.symbols[:j], found)[0]
                    if self.inner.points and j
                    else xi
                )
            )
        return dict(zip(outputs, ca.substitute(list(outputs.values()), self.symbols, found)))


def nonzeros(matrix: ca.SX) -> ca.SX:
    """The nonzeros as a column, in CasADi's order."""
    return ca.vec(ca.SX(matrix.nz[:])) if matrix.nnz() else ca.SX(0, 1)  # a row would stay a row


def as_column(value: Any) -> ca.SX:
    """A sequence of scalars, or a matrix, as a dense symbolic column."""
    return (
        ca.densify(ca.vec(value))
        if isinstance(value, ca.SX)
        else ca.densify(ca.vertcat(*(ca.SX(v) for v in value)))
    )

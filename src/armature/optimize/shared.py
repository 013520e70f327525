"""Derivatives through a shared inner function by the chain rule: w = ω(ξ(ζ)), ζ = (z, p).

    (C1)  De = ∂e/∂ζ + ∂e/∂w Ω,   Ω = ∂ω/∂ξ G,   G = ∂ξ/∂ζ
    (C2)  D²ℒ = ℒ_ζζ + Ωᵀℒ_wζ + (Ωᵀℒ_wζ)ᵀ + Ωᵀℒ_ww Ω + Gᵀ(Σ m_i ∇²ω_i)G + Σ n_k ∇²ξ_k,   m = ℒ_w,  n = (∂ω/∂ξ)ᵀm

with ω's own derivatives traced once in ξ, whatever stands around it.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from armature.optimize.problem import Inner


class NotShared:
    """No inner function: plain derivatives."""

    values: tuple = ()

    def jacobian(self, e: ca.SX, zp: ca.SX) -> ca.SX:
        """∂e/∂ζ."""
        return ca.jacobian(e, zp)

    def hessian(self, lagrangian: ca.SX, zp: ca.SX) -> ca.SX:
        """∂²ℒ/∂ζ²."""
        return ca.hessian(lagrangian, zp)[0]

    def insert(self, outputs: dict[str, ca.SX]) -> dict[str, ca.SX]:
        """The outputs as they are."""
        return outputs


class Shared:
    """w as symbols of their own while the functions around them are differentiated."""

    def __init__(self, inner: Inner, arguments: Any, zp: ca.SX):
        xi = ca.SX.sym("xi", inner.size)
        w = as_column(inner.function(xi))
        m = ca.SX.sym("m", w.numel())
        self.omega = ca.Function("omega", [xi], [w])
        slope = inner.slope(xi) if inner.slope else ca.jacobian(w, xi)
        curvature = inner.curvature(xi, m) if inner.curvature else ca.hessian(ca.dot(m, w), xi)[0]
        self.slope = ca.Function("slope", [xi], [slope])
        self.curvature = ca.Function("curvature", [xi, m], [curvature])
        self.xis = [as_column(argument) for argument in arguments]
        self.symbols = [ca.SX.sym(f"w{j}", w.numel()) for j in range(len(self.xis))]
        self.values = ([*self.symbols],)
        self.w = ca.vertcat(*self.symbols)
        self.slopes = [self.slope(x) for x in self.xis]
        self.G = [ca.jacobian(x, zp) for x in self.xis]
        self.Omega = ca.vertcat(*(slope @ G for slope, G in zip(self.slopes, self.G)))

    def jacobian(self, e: ca.SX, zp: ca.SX) -> ca.SX:
        """(C1)."""
        return ca.jacobian(e, zp) + ca.jacobian(e, self.w) @ self.Omega

    def hessian(self, lagrangian: ca.SX, zp: ca.SX) -> ca.SX:
        """(C2)."""
        m = ca.gradient(lagrangian, self.w)
        cross = self.Omega.T @ ca.jacobian(m, zp)
        H = ca.hessian(lagrangian, zp)[0] + cross + cross.T + self.Omega.T @ (ca.jacobian(m, self.w) @ self.Omega)
        parts = ca.vertsplit(m, self.symbols[0].numel())
        for x, G, slope, part in zip(self.xis, self.G, self.slopes, parts):
            n = ca.SX.sym("n", x.numel())
            bend = ca.hessian(ca.dot(n, x), zp)[0]
            H = H + G.T @ self.curvature(x, part) @ G + ca.substitute(bend, n, ca.densify(slope.T @ part))
        return H

    def insert(self, outputs: dict[str, ca.SX]) -> dict[str, ca.SX]:
        """The outputs with w replaced by ω(ξ)."""
        w = ca.vertcat(*(self.omega(x) for x in self.xis))
        return dict(zip(outputs, ca.substitute(list(outputs.values()), [self.w], [w])))


def as_column(value: Any) -> ca.SX:
    """A sequence of scalars, or a matrix, as a dense symbolic column."""
    return ca.densify(ca.vec(value)) if isinstance(value, ca.SX) else ca.densify(ca.vertcat(*(ca.SX(v) for v in value)))

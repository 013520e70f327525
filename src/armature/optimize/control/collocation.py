"""Differential equations as steps of the solver: Radau collocation, or Runge and Kutta's
fourth-order steps.

Radau's points τ₁ < … < τ_s = 1 of a step of length h have states X_i and controls U_i of their own:

    (C4)  X_i = x + h Σ_j A_ij rates(X_j, U_j),   x⁺ = X_s,   cost of the step h Σ_j b_j
    running(X_j, U_j),

exact for polynomials of degree 2s − 2. To the solver X and U are controls, and (C4) are equations
between them. Bounds and constraints hold at all points. The numbers of a problem (bounds,
durations, scales, data of phases) are data: other ones compile nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from armature.errors import ArgumentError
from armature.optimize.control.statement import ControlProblem, called
from armature.optimize.problem.problem import Model


class Rule(NamedTuple):
    """Points (s,) of a step, the matrix A (s, s) and the weights b (s,) of (C4)."""

    points: np.ndarray
    A: np.ndarray
    b: np.ndarray


@functools.cache
def radau(degree: int) -> Rule:
    """Radau's right-hand rule with `degree` points, of order 2·degree − 1."""
    if not 1 <= degree <= 9:
        raise ArgumentError(f"degree = {degree} must lie between 1 and 9")
    points = np.array(ca.collocation_points(degree, "radau"))
    powers = np.vander(points, degree, increasing=True)
    whole = points[:, None] ** np.arange(1, degree + 1) / np.arange(1, degree + 1)
    A = whole @ np.linalg.inv(powers)
    return Rule(points, A, A[-1])


def rk4(rates: Callable, substeps: int = 1) -> Callable:
    """Runge and Kutta's fourth-order step (x, u, p, d, h) → x after h seconds, for a Model's
    dynamics; u constant in the step."""

    def step(x: Any, u: Any, p: Any, d: Any, h: Any) -> Any:
        f = lambda y: ca.vertcat(*_entries(called(rates, y, u, p, d)))
        part = h / substeps
        for _ in range(substeps):
            k1 = f(x)
            k2 = f(x + part / 2 * k1)
            k3 = f(x + part / 2 * k2)
            k4 = f(x + part * k3)
            x = x + part / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x

    return step


class Layout(NamedTuple):
    """How the solver's vectors are divided: states, controls and points of a step, free durations,
    numbers of data of a phase."""

    nx: int
    nu: int
    s: int
    durations: int
    data: int

    def shares(self, d: Any) -> Any:
        """Of the durations in this step."""
        return d[1 : 1 + self.durations]

    def phase(self, d: Any) -> Any:
        """The phase's numbers."""
        return d[1 + self.durations : 1 + self.durations + self.data]

    def scales(self, d: Any) -> tuple[Any, Any]:
        """Of states and controls."""
        first = 1 + self.durations + self.data
        return d[first : first + self.nx], d[first + self.nx : first + self.nx + self.nu]

    @property
    def size(self) -> int:
        """Numbers of data at a knot: weight of the cost, shares, phase, scales."""
        return 1 + self.durations + self.data + self.nx + self.nu

    def points(self, w: Any, d: Any) -> list[tuple[Any, Any]]:
        """(X_i, U_i) of the step, in the user's units, from the solver's controls w = (X₁ … X_s, U₁
        … U_s), scaled."""
        sx, su = self.scales(d)
        first = self.s * self.nx
        X = [w[i * self.nx : (i + 1) * self.nx] * sx for i in range(self.s)]
        return [
            (X[i], w[first + i * self.nu : first + (i + 1) * self.nu] * su) for i in range(self.s)
        ]


def collocated(problem: ControlProblem, degree: int, groups: tuple[int, ...]) -> Model:
    """The problem as a model of the solver. groups: to which phase of the problem each of the free
    durations belongs."""
    durations = len(groups)
    at = Layout(problem.nx, problem.nu, degree, durations, len(tuple(problem.parts[0].data)))
    rule, objective = radau(degree), problem.objective

    def length(p: Any, d: Any) -> Any:
        return ca.dot(p[:durations], at.shares(d))

    def own(p: Any) -> Any:
        return p[durations:]

    def defects(x: Any, w: Any, p: Any, d: Any) -> list[Any]:
        sx, _ = at.scales(d)
        F = [ca.vertcat(*_rates(problem, X, U, own(p), at.phase(d))) for X, U in at.points(w, d)]
        slopes = [sum(float(a) * f for a, f in zip(row, F)) for row in rule.A]
        return [
            w[i * at.nx : (i + 1) * at.nx] - x - length(p, d) * slope / sx
            for i, slope in enumerate(slopes)
        ]

    def constraints(x: Any, w: Any, p: Any, d: Any) -> Any:
        found = defects(x, w, p, d)
        if problem.constraints is not None:
            found += [
                ca.vertcat(*_entries(called(problem.constraints, X, U, own(p), at.phase(d))))
                for X, U in at.points(w, d)
            ]
        return ca.vertcat(*found)

    def cost(x: Any, w: Any, p: Any, d: Any) -> Any:
        if objective.running is None:
            return ca.SX(0.0)
        values = [called(objective.running, X, U, own(p), at.phase(d)) for X, U in at.points(w, d)]
        return d[0] * length(p, d) * sum(float(b) * value for b, value in zip(rule.b, values))

    def final(x: Any, p: Any, d: Any) -> Any:
        return (
            d[0] * called(objective.final, x * at.scales(d)[0], own(p))
            if objective.final
            else ca.SX(0.0)
        )

    def elapsed(x: Any, w: Any, p: Any, d: Any) -> Any:
        shares = at.shares(d)
        return ca.vertcat(
            *[
                sum(p[i] * shares[i] for i in range(durations) if groups[i] == k)
                for k in range(len(problem.parts))
            ]
        )

    states = tuple(problem.state_names) or tuple(f"x{k}" for k in range(at.nx))
    rows = [f"equation of {name}" for name in states] * degree
    return Model(
        nx=at.nx,
        nu=degree * (at.nx + at.nu),
        np=durations + problem.np,
        nd=at.size,
        dynamics=lambda x, w, p, d: w[(degree - 1) * at.nx : degree * at.nx],
        cost=cost,
        constraints=constraints,
        totals=elapsed,
        end_cost=final,
        state_names=states,
        constraint_names=rows,
    )


def constraint_count(problem: ControlProblem) -> int:
    """Rows of the problem's own constraints at a point."""
    if problem.constraints is None:
        return 0
    symbols = [
        ca.SX.sym(name, size)
        for name, size in zip(
            "xupd", (problem.nx, problem.nu, problem.np, len(tuple(problem.parts[0].data)))
        )
    ]
    return len(_entries(called(problem.constraints, *symbols)))


def _rates(problem: ControlProblem, *arguments: Any) -> list[Any]:
    found = _entries(called(problem.rates, *arguments))
    if len(found) != problem.nx:
        raise ArgumentError(
            f"rates gives {len(found)} numbers, there are {problem.nx} states; return one rate for"
            " each"
        )
    return found


def _entries(found: Any) -> list[Any]:
    """A list of scalars from what a function of the user returns."""
    if isinstance(found, ca.SX):
        return [found[k] for k in range(found.numel())]
    if isinstance(found, np.ndarray):
        return list(found.ravel())
    return list(found) if isinstance(found, list | tuple) else [found]

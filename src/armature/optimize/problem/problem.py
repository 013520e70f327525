"""What is asked: a motion in N steps that costs least, within bounds.

    (P1)  minimise    Σ_k l(x_k, u_k, p, d_k) + l_N(x_N, p, d_N)
    (P2)  subject to  x_{k+1} = f(x_k, u_k, p, d_k),                      k = 0 … N−1
    (P3)              lower ≤ x_k, u_k, p, c(x_k, u_k, p, d_k) ≤ upper    at every knot its own, c_N
    at the last (P4)              lower ≤ Σ_k t(x_k, u_k, p, d_k) + t_N(x_N, p, d_N) ≤ upper

A `Model` holds the functions, traced and compiled once; a `Problem` holds the numbers of one
question: bounds and the data d. Equal bounds make an equation, infinite ones no constraint: initial
and final states, via points, joint ranges, drive limits and path constraints are one mechanism. p
are a few numbers free for the whole motion, such as its duration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armature.errors import ArgumentError

StepFunction = Callable[..., Any]  # (x, u, p, d) -> scalar, or sequence of scalars; all symbols
EndFunction = Callable[[Any, Any, Any], Any]  # (x, p, d) -> the same, at the last knot


@dataclass(frozen=True)
class Inner:
    """An expensive function that the others share, such as inverse dynamics: w = function(ξ) at one
    or several arguments ξ(x, u, p, d).

    arguments: (x, u, p, d) -> list of ξ.  function: ξ (column of `size` symbols) -> w. The model's
    step functions then take a fifth argument, the list of w. Its derivatives are traced once in ξ
    and carried on by the chain rule, which shortens the kernels.
    slope: ξ -> ∂w/∂ξ and curvature: (ξ, m) -> ∂²(m·w)/∂ξ², SX matrices, where closed forms are
    known; else they are differentiated.
    points: how many arguments there are, where each may depend on the values before it, as in Runge
    and Kutta's steps; `arguments` is then (x, u, p, d, list of w); 0 where they do not.
    """

    arguments: StepFunction
    function: Callable[[Any], Any]
    size: int
    slope: Callable[[Any], Any] | None = None
    curvature: Callable[[Any, Any], Any] | None = None
    points: int = 0

    def unrolled(
        self, evaluate: Callable[[Any], Any], x: Any, u: Any, p: Any, d: Any
    ) -> tuple[list[Any], list[Any]]:
        """All ξ and w, one after the other; evaluate: ξ -> w."""
        if not self.points:
            found = list(self.arguments(x, u, p, d))
            return found, [evaluate(xi) for xi in found]
        w: list[Any] = []
        while len(w) < self.points:
            found = list(self.arguments(x, u, p, d, w))
            w.append(evaluate(found[len(w)]))
        return found, w


@dataclass(frozen=True)
class Model:
    """The functions of one step, on symbols (CasADi SX column vectors, indexable), and their names
    for messages.

    nx, nu: states and controls a knot.  np: free parameters.  nd: numbers of data a knot.
    dynamics: x after the step.  cost: of the step.  constraints: c of (P3).  totals: t of (P4).
    end_*: the same at the last knot.
    inner: what the step functions share; they then take its values as a fifth argument.
    key: says everything that the functions depend on; kernels are then found in the disk cache
    without running the functions.
    parameters: values of those that the functions use (`kernel.parameters`), such as what a robot
    carries; not in the key."""

    nx: int
    nu: int
    dynamics: StepFunction
    cost: StepFunction
    constraints: StepFunction | None = None
    totals: StepFunction | None = None
    end_cost: EndFunction | None = None
    end_constraints: EndFunction | None = None
    end_totals: EndFunction | None = None
    np: int = 0
    nd: int = 0
    inner: Inner | None = None
    key: str = ""
    parameters: tuple[float, ...] = ()
    state_names: Sequence[str] = ()
    control_names: Sequence[str] = ()
    constraint_names: Sequence[str] = ()
    end_names: Sequence[str] = ()
    parameter_names: Sequence[str] = ()
    total_names: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name in (
            "state_names",
            "control_names",
            "constraint_names",
            "end_names",
            "parameter_names",
            "total_names",
        ):
            object.__setattr__(self, name, tuple(getattr(self, name)))


Bounds = Any  # a number or an array that broadcasts to the shape given


@dataclass(frozen=True)
class Problem:
    """One question to a model: N steps, bounds (pairs lower, upper; each broadcasts to the shape
    given) and data.

    x: (N+1, nx).  u: (N, nu).  p: (np,).  constraints: (N, number of constraints).  end: (number of
    end constraints,).
    totals: (number of totals,).  data: (N+1, nd).
    size: of the motion, beside a usual one: tolerances are parts of it, so that a short motion is
    not lost in them."""

    model: Model
    N: int
    x: tuple[Bounds, Bounds] = (-np.inf, np.inf)
    u: tuple[Bounds, Bounds] = (-np.inf, np.inf)
    p: tuple[Bounds, Bounds] = (-np.inf, np.inf)
    constraints: tuple[Bounds, Bounds] = (-np.inf, np.inf)
    end: tuple[Bounds, Bounds] = (-np.inf, np.inf)
    totals: tuple[Bounds, Bounds] = (-np.inf, np.inf)
    data: Bounds = field(default=0.0)
    size: float = 1.0

    def __post_init__(self) -> None:
        if self.N < 1:
            raise ArgumentError(f"a problem needs at least one step, got N = {self.N}")


@dataclass(frozen=True)
class Guess:
    """Where the solver starts. x: (N+1, nx), u: (N, nu), p: (np,), each broadcasting; a `Result`
    serves as well, with its multipliers."""

    x: Any = 0.0
    u: Any = 0.0
    p: Any = 0.0


def filled(value: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    """`value` as a new float array of this shape, broadcasting; an ArgumentError that names `what`
    otherwise."""
    try:
        array = np.array(np.broadcast_to(np.asarray(value, dtype=float), shape), order="C")
    except (TypeError, ValueError):
        raise ArgumentError(
            f"{what} has shape {np.shape(value)}, which does not broadcast to {shape}"
        ) from None
    if np.isnan(array).any():
        raise ArgumentError(f"{what} has values that are not numbers (NaN)")
    return array


def interval(pair: Any, shape: tuple[int, ...], what: str) -> tuple[np.ndarray, np.ndarray]:
    """A pair of bounds as two arrays of this shape, lower ≤ upper."""
    try:
        lower, upper = pair
    except (TypeError, ValueError):
        raise ArgumentError(
            f"the bounds of {what} must be a pair (lower, upper), got {pair!r}"
        ) from None
    lower, upper = (
        filled(lower, shape, f"lower bound of {what}"),
        filled(upper, shape, f"upper bound of {what}"),
    )
    if (lower > upper).any():
        at = tuple(int(i) for i in np.argwhere(lower > upper)[0])
        raise ArgumentError(
            f"the bounds of {what} cross at {at}: lower {lower[at]:g} > upper {upper[at]:g};"
            " exchange or widen them"
        )
    return lower, upper

"""What is asked in continuous time: x' = rates(x, u, p, d), what is minimised, bounds, ends, free
durations, phases.

    (C1)  minimise    ∫ running(x, u, p, d) dt + final(x(T), p)
    (C2)  subject to  x' = rates(x, u, p, d),   x(0) = start,   x(T) = end
    (C3)              lower ≤ x, u, p, constraints(x, u, p, d) ≤ upper   throughout

d are numbers of a phase, such as the sign of a speed under dry friction; phases follow one another,
each with its own duration."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from armature.errors import ArgumentError
from armature.optimize.problem.problem import filled, interval

Function = Callable[..., Any]


@dataclass(frozen=True)
class Objective:
    """What is minimised: the integral of running(x, u, p, d), and final(x, p) at the end; sums and
    multiples are objectives too."""

    running: Function | None = None
    final: Function | None = None

    def __add__(self, other: Objective) -> Objective:
        return Objective(_sum(self.running, other.running, 4), _sum(self.final, other.final, 2))

    def __mul__(self, factor: float) -> Objective:
        return Objective(_times(self.running, factor, 4), _times(self.final, factor, 2))

    __rmul__ = __mul__


def time(weight: float = 1.0) -> Objective:
    """The duration of the whole motion, s."""
    return Objective(running=lambda x, u, p, d: weight)


def control_effort(weights: Any = 1.0) -> Objective:
    """∫ Σ w u² dt. weights: one for all controls, or one for each."""
    return Objective(running=lambda x, u, p, d: _dot(weights, u))


def integral(function: Function) -> Objective:
    """∫ function(x, u, p, d) dt; trailing arguments may be left out."""
    return Objective(running=function)


def final(function: Function) -> Objective:
    """function(x, p) at the end of the motion."""
    return Objective(final=function)


NAMED: dict[str, Callable[[], Objective]] = {"time": time, "control effort": control_effort}


@dataclass(frozen=True)
class Phase:
    """A part of the motion. duration: s; None where it is free, or a pair (least, most).  data: the
    numbers d of this phase.

    x, u: bounds in this phase, a pair (lower, upper) of numbers or sequences; None for those of the
    problem.
    end: state at its end: for each state a number, a pair of bounds, or None where it is free; None
    for a state that is free altogether."""

    duration: Any = None
    data: Sequence[float] = ()
    x: Any = None
    u: Any = None
    end: Any = None


@dataclass(frozen=True, eq=False)
class ControlProblem:
    """An optimal-control problem in continuous time, (C1)–(C3). Functions take symbols (use numpy's
    sin, cos, sqrt, exp …) and return numbers or lists; trailing arguments they do not need may be
    left out.

    nx, nu: states and controls.  rates: x' as a list of nx.  minimize: "time", "control effort" (∫
    Σ u²), or an `Objective`.
    start, end: for each state a number, a pair (lower, upper), or None where it is free; end None:
    all free.
    duration: s; None where it is free, or a pair (least, most).  x, u, p: bounds, pairs of numbers
    or sequences.
    constraints: function with bounds `between`, a pair.  np: free parameters.  phases: parts of the
    motion, instead of `duration`.
    state_names, control_names: for messages.
    """

    nx: int
    nu: int
    rates: Function
    minimize: str | Objective = "time"
    start: Any = None
    end: Any = None
    duration: Any = None
    x: Any = (-np.inf, np.inf)
    u: Any = (-np.inf, np.inf)
    p: Any = (-np.inf, np.inf)
    constraints: Function | None = None
    between: Any = (-np.inf, 0.0)
    np: int = 0
    phases: Sequence[Phase] = ()
    state_names: Sequence[str] = ()
    control_names: Sequence[str] = ()
    parts: tuple[Phase, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        if self.nx < 1 or self.nu < 0:
            raise ArgumentError(
                f"a problem needs at least one state, got nx = {self.nx}, nu = {self.nu}"
            )
        if self.phases and self.duration is not None:
            raise ArgumentError(
                "give the duration of each phase, Phase(duration=…), instead of the problem's"
            )
        parts = tuple(self.phases) or (Phase(self.duration),)
        if len({len(tuple(part.data)) for part in parts}) > 1:
            raise ArgumentError("all phases need as many numbers of data")
        object.__setattr__(self, "parts", parts)
        ends(self.start, self.nx, "start")
        ends(self.end, self.nx, "end")
        for k, part in enumerate(parts):
            span(part.duration, f"the duration of phase {k + 1}")
            ends(part.end, self.nx, f"the end of phase {k + 1}")
            for pair, size, what in ((part.x, self.nx, "x"), (part.u, self.nu, "u")):
                interval(pair or (-np.inf, np.inf), (size,), f"{what} in phase {k + 1}")
        for pair, size, what in (
            (self.x, self.nx, "x"),
            (self.u, self.nu, "u"),
            (self.p, self.np, "p"),
        ):
            interval(pair, (size,), what)
        if isinstance(self.minimize, str) and self.minimize not in NAMED:
            raise ArgumentError(
                f"minimize = {self.minimize!r} is not known; give one of {', '.join(NAMED)}, or an"
                " Objective"
            )

    @property
    def objective(self) -> Objective:
        """What is minimised."""
        return NAMED[self.minimize]() if isinstance(self.minimize, str) else self.minimize


def ends(given: Any, size: int, what: str) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (size,) each, of a state of which every entry is a number, a pair, or None."""
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    if given is None:
        return low, high
    entries = list(given)
    if len(entries) != size:
        raise ArgumentError(
            f"{what} has {len(entries)} entries, there are {size} states; None stands for one that"
            " is free"
        )
    for k, entry in enumerate(entries):
        if entry is not None:
            pair = entry if np.ndim(entry) else (entry, entry)
            (low[k],), (high[k],) = interval(pair, (1,), f"{what}, entry {k}")
    return low, high


def span(given: Any, what: str) -> tuple[float, float]:
    """Bounds of a duration, s; (0, inf) where it is free."""
    pair = (0.0, np.inf) if given is None else given if np.ndim(given) else (given, given)
    (low,), (high,) = interval(pair, (1,), what)
    if low < 0.0 or high <= 0.0:
        raise ArgumentError(
            f"{what} is {given!r}; it must be a positive number of seconds, a pair of bounds, or"
            " None where it is free"
        )
    return float(low), float(high)


def called(function: Function, *arguments: Any) -> Any:
    """The function at as many of the arguments as it takes, symbols as arrays of scalars."""
    arguments = tuple(_entries_of(x) for x in arguments)
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return function(*arguments)
    if any(x.kind is x.VAR_POSITIONAL for x in parameters):
        return function(*arguments)
    count = sum(
        x.kind in (x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD) and x.default is x.empty
        for x in parameters
    )
    if count > len(arguments):
        raise ArgumentError(
            f"a function of the problem takes {count} arguments; it is given at most (x, u, p, d)"
        )
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore",
            message=r"(?s).*numpy function was called on a casadi value",
            category=FutureWarning,
        )
        return function(*arguments[:count])


def _entries_of(x: Any) -> Any:
    """A column of symbols as an array, which can be unpacked, sliced and multiplied."""
    if not isinstance(x, ca.SX):
        return x
    entries = np.empty(x.numel(), dtype=object)
    entries[:] = [x[k] for k in range(x.numel())]
    return entries


def _sum(first: Function | None, second: Function | None, count: int) -> Function | None:
    if first is None or second is None:
        return first or second
    return lambda *args: called(first, *args[:count]) + called(second, *args[:count])


def _times(function: Function | None, factor: float, count: int) -> Function | None:
    return None if function is None else lambda *args: factor * called(function, *args[:count])


def _dot(weights: Any, u: Any) -> Any:
    w = filled(weights, (len(u),), "weights of the control effort")
    return sum(float(w[k]) * u[k] ** 2 for k in range(len(w)))

"""What came out: the motion, its multipliers, how the search went, and how it ended, as a
sentence."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from enum import Enum

import numpy as np


class Status(Enum):
    """How a search ended."""

    CONVERGED = "The motion is optimal to the tolerance asked for."
    ACCEPTABLE = "The motion is optimal to a looser tolerance than asked for."
    FEASIBLE = "The motion keeps all limits; a slightly better one may exist."
    INFEASIBLE = (
        "No motion near this one meets all constraints; the least violation that was found is"
        " given."
    )
    UNBOUNDED = "The cost falls without limit: bound the controls, or put a price on them."
    UNRESOLVED = (
        "The steps are too coarse for this motion: its cost still changed when they were halved."
        " Give more steps, a guess nearby, or scaled states and times."
    )
    STALLED = "No further progress was possible, and the motion is not optimal."
    ITERATIONS = "The number of iterations allowed was used up."
    DEADLINE = "The time allowed was used up; the best motion met so far is given."
    INTERRUPTED = "The search was interrupted; the best motion met so far is given."
    INVALID = "A function of the problem has no finite value at the starting motion."

    @property
    def ok(self) -> bool:
        """Whether the motion does what was asked for: an optimum, or one that keeps all limits and
        is not known to be optimal."""
        return self in (Status.CONVERGED, Status.ACCEPTABLE, Status.FEASIBLE)

    @property
    def optimal(self) -> bool:
        """Whether the motion is an optimum."""
        return self in (Status.CONVERGED, Status.ACCEPTABLE)


@dataclass(frozen=True)
class Iteration:
    """One line of the record. cost: unscaled.  violation: worst residual of dynamics and
    constraints.  stationarity: of the Lagrangian's gradient.  complementarity: worst product of
    slack and multiplier.  barrier: μ.  step: length taken, 0 … 1.  shift: added curvature."""

    number: int
    cost: float
    violation: float
    stationarity: float
    complementarity: float
    barrier: float
    step: float
    shift: float
    elastic: bool = False


@dataclass(frozen=True)
class Violation:
    """A constraint that is not met: its name, the knot (None for parameters and totals), and by how
    much (its own unit)."""

    name: str
    knot: int | None
    amount: float

    def __str__(self) -> str:
        return (
            f"{self.name}{'' if self.knot is None else f' at knot {self.knot}'} is violated by"
            f" {self.amount:.3g}"
        )


@dataclass(frozen=True)
class Multipliers:
    """Lagrange multipliers, unscaled. lam: (N+1, nx) of the dynamics; rows: those of all rows, for
    a warm start; μ: the last barrier.

    constraints: (N, nc), x: (N+1, nx), u: (N, nu), end, p, totals: of the bounds, positive at an
    upper bound."""

    lam: np.ndarray
    x: np.ndarray
    u: np.ndarray
    constraints: np.ndarray
    end: np.ndarray
    p: np.ndarray
    totals: np.ndarray
    rows: np.ndarray
    barrier: float

    @classmethod
    def none(cls) -> Multipliers:
        """Of a motion that no search has found."""
        return cls(**{f.name: np.zeros(0) for f in fields(cls) if f.name != "barrier"}, barrier=0.0)


@dataclass(frozen=True)
class Result:
    """x: (N+1, nx), u: (N, nu), p: (np,); cost; status (an enum of sentences) and violations, worst
    first, empty when all constraints hold.

    iterations: the record.  seconds: of the search, without compiling."""

    status: Status
    x: np.ndarray
    u: np.ndarray
    p: np.ndarray
    cost: float
    totals: np.ndarray
    violations: tuple[Violation, ...]
    iterations: tuple[Iteration, ...]
    multipliers: Multipliers
    seconds: float = field(compare=False)

    @property
    def ok(self) -> bool:
        """Whether the motion is an optimum, or at least keeps all limits (`Status.FEASIBLE`)."""
        return self.status.ok

    def as_feasible(self) -> Result:
        """The same, called feasible: the motion keeps all limits, though the search did not end at
        an optimum."""
        return replace(self, status=Status.FEASIBLE)

    @property
    def message(self) -> str:
        """The status, and the worst violation if there is one."""
        return (
            f"{self.status.value} {str(self.violations[0]).capitalize()}."
            if self.violations
            else self.status.value
        )

"""How much searches compute, counted and not measured: what is given up is the same on a busy machine, a slow one, and while compiling.

An iteration counts by the size of its problem, in seconds of computing on a usual machine (of 2026; it takes those to a third):

(E1)  s = A + B (N + 1) z²,   z: states and controls of a knot.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.problem.result import Iteration, Result
from armature.optimize.solver import interior

A, B = 3e-4, 3.6e-8  # of (E1), s
SEARCH = 8e-3  # s, of every search: what is done before and after it


class Counter(threading.local):
    """What the searches of this thread have computed, s."""

    spent: float = 0.0


COUNTER = Counter()


def spent() -> float:
    """Seconds that this thread's searches have counted so far; differences of it are what budgets bound."""
    return COUNTER.spent


def solve(
    problem: Problem,
    guess: Guess | Result | None = None,
    options: interior.Options | None = None,
    callback: Callable[[Iteration], bool | None] | None = None,
    deadline: float | None = None,
) -> Result:
    """`interior.solve`, counted."""
    each = A + B * (problem.N + 1) * (problem.model.nx + problem.model.nu) ** 2  # (E1)

    def count(line: Iteration) -> bool:
        COUNTER.spent += each
        return bool(callback and callback(line))

    COUNTER.spent += SEARCH
    return interior.solve(problem, guess, options, count, deadline)

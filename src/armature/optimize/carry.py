"""From one problem's result to a start for the next: other knots, another duration, other ends. Motion and multipliers are carried over.

Multipliers of the dynamics are a function of time and are interpolated. Those of limits are sums over the knots near by, so that
twice the knots have half of them each; those of conditions at single knots (both ends, via points) stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.problem import Guess
from armature.optimize.result import Multipliers, Result

if TYPE_CHECKING:
    from armature.optimize.move import MoveProblem


@dataclass(frozen=True, eq=False)
class Known:
    """An earlier plan to start from: the solver's result, and the motion it stands for."""

    result: Result
    motion: Trajectory

    def fits(self, problem: MoveProblem) -> bool:
        """Whether it is an optimum of the same model, whatever its knots, ends and duration."""
        model, old = problem.driven.model, self.result
        rows = model.nx + model.nu + len(model.constraint_names)
        sizes = (model.nx, model.nu, model.np, len(model.total_names))
        same = (old.x.shape[1], old.u.shape[1], old.p.size, old.multipliers.totals.size) == sizes
        return old.ok and same and old.multipliers.rows.size == len(old.x) * rows + model.np + len(model.total_names)


def carried(result: Result, motion: Trajectory, problem: MoveProblem) -> Result:
    """A result as the start of another problem of the same model. motion: its own; it is brought to the new ends and duration."""
    N, old = problem.N, len(result.u)
    guess = guess_from(motion, problem)
    x, u = np.array(guess.x), np.array(guess.u)
    n = problem.driven.shape.n
    # what is not motion: stores and slacks, which follow the power
    x[:, 3 * n :] = at_knots(result.x[:, 3 * n :], N + 1)
    u[:, n:] = at_steps(result.u[:, n:], N)
    start = replace(result, x=x, u=u, p=np.broadcast_to(guess.p, result.p.shape) * 1.0)
    return start if old == N else replace(start, multipliers=resampled(result.multipliers, result.x.shape[1], N))


def guess_from(motion: Trajectory, problem: MoveProblem) -> Guess:
    """An optimum's motion, of whatever knots and duration, as a start of the problem; legs keep their parts of the time."""
    return problem.guess(motion, knot_times(motion, problem) if problem.legs > 1 else None)


def knot_times(motion: Trajectory, problem: MoveProblem) -> np.ndarray:
    """(N+1,) times of the knots, s, at which each leg takes the part of the problem's duration that it takes of the motion's."""
    ends = replace(problem, N=len(motion) - 1).leg_ends
    at = np.interp(np.arange(problem.N + 1), [0, *problem.leg_ends], [0, *ends])
    t = np.interp(at, np.arange(len(motion)), motion.t - motion.t[0])
    return t * (problem.duration / motion.duration)


def at_knots(values: np.ndarray, knots: int) -> np.ndarray:
    """(old knots, k) values interpolated at other knots, as many as told."""
    if len(values) == knots:
        return values
    if values.shape[1] == 0:
        return np.zeros((knots, 0))
    where, known = np.linspace(0.0, 1.0, knots), np.linspace(0.0, 1.0, len(values))
    return np.column_stack([np.interp(where, known, column) for column in values.T])


def at_steps(values: np.ndarray, steps: int) -> np.ndarray:
    """(old steps, k) values of the steps at other steps: those of the step around the middle."""
    return values[((np.arange(steps) + 0.5) * len(values) / steps).astype(int)]


def resampled(old: Multipliers, nx: int, N: int) -> Multipliers:
    """The multipliers for N steps."""
    knots = len(old.lam)
    tail = old.p.size + old.totals.size
    rows = old.rows[: old.rows.size - tail].reshape(knots, -1)
    fine = at_knots(rows, N + 1) * ((knots - 1) / N)
    fine[[0, -1], :nx] = rows[[0, -1], :nx]  # the ends' conditions
    flat = np.concatenate([fine.ravel(), old.rows[old.rows.size - tail :]])
    return replace(old, lam=at_knots(old.lam, N + 1), rows=flat)

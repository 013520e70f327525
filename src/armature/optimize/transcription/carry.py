"""From one problem's result to a start for the next: other knots, another duration, other ends.
Motion and multipliers are carried over.

Multipliers of the dynamics are a function of time and are interpolated. Those of limits are sums
over the knots near by, so that twice the knots have half of them each; those of conditions at
single knots (both ends, via points) stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.problem.problem import Guess
from armature.optimize.problem.result import Multipliers, Result
from armature.optimize.transcription.transcribe import RULES

if TYPE_CHECKING:
    from armature.optimize.transcription.move import MoveProblem


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
        return (
            old.ok
            and same
            and old.multipliers.rows.size == len(old.x) * rows + model.np + len(model.total_names)
        )


def carried(result: Result, motion: Trajectory, problem: MoveProblem) -> Result:
    """A result as the start of another problem of the same model. motion: its own; it is brought to
    the new ends and duration."""
    N, old = problem.N, len(result.u)
    guess = guess_from(motion, problem)
    x, u = np.array(guess.x), np.array(guess.u)
    n = problem.driven.shape.n
    # what is not motion: stores and slacks, which follow the power
    x[:, 3 * n :] = at_knots(result.x[:, 3 * n :], N + 1)
    u[:, n:] = at_steps(
        result.u[:, n:], N, RULES[problem.driven.rule][0] if problem.driven.shape.slacks else (0.5,)
    )
    start = replace(result, x=x, u=u, p=np.broadcast_to(guess.p, result.p.shape) * 1.0)
    if old == N:
        return start
    passed = replace(problem, N=old).knots, problem.knots
    return replace(start, multipliers=resampled(result.multipliers, result.x.shape[1], N, passed))


def guess_from(motion: Trajectory, problem: MoveProblem) -> Guess:
    """An optimum's motion, of whatever knots and duration, as a start of the problem; legs keep
    their parts of the time."""
    return problem.guess(motion, knot_times(motion, problem) if problem.legs > 1 else None)


def knot_times(motion: Trajectory, problem: MoveProblem) -> np.ndarray:
    """(N+1,) times of the knots, s, at which each leg takes the part of the problem's duration that
    it takes of the motion's."""
    ends = replace(problem, N=len(motion) - 1).leg_ends
    at = np.interp(np.arange(problem.N + 1), [0, *problem.leg_ends], [0, *ends])
    t = np.interp(at, np.arange(len(motion)), motion.t - motion.t[0])
    return t * (problem.duration / motion.duration)


def at_knots(values: np.ndarray, knots: int) -> np.ndarray:
    """(old knots, k) values interpolated at other knots, as many as told."""
    return interpolated(values, np.linspace(0.0, 1.0, len(values)), np.linspace(0.0, 1.0, knots))


def at_steps(values: np.ndarray, steps: int, points: tuple[float, ...] = (0.5,)) -> np.ndarray:
    """(old steps, k) values at some points of the old steps (parts of a step; a share of the
    columns for each) interpolated at others."""
    times = lambda count: ((np.arange(count)[:, None] + np.array(points)) / count).ravel()
    line = values.reshape(len(values) * len(points), -1)
    return interpolated(line, times(len(values)), times(steps)).reshape(steps, -1)


def interpolated(values: np.ndarray, known: np.ndarray, where: np.ndarray) -> np.ndarray:
    """(known times, k) values at other times, by straight lines; outside, those at the ends."""
    if np.array_equal(known, where):
        return values
    i = np.clip(np.searchsorted(known, where, side="right") - 1, 0, len(known) - 2)
    part = np.clip((where - known[i]) / (known[i + 1] - known[i]), 0.0, 1.0)[:, None]
    return (1.0 - part) * values[i] + part * values[i + 1]


def resampled(
    old: Multipliers, nx: int, N: int, passed: tuple[list[int], list[int]]
) -> Multipliers:
    """The multipliers for N steps. passed: the knots at which conditions are met, without the
    first, before and now."""
    knots = len(old.lam)
    tail = old.p.size + old.totals.size
    rows = old.rows[: old.rows.size - tail].reshape(knots, -1)
    before, now = ([0, *at] for at in passed)
    # conditions at single knots do not belong to the limits around them
    around = rows[:, :nx].copy()
    around[before] = around[[1, *(k - 1 for k in passed[0])]]
    fine = np.hstack(
        [at_knots(around, N + 1), np.vstack([at_steps(rows[:-1, nx:], N), rows[-1:, nx:]])]
    ) * ((knots - 1) / N)
    fine[now, :nx] = rows[before, :nx]
    fine[-1, nx:] = rows[-1, nx:]
    flat = np.concatenate([fine.ravel(), old.rows[old.rows.size - tail :]])
    # λ₀ belongs to no step and is zero: what leads there is continued
    lam = at_knots(np.vstack([2 * old.lam[1] - old.lam[2], old.lam[1:]]), N + 1)
    lam[0] = 0.0
    return replace(old, lam=lam, rows=flat)

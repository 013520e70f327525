"""Smooth motions: of all that keep most of the saving, the one with the least jerk.

Least energy is flat: motions of nearly the same energy differ widely in peaks of acceleration and
torque. Around the plan of least energy E₀ the problem is solved again, warm, with a weight on jerk
in the cost,

(S1)  E + ρ (losses/J₀) J,   J = ∫ Σ s_j jerk_j² dt,   J₀: that of the plan of least energy,

where s_j = 1/(greatest acceleration of the joint cubic)² makes joints comparable that turn, slide,
or hardly move. ρ grows until the motion costs what it may:

(S2)  E ≤ E₀ + ½ s (E_b − E₀),   s: smoothness of the task, E_b: energy of the baseline,

or E₀ + s/10 of what is counted where there is no saving. A motion that breaks limits between knots
is never taken; where no smoother one is found, the plan of least energy stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.pipeline import Pipeline
from armature.optimize.problem.problem import Guess
from armature.optimize.problem.result import Result
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.smoothed import SmoothedMove

GIVEN_UP = 0.5  # of the saving, at smoothness 1
DEARER = 0.1  # of what is counted, at smoothness 1, where there is no saving
FIRST = 1.0  # ρ that is tried first
SOLVES = 6  # at most
NEAR = 0.9  # of what the motion may cost more: a motion that costs as much is smooth enough
AIM = 0.95  # the same, to aim at
POWER = 0.6  # of the excess as a function of ρ, before two values are known
FARTHEST = 30.0  # factor from one ρ to the next
CLEARLY = 0.01  # of the cost of jerk before: what a search that came to no end must have gained
STILL = 0.1  # of the greatest acceleration of a kind of joints: what a joint counts at least
ITERATIONS = 150
WIDE = 0.3  # smoothing parameter at which the homotopy of a smoother motion begins


@dataclass(frozen=True)
class Trial:
    """A weight ρ, and what its motion costs more than the least, J; infinite where its search came
    to no end, so that a smaller weight is tried."""

    rho: float
    excess: float


@dataclass
class Smoother:
    """Makes plans smooth. pipeline: of its solves.  smoothness: of the task.  runs: whether a
    motion can be taken.  rho: the weight that is tried first; after a plan the one that was taken,
    which is a good first one for its neighbour."""

    pipeline: Pipeline
    smoothness: float
    runs: Callable[[Attempt], bool] = lambda attempt: attempt.runs and not attempt.unbounded
    rho: float = FIRST

    def __call__(self, best: Attempt, baseline: float) -> Attempt:
        """The smoothest motion found that keeps its part of the saving (S2).

        best: the plan of least energy.  baseline: E_b, J."""
        spare, shares = spared(best, self.smoothness, baseline), jerk_shares(best.problem)
        roughness = lambda attempt: jerk_of(best.problem, attempt.motion, shares)
        unit = max(best.losses, 1e-3 * abs(best.value)) / max(roughness(best), 1e-300)
        if spare <= 0.0 or best.problem.free or not 0.0 < unit < np.inf:
            return best
        trials: list[Trial] = []
        taken, rho = best, self.rho
        for _ in range(SOLVES):
            weights = Weights(energy=1.0, jerk=rho * unit, jerk_shares=tuple(shares))
            if self.pipeline.late:
                break
            found = self.solved(best, taken, weights, roughness)
            trials.append(Trial(rho, np.inf if found is None else found.value - best.value))
            if found and trials[-1].excess <= spare and roughness(found) < roughness(taken):
                taken, self.rho = found, rho
            if NEAR * spare <= trials[-1].excess <= spare:
                break
            rho = next_weight(trials, spare)
        return taken

    def solved(
        self, best: Attempt, near: Attempt, weights: Weights, roughness: Callable[[Attempt], float]
    ) -> Attempt | None:
        """A motion with these weights that does the task and keeps all limits. None where there is
        none, or where no search came to its end, or at least to clearly less of (S1)."""
        cost = lambda attempt: attempt.value + weights.jerk * roughness(attempt)
        enough = cost(near) - CLEARLY * weights.jerk * roughness(near)
        for task, start, f in self.starts(best.problem, near):
            found = self.pipeline.again(task, start, weights, ITERATIONS, f)
            if self.runs(found) and (found.ok or cost(found) < enough):
                return found.accepted()
            if self.pipeline.late:
                break
        return None

    def starts(
        self, task: Any, near: Attempt
    ) -> Iterator[tuple[MoveProblem, Guess | Result, float | None]]:
        """Problems, where their search begins, and from which smoothing parameter: warm from the
        smoothest motion known, with the directions of the plan; that motion as a guess; where there
        are corners, by the homotopy with all directions free, since a smoother motion may turn
        elsewhere."""
        yield near.problem, near.result, None
        yield task, task.guess(near.motion), None
        if not task.robot.loops and not self.pipeline.is_smooth(task):
            free = replace(task, directions=None, standing=None)
            yield free, free.guess(near.motion), WIDE


def spared(best: Attempt, smoothness: float, baseline: float) -> float:
    """What a smoother motion may cost more than the least (S2), J."""
    saving = baseline - best.value
    returns = getattr(best.problem.driven.supply, "efficiency", 0.0) > 0.0
    counted = best.losses if returns else best.value
    return smoothness * (GIVEN_UP * saving if saving > 0.0 else DEARER * abs(counted))


def next_weight(trials: list[Trial], spare: float) -> float:
    """ρ whose motion costs about what it may: by a power law through the two trials that cost most
    nearly as much, between the largest ρ that costs less and the least that costs more. A search
    that came to no end bounds ρ only until one from nearer by has come to its own."""
    ended = [t for t in trials if t.excess < np.inf]
    last = max((k for k, t in enumerate(trials) if t in ended), default=-1)
    low = max((t.rho for t in ended if t.excess <= spare), default=0.0)
    above = [t.rho for t in ended if t.excess > spare] + [t.rho for t in trials[last + 1 :]]
    high = min(above, default=np.inf)
    known = [t for t in ended if t.excess > 0.0]
    known.sort(key=lambda t: abs(np.log(t.excess / spare)))
    if known:
        base, power = known[0], POWER
        if len(known) > 1 and base.rho != known[1].rho:
            slope = np.log(base.excess / known[1].excess) / np.log(base.rho / known[1].rho)
            power = float(np.clip(slope, 0.2, 2.0))
        factor = (AIM * spare / base.excess) ** (1.0 / power)
    else:
        base, factor = trials[-1], FARTHEST if low else 1.0 / FARTHEST
    rho = base.rho * float(np.clip(factor, 1.0 / FARTHEST, FARTHEST))
    if low < rho < high:
        return rho
    low = low or high / FARTHEST**2
    return float(np.sqrt(low * min(high, low * FARTHEST**2)))


def jerk_shares(problem: MoveProblem) -> np.ndarray:
    """(free coordinates,) s_j of (S1), relative to the least of them: by the joint cubic's
    accelerations, 1/(…)²."""
    if isinstance(problem, SmoothedMove):
        return problem.scales.velocity**-2.0  # what its own jerk term has
    joints, names = list(problem.driven.coordinates), problem.robot.joint_names
    peak = np.abs(problem.straight.a).max(0)[joints]
    slides = np.array([is_sliding(problem, names[j]) for j in joints])
    for kind in (slides, ~slides):
        if kind.any():
            peak[kind] = np.maximum(peak[kind], STILL * peak[kind].max())
    peak = np.where(peak > 0.0, peak, peak.max())
    return (peak.max() / peak) ** 2 if peak.max() > 0.0 else np.ones(len(joints))


def is_sliding(problem: MoveProblem, name: str) -> bool:
    """Whether a coordinate is a length."""
    joints = {joint.name: joint.kind for joint in problem.robot.joints}
    return joints.get(name) == "prismatic"


def jerk_of(problem: MoveProblem, motion: Trajectory, shares: np.ndarray) -> float:
    """J of (S1) for a motion whose acceleration runs straight between knots."""
    a, h = motion.a[:, list(problem.driven.coordinates)], np.diff(motion.t)[:, None]
    return float(np.sum(shares * np.diff(a, axis=0) ** 2 / h))

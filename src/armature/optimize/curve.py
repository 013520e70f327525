"""`energy_time_curve`: what a move costs at every duration (B8): local minima, resonance, and whether to hurry and wait on the brake.

Solves run along the durations in both directions, each starting from its neighbours: the barrier is kept, so that the optimum is a smooth
function of the duration, and the last two are continued in a straight line, multipliers too. The better of the two directions counts. Near
minima the curve is refined.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armature.dynamics.compiled import kinetic_energy, potential_energy
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.answer import check_task
from armature.optimize.baseline import stretched
from armature.optimize.driven import Weights
from armature.optimize.interior import Options
from armature.optimize.loop_move import move_problem
from armature.optimize.min_time import short
from armature.optimize.move import MoveProblem
from armature.optimize.plan import Attempt, Planner, directions
from armature.optimize.quick_time import shortest
from armature.optimize.task import Move
from armature.robot.model import Robot

POINTS = 50
FEW = 30  # knots to find the range of durations
EVERY = 8  # on the way up, every so many durations are tried from below
WARM = Options(tolerance=1e-4, iterations=25, warm_barrier=1e-5)  # energies are then right to about 1e-5 of themselves
CLEARLY = 2e-4  # part of the energy by which another branch must be better to be followed
FAR = 1.15  # ratio of durations up to which two optima are continued in a straight line
SPACING = 0.02  # relative accuracy of the spacing at which minima count as evenly spaced
CLEAR = 5e-3  # part of the losses by which the curve must rise on both sides of a minimum
WORTH = 0.01  # part of the energy that an advice must save


@dataclass(frozen=True, eq=False)
class Curve:
    """Energy against duration.

    durations: (K,) rising, s.  energies: (K,) net energy from the supply, J.  losses: (K,) what became heat, J; NaN where there is no plan.
    trajectories: K motions, None where there is no plan.  minima: ((T, E), ...) local minima inside the range, s and J.
    resonance: s, the spacing of the minima where they are evenly spaced (the arm swings), else None.  advice: sentences.
    """

    durations: np.ndarray
    energies: np.ndarray
    losses: np.ndarray
    trajectories: tuple[Trajectory | None, ...]
    minima: tuple[tuple[float, float], ...]
    resonance: float | None
    advice: str
    seconds: float = 0.0

    @property
    def best(self) -> tuple[float, float]:
        """(T, E) of the cheapest plan on the curve."""
        k = int(np.nanargmin(self.energies))
        return float(self.durations[k]), float(self.energies[k])

    def wait(self, duration: float) -> tuple[float, float]:
        """(T₁, energy saved): move in T₁ ≤ duration and wait on the brake for the rest, against moving for the whole duration."""
        energy = float(np.interp(duration, self.durations, self.energies))
        inside = [(E, T) for T, E in [*zip(self.durations, self.energies), *self.minima] if duration >= T and np.isfinite(E)]
        E, T = min(inside, default=(energy, duration))
        return float(T), energy - float(E)

    def __str__(self) -> str:
        rows = [f"{T:10.4f} s {E:12.4f} J {L:12.4f} J lost" for T, E, L in zip(self.durations, self.energies, self.losses)]
        return "\n".join([*rows, *(f"minimum at {T:.4f} s: {E:.4f} J" for T, E in self.minima), self.advice])


def energy_time_curve(
    robot: Robot,
    task: Move,
    durations: Sequence[float] | None = None,
    supply: Any = None,
    knots: int = 50,
    refine: bool = True,
    callback: Callable | None = None,
) -> Curve:
    """Least energy of a move over its durations.

    durations: s; by default 50 from a little above the least time to five times it.  supply, knots: as in `minimize_energy`.
    refine: locate local minima more closely than the durations given.  callback: called with every iteration of every solve.
    """
    check_task(robot, task, timed=False)
    begin = time.perf_counter()
    T = np.unique(np.asarray(default_durations(robot, task, supply) if durations is None else durations, dtype=float))
    if T.size == 0 or not np.all(np.isfinite(T)) or T[0] <= 0:
        raise ArgumentError(f"durations {durations} must be positive, finite numbers")
    sweep = Sweep(move_problem(robot, task, supply, knots), callback)
    best = sweep.both_ways(T)
    minima = sweep.minima(T, best) if refine else []
    energies = np.array([a.value if a else np.nan for a in best])
    losses = np.array([sweep.losses(a) if a else np.nan for a in best])
    motions = tuple(a.motion if a else None for a in best)
    resonance = spacing([t for t, _ in minima])
    advice = advise(T, energies, minima, resonance)
    return Curve(T, energies, losses, motions, tuple(minima), resonance, advice, time.perf_counter() - begin)


def default_durations(robot: Robot, task: Move, supply: Any) -> np.ndarray:
    """50 durations, denser at the short end: from 1.05 to 5 times the least time (at least from 0.2 s for a move that stays)."""
    least = max(short(move_problem(robot, task, supply, FEW)), 0.2)
    return np.geomspace(1.05 * least, 5.0 * least, POINTS)


class Sweep:
    """Solves of one move at many durations, each from a neighbour."""

    def __init__(self, problem: MoveProblem, callback: Callable | None = None):
        self.problem = problem
        self.first = problem.duration
        self.planner = Planner(Weights(energy=1.0), Options(tolerance=1e-6, iterations=60), callback)

    def at(self, duration: float) -> MoveProblem:
        """The problem at another duration."""
        return replace(self.problem, move=stretched(self.problem.move, duration, self.first))

    def solve(self, duration: float, near: Attempt | None, before: Attempt | None = None) -> Attempt | None:
        """From neighbours' motions and multipliers, and where that fails or there are none, from the joint cubic or the shortest motion."""
        found = self.warm(duration, near, before) if near is not None else None
        found = found or self.planner.best(self.at(duration))
        if not found.ok and self.fastest.ok and self.fastest.motion.duration <= duration:
            found = self.planner.best(self.at(duration), self.fastest.motion)
        return found if found.ok else None

    @cached_property
    def fastest(self) -> Attempt:
        """The shortest motion, found when first asked for."""
        return shortest(replace(self.problem, N=50), 2.0, self.planner.callback)

    def warm(self, duration: float, near: Attempt, before: Attempt | None = None) -> Attempt | None:
        """From a neighbour's motion and multipliers, continued from the one before it where that is given and near enough."""
        slow = (near.problem.smooth or near.problem.driven.smooth).velocity
        known = None if near.problem.directions is None else directions(near.motion, slow)
        problem = replace(near.problem, move=self.at(duration).move, directions=known)
        found = self.planner.attempt(problem, continued(near, before, duration), WARM)
        return found if found.ok else None

    def both_ways(self, durations: np.ndarray) -> list[Attempt | None]:
        """From the longest duration down to the shortest feasible one, then up again; a better branch is followed while it is better."""
        best: list[Attempt | None] = [None] * len(durations)
        near = before = None
        for k in range(len(durations) - 1, -1, -1):
            best[k] = self.solve(float(durations[k]), near, before)
            if best[k] is None and near is not None:
                break
            near, before = best[k] or near, near
        better, before = True, None
        for k in range(1, len(durations)):
            below, mine = best[k - 1], best[k]
            if below is None or mine is None or not (better or k % EVERY == 0):
                before = None
                continue
            other = self.warm(float(durations[k]), below, before if better else None)
            before = below
            better = other is not None and other.value < mine.value - CLEARLY * abs(mine.value)
            best[k] = other if better else mine
        return best

    def minima(self, durations: np.ndarray, best: list[Attempt | None]) -> list[tuple[float, float]]:
        """Local minima inside the range that are clear ones, located by parabolas through ever closer points."""
        found = []
        energies = np.array([a.value if a else np.nan for a in best])
        for k in range(1, len(durations) - 1):
            middle = best[k]
            if middle is not None and prominent(energies, k, CLEAR * abs(self.losses(middle))):
                found.append(self.locate([(float(durations[k + i]), a) for i in (-1, 0, 1) if (a := best[k + i]) is not None]))
        return found

    def locate(self, triple: list[tuple[float, Attempt]], accuracy: float = 2e-4) -> tuple[float, float]:
        """The minimum between three durations: successive parabolas."""
        for _ in range(12):
            (a, A), (b, B), (c, C) = triple
            T = vertex((a, A.value), (b, B.value), (c, C.value))
            if abs(T - b) < accuracy * b and min(b - a, c - b) < 0.05 * b:
                break
            T = float(np.clip(T, a + 0.1 * (b - a), c - 0.1 * (c - b)))
            T = T if abs(T - b) > 0.02 * (c - a) else b + 0.1 * ((c - b) if c - b > b - a else (a - b))
            new = self.solve(T, B)
            if new is None:
                break
            points = sorted([*triple, (T, new)], key=lambda p: p[0])
            k = min(range(1, 3), key=lambda i: points[i][1].value)
            triple = points[k - 1 : k + 2]
        (a, A), (b, B), (c, C) = triple
        T = vertex((a, A.value), (b, B.value), (c, C.value))
        return float(np.clip(T, a, c)), min(A.value, B.value, C.value)

    def losses(self, attempt: Attempt) -> float:
        """What became heat, J: what was drawn and not stored (a bus's capacitor is full only in passing)."""
        q, v = attempt.motion.q[[0, -1]], attempt.motion.v[[0, -1]]
        robot = attempt.problem.robot
        stored = np.diff(kinetic_energy(robot, q, v))[0] + np.diff(potential_energy(robot, q))[0]
        return attempt.value - float(stored)


def scaled(near: Attempt, duration: float) -> Any:
    """A neighbour's result brought to another duration: q as it was, its rates in proportion; multipliers as they were."""
    n, result, f = near.problem.driven.shape.n, near.result, near.motion.duration / duration
    x, u = result.x.copy(), result.u.copy()
    x[:, n : 2 * n] *= f
    x[:, 2 * n : 3 * n] *= f**2
    u[:, :n] *= f**3
    return replace(result, x=x, u=u)


def continued(near: Attempt, before: Attempt | None, duration: float) -> Any:
    """The start for another duration: the straight line through two neighbours' optima over log T, the nearest alone where they are far."""
    start, T = scaled(near, duration), near.motion.duration
    if before is None or before.result.x.shape != start.x.shape:
        return start
    gap = np.log(T / before.motion.duration)
    if not 1e-6 < abs(gap) < np.log(FAR) or abs(np.log(duration / T)) > 1.5 * abs(gap):
        return start
    other, w = scaled(before, duration), float(np.log(duration / T) / gap)
    ahead = lambda new, old: new + w * (new - old)
    m, o = start.multipliers, other.multipliers
    multipliers = replace(m, lam=ahead(m.lam, o.lam), rows=ahead(m.rows, o.rows))
    return replace(start, x=ahead(start.x, other.x), u=ahead(start.u, other.u), multipliers=multipliers)


def vertex(*points: tuple[float, float]) -> float:
    """Where the parabola through three points is least; the middle point where it is not convex."""
    (a, A), (b, B), (c, C) = points
    left, right = (B - A) / (b - a), (C - B) / (c - b)
    bend = (right - left) / (c - a)
    return b if bend <= 0 else (a + b) / 2 - left / (2 * bend)


def prominent(energies: np.ndarray, k: int, depth: float) -> bool:
    """Whether point k is a minimum from which the curve rises by `depth`, J, to both sides before it falls below it or ends.

    Next to it the curve must rise at all. Energies are right to a small part of themselves: shallower dents are not told."""
    for side in (energies[k::-1], energies[k:]):
        below = np.flatnonzero(~(side[1:] > side[0]))
        reach = side[: 1 + (below[0] if below.size else len(side))]
        if len(reach) < 2 or reach.max() - side[0] < depth:
            return False
    return True


def spacing(times: list[float]) -> float | None:
    """The common spacing of at least three minima, s; None where they are not evenly spaced."""
    if len(times) < 3:
        return None
    gaps = [b - a for a, b in itertools.pairwise(times)]
    mean = float(np.mean(gaps))
    return mean if max(abs(g - mean) for g in gaps) <= SPACING * mean else None


def advise(durations: np.ndarray, energies: np.ndarray, minima: list[tuple[float, float]], resonance: float | None) -> str:
    """Sentences for the user."""
    good = np.isfinite(energies)
    if not good.any():
        return "No duration of this range is feasible; energy_time_curve without durations chooses feasible ones."
    candidates = [*zip(durations[good], energies[good]), *minima]
    T1, E1 = min(candidates, key=lambda p: p[1])
    longest, last = float(durations[good][-1]), float(energies[good][-1])
    words = [f"The cheapest motion takes {T1:.4g} s and {E1:.4g} J."]
    if last - E1 > WORTH * max(abs(last), 1e-9):
        share = f", {100 * (last - E1) / abs(last):.3g} %" if last > 0 else ""
        words.append(
            f"With {longest:.4g} s at hand, move in {T1:.4g} s and wait on the brake for the rest: this saves {last - E1:.4g} J{share}."
        )
    if resonance is not None:
        words.append(f"The minima are {resonance:.4g} s apart: the arm swings at its own rhythm, and each minimum is one more oscillation.")
    return " ".join(words)

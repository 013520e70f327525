"""A prototype of the next planner, measured by `compare --planner homotopy`: least energy and least time by one homotopy each,
coarse knots and wide corners first, then all knots and narrow ones, then back-off.

    start → homotopy with few knots → homotopy with all knots → back-off where limits are exceeded between knots

The jerk weight ρ · cost/∫Σ(j/V)² scales itself at every step of the homotopy. A least time starts from the shortest joint cubic that keeps
all limits, so that the search begins inside them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.optimize.carry import carried
from armature.optimize.certify import MEANS, Margin, exceeded_in_steps, margins
from armature.optimize.driven import Weights
from armature.optimize.guess import stretched
from armature.optimize.homotopy import Homotopy
from armature.optimize.interior import Options, solve
from armature.optimize.move import resampled
from armature.optimize.plan import Attempt, net_energy
from armature.optimize.problem import Guess, Problem
from armature.optimize.result import Iteration, Result
from armature.optimize.smoothed import SmoothedMove
from armature.simulate.flows import drives_at

LOSSES = ("copper", "iron", "friction", "gear", "amplifier")
JERK = 5  # place of the jerk's weight among the weights


@dataclass(frozen=True)
class Settings:
    """Every tuning number of the pipeline.

    start, coarse, end: smoothing parameter f at the start, after the coarse stage and at the end (times a joint's usual speed).
    factor: by which f falls.  coarse_knots: of the first stage.  jerk: ρ for energy.  jerk_time: ρ/f for least time, at least
    `jerk_least`.  tolerance, coarse_tolerance: of the optimality conditions.  accuracy, coarse_accuracy: part of the cost left to gain.
    warm_barrier: μ at the start of the fine stage.  back_offs: at most.  back_off_power: of what is exceeded, for the factor of a limit.
    enough: part of a limit that may be exceeded.  slower: factor on the shortest joint cubic's duration, to start inside the limits.
    """

    start: float = 2.0
    coarse: float = 0.05
    end: float = 0.005
    factor: float = 0.5
    coarse_knots: int = 50
    jerk: float = 5e-4
    jerk_slope: float = 0.01
    jerk_time: float = 0.1
    jerk_least: float = 1e-5
    tolerance: float = 1e-6
    coarse_tolerance: float = 1e-4
    accuracy: float = 1e-4
    coarse_accuracy: float = 1e-3
    iterations: int = 250
    warm_barrier: float = 1e-3
    back_off_barrier: float = 1e-4
    back_offs: int = 4
    back_off_power: float = 1.2
    enough: float = 9.5e-4
    slower: float = 1.05
    slow: float = 0.02


SETTINGS = Settings()


@dataclass(frozen=True)
class Pipeline:
    """One search. weights: energy or time.  callback: sees every iteration."""

    weights: Weights
    settings: Settings = SETTINGS
    callback: Callable[[Iteration], bool | None] | None = None

    def run(self, task: SmoothedMove, guess: Guess | None = None) -> Attempt:
        """The best motion found from one start, limits kept between knots as far as back-off goes."""
        s = self.settings
        few = replace(task, N=max(min(s.coarse_knots, task.N), 2 * (len(task.move.via) + 1)))
        first = self.solve(few, few.guess(None), s.start, s.coarse, coarse=True)
        fine = task.timed_as(first.motion) if task.free else task
        start = carried(first.result, first.motion, fine)
        found = self.solve(fine, start, s.coarse, s.end)
        if not found.ok or not found.nearly:
            # joints that turn or creep keep the search busy: with their modes fixed it ends
            found = self.with_modes(fine, found if found.nearly and found.value <= 1.02 * first.value else first)
        return self.backed_off(found)

    def with_modes(self, task: SmoothedMove, known: Attempt) -> Attempt:
        """From a known motion, with the direction of every joint that moves fixed in every step."""
        s = self.settings
        task = task.timed_as(known.motion) if task.free else task
        start = carried(known.result, known.motion, task)
        fixed = replace(task, directions=modes(task.trajectory(start), s.slow * task.scales.velocity))
        return self.solve(fixed, start, s.coarse, s.end)

    def solve(self, task: SmoothedMove, start: Guess | Result, f: float, end: float, coarse: bool = False, mu: float = 0.0) -> Attempt:
        """One solve with the smoothing parameter from f to `end`."""
        s = self.settings
        problem = task.problem(self.weights)
        options = Options(
            tolerance=s.coarse_tolerance if coarse else s.tolerance, iterations=s.iterations, centred=True,
            accuracy=s.coarse_accuracy if coarse else s.accuracy, warm_barrier=mu or s.warm_barrier,
            homotopy=Homotopy(f, end, self.data(task, problem), s.factor),
        )  # fmt: skip
        result = solve(problem, start, options, self.callback)
        motion = task.trajectory(result)
        return Attempt(task, result, motion, lambda: self.value(task, motion))

    def value(self, task: SmoothedMove, motion) -> float:
        """Exact cost: J, or s."""
        return motion.duration if self.weights.time else net_energy(task.robot, motion, task.driven.supply)

    def data(self, task: SmoothedMove, problem: Problem) -> Callable[..., np.ndarray]:
        """The problem's data for a smoothing parameter, with a jerk weight in proportion to what the motion costs now."""
        s, base, place = self.settings, np.array(problem.data), 1 + task.driven.durations + JERK

        def at(f: float, x: np.ndarray, u: np.ndarray, p: np.ndarray) -> np.ndarray:
            motion = task.motion_of(x, u, p)
            jerk = np.diff(motion.a, axis=0) / np.diff(motion.t)[:, None] / task.scales.velocity
            size = float((jerk**2).sum(1) @ np.diff(motion.t))
            rho = max(s.jerk_least, s.jerk_time * f) if self.weights.time else min(s.jerk, s.jerk_slope * f)
            cost = motion.duration if self.weights.time else losses(task, motion)
            base[:, task.driven.first] = f
            base[:, place] = rho * max(cost, 1e-9) / max(size, 1e-12)
            return base

        return at

    def backed_off(self, best: Attempt) -> Attempt:
        """The same with limits tightened where the motion exceeds them between knots, by warm re-solves."""
        s = self.settings
        for _ in range(s.back_offs):
            beyond = [m for m in best.margins if m.fraction < -s.enough]
            tighter = tightened(best, beyond, s) if beyond else {}
            if not tighter:
                break
            task: Any = replace(best.problem, tighter=tighter)
            task = task.timed_as(best.motion) if task.free else task
            start = carried(best.result, best.motion, task)
            found = self.solve(task, start, s.end, s.end, mu=s.back_off_barrier)
            if found.worst is None or best.worst is None or found.worst.fraction < 2 * best.worst.fraction:
                break
            best = found
        return best


def modes(motion, slow: np.ndarray) -> np.ndarray:
    """(N, n) which way every joint moves in a step, ±1; 0 where its mean velocity is below `slow` (n,)."""
    mean = np.diff(motion.q, axis=0) / np.diff(motion.t)[:, None]
    same = np.sign(motion.v[:-1]) * np.sign(motion.v[1:]) >= 0
    return np.where((np.abs(mean) > slow) & same, np.sign(mean), 0.0)


def tightened(best: Attempt, beyond: list[Margin], s: Settings) -> dict[str, np.ndarray]:
    """Factors of the limits that a motion exceeds, for every knot; empty where none of them is a row of the problem."""
    task, found, changed = best.problem, dict(best.problem.tighter), False
    rows = {*task.driven.model.constraint_names, *task.driven.model.state_names, *(name for _, _, name, _ in task.driven.means)}
    for margin in beyond:
        name = f"{margin.limit} of {margin.joint}"
        if name not in rows:
            continue
        changed = True
        if margin.limit in MEANS:
            found[name] = found.get(name, 1.0) * (1.0 - margin.fraction) ** -s.back_off_power
            continue
        step = exceeded_in_steps(task.robot, best.motion, margin.joint, margin.limit)
        k = int(np.clip(np.searchsorted(best.motion.t, margin.time), 1, len(best.motion) - 1)) - 1
        step[k] = max(step[k], -margin.fraction)
        factor = np.where(step > 0.0, (1.0 + np.maximum(step, 0.0)) ** -s.back_off_power, 1.0)
        knots = np.minimum(np.append(factor, 1.0), np.insert(factor, 0, 1.0))
        found[name] = resampled(np.atleast_1d(found.get(name, 1.0)), len(best.motion)) * knots
    return found if changed else {}


def losses(task: SmoothedMove, motion) -> float:
    """What a motion turns into heat, J, by the trapezoid rule over its knots."""
    robot = task.robot
    tau = np.asarray(inverse_dynamics(robot, motion.q, motion.v, motion.a))
    drives = drives_at(robot, tau, motion.v, motion.a)
    heat = sum(np.asarray(getattr(drives.together, name)).sum(1) for name in LOSSES)
    heat = heat + (np.asarray(drives.friction) * motion.v).sum(1)
    if task.driven.supply.slacks(len(robot.drivetrain.drives)):
        heat = heat + np.maximum(-drives.together.power, 0.0).sum(1)
    return float(np.trapezoid(heat, motion.t))


def least_energy(task: SmoothedMove, callback=None, settings: Settings = SETTINGS) -> Attempt:
    """The motion of the task's duration that costs the least energy."""
    return Pipeline(Weights(energy=1.0), settings, callback).run(task)


def least_time(task: SmoothedMove, callback=None, settings: Settings = SETTINGS) -> Attempt:
    """The shortest motion."""
    if not task.moving:
        task = replace(task, move=replace(task.move, duration=settings.slower * feasible_cubic(task)))
    time = replace(settings, coarse=0.03, end=0.005, start=1.0)
    return Pipeline(Weights(time=1.0), time, callback).run(task)


def feasible_cubic(task: SmoothedMove) -> float:
    """About the shortest duration in which the joint cubic keeps all limits but rates, s; the first guess where none does."""
    ok = lambda T: keeps(task, stretched(task.straight, T))
    T = first = task.duration
    for _ in range(20):
        if ok(T):
            break
        T *= 1.3
    else:
        return first
    low = T / 1.3
    for _ in range(3):
        middle = np.sqrt(low * T)
        low, T = (low, middle) if ok(middle) else (middle, T)
    return float(T)


def keeps(task: SmoothedMove, motion) -> bool:
    """Whether a motion keeps all limits at its knots, but for rates, which a cubic jumps beyond."""
    found = margins(task.robot, motion, 1)
    return all(m.fraction >= 0.0 for row in found.values() for m in row.values() if m.limit not in ("jerk", "torque rate"))

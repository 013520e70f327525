"""From starting motions to a plan, by one homotopy: few knots and wide corners first, then all knots and narrow ones, then back-off.

    starts → few knots, f from 2 to 0.05 → the cheapest, all knots, f to 0.005 → limits drawn in where they are exceeded between knots

f is how far the corners of friction, gears and supply are rounded (smoothed.py); it follows the barrier inside one solve
(solver/homotopy.py). A weight on jerk that scales itself keeps flat problems from zigzagging. A least time starts from the shortest joint
cubic that keeps all limits, and ends with every joint's direction fixed in every step, so that joints turn at knots and the law is exact.
What counts is the exact law: of all motions met, the cheapest that does the task within all limits is the plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.drive import Bus, Smooth, as_supply
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.planner.back_off import drawn_in, run_slower
from armature.optimize.planner.detours import together
from armature.optimize.planner.effort import solve
from armature.optimize.planner.plan import Attempt, net_energy, settled
from armature.optimize.planner.settings import SETTINGS, Settings, Stage
from armature.optimize.planner.starts import feasible_cubic, late, timed
from armature.optimize.problem.interrupt import interrupted
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.problem.result import Iteration, Result, Status
from armature.optimize.solver.homotopy import Homotopy
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import Known, carried
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import default_smooth
from armature.optimize.transcription.smoothed import SmoothedMove
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.simulate.flows import drives_at

LOSSES = ("copper", "iron", "friction", "gear", "amplifier")
JERK = 5  # place of the jerk's weight among the weights

Callback = Callable[[Iteration], bool | None]


def rounds_corners(robot: Robot, supply: Any) -> bool:
    """Whether the pipeline plans this: losses with corners, by dry friction or gears, which one direct solve does not follow. Not closed
    loops, nor a bus with a store, whose slacks it does not round."""
    stored = isinstance(as_supply(supply if supply is not None else robot.supply), Bus)
    return default_smooth(robot) != Smooth() and not robot.loops and not stored


@dataclass(frozen=True)
class Pipeline:
    """One search. weights: energy or time.  callback: sees every iteration, a true answer stops.  ends: of time.perf_counter, s."""

    weights: Weights
    callback: Callback | None = None
    ends: float | None = None
    settings: Settings = SETTINGS

    @property
    def late(self) -> bool:
        """Whether the time is used up, or the user has stopped."""
        return interrupted() or (self.ends is not None and time.perf_counter() >= self.ends)

    # one solve --------------------------------------------------------------------------------------------------------------

    def solve(self, task: SmoothedMove, start: Guess | Result, f: float, end: float, **changed: Any) -> Attempt:
        """One solve with the smoothing parameter from f to `end`. changed: other settings."""
        s = replace(self.settings, **changed)
        problem = task.problem(self.weights)
        homotopy = Homotopy(f, end, self.data(task, problem, s), s.factor)
        options = Options(
            tolerance=s.tolerance, iterations=s.iterations, centred=True, accuracy=s.accuracy, warm_barrier=s.warm_barrier,
            homotopy=homotopy,
        )  # fmt: skip
        left = None if self.ends is None else max(self.ends - time.perf_counter(), 0.0)
        result = solve(problem, start, options, self.callback, left)
        return self.judged(replace(task, f=end), result)

    def judged(self, task: SmoothedMove, result: Result) -> Attempt:
        """A result with its motion and what that costs by the exact law."""
        motion = settled(task.trajectory(result))
        return Attempt(task, result, motion, lambda: self.value(task, motion))

    def value(self, task: SmoothedMove, motion: Trajectory) -> float:
        """Exact cost: s, or J."""
        return motion.duration if self.weights.time else net_energy(task.robot, motion, task.driven.supply)

    def data(self, task: SmoothedMove, problem: Problem, s: Settings) -> Callable[..., np.ndarray]:
        """The problem's data for a smoothing parameter, with a jerk weight in proportion to what the motion costs now."""
        base, place = np.array(problem.data), 1 + task.driven.durations + JERK

        def at(f: float, x: np.ndarray, u: np.ndarray, p: np.ndarray) -> np.ndarray:
            # elastic rows let durations leave their bounds
            motion = task.motion_of(x, u, np.maximum(p, 1e-3 * task.duration) if task.legs else p)
            rho = max(s.jerk_least, s.jerk_time * f) if self.weights.time else min(s.jerk, s.jerk_slope * f)
            cost = motion.duration if self.weights.time else losses(task, motion)
            base[:, task.driven.first] = f
            base[:, place] = rho * max(cost, 1e-9) / max(jerk_size(task, motion), 1e-12)
            return base

        return at

    def few(self, task: SmoothedMove, motion: Trajectory | None, f: float, end: float) -> Attempt:
        """From a starting motion (None: the joint cubic) with few knots."""
        s = self.settings
        coarse = replace(task, N=max(min(s.coarse_knots, task.N), 2 * (len(task.move.via) + 1)))
        rough = {"tolerance": s.coarse_tolerance, "accuracy": s.coarse_accuracy, "iterations": s.coarse_iterations}
        return self.solve(coarse, coarse.guess(motion), f, end, **rough)

    # least energy -------------------------------------------------------------------------------------------------------------

    def least_energy(self, task: SmoothedMove, guess: Trajectory | Known | None = None) -> Attempt:
        """The cheapest motion found of the task's duration; `runs` tells whether it keeps all limits."""
        s = self.settings
        if isinstance(guess, Known) and guess.fits(task):
            found = self.solve(task, carried(guess.result, guess.motion, task), s.end, s.end, warm_barrier=s.again_barrier)
            if found.ok or self.late:
                return self.cheapest(self.backed_off(found))
        known = guess.motion if isinstance(guess, Known) else guess
        starts = [None, late(task, s.late)] if known is None else [known]
        firsts = [self.few(task, starts[0], s.start if known is None else s.coarse, s.coarse)]
        if firsts[0].result.status is not Status.INFEASIBLE:
            firsts += [self.few(task, start, s.start, s.coarse) for start in starts[1:] if not self.late]
        first = best_of(firsts)
        if not first.nearly:
            return first
        fine = self.solve(task, carried(first.result, first.motion, task), s.coarse, s.middle, iterations=s.fine_iterations)
        found = self.backed_off(best_of([fine, *self.turned(task, fine)]))
        return self.cheapest(found if self.late or any(a.runs for a in found) else [*found, *self.backed_off(fine)])

    def turned(self, task: SmoothedMove, known: Attempt) -> list[Attempt]:
        """From a motion with rounded corners to exact laws: every joint's direction is fixed in every step, so that joints turn at knots;
        where that leads to nothing better, those of slow joints are left free."""
        s, found = self.settings, [known]
        for slow in s.standing:
            best = best_of(found)
            fixed = replace(task, directions=directions(best.motion, slow * task.scales.velocity, True))
            start = carried(best.result, best.motion, fixed)
            found.append(self.solve(fixed, start, s.middle, s.end, iterations=s.turn_iterations))
            if self.late or (found[-1].ok and best_of(found) is found[-1]):
                break
        return found[1:]

    def backed_off(self, best: Attempt) -> list[Attempt]:
        """A motion, and the same with limits drawn in where they are exceeded between knots, by warm re-solves."""
        s, found = self.settings, [best]
        for _ in range(s.back_offs):
            tighter = drawn_in(best, s.enough, s.back_off_power)
            if not tighter or self.late:
                break
            task: Any = replace(best.problem, tighter=tighter)
            task = task.timed_as(best.motion) if task.free else task
            start = carried(best.result, best.motion, task)
            best = self.solve(task, start, s.end, s.end, warm_barrier=s.back_off_barrier, jerk_time=s.stages[-1].jerk)
            if best.missed > 1e-3 or (task.free and best.motion.duration > s.longer * found[-1].motion.duration):
                break
            found.append(best)
        return found

    def cheapest(self, found: list[Attempt]) -> Attempt:
        """The cheapest of those that keep all limits; the last where none does."""
        return min((a for a in found if a.runs), key=lambda a: a.value, default=found[-1]).anyhow()

    # least time ---------------------------------------------------------------------------------------------------------------

    def least_time(self, task: SmoothedMove, guess: Trajectory | None = None) -> Attempt | None:
        """The shortest motion found; None where the last stage, with exact laws, leads to none within all limits."""
        s = self.settings
        task = replace(task, N=max(task.N, s.leg_knots * (len(task.move.via) + 1)) if task.move.via else task.N)
        if not task.moving:
            task = timed(task, s.slower * feasible_cubic(task))
        firsts: list[Attempt] = []
        for start in ([] if guess is None else [guess]) + [None, *together(task)[: s.detours]]:
            if firsts and self.late:
                break
            firsts.append(self.few(task, start, s.time_start, s.time_coarse))
        best = new = best_of(firsts)
        for stage in s.stages:
            if self.late:
                break
            new = self.staged(task, best, stage)
            best = new if new.missed < 1e-3 and new.motion.duration < 1.02 * best.motion.duration else best
        if best is not new:
            return None
        found = [self.slowed(a) for a in self.backed_off(best)]
        return min((a.anyhow() for a in found if a.runs), key=lambda a: a.value, default=None)

    def staged(self, task: SmoothedMove, known: Attempt, stage: Stage) -> Attempt:
        """With all knots from a known motion, and directions fixed as the stage asks for."""
        task = replace(task.timed_as(known.motion), directions=None)
        start = carried(known.result, known.motion, task)
        if stage.fixed:
            task = replace(task, directions=directions(task.trajectory(start), stage.fixed * task.scales.velocity, stage.turning))
        return self.solve(task, start, stage.start, stage.end, warm_barrier=stage.barrier, jerk_time=stage.jerk)

    def slowed(self, found: Attempt) -> Attempt:
        """The motion, run slower where that makes it keep all limits."""
        s = self.settings
        if found.runs or found.problem.moving or found.missed > 1e-6:
            return found
        slower = run_slower(found.problem.robot, found.motion, s.enough, s.slowest)
        return found if slower is None else replace(found, motion=slower, exact=slower.duration)


def best_of(found: list[Attempt]) -> Attempt:
    """The cheapest of those that nearly keep their limits; of all where none does."""
    return min([a for a in found if a.nearly and a.missed < 1e-3] or found, key=lambda a: a.value)


def directions(motion: Trajectory, slow: np.ndarray, turning: bool) -> np.ndarray:
    """(N, n) which way every joint moves in a step, ±1; 0 where its mean speed is below `slow` (n,), and, unless joints turn at knots,
    where it turns inside."""
    mean = np.diff(motion.q, axis=0) / np.diff(motion.t)[:, None]
    same = turning | (np.sign(motion.v[:-1]) * np.sign(motion.v[1:]) >= 0)
    return np.where((np.abs(mean) > slow) & same, np.sign(mean), 0.0)


def jerk_size(task: SmoothedMove, motion: Trajectory) -> float:
    """∫ Σ (jerk/V)² dt, 1/s³, for accelerations that run straight between knots. V: the joints' usual speeds."""
    jerk = np.diff(motion.a, axis=0) / np.diff(motion.t)[:, None] / task.scales.velocity
    return float((jerk**2).sum(1) @ np.diff(motion.t))


def losses(task: SmoothedMove, motion: Trajectory) -> float:
    """What a motion turns into heat, J, by the trapezoid rule over its knots."""
    robot = task.robot
    tau = np.asarray(inverse_dynamics(robot, motion.q, motion.v, motion.a))
    drives = drives_at(robot, tau, motion.v, motion.a)
    heat = sum(np.asarray(getattr(drives.together, name)).sum(1) for name in LOSSES)
    heat = heat + (np.asarray(drives.friction) * motion.v).sum(1)
    if task.driven.supply.slacks(len(robot.drivetrain.drives)):
        heat = heat + np.maximum(-drives.together.power, 0.0).sum(1)
    return float(np.trapezoid(heat, motion.t))


def smoothed_move(robot: Robot, move: Move, supply: Any, knots: int, free: bool = False) -> SmoothedMove:
    """The move as the pipeline takes it."""
    return SmoothedMove(robot, move, supply, knots, free)

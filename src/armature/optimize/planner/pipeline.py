"""From starting motions to a plan, by one homotopy.

    starts → few knots, f from wide to narrow → the cheapest with all knots → directions fixed, so
    that joints turn at knots and the law is exact → back-off where limits are exceeded between
    knots

f is how far the corners of friction, gears and supply are smoothed (transcription/smoothed.py); it
follows the barrier inside one solve (solver/homotopy.py). A weight on jerk that scales itself keeps
flat problems from zigzagging. Arms without corners are solved at once. What counts is the exact
law: of all motions met, the cheapest that does the task within all limits is the plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.drive import Smooth
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import MEANS
from armature.optimize.planner.attempt import Attempt, at_rest, net_energy
from armature.optimize.planner.back_off import run_slower, tightened_limits
from armature.optimize.planner.choice import best_of, cheapest, soonest
from armature.optimize.planner.jerk_weight import jerk_size, losses
from armature.optimize.planner.modes import directions, standstill
from armature.optimize.planner.settings import SETTINGS, Settings, Stage
from armature.optimize.planner.shapes import cheap_starts, short_starts
from armature.optimize.planner.starts import bends, feasible_cubic, passed_otherwise, timed
from armature.optimize.problem.interrupt import interrupted
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.problem.result import Iteration, Result, Status
from armature.optimize.solver.homotopy import Homotopy
from armature.optimize.solver.interior import Options, solve
from armature.optimize.transcription.carry import Known, carried
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.loop_move import LoopMove
from armature.optimize.transcription.move import MoveProblem, default_smooth
from armature.optimize.transcription.smoothed import SmoothedMove
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot

JERK = 5  # place of the jerk's weight among the weights

Callback = Callable[[Iteration], bool | None]


def posed(robot: Robot, move: Move, supply: Any, knots: int, free: bool = False) -> MoveProblem:
    """A move as the pipeline takes it. free: its duration is free."""
    made = LoopMove if robot.loops else SmoothedMove
    return made(robot, move, supply, knots, free)


@dataclass(frozen=True)
class Pipeline:
    """One search.

    weights: of energy, heat or time.  callback: sees every iteration, a true answer stops.
    ends: of time.perf_counter, s.
    """

    weights: Weights
    callback: Callback | None = None
    ends: float | None = None
    settings: Settings = SETTINGS

    @property
    def late(self) -> bool:
        """Whether the time is used up, or the user has stopped."""
        return interrupted() or self.left == 0.0

    @property
    def left(self) -> float | None:
        """Seconds left, None without a deadline."""
        return None if self.ends is None else max(self.ends - time.perf_counter(), 0.0)

    # one solve -----------------------------------------------------------------------------------

    def solve(
        self, task: MoveProblem, start: Guess | Result, f: float, end: float, **changed: Any
    ) -> Attempt:
        """One solve with the smoothing parameter from f to `end`. changed: other settings."""
        s = replace(self.settings, **changed)
        problem = task.problem(self.weights)
        homotopy = None if task.robot.loops else Homotopy(f, end, self.data(task, problem, s))
        options = Options(
            tolerance=s.tolerance,
            iterations=s.iterations,
            rows=s.rows * task.size,
            centred=True,
            accuracy=s.time_accuracy if self.weights.time else self.accuracy(task, s),
            warm_barrier=s.warm_barrier,
            homotopy=homotopy,
            stretch=s.stretch,
        )
        return self.solved(replace(task, f=end) if homotopy else task, problem, start, options)

    def again(
        self,
        task: MoveProblem,
        start: Guess | Result,
        weights: Weights,
        iterations: int,
        f: float | None = None,
    ) -> Attempt:
        """A re-solve with other weights: warm with the task's own smoothing, or with the smoothing
        parameter from f to its end."""
        s, problem = self.settings, task.problem(weights)
        options = Options(
            tolerance=s.tolerance,
            iterations=iterations,
            centred=True,
            accuracy=self.accuracy(task, s),
            warm_barrier=s.warm_barrier,
            homotopy=None if f is None else Homotopy(f, s.end, smoothing_alone(task, problem)),
        )
        return self.solved(task if f is None else replace(task, f=s.end), problem, start, options)

    def accuracy(self, task: MoveProblem, s: Settings) -> float:
        """Part of the cost left to gain at which a search may end: what is burnt has a flat
        optimum."""
        drives = len(task.robot.drivetrain.drives)
        return s.burnt_accuracy if task.driven.supply.slacks(drives) else s.accuracy

    def solved(
        self, task: MoveProblem, problem: Problem, start: Guess | Result, options: Options
    ) -> Attempt:
        """The solver's result, with its motion and what that costs by the exact law."""
        result = solve(problem, start, options, self.callback, self.left)
        motion = task.trajectory(result)
        motion = motion if task.robot.loops else at_rest(motion, task)
        return Attempt(task, result, motion, lambda: self.value(task, motion))

    def value(self, task: MoveProblem, motion: Trajectory) -> float:
        """Exact cost of a motion: s, or J."""
        if self.weights.time:
            return motion.duration
        if not np.all(np.isfinite(motion.q)):
            return np.inf
        return net_energy(task.robot, motion, task.driven.supply)

    def data(self, task: Any, problem: Problem, s: Settings) -> Callable[..., np.ndarray]:
        """The problem's data for a smoothing parameter, with a jerk weight in proportion to what
        the motion costs now."""
        base, place = np.array(problem.data), 1 + task.driven.durations + JERK
        least = 1e-3 * task.duration  # elastic rows let durations leave their bounds

        def at(f: float, x: np.ndarray, u: np.ndarray, p: np.ndarray) -> np.ndarray:
            motion = task.motion_of(x, u, np.maximum(p, least) if task.legs else p)
            size = max(jerk_size(task, motion), 1e-12)
            if self.weights.time:
                rho, cost = max(s.jerk_least, s.jerk_time * f), motion.duration
            elif self.is_smooth(task):
                rho = cost = 0.0
            else:
                rho, cost = min(s.jerk, s.jerk_slope * f), losses(task, motion)
            base[:, task.driven.first] = f
            base[:, place] = rho * max(cost, 1e-9) / size
            return base

        return at

    def few(self, task: MoveProblem, motion: Trajectory | None, f: float, end: float) -> Attempt:
        """From a starting motion (None: the joint cubic) with few knots."""
        s = self.settings
        coarse = replace(task, N=max(min(s.coarse_knots, task.N), 2 * (len(task.move.via) + 1)))
        rough = {"tolerance": s.coarse_tolerance, "iterations": s.coarse_iterations}
        return self.solve(coarse, coarse.guess(motion), f, end, **rough)

    # least energy --------------------------------------------------------------------------------

    def least_energy(
        self, task: MoveProblem, guess: Trajectory | Known | None = None, thorough: bool = False
    ) -> Attempt:
        """The cheapest motion found of the task's duration; `runs` tells whether it keeps all
        limits.

        thorough: from more starts than two."""
        s = self.settings
        known = guess.motion if isinstance(guess, Known) else guess
        if isinstance(guess, Known) and guess.fits(task):
            start = carried(guess.result, guess.motion, task)
            found = self.solve(task, start, s.end, s.end, warm_barrier=s.again_barrier)
            if found.ok and found.nearly:
                return self.finished([found])
        if not thorough and (quick := self.direct(task, known)) is not None:
            return quick
        firsts: list[Attempt] = []
        for problem, start in self.starts(task, known, thorough):
            if firsts and (self.late or firsts[0].result.status is Status.INFEASIBLE):
                break
            firsts.append(self.few(problem, start, s.start, s.coarse))
        best = best_of(firsts)
        return self.with_all_knots(replace(best.problem, N=task.N), best)

    def starts(
        self, task: MoveProblem, known: Trajectory | None, thorough: bool
    ) -> Iterator[tuple[MoveProblem, Trajectory | None]]:
        """What a least energy is sought from: a known motion alone, or the joint cubic, via points
        of free passing time passed earlier and later, and motions that a direct search finds."""
        yield task, known
        if known is None:
            yield from ((passed, None) for passed in passed_otherwise(task))
            yield from ((task, motion) for motion in cheap_starts(task, self.settings.cheap))
        if thorough:
            yield from ((task, motion) for motion in bends(task))

    def with_all_knots(self, task: MoveProblem, first: Attempt) -> Attempt:
        """From a motion with few knots to the plan."""
        s = self.settings
        if not (first.nearly or (first.ok and first.near)) or self.late:
            return first
        start = carried(first.result, first.motion, task)
        fine = self.solve(task, start, s.coarse, s.middle)
        if not fine.ok and not self.late:  # the multipliers of few knots may mislead
            fine = best_of([fine, self.solve(task, task.guess(first.motion), s.coarse, s.middle)])
        exact = [] if self.is_smooth(task) else self.turned(task, fine)
        found = self.finished([fine, *exact])
        lost = first.runs and not (found.runs and found.value < first.value + s.gain * found.size)
        return first.accepted() if lost else found

    def is_smooth(self, task: MoveProblem) -> bool:
        """Whether losses and supply have no corners."""
        slacks = task.driven.supply.slacks(len(task.robot.drivetrain.drives))
        return not slacks and default_smooth(task.robot) == Smooth()

    def direct(self, task: MoveProblem, known: Trajectory | None) -> Attempt | None:
        """At once with all knots, where there are no corners and no free passing times; from
        another start too where few knots tell that it leads to less. None where there are, or where
        that leads to no motion within all limits. Closed loops are always solved so."""
        s, loops = self.settings, bool(task.robot.loops)
        if not loops and (task.legs > 1 or not self.is_smooth(task)):
            return None
        first = self.solve(task, task.guess(known), s.end, s.end)
        found = self.finished([first]) if first.nearly else first
        if loops or not found.runs:
            return found if loops else None
        for start in cheap_starts(task, 1) if known is None and not self.late else ():
            few = self.few(task, start, s.end, s.end)
            if few.nearly and few.value < found.value - s.gain * found.size:
                found = cheapest([found, self.with_all_knots(task, few)])
        return found

    def turned(self, task: Any, known: Attempt) -> list[Attempt]:
        """From smoothed corners to exact laws by fixed modes: every joint moves forward or backward
        in every step, so that joints turn at knots; where that leads to nothing better, slow ones
        stand."""
        s, found = self.settings, [known]
        for slow, stand in s.modes if not self.late else ():
            best = best_of(found)
            modes = directions(best.motion, slow * task.scales.velocity, True)
            fixed = replace(task, directions=modes, standing=standstill(modes) if stand else None)
            start = carried(best.result, best.motion, fixed)
            f = max(s.middle, getattr(best.problem, "f", 0.0))
            found.append(self.solve(fixed, start, f, s.end))
            new = found[-1]
            if self.late or (new.ok and new.nearly and best_of(found) is new):
                break
        return found[1:]

    def finished(self, found: list[Attempt]) -> Attempt:
        """The cheapest of several motions, or what back-off makes of it, that keeps all limits;
        from the first of them where the cheapest leads to none."""
        tried: list[Attempt] = []
        for start in dict.fromkeys((best_of(found), found[0])):
            tried += self.backed_off(start)
            if self.late or any(a.runs for a in tried):
                break
        return cheapest(tried)

    def backed_off(self, best: Attempt) -> list[Attempt]:
        """A motion, and the same with limits tightened where they are exceeded between knots, by
        warm re-solves; also where its search ended before it arrived."""
        s, found = self.settings, [best]
        for _ in range(s.back_offs):
            tighter = tightened_limits(best, s.allowed, s.back_off_power)
            if (best.arrives and not tighter) or self.late:
                break
            task: Any = replace(best.problem, tighter=tighter or best.problem.tighter)
            motion, more = best.motion, {}
            if task.free:
                motion = self.inside(task, motion, best.excess)
                task, last = task.timed_as(motion), s.stages[-1]
                more = {"jerk_time": last.jerk, "time_accuracy": last.accuracy}
                more["stretch"] = task.moving or bool(task.robot.loops)
            start = carried(best.result, motion, task)
            before, best = best, self.solve(task, start, s.end, s.end, **more)
            longer = task.free and best.motion.duration > s.longer * found[-1].motion.duration
            if not best.near or longer:
                break
            found.append(best)
            if not tighter and best.missed > s.no_progress * before.missed:
                break
        return found

    # least time ----------------------------------------------------------------------------------

    def least_time(self, task: MoveProblem, guess: Trajectory | None = None) -> Attempt:
        """The shortest motion found; `runs` tells whether it keeps all limits."""
        s = self.settings
        if task.move.via:
            task = replace(task, N=max(task.N, s.leg_knots * (len(task.move.via) + 1)))
        if not task.moving:
            task = timed(task, s.slower * feasible_cubic(task))
        firsts = [self.few(task, None, s.time_start, s.time_coarse)]
        starts = [] if task.robot.loops else short_starts(task, s.short, s.bends)
        for start in starts if guess is None else [guess, *starts]:
            if self.late:
                break
            mine = timed(task, s.slower * start.duration) if not task.moving else task
            firsts.append(self.few(mine, start, s.time_bent, s.time_coarse))
        best = self.shortest(task, soonest(firsts, s.slowest_coarse), firsts)
        over_mean = not best.runs and (
            best.only_means or (best.worst is not None and best.worst.limit in MEANS)
        )
        return self.bracketed(task, best) if over_mean and not self.late else best

    def bracketed(self, task: MoveProblem, failed: Attempt) -> Attempt:
        """The shortest of the least-energy motions of given durations, by bisection: where limits
        of means are so tight that joints must stand for a part of the time, a free duration leads
        to none."""
        s, energy = self.settings, replace(self, weights=Weights(energy=1.0))
        at = lambda duration: energy.least_energy(replace(timed(task, duration), free=False))
        low, found = task.duration, None
        for _ in range(s.doublings):
            found = at(2.0 * low)
            if found.runs or self.late:
                break
            low *= 2.0
        if found is None or not found.runs:
            return failed
        for _ in range(s.halvings):
            if self.late:
                break
            middle = float(np.sqrt(low * found.motion.duration))
            tried = at(middle)
            low, found = (low, tried) if tried.runs else (middle, found)
        return replace(found, result=found.result.as_feasible(), cost=found.motion.duration)

    def shortest(self, task: MoveProblem, best: Attempt, known: list[Attempt]) -> Attempt:
        """From a motion with few knots to one with all of them and exact laws. known: motions to
        fall back on."""
        s, found = self.settings, list(known)
        smooth = default_smooth(task.robot) == Smooth()
        stages = [replace(x, fixed=0.0) for x in s.stages if x.polish] if smooth else s.stages
        stages = s.stages[:1] if task.robot.loops else [*stages, *[stages[-1]] * s.polishes]
        for place, stage in enumerate(stages):
            before = best.motion.duration
            new = self.staged(task, best, stage)
            found.append(new)
            if new.near and new.motion.duration < s.longer * before:
                best = new
            polished = place >= len(stages) - s.polishes - 1
            if self.late or (polished and best.motion.duration > (1.0 - s.gain) * before):
                break
        found += self.backed_off(best)
        return self.first_feasible(found)

    def first_feasible(self, found: list[Attempt]) -> Attempt:
        """The shortest motion that keeps all limits, run slower where it must be."""
        best: Attempt | None = None
        for tried in sorted(found, key=lambda a: a.motion.duration):
            if best is not None and tried.motion.duration >= best.motion.duration:
                break
            slow = self.slowed(tried)
            if slow.runs and (best is None or slow.motion.duration < best.motion.duration):
                best = slow
        return (best or found[-1]).accepted()

    def staged(self, task: Any, known: Attempt, stage: Stage) -> Attempt:
        """With all knots from a known motion, run so slowly that it keeps its limits, and
        directions fixed as the stage asks for."""
        motion = self.inside(task, known.motion)
        task = replace(task.timed_as(motion), directions=None)
        start = carried(known.result, motion, task)
        if stage.fixed:
            slow = stage.fixed * task.scales.velocity
            modes = directions(task.trajectory(start), slow, stage.turning)
            task = replace(task, directions=modes)
            if stage.turning:
                task = replace(task, standing=standstill(modes))
        settings = {
            "warm_barrier": stage.barrier,
            "jerk_time": stage.jerk,
            "time_accuracy": stage.accuracy,
            "stretch": task.moving or bool(task.robot.loops),
        }
        return self.solve(task, start, stage.start, stage.end, **settings)

    def inside(self, task: MoveProblem, motion: Trajectory, room: float = 0.0) -> Trajectory:
        """The motion run so slowly that it keeps its limits at knots with some room, as a start."""
        if task.moving or task.robot.loops:
            return motion
        return run_slower(task.robot, motion, -room, self.settings.slowest, 2) or motion

    def slowed(self, found: Attempt) -> Attempt:
        """The motion, run slower where that makes it keep all limits."""
        s = self.settings
        if found.runs or found.problem.moving or not found.near or found.problem.robot.loops:
            return found
        slower = run_slower(found.problem.robot, found.motion, s.allowed, s.slowest)
        return found if slower is None else replace(found, motion=slower, cost=slower.duration)


def smoothing_alone(task: Any, problem: Problem) -> Callable[..., np.ndarray]:
    """The problem's data for a smoothing parameter, all weights as they are."""
    base = np.array(problem.data)

    def at(f: float, x: np.ndarray, u: np.ndarray, p: np.ndarray) -> np.ndarray:
        base[:, task.driven.first] = f
        return base

    return at

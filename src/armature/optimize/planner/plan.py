"""From a starting motion to a plan: solve, sharpen the corners of friction and gears, and refine until limits hold between knots.

Corners (dry friction, gears by direction of power) are first rounded widely, which always converges. Then
- joints with dry friction keep the directions found, and the law is exact (dry.py);
- for lossy gears the width is narrowed step by step, each solve starting from the last (gears.py).
What counts is the exact law: of all motions met, the one with the least exact cost is the plan. Finer knots, limits drawn in and tasks
a little changed start from what is known, motion and multipliers (carry.py).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armature.drive import Regenerative, Smooth
from armature.dynamics.compiled import kinetic_energy, potential_energy
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import MEANS, Margin, margins
from armature.optimize.planner.calm import calmed, eased, held_inside, jagged
from armature.optimize.planner.dry import (
    KEPT,
    NARROW,
    directed,
    directions,
    exact_friction,
    keeps_directions,
    kept_directions,
    next_to_rest,
)
from armature.optimize.planner.effort import solve, spent
from armature.optimize.planner.gears import NARROWEST, greatest_power, narrow, narrowed, narrowed_outline, standing
from armature.optimize.planner.outline import outlined
from armature.optimize.planner.refine import ENOUGH, FINEST, cures_of, turns_at
from armature.optimize.planner.rests import rested, stands
from armature.optimize.problem.interrupt import interrupted
from armature.optimize.problem.problem import Guess
from armature.optimize.problem.result import Iteration, Result, Status
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.carry import Known, carried
from armature.optimize.transcription.driven import Supply, Weights
from armature.optimize.transcription.move import MoveProblem, default_smooth
from armature.robot.model import Robot
from armature.simulate.flows import drives_at
from armature.simulate.ledger import motion_steps

RESTING = 1e-7  # rad or m over the whole motion, which is rounding
SAME = 1e-6  # of the duration
ROUGH = 2e-2  # tolerance of a solve that only has to find the directions
EXACT = Options(tolerance=1e-6, iterations=200)  # of a plan; at 1e-5 cheap motions of small arms cost up to some per cent more
NEAR = 1e-6  # barrier to start with from a neighbour's multipliers
MENDED = 1e-4  # the same where limits are drawn in or there are more knots, which changes what is active
PATIENCE = 40  # iterations from a neighbour's multipliers, before the search begins anew
DEARER = 1e-3  # of the cost: what a motion may cost more that keeps its limits between knots, where its search or cures have not ended
IDLE = 1e-3  # of a limit of a mean: drawing it in that changes less than this is given up
LITTLE = 0.9  # of what was exceeded: a cure that leaves more has done little
VAIN = 4  # cures after each other that do little, after which there are no more
MOST = 10  # cures of a motion that exceeds limits between knots
WHIRLS = 30.0  # times the joint cubic's greatest speed: a search that runs away
BLURRED = 1.0  # rad or m from knot to knot: what happens in between is anybody's guess
NEARLY = 0.1  # of a limit: what exceeds it by more is no start
ARRIVED = 1e-6  # rad or m, and rad/s or m/s
MISSED = 1e-3  # of the scaled rows: what a motion found roughly may miss


@dataclass(frozen=True, eq=False)
class Attempt:
    """A problem, its result and the motion. exact: its cost, J or s, or how to find it.  note: what is to be said of how it was found."""

    problem: MoveProblem
    result: Result
    motion: Trajectory
    exact: float | Callable[[], float]
    note: str = ""

    @cached_property
    def value(self) -> float:
        """The exact cost, J or s."""
        return self.exact() if callable(self.exact) else self.exact

    @cached_property
    def margins(self) -> list[Margin]:
        """The margins of all limits, between knots too, the smallest first."""
        rows = margins(self.problem.robot, self.motion).values()
        return sorted((m for row in rows for m in row.values()), key=lambda m: m.fraction)

    @property
    def worst(self) -> Margin | None:
        """The smallest margin of all limits; None without limits."""
        return self.margins[0] if self.margins else None

    @property
    def hot(self) -> bool:
        """Whether what the motion exceeds most is the limit of a mean, by the exact law."""
        return bool(self.problem.driven.means) and self.worst is not None and self.worst.limit in MEANS and self.worst.fraction < -ENOUGH

    @property
    def sharp(self) -> bool:
        """Whether its corners are sharp: directions are kept, or gears' corners narrow."""
        return self.problem.directions is not None or bool(self.problem.driven.smooth.power)

    @property
    def ok(self) -> bool:
        """Whether the search ended at an optimum."""
        return self.result.ok

    @property
    def meets(self) -> bool:
        """Whether the search ended at an optimum which meets its rows, nearly: what a loose tolerance accepts may miss even its ends."""
        return self.ok and self.result.iterations[-1].violation <= MISSED

    @property
    def whirls(self) -> bool:
        """Whether a joint whose speed nothing limits turns far faster than the joint cubic: the search gained by ever faster turns."""
        return WHIRLS < self.haste.max(initial=0.0) < np.inf and self.result.status is not Status.INFEASIBLE

    @property
    def blurred(self) -> bool:
        """Whether a joint that whirls turns by more than its knots can tell."""
        return bool(np.abs(np.diff(self.motion.q, axis=0)).max() > BLURRED) and self.whirls

    @property
    def haste(self) -> np.ndarray:
        """(n,) greatest speeds of joints without a limit of their speed, as multiples of the joint cubic's; 0 for all others."""
        problem = self.problem
        slow = np.abs(problem.cubic(np.linspace(0.0, problem.duration, 101))[1]).max(0)
        loose = np.array([not np.isfinite(problem.driven.joint_limit(name, "velocity")) for name in problem.robot.joint_names])
        return np.where(loose, np.abs(self.motion.v).max(0) / np.maximum(slow, 1e-3 + 0.1 * slow.max()), 0.0)

    @property
    def runs(self) -> bool:
        """Whether the motion does the task and keeps all limits, however the search ended."""
        torn = self.problem.robot.loops and any(v.name.startswith("the dynamics") for v in self.result.violations)
        return not torn and self.missed < ARRIVED and (self.worst is None or self.worst.fraction >= -ENOUGH)

    @property
    def beside(self) -> float:
        """By what the motion misses the places where it has to begin, pass and end, rad or m."""
        return float(np.abs(self.motion.q[[0, *self.problem.knots]] - self.problem.points).max())

    @property
    def missed(self) -> float:
        """By what the motion misses its task's places and end velocities, and places its accelerations, rad or m, rad/s or m/s."""
        task, motion = self.problem, self.motion
        if not np.all(np.isfinite(motion.q)):
            return np.inf
        at = [0, *task.knots]
        off = [np.array(self.beside), *(motion.v[at[k]] - v for k, v in task.speeds.items())]
        off += [] if task.robot.loops else defects(motion)
        return max(float(np.abs(x).max()) for x in off)

    @property
    def losses(self) -> float:
        """What became heat, J: what was drawn and not stored (a bus's capacitor is full only in passing)."""
        q, v, robot = self.motion.q[[0, -1]], self.motion.v[[0, -1]], self.problem.robot
        stored = np.diff(kinetic_energy(robot, q, v))[0] + np.diff(potential_energy(robot, q))[0]
        return self.value - float(stored)

    @property
    def nearly(self) -> bool:
        """Whether no limit is exceeded by much."""
        return bool(np.isfinite(self.value)) and (self.worst is None or self.worst.fraction >= -NEARLY)

    def anyhow(self) -> Attempt:
        """This; where the search has not ended and the motion can be run, with a status that says so."""
        if self.ok or not self.runs:
            return self
        return replace(self, result=replace(self.result, status=Status.FEASIBLE))


@dataclass(frozen=True, eq=False)
class Planner:
    """What all solves of one plan share. weights: the cost.  deadline: of the clock `time.perf_counter`, s.

    budget: of what searches count (`effort.spent`), s, looked at between solves.
    thorough: whether narrow corners of dry friction are tried too (dry.py); None: where that may save much.
    met: where to keep all motions of the duration asked for, however their searches ended; None: nowhere."""

    weights: Weights
    options: Options | None = None
    callback: Callable | None = None
    deadline: float | None = None
    budget: float | None = None
    thorough: bool | None = False
    met: list[Attempt] | None = None

    def left(self) -> float | None:
        """Seconds left, None without a deadline; none after Ctrl-C."""
        if interrupted():
            return 0.0
        return None if self.deadline is None else max(0.0, self.deadline - time.perf_counter())

    @property
    def late(self) -> bool:
        """Whether the time is used up."""
        return self.left() == 0.0 or (self.budget is not None and spent() > self.budget)

    @property
    def precise(self) -> Options:
        """Of solves whose motion may be the plan."""
        return self.options or EXACT

    def attempt(
        self,
        problem: MoveProblem,
        start: Guess | Result,
        options: Options | None = None,
        weights: Weights | None = None,
        rigid: bool = False,
    ) -> Attempt:
        """One solve, judged by the exact law. options, weights: other ones than the plan's.  rigid: ends when its rows begin to stretch."""
        watch = self.unless_stretched if rigid else self.callback
        result = solve(problem.problem(weights or self.weights), start, options or self.options, watch, self.left())
        motion = settled(problem.trajectory(result)) if problem.driven.dry and not problem.robot.loops else problem.trajectory(result)
        found = Attempt(problem, result, motion, lambda: self.value(problem, motion))
        if self.met is not None and not problem.free:
            self.met.append(found)
        # what gains by ever faster turns is no optimum, even where a search ends there
        return replace(found, result=replace(result, status=Status.STALLED)) if found.ok and found.blurred else found

    def unless_stretched(self, line: Iteration) -> bool:
        """Ends a search from a neighbour when its rows begin to stretch: another way is quicker then."""
        return line.elastic or bool(self.callback and self.callback(line))

    def value(self, problem: MoveProblem, motion: Trajectory) -> float:
        """Exact cost of a motion: its duration where time is what counts, else the net energy from the supply."""
        return motion.duration if self.weights.time else net_energy(problem.robot, motion, problem.driven.supply)

    # a plan -----------------------------------------------------------------------------------------------------------------

    def plan(self, problem: MoveProblem, guess: Trajectory | Known | None = None) -> tuple[Attempt, list[str]]:
        """The best motion from a starting motion or an earlier plan, and what happened on the way."""
        return self.cured(self.near(problem, guess) if isinstance(guess, Known) else self.best(problem, guess))

    def cured(self, best: Attempt) -> tuple[Attempt, list[str]]:
        """The same with limits kept between knots too, and what happened on the way."""
        notes, most, idle = [best.note] if best.note else [], MOST, 0
        while best.ok and not self.late and (worst := best.worst) and worst.fraction < -ENOUGH:
            if (cooler := rested(self, best, worst, 0.5 * greatest_power(best.problem))) is not None:
                best = cooler
                notes.append(stands(worst))
                continue
            rough = jagged(best, worst, idle > 0)
            if rough and (calm := calmed(self, best, worst)) is not None:
                (best, note), idle = calm, 0
                notes.append(note)
                continue
            better, note = self.first_of(list(cures_of(best, worst)) if len(notes) < most else [], best, worst, not rough)
            if not (note and better.ok):
                break
            most += MOST if better.problem.dense and not best.problem.dense else 0
            enough = worst.fraction + IDLE if worst.limit in MEANS else LITTLE * worst.fraction
            idle = idle + 1 if better.worst is not None and better.worst.fraction < enough else 0
            best = better
            notes.append(note)
            if idle and (kept := self.at_hand(best)) is not None:
                best = kept
            elif idle and (worst.limit in MEANS or idle == VAIN):
                break
        return best, notes

    def at_hand(self, best: Attempt) -> Attempt | None:
        """The cheapest motion met that keeps all limits and costs hardly more than one that does not; None where there is none."""
        most, T = best.value + DEARER * abs(best.value), best.motion.duration
        met = [a for a in self.met or () if a.ok and abs(a.motion.duration - T) < SAME * T and a.value <= most]
        return next((a for a in sorted(met, key=lambda a: a.value) if a.runs and not a.whirls), None)

    def first_of(self, cures: list[tuple[MoveProblem, str]], best: Attempt, worst: Margin, inside: bool) -> tuple[Attempt, str]:
        """The first cure that leads to a motion, from the multipliers; where none does, limits inside the steps too, if `inside` says that
        this is to be tried, or that with the most knots, from the motion alone."""
        for finer, note in cures:
            better = self.on_and_on(finer, best)
            if not better.ok and finer.outset != best.problem.outset and not self.late:
                better = self.best(finer, best.motion, False)
            if better.ok or self.late:
                return better, note
        denser = held_inside(self, best, worst) if inside else None
        if denser is not None or not cures:
            return denser or (best, "")
        most = max(reversed(cures), key=lambda cure: cure[0].N)
        # where a joint turns the law jumps inside a step, however short that is
        for finer, note in (cures[0], most) if turns_at(best.motion, worst) and most is not cures[0] else (most,):
            better = self.best(finer, best.motion, False)
            if better.ok or self.late:
                return better, note
        return best, ""

    def on_and_on(self, problem: MoveProblem, best: Attempt) -> Attempt:
        """The same; a search that has not ended goes on once where its motion can be run, which is enough where that costs no more."""
        better = self.again(problem, best)
        if better.ok or self.late or not better.runs:
            return better
        further = self.again(problem, better)
        better = further if further.ok or (further.runs and further.value < better.value) else better
        return better.anyhow() if better.value <= best.value + DEARER * abs(best.value) else better

    def again(self, problem: MoveProblem, best: Attempt) -> Attempt:
        """The same motion with more knots or tighter limits, from its multipliers."""
        start = carried(best.result, best.motion, problem)
        slow = (problem.smooth or problem.driven.smooth).velocity
        known = None
        if keeps_directions(best.problem):
            known = kept_directions(problem, problem.trajectory(start), slow)
        elif problem.outset:
            known = next_to_rest(problem, problem.trajectory(start))
        barrier = NEAR if self.weights.time else MENDED
        options = replace(self.precise, warm_barrier=barrier, iterations=PATIENCE if problem.N != best.problem.N else 2 * PATIENCE)
        return self.attempt(replace(problem, directions=known), start, options, rigid=True)

    def near(self, problem: MoveProblem, known: Known) -> Attempt:
        """From an earlier plan of a neighbouring task: its motion, multipliers, directions and knots; from its motion where that fails."""
        if known.fits(problem):
            finer = replace(problem, N=max(problem.N, min(len(known.result.u), FINEST)))
            start = carried(known.result, known.motion, finer)
            smooth = problem.driven.smooth
            if smooth.power:
                finer = replace(finer, smooth=narrow(smooth, 0.5 * greatest_power(problem), 2 * NARROWEST))
            elif smooth.velocity:
                slow, width = NARROW if self.thorough else KEPT
                finer = replace(finer, smooth=replace(smooth, velocity=width * smooth.velocity))
                finer = replace(finer, directions=directions(finer.trajectory(start), slow * smooth.velocity))
            found = self.attempt(finer, start, replace(self.precise, warm_barrier=NEAR, iterations=PATIENCE))
            if found.ok or self.late:
                return found
        found = self.best(problem, known.motion)
        return found if found.ok or self.late else self.best(problem)

    def best(self, problem: MoveProblem, guess: Trajectory | None = None, narrow: bool = True) -> Attempt:
        """Solve once, sharpen corners where there are any, keep the best. narrow: whether a thorough search may try narrow corners."""
        smooth = problem.driven.smooth
        power = greatest_power(problem) if smooth.power else 0.0
        rounded = replace(problem, smooth=replace(smooth, power=0.5 * power), directions=None)
        # where directions are kept afterwards, the rounded problem need not be solved to the last digit
        rough = replace(self.precise, tolerance=ROUGH) if smooth.velocity and not smooth.power else None
        outline = outlined(self, rounded, guess, rough) if rough else None
        if outline is not None and (exact := exact_friction(self, outline, self.thorough if narrow else False)):
            return choose(exact)
        if smooth.power and not self.weights.time and (sharp := narrowed_outline(self, rounded, guess)):
            return choose([*sharp, *standing(self, problem, guess, 0.5 * power)])
        first = self.attempt(rounded, problem.guess(guess), rough)
        if not first.ok and not self.late and self.weights == Weights(energy=1.0) and only_copper(problem):
            first = self.attempt(rounded, problem.guess(guess), weights=Weights(heat=1.0))
        if not first.ok and not self.late:
            calm = eased(self, rounded, guess)
            first = first if calm is None or (calm.note and first.whirls) else calm
        found = [first]
        if first.ok and not self.late:
            if smooth.power:
                found += narrowed(self, first)
                found += standing(self, problem, guess, 0.5 * power)
            elif smooth.velocity:
                found = exact_friction(self, first, self.thorough if narrow else False) or [self.attempt(rounded, first.result)]
        return choose(found)

    def as_it_is(self, problem: MoveProblem, result: Result) -> Attempt:
        """A result that was not searched for."""
        motion = problem.trajectory(result)
        return Attempt(problem, result, motion, lambda: self.value(problem, motion))

    def directed(self, attempt: Attempt, weights: Weights | None = None) -> Attempt:
        """The same with the directions of motion kept: dry friction has no corner then, but for joints that creep, which it may hold."""
        return directed(self, attempt, *KEPT, weights)


def net_energy(robot: Robot, motion: Trajectory, supply: Supply, points: int = 1200) -> float:
    """What the ledger calls energy, without the rest of its books, J. points: in time, at least."""
    steps = motion_steps(robot, motion, points)
    account = supply.account(steps.dt, drives_at(robot, steps.tau, steps.v, steps.a).together.power)
    return float(np.sum(account.drawn) - np.sum(account.returned))


def only_copper(problem: MoveProblem) -> bool:
    """Whether all that a motion costs is its copper heat and what both ends fix, kinetic and potential energy.

    Least heat is then least energy. Where the heat is small against the power that swings to and fro, the sum of that power over the
    steps is too rough to search with, and the heat alone is not.
    """
    train, supply = problem.robot.drivetrain, problem.driven.supply
    frictions = (*train.frictions, *(drive.friction for drive in train.drives))
    drags = any(part.viscous for part in (*frictions, *(drive.motor for drive in train.drives)))
    returns = isinstance(supply, Regenerative) and supply.efficiency == 1.0
    return returns and default_smooth(problem.robot) == Smooth() and not drags and all(train.driven)


def defects(motion: Trajectory) -> list[np.ndarray]:
    """(N, n) each: by what places and speeds at knots differ from those that straight accelerations lead to, rad or m, rad/s or m/s."""
    h, (a0, a1), (v0, v1) = np.diff(motion.t)[:, None], (motion.a[:-1], motion.a[1:]), (motion.v[:-1], motion.v[1:])
    return [np.diff(motion.q, axis=0) - h * (v0 + h * (2 * a0 + a1) / 6), v1 - v0 - h * (a0 + a1) / 2]


def settled(motion: Trajectory) -> Trajectory:
    """The motion with joints at rest that only creep, by rounding: the sign of nothing must not decide on which side friction stands."""
    still = np.ptp(motion.q, axis=0) < RESTING
    if not still.any():
        return motion
    return replace(motion, q=np.where(still, motion.q[0], motion.q), v=np.where(still, 0.0, motion.v), a=np.where(still, 0.0, motion.a))


def choose(found: list[Attempt]) -> Attempt:
    """The best of those that ended at an optimum, which is not too hot by the exact law if one is not; the first where none did."""
    good = [a for a in found if a.ok]
    if len(good) > 1:
        good = sorted((a for a in good if np.isfinite(a.value)), key=lambda a: a.value)
        good = [next((a for a in good if not a.hot), good[0])] if good else []
    return good[0] if good else found[0]

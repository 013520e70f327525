"""From a starting motion to a plan: solve, sharpen the corners of friction and gears, and refine until limits hold between knots.

Corners (dry friction, gears by direction of power) are first rounded widely, which always converges. Then
- joints with dry friction keep the directions found, and the law is exact;
- for lossy gears the width is narrowed step by step, each solve starting from the last.
What counts is the exact law: of all motions met, the one with the least exact cost is the plan.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.drive import Smooth, stack
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.certify import ALLOWED, Margin, margins
from armature.optimize.driven import Supply, Weights
from armature.optimize.interior import Options, solve
from armature.optimize.move import MoveProblem
from armature.optimize.problem import Guess
from armature.optimize.result import Result
from armature.robot.model import Robot
from armature.simulate.ledger import flow_of, motion_steps

FINEST = 400  # knots up to which a plan is refined
SMALL = 3e-3  # violation between knots that is cured by tighter limits instead of more knots
NARROWEST = 2e-4  # last width of a gear's corner, as a fraction of the motion's greatest power
STILL = 1e-9  # rad or m
EASING = (3.0, 1.0, 0.3, 0.1, 0.03)  # prices of acceleration, as parts of the joint cubic's energy
ROUGH = 1e-4  # tolerance of a solve that only has to find the directions


@dataclass(frozen=True, eq=False)
class Attempt:
    """A problem, its result and the motion. value: its exact cost, J or s."""

    problem: MoveProblem
    result: Result
    motion: Trajectory
    value: float

    @property
    def ok(self) -> bool:
        """Whether the search ended at an optimum."""
        return self.result.ok


@dataclass(frozen=True, eq=False)
class Planner:
    """What all solves of one plan share. weights: the cost.  deadline: of the clock `time.perf_counter`, s."""

    weights: Weights
    options: Options | None = None
    callback: Callable | None = None
    deadline: float | None = None

    def left(self) -> float | None:
        """Seconds left, None without a deadline."""
        return None if self.deadline is None else max(0.0, self.deadline - time.perf_counter())

    @property
    def late(self) -> bool:
        """Whether the time is used up."""
        return self.left() == 0.0

    def attempt(
        self, problem: MoveProblem, start: Guess | Result, options: Options | None = None, weights: Weights | None = None
    ) -> Attempt:
        """One solve, judged by the exact law. options, weights: other ones than the plan's."""
        result = solve(problem.problem(weights or self.weights), start, options or self.options, self.callback, self.left())
        motion = problem.trajectory(result)
        return Attempt(problem, result, motion, self.value(problem, motion))

    def value(self, problem: MoveProblem, motion: Trajectory) -> float:
        """Exact cost of a motion: its duration where time is what counts, else the net energy from the supply."""
        return motion.duration if self.weights.time else net_energy(problem.robot, motion, problem.driven.supply)

    # a plan -----------------------------------------------------------------------------------------------------------------

    def plan(self, problem: MoveProblem, guess: Trajectory | None = None) -> tuple[Attempt, list[str]]:
        """The best motion from a starting motion, and what happened on the way."""
        best = self.best(problem, guess)
        notes: list[str] = []
        while best.ok and not self.late and (worst := worst_margin(problem.robot, best.motion)) and worst.fraction < -ALLOWED:
            finer, note = finer_problem(best.problem, worst)
            if len(notes) >= 6 or not note:
                break
            better = self.best(finer, best.motion)
            if not better.ok:
                break
            best = better
            notes.append(note)
        return best, notes

    def best(self, problem: MoveProblem, guess: Trajectory | None = None) -> Attempt:
        """Solve once, sharpen corners where there are any, keep the best."""
        smooth = problem.driven.smooth
        power = greatest_power(problem) if smooth.power else 0.0
        rounded = replace(problem, smooth=replace(smooth, power=0.5 * power), directions=None)
        # where directions are kept afterwards, the rounded problem need not be solved to the last digit
        rough = replace(self.options or Options(), tolerance=ROUGH) if smooth.velocity and not smooth.power else None
        first = self.attempt(rounded, problem.guess(guess), rough)
        if not first.ok and not self.late:
            first = self.eased(rounded, guess) or first
        found = [first]
        if first.ok and not self.late:
            if smooth.power:
                found += self.narrowed(first)
                found += self.standing(problem, guess)
            elif smooth.velocity:
                found.append(self.directed(first))
                if not found[-1].ok:
                    found = [self.attempt(rounded, first.result)]
        return choose(found)

    def eased(self, problem: MoveProblem, guess: Trajectory | None) -> Attempt | None:
        """By way of a price on accelerations, which makes long swinging motions convex and is lowered to nothing; None where it fails."""
        t = np.linspace(0.0, problem.duration, 101)
        q, v, a = problem.cubic(t)
        size = float(np.trapezoid(np.sum(a * a, axis=1), t))
        cost = abs(self.value(problem, Trajectory(t, q, v, a, problem.robot.joint_names)))
        if self.weights.time or size == 0.0:
            return None
        start: Any = problem.guess(guess)
        attempt = None
        for part in (*EASING, 0.0):
            weights = replace(self.weights, acceleration=part * max(cost, 1.0) / size)
            options = self.options if part == 0.0 else replace(self.options or Options(), tolerance=ROUGH, warm_barrier=1e-3)
            attempt = self.attempt(problem, start, options, weights)
            if not attempt.ok:
                return None
            start = attempt.result
        return attempt

    def directed(self, attempt: Attempt, weights: Weights | None = None) -> Attempt:
        """The same with the directions of motion kept: dry friction without a corner."""
        problem = replace(attempt.problem, directions=directions(attempt.motion))
        return self.attempt(problem, attempt.result, replace(self.options or Options(), warm_barrier=1e-4), weights)

    def narrowed(self, attempt: Attempt) -> list[Attempt]:
        """The same with ever narrower corners."""
        widest = attempt.problem.smooth or Smooth()

        def at(f: float) -> MoveProblem:
            return replace(attempt.problem, smooth=replace(widest, power=widest.power * f, velocity=widest.velocity * max(f, 0.05)))

        return list(self.continued(at, attempt, 2 * NARROWEST))

    def continued(self, at: Callable[[float], MoveProblem], start: Attempt, last: float, ratio: float = 0.5) -> Iterator[Attempt]:
        """Solve at(f) for f falling from 1 to `last`, each from the last; smaller steps after a failure."""
        options = replace(self.options or Options(), iterations=40)
        good, f = 1.0, ratio
        while f > last and ratio < 0.9 and not self.late:
            trial = self.attempt(at(f), start.result, options)
            if trial.ok:
                yield trial
                start, good = trial, f
            else:
                ratio = ratio**0.5
            f = good * ratio

    def standing(self, problem: MoveProblem, guess: Trajectory | None) -> list[Attempt]:
        """The same with those joints that need not move held still, where the gears' friction helps to hold."""
        e = problem.ends
        rest = (np.abs(e.q1 - e.q0) < STILL) & (e.v0 == 0) & (e.v1 == 0)
        joints = tuple(int(j) for j in np.flatnonzero(rest) if j in problem.driven.dry)
        if not joints or len(joints) == problem.robot.n or problem.move.via:
            return []
        held = np.zeros((problem.N, problem.robot.n))
        q, v, a = (x[:-1] for x in problem.cubic(np.linspace(0.0, problem.duration, problem.N + 1)))
        held[:, list(joints)] = -np.sign(np.asarray(inverse_dynamics(problem.robot, q, v, a)))[:, list(joints)]
        smooth = replace(problem.driven.smooth, power=0.5 * greatest_power(problem))
        first = self.attempt(replace(problem, smooth=smooth, still=joints, directions=held), problem.guess(guess))
        return [first, *self.narrowed(first)] if first.ok else []


def net_energy(robot: Robot, motion: Trajectory, supply: Supply) -> float:
    """What the ledger calls energy, without the rest of its books, J."""
    steps = motion_steps(robot, motion)
    account = supply.account(steps.dt, stack(flow_of(robot, steps), "power"))
    return float(np.sum(account.drawn) - np.sum(account.returned))


def choose(found: list[Attempt]) -> Attempt:
    """The best of those that ended at an optimum, the first where none did."""
    good = [a for a in found if a.ok and np.isfinite(a.value)]
    return min(good, key=lambda a: a.value) if good else found[0]


def directions(motion: Trajectory) -> np.ndarray:
    """(N, n): which way each joint moves in each step; 0 where it turns or stands."""
    moved = np.diff(motion.q, axis=0)
    turns = motion.v[1:] * motion.v[:-1] < 0
    still = np.abs(moved) < 1e-4 * np.diff(motion.t)[:, None]
    return np.where(turns | still, 0.0, np.sign(moved))


def greatest_power(problem: MoveProblem) -> float:
    """Greatest mechanical power of any joint along the joint cubic, at least 1 W: the scale of a gear's corner."""
    q, v, a = problem.cubic(np.linspace(0.0, problem.duration, 33))
    tau = np.asarray(inverse_dynamics(problem.robot, q, v, a))
    return max(1.0, float(np.abs(tau * v).max()), float((np.abs(tau).mean(0) * np.abs(v).max()).max()))


def worst_margin(robot: Robot, motion: Trajectory, finer: int = 20) -> Margin | None:
    """The smallest margin of all limits, between knots too."""
    return min((m for row in margins(robot, motion, finer).values() for m in row.values()), key=lambda m: m.fraction, default=None)


def finer_problem(problem: MoveProblem, worst: Margin, small: float = SMALL) -> tuple[MoveProblem, str]:
    """A problem whose motion should keep the limit: tighter bounds for violations up to `small`, twice the knots for larger ones."""
    name = f"{worst.limit} of {worst.joint}"
    known = name in (*problem.driven.model.constraint_names, *problem.driven.model.state_names)
    if known and (-worst.fraction <= small or problem.N >= FINEST):
        factor = problem.tighter.get(name, 1.0) * (1.0 + 1.2 * worst.fraction)
        note = f"limit drawn in by {100 * (1 - factor):.2g} %: between knots {worst}"
        return replace(problem, tighter={**problem.tighter, name: factor}), note
    if problem.N >= FINEST:
        return problem, ""
    note = f"refined from {problem.N} to {2 * problem.N} knots: between knots {worst}"
    return replace(problem, N=2 * problem.N, directions=None), note


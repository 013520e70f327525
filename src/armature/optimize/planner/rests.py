"""Joints that stand for a part of a motion, because their drives would become too hot.

Dry friction asks for its current as long as a joint moves, however slowly: a joint that moves faster, in a part of the time, and stands for
the rest heats its motor less. No search with rounded friction finds that, since slow motion costs nothing there. So where a mean (heat or
current over the motion) is exceeded by the exact law, the joint's motion is squeezed into a part of the time as far as that cools it most,
and the search goes on from there with the joint held in the other part: at the start or at the goal, on both sides of the via points, or
in the middle where neither end is at rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from armature.drive import Smooth
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import MEANS, Margin, margins
from armature.optimize.planner.dry import KEPT, directions
from armature.optimize.problem.problem import Problem
from armature.optimize.problem.result import Result
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.move import STANDS, MoveProblem

if TYPE_CHECKING:
    from armature.optimize.planner.plan import Attempt, Planner
    from armature.optimize.transcription.driven import Weights

PARTS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)  # of the time in which the joint moves
CORNER = 0.05  # width of gears' corners, of the first one
PATIENT = Options(tolerance=1e-5, iterations=120)
SHORTEST = 1e-3  # of the duration: what a leg takes at least
HOPELESS = -0.1  # of a limit: what squeezing alone leaves exceeded by more is not cured by the search that follows
HOT = 0.03  # of the limit of a mean: what is exceeded by more is not cured by drawing the limit in
Windows = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class RestingMove(MoveProblem):
    """A move in which joints stand for a part of the time. rests: {joint: ((begin, end), …)} as parts of the knots.

    shares: parts of the duration at which legs end in a starting motion, where rests and via points begin new legs whose durations are
    unknowns; without them the rests are the same parts of the duration as of the knots."""

    rests: Mapping[int, Windows] = field(default_factory=dict)
    shares: tuple[float, ...] = ()

    @cached_property
    def legs(self) -> int:
        """Legs with a free duration of their own."""
        return len(self.shares) or super().legs

    @property
    def leg_ends(self) -> list[int]:
        """The knot at which each leg with a free duration ends."""
        edges = {knot for _, *window in self.steps_at_rest() for knot in window}
        return sorted({*edges, *self.knots} - {0}) if self.shares else super().leg_ends

    def steps(self, duration: float) -> np.ndarray:
        """(N,) lengths of the steps for a motion of this duration, s."""
        if not self.shares:
            return super().steps(duration)
        return np.diff(np.interp(np.arange(self.N + 1), [0, *self.leg_ends], [0.0, *self.shares])) * duration

    @property
    def busy(self) -> float:
        """The part of the duration in which the joint that rests longest moves."""
        t = np.concatenate([[0.0], np.cumsum(self.steps(1.0))])
        rests = dict.fromkeys(self.rests, 0.0)
        for j, first, last in self.steps_at_rest():
            rests[j] += t[last] - t[first]
        return 1.0 - max(rests.values(), default=0.0)

    def timed_as(self, motion: Trajectory) -> MoveProblem:
        """The same with a motion's duration, and its legs', as the first ones."""
        task = super().timed_as(motion)
        ends = replace(self, N=len(motion) - 1).leg_ends
        return replace(task, shares=tuple((motion.t[ends] - motion.t[0]) / motion.duration)) if self.shares else task

    def steps_at_rest(self) -> list[tuple[int, int, int]]:
        """Joint, first step at rest and the one after the last, of every rest."""
        return [(j, round(begin * self.N), round(end * self.N)) for j, windows in self.rests.items() for begin, end in windows]

    def problem(self, weights: Weights) -> Problem:
        """Bounds and data for the solver; with free legs, or where nothing else is known, joints that rest move one way in between."""
        given, own = self.directions, self.one_way()
        known = own if given is None else np.where(own != 0.0, own, given) if self.shares else given
        return super(RestingMove, replace(self, directions=known)).problem(weights)

    def one_way(self) -> np.ndarray:
        """(N, n): which way joints that rest at times move at others, where all their points lie in that direction; 0 elsewhere."""
        found = np.zeros((self.N, self.robot.n))
        for j in self.rests:
            ways = np.sign([*np.diff(self.points[:, j]), *(v[j] for v in (self.ends.v0, self.ends.v1) if abs(v[j]) > STANDS)])
            found[:, j] = ways[0] if np.all(ways == ways[0]) else 0.0
        for j, first, last in self.steps_at_rest():
            found[first:last, j] = 0.0
        return found

    def _leg_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the free durations, s."""
        if not self.shares:
            return super()._leg_bounds()
        return np.full(self.legs, SHORTEST * self.duration), np.full(self.legs, 1e3 * self.duration)

    def _keep_still(self, low: np.ndarray, high: np.ndarray, u: Any) -> Any:
        """Joints at rest have no jerk; where they come to rest, or begin with it, they stand, and all else follows from there."""
        n = self.robot.n
        u_low, u_high = (np.tile(np.asarray(side, dtype=float), (self.N, 1)) for side in super()._keep_still(low, high, u))
        for j, first, last in self.steps_at_rest():
            state = [j, n + j, 2 * n + j]
            u_low[first:last, j] = u_high[first:last, j] = 0.0
            low[first + 1 : last + 1, state], high[first + 1 : last + 1, state] = -np.inf, np.inf
            low[first, state[1:]] = high[first, state[1:]] = 0.0
            if last == self.N:
                low[first, j] = high[first, j] = self.ends.q1[j]
        return u_low, u_high

    def trajectory(self, result: Result) -> Trajectory:
        """The motion, with joints at rest that do not creep by rounding."""
        motion = super().trajectory(result)
        q, v, a = np.array(motion.q), np.array(motion.v), np.array(motion.a)
        for j, first, last in self.steps_at_rest():
            q[first : last + 1, j] = q[first, j]
            v[first : last + 1, j] = a[first : last + 1, j] = 0.0
        return replace(motion, q=q, v=v, a=a)


def overheated(best: Attempt) -> Margin | None:
    """The mean that the motion exceeds most, and by much, where dry friction may be why; None where there is none."""
    problem, worst = best.problem, best.worst
    if worst is None or worst.limit not in MEANS or worst.fraction > -HOT or worst.joint not in problem.robot.joint_names:
        return None
    return worst if problem.robot.joint_names.index(worst.joint) in problem.driven.dry else None


def stands(worst: Margin) -> str:
    """What is said of a joint that stands for a part of the time."""
    return f"{worst.joint} stands for a part of the time: else its {worst}"


def rested(planner: Planner, best: Attempt, worst: Margin, power: float) -> Attempt | None:
    """A motion in which the joint whose mean is exceeded stands for a part of the time; None where that does not help.

    power: the first width of gears' corners, W."""
    problem, robot = best.problem, best.problem.robot
    if worst.limit not in MEANS or worst.joint not in robot.joint_names or f"{worst.limit} of {worst.joint}" in problem.tighter:
        return None
    j = robot.joint_names.index(worst.joint)
    rests = dict(problem.rests) if isinstance(problem, RestingMove) else {}
    if robot.loops or problem.free or j not in problem.driven.dry or j in rests or problem.still:
        return None
    part, left = coolest_part(problem, best.motion, worst, j)
    if left < HOPELESS:
        return None
    widest = problem.driven.smooth
    smooth = replace(widest, power=CORNER * power if widest.power else 0.0, velocity=KEPT[1] * widest.velocity)
    choices = windows(problem, best.motion, j, part)
    tried = (standing_part(planner, best, rests, j, choice, smooth) for choice in choices if not planner.late)
    return min((a for a in tried if a.ok), key=lambda a: a.value, default=None)


def coolest_part(problem: MoveProblem, motion: Trajectory, worst: Margin, j: int) -> tuple[float, float]:
    """In which part of its time joint j moves best, no longer at rest than need be, and what is then left of its limit, as a fraction."""
    squeezes = {part: windows(problem, motion, j, part)[0] for part in PARTS}
    cooled = {part: squeezed(motion, j, rests, stations(problem, motion)) for part, rests in squeezes.items()}
    left = {part: margins(problem.robot, m, 4)[worst.joint][worst.limit].fraction for part, m in cooled.items()}
    most = max(left.values())
    part = max(f for f in PARTS if left[f] >= (0.5 * most if most > 0 else most))
    return part, left[part]


def stations(problem: MoveProblem, motion: Trajectory) -> np.ndarray:
    """Times of start, via points and goal, s after the motion's first knot."""
    return (motion.t - motion.t[0])[[0, *problem.knots]]


def windows(problem: MoveProblem, motion: Trajectory, j: int, part: float) -> list[Windows]:
    """Where joint j may rest when it moves in a part of its time: choices of intervals, s after the motion's first knot."""
    still0, still1 = (abs(v[j]) <= STANDS for v in (problem.ends.v0, problem.ends.v1))
    _, *inner, T = stations(problem, motion)
    if inner:
        before, after = (0.0, (1 - part) * inner[0]), (inner[-1] + part * (T - inner[-1]), T)
        both = tuple(window for window, still in ((before, still0), (after, still1)) if still)
        return [both] if both else [((part * inner[0] / 2, (1 - part / 2) * inner[0]),)]
    found = [((part * T, T),)] if still1 else []
    found += [((0.0, (1 - part) * T),)] if still0 else []
    return found or [((part * T / 2, (1 - part / 2) * T),)]


def standing_part(planner: Planner, best: Attempt, rests: Mapping[int, Windows], j: int, choice: Windows, smooth: Smooth) -> Attempt:
    """The search from a motion whose joint j is squeezed into the time in which it does not rest."""
    problem = best.problem
    times, knots = best.motion.t - best.motion.t[0], len(best.motion) - 1
    motion = squeezed(best.motion, j, choice, stations(problem, best.motion))
    rounded = tuple((begin / knots, end / knots) for begin, end in ((np.abs(times - x).argmin() for x in window) for window in choice))
    known = {f.name: getattr(problem, f.name) for f in fields(MoveProblem)}
    known |= {"smooth": smooth, "directions": directions(motion, KEPT[0] * problem.driven.smooth.velocity)}
    task = RestingMove(**known, rests={**rests, j: rounded})
    return planner.attempt(task, task.guess(motion), PATIENT, rigid=True).anyhow()


def squeezed(motion: Trajectory, j: int, rests: Windows, legs: np.ndarray) -> Trajectory:
    """The motion with joint j at rest in these intervals, and moving by the same curve in what is left of each leg.

    rests, legs (times at which legs begin and end): s after the first knot."""
    t = motion.t - motion.t[0]
    corners, phases = [legs[0]], [legs[0]]
    for a, b in itertools.pairwise(legs):
        for c, d in rests:
            if a <= c < d <= b:  # the curve of the leg, run in the time that is left of it, has come to x where the joint rests
                x = a + (b - a) * (c - a) / (b - a - (d - c))
                corners, phases = [*corners, c, d], [*phases, x, x]
        corners, phases = [*corners, b], [*phases, b]
    phase = np.interp(t, corners, phases)
    near, widths = 1e-9 * t[-1], np.maximum(np.diff(corners), 1e-9 * t[-1])
    slope = (np.diff(phases) / widths)[np.clip(np.searchsorted(corners, t, side="right") - 1, 0, len(widths) - 1)]
    slope[np.any([(c - near <= t) & (t <= d + near) for c, d in rests], axis=0)] = 0.0  # where a rest begins and ends too
    sample = motion(motion.t[0] + np.clip(phase, 1e-12 * motion.duration, (1.0 - 1e-12) * motion.duration))
    q, v, a = np.array(motion.q), np.array(motion.v), np.array(motion.a)
    q[:, j], v[:, j], a[:, j] = sample.q[:, j], slope * sample.v[:, j], slope**2 * sample.a[:, j]
    return replace(motion, q=q, v=v, a=a)

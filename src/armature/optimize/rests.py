"""Joints that stand for a part of a motion, because their drives would become too hot.

Dry friction asks for its current as long as a joint moves, however slowly: a joint that moves faster, in a part of the time, and stands for
the rest heats its motor less. No search with rounded friction finds that, since slow motion costs nothing there. So where a mean (heat or
current over the motion) is exceeded by the exact law, the joint's motion is squeezed into the first or the last part of the time as far as
that cools it most, and the search goes on from there with the joint held in the other part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from armature.drive import Smooth
from armature.motion.trajectory import Trajectory
from armature.optimize.certify import MEANS, Margin, margins
from armature.optimize.dry import KEPT, directions
from armature.optimize.interior import Options
from armature.optimize.move import STANDS, MoveProblem
from armature.optimize.result import Result

if TYPE_CHECKING:
    from armature.optimize.plan import Attempt, Planner

PARTS = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3)  # of the duration in which the joint moves
CORNER = 0.05  # width of gears' corners, of the first one
PATIENT = Options(tolerance=1e-5, iterations=120)


@dataclass(frozen=True, eq=False)
class RestingMove(MoveProblem):
    """A move in which joints stand for a part of the time. rests: {joint: (begin, end)} as parts of the duration, at either end of it."""

    rests: Mapping[int, tuple[float, float]] = field(default_factory=dict)

    def steps_at_rest(self, joint: int) -> tuple[int, int]:
        """First step at rest and the one after the last."""
        begin, end = self.rests[joint]
        return round(begin * self.N), round(end * self.N)

    def _keep_still(self, low: np.ndarray, high: np.ndarray, u: Any) -> Any:
        """Joints at rest have no jerk; where they come to rest, or begin with it, their state is given, and follows from there."""
        n = self.robot.n
        u_low, u_high = (np.tile(np.asarray(side, dtype=float), (self.N, 1)) for side in super()._keep_still(low, high, u))
        for j in self.rests:
            first, last = self.steps_at_rest(j)
            state = [j, n + j, 2 * n + j]
            u_low[first:last, j] = u_high[first:last, j] = 0.0
            low[first + 1 : last + 1, state], high[first + 1 : last + 1, state] = -np.inf, np.inf
            low[first, state] = high[first, state] = (self.ends.q0[j] if first == 0 else self.ends.q1[j], 0.0, 0.0)
        return u_low, u_high

    def trajectory(self, result: Result) -> Trajectory:
        """The motion, with joints at rest that do not creep by rounding."""
        motion = super().trajectory(result)
        q, v, a = np.array(motion.q), np.array(motion.v), np.array(motion.a)
        for j in self.rests:
            first, last = self.steps_at_rest(j)
            q[first : last + 1, j] = q[0, j] if first == 0 else q[first, j]
            v[first : last + 1, j] = a[first : last + 1, j] = 0.0
        return replace(motion, q=q, v=v, a=a)


def rested(planner: Planner, best: Attempt, worst: Margin, power: float) -> Attempt | None:
    """A motion in which the joint whose mean is exceeded stands for a part of the time; None where that does not help.

    power: the first width of gears' corners, W."""
    problem, robot = best.problem, best.problem.robot
    name = f"{worst.limit} of {worst.joint}"
    if worst.limit not in MEANS or worst.joint not in robot.joint_names or name in problem.tighter:
        return None
    j = robot.joint_names.index(worst.joint)
    rests = dict(problem.rests) if isinstance(problem, RestingMove) else {}
    if problem.legs or problem.move.via or robot.loops or problem.free or j not in problem.driven.dry or j in rests or problem.still:
        return None
    if max(abs(problem.ends.v0[j]), abs(problem.ends.v1[j])) > STANDS:
        return None
    left = {part: margins(robot, squeezed(best.motion, j, part, False), 4)[worst.joint][worst.limit].fraction for part in PARTS}
    part = max(left, key=lambda f: left[f])
    if left[part] < 0.0:
        return None
    # no longer at rest than need be, with something to spare
    part = max(f for f in PARTS if left[f] >= 0.5 * left[part])
    widest = problem.driven.smooth
    smooth = replace(widest, power=CORNER * power if widest.power else 0.0, velocity=KEPT[1] * widest.velocity)
    choices = ({**rests, j: (part, 1.0)}, {**rests, j: (0.0, 1.0 - part)})
    tried = (standing_part(planner, best, choice, j, smooth) for choice in choices if not planner.late)
    return min((a for a in tried if a.ok), key=lambda a: a.value, default=None)


def standing_part(planner: Planner, best: Attempt, rests: Mapping[int, tuple[float, float]], j: int, smooth: Smooth) -> Attempt:
    """The search from a motion whose joint j is squeezed into the part of the time in which it does not rest."""
    begin, end = rests[j]
    motion = squeezed(best.motion, j, 1.0 - (end - begin), begin == 0.0)
    known = {f.name: getattr(best.problem, f.name) for f in fields(MoveProblem)}
    known |= {"smooth": smooth, "directions": directions(motion, KEPT[0] * best.problem.driven.smooth.velocity)}
    task = RestingMove(**known, rests=rests)
    return planner.attempt(task, task.guess(motion), PATIENT, rigid=True)


def squeezed(motion: Trajectory, j: int, part: float, late: bool) -> Trajectory:
    """The motion with joint j moving in the first or the last part of the time only, by the same curve."""
    T = motion.duration
    s = (motion.t - motion.t[0] - ((1.0 - part) * T if late else 0.0)) / (part * T)
    moves = (s > 1e-9) & (s < 1.0 - 1e-9)
    sample = motion(motion.t[0] + T * np.clip(s, 1e-12, 1.0 - 1e-12))
    q, v, a = np.array(motion.q), np.array(motion.v), np.array(motion.a)
    q[:, j] = np.where(s >= 1.0 - 1e-9, motion.q[-1, j], np.where(moves, sample.q[:, j], motion.q[0, j]))
    v[:, j] = np.where(moves, sample.v[:, j] / part, 0.0)
    a[:, j] = np.where(moves, sample.a[:, j] / part**2, 0.0)
    return replace(motion, q=q, v=v, a=a)

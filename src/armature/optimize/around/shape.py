"""Motions around obstacles whose shape is optimised too.

From a free motion the move is solved with rows that keep the robot's spheres on the outer sides of
planes (transcription/planes.py). Planes are chosen anew from every free motion that is found, until
the cost does not fall any more: first with few knots, then with all of them. A motion that touches
something tells which spheres need rows besides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.around.reference import Reference
from armature.optimize.certificate.obstacles import clearance
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.pipeline import Pipeline
from armature.optimize.planner.starts import timed
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.plane_rows import GuardedMove
from armature.optimize.transcription.planes import Planes
from armature.robot.model import Robot
from armature.scene.model import Model
from armature.scene.scene import Scene

ROUNDS = 5  # solves with few knots, at most
FINALS = 3  # solves with all knots, at most: each with more rows and wider margins
GAIN = 0.01  # of the cost: planes are chosen anew while a round gains as much
SOFTER = 0.1  # f at the start of all rounds but the first
WIDER = 1.5  # factor on margins where a motion touches something between knots
LEAST = 0.001  # m: margin of a pair that touches between knots, at least


@dataclass(frozen=True, eq=False)
class Shaper:
    """Searches among obstacles. margins: (pairs,) kept between each pair at knots, m."""

    pipeline: Pipeline
    robot: Robot
    scene: Scene
    model: Model
    margins: np.ndarray

    def least_time(self, task: GuardedMove, starts: list[Reference]) -> Attempt | None:
        """The shortest motion found that keeps all limits and is proved free, if any."""
        s = self.pipeline.settings
        if task.move.via:
            task = replace(task, N=max(task.N, s.leg_knots * (len(task.move.via) + 1)))
        finish = lambda problem, first: self.pipeline.shortest(problem, first, [first])
        return self._best(task, starts, (s.time_bent, s.time_coarse), finish)

    def least_energy(self, task: GuardedMove, starts: list[Reference]) -> Attempt | None:
        """The cheapest motion found of the task's duration, as `least_time`."""
        s = self.pipeline.settings
        starts = [replace(start, motion=stretched(start.motion, task.duration)) for start in starts]
        return self._best(task, starts, (s.start, s.coarse), self.pipeline.with_all_knots)

    def _best(self, task, starts, smoothing, finish) -> Attempt | None:
        """The best of what the ways lead to; with all knots from the best one with few, and from
        the next where that leads to nothing."""
        firsts = []
        for start in starts:
            mine = replace(task, passed_first=start.passed) if start.passed else task
            found = self._rounds(mine, start.motion, smoothing)
            firsts += [] if found is None else [found]
            if self.pipeline.late:
                break
        for first in sorted(firsts, key=lambda a: a.value):
            found = self._finished(replace(first.problem, N=task.N), first, finish)
            if found is not None or self.pipeline.late:
                return found
        return None

    def _rounds(
        self, task: GuardedMove, reference: Trajectory, smoothing: tuple[float, float]
    ) -> Attempt | None:
        """With few knots from a free motion to a local optimum that is free too."""
        best: Attempt | None = None
        others: tuple[Trajectory, ...] = ()
        f, end = smoothing
        for _ in range(ROUNDS):
            mine = self._guarded(task, reference, self.margins, others)
            new = self.pipeline.few(mine, reference, f, end)
            f = SOFTER
            if not new.nearly or not self.is_free(new.motion):
                others = (*others, new.motion)[-2:]
            elif best is None or new.value < best.value:
                gained = best is None or new.value < best.value - GAIN * self._size(best)
                best, reference, others = new, new.motion, ()
                if not gained:
                    break
            else:
                break
            if self.pipeline.late:
                break
        return best

    def _finished(self, task: GuardedMove, first: Attempt, finish) -> Attempt | None:
        """With all knots, free between them too."""
        margins, others = self.margins, ()
        for _ in range(FINALS):
            found = finish(self._guarded(task, first.motion, margins, others), first)
            if found.runs and self.is_free(found.motion):
                return found
            if self.pipeline.late:
                break
            others = (*others, found.motion)[-2:]
            margins = np.minimum(np.maximum(WIDER * margins, LEAST), self._room(first.motion))
        return first.accepted() if first.runs else None

    def _room(self, motion: Trajectory) -> np.ndarray:
        """(pairs,) the widest margins that a motion keeps, m."""
        inner = motion(np.linspace(motion.t[0], motion.t[-1], 2 * len(motion))[1:-1]).q
        return np.maximum(self.model.distances(inner, 0.1)[0].min(0), self.margins)

    def _guarded(
        self,
        task: GuardedMove,
        reference: Trajectory,
        margins: np.ndarray,
        others: tuple[Trajectory, ...],
    ) -> GuardedMove:
        planes = Planes(self.robot, self.model, reference, margins, others)
        guarded = replace(task, planes=planes)
        if not task.free or task.moving:
            return guarded
        return timed(guarded, self.pipeline.settings.slower * reference.duration)

    def _size(self, found: Attempt) -> float:
        return found.value if self.pipeline.weights.time else found.size

    def is_free(self, motion: Trajectory) -> bool:
        """Whether a motion is proved free at every instant."""
        if not np.all(np.isfinite(motion.q)):
            return False
        return clearance(self.robot, self.scene, motion).free

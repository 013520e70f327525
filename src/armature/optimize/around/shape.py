"""Motions around obstacles whose shape is optimised too.

From a free motion the move is solved with rows that keep the robot's spheres on the outer sides of
planes (transcription/planes.py). Planes are chosen anew from every free motion that is found, until
the cost does not fall any more: first with few knots, then with all of them. A motion that touches
something tells which spheres need rows besides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.around.reference import Reference
from armature.optimize.certificate.obstacles import clearance
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.pipeline import Pipeline
from armature.optimize.planner.settings import SETTINGS
from armature.optimize.planner.starts import timed
from armature.optimize.transcription.carry import carried
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.plane_rows import GuardedMove
from armature.optimize.transcription.planes import Planes
from armature.robot.model import Robot
from armature.scene.model import Model
from armature.scene.scene import Scene

ROUNDS = 8  # solves with few knots, at most
FINALS = 3  # solves with all knots, at most: each with more rows and wider margins
GAIN = 0.02  # of the cost: planes are chosen anew while a round gains as much
REACH = 0.5  # rad or m: how far a motion may depart from its reference after one that collides
BARRIER, ITERATIONS = 1e-3, 80  # of warm rounds: μ to begin with, and how many at most
WANTED, FINE = 0.01, 0.005  # m: margins with few knots and with all, where there is room
WIDER = 1.5  # factor on them where a motion touches something between knots


# from a motion that was optimised with few knots: directions are fixed at once
AROUND = replace(SETTINGS, stages=(SETTINGS.stages[0], *SETTINGS.stages[2:]), polishes=1)
Finish = Callable[[GuardedMove, Attempt], Attempt]  # from few knots to all of them


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

    def _best(
        self,
        task: GuardedMove,
        starts: list[Reference],
        smoothing: tuple[float, float],
        finish: Finish,
    ) -> Attempt | None:
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
        reach, wanted = np.inf, WANTED
        for _ in range(ROUNDS):
            mine = self._guarded(task, reference, wanted, others)
            new = self._few(replace(mine, reach=reach), reference, best, smoothing)
            depth = self._depth(new)
            if depth > 0.0:
                others = (*others, new.motion)[-2:]
                reach = min(REACH, 0.5 * reach) if depth > WANTED else reach
                wanted = wanted if depth > WANTED else WIDER * wanted
            elif best is None or new.value < best.value - GAIN * self._size(best):
                best, reference, others, reach = new, new.motion, (), 2.0 * reach
            else:
                best = min(best, new, key=lambda a: a.value)
                break
            if self.pipeline.late:
                break
        return best

    def _depth(self, found: Attempt) -> float:
        """How deep a motion is in collision, m; infinite where it is none, 0 where it is proved
        free."""
        if not found.nearly or not np.all(np.isfinite(found.motion.q)):
            return np.inf
        proof = clearance(self.robot, self.scene, found.motion)
        return 0.0 if proof.free else max(-proof.clearance, 1e-9)

    def _few(
        self,
        task: GuardedMove,
        reference: Trajectory,
        known: Attempt | None,
        smoothing: tuple[float, float],
    ) -> Attempt:
        """A solve with few knots: from a free motion, or warm from the best known."""
        pipeline, s, (f, end) = self.pipeline, self.pipeline.settings, smoothing
        if known is None:
            return pipeline.few(task, reference, f, end)
        few = replace(task, N=known.problem.N)
        start = carried(known.result, reference, few)
        rough = {"tolerance": s.coarse_tolerance, "warm_barrier": BARRIER}
        return pipeline.solve(few, start, end, end, **rough, iterations=ITERATIONS)

    def _finished(self, task: GuardedMove, first: Attempt, finish: Finish) -> Attempt | None:
        """With all knots, free between them too."""
        wanted, others = FINE, ()
        for _ in range(FINALS):
            found = finish(self._guarded(task, first.motion, wanted, others), first)
            if found.runs and self.is_free(found.motion):
                return found
            if self.pipeline.late:
                break
            others, wanted = (*others, found.motion)[-2:], WIDER * wanted
        return first.accepted() if first.runs else None

    def _guarded(
        self,
        task: GuardedMove,
        reference: Trajectory,
        wanted: float,
        others: tuple[Trajectory, ...],
    ) -> GuardedMove:
        planes = Planes(self.robot, self.model, reference, self.margins, wanted, others)
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

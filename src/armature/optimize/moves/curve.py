"""`energy_time_curve`: what a move costs at every duration (B8): local minima, resonance, and
whether to hurry and wait on the brake.

Durations are solved one from the other, down and up (sweep.py); near minima the curve is refined.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.notebook import curve_html
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.answer import check_search, check_task
from armature.optimize.moves.least_time import ANY, stays, untimed
from armature.optimize.moves.sweep import FEW as FEW_DURATIONS
from armature.optimize.moves.sweep import Sweep
from armature.optimize.planner.accelerations import with_inferred
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.baseline import baseline
from armature.optimize.planner.baseline import stretched as retimed
from armature.optimize.planner.floor import MARGINS, move_ground, through
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.planner.smoothness import Smoother
from armature.optimize.problem.interrupt import interruptible
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.cover import with_floor
from armature.robot.model import Robot
from armature.scene.floor import Floor

POINTS = 50
FEW = 30  # knots to find the range of durations
STAYING = 0.2  # s: stands for the least time of a move that stays where it is
SPACING = 0.02  # relative accuracy of the spacing at which minima count as evenly spaced
SAME = 1e-9  # of a duration: what is rounding
WORTH = 0.01  # part of the energy that an advice must save


@dataclass(frozen=True, eq=False)
class Curve:
    """Energy against duration.

    durations: (K,) rising, s.  energies: (K,) net energy from the supply, J.  losses: (K,) what
    became heat, J; NaN where there is no plan.
    trajectories: K motions, None where there is no plan; each keeps all limits, and its energy is
    its own, exactly counted.
    minima: ((T, E), ...) local minima of the least energy inside the range, s, with the energy of
    the motion there, J.
    resonance: s, the spacing of the minima where they are evenly spaced (the arm swings), else
    None.  advice: sentences."""

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
        """(T, E) of the cheapest plan on the curve, s and J; NaN where it has none."""
        return min(
            ((float(T), float(E)) for T, E in zip(self.durations, self.energies) if np.isfinite(E)),
            key=lambda point: point[1],
            default=(np.nan, np.nan),
        )

    def wait(self, duration: float) -> tuple[float, float]:
        """(T₁, energy saved): move in T₁ ≤ duration and wait on the brake for the rest, against
        moving for the whole duration."""
        energy = float(np.interp(duration, self.durations, self.energies))
        inside = [
            (E, T)
            for T, E in [*zip(self.durations, self.energies), *self.minima]
            if duration >= T and np.isfinite(E)
        ]
        E, T = min(inside, default=(energy, duration))
        return float(T), energy - float(E)

    def guess(self, duration: float) -> Trajectory | None:
        """The curve's motion of the nearest duration, run in this one (s): where `minimize_energy`
        starts from so that its plan is on the curve's branch. None where there is no motion."""
        near = [
            (abs(np.log(float(T) / duration)), motion)
            for T, motion in zip(self.durations, self.trajectories)
            if motion is not None
        ]
        best = min(near, key=lambda item: item[0], default=None)
        return None if best is None else stretched(best[1], duration)

    def including(self, plan: Solution) -> Curve:
        """The curve with a plan of the same move as one of its points, in place of one of the same
        duration; itself where that one costs less, or the plan does not run."""
        same = np.abs(self.durations - plan.duration) <= SAME * plan.duration
        if not plan.ok or np.any(self.energies[same] <= plan.energy):
            return self
        at = int(np.searchsorted(self.durations, plan.duration)) if not same.any() else -1
        put = lambda row, value: (
            np.where(same, value, row) if same.any() else np.insert(row, at, value)
        )
        motions = [plan.trajectory if s else m for s, m in zip(same, self.trajectories)]
        motions = motions if same.any() else [*motions[:at], plan.trajectory, *motions[at:]]
        return replace(
            self,
            durations=put(self.durations, plan.duration),
            energies=put(self.energies, plan.energy),
            losses=put(self.losses, plan.losses),
            trajectories=tuple(motions),
        )

    _repr_html_ = curve_html

    def __str__(self) -> str:
        rows = [
            f"{T:10.4f} s {E:12.4f} J {L:12.4f} J lost"
            for T, E, L in zip(self.durations, self.energies, self.losses)
        ]
        return "\n".join(
            [*rows, *(f"minimum at {T:.4f} s: {E:.4f} J" for T, E in self.minima), self.advice]
        )


@interruptible
def energy_time_curve(
    robot: Robot,
    task: Move,
    durations: Sequence[float] | None = None,
    supply: Any = None,
    knots: int = 100,
    refine: bool = True,
    callback: Callable | None = None,
) -> Curve:
    """Least energy of a move over its durations.

    durations: s; by default 50 from a little above the least time to five times it.  supply, knots:
    as in `minimize_energy`.
    refine: locate local minima more closely than the durations given.  callback: called with every
    iteration of every solve."""
    check_task(robot, task, timed=False)
    check_search(callback=callback)
    if task.duration is None and any(via.at is not None for via in task.via):
        raise ArgumentError(
            "the passing times of via points are parts of a duration; give the move's own,"
            " Move(..., duration=...)"
        )
    begin = time.perf_counter()
    task = task.in_joints(robot)
    floor = move_ground(robot, task)
    if floor.below is not None:
        raise ArgumentError(str(floor.below))
    T = checked(default_durations(robot, task, supply) if durations is None else durations)
    few = len(T) <= FEW_DURATIONS

    def sweep(robot: Robot, T: np.ndarray) -> Swept:
        of = lambda robot: swept(posed(robot, task, supply, knots), T, refine, callback, few)
        return swept_above(robot, floor.floor, of)

    best, minima = swept_within(robot, task, T, sweep)
    energies = np.array([a.value if a else np.nan for a in best])
    losses = np.array([a.losses if a else np.nan for a in best])
    motions = tuple(a.motion if a else None for a in best)
    resonance = spacing([t for t, _ in minima])
    advice = advise(T, energies, minima, resonance)
    return Curve(
        T, energies, losses, motions, tuple(minima), resonance, advice, time.perf_counter() - begin
    )


Swept = tuple[list[Attempt | None], list[tuple[float, float]]]


def swept(
    problem: MoveProblem, T: np.ndarray, refine: bool, callback: Callable | None, few: bool
) -> Swept:
    """The best motion at every duration, None where there is none, and the minima: where the least
    energy has them, each with what the motion costs that is taken there. few: as in `Sweep`."""
    sweep = Sweep(problem, callback, few)
    best = sweep.both_ways(T)
    minima = sweep.minima(T, best) if refine else []
    if not problem.move.smoothness:
        return best, [(t, attempt.value) for t, attempt in minima]
    along = smoother(sweep, problem.move.smoothness)
    alone = lambda attempt: smoother(sweep, problem.move.smoothness)(attempt)
    each = alone if few else along  # of few, each as a single plan is made
    smooth = [attempt and each(attempt) for attempt in best]
    return smooth, [(t, alone(attempt).value) for t, attempt in minima]


def smoother(sweep: Sweep, smoothness: float) -> Callable[[Attempt], Attempt]:
    """Makes motions as smooth as plans of the same duration are (smoothness.py), each from the
    weight of the one before."""
    smooth = Smoother(sweep.pipeline, smoothness)
    base = lambda attempt: baseline(attempt.problem, attempt.motion.duration).ledger.energy
    return lambda attempt: smooth(attempt, base(attempt))


def swept_within(
    robot: Robot, task: Move, T: np.ndarray, sweep: Callable[[Robot, np.ndarray], Swept]
) -> Swept:
    """The same with inferred limits of acceleration at the durations at which plans have them
    (`accelerations.py`): the longer ones. Where these leave no plan, without them."""
    limits = [
        with_inferred(robot, retimed(task, float(t), task.duration or float(t)))[0] for t in T
    ]
    free = np.array([limited is robot for limited in limits])
    best: list[Attempt | None] = [None] * len(T)
    minima: list[tuple[float, float]] = []
    for limited, which in ((robot, free), (limits[-1], ~free)):
        if not which.any():
            continue
        found, lowest = sweep(limited, T[which])
        for k, attempt in zip(np.flatnonzero(which), found):
            best[k] = attempt
        minima += lowest
    missing = np.array([a is None for a in best]) & ~free
    if missing.any():
        found, lowest = sweep(robot, T[missing])
        for k, attempt in zip(np.flatnonzero(missing), found):
            best[k] = attempt
        minima += lowest
    return best, sorted(minima)


def swept_above(robot: Robot, floor: Floor | None, sweep: Callable[[Robot], Swept]) -> Swept:
    """The same above a floor: once more with its rows where motions go through it; what still does
    is left out."""
    best, minima = sweep(robot)
    if floor is None:
        return best, minima
    guarded = with_floor(robot, floor)
    low = lambda found: [a is not None and through(guarded, a.motion) is not None for a in found]
    for margin in MARGINS[:2]:
        if not any(low(best)):
            return best, minima
        best, minima = sweep(with_floor(robot, floor.keeping(margin)))
    kept = [None if below else a for a, below in zip(best, low(best))]
    durations = np.array([a.motion.duration if a else np.inf for a in best])
    return kept, [
        (t, E) for t, E in minima if kept[int(np.abs(durations - t).argmin())] is not None
    ]


def checked(durations: Any) -> np.ndarray:
    """Durations in order, each once, s; what is none is refused."""
    try:
        T = np.unique(np.asarray(durations, dtype=float))
    except (TypeError, ValueError):
        T = np.empty(0)
    if T.size == 0 or not np.all(np.isfinite(T)) or T[0] <= 0:
        raise ArgumentError(f"durations {durations!r} must be positive, finite numbers, s")
    return T


def default_durations(robot: Robot, task: Move, supply: Any) -> np.ndarray:
    """50 durations, denser at the short end: from 1.05 to 5 times about the least time."""
    least = STAYING if stays(robot, task) else about_least_time(robot, task)
    return np.geomspace(1.05 * least, 5.0 * least, POINTS)


def about_least_time(robot: Robot, task: Move) -> float:
    """The least time by few knots and one start, s."""
    free = posed(robot, replace(task, duration=None, via=untimed(task)), ANY, FEW, free=True)
    pipeline = Pipeline(Weights(time=1.0))
    found = replace(pipeline, settings=replace(pipeline.settings, bends=0)).least_time(free)
    return found.motion.duration


def spacing(times: list[float]) -> float | None:
    """The common spacing of at least three minima, s; None where they are not evenly spaced."""
    if len(times) < 3:
        return None
    gaps = [b - a for a, b in itertools.pairwise(times)]
    mean = float(np.mean(gaps))
    return mean if max(abs(g - mean) for g in gaps) <= SPACING * mean else None


def advise(
    durations: np.ndarray,
    energies: np.ndarray,
    minima: list[tuple[float, float]],
    resonance: float | None,
) -> str:
    """Sentences for the user."""
    good = np.isfinite(energies)
    if not good.any():
        return (
            "No duration of this range is feasible; energy_time_curve without durations chooses"
            " feasible ones."
        )
    candidates = [*zip(durations[good], energies[good]), *minima]
    T1, E1 = min(candidates, key=lambda p: p[1])
    longest, last = float(durations[good][-1]), float(energies[good][-1])
    edge = {float(durations[good][0]): "shortest", longest: "longest"}.get(float(T1))
    words = [f"The cheapest motion takes {T1:.4g} s and {E1:.4g} J."]
    if edge is not None and good.sum() > 1:
        beyond = (
            "shorter" if edge == "shortest" and good[0] else "longer" if edge == "longest" else ""
        )
        more = f"; {beyond} ones may cost less" if beyond else ""
        words = [
            f"The cheapest motion of this range is its {edge}, {T1:.4g} s, with {E1:.4g} J{more}."
        ]
    if last - E1 > WORTH * max(abs(last), 1e-9):
        share = f", {100 * (last - E1) / last:.3g} %" if E1 > 0 else ""
        words.append(
            f"With {longest:.4g} s at hand, move in {T1:.4g} s and wait on the brake for the rest:"
            f" this saves {last - E1:.4g} J{share}."
        )
    if resonance is not None:
        words.append(
            f"The minima are {resonance:.4g} s apart: the arm swings at its own rhythm, and each"
            " minimum is one more oscillation."
        )
    return " ".join(words)

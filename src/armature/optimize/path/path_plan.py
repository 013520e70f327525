"""Plans along a path: least energy at a given duration, least time, or energy and time weighted;
refused with the place and the reason.

The dynamic programme finds the profile globally on a grid, the interior solver makes it exact;
knots are then spread anew where the motion needs them, and doubled while a limit is exceeded
between them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.arrival import Target
from armature.optimize.certificate.certify import FINER, worst_margin
from armature.optimize.certificate.solution import Baseline, Solution
from armature.optimize.path.along_path import (
    Curve,
    Timing,
    knots_along,
    losses_along,
    plain_law,
    plain_timing,
    slowed,
    spread,
    steps_along,
    timing_of,
)
from armature.optimize.path.fastest import duration_of, fastest, straight_rows
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.path.path import PathModel, path_model
from armature.optimize.path.path_refusal import exceeded_between, refusal
from armature.optimize.path.path_start import Scaled, interpolated, jumps, plain, scaled
from armature.optimize.path.phase_plane import Profile, Steps, best_within_means
from armature.optimize.path.straight_time import is_straight, straight_time
from armature.optimize.problem.result import Multipliers, Result, Status
from armature.optimize.solver.interior import Options, solve
from armature.optimize.transcription.instant import instants
from armature.robot.model import Robot
from armature.simulate.ledger import drive_signals, ledger

COARSE = 60  # knots of the dynamic programme
FINEST = 800  # knots up to which a plan is refined
BEYOND = 1.5  # how far beyond the straight limits the dynamic programme looks
CLOSE = 5e-3  # part of a limit exceeded between knots up to which as much of it is left unused
ENERGY_OFF = 2e-3  # of what went through: by what the solver's sum for the energy may be off
# times what is exceeded between knots: left unused of every limit, or where that leads to nothing,
# more
UNUSED = 1.3, 2.5
# by how much a run may be slowed where knots do not help
SLOWER = 0.0, 2e-4, 1e-3, 5e-3, 0.02, 0.1, 0.3, 1.0
HALVINGS = 6  # of the bracket around the least slowing
# share of the knots, against those by time, that lie where p̈ jumps, where time alone counts
SWITCHES = 2.0
QUICKEST = 8.0  # times the cubic's speed, where nothing else limits it


@dataclass(frozen=True)
class Aim:
    """What is minimised: weight × energy + price × time; duration: s where it is given."""

    weight: float = 1.0
    price: float = 0.0
    duration: float | None = None


SHORTEST = Aim(0.0, 1.0)


def plan_path(
    robot: Robot,
    task: FollowPath,
    aim: Aim,
    supply: Any = None,
    knots: int = 100,
    deadline: float | None = None,
    callback: Any = None,
    options: Options | None = None,
) -> Solution:
    """A plan along a path without corners; see `minimize_energy` for the arguments."""
    begin = time.perf_counter()
    search = searching(robot, task, aim, supply, callback, options, deadline, begin)
    if (
        aim == SHORTEST
        and is_straight(robot)
        and (quick := straight_time(search.curve, search.model.step, task.ends, knots)) is not None
    ):
        return search.swept(quick, knots)
    steps = search.steps(knots_along(search.curve, min(knots, COARSE)))
    profile = search.profile(steps)
    run = search.first(steps, profile)
    if run.result.ok and not search.late():
        run = search.adapted(run, knots)
    run, notes = search.kept_inside(run)
    notes += search.hull(profile)
    steps, result, motion = run.steps, run.result, search.motion(run)
    if result.ok:
        diagnosis = exceeded_between(robot, motion, run.timing, steps.N)
    else:
        quick = (lambda: search.shortest_run(steps)) if aim.duration is not None else None
        diagnosis = refusal(search.model, steps, result, aim.duration, quick)
    status = Status.INFEASIBLE if result.ok and diagnosis is not None else result.status
    return Solution(
        robot,
        search.supply,
        status,
        drive_signals(robot, motion),
        lambda: search.baseline(steps, motion.duration),
        None,
        result,
        diagnosis,
        tuple(notes),
        time.perf_counter() - begin,
        ends_of(search.curve, motion),
    )


def ends_of(curve: Curve, motion: Trajectory) -> tuple[Target, ...]:
    """Both ends of a path, at the times at which a motion has to be there."""
    first, last = curve(np.array([0.0, 1.0]))[0]
    return Target("path's beginning", float(motion.t[0]), first), Target(
        "path's end", float(motion.t[-1]), last
    )


def quickest(robot: Robot, task: FollowPath, supply: Any = None, knots: int = 100) -> Timing | None:
    """The profile of the shortest run along a path without corners; None where none was found."""
    search = searching(robot, task, Aim(0.0, 1.0), supply)
    steps = search.steps(knots_along(search.curve, knots))
    run, _ = search.kept_inside(search.first(steps, search.profile(steps)))
    return run.timing if run.result.ok else None


def searching(robot: Robot, task: FollowPath, aim: Aim, supply: Any, *others: Any) -> _Search:
    """A search. Where energy does not count its supply does not matter, and the simplest is
    searched with."""
    counts = bool(aim.weight)
    counted = instants(robot, supply, counted=counts).supply
    model = path_model(instants(robot, counted if counts else "regenerative", counted=counts))
    return _Search(robot, task.curve(robot), task, aim, model, counted, *others)


@dataclass(frozen=True, eq=False)
class _Run:
    """One answer of the interior solver. inside: fraction of every limit that was left unused."""

    steps: Steps
    result: Result
    timing: Timing
    inside: float


@dataclass(frozen=True, eq=False)
class _Search:
    """One search: the curve, the aim and the model."""

    robot: Robot
    curve: Curve
    task: FollowPath
    aim: Aim
    model: PathModel
    supply: Any
    callback: Any = None
    options: Options | None = None
    deadline: float | None = None
    begin: float = 0.0

    def late(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and time.perf_counter() - self.begin > self.deadline

    def steps(self, p: np.ndarray) -> Steps:
        """The path cut at p."""
        return steps_along(self.curve, p, self.task.ends)

    def cubic(self, steps: Steps) -> Timing:
        """The plain profile, of the duration asked for or a guess of it."""
        return plain_timing(self.curve, steps.p, self.aim.duration or self.guess_duration(steps))

    def guess_duration(self, steps: Steps) -> float:
        """What the straight limits need, with half as much on top; a second where there are
        none."""
        found = fastest(steps, straight_rows(self.model.step, steps), 1e3)
        return (
            1.5 * duration_of(steps, found.s)
            if found.blocked < 0 and np.max(found.s) < 999.0
            else 1.0
        )

    def top(self, steps: Steps) -> np.ndarray:
        """(N+1,) the highest speeds worth looking at: somewhat beyond what the straight limits
        allow."""
        cap = QUICKEST * float(np.max(self.cubic(steps).s))
        found = fastest(steps, straight_rows(self.model.step, steps, BEYOND), cap)
        return np.full(steps.N + 1, cap) if found.blocked >= 0 else np.maximum(found.s, 1e-4 * cap)

    def plain(self, steps: Steps) -> Scaled:
        """The plain profile with the durations in which it can be run (K6)."""
        return plain(self.curve, steps.p, self.aim.duration or self.guess_duration(steps))

    def starts(self, steps: Steps, profile: Profile | None) -> Iterator[Timing]:
        """Starting motions by time scaling (K6): the plain profile of the duration asked for, or
        well inside those that the limits allow; the dynamic programme's, which is on its limits and
        therefore harder to start from, then in the duration that they allow it."""
        first, T = self.plain(steps), self.aim.duration
        if T is not None:
            yield first.timing
        else:
            yield from first.inside()
        if profile is not None:
            yield timing_of(profile)
            yield from scaled(self.curve, timing_of(profile)).inside()
        if T is not None:
            yield from first.inside()

    def first(self, steps: Steps, profile: Profile | None) -> _Run:
        """The first answer that is as good as the dynamic programme's, to a twentieth; else the
        best."""
        best: _Run | None = None
        for start in self.starts(steps, profile):
            run = self.run(steps, start)
            if best is None or (
                run.result.ok and (not best.result.ok or run.result.cost < best.result.cost)
            ):
                best = run
            if self.late() or (
                best.result.ok
                and (
                    profile is None or best.result.cost <= self.value(profile) + self.slack(profile)
                )
            ):
                break
        assert best is not None
        return best

    def value(self, profile: Profile) -> float:
        """What a profile of the dynamic programme costs."""
        return self.aim.weight * profile.energy + self.aim.price * profile.duration

    def slack(self, profile: Profile) -> float:
        """How much dearer than the programme's an answer may be before others are tried: limits of
        jerk and torque rate cost something. Measured by what becomes heat; the energy of lifting is
        the same for all."""
        if self.aim.duration is None:
            return 0.05 * abs(self.value(profile))
        return 0.01 * self.aim.weight * abs(losses_along(self.model.at, self.curve, profile))

    def profile(self, steps: Steps) -> Profile | None:
        """The dynamic programme's answer."""
        aim = self.aim
        return best_within_means(
            self.model.step, steps, self.top(steps), aim.duration, aim.price, aim.weight
        )

    def hull(self, profile: Profile | None) -> list[str]:
        """What the dynamic programme could not do, for the notes."""
        if profile is None:
            return [
                "the dynamic programme found no profile on its grid; the interior solver started"
                " from the plain one"
            ]
        rates = (
            ", without limits of jerk and torque rate"
            if any(len(x) for x in self.model.rates)
            else ""
        )
        priced = [
            what
            for what, given in (
                ("the duration", self.aim.duration is not None),
                ("average heat", bool(self.model.step.means)),
            )
            if given
        ]
        if not priced:
            return (
                [f"the search started from the global optimum of a dynamic programme{rates}"]
                if rates
                else []
            )
        met = (
            f"with {' and '.join(priced)} met by Lagrange multipliers, which reach the lower convex"
            " hull only"
        )
        return [f"the search started from a dynamic programme {met}{rates}"]

    def run(self, steps: Steps, start: Timing, inside: float = 0.0) -> _Run:
        """The interior solver's, from a starting motion."""
        left = (
            None
            if self.deadline is None
            else max(0.0, self.deadline - (time.perf_counter() - self.begin))
        )
        problem = self.model.problem(
            steps, start, self.aim.weight, self.aim.price, self.aim.duration, inside
        )
        options = self.options or Options(iterations=200)
        result = solve(problem, self.model.guess(steps, start), options, self.callback, left)
        return _Run(steps, result, self.model.timing(steps, start, result), inside)

    def adapted(self, run: _Run, knots: int) -> _Run:
        """Knots spread anew by this motion's time and the way of its joints, and the answer
        there."""
        fine = np.linspace(0.0, 1.0, 4001)
        t = np.interp(fine, run.timing.p, run.timing.t)
        density = spread(np.maximum(np.diff(t), 1e-12), self.curve, (fine[1:] + fine[:-1]) / 2)
        if self.aim.weight == 0.0:
            density = density + SWITCHES * jumps(run.timing, fine)
        for count in (knots, (knots + run.steps.N) // 2):
            new = self.steps(knots_along(self.curve, count, density))
            again = self.run(new, interpolated(run.timing, new.p), run.inside)
            if again.result.ok or self.late():
                break
        return again if again.result.ok else run

    def kept_inside(self, run: _Run) -> tuple[_Run, list[str]]:
        """While a limit is exceeded between knots, a little more of every limit is left unused, or,
        where much is missing, knots are doubled."""
        notes: list[str] = []
        # how far the energy was off before; more knots that do not help (rounded corners of the
        # drives) are not added
        least = np.inf
        for _ in range(8):
            if not run.result.ok or self.late():
                break
            worst, off = worst_margin(self.robot, self.motion(run)), self.energy_off(run)
            beyond, coarse = (
                0.0 if worst is None else max(0.0, -worst.fraction),
                ENERGY_OFF < off < 0.7 * least,
            )
            if beyond == 0.0 and not coarse:
                break
            again = run
            if 0.0 < beyond < CLOSE and not coarse:
                tried = (
                    self.run(run.steps, run.timing, run.inside + part * beyond + 1e-5)
                    for part in UNUSED
                )
                again = next((found for found in tried if found.result.ok), run)
            if again is run or not again.result.ok:
                again, least = (
                    (self.adapted(run, 2 * run.steps.N) if run.steps.N < FINEST else run),
                    off,
                )
                reason = (
                    f"its energy was off by {100 * off:.2g} %"
                    if coarse
                    else f"between knots {worst}"
                )
                notes += (
                    [f"refined from {run.steps.N} to {again.steps.N} knots: {reason}"]
                    if again is not run
                    else []
                )
            if not again.result.ok or again is run:
                break
            run = again
        return self.unhurried(run), notes

    def unhurried(self, run: _Run) -> _Run:
        """Where the duration is free and a limit is still exceeded between knots, all of it slower:
        the least uniform slowing with which its limits are kept, bracketed and halved (the exact
        one, `time_scaling`'s, takes minutes with so many knots)."""
        keeps = lambda factor: _inside(
            self.robot, slowed(run.timing, factor).trajectory(self.curve), FINER
        )
        if self.aim.duration is not None or not run.result.ok or keeps(1.0):
            return run
        found = next((pair for pair in pairwise(SLOWER) if keeps(1.0 + pair[1])), None)
        if found is None:
            return run
        low, high = 1.0 + found[0], 1.0 + found[1]
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if keeps(middle) else (middle, high)
        return replace(run, timing=slowed(run.timing, high))

    def swept(self, timing: Timing, knots: int) -> Solution:
        """The plan of a run that two sweeps over the path have found, which need no iterations."""
        motion, none = timing.trajectory(self.curve, 1), np.zeros(0)
        result = Result(
            Status.CONVERGED,
            none,
            none,
            none,
            motion.duration,
            none,
            (),
            (),
            Multipliers.none(),
            0.0,
        )
        steps = lambda: self.steps(knots_along(self.curve, knots))
        return Solution(
            self.robot,
            self.supply,
            Status.CONVERGED,
            drive_signals(self.robot, motion),
            lambda: self.baseline(steps(), motion.duration),
            None,
            result,
            None,
            (f"least time by two sweeps over {len(timing.h) - 1} steps of the path",),
            time.perf_counter() - self.begin,
        )

    def energy_off(self, run: _Run) -> float:
        """How far the solver's sum for the energy is from the motion's, as a fraction of what went
        through the drives."""
        if self.aim.weight == 0.0:
            return 0.0
        books = ledger(self.robot, self.motion(run), self.supply)
        claimed = (run.result.cost - self.aim.price * run.timing.t[-1]) / self.aim.weight
        return abs(books.energy - claimed) / max(books.throughput, 1e-9)

    def motion(self, run: _Run) -> Trajectory:
        """The joints' motion."""
        timing = run.timing
        if not np.all(timing.h > 0) or not np.all(np.isfinite(timing.s)):
            timing = self.cubic(run.steps)
        motion = timing.trajectory(self.curve)
        return motion if self.aim.duration is None else motion.lasting(self.aim.duration)

    def baseline(self, steps: Steps, duration: float) -> Baseline:
        """The plain profile along the same path and of the same duration, or in the shortest one
        from there on that keeps the limits."""
        run = self.plain(steps)
        longer = run.scaling.from_duration(duration * (1 + 1e-6))
        feasible, note = bool(np.isfinite(longer)), ""
        if not feasible:
            longer, note = (
                duration,
                f"which breaks limits at this duration and all longer ones: {run.scaling.message}",
            )
        elif longer > duration * (1 + 2e-6):
            note = f"of {longer:.4g} s: at {duration:.4g} s it breaks limits"
        motion, name = run.trajectory(longer), f"{plain_law(self.curve)} along the path"
        return Baseline(
            drive_signals(self.robot, motion),
            ledger(self.robot, motion, self.supply),
            feasible,
            note,
            name,
        )

    def shortest_run(self, steps: Steps) -> tuple[Profile | None, float]:
        """The dynamic programme's shortest profile, and about the least duration, s."""
        task = replace(self.task, path=self.curve)
        search = searching(self.robot, task, SHORTEST, self.supply)
        profile = search.profile(steps)
        run = search.first(steps, profile)
        if run.result.ok:
            return profile, float(run.timing.t[-1])
        return profile, 0.0 if profile is None else profile.duration


def _inside(robot: Robot, motion: Trajectory, finer: int = 2) -> bool:
    """Whether a motion keeps all limits."""
    worst = worst_margin(robot, motion, finer)
    return worst is None or worst.fraction >= 0.0

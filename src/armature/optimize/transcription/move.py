"""Moves made into problems of the solver, and its answers into motions.

The acceleration runs straight between knots (so torques are continuous), costs are taken at two or
three points of every step, limits
at both its ends: the discrete optimum then differs from the continuous one by the fourth power of
the step."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.interpolate import CubicSpline, PPoly

from armature.drive import Smooth, as_supply
from armature.errors import ArgumentError
from armature.memo import memo
from armature.motion.trajectory import ROUNDING, Trajectory
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.problem.result import Result
from armature.optimize.transcription.driven import WEIGHTS, Driven, Weights
from armature.optimize.transcription.floor_rows import floor_rows, keep_above
from armature.optimize.transcription.speeds import Moving
from armature.optimize.transcription.task import Ends, Move, configuration, velocity
from armature.robot.model import Robot

FEWEST = 4  # steps in time
EACH_LEG = 2  # steps from one via point to the next, at least
AT_KNOTS, INSIDE = (
    (0.0, 1.0),
    (0.0, 0.5, 1.0),
)  # parts of a step at which limits hold, and where they are exceeded between knots
FAR, NEAREST = (
    0.1,
    1e-6,
)  # rad or m: moves that go less far are solved more exactly, in proportion; at most by this factor
# rad/s or m/s: where its direction is kept a joint moves at least as fast, so that rounding does
# not decide it
STANDS = 5e-4


def driven_model(
    robot: Robot, supply: Any, durations: int = 0, dense: bool = False, free: bool = False
) -> Driven:
    """The solver's model of a robot, kept with the robot. dense: limits hold in the middle of steps
    too.  free: for least times."""
    supply = as_supply(supply if supply is not None else robot.supply)
    smooth = default_smooth(robot)
    store = memo(robot, "models")
    rows = floor_rows(robot)
    key = (repr(supply), durations, dense, free, rows.get("extra_key"))
    if key not in store:
        # both rules are exact to the fourth order; Simpson's shares its points with the limits,
        # Gauss's has fewer slacks
        rule = "gauss" if supply.slacks(len(robot.drivetrain.drives)) else "simpson"
        # control points of speeds are products with steps that are free: searches for least times
        # would end later
        made = Driven if free else Moving
        store[key] = made(
            robot, supply, True, rule, INSIDE if dense else AT_KNOTS, durations, smooth, **rows
        )
    return store[key]


def default_smooth(robot: Robot) -> Smooth:
    """How wide the corners of friction and gears are rounded at first; all exact where there is
    none."""
    train = robot.drivetrain
    frictions = (*train.frictions, *(d.friction for d in train.drives))
    lossy = any(not d.gear.lossless or d.amplifier.efficiency != 1.0 for d in train.drives) or any(
        f.load for f in frictions
    )
    dry = any(f.coulomb or f.stiction for f in frictions) or any(
        d.motor.iron_torque for d in train.drives
    )
    return Smooth(
        power=1.0 if lossy else 0.0, velocity=0.3 if dry else 0.0, table=0.05 if lossy else 0.0
    )


@dataclass(frozen=True, eq=False)
class MoveProblem:
    """A move of one robot in N steps, at least two between one via point and the next.

    free: the duration is free (for least time); else it is the move's.
    Where a via point has a free passing time, every leg has a duration of its own; those between
    given times are held.
    smooth: widths of corners.  directions: (N, n) which way the joints move in each step, ±1, 0
    where it is not known.
    tighter: {name of a limit: factor below 1, or one for each knot} where limits were exceeded
    between knots.
    dense: limits of torques and drives hold in the middle of every step too (not for closed loops).
    passed_first: parts of the duration at which free via points are passed in the starting motion,
    by the joints' travel if left out."""

    robot: Robot
    move: Move
    supply: Any = None
    N: int = 100
    free: bool = False
    smooth: Smooth | None = None
    directions: np.ndarray | None = None
    tighter: Mapping[str, Any] = field(default_factory=dict)
    passed_first: tuple[float, ...] = ()
    dense: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.N, int | np.integer):
            raise ArgumentError(
                f"knots = {self.N!r} must be a whole number; give other things by name, e.g."
                " supply=…"
            )
        if self.N < FEWEST:
            raise ArgumentError(
                f"knots = {self.N}: a motion needs at least {FEWEST} steps in time; 100 is usual"
            )
        object.__setattr__(self, "N", max(self.N, EACH_LEG * (len(self.move.via) + 1)))

    @cached_property
    def ends(self) -> Ends:
        """Both ends, checked."""
        return self.move.vectors(self.robot)

    @cached_property
    def legs(self) -> int:
        """Legs with a free duration of their own: none when every passing time is given."""
        loose = any(via.at is None for via in self.move.via)
        return len(self.move.via) + 1 if loose else int(self.free)

    @cached_property
    def driven(self) -> Driven:
        """The robot as a model."""
        return driven_model(self.robot, self.supply, self.legs, self.dense, self.free)

    @cached_property
    def duration(self) -> float:
        """The move's duration, or a guess of it, s."""
        return (
            float(self.move.duration)
            if self.move.duration is not None
            else guess_duration(self.robot, self.ends)
        )

    @cached_property
    def points(self) -> np.ndarray:
        """(vias + 2, n): start, via points and goal."""
        inner = [
            configuration(self.robot, via.configuration, "via configuration")
            for via in self.move.via
        ]
        return np.array([self.ends.q0, *inner, self.ends.q1])

    @property
    def speeds(self) -> dict[int, np.ndarray]:
        """Velocities (n,) that the task gives, by their points: at start and goal, and at via
        points that have one."""
        given = {
            k: velocity(self.robot, v.velocity, "via velocity")
            for k, v in enumerate(self.move.via, 1)
            if v.velocity is not None
        }
        return {0: self.ends.v0, **given, len(self.move.via) + 1: self.ends.v1}

    @property
    def moving(self) -> bool:
        """Whether the task gives a velocity other than rest: in another duration its motion is
        another one, not the same run slower."""
        return any(np.any(v) for v in self.speeds.values())

    @cached_property
    def passing(self) -> np.ndarray:
        """(vias + 2,) parts of the duration at which start, via points and goal are passed: given
        ones, and a guess where they are free,
        `passed_first` or by the joints' travel between given ones (every leg at least a fifth of
        its even share)."""
        if self.passed_first:
            return np.array([0.0, *self.passed_first, 1.0])
        fractions = np.array(
            [
                0.0,
                *(np.nan if via.at is None else via.at / self.duration for via in self.move.via),
                1.0,
            ]
        )
        travel = np.linalg.norm(np.diff(self.points, axis=0), axis=1)
        way = np.concatenate([[0.0], np.cumsum(0.8 * travel + 0.2 * max(travel.mean(), 1e-9))])
        given = np.isfinite(fractions)
        return np.interp(way, way[given], fractions[given])

    @cached_property
    def knots(self) -> list[int]:
        """The knot at which each leg ends: passing times rounded to a knot."""
        found, inner = [0], self.passing[1:-1]
        for left, f in zip(
            range(len(inner), 0, -1), inner
        ):  # every leg has its steps, however close two points are in time
            found.append(
                min(max(round(f * self.N), found[-1] + EACH_LEG), self.N - EACH_LEG * left)
            )
        return [*found[1:], self.N]

    @property
    def way(self) -> float:
        """How far a joint has to go from one point to the next, or goes at the speed of an end, at
        most, rad or m."""
        fast = self.duration * np.abs([self.ends.v0, self.ends.v1]).max()
        return max(float(np.abs(np.diff(self.points, axis=0)).max()), float(fast))

    @property
    def size(self) -> float:
        """What tolerances are multiplied by: 1, or less for moves that go hardly anywhere."""
        return min(1.0, max(self.way / FAR, NEAREST)) if self.way else 1.0

    def timed_as(self, motion: Trajectory) -> Self:
        """The same with a motion's duration as the first one."""
        return replace(self, move=replace(self.move, duration=motion.duration))

    @property
    def leg_ends(self) -> list[int]:
        """The knot at which each leg with a free duration ends, or the last one."""
        return self.knots if self.legs > 1 else [self.N]

    def steps(self, duration: float) -> np.ndarray:
        """(N,) lengths of the steps for a motion of this duration, s; passing times that are given
        are met exactly."""
        h, begin, t0 = np.empty(self.N), 0, 0.0
        for k, end in enumerate(self.knots):
            t1 = self.move.via[k].at if k < len(self.move.via) else duration
            t1 = duration * end / self.N if t1 is None else t1
            h[begin:end] = (t1 - t0) / (end - begin)
            begin, t0 = end, t1
        return h

    @property
    def times(self) -> np.ndarray:
        """(N+1,) times of the knots for a motion of the problem's duration, s; the end and given
        passing times are met exactly."""
        return self.timed(self.steps(self.duration))

    def timed(self, steps: np.ndarray) -> np.ndarray:
        """(N+1,) times of the knots from the lengths of the steps (N,), s, without what their sum
        leaves of rounding."""
        t = np.concatenate([[0.0], np.cumsum(steps)])
        given = [
            (self.knots[k], via.at) for k, via in enumerate(self.move.via) if via.at is not None
        ]
        if not self.free and abs(t[-1] - self.duration) <= ROUNDING * self.duration:
            t *= self.duration / t[-1]
            given.append((self.N, self.duration))
        for knot, at in given:
            if abs(t[knot] - at) <= ROUNDING * at:
                t[knot] = at
        return t

    @property
    def straight(self) -> Trajectory:
        """The joint cubic, as a motion."""
        return Trajectory(self.times, *self.cubic(self.times), self.robot.joint_names)

    def problem(self, weights: Weights) -> Problem:
        """Bounds and data for the solver."""
        n, N, model = self.robot.n, self.N, self.driven
        duration = None if self.legs else self.duration
        plan = {"smooth": self.smooth, "directions": self.directions}
        base = model.problem(
            N, self.ends.q0, self.ends.q1, weights, duration, **self._free_steps(), **plan
        )
        low, high = (np.array(side) for side in base.x)
        jerky = np.isfinite(
            [
                model.joint_limit(x, what)
                for x in self.robot.joint_names
                for what in ("jerk", "torque_rate")
            ]
        ).any()
        for knot, v in ((0, self.ends.v0), (N, self.ends.v1)):
            low[knot, n : 2 * n] = high[knot, n : 2 * n] = v
            # with jerk limits accelerations start from nothing; else only their own limits hold
            # them
            if not jerky:
                low[knot, 2 * n : 3 * n], high[knot, 2 * n : 3 * n] = (
                    low[min(1, N - 1), 2 * n : 3 * n],
                    high[min(1, N - 1), 2 * n : 3 * n],
                )
        for k, knot in enumerate(self.knots[:-1], start=1):
            low[knot, :n] = high[knot, :n] = self.points[k]
            if k in self.speeds:
                low[knot, n : 2 * n] = high[knot, n : 2 * n] = self.speeds[k]
        data = np.array(base.data)
        if not self.legs:
            data[:N, 0] = self.steps(self.duration)
        self._draw_means_in(data)
        self._keep_directions(low, high)
        totals = model.total_bounds(None if self.free else self.duration)
        limits = self._limits_once(base.constraints)
        changed = {"x": (low, high), "constraints": limits, "data": data, "totals": totals}
        return tightened(replace(base, **changed, size=self.size), self.tighter)

    def _draw_means_in(self, data: np.ndarray) -> None:
        """Limits of means, drawn in: their bounds are data of the plan."""
        first, means = 1 + self.driven.durations + WEIGHTS, self.driven.means
        data[:, first : first + len(means)] *= [
            self.tighter.get(name, 1.0) for _, _, name, _ in means
        ]

    def _limits_once(self, bounds: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """(N, …) bounds with the limits at a step's end left out where the next step has them at
        its start.

        Torques are continuous, so both would say the same; where a direction of dry friction
        changes they do not."""
        low, high = (np.tile(side, (self.N, 1)) for side in bounds)
        rows = (
            len(self.driven.quantities)
            + int(np.isfinite(self.driven.torques[1]).sum())
            + len(self.driven.extra_names)
        )
        keep_above(self.robot, low, rows, self.driven.limit_points, [0, *self.knots])
        same = np.arange(self.N) < self.N - 1
        if self.directions is not None:
            same[:-1] &= (self.directions[1:] == self.directions[:-1]).all(1)
        points = self.driven.limit_points
        last = slice((points - 1) * rows, points * rows)
        low[same, last], high[same, last] = -np.inf, np.inf
        return low, high

    def _keep_directions(self, low: np.ndarray, high: np.ndarray) -> None:
        """Where the direction is known in a step, the velocity does not turn at its ends, and
        inside is not quite zero."""
        if self.directions is None:
            return
        n = self.robot.n
        v_low, v_high = low[1:-1, n : 2 * n], high[1:-1, n : 2 * n]
        forth, back = (
            (sign * self.directions[1:] > 0) | (sign * self.directions[:-1] > 0) for sign in (1, -1)
        )
        loose = v_low < v_high
        least = np.where(forth & back, 0.0, STANDS)
        np.copyto(v_low, np.maximum(v_low, least), where=forth & loose)
        np.copyto(v_high, np.minimum(v_high, -least), where=back & loose)

    def _free_steps(self) -> dict[str, Any]:
        if not self.legs:
            return {}
        shares = np.zeros((self.N, self.legs))
        begin = 0
        for leg, end in enumerate(self.leg_ends):
            shares[begin:end, leg] = 1.0 / (end - begin)
            begin = end
        return {"steps": shares, "durations": self._leg_bounds()}

    def _leg_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the free durations, s; both the same for legs between given passing times."""
        low, high = (
            np.full(self.legs, 1e-3 * self.duration),
            np.full(self.legs, 1e3 * self.duration),
        )
        given = np.array([True, *(via.at is not None for via in self.move.via), True])
        if self.free or self.legs == 1:
            return low, high
        if np.sum(given[:-1] & ~given[1:]) > 1:
            raise ArgumentError(
                "via points of free passing time lie on both sides of one with a given time; give"
                " the times of one side too"
            )
        fixed = given[:-1] & given[1:]
        low[fixed] = high[fixed] = np.diff(self.passing)[fixed] * self.duration
        return low, high

    def guess(self, trajectory: Trajectory | None = None, times: np.ndarray | None = None) -> Guess:
        """A starting motion: a given one, brought to this duration and these ends, or the joint
        cubic through the via points.

        times: (N+1,) of the knots, s, where they are known."""
        t = self.times if times is None else times
        if trajectory is None:
            q, v, a = self.cubic(t)
        else:
            self._fits(trajectory)
            scale = trajectory.duration / self.duration
            sample = trajectory(
                trajectory.t[0] + np.clip(t * scale, 1e-12, trajectory.duration * (1 - 1e-12))
            )
            q, v, a = sample.q, sample.v * scale, sample.a * scale**2
            e, T = self.ends, self.duration
            missing = hermite(t, T, e.q0 - q[0], e.q1 - q[-1], e.v0 - v[0], e.v1 - v[-1])
            q, v, a = (x + more for x, more in zip((q, v, a), missing))
        if self.legs <= 1:
            return self.driven.guess(q, v, a, self.duration)
        found = self.driven.guess(q, v, a, np.diff(t[[0, *self.leg_ends]]))
        u = np.array(found.u)
        u[:, : self.robot.n] = (
            np.diff(a, axis=0) / np.diff(t)[:, None]
        )  # legs have steps of their own
        return replace(found, u=u)

    def _fits(self, trajectory: Any) -> None:
        """Refuse a guess that is no motion of this robot."""
        if not isinstance(trajectory, Trajectory):
            raise ArgumentError(
                f"guess: a {type(trajectory).__name__} is no motion; give an arm.Trajectory or an"
                " earlier arm.Solution"
            )
        if trajectory.n != self.robot.n:
            has = (
                f"the motion has {trajectory.n} joints, robot {self.robot.name!r} has"
                f" {self.robot.n}"
            )
            raise ArgumentError(
                f"guess: {has} ({', '.join(self.robot.joint_names)}); give a motion of this robot"
            )

    def cubic(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The joint cubic at times t: a Hermite cubic between the ends, a cubic spline through via
        points, with given velocities."""
        e, T = self.ends, self.duration
        if not self.move.via:
            return hermite(t, T, e.q0, e.q1, e.v0, e.v1)
        times, speeds = self.times[[0, *self.knots]], self.speeds
        parts = [
            (slice(i, j + 1), ((1, speeds[i]), (1, speeds[j])))
            for i, j in itertools.pairwise(speeds)
        ]
        spline: Any = CubicSpline
        pieces = [spline(times[part], self.points[part], bc_type=ends).c for part, ends in parts]
        curve = PPoly(np.concatenate(pieces, axis=1), times)
        return curve(t), curve(t, 1), curve(t, 2)

    def trajectory(self, result: Result) -> Trajectory:
        """The solver's answer as a motion whose acceleration runs straight between knots."""
        n = self.robot.n
        t = self.times
        if self.legs:
            shares = self._free_steps()["steps"]
            t = self.timed(shares @ np.atleast_1d(result.p)[: self.legs])
        q, v, a = (result.x[:, k * n : (k + 1) * n] for k in range(3))
        return Trajectory(t, q, v, a, self.robot.joint_names, interpolation="linear")


def hermite(
    t: np.ndarray, T: float, q0: np.ndarray, q1: np.ndarray, v0: np.ndarray, v1: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a (K, n) at times t (K,) of the cubics over a duration T with these ends and
    velocities, (n,) each."""
    t = t[:, None]
    slope = (q1 - q0) / T
    c2, c3 = (3 * slope - 2 * v0 - v1) / T, (v0 + v1 - 2 * slope) / T**2
    return q0 + t * (v0 + t * (c2 + t * c3)), v0 + t * (2 * c2 + 3 * t * c3), 2 * c2 + 6 * t * c3


def resampled(values: np.ndarray, count: int) -> np.ndarray:
    """(count,) values at evenly spaced places, from those (k,) at others."""
    return np.interp(np.linspace(0.0, 1.0, count), np.linspace(0.0, 1.0, len(values)), values)


def names_of_positions(states: Sequence[str]) -> list[str]:
    """Joints whose positions are the first states."""
    return [s.removeprefix("position of ") for s in states if s.startswith("position of ")]


def tightened(problem: Problem, tighter: Mapping[str, Any]) -> Problem:
    """The problem with the bounds of the named rows drawn in by their factors, one for all knots or
    one for each; ends of ranges by amounts, rad or m, one for each knot."""
    if not tighter:
        return problem
    model, count = problem.model, problem.N + 1
    spread = lambda f: resampled(np.broadcast_to(f, (2,)) if np.ndim(f) == 0 else f, count)
    factors = lambda names: (
        np.array([spread(tighter.get(name, 1.0)) for name in names]).reshape(len(names), count).T
    )
    x, c = factors(model.state_names), factors(model.constraint_names)
    low, high = (np.array(side) for side in problem.x)
    loose = low < high
    low, high = (np.where(loose, side * x, side) for side in (low, high))
    for j, name in enumerate(names_of_positions(model.state_names)):
        for side, end, sign in ((low, "lower", 1.0), (high, "upper", -1.0)):
            drawn = spread(tighter.get(f"{end} end of its range of {name}", 0.0))
            side[:, j] += np.where(loose[:, j], sign * drawn, 0.0)
    c_low, c_high = (np.asarray(side) * c[: problem.N] for side in problem.constraints)
    return replace(problem, x=(low, high), constraints=(c_low, c_high))


def guess_duration(robot: Robot, ends: Ends) -> float:
    """A first duration for a free one, s: what the joints' velocity limits allow, at least half a
    second."""
    limits = {j.name: j.limits.velocity for j in robot.joints}
    speed = np.array([limits.get(name, np.inf) for name in robot.joint_names])
    return float(
        max(
            0.5,
            np.max(
                1.5
                * np.abs(ends.q1 - ends.q0)
                / np.where(np.isfinite(speed) & (speed > 0), speed, np.inf),
                initial=0.0,
            ),
        )
    )

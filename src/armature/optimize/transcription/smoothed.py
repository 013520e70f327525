"""A driven robot whose corners are rounded in velocity and torque by one number f, for the homotopy
f → 0 inside one solve.

    (L1)  i = ½(i₊ + i₋) + ½ s (i₊ − i₋),   s = x/√(1 + x²),   x = v/(f V_j)

i± are the currents if a joint moves forward, or backward (`Drive.flow`), with the torque's
magnitude rounded by 0.3 f T_j. V_j, T_j: the greatest speed and torque of a joint on the joint
cubic; P_k: the greatest power of an axis there. (L2): what a supply draws is rounded by 0.3 f P_k,
so that no slacks are needed; a bus keeps them."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from armature.drive import Bus, NonRegenerative, Smooth, as_supply
from armature.drive.corner import side
from armature.dynamics.compiled import inverse_dynamics
from armature.memo import memo
from armature.motion.trajectory import Trajectory
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.problem.result import Result
from armature.optimize.transcription.driven import WEIGHTS, Weights, unit
from armature.optimize.transcription.floor_rows import floor_rows, keep_above
from armature.optimize.transcription.move import AT_KNOTS, INSIDE, MoveProblem
from armature.optimize.transcription.speeds import Moving
from armature.optimize.transcription.transcribe import (
    RULES,
    Accelerations,
    At,
    Instant,
    Shape,
    vector,
)
from armature.robot.model import Robot
from armature.simulate.flows import drives_at

TABLE = 0.05  # of a cell, for efficiency tables
LAST = "last acceleration"  # at the end of the last step: those at other knots begin a step
STILL = 0.5  # rad or m: how far joints are thought to move where none has to
PART = 0.3  # of f: how far torques and powers are rounded


class Scales(NamedTuple):
    """What is usual in a motion. velocity, torque: (n,), rad/s or m/s, N·m or N.  power: (axes,),
    W.  jerk: (n,)."""

    velocity: np.ndarray
    torque: np.ndarray
    power: np.ndarray


@dataclass(frozen=True)
class Normalised(Accelerations):
    """By accelerations in normalised time: with the free duration R the states are q, R v, R² a and
    the control is R³ j.

    The dynamics are then linear for every duration, which enters only limits and costs; with
    several free durations R is their sum."""

    def reference(self, p: Any) -> Any:
        """R, s."""
        return sum((p[j] for j in range(1, self.shape.durations)), start=p[0])

    def physical(self, x: Any, u: Any, p: Any) -> tuple[list[Any], list[Any]]:
        """x and u in rad, m and s."""
        n, R = self.shape.n, self.reference(p)
        stores = [x[3 * n + k] for k in range(self.shape.stores)]
        slacks = [u[n + k] for k in range(self.shape.slacks * len(RULES[self.rule][0]))]
        state = [
            x[j] / R**k if k else x[j] for k in range(3) for j in (k * n + i for i in range(n))
        ]
        return [*state, *stores], [*(u[j] / R**3 for j in range(n)), *slacks]

    def arguments(self, x: Any, u: Any, p: Any, d: Any) -> list[list[Any]]:
        return super().arguments(*self.physical(x, u, p), p, d)

    def at(self, c: float, x: Any, u: Any, p: Any, d: Any, w: Any) -> At:
        return super().at(c, *self.physical(x, u, p), p, d, w)

    def dynamics(self, x: Any, u: Any, p: Any, d: Any, w: Any) -> list[Any]:
        """(T1) with the step as a part of R."""
        s = self.shape
        step = d[1] if s.durations == 1 else s.step(p, d) / self.reference(p)
        after = [y for row in super().motion(x, u, step, 1.0)[:3] for y in row]
        if s.stores:
            after += list(vector(x, len(after), s.stores) + self.integrate("rates", x, u, p, d, w))
        return after


@dataclass(frozen=True)
class Smoothed(Moving):
    """Data after weights and means: f, V (n), T (n), P (axes), modes (n). normal: in normalised
    time, for free durations."""

    normal: bool = False

    @functools.cached_property
    def transcription(self) -> Accelerations:
        base = super().transcription
        if not self.normal:
            return base
        parts = (
            base.shape,
            base.torque,
            base.instant,
            base.linear,
            base.rule,
            base.limits_at,
            base.between or self.between,
            base.closed,
        )
        return Normalised(*parts)

    @functools.cached_property
    def rates(self) -> list[tuple[str, int, str, float]]:
        """(what, joint, name, bound) of accelerations and jerks that are rows, since states are
        normalised."""
        joints = list(enumerate(self.robot.joint_names)) if self.normal else []
        kinds = {"acceleration": "acceleration", "jerk": "jerk", LAST: "acceleration"}
        limit = lambda name, what: (f"{kinds[what]} of {name}", self.joint_limit(name, kinds[what]))
        found = [(what, j, *limit(name, what)) for what in kinds for j, name in joints]
        return [row for row in found if np.isfinite(row[3])]

    def between(self, begin: At, end: At, h: Any) -> list[Any]:
        values = {"acceleration": begin.a, "jerk": begin.jerk, LAST: end.a}
        rows = [values[what][j] for what, j, _, _ in self.rates]
        return [*super().between(begin, end, h), *rows]

    def constraint_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        most = np.array([bound for *_, bound in self.rates])
        low, high = super().constraint_bounds()
        return np.concatenate([low, -most]), np.concatenate([high, most])

    def state_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = super().state_bounds()
        if self.normal:
            n = self.robot.n
            low[2 * n : 3 * n], high[2 * n : 3 * n] = -np.inf, np.inf
        return low, high

    def control_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = super().control_bounds()
        return (
            (np.full_like(low, -np.inf), np.full_like(high, np.inf)) if self.normal else (low, high)
        )

    @functools.cached_property
    def shape(self) -> Shape:
        base = super().shape
        n, m = self.robot.n, len(self.robot.drivetrain.drives)
        slacks = base.slacks if isinstance(self.supply, Bus) else 0
        names = (*base.constraint_names, *(name for _, _, name, _ in self.rates))
        nd = WEIGHTS + len(self.means) + 1 + 3 * n + m
        return replace(
            base,
            nd=nd,
            slacks=slacks,
            slack_names=base.slack_names[:slacks],
            constraint_names=names,
        )

    @property
    def supply_rows(self) -> int:
        return super().supply_rows if isinstance(self.supply, Bus) else 0

    @property
    def key(self) -> str:
        return f"smoothed {self.normal} {super().key}"

    @property
    def first(self) -> int:
        """Where f is among a knot's data."""
        return 1 + self.durations + WEIGHTS + len(self.means)

    def numbers(self, f: float, scales: Scales) -> np.ndarray:
        """Data of a knot from f on, but for the modes."""
        return np.concatenate([[f], scales.velocity, scales.torque, scales.power])

    def instant(self, at: At) -> Instant:
        """Cost rate and limits at an instant."""
        n, m = self.robot.n, len(self.robot.drivetrain.drives)
        mean = at.v if at.mean is None else at.mean
        d = at.d[WEIGHTS + len(self.means) :]
        f, V, T, P, modes = (
            d[0],
            d[1 : 1 + n],
            d[1 + n : 1 + 2 * n],
            d[1 + 2 * n : 1 + 2 * n + m],
            d[1 + 2 * n + m :],
        )
        power = [PART * f * x for x in P]
        most = sum(power)
        free = [side(mean[j], f * V[j]) for j in range(n)]
        blend = [modes[j] + (1 - modes[j] * modes[j]) * free[j] for j in range(n)]
        widths = [
            Smooth(most / max(m, 1), f * V[j], TABLE, 0.0, PART * f * T[j], blend[j])
            for j in range(n)
        ]
        flows = self.robot.drivetrain.flow(at.tau, at.v, at.a, smooth=widths)
        powers = [flow.power for flow in flows]
        weights = at.d[:WEIGHTS]
        rates: tuple[Any, ...] = ()
        conditions: tuple[Any, ...] = ()
        if isinstance(self.supply, Bus):
            supply = self.balance(powers, at.slacks)
            cost, conditions, rates = supply.cost, supply.inequalities, (supply.stored_rate,)
        else:
            width: Any = power if isinstance(self.supply, NonRegenerative) else most
            cost = self.supply.drawn(powers, width)
        # (L3) ∫ τ·v dt is fixed by both ends: without it what is drawn is what is lost, and no sum
        # of large powers that swing to and fro, which steps in time count only roughly
        cost = cost - sum(at.tau[j] * at.v[j] for j in range(n))
        jerk = sum((at.jerk[j] / V[j]) ** 2 for j in range(n))
        terms = [cost, sum(flow.copper for flow in flows), 1.0, sum(at.tau**2), sum(at.a**2), jerk]
        rows = [
            getattr(flows[axis], quantity) / unit(*bounds)
            for axis, quantity, _, *bounds in self.quantities
        ]
        drag = self.robot.drivetrain.joint_friction(at.tau, at.v, widths)
        rows += [at.tau[j] + drag[j] for j in range(n) if np.isfinite(self.torques[1][j])]
        rows += list(self.extra(at)) if self.extra else []
        means = enumerate(self.means)
        totals = [
            (getattr(flows[axis], quantity) - at.d[WEIGHTS + k]) / unit(bound)
            for k, (axis, quantity, _, bound) in means
        ]
        totals += [1.0] if self.durations > 1 else []
        return Instant(
            sum(w * term for w, term in zip(weights, terms)), rows, conditions, totals, rates
        )


def smoothed_model(
    robot: Robot, supply: Any, durations: int, dense: bool, normal: bool
) -> Smoothed:
    """The model, kept with the robot."""
    supply = as_supply(supply if supply is not None else robot.supply)
    store = memo(robot, "models")
    rows = floor_rows(robot)
    key = ("smoothed", repr(supply), durations, dense, normal, rows.get("extra_key"))
    if key not in store:
        rule, at = "gauss" if isinstance(supply, Bus) else "simpson", INSIDE if dense else AT_KNOTS
        store[key] = Smoothed(
            robot, supply, True, rule, at, durations, Smooth(1.0, 1.0, 1.0), **rows, normal=normal
        )
    return store[key]


@dataclass(frozen=True, eq=False)
class SmoothedMove(MoveProblem):
    """A move with rounded corners. f: how far.  standing: (N, n) steps in which a joint stands
    still."""

    f: float = 1.0
    standing: np.ndarray | None = None

    @functools.cached_property
    def driven(self) -> Smoothed:
        return smoothed_model(self.robot, self.supply, self.legs, self.dense, self.normal)

    @functools.cached_property
    def scales(self) -> Scales:
        """Of the joint cubic, at least a tenth of the greatest of the same kind."""
        q, v, a = self.cubic(np.linspace(0.0, self.duration, 101))
        tau = np.asarray(inverse_dynamics(self.robot, q, v, a))
        train = self.robot.drivetrain
        powers = (
            drives_at(self.robot, tau, v, a).together.power if train.drives else np.zeros((101, 0))
        )
        slides = np.array(
            [self.robot.joint(name).kind == "prismatic" for name in self.robot.joint_names]
        )
        speed, torque = np.abs(v).max(0), np.abs(tau).max(0)
        for values, least in ((speed, STILL / self.duration), (torque, 1e-6)):
            for kind in (slides, ~slides):
                most = values[kind].max(initial=0.0)
                values[kind] = np.maximum(values[kind], 0.1 * (most or max(values.max(), least)))
        power = np.abs(powers).max(0)
        return Scales(speed, torque, np.maximum(power, 0.05 * max(power.max(initial=0.0), 1e-6)))

    @property
    def normal(self) -> bool:
        """Whether time is normalised: where the duration is free and the ends are at rest."""
        return self.legs > 0 and not self.moving

    def guess(self, trajectory: Trajectory | None = None, times: np.ndarray | None = None) -> Guess:
        """A starting motion, in normalised time where that is used."""
        found = super().guess(trajectory, times)
        return self._scaled(found, 1.0) if self.normal else found

    def _scaled(self, found: Any, sign: float) -> Any:
        """States and controls to normalised time (sign 1), or back (−1)."""
        n, x, u = self.robot.n, np.array(found.x), np.array(found.u)
        R = float(np.sum(np.atleast_1d(found.p)[: self.legs])) ** sign
        for k in (1, 2):
            x[:, k * n : (k + 1) * n] *= R**k
        u[:, :n] *= R**3
        return replace(found, x=x, u=u)

    def trajectory(self, result: Result) -> Trajectory:
        """The solver's answer as a motion; joints that stand do so exactly, so that the sign of
        rounding does not decide on which side friction acts."""
        motion = super().trajectory(self._scaled(result, -1.0) if self.normal else result)
        if self.standing is None or len(self.standing) != len(motion) - 1:
            return motion
        at = np.pad(self.standing, ((1, 0), (0, 0))) | np.pad(self.standing, ((0, 1), (0, 0)))
        return replace(motion, v=np.where(at, 0.0, motion.v), a=np.where(at, 0.0, motion.a))

    def motion_of(self, x: np.ndarray, u: np.ndarray, p: np.ndarray) -> Trajectory:
        """The motion of the solver's variables."""
        scaled: Any = Guess(x, u, p)
        return self.trajectory(scaled)

    def _limits_once(self, bounds: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """(N, …) bounds: at both ends of every step, since its direction is its own."""
        low, high = (np.tile(side, (self.N, 1)) for side in bounds)
        driven = self.driven
        rows = (
            len(driven.quantities)
            + int(np.isfinite(driven.torques[1]).sum())
            + len(driven.extra_names)
        )
        keep_above(self.robot, low, rows, driven.limit_points, [0, *self.knots])
        self._keep_senses(low, high)
        first = len(driven.shape.constraint_names) - len(driven.rates)
        for row, (what, *_) in enumerate(driven.rates, start=first):
            if what == LAST:
                low[:-1, row], high[:-1, row] = -np.inf, np.inf
        return low, high

    def _keep_senses(self, low: np.ndarray, high: np.ndarray) -> None:
        """Where a joint's direction in a step is fixed, its speed does not turn inside: its control
        point (U1) has the same sign."""
        if self.directions is None:
            return
        first = (
            len(self.driven.shape.constraint_names)
            - len(self.driven.rates)
            - len(self.driven.speeds)
        )
        for row, (_, factors, _) in enumerate(self.driven.speeds, start=first):
            if len(factors) == 1:
                ((j, factor),) = factors.items()
                low[factor * self.directions[:, j] > 0.0, row] = 0.0
                high[factor * self.directions[:, j] < 0.0, row] = 0.0

    def problem(self, weights: Weights) -> Problem:
        """Bounds and data for the solver."""
        base = super().problem(weights)
        data = np.array(base.data)
        first = self.driven.first
        numbers = self.driven.numbers(self.f, self.scales)
        data[:, first : first + numbers.size] = numbers
        data[:, first + numbers.size :] = 0.0
        if self.directions is not None:
            modes = slice(first + numbers.size, first + numbers.size + self.robot.n)
            data[: self.N, modes] = self.directions
        return self._stood_still(replace(base, data=data))

    def _stood_still(self, problem: Problem) -> Problem:
        """No speed and no acceleration where a joint comes to stand, and no jerk as long as it
        does: what follows from these is not asked for again."""
        if self.standing is None or not self.standing.any():
            return problem
        n, N = self.robot.n, self.N
        low, high = (np.array(side) for side in problem.x)
        u_low, u_high = (
            np.array(np.broadcast_to(side, (N, problem.model.nu))) for side in problem.u
        )
        for j in range(n):
            stands = np.concatenate([[False], self.standing[:, j], [False]])
            begins, ends = (np.flatnonzero(np.diff(stands.astype(int)) == sign) for sign in (1, -1))
            for begin, end in zip(begins, ends):
                rates = [n + j, 2 * n + j]
                low[begin + 1 : end + 1, rates], high[begin + 1 : end + 1, rates] = -np.inf, np.inf
                low[begin, rates] = high[begin, rates] = 0.0
                u_low[begin:end, j] = u_high[begin:end, j] = 0.0
        return replace(problem, x=(low, high), u=(u_low, u_high))

"""One solve and what its motion is worth: exact cost, margins between knots, arrival."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armature.dynamics.compiled import kinetic_energy, potential_energy
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import MEANS, Margin, margins
from armature.optimize.certificate.margins import proved_margins
from armature.optimize.planner.settings import SETTINGS
from armature.optimize.problem.result import Result
from armature.optimize.transcription.driven import Supply
from armature.optimize.transcription.move import MoveProblem
from armature.robot.model import Robot
from armature.scene.floor import LIMIT
from armature.simulate.flows import drives_at
from armature.simulate.ledger import motion_steps

RESTING = 1e-5  # rad or m, times the size of the move: how far joints creep by rounding alone
ROUNDING = 1e-7  # the same: how far apart the task's places are then at most
ARRIVED = 1e-6  # rad or m, and rad/s or m/s: what the certificate allows
PART = 1e-5  # of the way: the same for moves that go hardly anywhere


@dataclass(frozen=True, eq=False)
class Attempt:
    """A problem, the solver's result and its motion. cost: exact, J or s, or how to find it."""

    problem: MoveProblem
    result: Result
    motion: Trajectory
    cost: float | Callable[[], float]

    @cached_property
    def value(self) -> float:
        """The exact cost, J or s."""
        return self.cost() if callable(self.cost) else self.cost

    @cached_property
    def margins(self) -> list[Margin]:
        """The margins of all limits, between knots too, the smallest first."""
        rows = margins(self.problem.robot, self.motion).values()
        return sorted((m for row in rows for m in row.values()), key=lambda m: m.fraction)

    @cached_property
    def proved(self) -> list[Margin]:
        """The same as the certificate has them: where no limit is exceeded at the points between
        knots that are looked at first, proved at every instant."""
        if self.excess > SETTINGS.allowed:
            return self.margins
        rows, _ = proved_margins(self.problem.robot, self.motion)
        floor = [m for m in self.margins if m.limit == LIMIT]
        every = [*floor, *(m for row in rows.values() for m in row.values())]
        return sorted(every, key=lambda m: m.fraction)

    @property
    def worst(self) -> Margin | None:
        """The smallest margin of all limits; None without limits."""
        return self.margins[0] if self.margins else None

    @property
    def ok(self) -> bool:
        """Whether the search ended at an optimum."""
        return self.result.ok

    @property
    def excess(self) -> float:
        """By what part of itself a limit is exceeded, at most; 0 where all are kept."""
        return max(0.0, -self.worst.fraction) if self.worst is not None else 0.0

    @property
    def only_means(self) -> bool:
        """Whether the motion about does the task, and exceeds by much no limits but those of
        means."""
        over = [m for m in self.margins if m.fraction < -SETTINGS.exceeds]
        return self.near and all(m.limit in MEANS for m in over)

    @cached_property
    def runs(self) -> bool:
        """Whether the motion does the task and keeps all limits, however the search ended."""
        if not self.arrives or self.under_resolved:
            return False
        return self.closed and all(m.fraction >= -SETTINGS.allowed for m in self.proved[:1])

    @property
    def arrives(self) -> bool:
        """Whether the motion does the task, as exactly as the certificate asks for."""
        way = self.problem.way
        in_place = self.missed < ARRIVED and (way == 0.0 or self.relative < PART * way)
        return in_place and self.in_time

    @property
    def in_time(self) -> bool:
        """Whether the motion takes the duration asked for, if one is: the legs between via points
        have durations of their own, whose sum a search that has not ended may miss."""
        problem = self.problem
        asked = self.motion.duration if problem.free else problem.duration
        return abs(self.motion.duration - asked) <= PART * asked

    @property
    def near(self) -> bool:
        """Whether it about does."""
        return self.missed < SETTINGS.misses * self.problem.size

    @property
    def closed(self) -> bool:
        """Whether the loops of a closed mechanism follow their dynamics."""
        violations = self.result.violations if self.problem.robot.loops else ()
        return not any(v.name.startswith("the dynamics") for v in violations)

    @property
    def nearly(self) -> bool:
        """Whether the motion about does the task, and exceeds no limit by much: worth going on
        from."""
        return self.near and self.excess <= SETTINGS.exceeds

    @property
    def beside(self) -> float:
        """By what the motion misses the places where it begins, passes and ends, rad or m."""
        at = [0, *self.problem.knots]
        return float(np.abs(self.motion.q[at] - self.problem.points).max())

    @cached_property
    def missed(self) -> float:
        """By what the motion misses its places, end velocities and own accelerations, rad or m,
        rad/s or m/s; infinite where it has no finite numbers."""
        return max(self.errors, default=np.inf)

    @property
    def relative(self) -> float:
        """The same with velocities counted by how far they lead in the motion's time, rad or m."""
        if not self.errors:
            return np.inf
        places, speeds = self.errors
        return max(places, speeds * min(1.0, self.motion.duration))

    @cached_property
    def errors(self) -> tuple[float, ...]:
        """By what places and velocities are missed, rad or m, rad/s or m/s; empty without finite
        numbers."""
        task, motion = self.problem, self.motion
        if not np.all(np.isfinite(motion.q)):
            return ()
        at = [0, *task.knots]
        places, speeds = (
            [np.array(self.beside)],
            [motion.v[at[k]] - v for k, v in task.speeds.items()],
        )
        if not task.robot.loops:
            q, v = defects(motion)
            places, speeds = [*places, q], [*speeds, v]
        largest = lambda parts: max((float(np.abs(x).max()) for x in parts), default=0.0)
        return largest(places), largest(speeds)

    @property
    def size(self) -> float:
        """What differences in energy are compared with, J."""
        return max(abs(self.value), abs(self.losses), 1e-9)

    @property
    def standing(self) -> list[str]:
        """Names of joints that stand for a part of the time."""
        steps = getattr(self.problem, "standing", None)
        names = self.problem.robot.joint_names
        return [] if steps is None else [names[j] for j in np.flatnonzero(steps.any(axis=0))]

    @property
    def losses(self) -> float:
        """What became heat, J: what was drawn and not stored in the arm."""
        q, v, robot = self.motion.q[[0, -1]], self.motion.v[[0, -1]], self.problem.robot
        stored = np.diff(kinetic_energy(robot, q, v))[0] + np.diff(potential_energy(robot, q))[0]
        return self.value - float(stored)

    @property
    def speed_ratios(self) -> np.ndarray:
        """(n,) greatest speeds of joints without a limit of speed, as multiples of the joint
        cubic's; 0 for all others."""
        problem = self.problem
        slow = np.abs(problem.cubic(np.linspace(0.0, problem.duration, 101))[1]).max(0)
        limits = [
            problem.driven.joint_limit(name, "velocity") for name in problem.robot.joint_names
        ]
        usual = np.maximum(slow, 1e-3 + 0.1 * slow.max())
        return np.where(np.isinf(limits), np.abs(self.motion.v).max(0) / usual, 0.0)

    @property
    def unbounded(self) -> bool:
        """Whether a joint whose speed nothing limits turns far faster than the joint cubic."""
        return bool(self.speed_ratios.max(initial=0.0) > SETTINGS.unbounded_speed)

    @property
    def under_resolved(self) -> bool:
        """Whether such a joint turns by more from knot to knot than the knots can represent."""
        step = np.abs(np.diff(self.motion.q, axis=0)).max()
        return bool(step > SETTINGS.coarsest_step) and self.unbounded

    def accepted(self) -> Attempt:
        """This; where the search has not ended and the motion can be run, with a status that says
        so."""
        return self if self.ok or not self.runs else replace(self, result=self.result.as_feasible())


def net_energy(robot: Robot, motion: Trajectory, supply: Supply, points: int = 1200) -> float:
    """What the ledger calls energy, without the rest of it, J. points: in time, at least."""
    steps = motion_steps(robot, motion, points)
    power = drives_at(robot, steps.tau, steps.v, steps.a).together.power
    account = supply.account(steps.dt, power)
    return float(np.sum(account.drawn) - np.sum(account.returned))


def defects(motion: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """(N, n) each: by what q and v at knots differ from the integrals of accelerations that run
    straight between knots, rad or m, rad/s or m/s."""
    h, (a0, a1) = np.diff(motion.t)[:, None], (motion.a[:-1], motion.a[1:])
    v0, v1 = motion.v[:-1], motion.v[1:]
    return (
        np.diff(motion.q, axis=0) - h * (v0 + h * (2 * a0 + a1) / 6),
        v1 - v0 - h * (a0 + a1) / 2,
    )


def at_rest(motion: Trajectory, task: MoveProblem) -> Trajectory:
    """The motion with joints at rest that the task leaves where they are and that only creep, by
    the solver's tolerance: the sign of nothing must not decide on which side friction acts."""
    asked = np.ptp(task.points, axis=0)
    still = (np.ptp(motion.q, axis=0) < RESTING * task.size) & (asked < ROUNDING * task.size)
    if not still.any():
        return motion
    zero = np.zeros_like(motion.v)
    return replace(
        motion,
        q=np.where(still, motion.q[0], motion.q),
        v=np.where(still, zero, motion.v),
        a=np.where(still, zero, motion.a),
    )

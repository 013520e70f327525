"""Moves of robots with closed loops: planned in the joints with motors, returned for all joints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armature.drive import as_supply
from armature.errors import ArgumentError, RobotError
from armature.memo import memo
from armature.motion.trajectory import Trajectory
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.problem.result import Result
from armature.optimize.transcription.closure import Closure, check_closed, closure
from armature.optimize.transcription.driven import Driven, Weights
from armature.optimize.transcription.move import MoveProblem, default_smooth
from armature.optimize.transcription.reduced import Reduced, reduced
from armature.optimize.transcription.task import Ends, Move, Via, configuration, reached, velocity
from armature.robot.model import Link, Robot

APART = 1e-4  # rad or m by which the goal's dependent joints may miss what the loops lead to


def move_problem(
    robot: Robot, move: Move, supply: Any = None, N: int = 100, free: bool = False
) -> MoveProblem:
    """The problem of a move, for robots with and without closed loops."""
    return (LoopMove if robot.loops else MoveProblem)(robot, move, supply, N, free)


@dataclass(frozen=True, eq=False)
class FreeMove(MoveProblem):
    """The same move of the free coordinates alone. model: of the robot with its loops."""

    model: Reduced | None = None

    @cached_property
    def driven(self) -> Driven:
        """The robot as a model."""
        assert self.model is not None
        return self.model


@dataclass(frozen=True, eq=False)
class LoopMove(MoveProblem):
    """A move of a robot with closed loops and as many motors as freedoms. All that is seen from
    outside has all joints."""

    @cached_property
    def closure(self) -> Closure:
        """The loops, and which coordinates follow."""
        return mastered(self.robot, self.move)

    @cached_property
    def free_joints(self) -> list[int]:
        """The free coordinates."""
        return list(self.closure.independent)

    @cached_property
    def driven(self) -> Driven:
        """The robot as a model, kept with the robot."""
        supply = as_supply(self.supply if self.supply is not None else self.robot.supply)
        store = memo(self.robot, "models")
        key = (repr(supply), self.legs, self.closure.rows, self.closure.dependent)
        if key not in store:
            rule = "gauss" if supply.slacks(len(self.robot.drivetrain.drives)) else "simpson"
            smooth = default_smooth(self.robot)
            store[key] = reduced(
                self.closure,
                supply,
                linear=True,
                rule=rule,
                limits_at=(0.0, 1.0),
                durations=self.legs,
                smooth=smooth,
            )
        return store[key]

    @cached_property
    def inside(self) -> FreeMove:
        """The move of the free coordinates."""
        free, names, move = self.free_joints, self.robot.joint_names, self.move
        part = lambda value, what: configuration(
            self.robot, reached(self.robot, self.ends.q0, value), what
        )[free]
        speed = lambda value, what: (
            None if value is None else velocity(self.robot, value, what)[free]
        )
        vias = tuple(
            Via(part(v.configuration, "via configuration"), v.at, speed(v.velocity, "via velocity"))
            for v in move.via
        )
        ends = self.ends
        task = Move(ends.q0[free], ends.q1[free], move.duration, vias, ends.v0[free], ends.v1[free])
        directions = None if self.directions is None else self.directions[:, free]
        tighter = {
            name: f for name, f in self.tighter.items() if name.rpartition(" of ")[2] in names
        }
        stand_in = free_joints_only(self.robot, tuple(names[j] for j in free))
        driven: Any = self.driven
        return FreeMove(
            stand_in,
            task,
            self.supply,
            self.N,
            self.free,
            self.smooth,
            directions,
            tighter,
            self.passed_first,
            model=driven,
        )

    @cached_property
    def ends(self) -> Ends:
        """Both ends, checked: loops closed, velocities that keep them closed."""
        ends = self.move.vectors(self.robot)
        v = [
            self.closure.follow(q[None], v[None], 0.0 * v[None])[1][0]
            for q, v in ((ends.q0, ends.v0), (ends.q1, ends.v1))
        ]
        return Ends(ends.q0, ends.q1, *v)

    @cached_property
    def passing(self) -> np.ndarray:
        """(vias + 2,) parts of the duration at which the points are passed."""
        return self.inside.passing

    def steps(self, duration: float) -> np.ndarray:
        """(N,) lengths of the steps, s."""
        return self.inside.steps(duration)

    def problem(self, weights: Weights) -> Problem:
        """Bounds and data for the solver; the loops are followed from the joint cubic."""
        driven: Any = self.driven
        return driven.known(self.inside.problem(weights), self.first)

    @cached_property
    def first(self) -> np.ndarray:
        """(N+1, n): the joint cubic at the knots, closed."""
        return self.cubic(self.times)[0]

    def cubic(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The joint cubic of the free coordinates at times t, the others following."""
        return self.completed(*self.inside.cubic(t))

    def completed(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A motion (K, free) of the free coordinates with that of all joints, begun from the
        start's loops."""
        full = [np.zeros((len(q), self.robot.n)) for _ in range(3)]
        for whole, part in zip(full, (q, v, a)):
            whole[:, self.free_joints] = part
        full[0][:, list(self.closure.dependent)] = self.ends.q0[list(self.closure.dependent)]
        return self.closure.follow(full[0], full[1], full[2])

    def guess(self, trajectory: Trajectory | None = None, times: np.ndarray | None = None) -> Guess:
        """A starting motion: a given one (its free coordinates) brought to this duration, where it
        can be closed; else the joint cubic."""
        t = self.times if times is None else times
        lengths = np.diff(t[[0, *self.leg_ends]]) if self.legs > 1 else self.duration
        if trajectory is not None:
            try:
                return self.driven.guess(*self.completed(*self.sampled(trajectory, t)), lengths)
            except RobotError:
                trajectory = None  # it leads where the loops cannot be closed
        return self.driven.guess(*self.cubic(t), lengths)

    def sampled(
        self, trajectory: Trajectory, t: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The free coordinates of a motion at times t, brought to this duration."""
        scale, free = trajectory.duration / self.duration, self.free_joints
        sample = trajectory(
            trajectory.t[0] + np.clip(t * scale, 1e-12, trajectory.duration * (1 - 1e-12))
        )
        return sample.q[:, free], sample.v[:, free] * scale, sample.a[:, free] * scale**2

    def trajectory(self, result: Result) -> Trajectory:
        """The solver's answer for all joints; between knots a polynomial through q, v, a, which for
        the free ones is the planned motion."""
        free = self.inside.trajectory(result)
        return Trajectory(free.t, *self.completed(free.q, free.v, free.a), self.robot.joint_names)


def free_joints_only(robot: Robot, names: tuple[str, ...]) -> Robot:
    """A robot that has these joints alone, with their limits: for bounds, not for dynamics."""
    joints = tuple(
        replace(
            robot.joint(name),
            parent="base",
            child=f"at {name}",
            passive=False,
            mimic=None,
            rotor=None,
        )
        for name in names
    )
    return Robot(
        robot.name, (Link("base"), *(Link(f"at {name}", 1.0) for name in names)), joints, "base"
    )


def mastered(robot: Robot, move: Move) -> Closure:
    """The closure for a move, where motors and freedoms are as many; else words that say what to
    do."""
    ends = move.vectors(robot)
    for q, what in ((ends.q0, "start"), (ends.q1, "goal")):
        check_closed(robot, q, what)
    found, train, names = (
        closure(robot, np.array([ends.q0, ends.q1])),
        robot.drivetrain,
        robot.joint_names,
    )
    motors = tuple(j for j, driven in enumerate(train.driven) if driven)
    spare = [names[j] for j in range(robot.n) if j not in motors and j not in robot.passive]
    if spare:
        raise ArgumentError(
            f"joint {spare[0]!r} has neither a drive nor is it passive; give it a drive, or"
            " Joint(..., passive=True)"
        )
    if found.independent != motors:
        raise ArgumentError(
            f"robot {robot.name!r} has {len(found.independent)} freedoms with its loops closed and"
            f" motors at {len(motors)} joints ({', '.join(names[j] for j in motors)}); moves are"
            " planned where these motors hold all freedoms and no more. With fewer motors use"
            " armature.optimize.transcription.forward; with more, take drives away, or leave the"
            " singular position"
        )
    rough = [
        names[j]
        for j in found.dependent
        if any(train.frictions[j].torque(s, 0.0) for s in (-1.0, 1.0))
    ]
    if rough:
        raise ArgumentError(
            f"joint {rough[0]!r} is passive and has friction, which plans with loops leave out; set"
            " it to zero, or add it to the motors"
        )
    same_branch(found, ends)
    return found


def same_branch(found: Closure, ends: Ends) -> None:
    """Refuse ends whose loops are closed in different ways."""
    path = ends.q0 + np.linspace(0.0, 1.0, 25)[:, None] * (ends.q1 - ends.q0)
    path[:, list(found.dependent)] = ends.q0[list(found.dependent)]
    try:
        reached = found.closed(path)[-1]
    except RobotError as error:
        raise ArgumentError(
            f"on the straight line between start and goal: {error}; plan in parts, by way of a"
            " closed configuration"
        ) from None
    j = int(np.argmax(np.abs(reached - ends.q1)))
    if abs(reached[j] - ends.q1[j]) > APART:
        name = found.robot.joint_names[j]
        raise ArgumentError(
            "start and goal are closed in different ways: from the start the loops lead joint"
            f" {name!r} to {reached[j]:.6g}, the goal has {ends.q1[j]:.6g} rad or m; give the goal"
            " as {motor's joint: value}, which is reached from the start"
        )

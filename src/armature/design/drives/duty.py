"""What tasks ask of the drive of a joint, whatever the motion: the numbers that bounds are made of.

A bound must hold for every motion that does the task, for the motion is planned again with every
drive. Little is certain then; with path length S_j = Σ |Δq_j| over the legs of a move and its
duration T:

    (D1)  ∫|q̇_j| dt ≥ S_j,   ∫q̇_j² dt ≥ S_j²/T   (Cauchy–Schwarz)
    (D2)  max|q̇_j| ≥ S_j/T; from rest to rest under |q̈_j| ≤ A the peak V fulfils S_j ≤ V T − V²/A
    (D3)  the arm stands at start and goal: the drive holds the weight there
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.design.drives.mounting import Mount, heights, weight_torques
from armature.design.program_jobs import as_tasks
from armature.drive.catalogue import SupplyGiven, as_supply
from armature.dynamics.compiled import inverse_dynamics, potential_energy
from armature.errors import ArgumentError
from armature.job.job import Job
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.planner.pipeline import posed
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.scene.scene import Scene


@dataclass(frozen=True, eq=False)
class Item:
    """One task. robot: with what it carries in this task.  task: in joint coordinates.  points:
    (k, n) start, via points and goal; None for a path.  scene: obstacles, or None."""

    robot: Robot
    task: Move | FollowPath
    supply: Any
    knots: int
    points: np.ndarray | None
    scene: Scene | None = None


def items_of(robot: Robot, tasks: Any, supply: SupplyGiven, knots: int) -> list[Item]:
    """Tasks as a list: moves, paths, jobs (which bring their robot, supply and knots), programs."""
    given = as_tasks(tasks)
    if not given:
        raise ArgumentError("there is no task; give one or several arm.Move, FollowPath or Job")
    found = []
    for task in given:
        if isinstance(task, Job):
            if task.objective != "energy":
                raise ArgumentError(
                    f"job {task.name!r} asks for least time; drives are chosen for tasks of given"
                    " durations: give one"
                )
            item = Item(task.robot, task.task, task.supply, task.knots, None, task.scene)
        else:
            item = Item(robot, task, supply, knots, None)
        _check_same(robot, item.robot)
        found.append(_in_joints(item))
    return found


def _check_same(robot: Robot, other: Robot) -> None:
    """Refuse a robot that differs in more than what it carries: bounds are of one mechanism."""
    loaded = {x.name for r in (robot, other) for x in r.links if x.payload is not None}
    bare = lambda r: tuple(x for x in r.links if x.name not in loaded)
    differing = [
        what
        for what, value in (
            ("joints", lambda r: r.joints),
            ("links", bare),
            ("drives", lambda r: r.drives),
            ("gravity", lambda r: tuple(r.gravity)),
        )
        if value(robot) != value(other)
    ]
    if differing:
        raise ArgumentError(
            f"the tasks are of robots with other {' and '.join(differing)} ({robot.name!r},"
            f" {other.name!r}); drives are chosen for one robot, which may carry other payloads"
        )


def _in_joints(item: Item) -> Item:
    if not isinstance(item.task, Move):
        return item
    if item.task.duration is None:
        raise ArgumentError(
            "a move without a duration: give one, arm.Move(start, goal, duration=…), since drives"
            " are compared at the same duration"
        )
    robot = replace(item.robot, drives=())
    scene = item.task.scene if item.scene is None else item.scene
    task = replace(replace(item.task, scene=scene).in_joints(item.robot), scene=None)
    points = posed(robot, task, as_supply(item.supply or item.robot.supply), item.knots).points
    return replace(item, task=task, points=np.array(points), scene=scene)


@dataclass(frozen=True, eq=False)
class Duty:
    """What all tasks ask of one joint.

    ways: (tasks, 2) S, rad or m, and T, s.  speed: that its motion reaches at least, rad/s.
    hold: (K,) gravity's torque at starts and goals, N·m (N), with the present drives, and spread:
    (K, joints) what a kilogram more at every mount adds.  climb: J/kg that a mass at its mount
    gains over all tasks.
    """

    joint: str
    ways: np.ndarray
    speed: float
    hold: np.ndarray
    spread: np.ndarray
    climb: float

    def least_hold(self, lightest: np.ndarray, heaviest: np.ndarray) -> np.ndarray:
        """(K,) least |torque| that holds the arm, for additional masses of the drives between these
        (joints,), kg: a linear function of them."""
        ends = np.stack([self.spread * lightest, self.spread * heaviest])
        low, high = self.hold + ends.min(0).sum(-1), self.hold + ends.max(0).sum(-1)
        return np.maximum(0.0, np.maximum(low, -high))


def duties(items: Sequence[Item], joints: Sequence[str], mounts: Mapping[str, Mount]) -> list[Duty]:
    """The duty of each joint."""
    moves = [item for item in items if item.points is not None]
    climb = np.zeros(len(joints))
    holds, spreads = [], []
    for item in moves:
        ends = np.ascontiguousarray(item.points[[0, -1]])  # type: ignore[index]
        climb += np.diff(heights(item.robot, ends, mounts), axis=0)[0]
        still = np.zeros_like(ends)
        holds.append(inverse_dynamics(item.robot, ends, still, still))
        spreads.append(weight_torques(item.robot, ends, mounts))
    n = len(items[0].robot.joint_names)
    hold = np.concatenate(holds) if holds else np.zeros((0, n))
    spread = np.concatenate(spreads) if spreads else np.zeros((0, n, len(joints)))
    places = [items[0].robot.joint_names.index(name) for name in joints]
    return [
        Duty(
            name,
            np.array([_way(item, j) for item in moves]).reshape(-1, 2),
            max((_least_speed(item, j) for item in moves), default=0.0),
            hold[:, j],
            spread[:, j],
            float(climb[k]),
        )
        for k, (name, j) in enumerate(zip(joints, places))
    ]


def _way(item: Item, j: int) -> tuple[float, float]:
    """S and T."""
    points: Any = item.points
    return float(np.abs(np.diff(points[:, j])).sum()), float(item.task.duration)  # type: ignore[arg-type]


def is_at_rest(item: Item) -> bool:
    """Whether a task begins and ends at rest, as the bounds of energy take it."""
    task: Any = item.task
    ends = () if item.points is None else (task.start_velocity, task.goal_velocity)
    return not any(np.any(_numbers(velocity)) for velocity in ends)


def _least_speed(item: Item, j: int) -> float:
    """(D2)."""
    S, T = _way(item, j)
    A = item.robot.joint(item.robot.joint_names[j]).limits.acceleration
    if not is_at_rest(item) or not np.isfinite(A) or A * T * T < 4 * S:
        return S / T
    # the smaller root of V T − V²/A = S, written without cancellation
    return 2 * S / (T + np.sqrt(T * T - 4 * S / A))


def _numbers(velocity: Any) -> np.ndarray:
    return np.array(list(velocity.values()) if isinstance(velocity, Mapping) else velocity)


def certain_energy(items: Sequence[Item], joints: Sequence[str]) -> tuple[float, float]:
    """(energy, losses) that every motion costs, J, with the present drives' masses: the rise of
    potential energy, and the joints' friction by (D1)."""
    rise = friction = 0.0
    for item in items:
        if item.points is None:
            continue
        ends = np.ascontiguousarray(item.points[[0, -1]])
        rise += float(np.diff(potential_energy(item.robot, ends))[0])
        for j, law in enumerate(item.robot.drivetrain.frictions):
            S, T = _way(item, j)
            friction += law.coulomb * S + law.viscous * S * S / T
    return rise + friction, friction

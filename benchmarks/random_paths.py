"""Random paths of joints and hand on the built-in robots, seeded: lines, circles, arcs, polylines,
splines, screws, waypoints from CSV."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import armature as arm
from armature.optimize.path.follow_path import FollowPath
from armature.robot.bounds import bounds
from armature.robot.model import Robot

SHAPES = ("joints", "line", "circle", "arc", "polyline", "spline", "screw", "waypoints")
ROBOTS = ("planar2", "scara", "valasek", "burgevin", "six_axis", "seven_axis")
POSED = ("six_axis", "seven_axis")  # arms that can hold an orientation
# rad or a share of a range: how far the configurations are apart from which hand paths are made
SIZE = 0.35
DRAWS = 12  # configurations tried for one path


@dataclass(frozen=True)
class Case:
    """One path on one robot. words: what it is.  refused: messages of paths drawn before it that
    cannot be followed."""

    robot: Robot
    task: FollowPath
    words: str
    refused: tuple[str, ...]


def middle_ranges(robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Ranges from which configurations are drawn: away from their ends, and away from r = 0 of
    Valášek's arm."""
    b = bounds(robot)
    low, high = np.maximum(b.lower, -1.2), np.minimum(b.upper, 1.2)
    if robot.name == "valasek":  # its r has no range
        low, high = np.array([-1.2, -0.9, 0.4]), np.array([1.2, 0.9, 1.2])
    return low + 0.3 * (high - low), high - 0.3 * (high - low)


def random_joints(robot: Robot, rng: np.random.Generator, points: int = 4) -> Any:
    """A smooth path of the joints through random configurations."""
    low, high = middle_ranges(robot)
    return arm.motion.joint_path(low + (high - low) * rng.uniform(0.0, 1.0, (points, robot.n)))


def near_configurations(robot: Robot, rng: np.random.Generator, count: int) -> np.ndarray:
    """(count, n): one at random, the others around it; elbows bent, away from stretched arms."""
    low, high = middle_ranges(robot)
    first = low + (high - low) * rng.uniform(0.0, 1.0, robot.n)
    bent = {"planar2": 1, "scara": 1, "six_axis": 2, "seven_axis": 3}.get(robot.name)
    if bent is not None:
        first[bent] = rng.uniform(0.9, 1.4)
    if robot.name in POSED:
        first[4 if robot.name == "six_axis" else 5] = rng.uniform(0.5, 1.0)  # the wrist too
    steps = SIZE * np.minimum(high - low, 1.0) * rng.uniform(-1.0, 1.0, (count, robot.n))
    steps[0] = 0.0
    return first + np.cumsum(steps, axis=0)


def hand_path(robot: Robot, shape: str, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """A path of the hand through points which the arm reaches, and the configuration at its
    start."""
    q = near_configurations(robot, rng, 4)
    hand = arm.pose(robot, q, robot.tips[0])
    x = hand.p
    posed = robot.name in POSED and rng.uniform() < 0.5
    start: Any = (hand.R[0], x[0]) if posed else x[0]
    normal = np.cross(x[1] - x[0], x[2] - x[0])
    centre = x[0] + 0.5 * (x[1] - x[0])
    if shape == "line":
        path = arm.line(start, (hand.R[1], x[1]) if posed and rng.uniform() < 0.5 else x[1])
    elif shape == "circle":
        path = arm.circle(start, centre, normal, angle=rng.uniform(2.0, 2 * np.pi))
    elif shape == "arc":
        path = arm.motion.arc(start, x[1], x[2])
    elif shape == "polyline":
        corner = 0.3 * min(np.linalg.norm(x[1] - x[0]), np.linalg.norm(x[2] - x[1]))
        path = arm.polyline(
            [start, x[1], x[2]], blend=float(corner) if rng.uniform() < 0.8 else 0.0
        )
    elif shape == "spline":
        path = arm.spline([start, *x[1:]])
    elif shape == "screw":
        rise = 0.0 if robot.name == "planar2" else rng.uniform(0.0, 0.1)
        path = arm.motion.screw(start, centre, normal, rng.uniform(1.0, np.pi), rise, turning=False)
    else:
        path = from_csv(x, hand.R if posed else None)
    return path, q[0]


def from_csv(x: np.ndarray, R: np.ndarray | None) -> Any:
    """A spline through waypoints that went through a file."""
    rows = ["x,y,z" if R is None else "x,y,z,qx,qy,qz,qw"]
    for k, point in enumerate(x):
        turn = () if R is None else quaternion(R[0] if k < 1 else R[min(k, 1)])
        rows.append(",".join(f"{value:.12g}" for value in (*point, *turn)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.csv"
        file.write_text("\n".join(rows) + "\n")
        return arm.spline(str(file))


def quaternion(R: np.ndarray) -> tuple[float, ...]:
    """(x, y, z, w) of a rotation, from the eigenvector of the symmetric matrix K with eigenvalue
    one."""
    K = np.array(
        [
            [R[0, 0] - R[1, 1] - R[2, 2], R[1, 0] + R[0, 1], R[2, 0] + R[0, 2], R[2, 1] - R[1, 2]],
            [R[1, 0] + R[0, 1], R[1, 1] - R[0, 0] - R[2, 2], R[2, 1] + R[1, 2], R[0, 2] - R[2, 0]],
            [R[2, 0] + R[0, 2], R[2, 1] + R[1, 2], R[2, 2] - R[0, 0] - R[1, 1], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], np.trace(R)],
        ]
    )
    return tuple(np.linalg.eigh(K / 3.0)[1][:, -1])


def case(name: str, seed: int) -> Case:
    """The path of a seed on a robot: shapes take turns; paths that cannot be followed are drawn
    again, their reasons kept."""
    robot, shape, refused = arm.library(name), SHAPES[seed % len(SHAPES)], []
    for draw in range(DRAWS):
        rng = np.random.default_rng([seed, draw, ROBOTS.index(name)])
        if shape == "joints":
            task = FollowPath(random_joints(robot, rng))
        else:
            path, start = hand_path(robot, shape, rng)
            task = FollowPath(path, link=robot.tips[0], start=start)
        try:
            curve = task.curve(robot)
        except arm.errors.ArgumentError as reason:
            refused.append(str(reason))
            continue
        words = shape if shape == "joints" or task.path.rotation is None else f"{shape}, posed"
        return Case(robot, FollowPath(curve), words, tuple(refused))
    raise RuntimeError(f"{name}, seed {seed}: none of {DRAWS} paths can be followed: {refused[-1]}")

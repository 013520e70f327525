"""Trajectories as ROS 2 writes them: trajectory_msgs/msg/JointTrajectory in YAML, as `ros2 topic
pub` takes and `ros2 topic echo` gives."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from armature.errors import ArgumentError, FileError
from armature.motion.trajectory import Trajectory
from armature.nested import yaml_documents
from armature.text import read_text

FIELDS = {"positions": "q", "velocities": "v", "accelerations": "a", "effort": "tau"}
NANO = 1_000_000_000
MOST_MESSAGE = 32 * 2**20  # bytes of a message in YAML
MOST_VALUES = 600_000


def to_yaml(trajectory: Trajectory, effort: bool = False) -> str:
    """The message as YAML text; times from the first knot, to a nanosecond. effort: with torques,
    which Humble's controller refuses."""
    trajectory = trajectory if effort else replace(trajectory, tau=None)
    message = to_message(trajectory)
    quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in message["joint_names"])
    lines = [
        "header:",
        "  stamp: {sec: 0, nanosec: 0}",
        "  frame_id: ''",
        f"joint_names: [{quoted}]",
        "points:",
    ]
    for point in message["points"]:
        for i, key in enumerate(FIELDS):
            lines.append(
                f"{'  ' if i else '- '}{key}: [{', '.join(_number(x) for x in point[key])}]"
            )
        time = point["time_from_start"]
        lines.append(f"  time_from_start: {{sec: {time['sec']}, nanosec: {time['nanosec']}}}")
    return "\n".join(lines) + "\n"


def to_message(trajectory: Trajectory) -> dict[str, Any]:
    """A trajectory as a trajectory_msgs/msg/JointTrajectory of mappings and lists; what is not
    known is an empty list."""
    names = trajectory.joint_names or tuple(f"joint{k + 1}" for k in range(trajectory.n))
    if trajectory.q.shape[1] != trajectory.n or len(names) != trajectory.n:
        raise ArgumentError(
            "a JointTrajectory has one position for each joint; a floating base cannot be written,"
            " use .npz or .json"
        )
    empty = [[] for _ in trajectory.t]
    rows = {
        key: empty if (x := getattr(trajectory, kind)) is None else x.tolist()
        for key, kind in FIELDS.items()
    }
    times = [time_of(float(t)) for t in trajectory.t - trajectory.t[0]]
    points = [
        {**{key: rows[key][k] for key in FIELDS}, "time_from_start": time}
        for k, time in enumerate(times)
    ]
    return {
        "header": {"stamp": time_of(0.0), "frame_id": ""},
        "joint_names": list(names),
        "points": points,
    }


def time_of(t: float) -> dict[str, int]:
    """Seconds as ROS counts them: {"sec", "nanosec"}."""
    sec, nanosec = divmod(round(t * NANO), NANO)
    return {"sec": sec, "nanosec": nanosec}


def _number(x: float) -> str:
    """Shortest text that gives back the number, with a point, so that every YAML reader takes it
    for one."""
    text = repr(float(x))
    return text if "." in text or "e" not in text else text.replace("e", ".0e")


def read_message(
    path: str | PathLike[str],
) -> tuple[tuple[str, ...], np.ndarray, dict[str, np.ndarray]]:
    """Joint names, times (N+1,) and the arrays that all points have, by Trajectory's names, from a
    message in YAML."""
    return from_message(_parsed(path), path)


def from_message(
    message: Any, path: object
) -> tuple[tuple[str, ...], np.ndarray, dict[str, np.ndarray]]:
    """The same from a message as mappings and lists; `path` is for messages of error."""
    names = message.get("joint_names") if isinstance(message, dict) else None
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise FileError("joint_names must be a list of names", path, _line(message, "joint_names"))
    points = message.get("points")
    if not isinstance(points, list) or not points:
        raise FileError(
            "points must be a list of at least one point", path, _line(message, "points")
        )
    rows = [_point(point, points, k, len(names), path) for k, point in enumerate(points)]
    present = [key for key in FIELDS if all(key in row for _, row in rows)]
    if "positions" not in present:
        k = next(k for k, (_, row) in enumerate(rows) if "positions" not in row)
        raise FileError(
            f"point {k} has no positions; give one for each joint", path, _line(points, k)
        )
    t = np.array([time for time, _ in rows])
    back = np.flatnonzero(np.diff(t) <= 0)
    if len(back):
        k = int(back[0]) + 1
        raise FileError(
            f"time_from_start of point {k} is not after that of the point before",
            path,
            _line(points, k),
        )
    return (
        tuple(str(n) for n in names),
        t,
        {FIELDS[key]: np.array([row[key] for _, row in rows]) for key in present},
    )


def _parsed(path: str | PathLike[str]) -> Any:
    documents = yaml_documents(
        read_text(path, MOST_MESSAGE), path, MOST_MESSAGE, MOST_VALUES
    )  # echo ends a message with ---
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise FileError(
            f"the file holds {len(documents)} messages; give one JointTrajectory with joint_names"
            " and points",
            path,
        )
    return documents[0]


def _line(node: Any, key: Any) -> int | None:
    """1-based line of an entry of a mapping or a list, where the reader knows it."""
    try:
        return node.lines[key]
    except (AttributeError, KeyError, TypeError, IndexError):
        return None


def _point(
    point: Any, points: Any, k: int, n: int, path: object
) -> tuple[float, dict[str, list[float]]]:
    """Time and values of one point."""
    if not isinstance(point, dict):
        raise FileError(
            f"point {k} is not a mapping with positions and time_from_start", path, _line(points, k)
        )
    values: dict[str, list[float]] = {}
    for key in FIELDS:
        row = point.get(key)
        if row is None or (isinstance(row, list) and not row):
            continue
        if not isinstance(row, list) or len(row) != n or not all(_is_number(x) for x in row):
            raise FileError(
                f"{key} of point {k} must be {n} finite numbers, one for each joint",
                path,
                _line(point, key),
            )
        values[key] = [float(x) for x in row]
    time = point.get("time_from_start")
    if not isinstance(time, dict) or not all(
        _is_number(time.get(unit, 0)) for unit in ("sec", "nanosec")
    ):
        raise FileError(
            f"time_from_start of point {k} must be {{sec, nanosec}}",
            path,
            _line(point, "time_from_start") or _line(points, k),
        )
    return float(time.get("sec", 0)) + float(time.get("nanosec", 0)) / NANO, values


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and bool(np.isfinite(x))

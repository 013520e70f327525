"""A reader of ROS 2 message definitions: checks mappings and lists against them, field by field and
type by type, as rosidl would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "data" / "ros2"
WHOLE = {"int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1)}


def definition(name: str) -> dict[str, str]:
    """{field: type} of a message, from its .msg file; the package's name does not matter."""
    text = (FOLDER / f"{name.rpartition('/')[2]}.msg").read_text()
    lines = [line.partition("#")[0].split() for line in text.splitlines()]
    return {field: kind for kind, field in (line for line in lines if line)}


def check(kind: str, value: Any, where: str = "message") -> None:
    """Raise an AssertionError that names the place where a value is not of the type."""
    if kind.endswith("[]"):
        assert isinstance(value, list), f"{where}: {value!r} is not a sequence"
        for k, item in enumerate(value):
            check(kind[:-2], item, f"{where}[{k}]")
    elif kind == "string":
        assert isinstance(value, str), f"{where}: {value!r} is not a string"
    elif kind == "float64":
        assert isinstance(value, float), (
            f"{where}: {value!r} is not a float64 (YAML took it for {type(value).__name__})"
        )
    elif kind in WHOLE:
        low, high = WHOLE[kind]
        assert isinstance(value, int) and not isinstance(value, bool) and low <= value <= high, (
            f"{where}: {value!r} is not {kind}"
        )
    else:
        fields = definition(kind)
        assert isinstance(value, dict), f"{where}: {value!r} is not a {kind}"
        assert set(value) == set(fields), (
            f"{where}: fields {sorted(value)} are not those of {kind}, {sorted(fields)}"
        )
        for name, part in fields.items():
            check(part, value[name], f"{where}.{name}")


def check_trajectory(message: Any) -> None:
    """A JointTrajectory whose points also keep what controllers ask for: one number for each joint
    or none, and times that rise."""
    check("trajectory_msgs/JointTrajectory", message)
    n, last = len(message["joint_names"]), -1
    assert n == len(set(message["joint_names"])), "a joint stands twice"
    for k, point in enumerate(message["points"]):
        for name in ("positions", "velocities", "accelerations", "effort"):
            assert len(point[name]) in (
                0,
                n,
            ), f"points[{k}].{name} has {len(point[name])} numbers for {n} joints"
        time = point["time_from_start"]
        assert time["nanosec"] < 10**9, (
            f"points[{k}]: nanosec {time['nanosec']} is not below a second"
        )
        now = time["sec"] * 10**9 + time["nanosec"]
        assert now > last, f"points[{k}]: its time is not after the one before"
        last = now

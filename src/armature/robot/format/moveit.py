"""MoveIt's joint_limits.yaml, as it is."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from armature.document import values
from armature.errors import FileError
from armature.text import read_text

# MoveIt's word -> ours, and the switch that says whether it holds
WORDS = {
    "min_position": ("lower", "has_position_limits"),
    "max_position": ("upper", "has_position_limits"),
    "max_velocity": ("velocity", "has_velocity_limits"),
    "max_acceleration": ("acceleration", "has_acceleration_limits"),
    "max_jerk": ("jerk", "has_jerk_limits"),
    "max_effort": ("torque", "has_effort_limits"),
}


def limits_from_moveit(path: str | PathLike[str]) -> dict[str, dict[str, Any]]:
    """The limits that a MoveIt file gives, by joint; a limit whose switch is missing or false is
    left out."""
    data = values(read_text(path), path)
    joints = data.get("joint_limits", data) if isinstance(data, Mapping) else None
    if not isinstance(joints, Mapping):
        raise FileError(
            "there is no mapping `joint_limits:` from joint names to limits; give MoveIt's"
            " joint_limits.yaml",
            path,
        )
    # beside the joints stand default factors
    return {name: _limits(entry) for name, entry in joints.items() if isinstance(entry, Mapping)}


def _limits(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        ours: entry[theirs]
        for theirs, (ours, switch) in WORDS.items()
        if theirs in entry and entry.get(switch) is True
    }

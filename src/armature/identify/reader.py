"""Recordings from CSV files (plain or .gz): columns found by their names, as loggers and UR's RTDE write them."""

from __future__ import annotations

import gzip
import re
import tempfile
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import ArgumentError, FileError
from armature.identify.recording import Recording
from armature.motion.table import MOST_BYTES, Table, read_table
from armature.robot.model import Robot

TIMES = ("t", "time", "timestamp")
KINDS = {  # field → names before the joint's number or name
    "q": ("q", "actual_q", "position", "pos"),
    "v": ("v", "qd", "actual_qd", "velocity", "vel"),
    "current": ("i", "current", "actual_current"),
    "torque": ("tau", "torque", "effort", "taum"),
}
SUPPLY = (("u_robot", "i_robot"), ("actual_robot_voltage", "actual_robot_current"))


def load_recording(path: str | PathLike[str], robot: Robot, ratio: object = None) -> Recording:
    """A recording from a CSV file with a header, SI units: t; q1 … qn; v1 … vn; i1 … or tau1 ….

    Columns may also be named by joints (position.elbow) or as RTDE does (actual_q_0).
    ratio: (n,) gear ratios where the torques are the motors'.
    """
    table = _table(Path(fspath(path)))
    lower = {name.lower(): k for k, name in enumerate(table.names)}
    at = next((lower[name] for name in TIMES if name in lower), None)
    if at is None:
        raise FileError(f"no column of times: call one {' or '.join(TIMES)}", path, 1)
    found = {kind: _columns(lower, names, robot) for kind, names in KINDS.items()}
    if found["q"] is None:
        raise FileError(
            f"no columns of positions for {robot.n} joints; name them q1 … q{robot.n}, or "
            f"position.{robot.joint_names[0]} and so on",
            path,
            1,
        )
    fields: dict[str, Any] = {
        kind: table.values[:, k] for kind, k in found.items() if k is not None
    }
    if "current" in fields:
        fields.pop("torque", None)
    if "torque" in fields and ratio is not None:
        fields["torque"] = fields["torque"] * np.asarray(ratio, dtype=float)
    power = next(((a, b) for a, b in SUPPLY if a in lower and b in lower), None)
    if power is not None:
        fields["supply_power"] = table.values[:, lower[power[0]]] * table.values[:, lower[power[1]]]
    try:
        return Recording(t=table.values[:, at], name=Path(fspath(path)).name, **fields)
    except ArgumentError as e:
        raise FileError(str(e), path) from None


def _table(path: Path) -> Table:
    if path.suffix != ".gz":
        return read_table(path)
    try:
        with gzip.open(path) as file:
            text = file.read(MOST_BYTES + 1)
    except (OSError, EOFError) as e:
        raise FileError(f"it cannot be unpacked ({e}); check the file", path) from None
    if len(text) > MOST_BYTES:
        raise FileError(f"unpacked it has more than {MOST_BYTES >> 20} MB; cut the recording", path)
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        plain.write_bytes(text)
        return read_table(plain)


def _columns(lower: dict[str, int], names: tuple[str, ...], robot: Robot) -> list[int] | None:
    """Places of a kind's columns in the robot's order: by number from 0 or 1, or by joint."""
    for name in names:
        numbered = {}
        for column, k in lower.items():
            match = re.fullmatch(rf"{name}_?(\d+)", column)
            if match:
                numbered[int(match[1])] = k
        for first in (1, 0):
            wanted = range(first, first + robot.n)
            if set(numbered) == set(wanted):
                return [numbered[number] for number in wanted]
        named = [
            next((lower[x] for x in (f"{name}.{j}", f"{name}_{j}") if x in lower), None)
            for j in map(str.lower, robot.joint_names)
        ]
        if None not in named:
            return [k for k in named if k is not None]
    return None

"""Recordings from files: CSV (plain or .gz, as loggers and UR's RTDE write them), ROS 2 recordings,
MATLAB files.

Every reader gives columns by name; which is which is found here, by usual names or by the user's
own map."""

from __future__ import annotations

import gzip
import re
import tempfile
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import ArgumentError, FileError
from armature.identify.files.bag import read_bag
from armature.identify.files.matlab import read_matlab
from armature.identify.recording import Recording
from armature.motion.table import MOST_BYTES, read_bytes, read_table
from armature.robot.model import Robot

TIMES = ("t", "time", "timestamp", "times")
KINDS = {  # field → names before the joint's number or name
    "q": ("q", "actual_q", "position", "pos", "joint_position"),
    "v": ("v", "qd", "dq", "actual_qd", "velocity", "vel", "joint_velocity"),
    "a": ("a", "qdd", "ddq", "acceleration", "acc"),
    "current": ("i", "current", "actual_current", "motor_current"),
    "torque": ("tau", "torque", "effort", "taum", "joint_torque"),
}
SUPPLY = (("u_robot", "i_robot"), ("actual_robot_voltage", "actual_robot_current"))
POWERS = ("supply_power", "power", "p_supply")
MOVES = ("move", "moves")


def load_recording(
    path: str | PathLike[str],
    robot: Robot,
    columns: Mapping[str, Any] | None = None,
    ratio: Any = None,
    transmission: Any = None,
    payload: float = 0.0,
    payload_at: Sequence[float] = (0.0, 0.0, 0.0),
) -> Recording:
    """A recording from a file, in SI units: .csv, .csv.gz, UR's RTDE .csv, .mat, .mcap, .db3 or a
    rosbag2 folder.

    Columns are found by their names: t; q1 … qn or position.elbow or actual_q_0; v…, a…; i… or
    tau…; u_robot and i_robot, or supply_power.  columns: a map where they are named otherwise:
    {"t": "clock", "q": "joint_{}_deg"
    or a list of names, "current": …, "power": …}; {} stands for the joints' numbers from 1.
    ratio: (n,) gear ratios where the torques are the motors'.  transmission: (n, n) motor angles
    per joint angle, where motors move several joints; then the torques are the motors' too.
    payload, payload_at: what the tip carries, kg, and its centre, m."""
    place = Path(fspath(path))
    table = _read(place)
    chosen = dict(columns or {})
    unknown = set(chosen) - {"t", "power", "moves", *KINDS}
    if unknown:
        raise ArgumentError(
            f"columns: {sorted(unknown)} are no fields; there are t, {', '.join(KINDS)}, power,"
            " moves"
        )
    found = {kind: _field(table, kind, chosen.get(kind), robot, place) for kind in KINDS}
    t = _single(table, chosen.get("t"), TIMES, place)
    if not all(len(x) for x in table.values()):
        raise FileError("there is a header, but no samples below it; record again", place, 1)
    if t is None:
        raise FileError(
            f"no column of times: call one {' or '.join(TIMES)}, or name it by columns={{'t': …}}",
            place,
            1,
        )
    if found["q"] is None:
        raise FileError(
            f"no columns of positions for {robot.n} joints; name them q1 … q{robot.n}, or"
            f" position.{robot.joint_names[0]} and so on, or give columns={{'q': …}}; there are"
            f" {', '.join(list(table)[:12])}",
            place,
            1,
        )
    fields: dict[str, Any] = {kind: x for kind, x in found.items() if x is not None}
    if "current" in fields:
        fields.pop("torque", None)
    matrix = _matrix(ratio, transmission, robot)
    if matrix is not None and "torque" in fields:
        fields["torque"] = fields["torque"] @ matrix
    fields["supply_power"] = _supply(table, chosen.get("power"), place)
    fields["moves"] = _single(table, chosen.get("moves"), MOVES, place)
    held = tuple(float(x) for x in payload_at)
    try:
        return Recording(
            t=t,
            name=place.name,
            transmission=None if transmission is None else matrix,
            payload=payload,
            payload_at=(held[0], held[1], held[2]),
            **fields,
        )
    except ArgumentError as e:
        raise FileError(str(e).removeprefix(f"{place.name}: "), path) from None


def _read(path: Path) -> dict[str, np.ndarray]:
    """Columns of a file by their names."""
    suffix = path.suffix.lower()
    if suffix == ".mat":
        return read_matlab(path)
    if suffix in (".mcap", ".db3") or path.is_dir():
        return read_bag(path)
    table = read_table(path) if suffix != ".gz" and not _is_spaced(path) else _rewritten(path)
    return {name: table.values[:, k] for k, name in enumerate(table.names)}


def _is_spaced(path: Path) -> bool:
    """Whether the header is parted by other marks than commas, as RTDE's recorder does."""
    try:
        with open(path, "rb") as file:
            head = file.readline(2**20)
    except OSError:
        return False  # the reader of tables tells why
    return b"," not in head and len(re.split(rb"[;\s]+", head.strip())) > 1


def _rewritten(path: Path) -> Any:
    """The table of a file that is packed, or parted by blanks, semicolons or tabs."""
    try:
        if path.suffix == ".gz":
            with gzip.open(path) as file:
                text = file.read(MOST_BYTES + 1)
        else:
            text = read_bytes(path)
    except (OSError, EOFError) as e:
        raise FileError(f"it cannot be unpacked ({e}); check the file", path) from None
    if len(text) > MOST_BYTES:
        raise FileError(f"unpacked it has more than {MOST_BYTES >> 20} MB; cut the recording", path)
    head = text.split(b"\n", 1)[0]
    if b"," not in head:
        text = text.replace(b",", b".")  # where marks other than commas part columns: decimal ones
        text = re.sub(rb"[ \t]*[;\t ][ \t]*", b",", re.sub(rb"[ \t]+(\r?\n|$)", rb"\1", text))
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.stem
        plain.write_bytes(text)
        try:
            return read_table(plain)
        except FileError as e:
            message = str(e).removeprefix(f"{e.path}:{e.line}: ").removeprefix(f"{e.path}: ")
            raise FileError(message, path, e.line) from None


def _single(
    table: Mapping[str, np.ndarray], name: Any, names: Sequence[str], path: Path
) -> np.ndarray | None:
    """A column by the user's name, or by one of the usual ones."""
    if name is not None:
        if name not in table:
            raise FileError(
                f"there is no column {name!r}; there are {', '.join(list(table)[:12])}", path, 1
            )
        return table[name]
    lower = {key.lower(): key for key in table}
    return next((table[lower[x]] for x in names if x in lower), None)


def _supply(table: Mapping[str, np.ndarray], name: Any, path: Path) -> np.ndarray | None:
    """Supply power, W: a column, or voltage × current."""
    lower = {key.lower(): key for key in table}
    pair = next(((a, b) for a, b in SUPPLY if a in lower and b in lower), None)
    if name is None and pair is not None:
        return table[lower[pair[0]]] * table[lower[pair[1]]]
    return _single(table, name, POWERS, path)


def _field(
    table: Mapping[str, np.ndarray], kind: str, given: Any, robot: Robot, path: Path
) -> np.ndarray | None:
    """(N, n) of a kind, in the robot's order: by the user's names, by number from 0 or 1, or by
    joint."""
    if given is not None:
        names = (
            [given.format(k + 1) for k in range(robot.n)]
            if isinstance(given, str)
            else [str(x) for x in given]
        )
        if len(names) != robot.n:
            raise ArgumentError(
                f"columns: {kind} names {len(names)} columns, robot {robot.name!r} has {robot.n}"
                " joints"
            )
        missing = [name for name in names if name not in table]
        if missing:
            raise FileError(
                f"there is no column {missing[0]!r}; there are {', '.join(list(table)[:12])}",
                path,
                1,
            )
        return np.column_stack([table[name] for name in names])
    lower = {key.lower(): key for key in table}
    for name in KINDS[kind]:
        numbered = {
            int(m[1]): key
            for low, key in lower.items()
            if (m := re.fullmatch(rf"{name}_?(\d+)", low))
        }
        for first in (1, 0):
            wanted = range(first, first + robot.n)
            if set(numbered) == set(wanted):
                return np.column_stack([table[numbered[k]] for k in wanted])
        named = [
            next((lower[x] for x in (f"{name}.{j}", f"{name}_{j}") if x in lower), None)
            for j in map(str.lower, robot.joint_names)
        ]
        if None not in named:
            return np.column_stack([table[key] for key in named if key is not None])
    return None


def _matrix(ratio: Any, transmission: Any, robot: Robot) -> np.ndarray | None:
    """(n, n) joint torques = motor torques × this."""
    if ratio is None and transmission is None:
        return None
    if ratio is not None and transmission is not None:
        raise ArgumentError("give ratio or transmission, not both: a transmission holds the ratios")
    try:
        found = np.asarray(ratio if transmission is None else transmission, dtype=float)
    except (TypeError, ValueError):
        found = np.empty(0)
    found = np.diag(found) if transmission is None and found.ndim == 1 else found
    if found.shape != (robot.n, robot.n) or not np.all(np.isfinite(found)):
        raise ArgumentError(
            f"ratio needs {robot.n} numbers, a transmission {robot.n} × {robot.n}; got shape"
            f" {found.shape}"
        )
    return found

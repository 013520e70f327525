"""Files that motions are kept in: CSV, NPZ, JSON, ROS 2 JointTrajectory YAML, and Parquet where pyarrow is installed.

The suffix decides. All but ROS 2 give back an equal trajectory, bit for bit; ROS 2 keeps times to a nanosecond and knows positions,
velocities, accelerations and efforts only. A bad file is refused with its line.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import ArgumentError, ArmatureError, FileError, MissingExtraError
from armature.motion.table import read_bytes, read_table, read_text
from armature.motion.trajectory import INTERPOLATIONS, Trajectory

KINDS = ("q", "v", "a", "tau", "current", "voltage", "power")
MARK = "armature trajectory"


def save(trajectory: Trajectory, path: str | PathLike[str]) -> None:
    """Write a trajectory; the suffix .csv, .npz, .json, .yaml (ROS 2) or .parquet decides the format."""
    write, _ = _format(path)
    data = write(trajectory)
    try:
        with open(path, "wb") as file:
            file.write(data)
    except OSError as e:
        raise FileError(f"it cannot be written ({e.strerror or e}); check the folder and its permissions", path) from None


def load_trajectory(path: str | PathLike[str]) -> Trajectory:
    """Read a trajectory that `save` wrote, or a CSV or ROS 2 file of another program: times and positions are enough.

    Velocities and accelerations that are not in the file are those of the cubic spline through the positions.
    """
    _, read = _format(path)
    try:
        return read(path)
    except FileError:
        raise
    except ArmatureError as e:  # a trajectory that contradicts itself
        raise FileError(str(e), path) from None


def _format(path: str | PathLike[str]) -> tuple[Callable, Callable]:
    suffix = Path(os.fspath(path)).suffix.lower()
    if suffix not in FORMATS:
        raise FileError(f"the suffix {suffix!r} is not that of a motion; use one of {', '.join(FORMATS)}", path)
    return FORMATS[suffix]


# columns -----------------------------------------------------------------------------------------------------------------


def _names(trajectory: Trajectory, kind: str) -> list[str]:
    """Names of the columns of one kind: the joints', or numbers where there are more or fewer columns than joints."""
    width = getattr(trajectory, kind).shape[1]
    names = trajectory.joint_names if len(trajectory.joint_names) == width else tuple(map(str, range(width)))
    return [f"{kind}.{name}" for name in names]


def _columns(trajectory: Trajectory) -> tuple[list[str], np.ndarray]:
    """All that a trajectory holds as one table: t, q.joint, …, v.joint, …."""
    kinds = [k for k in KINDS if getattr(trajectory, k) is not None]
    names = ["t", *(name for k in kinds for name in _names(trajectory, k))]
    return names, np.column_stack([trajectory.t, *(getattr(trajectory, k) for k in kinds)])


def _from_columns(names: list[str], values: np.ndarray, about: dict[str, Any], path: object, line: int | None = None) -> Trajectory:
    """The trajectory of a table; columns that are not known are refused."""
    if "t" not in names:
        raise FileError("there is no column 't' (times in s); add it", path, line)
    groups: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        kind = name.partition(".")[0]
        if name != "t" and (kind not in KINDS or "." not in name):
            raise FileError(f"column {name!r} is not known; use t, q.<joint>, v.<joint>, a.<joint>, tau.<joint>, …", path, line)
        groups.setdefault(kind, []).append(i)
    if "q" not in groups:
        raise FileError("there is no column 'q.<joint>' (positions); add one for each joint", path, line)
    joints = tuple(names[i].partition(".")[2] for i in groups["q"])
    arrays = {k: values[:, groups[k]] for k in KINDS if k in groups}
    return _completed(values[:, names.index("t")], arrays, about.get("joint_names", joints), about.get("interpolation", "hermite"))


def _completed(t: np.ndarray, arrays: dict[str, np.ndarray], names: Any, interpolation: str) -> Trajectory:
    """Missing velocities and accelerations by a cubic spline through the positions."""
    if "v" not in arrays or "a" not in arrays:
        if len(t) < 2 or np.any(np.diff(t) <= 0):
            raise ArgumentError("times must be one increasing sequence of at least two numbers to derive velocities")
        from scipy.interpolate import CubicSpline

        if "v" in arrays:
            arrays = {**arrays, "a": CubicSpline(t, arrays["v"])(t, 1)}
        else:
            curve = CubicSpline(t, arrays["q"], bc_type="clamped" if len(t) < 4 else "not-a-knot")
            arrays = {**arrays, "v": curve(t, 1), "a": curve(t, 2)}
    return Trajectory(t, joint_names=tuple(names), interpolation=interpolation, **arrays)


def _about(trajectory: Trajectory) -> dict[str, Any]:
    return {"format": MARK, "version": 1, "interpolation": trajectory.interpolation, "joint_names": list(trajectory.joint_names)}


def _checked(about: Any, path: object, line: int | None = None) -> dict[str, Any]:
    """What a file says about itself, or a FileError."""
    if not isinstance(about, dict) or about.get("format") != MARK:
        raise FileError(f"this is not an {MARK}; check the file", path, line)
    if about.get("interpolation") not in INTERPOLATIONS:
        raise FileError(f"interpolation {about.get('interpolation')!r} is not known; use one of {', '.join(INTERPOLATIONS)}", path, line)
    names = about.get("joint_names")
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        raise FileError("joint_names must be a list of names; correct it", path, line)
    return about


# CSV ---------------------------------------------------------------------------------------------------------------------


def _write_csv(trajectory: Trajectory) -> bytes:
    names, values = _columns(trajectory)
    out = io.StringIO()
    out.write(f"# {json.dumps(_about(trajectory), ensure_ascii=False)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([repr(x) for x in row] for row in values.tolist())
    return out.getvalue().encode()


def _read_csv(path: str | PathLike[str]) -> Trajectory:
    table = read_table(path)
    about: dict[str, Any] = {}
    for note in table.notes:
        if note.startswith("{"):
            try:
                about = _checked(json.loads(note), path, 1)
            except json.JSONDecodeError:
                raise FileError("the first line is not what a trajectory begins with; restore or remove it", path, 1) from None
    t = table.values[:, table.names.index("t")] if "t" in table.names else np.empty(0)
    back = np.flatnonzero(np.diff(t) <= 0)
    if len(back):
        k = int(back[0]) + 1
        raise FileError(f"the time {t[k]:g} s is not after {t[k - 1]:g} s of the line before; sort the lines", path, table.lines[k])
    return _from_columns(table.names, table.values, about, path, table.header_line)


# JSON and NPZ ------------------------------------------------------------------------------------------------------------


def _write_json(trajectory: Trajectory) -> bytes:
    arrays = {k: getattr(trajectory, k).tolist() for k in ("t", *KINDS) if getattr(trajectory, k) is not None}
    return (json.dumps({**_about(trajectory), **arrays}, ensure_ascii=False) + "\n").encode()


def _read_json(path: str | PathLike[str]) -> Trajectory:
    try:
        data = json.loads(read_text(path))
    except json.JSONDecodeError as e:
        raise FileError(f"this is not JSON: {e.msg} at column {e.colno}", path, e.lineno) from None
    return _from_arrays(_checked(data, path), {k: data[k] for k in ("t", *KINDS) if k in data}, path)


def _from_arrays(about: dict[str, Any], data: dict[str, Any], path: object) -> Trajectory:
    arrays = {}
    for k, value in data.items():
        try:
            arrays[k] = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise FileError(f"{k!r} is not an array of numbers; every row must have the same length", path) from None
        if not np.all(np.isfinite(arrays[k])):
            raise FileError(f"{k!r} holds a number that is not finite; correct it", path)
    for k in ("t", "q"):
        if k not in arrays:
            raise FileError(f"there is no {k!r}; a trajectory needs times and positions", path)
    t = arrays.pop("t")
    return _completed(t, arrays, about["joint_names"], about["interpolation"])


def _write_npz(trajectory: Trajectory) -> bytes:
    arrays = {k: getattr(trajectory, k) for k in ("t", *KINDS) if getattr(trajectory, k) is not None}
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, about=np.array(json.dumps(_about(trajectory))), **arrays)
    return out.getvalue()


def _read_npz(path: str | PathLike[str]) -> Trajectory:
    data = read_bytes(path)
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            content = {k: file[k] for k in file.files}
    except Exception as e:  # whatever NumPy and zipfile make of foreign bytes
        raise FileError(f"this is not an NPZ file ({e}); check the file", path) from None
    try:
        about = json.loads(str(content.get("about")))
    except json.JSONDecodeError:
        about = None
    return _from_arrays(_checked(about, path), {k: content[k] for k in ("t", *KINDS) if k in content}, path)


# Parquet -----------------------------------------------------------------------------------------------------------------


def _pyarrow() -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtraError("a Parquet file", "pyarrow", "io") from None


def _write_parquet(trajectory: Trajectory) -> bytes:
    pa, parquet = _pyarrow()
    names, values = _columns(trajectory)
    table = pa.table({name: values[:, k] for k, name in enumerate(names)})
    out = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({"armature": json.dumps(_about(trajectory))}), out)
    return out.getvalue()


def _read_parquet(path: str | PathLike[str]) -> Trajectory:
    pa, parquet = _pyarrow()
    data = read_bytes(path)
    try:
        table = parquet.read_table(io.BytesIO(data))
        values = np.column_stack([np.asarray(c.to_numpy(), dtype=float) for c in table.columns])
    except (pa.ArrowException, TypeError, ValueError, OSError) as e:
        raise FileError(f"this is not a Parquet table of numbers ({e}); check the file", path) from None
    note = (table.schema.metadata or {}).get(b"armature")
    return _from_columns(table.column_names, values, _checked(json.loads(note), path) if note else {}, path)


def _write_ros(trajectory: Trajectory) -> bytes:
    from armature.motion.ros import write_ros

    return write_ros(trajectory)


def _read_ros(path: str | PathLike[str]) -> Trajectory:
    from armature.motion.ros import read_ros

    names, t, arrays = read_ros(path)
    return _completed(t, arrays, names, "hermite")


FORMATS: dict[str, tuple[Callable[[Trajectory], bytes], Callable[..., Trajectory]]] = {
    ".csv": (_write_csv, _read_csv),
    ".npz": (_write_npz, _read_npz),
    ".json": (_write_json, _read_json),
    ".yaml": (_write_ros, _read_ros),
    ".yml": (_write_ros, _read_ros),
    ".parquet": (_write_parquet, _read_parquet),
}

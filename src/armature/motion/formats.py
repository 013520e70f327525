"""Files that motions are kept in: CSV, NPZ, JSON, ROS 2 JointTrajectory YAML; Parquet, HDF5 and
MCAP where their packages are installed.

The suffix decides. All but ROS 2 give back an equal trajectory, bit for bit; ROS 2 keeps times to a
nanosecond and knows positions, velocities, accelerations and efforts only. Units stand in every
file. A bad file is refused with its line."""

from __future__ import annotations

import csv
import importlib
import io
import json
import os
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import ArmatureError, FileError
from armature.motion.archive import npz_content
from armature.motion.columns import (
    arrays_of,
    checked,
    columns,
    completed,
    describe,
    from_arrays,
    from_columns,
    from_mapping,
)
from armature.motion.table import read_table
from armature.motion.trajectory import Trajectory
from armature.nested import json_value
from armature.text import read_text
from armature.write import write_whole


def save(
    trajectory: Trajectory, path: str | PathLike[str], provenance: Mapping[str, Any] | None = None
) -> None:
    """Write a trajectory; the suffix .csv, .npz, .json, .yaml (ROS 2), .parquet, .h5 or .mcap
    decides the format.

    provenance: where the motion comes from; it is written into the file.
    """
    write, _ = _format(path)
    write_whole(path, write(trajectory, describe(trajectory, provenance)))


def load_trajectory(path: str | PathLike[str]) -> Trajectory:
    """Read a trajectory that `save` wrote, or a CSV, ROS 2 or MCAP file of another program: times
    and positions are enough.

    Velocities and accelerations that are not in the file are those of the cubic spline through the
    positions."""
    _, read = _format(path)
    try:
        return read(path)
    except FileError:
        raise
    except ArmatureError as e:  # a trajectory that contradicts itself
        raise e if isinstance(e, ImportError) else FileError(str(e), path) from None


def _format(
    path: str | PathLike[str],
) -> tuple[Callable[[Trajectory, dict], bytes], Callable[..., Trajectory]]:
    suffix = Path(os.fspath(path)).suffix.lower()
    if suffix not in FORMATS:
        raise FileError(
            f"the suffix {suffix!r} is not that of a motion; use one of {', '.join(FORMATS)}", path
        )
    module, name = FORMATS[suffix]
    found = importlib.import_module(module)
    return getattr(found, f"write_{name}"), getattr(found, f"read_{name}")


# CSV ---------------------------------------------------------------------------------------------


def write_csv(trajectory: Trajectory, about: dict[str, Any]) -> bytes:
    """A line of JSON after #, a header t, q.joint, …, and numbers that read back bit for bit."""
    names, values = columns(trajectory)
    out = io.StringIO()
    out.write(f"# {json.dumps(about, ensure_ascii=False)}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([repr(x) for x in row] for row in values.tolist())
    return out.getvalue().encode()


def read_csv(path: str | PathLike[str]) -> Trajectory:
    """The trajectory of a CSV file with columns t, q.joint, …."""
    table = read_table(path)
    about: dict[str, Any] = {}
    for note in table.notes:
        if note.startswith("{"):
            try:
                said = json_value(note, path)
            except FileError:
                raise FileError(
                    "the first line is not what a trajectory begins with; restore or remove it",
                    path,
                    1,
                ) from None
            about = checked(said, path, 1)
    t = table.values[:, table.names.index("t")] if "t" in table.names else np.empty(0)
    back = np.flatnonzero(np.diff(t) <= 0)
    if len(back):
        k = int(back[0]) + 1
        raise FileError(
            f"the time {t[k]:g} s is not after {t[k - 1]:g} s of the line before; sort the lines",
            path,
            int(table.lines[k]),
        )
    return from_columns(table.names, table.values, about, path, table.header_line)


# JSON and NPZ ------------------------------------------------------------------------------------


def write_json(trajectory: Trajectory, about: dict[str, Any]) -> bytes:
    """One object: what the file is, then t, q, v, … as lists of rows."""
    arrays = {k: x.tolist() for k, x in arrays_of(trajectory).items()}
    return (json.dumps({**about, **arrays}, ensure_ascii=False) + "\n").encode()


def read_json(path: str | PathLike[str]) -> Trajectory:
    """The trajectory of a JSON file."""
    return from_mapping(json_value(read_text(path), path), path)


def write_npz(trajectory: Trajectory, about: dict[str, Any]) -> bytes:
    """Arrays t, q, v, … and `about`, a text in JSON."""
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, about=np.array(json.dumps(about)), **arrays_of(trajectory))
    return out.getvalue()


def read_npz(path: str | PathLike[str]) -> Trajectory:
    """The trajectory of an NPZ file."""
    content = npz_content(path)
    known = checked(json_value(str(content.pop("about", "null")), path), path)
    return from_arrays(
        known, {k: content[k] for k in content if k in known.get("units", content)}, path
    )


# ROS 2 -------------------------------------------------------------------------------------------


def write_ros(trajectory: Trajectory, about: dict[str, Any]) -> bytes:
    """A JointTrajectory message in YAML; what the file is stands in a comment."""
    from armature.motion.ros import to_yaml

    return f"# {json.dumps(about, ensure_ascii=False)}\n{to_yaml(trajectory)}".encode()


def read_ros(path: str | PathLike[str]) -> Trajectory:
    """The trajectory of a JointTrajectory message in YAML."""
    from armature.motion.ros import read_message

    names, t, arrays = read_message(path)
    return completed(t, arrays, names, "hermite")


HERE = "armature.motion.formats"
FORMATS: dict[str, tuple[str, str]] = {
    ".csv": (HERE, "csv"),
    ".npz": (HERE, "npz"),
    ".json": (HERE, "json"),
    ".yaml": (HERE, "ros"),
    ".yml": (HERE, "ros"),
    ".parquet": ("armature.motion.binary", "parquet"),
    ".h5": ("armature.motion.binary", "hdf5"),
    ".hdf5": ("armature.motion.binary", "hdf5"),
    ".mcap": ("armature.motion.mcap", "mcap"),
}

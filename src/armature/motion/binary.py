"""Motions as Parquet tables and HDF5 files, with units in their metadata."""

from __future__ import annotations

import importlib
import io
import json
from os import PathLike
from typing import Any

import numpy as np

from armature.errors import FileError, MissingExtraError
from armature.motion.columns import UNITS, arrays_of, checked, columns, from_arrays, from_columns
from armature.motion.table import read_bytes
from armature.motion.trajectory import Trajectory


def package(name: str, what: str, extra: str = "io") -> Any:
    """An optional package, or a MissingExtraError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(what, name.partition(".")[0], extra) from None


# Parquet -----------------------------------------------------------------------------------------------------------------


def write_parquet(trajectory: Trajectory, about: dict[str, Any]) -> bytes:
    """A table t, q.joint, …; the unit is metadata of each column, the rest stands under `armature` in the schema's."""
    pa, parquet = package("pyarrow", "a Parquet file"), package("pyarrow.parquet", "a Parquet file")
    names, values = columns(trajectory)
    parts = [pa.field(name, pa.float64(), metadata={"unit": UNITS[name.partition(".")[0]]}) for name in names]
    schema = pa.schema(parts, metadata={"armature": json.dumps(about)})
    out = io.BytesIO()
    parquet.write_table(pa.table([values[:, k] for k in range(len(names))], schema=schema), out)
    return out.getvalue()


def read_parquet(path: str | PathLike[str]) -> Trajectory:
    """The trajectory of a Parquet table."""
    pa, parquet = package("pyarrow", "a Parquet file"), package("pyarrow.parquet", "a Parquet file")
    data = read_bytes(path)
    try:
        table = parquet.read_table(io.BytesIO(data))
        values = np.column_stack([np.asarray(c.to_numpy(), dtype=float) for c in table.columns])
    except (pa.ArrowException, TypeError, ValueError, OSError) as e:
        raise FileError(f"this is not a Parquet table of numbers ({_short(e)}); check the file", path) from None
    note = (table.schema.metadata or {}).get(b"armature")
    return from_columns(table.column_names, values, checked(_parsed(note), path) if note else {}, path)


# HDF5 --------------------------------------------------------------------------------------------------------------------


def write_hdf5(trajectory: Trajectory, about: dict[str, Any]) -> bytes:
    """Data sets t (N+1,), q (N+1, n), …, each with the attribute `unit`; the attribute `armature` of the file holds the rest in JSON."""
    h5py = package("h5py", "an HDF5 file")
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        file.attrs["armature"] = json.dumps(about)
        for name, array in arrays_of(trajectory).items():
            file.create_dataset(name, data=array).attrs["unit"] = UNITS[name]
    return out.getvalue()


def read_hdf5(path: str | PathLike[str]) -> Trajectory:
    """The trajectory of an HDF5 file."""
    h5py = package("h5py", "an HDF5 file")
    data = read_bytes(path)
    try:
        with h5py.File(io.BytesIO(data), "r") as file:
            note = file.attrs.get("armature")
            arrays = {name: np.asarray(file[name]) for name in UNITS if name in file}
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as e:
        raise FileError(f"this is not an HDF5 file of arrays ({_short(e)}); check the file", path) from None
    return from_arrays(checked(_parsed(note), path), arrays, path)


def _parsed(note: Any) -> Any:
    """What a file says about itself, None where it is no JSON."""
    try:
        return json.loads(note)
    except (TypeError, ValueError, RecursionError):
        return None


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__

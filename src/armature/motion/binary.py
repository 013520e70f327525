"""Motions as Parquet tables and HDF5 files, with units in their metadata.

Their libraries unpack what a file tells them to: they run in a process with limits
(`armature.confine`), and what a file says about its size is checked before anything is unpacked.
Limits: 128 MB, 16 million numbers; no data outside of the file."""

from __future__ import annotations

import importlib
import io
import json
import os
from os import PathLike
from typing import Any

import numpy as np

from armature.confine import confined
from armature.errors import FileError, MissingExtraError
from armature.motion.columns import UNITS, arrays_of, checked, columns, from_arrays, from_columns
from armature.motion.table import MOST_BINARY, MOST_COLUMNS, MOST_NUMBERS, read_bytes
from armature.motion.trajectory import Trajectory
from armature.nested import json_value
from armature.text import check_regular

MOST_NOTE = 2**22  # characters of what a file says about itself


def package(name: str, what: str, extra: str = "io") -> Any:
    """An optional package, or a MissingExtraError with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingExtraError(what, name.partition(".")[0], extra) from None


# Parquet -----------------------------------------------------------------------------------------


def write_parquet(trajectory: Trajectory, about: dict[str, Any]) -> bytes:
    """A table t, q.joint, …; the unit is metadata of each column, the rest stands under `armature`
    in the schema's."""
    pa, parquet = package("pyarrow", "a Parquet file"), package("pyarrow.parquet", "a Parquet file")
    names, values = columns(trajectory)
    parts = [
        pa.field(name, pa.float64(), metadata={"unit": UNITS[name.partition(".")[0]]})
        for name in names
    ]
    schema = pa.schema(parts, metadata={"armature": json.dumps(about)})
    out = io.BytesIO()
    parquet.write_table(pa.table([values[:, k] for k in range(len(names))], schema=schema), out)
    return out.getvalue()


def read_parquet(path: str | PathLike[str]) -> Trajectory:
    """The trajectory of a Parquet table."""
    package("pyarrow", "a Parquet file")
    check_regular(path, MOST_BINARY)
    about, arrays = confined("armature.motion.binary:parquet_content", os.path.abspath(path))
    return from_columns(
        about["names"],
        arrays["values"],
        checked(_parsed(about["note"]), path) if about["note"] else {},
        path,
    )


def parquet_content(path: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Names and numbers of a Parquet table, and what it says about itself; called in a process with
    limits."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(read_bytes(path)))
        rows, names = file.metadata.num_rows, [field.name for field in file.schema_arrow]
        if len(names) > MOST_COLUMNS or rows * len(names) > MOST_NUMBERS or rows < 0:
            raise FileError(
                f"the table has {rows} rows of {len(names)} columns; at most {MOST_NUMBERS} numbers"
                " are read",
                path,
            )
        bad = next(
            (
                f.name
                for f in file.schema_arrow
                if not (pa.types.is_floating(f.type) or pa.types.is_integer(f.type))
            ),
            None,
        )
        if bad is not None:
            raise FileError(
                f"this is not a Parquet table of numbers: column {bad[:60]!r} holds something else",
                path,
            )
        table = file.read(use_threads=False)
        values = np.column_stack([np.asarray(c.to_numpy(), dtype=float) for c in table.columns])
    except (pa.ArrowException, TypeError, ValueError, OSError) as e:
        raise FileError(
            f"this is not a Parquet table of numbers ({_short(e)}); check the file", path
        ) from None
    if not np.all(np.isfinite(values)):
        raise FileError("the table holds a number that is missing or not finite; correct it", path)
    note = (table.schema.metadata or {}).get(b"armature")
    return {"names": names, "note": note.decode("utf-8", "replace") if note else None}, {
        "values": values
    }


# HDF5 --------------------------------------------------------------------------------------------


def write_hdf5(trajectory: Trajectory, about: dict[str, Any]) -> bytes:
    """Data sets t (N+1,), q (N+1, n), …, each with the attribute `unit`; the attribute `armature`
    of the file holds the rest in JSON."""
    h5py = package("h5py", "an HDF5 file")
    out = io.BytesIO()
    with h5py.File(out, "w") as file:
        file.attrs["armature"] = json.dumps(about)
        for name, array in arrays_of(trajectory).items():
            file.create_dataset(name, data=array).attrs["unit"] = UNITS[name]
    return out.getvalue()


def read_hdf5(path: str | PathLike[str]) -> Trajectory:
    """The trajectory of an HDF5 file."""
    package("h5py", "an HDF5 file")
    check_regular(path, MOST_BINARY)
    note, arrays = confined("armature.motion.binary:hdf5_content", os.path.abspath(path))
    return from_arrays(checked(_parsed(note), path), arrays, path)


def hdf5_content(path: str) -> tuple[str | None, dict[str, np.ndarray]]:
    """What an HDF5 file says about itself, and its arrays; called in a process with limits."""
    import h5py

    try:
        with h5py.File(io.BytesIO(read_bytes(path)), "r") as file:
            named = {
                name: _data_set(h5py, file, name, path)
                for name in UNITS
                if file.get(name, getlink=True) is not None
            }
            if (count := sum(x.size for x in named.values())) > MOST_NUMBERS:
                raise FileError(
                    f"the file holds {count} numbers; at most {MOST_NUMBERS} are read", path
                )
            note = _note(file)
            return note, {name: np.asarray(x[()], dtype=float) for name, x in named.items()}
    except (OSError, RuntimeError, KeyError, TypeError, ValueError) as e:
        raise FileError(
            f"this is not an HDF5 file of arrays ({_short(e)}); check the file", path
        ) from None


def _data_set(h5py: Any, file: Any, name: str, path: object) -> Any:
    """A data set that lies in the file itself, holds plain numbers and is packed in a usual way; a
    FileError for any other."""
    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise FileError(
            f"{name!r} is a link to another place; store the numbers in the file itself", path
        )
    found = file[name]
    if (
        not isinstance(found, h5py.Dataset)
        or found.shape is None
        or found.dtype.kind not in "fiu"
        or found.dtype.itemsize > 8
    ):
        raise FileError(f"{name!r} is no array of plain numbers; store it as one", path)
    plan = found.id.get_create_plist()
    if plan.get_layout() == h5py.h5d.VIRTUAL or plan.get_external_count():
        raise FileError(
            f"{name!r} lies in other files, which are not read; store the numbers in the file"
            " itself",
            path,
        )
    filters = [plan.get_filter(k)[0] for k in range(plan.get_nfilters())]
    usual = (
        h5py.h5z.FILTER_DEFLATE,
        h5py.h5z.FILTER_SHUFFLE,
        h5py.h5z.FILTER_FLETCHER32,
        h5py.h5z.FILTER_LZF,
    )
    if not set(filters) <= set(usual):
        raise FileError(f"{name!r} is packed in an unusual way; store it plainly, or by gzip", path)
    piece = np.prod(found.chunks or 1, dtype=float)
    if piece > MOST_NUMBERS:
        raise FileError(
            f"{name!r} is stored in pieces of {piece:.3g} numbers; at most {MOST_NUMBERS} are read",
            path,
        )
    return found


def _note(file: Any) -> str | None:
    """The text in the attribute `armature`."""
    if "armature" not in file.attrs:
        return None
    kind = file.attrs.get_id("armature")
    if kind.shape != () or kind.get_storage_size() > MOST_NOTE:
        return None
    note = file.attrs["armature"]
    note = note.decode("utf-8", "replace") if isinstance(note, bytes) else note
    return note if isinstance(note, str) and len(note) <= MOST_NOTE else None


def _parsed(note: Any) -> Any:
    """What a file says about itself, None where it is no JSON."""
    try:
        return json_value(note, "", MOST_NOTE)
    except (TypeError, FileError):
        return None


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:120] if str(error) else type(error).__name__

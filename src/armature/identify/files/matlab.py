"""Recordings in MATLAB files (.mat up to version 7): variables t, q, v, i or tau, each a vector or
a matrix with time along one axis."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from armature.errors import FileError
from armature.motion.table import MOST_BINARY
from armature.text import check_regular


def read_matlab(path: Path) -> dict[str, np.ndarray]:
    """Columns by their names: vectors as they are, a matrix q as q1, q2, …; fields of a struct
    likewise."""
    from scipy.io import loadmat

    check_regular(path, MOST_BINARY)
    try:
        content = loadmat(path, simplify_cells=True)
    except NotImplementedError:
        raise FileError(
            "this is a MATLAB file of version 7.3 (HDF5); save it with -v7", path
        ) from None
    except Exception as e:  # whatever the reader makes of foreign bytes
        raise FileError(
            f"this is not a MATLAB file that can be read ({type(e).__name__}: {str(e)[:80]}); check"
            " the file",
            path,
        ) from None
    content = {k: x for k, x in content.items() if not k.startswith("__")}
    structs = [x for x in content.values() if isinstance(x, dict)]
    if len(structs) == 1 and len(content) == 1:
        content = structs[0]
    arrays = {k: np.asarray(x, dtype=float) for k, x in content.items() if _is_numbers(x)}
    rows = max((max(x.shape) for x in arrays.values()), default=0)
    columns: dict[str, np.ndarray] = {}
    for name, x in arrays.items():
        if x.ndim == 1 and len(x) == rows:
            columns[name] = x
        elif x.ndim == 2 and rows in x.shape:
            table = x if x.shape[0] == rows else x.T
            columns |= {f"{name}{k + 1}": table[:, k] for k in range(table.shape[1])}
    if not columns:
        raise FileError(
            "there are no arrays of numbers with one row for each time; save t, q, v and i or tau",
            path,
        )
    return columns


def _is_numbers(x: object) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "fiu" and x.ndim in (1, 2) and x.size > 1

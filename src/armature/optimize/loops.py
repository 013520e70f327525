"""How the loops over knots are compiled: once, kept on disk, fused and vectorised; NaN and infinity keep their meaning."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

how = {"cache": True, "fastmath": {"contract", "reassoc", "nsz", "arcp"}, "error_model": "numpy"}
files = ("loops", "rows", "riccati", "border", "local", "system", "newton")
written = hashlib.sha256(b"".join(Path(__file__).with_name(f"{name}.py").read_bytes() for name in files)).hexdigest()


def loop(function: Callable) -> Any:
    """A compiled loop. What is kept of it on disk is good as long as no file of loops has changed: numba looks at its own file alone."""
    made: Any = njit(**how)(function)
    kept = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if kept is not None:
        kept._source_stamp = kept._source_stamp, written
    return made


part = njit(**how, inline="always")  # a part of a loop that is written into it: a call would count the references to every array

"""How the loops over knots are compiled: once, kept on disk, fused and vectorised; NaN and infinity keep their meaning.

Numba looks at every array of a call, which costs as much as the work on some knots. So arrays that belong together are looked at once
and held; a loop takes them from `held.value`.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit, types
from numba.experimental import structref

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


@structref.register
class HeldType(types.StructRef):
    """Numba's type of `Held`."""


class Held(structref.StructRefProxy):
    """Arrays on the side of the compiled loops, in tuples: its only field is `value`."""


structref.define_attributes(HeldType)
structref.define_constructor(Held, HeldType, ["value"])
structref.define_boxing(HeldType, Held)


@loop
def hold(value):
    """Hand over arrays, in tuples, once for many calls. They are not copied."""
    return Held(value)

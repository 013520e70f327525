"""A case on its way to a worker and what comes back: the same in every kind of pool. Quick to
import: what a case needs comes with it."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from armature.errors import ArgumentError, ArmatureError
from armature.job.provenance import plain


class Outcome(NamedTuple):
    """What came of a case. values: plain, for the table.  plan: an .npz file, compressed by zlib,
    or None.  error: why there are no values.
    seconds: that it took, by the wall clock."""

    values: Mapping[str, Any]
    plan: bytes | None = None
    error: str = ""
    seconds: float = 0.0


def packed(function: Callable[[Any], Any], argument: Any) -> bytes:
    """A case as bytes: the function by its name, its argument by value."""
    try:
        return pickle.dumps((function, argument), protocol=pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError) as e:
        raise ArgumentError(
            f"a case cannot be sent to a worker ({e}); use plain values, and functions of a module"
        ) from None


def execute(case: bytes) -> Outcome:
    """Run a packed case. What goes wrong in it becomes its outcome; only the end of the process can
    keep one away."""
    begin = time.perf_counter()
    try:
        function, argument = pickle.loads(case)
        found = function(argument)
        values, plan = (found.values, found.plan) if isinstance(found, Outcome) else (found, None)
        outcome = Outcome({str(k): plain(v) for k, v in dict(values).items()}, plan)
    except ArmatureError as e:
        outcome = Outcome({}, None, str(e))
    except (
        Exception
    ) as e:  # a case that breaks the program is a row of the table, not the end of the study
        outcome = Outcome({}, None, f"{type(e).__name__}: {e}")
    return outcome._replace(seconds=time.perf_counter() - begin)

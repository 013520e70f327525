"""What a compiled loop is made of: the key under which its machine code is kept."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

CONSTANT = (bool, int, float, complex, str, bytes, tuple, type(None))


def digest(function: Callable) -> str:
    """SHA-256 of the sources and constants that a function is made of, through whatever it
    calls."""
    parts: dict[str, str] = {}
    gather(function, parts)
    return hashlib.sha256(repr(sorted(parts.items())).encode()).hexdigest()


def gather(value: Any, parts: dict[str, str]) -> None:
    """Add the source of a function of this package, and of everything that it names, to `parts`."""
    function = inspect.unwrap(getattr(value, "py_func", getattr(value, "_defn", value)))
    module = getattr(function, "__module__", None) or ""
    name = f"{module}.{getattr(function, '__qualname__', '')}"
    if not module.startswith("armature") or name in parts:
        return
    parts[name] = source_digest(module)
    if isinstance(function, types.FunctionType):
        for used in sorted(names(function.__code__)):
            found = function.__globals__.get(used)
            if isinstance(found, CONSTANT):
                parts[f"{name} {used}"] = repr(found)
            elif isinstance(found, types.ModuleType):
                if found.__name__.startswith("armature"):
                    parts[found.__name__] = source_digest(found.__name__)
            else:
                gather(found, parts)


def names(code: types.CodeType) -> set[str]:
    """The global names of a function and of the functions inside it."""
    inside = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*map(names, inside))


@functools.cache
def source_digest(module: str) -> str:
    """SHA-256 of a module's source."""
    return hashlib.sha256(inspect.getsource(sys.modules[module]).encode()).hexdigest()

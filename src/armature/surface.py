"""The public names of the package and of its rooms, each imported when it is first used, so that
`import armature` is quick.

The names of a room stand once, in its stub `__init__.pyi`, which type checkers read as it is and
`attach` at run time:
`from armature.motion.path import JointPath as JointPath`. Public functions and classes are guarded
(arguments.py): wrong arguments are named. Inside the package nothing is imported through these
names, but from the module that defines it."""

from __future__ import annotations

import ast
import functools
import importlib
import sys
import types
import warnings
from pathlib import Path
from typing import Any

TOP = "armature"
QUICK = (  # functions that take microseconds: their arguments are looked at only when a call fails
    "armature.dynamics.compiled"
)


class Surface(types.ModuleType):
    """A package whose public names come from its stub; a function is not hidden by a file or room
    of the same name (`simulate`)."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted(public_names(self.__name__))
        if name in (moved := self.__dict__.get("_moved", {})):
            return _moved_name(name, moved[name])
        if name.startswith("__") or name not in public_names(self.__name__):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        begun = sys.modules.get(f"{self.__name__}.{name}")
        if begun is not None and getattr(begun.__spec__, "_initializing", False):
            # one of its own modules asks, while it is being imported: it is guarded later
            return begun
        home = public_names(self.__name__)[name]
        value = public(*home, name, self.__name__) if self.__dict__["_guarded"] else _found(*home)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, types.ModuleType) and name in public_names(self.__name__)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(
            {
                *public_names(self.__name__),
                *(name for name in self.__dict__ if name.startswith("__")),
            }
        )


def attach(package: str, moved: dict[str, str] | None = None, guarded: bool = True) -> None:
    """Give a package the names of its stub.

    moved: old names, each with the public module where it is now; they warn.  guarded: whether
    wrong arguments are named."""
    module = sys.modules[package]
    module.__dict__.update(_moved=moved or {}, _guarded=guarded)
    module.__class__ = Surface


@functools.cache
def public_names(package: str) -> dict[str, tuple[str, str]]:
    """Public name → (module, name there), as the package's stub has them."""
    stub = Path(importlib.import_module(package).__file__ or "").with_suffix(".pyi")
    imports = [
        node
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
    ]
    return {
        x.asname: (node.module or "", x.name) for node in imports for x in node.names if x.asname
    }


@functools.cache
def public(module: str, attribute: str, name: str, package: str) -> Any:
    """What a public name stands for: guarded, and one object wherever it is asked for."""
    from armature.arguments import guard, guard_class, guard_module, guard_results

    top = public_names(TOP).get(name) == (module, attribute)
    if top and package != TOP:
        return public(module, attribute, name, TOP)
    value = _found(module, attribute)
    if isinstance(value, type):
        guard_class(value)
    elif isinstance(value, types.ModuleType) and not isinstance(value, Surface):
        guard_module(value)
    elif isinstance(value, types.FunctionType):
        guard_results(value)
        value = guard(value, name, before=not value.__module__.startswith(QUICK))
        value.__module__, value.__qualname__ = package, name  # found there by pickle
    return value


def _found(module: str, attribute: str) -> Any:
    """An attribute of a module, or the module of that name in a package."""
    found = importlib.import_module(module)
    if not isinstance(found, Surface) and hasattr(found, attribute):
        return getattr(found, attribute)
    return importlib.import_module(f"{module}.{attribute}")


def _moved_name(name: str, home: str) -> Any:
    """A public name that has moved: where it is now, with a warning to whoever asks by the old
    name."""
    words = (
        f"arm.{name} is now arm.{home}.{name}; the old name works in this release and goes with the"
        " next"
    )
    warnings.warn(words, DeprecationWarning, stacklevel=3)
    return getattr(getattr(sys.modules[TOP], home), name)

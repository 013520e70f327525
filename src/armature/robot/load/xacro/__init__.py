"""xacro: macros expanded by a processor of our own, then read as URDF. Files are data: nothing in
them is run.

`expand(path, arguments)` is the expanded tree; `load_xacro` the robot.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path

from armature.errors import FileError
from armature.robot.load.urdf import robot_from_urdf
from armature.robot.load.xacro.arguments import as_texts, explained
from armature.robot.load.xacro.expand import Expansion, Located
from armature.robot.load.xacro.only_macros import call_only_macro
from armature.robot.load.xml import Element
from armature.robot.model import Robot

__all__ = ["expand", "load_xacro"]


def load_xacro(path: str | PathLike[str], arguments: Mapping[str, object] | None = None) -> Robot:
    """The robot of a .xacro file; arguments: values of its `<xacro:arg>`s by name."""
    expansion, root = _expanded(Path(fspath(path)), arguments)
    return robot_from_urdf(root, path, expansion.source)


def expand(path: str | PathLike[str], arguments: Mapping[str, object] | None = None) -> Element:
    """The expanded tree of a .xacro file. Raises FileError with file, line and reason."""
    return _expanded(Path(fspath(path)), arguments)[1]


def _expanded(path: Path, arguments: Mapping[str, object] | None) -> tuple[Expansion, Element]:
    given = as_texts(arguments or {})
    expansion = Expansion(path, given)
    try:
        root = expansion.run()
        call_only_macro(expansion, root)
    except Located as e:
        raise explained(e, expansion, given) from None
    except RecursionError:
        raise FileError(
            "macros, properties or elements are nested too deep; does one use itself?", path
        ) from None
    unknown = [
        name
        for name in given
        if name not in expansion.texts.declared and name not in expansion.texts.used
    ]
    if unknown:
        known = ", ".join(expansion.texts.declared) or "none"
        expansion.texts.warn(f"the file has no argument {', '.join(unknown)}; it has: {known}")
    return expansion, root

"""xacro: macros expanded by the optional package xacrodoc, then read as URDF."""

from __future__ import annotations

from os import PathLike, fspath

from armature.errors import FileError, MissingExtraError
from armature.robot.load.urdf import robot_from_urdf
from armature.robot.load.xml import parse
from armature.robot.model import Robot
from armature.text import read_bytes


def load_xacro(path: str | PathLike[str]) -> Robot:
    """The robot of a .xacro file; lines in messages are those of the expanded text."""
    try:
        from xacrodoc import XacroDoc
    except ImportError:
        raise MissingExtraError("reading .xacro files", "xacrodoc", "xacro") from None
    parse(read_bytes(path), path)
    try:
        text = XacroDoc.from_file(fspath(path), resolve_packages=False).to_urdf_string()
    except Exception as e:  # macros run the author's own expressions, which may raise anything
        raise FileError(f"xacro cannot expand it ({type(e).__name__}: {_one_line(e)}); correct the macros", path) from None
    return robot_from_urdf(parse(text.encode("utf-8"), path), path)


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]

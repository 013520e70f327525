"""Robots from files: `load` picks the reader by the file's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path

from armature.errors import ArgumentError, FileError
from armature.robot.model import Joint, Link, Robot

__all__ = ["load"]


def load(
    path: str | PathLike[str],
    floating_base: bool = False,
    arguments: Mapping[str, object] | None = None,
) -> Robot:
    """The robot that a file describes: .urdf, .xacro, .xml (MJCF or URDF), .yaml or .yml.

    floating_base: put a floating joint between the world and the file's root link (for robots that
    stand on nothing).
    arguments: values of a xacro file's arguments by name, e.g. {"ur_type": "ur5e"}; other files
    have none. Raises FileError with file, line and reason for what is no robot; what could be
    repaired is an ArmatureWarning."""
    robot = _read(_as_path(path), arguments)
    return with_floating_base(robot) if floating_base else robot


def _read(path: Path, arguments: Mapping[str, object] | None) -> Robot:
    if path.suffix.lower() == ".xacro":
        from armature.robot.load.xacro import load_xacro

        return load_xacro(path, arguments)
    if arguments:
        raise ArgumentError(
            f"{path.name} takes no arguments ({', '.join(map(str, arguments))}); only .xacro files"
            " have them"
        )
    return _reader(path)(path)


def _as_path(path: object) -> Path:
    try:
        name = fspath(path)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentError(
            f"path is {path!r}; give the path of a robot file (a string or a pathlib.Path)"
        ) from None
    if not isinstance(name, str):
        raise ArgumentError(f"path is {path!r}; give it as text, not bytes")
    if "<" in name and ("\n" in name or name.lstrip().startswith("<")):
        raise ArgumentError("path looks like XML text; write it to a file and give the file's path")
    return Path(name)


def _reader(path: Path):
    """The reader for a file's suffix; the optional packages are imported only when their format is
    asked for."""
    suffix = path.suffix.lower()
    if suffix == ".urdf":
        from armature.robot.load.urdf import load_urdf as reader
    elif suffix == ".xml":
        from armature.robot.load.mjcf import load_xml as reader
    elif suffix in (".yaml", ".yml"):
        from armature.robot.load.yaml import load_yaml as reader
    else:
        raise FileError(
            f"the suffix {suffix!r} is not known; give a .urdf, .xacro, .xml (MJCF or URDF), .yaml"
            " or .yml file",
            path,
        )
    return reader


def with_floating_base(robot: Robot) -> Robot:
    """The same robot with its base free: a world link, and the floating joint `root_joint` between
    it and the old base."""
    if any(j.kind == "floating" and j.parent == robot.base for j in robot.joints):
        return robot
    world = _free_name("world", robot.link_names)
    joint = Joint(
        _free_name("root_joint", [j.name for j in robot.joints]), "floating", world, robot.base
    )
    return replace(
        robot, links=(Link(world), *robot.links), joints=(joint, *robot.joints), base=world
    )


def _free_name(name: str, taken: tuple[str, ...] | list[str]) -> str:
    while name in taken:
        name += "_"
    return name

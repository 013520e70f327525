"""ROS packages by name: beside the file that asks, in folders above it, and where the environment
says; meshes in them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

from armature.robot.mesh import KINDS
from armature.robot.model import Robot

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_\-]{0,100}")
DECLARED = re.compile(rb"<name>\s*([A-Za-z][A-Za-z0-9_\-]{0,100})\s*</name>")
PREFIXES = ("AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH", "CMAKE_PREFIX_PATH")
LEVELS_UP = 12  # folders above a file in which a folder of the package's name is looked for
LEVELS_SEARCHED = 3  # of them, those whose sub-folders are searched for a package.xml with the name
LEVELS_DOWN = 3
MOST_FOLDERS = 2_000
MOST_PACKAGES = 40  # in which a robot's meshes are looked for


def find_package(name: str, starts: Sequence[Path]) -> Path | None:
    """The folder of a ROS package, or None.

    starts: folders from which it is looked for upwards: a folder that is the package, or holds it,
    in its sub-folders too. Then ROS_PACKAGE_PATH, and share/ of AMENT_PREFIX_PATH,
    COLCON_PREFIX_PATH and CMAKE_PREFIX_PATH."""
    if not NAME.fullmatch(name):
        return None
    for start in dict.fromkeys(Path(os.path.abspath(s)) for s in starts):
        if (found := _above(name, start)) is not None:
            return found
    return next((place for place in _by_environment(name) if os.path.isdir(place)), None)


def _above(name: str, start: Path) -> Path | None:
    folders = [start, *start.parents][:LEVELS_UP]
    folders = [f for f in folders if f != Path(f.anchor)]
    for folder in folders:
        if package_name(folder) == name:
            return folder
        if _is_package(folder / name, name):
            return folder / name
    inside = next((k for k, f in enumerate(folders) if os.path.isfile(f / "package.xml")), 0)
    for folder in folders[inside + 1 : inside + 1 + LEVELS_SEARCHED]:
        if (found := _below(folder).get(name)) is not None:
            return Path(found)
    return next((folder for folder in folders if folder.name == name), None)


def _is_package(folder: Path, name: str) -> bool:
    """A folder of the package's name: one that declares no other name."""
    return os.path.isdir(folder) and package_name(folder) in (name, None)


def package_name(folder: Path) -> str | None:
    """The name in a folder's package.xml; None where there is none."""
    file = folder / "package.xml"
    try:
        if not os.path.isfile(file):
            return None
        with file.open("rb") as stream:
            found = DECLARED.search(stream.read(20_000))
    except OSError:
        return None
    return found.group(1).decode("ascii") if found else folder.name


def _below(folder: Path) -> dict[str, str]:
    """{name: folder} of the packages in a folder and its sub-folders."""
    found: dict[str, str] = {}
    for place in _folders(folder):
        name = package_name(place)
        if name is not None:
            found.setdefault(name, str(place))
    return found


def _folders(top: Path) -> Iterator[Path]:
    """Sub-folders, nearest first; not inside packages, not hidden ones, and not without end."""
    level, count = [top], 0
    for _ in range(LEVELS_DOWN):
        following: list[Path] = []
        for folder in level:
            try:
                names = sorted(
                    e.name for e in os.scandir(folder) if not e.name.startswith(".") and e.is_dir()
                )
            except OSError:
                continue
            for name in names:
                count += 1
                if count > MOST_FOLDERS:
                    return
                yield folder / name
                if not (folder / name / "package.xml").is_file():
                    following.append(folder / name)
        level = following


def _by_environment(name: str) -> Iterator[Path]:
    for entry in _entries("ROS_PACKAGE_PATH"):
        if package_name(entry) == name or entry.name == name:
            yield entry
        yield entry / name
        below = _below(entry).get(name)
        if below is not None:
            yield Path(below)
    for variable in PREFIXES:
        for prefix in _entries(variable):
            yield prefix / "share" / name
            yield prefix / name / "share" / name


def _entries(variable: str) -> list[Path]:
    return [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]


def mesh_finder(folder: Path) -> Callable[[str | None], str | None]:
    """A function that gives the absolute path of a mesh that a robot's file in `folder` names, None
    where there is none.

    package://arm/a.stl is a.stl in the package `arm`, found as `find_package` finds it (each
    package is looked for once)."""
    package = cache(lambda name: find_package(name, [folder]))

    def find(name: str | None) -> str | None:
        text = (name or "").removeprefix("file://").replace("\\", "/")
        inside = text.removeprefix("package://")
        parts = PurePosixPath(inside).parts
        if (
            not parts
            or "://" in inside
            or "\0" in inside
            or Path(inside).suffix.lower() not in KINDS
        ):
            return None
        if inside == text:
            place = folder.joinpath(*parts)
        elif ".." in parts or (root := package(parts[0])) is None:
            return None
        else:
            place = root.joinpath(*parts[1:])
        return str(place.resolve()) if os.path.isfile(place) else None

    return find


def mesh_folders(robot: Robot, folder: Path) -> tuple[Path, ...]:
    """Where the meshes of a robot may lie whose file is in `folder`: there, in its package, and in
    packages that its meshes name."""
    folder = Path(os.path.abspath(folder))
    names = {
        v.file.removeprefix("package://").split("/")[0]
        for x in robot.links
        for v in x.visuals
        if v.file and "package://" in v.file
    }
    found = [find_package(name, [folder]) for name in sorted(names)[:MOST_PACKAGES]]
    own = next((f for f in (folder, *folder.parents) if os.path.isfile(f / "package.xml")), None)
    return tuple(dict.fromkeys(f for f in (folder, own, *found) if f is not None))

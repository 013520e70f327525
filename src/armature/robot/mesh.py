"""Mesh files that a robot's file names: where they are, and their corner points. For clearances only extents are needed."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

KINDS = (".stl", ".obj", ".ply", ".dae", ".glb", ".off")
MOST_BYTES = 64 * 2**20  # of one file
HEADER, FACET = 84, 50  # bytes of a binary STL file before its facets, and of a facet


def find_mesh(name: str | None, folder: Path) -> str | None:
    """The file that a robot's file in `folder` names, as an absolute path; None where it is not found.

    package://arm/a.stl is looked for as arm/a.stl in this folder and in those above it, and as a.stl in one that is called arm.
    """
    text = (name or "").removeprefix("file://").replace("\\", "/")
    packaged = text.startswith("package://")
    parts = PurePosixPath(text.removeprefix("package://")).parts
    if not parts or "://" in text.removeprefix("package://") or Path(text).suffix.lower() not in KINDS:
        return None
    if not packaged:
        places = [folder.joinpath(*parts)]
    else:
        if ".." in parts:
            return None
        above = [folder.resolve(), *folder.resolve().parents]
        places = [place for root in above for place in _in_package(root, parts)]
    return next((str(place.resolve()) for place in places if os.path.isfile(place)), None)


def _in_package(root: Path, parts: tuple[str, ...]) -> list[Path]:
    """Where a package's file may lie at or below a folder."""
    here = [root.joinpath(*parts[1:])] if root.name == parts[0] and len(parts) > 1 else []
    return [root.joinpath(*parts), *here]


def mesh_points(path: str) -> np.ndarray | None:
    """(k, 3) corner points of a mesh's triangles in its own unit; None where the file cannot be read."""
    file = Path(path)
    try:
        if not os.path.isfile(file) or file.stat().st_size > MOST_BYTES:
            return None
        kind = file.suffix.lower()
        found = _stl(file.read_bytes()) if kind == ".stl" else _obj(file) if kind == ".obj" else None
    except (OSError, ValueError):
        return None
    found = _by_trimesh(file) if found is None else found
    good = found is not None and len(found) > 0 and bool(np.all(np.isfinite(found)))
    return found if good else None


def _stl(data: bytes) -> np.ndarray | None:
    """Corner points of an STL file, binary or text."""
    count = int.from_bytes(data[80:HEADER], "little") if len(data) >= HEADER else 0
    if count and len(data) >= HEADER + FACET * count:
        facets = np.frombuffer(data, np.uint8, FACET * count, HEADER).reshape(count, FACET)
        return facets[:, 12:48].copy().view("<f4").reshape(-1, 3).astype(float)
    words = [line.split()[1:4] for line in data.decode("ascii", "ignore").splitlines() if line.strip().startswith("vertex")]
    return np.array(words, dtype=float).reshape(-1, 3) if words else None


def _obj(file: Path) -> np.ndarray | None:
    """Vertices of a Wavefront file."""
    words = [line.split()[1:4] for line in file.read_text("utf-8", "ignore").splitlines() if line.startswith("v ")]
    return np.array(words, dtype=float).reshape(-1, 3) if words else None


def _by_trimesh(file: Path) -> np.ndarray | None:
    """Other formats, where trimesh is installed (extra `app`)."""
    try:
        import trimesh
    except ImportError:
        return None
    try:
        with file.open("rb") as opened:  # an open file has no folder: nothing that it names is read
            mesh: Any = trimesh.load_mesh(opened, file_type=file.suffix.lower().lstrip("."), resolver=None)
        return np.asarray(mesh.vertices, dtype=float)
    except Exception:  # whatever the many readers make of foreign bytes
        return None

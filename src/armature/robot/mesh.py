"""The triangles of mesh files, read within limits.

Regular files of at most 64 MB (text: 32 MB) and 2 million points; a binary STL file's header is
checked against its size. STL and OBJ files are read here; the others by trimesh in a process of its
own with limits of memory and time. Nothing that they name is read."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armature.confine import confined
from armature.errors import FileError
from armature.text import read_bytes

KINDS = (".stl", ".obj", ".ply", ".dae", ".glb", ".off")
MOST_BYTES = 64 * 2**20  # of one file
MOST_TEXT = 32 * 2**20  # of one that is text
PATIENCE = 120.0  # s by the clock for a process that may take 6 s of a processor: machines are busy
MOST_POINTS = 2_000_000  # corners of triangles, of one file
HEADER, FACET = 84, 50  # bytes of a binary STL file before its facets, and of a facet
NUMBERS = rb"[ \t]+(\S{1,60})[ \t]+(\S{1,60})[ \t]+(\S{1,60})"
VERTEX = {
    ".stl": re.compile(rb"^[ \t]*vertex" + NUMBERS, re.M | re.I),
    ".obj": re.compile(rb"^[ \t]*v" + NUMBERS, re.M),
}
FACE = re.compile(rb"^[ \t]*f[ \t]+([^\r\n]{1,4000})", re.M)


class Mesh(NamedTuple):
    """points: (k, 3) corners in the file's own unit.  faces: (m, 3) indices of them.  colour: red,
    green, blue in 0…1, or None."""

    points: np.ndarray
    faces: np.ndarray
    colour: tuple[float, float, float] | None = None


def read_mesh(path: str | os.PathLike[str]) -> Mesh:
    """The triangles of a mesh file; a FileError in one sentence where it is none, or exceeds a
    limit."""
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise FileError(f"this is no mesh that can be read; give one of {', '.join(KINDS)}", path)
    data = read_bytes(path, MOST_BYTES)
    mesh = (
        _stl(data, path)
        if kind == ".stl"
        else _obj(data, path)
        if kind == ".obj"
        else _by_trimesh(path)
    )
    if not len(mesh.faces) or not len(mesh.points):
        raise FileError("the mesh holds no triangles; check the file", path)
    if not np.all(np.isfinite(mesh.points)):
        raise FileError("the mesh has points that are not finite; check the file", path)
    if mesh.faces.min() < 0 or mesh.faces.max() >= len(mesh.points):
        raise FileError(
            f"the mesh has triangles of points that it does not have ({len(mesh.points)} there"
            " are); check the file",
            path,
        )
    return mesh


def _stl(data: bytes, path: object) -> Mesh:
    """An STL file, binary or text; which one it is tells the count of triangles in a binary one's
    header."""
    count = int.from_bytes(data[80:HEADER], "little") if len(data) >= HEADER else 0
    if (
        len(data) != HEADER + FACET * count
        and data[:400].lstrip().lower().startswith(b"solid")
        and VERTEX[".stl"].search(data)
    ):
        points = _points(data, ".stl", path)
        return Mesh(points, np.arange(len(points) // 3 * 3).reshape(-1, 3))
    room = max(0, len(data) - HEADER) // FACET
    if count > room or not count:
        raise FileError(
            f"its header says {count} triangles, the file has room for {room}; it is damaged or no"
            " STL file",
            path,
        )
    _check_count(3 * count, path)
    facets = np.frombuffer(data, np.uint8, FACET * count, HEADER).reshape(count, FACET)
    points = facets[:, 12:48].copy().view("<f4").reshape(-1, 3).astype(float)
    return Mesh(points, np.arange(3 * count).reshape(-1, 3))


def _obj(data: bytes, path: object) -> Mesh:
    """A Wavefront file: vertices, and faces cut into triangles from their first corner."""
    points = _points(data, ".obj", path)
    faces = list(islice(_triangles(data, len(points), path), MOST_POINTS // 3 + 1))
    _check_count(3 * len(faces), path)
    return Mesh(points, np.array(faces, dtype=np.int64).reshape(-1, 3))


def _points(data: bytes, kind: str, path: object) -> np.ndarray:
    """(k, 3) points of a text file."""
    if len(data) > MOST_TEXT:
        raise FileError(
            f"the mesh has {len(data) / 2**20:.0f} MB of text; at most {MOST_TEXT // 2**20} MB are"
            " read",
            path,
        )
    words = [found.groups() for found in islice(VERTEX[kind].finditer(data), MOST_POINTS + 1)]
    _check_count(len(words), path)
    try:
        return np.array([(float(x), float(y), float(z)) for x, y, z in words]).reshape(-1, 3)
    except ValueError:
        raise FileError(
            "the mesh has a vertex that is not three numbers; check the file", path
        ) from None


def _triangles(data: bytes, count: int, path: object) -> Iterator[tuple[int, int, int]]:
    """The faces of a Wavefront file, whose corners count from 1, or back from the last point."""
    for found in FACE.finditer(data):
        try:
            corners = [int(word.split(b"/")[0][:12]) for word in found.group(1).split()]
        except ValueError:
            raise FileError(
                "the mesh has a face whose corners are no numbers; check the file", path
            ) from None
        corners = [k - 1 if k > 0 else count + k for k in corners]
        yield from ((corners[0], b, c) for b, c in pairwise(corners[1:]))


def _check_count(count: int, path: object) -> None:
    if count > MOST_POINTS:
        raise FileError(
            f"the mesh has more than {MOST_POINTS} corner points, the most that are read; thin"
            " it out",
            path,
        )


def _by_trimesh(path: str | os.PathLike[str]) -> Mesh:
    """Other formats, in a process of its own."""
    colour, arrays = confined(
        "armature.robot.mesh:trimesh_content", os.path.abspath(path), patience=PATIENCE
    )
    points = arrays["points"]
    _check_count(len(points), path)
    return Mesh(
        points, arrays["faces"], None if colour is None else (colour[0], colour[1], colour[2])
    )


def trimesh_content(path: str) -> tuple[list[float] | None, dict[str, np.ndarray]]:
    """The colour and triangles of a mesh that trimesh reads (extra `app`); called by `confined`."""
    try:
        import trimesh
    except ImportError:
        raise FileError(
            "this kind of mesh is read by trimesh; install it: pip install 'armature[app]'", path
        ) from None
    with open(path, "rb") as opened:  # an open file has no folder: nothing that it names is read
        mesh: Any = trimesh.load_mesh(
            opened, file_type=Path(path).suffix.lower().lstrip("."), resolver=None
        )
    try:
        colour = [float(x) / 255 for x in mesh.visual.to_color().main_color[:3]]
    except Exception:  # a material without a colour, in one of many ways
        colour = None
    faces = np.asarray(mesh.faces, dtype=np.int64).reshape(-1, 3)
    return colour, {"points": np.asarray(mesh.vertices, dtype=float).reshape(-1, 3), "faces": faces}

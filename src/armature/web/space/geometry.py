"""The shapes of a robot's links as triangles: its meshes where they may be read, else limbs drawn
between its joints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import FileError
from armature.plot.limbs import solids
from armature.plot.meshes import inside
from armature.robot.mesh import read_mesh
from armature.robot.model import Robot, Visual

LIMB = (0.902, 0.910, 0.925)
PAINTS = {
    "limb": LIMB,
    "joint": (0.22, 0.42, 0.66),
    "base": (0.36, 0.40, 0.46),
    "tool": (0.36, 0.40, 0.46),
}
Colour = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Shape:
    """Triangles of one colour in a link's frame. vertices: (k, 3), m.  faces: (m, 3).  colour: red,
    green, blue in 0..1."""

    vertices: np.ndarray
    faces: np.ndarray
    colour: Colour


def shapes(robot: Robot, folders: Sequence[Path]) -> tuple[dict[str, list[Shape]], list[str]]:
    """{link: its shapes}, and notes on meshes that could not be drawn. folders: the only places
    that meshes are read from."""
    notes: list[str] = []
    meshes = {
        link.name: [
            s for v in link.visuals if v.shape == "mesh" and (s := _mesh(v, folders, notes))
        ]
        for link in robot.links
    }
    found = any(meshes.values())
    drawn = solids(
        robot, {link.name: [] for link in robot.links} if found else None
    )  # beside meshes, only what the file itself draws
    return {
        link.name: [*meshes[link.name], *map(solid_shape, drawn[k])]
        for k, link in enumerate(robot.links)
    }, notes


def joined(parts: Sequence[Shape], tint: Colour | None = None) -> list[Shape]:
    """The same shapes as few: one of each colour, or one of all with `tint`."""
    groups: dict[Colour, list[Shape]] = {}
    for part in parts:
        groups.setdefault(tint or part.colour, []).append(part)
    found = []
    for colour, group in groups.items():
        first = np.cumsum([0, *(len(part.vertices) for part in group[:-1])])
        faces = np.concatenate([part.faces + k for part, k in zip(group, first)])
        found.append(Shape(np.concatenate([part.vertices for part in group]), faces, colour))
    return found


def same_shape(a: Robot, b: Robot) -> bool:
    """Whether two robots look and move alike, whatever their limits and drives are."""
    seats = [
        [(j.name, j.kind, j.parent, j.child, j.position, j.rotation, j.axis) for j in robot.joints]
        for robot in (a, b)
    ]
    return (a.name, a.links) == (b.name, b.links) and seats[0] == seats[1]


def shrunk(parts: dict[str, list[Shape]], factor: float) -> dict[str, list[Shape]]:
    """The same shapes, each link's made smaller about the middle of its box."""
    found = {}
    for name, group in parts.items():
        if group:
            every = np.concatenate([part.vertices for part in group])
            middle = (every.min(axis=0) + every.max(axis=0)) / 2
            found[name] = [
                replace(part, vertices=middle + factor * (part.vertices - middle)) for part in group
            ]
    return found


def corners(robot: Robot, parts: dict[str, list[Shape]]) -> dict[int, np.ndarray]:
    """{index of a link: (8, 3) corners of the box round its shapes, in its frame, m}; its origin
    where it has none."""
    found = {}
    for k, link in enumerate(robot.links):
        every = np.concatenate([np.zeros((1, 3)), *(part.vertices for part in parts[link.name])])
        ends = np.stack([every.min(axis=0), every.max(axis=0)])
        found[k] = np.array(
            [[ends[a, 0], ends[b, 1], ends[c, 2]] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        )
    return found


# meshes ------------------------------------------------------------------------------------------


def _mesh(visual: Visual, folders: Sequence[Path], notes: list[str]) -> Shape | None:
    name = visual.file or ""
    path = inside(name, folders)
    if path is None:
        notes.append(f"{name}: not in the folders given (--meshes)")
    else:
        return _loaded(path, visual, notes)
    return None


def _loaded(path: Path, visual: Visual, notes: list[str]) -> Shape | None:
    try:
        mesh = read_mesh(path)
    except FileError as e:
        notes.append(f"{path.name}: {str(e).removeprefix(f'{path}: ')}")
        return None
    scaled = mesh.points * np.broadcast_to(np.asarray(visual.size or 1.0, dtype=float), 3)
    return _placed(
        scaled, mesh.faces, visual, visual.colour[:3] if visual.colour else mesh.colour or LIMB
    )


def _placed(vertices: np.ndarray, faces: np.ndarray, visual: Visual, colour: Colour) -> Shape:
    return Shape(
        vertices @ np.asarray(visual.rotation).T + np.asarray(visual.position), faces, colour
    )


# solids ------------------------------------------------------------------------------------------


def solid_shape(solid: dict[str, Any]) -> Shape:
    """The triangles of a tube, box, sphere or mesh of `plot.limbs` and `plot.obstacles`."""
    import trimesh

    paint = solid["paint"]
    colour = PAINTS[paint] if isinstance(paint, str) else (paint[0], paint[1], paint[2])
    if solid["kind"] == "mesh":
        points, faces = np.array(solid["points"], dtype=float), np.array(solid["faces"])
        return Shape(points.reshape(-1, 3), faces.reshape(-1, 3), colour)
    if solid["kind"] == "tube":
        ends = np.array([solid["a"], solid["b"]], dtype=float)
        mesh: Any = trimesh.creation.cylinder(solid["r"], sections=28, segment=ends)
    elif solid["kind"] == "sphere":
        mesh = trimesh.creation.icosphere(2, solid["r"])
        mesh.apply_translation(solid["at"])
    else:
        mesh = trimesh.creation.box(solid["size"])
        mesh.vertices = mesh.vertices @ np.reshape(solid["R"], (3, 3)).T + solid["at"]
    return Shape(np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces), colour)

"""The shapes of a robot's links as triangles: its meshes where they may be read, else limbs drawn between its joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from armature.robot.model import Joint, Link, Robot, Visual

KINDS = (".stl", ".obj", ".ply", ".dae", ".glb", ".off")
MOST_BYTES = 64 * 2**20  # of one mesh file
LIMB, JOINT, BASE = (0.902, 0.910, 0.925), (0.22, 0.42, 0.66), (0.36, 0.40, 0.46)
Colour = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Shape:
    """Triangles of one colour in a link's frame. vertices: (k, 3), m.  faces: (m, 3).  colour: red, green, blue in 0..1."""

    vertices: np.ndarray
    faces: np.ndarray
    colour: Colour


def shapes(robot: Robot, folders: Sequence[Path]) -> tuple[dict[str, list[Shape]], list[str]]:
    """{link: its shapes}, and notes on meshes that could not be drawn. folders: the only places that meshes are read from."""
    notes: list[str] = []
    size = reach(robot)
    meshes = {link.name: [s for v in link.visuals if v.shape == "mesh" and (s := _mesh(v, folders, notes))] for link in robot.links}
    if any(meshes.values()):
        others = {link.name: [_solid(v) for v in link.visuals if v.shape != "mesh"] for link in robot.links}
        return {name: [*meshes[name], *others[name]] for name in meshes}, notes
    return {link.name: _limb(robot, link, size) for link in robot.links}, notes


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


def reach(robot: Robot) -> float:
    """About how far the robot gets: all offsets between joints, one after the other, m."""
    return max(0.05, math.fsum(math.dist(j.position, (0, 0, 0)) for j in robot.joints) + _strokes(robot))


def _strokes(robot: Robot) -> float:
    ends = [(j.limits.lower, j.limits.upper) for j in robot.joints if j.kind == "prismatic"]
    return math.fsum(max(abs(a), abs(b)) if math.isfinite(a) and math.isfinite(b) else 1.0 for a, b in ends)


# meshes ------------------------------------------------------------------------------------------------------------------


def inside(name: str, folders: Sequence[Path]) -> Path | None:
    """The file that a robot's file names, if it lies in one of the folders: no way out by .., by links, or by absolute paths."""
    text = name.removeprefix("file://")
    packaged = text.startswith("package://")
    parts = PurePosixPath(text.removeprefix("package://").replace("\\", "/")).parts
    if not parts or ".." in parts or "://" in text.removeprefix("package://"):
        return None
    # package://arm/meshes/a.stl may be arm/meshes/a.stl or meshes/a.stl below a folder that was given
    for folder in folders:
        root = folder.resolve()
        for tail in (parts, parts[1:]) if packaged else (parts,):
            path = root.joinpath(*tail).resolve()
            if tail and path.is_relative_to(root) and path.is_file():
                return path
    return None


def _mesh(visual: Visual, folders: Sequence[Path], notes: list[str]) -> Shape | None:
    name = visual.file or ""
    path = inside(name, folders)
    if path is None:
        notes.append(f"{name}: not in the folders given (--meshes)")
    elif path.suffix.lower() not in KINDS or path.stat().st_size > MOST_BYTES:
        notes.append(f"{name}: not a mesh of at most {MOST_BYTES // 2**20} MB ({', '.join(KINDS)})")
    else:
        return _loaded(path, visual, notes)
    return None


def _loaded(path: Path, visual: Visual, notes: list[str]) -> Shape | None:
    import trimesh

    try:
        with path.open("rb") as file:  # an open file has no folder: nothing that it names is read
            mesh: Any = trimesh.load_mesh(file, file_type=path.suffix.lower().lstrip("."), resolver=None)
        vertices, faces = np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces)
    except Exception as error:  # whatever the many readers make of foreign bytes
        notes.append(f"{path.name}: cannot be read as a mesh ({type(error).__name__})")
        return None
    if not len(faces) or not np.all(np.isfinite(vertices)):
        notes.append(f"{path.name}: holds no triangles")
        return None
    scaled = vertices * np.broadcast_to(np.asarray(visual.size or 1.0, dtype=float), 3)
    colour = visual.colour[:3] if visual.colour else _mean_colour(mesh)
    return _placed(scaled, faces, visual, colour)


def _mean_colour(mesh: Any) -> Colour:
    try:
        r, g, b = (float(x) / 255 for x in mesh.visual.to_color().main_color[:3])
    except Exception:  # a material without a colour, in one of many ways
        return LIMB
    return (r, g, b)


def _placed(vertices: np.ndarray, faces: np.ndarray, visual: Visual, colour: Colour) -> Shape:
    return Shape(vertices @ np.asarray(visual.rotation).T + np.asarray(visual.position), faces, colour)


def _solid(visual: Visual) -> Shape:
    """A box, cylinder, capsule or sphere of a robot's file."""
    import trimesh

    colour = visual.colour[:3] if visual.colour else LIMB
    make = {
        "box": lambda: trimesh.creation.box(visual.size),
        "sphere": lambda: trimesh.creation.icosphere(2, visual.size[0]),
        "cylinder": lambda: trimesh.creation.cylinder(visual.size[0], visual.size[1]),
        "capsule": lambda: trimesh.creation.capsule(visual.size[1], visual.size[0]),
    }
    mesh: Any = make[visual.shape]()
    return _placed(mesh.vertices, mesh.faces, visual, colour)


# limbs -------------------------------------------------------------------------------------------------------------------


def _limb(robot: Robot, link: Link, size: float) -> list[Shape]:
    """A link drawn from its joints: a housing about its own axis, and a limb to each joint that it carries.

    A limb first goes across the axis and then along it, as the arms of most robots do.
    """
    own = next((j for j in robot.joints if j.child == link.name), None)
    carried = [j for j in robot.joints if j.parent == link.name]
    r = _radius(robot, link.name, size)
    found: list[Shape] = []
    if own is None:
        found.append(_tube((0, 0, 0), (0, 0, 0.25 * r), 2.2 * r, BASE))
    elif own.kind in ("revolute", "continuous"):
        axis = np.asarray(own.axis)
        found.append(_tube(-1.25 * r * axis, 1.25 * r * axis, 1.15 * r, JOINT))
    elif own.kind == "prismatic":
        found += _rod(own, size, r)
    for joint in carried:
        found += _to(joint, own, r)
    if not carried:
        found += _tip(link, own, r)
    return found


def _radius(robot: Robot, link: str, size: float) -> float:
    """Limbs grow thinner towards the hand."""
    order = [link.name for link in robot.links]
    return 0.042 * size * (1.0 - 0.5 * order.index(link) / max(1, len(order) - 1))


def _to(joint: Joint, own: Joint | None, r: float) -> list[Shape]:
    """From a link's origin to a joint that it carries."""
    end = np.asarray(joint.position, dtype=float)
    if np.linalg.norm(end) < 1e-6 or joint.kind == "prismatic":
        return []
    if own is None or own.kind == "fixed":
        return [_capsule(np.zeros(3), end, 1.3 * r if own is None else 0.7 * r, BASE if own is None else LIMB)]
    axis = np.asarray(own.axis, dtype=float)
    along = axis * (axis @ end)
    corner = end - along
    if joint.kind == "fixed":
        return [_capsule(np.zeros(3), end, 0.6 * r, BASE)]
    legs = [(np.zeros(3), corner), (corner, end)]
    return [_capsule(a, b, 0.85 * r, LIMB) for a, b in legs if np.linalg.norm(b - a) > 0.2 * r]


def _rod(own: Joint, size: float, r: float) -> list[Shape]:
    """The bar of a sliding joint, behind its origin, as long as its stroke."""
    low, high = own.limits.lower, own.limits.upper
    stroke = max(abs(low), abs(high)) if math.isfinite(low) and math.isfinite(high) else 0.4 * size
    return [_capsule(-stroke * np.asarray(own.axis), np.zeros(3), 0.6 * r, LIMB)]


def _tip(link: Link, own: Joint | None, r: float) -> list[Shape]:
    """A ball where the hand is."""
    import trimesh

    if own is None:
        return []
    ball = trimesh.creation.icosphere(2, 0.75 * r)
    return [Shape(np.asarray(ball.vertices), np.asarray(ball.faces), BASE)]


def _tube(a: Any, b: Any, radius: float, colour: Colour) -> Shape:
    import trimesh

    mesh: Any = trimesh.creation.cylinder(radius, sections=28, segment=np.array([a, b], dtype=float))
    return Shape(np.asarray(mesh.vertices), np.asarray(mesh.faces), colour)


def _capsule(a: np.ndarray, b: np.ndarray, radius: float, colour: Colour) -> Shape:
    """A tube with round ends."""
    import trimesh

    length = float(np.linalg.norm(b - a))
    mesh: Any = trimesh.creation.capsule(length, radius, count=(16, 24))
    T: Any = trimesh.geometry.align_vectors([0, 0, 1], (b - a) / length)
    vertices = mesh.vertices - [0, 0, mesh.vertices[:, 2].min() + radius]  # from the first centre on
    return Shape(vertices @ T[:3, :3].T + a, np.asarray(mesh.faces), colour)

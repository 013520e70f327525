"""Covers of links: spheres fitted to their collision shapes once, and kept on disk."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.kernel import cache
from armature.memo import memo
from armature.robot.cover import Part, cover
from armature.robot.mesh import read_mesh
from armature.robot.model import Robot
from armature.robot.shape import Visual
from armature.scene.formulas import box_distance, cylinder_distance
from armature.scene.hull import hull_corners, hull_faces
from armature.scene.mesh_spheres import fit_mesh
from armature.scene.obstacle import Obstacle, matrix, vector
from armature.scene.scene import Scene
from armature.scene.spheres import fit_spheres
from armature.scene.tables import SphereTree, sphere_tree

PART, LEAST, MOST = (
    0.04,
    0.002,
    0.008,
)  # of a shape's size: how far its spheres may reach out of it; within these ends, m
MESH_PART, MESH_LEAST, MESH_MOST = 0.02, 0.0012, 0.0035  # the same of meshes
ROUND = 64  # corners about a round shape
FILLED = 0.012  # m: slots of a mesh narrower than twice this count as filled
VERSION = "spheres 4"


def robot_covers(robot: Robot, scene: Scene) -> tuple[dict[str, SphereTree], dict[str, float]]:
    """Spheres of every link in its frame, m, and how far they reach out; those that the scene gives
    instead."""
    store = memo(robot, "sphere covers")
    if not store:
        fits = {link.name: _link_fits(robot, link.name) for link in robot.links}
        for link, found in fits.items():
            if found:
                tree = sphere_tree(np.vstack([rows for rows, _ in found]))
                store[link] = (tree, max(out for _, out in found))
    covers = {link: tree for link, (tree, _) in store.items()}
    covers |= {link: sphere_tree(np.array(rows)) for link, rows in scene.spheres.items()}
    return covers, {link: out for link, (_, out) in store.items() if link not in scene.spheres}


def _link_fits(robot: Robot, link: str) -> list[tuple[np.ndarray, float]]:
    """Spheres of each collision shape of a link in its frame, m, and how far they reach out."""
    shapes = _collisions(robot, link)
    if shapes is None:
        limbs = [_limb(part) for part in cover(robot) if part.link == link]
        return [(in_link(limb, rows), out) for limb in limbs for rows, out in [fitted(limb)]]
    found = []
    for shape in shapes:
        if shape.shape == "mesh":
            rows, out = _fitted_mesh(*_mesh(link, shape))
            turned = rows[:, :3] @ np.array(shape.rotation).T + shape.position
            found.append((np.column_stack([turned, rows[:, 3]]), out))
        else:
            o = _primitive(link, shape)
            rows, out = fitted(o)
            found.append((in_link(o, rows), out))
    return found


def _collisions(robot: Robot, link: str) -> tuple[Visual, ...] | None:
    """The collision shapes of a link; without any in the whole file, its visual ones, and None
    without these."""
    if any(x.collisions for x in robot.links):
        return robot.link(link).collisions
    if any(x.visuals for x in robot.links):
        return robot.link(link).visuals
    return None


def link_shapes(robot: Robot, link: str) -> list[Obstacle]:
    """The collision shapes of a link in its frame, meshes as their hulls; limbs where the robot
    has none."""
    shapes = _collisions(robot, link)
    if shapes is None:
        return [_limb(part) for part in cover(robot) if part.link == link]
    return [
        _mesh_hull(link, shape) if shape.shape == "mesh" else _primitive(link, shape)
        for shape in shapes
    ]


def link_triangles(robot: Robot, link: str) -> np.ndarray:
    """(k, 3, 3) corners of triangles around a link in its frame, m: the surface of meshes and
    boxes, and next to that of round shapes. Empty where it has no collision shapes."""
    found = [np.zeros((0, 3, 3))]
    for shape in _collisions(robot, link) or ():
        if shape.shape == "mesh":
            points, faces = _mesh(link, shape)
        else:
            points = outline(_primitive(link, shape))
            faces = hull_faces(points)
        found.append((points @ np.array(shape.rotation).T + shape.position)[faces])
    return np.concatenate(found)


def outline(shape: Obstacle) -> np.ndarray:
    """(k, 3) corners of a polyhedron that contains a primitive shape, in its frame, m, and is a few
    thousandths larger: corners on its surface, moved outwards until no face cuts into it."""
    if shape.shape == "box":
        return shape.corners
    turn = np.linspace(0.0, 2 * np.pi, ROUND, endpoint=False)
    circle = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(ROUND)])
    radius, half = shape.size[0], shape.size[1] / 2 if len(shape.size) > 1 else 0.0
    if shape.shape == "cylinder":
        rings = [radius * circle]
    else:
        tilt = np.linspace(0.0, np.pi / 2, ROUND // 4 + 1)
        rings = [radius * (np.cos(x) * circle + (0.0, 0.0, np.sin(x))) for x in tilt]
    upper = np.vstack(rings) + (0.0, 0.0, half)
    points = np.unique(np.vstack([upper, upper * (1.0, 1.0, -1.0)]).round(12), axis=0)
    return points * _swell(points, shape.shape == "cylinder", radius, half)


def _swell(points: np.ndarray, flat: bool, radius: float, half: float) -> float:
    """By how much a polyhedron about the origin is to be enlarged to contain a cylinder (flat), or
    a capsule."""
    from scipy.spatial import ConvexHull

    planes = np.unique(ConvexHull(points).equations.round(12), axis=0)
    across = np.linalg.norm(planes[:, :2], axis=1) if flat else 1.0
    reach = radius * across + half * np.abs(planes[:, 2])  # of the shape towards each face
    return float((reach / -planes[:, 3]).max()) + 1e-9


def _primitive(link: str, shape: Visual) -> Obstacle:
    size = tuple(abs(x) for x in shape.size)
    return Obstacle(link, shape.shape, size, shape.position, shape.rotation)


def _mesh(link: str, shape: Visual) -> tuple[np.ndarray, np.ndarray]:
    """Points, m, and triangles of a link's mesh."""
    if not shape.path:
        raise ArgumentError(
            f"link {link!r}: its mesh {shape.file!r} was not found, so that its distances are not"
            " known; give the file"
        )
    mesh = read_mesh(shape.path)
    return mesh.points * np.broadcast_to(np.asarray(shape.size or 1.0, dtype=float), 3), mesh.faces


def _mesh_hull(link: str, shape: Visual) -> Obstacle:
    points = tuple(vector(p) for p in hull_corners(_mesh(link, shape)[0]))
    return Obstacle(link, "hull", position=shape.position, rotation=shape.rotation, points=points)


def _fitted_mesh(points: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, float]:
    """Spheres (k, 4) that cover a mesh, m, and how far they reach out at most; from the disk where
    they were fitted."""
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    overshoot = min(max(MESH_PART * size, MESH_LEAST), MESH_MOST)
    content = points.tobytes() + faces.tobytes()
    key = f"{VERSION} {hashlib.sha256(content).hexdigest()} {overshoot:.9g} {FILLED:g}"
    entry = cache.read_entry(key)
    if entry is not None:
        return np.frombuffer(entry[1]).reshape(-1, 4), overshoot
    found = fit_mesh(points, faces, overshoot, FILLED)
    cache.write_entry(key, {"spheres": len(found)}, np.ascontiguousarray(found).tobytes())
    return found, overshoot


def _limb(part: Part) -> Obstacle:
    rotation = matrix(np.array(part.axes).T)
    if part.half[2] == 0.0:
        return Obstacle(part.link, "sphere", (part.ball,), part.centre, rotation)
    return Obstacle(part.link, "capsule", (part.ball, 2 * part.half[2]), part.centre, rotation)


def in_link(shape: Obstacle, rows: np.ndarray) -> np.ndarray:
    """Spheres (k, 4) of a shape's frame in that of its link; its margin makes them larger."""
    return np.column_stack(
        [rows[:, :3] @ np.array(shape.rotation).T + shape.position, rows[:, 3] + shape.margin]
    )


def fitted(shape: Obstacle) -> tuple[np.ndarray, float]:
    """Spheres (k, 4) that cover a shape, in its frame, m, and how far they reach out at most; from
    the disk where they were fitted."""
    if shape.shape == "sphere":
        return np.array([[0.0, 0.0, 0.0, shape.size[0]]]), 0.0
    corners = shape.corners
    size = float(np.linalg.norm(np.ptp(corners, axis=0))) + 2 * shape.ball
    overshoot = min(max(PART * size, LEAST), MOST)
    told = repr((shape.shape, shape.size, shape.points, overshoot))
    key = f"{VERSION} {hashlib.sha256(told.encode()).hexdigest()}"
    entry = cache.read_entry(key)
    if entry is not None:
        return np.frombuffer(entry[1]).reshape(-1, 4), overshoot
    reach = (
        corners + shape.ball * np.array([[s] for s in (-1, 1)])[:, None] if shape.ball else corners
    )
    found = fit_spheres(distance_function(shape), reach.reshape(-1, 3), overshoot)
    cache.write_entry(key, {"spheres": len(found)}, np.ascontiguousarray(found).tobytes())
    return found, overshoot


def distance_function(shape: Obstacle) -> Any:
    """Points (k, 3) of a shape's frame → (k,) signed distances, m: exact inside, never more than
    the distance outside."""
    if shape.shape == "hull":
        from scipy.spatial import ConvexHull

        planes = np.unique(np.round(ConvexHull(np.array(shape.points)).equations, 12), axis=0)
        return lambda x: (x @ planes[:, :3].T + planes[:, 3]).max(1)
    if shape.shape == "cylinder":
        return lambda x: np.asarray(
            cylinder_distance(x[:, 0], x[:, 1], x[:, 2], shape.size[0], shape.size[1] / 2)
        )  # pyright: ignore[reportArgumentType]
    half = (
        (0.0, 0.0, shape.size[1] / 2)
        if shape.shape == "capsule"
        else tuple(x / 2 for x in shape.size)
    )
    return lambda x: np.asarray(box_distance(x[:, 0], x[:, 1], x[:, 2], *half)) - shape.ball  # pyright: ignore[reportArgumentType]

"""Convex hulls as planes, and meshes as convex parts."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from armature.errors import ArgumentError, MissingExtraError
from armature.robot.mesh import Mesh, read_mesh

SAME = 1e-9  # planes whose normals and offsets differ by less are one
MOST_CORNERS = 64  # of a part of a mesh
THRESHOLD = 0.02  # coacd's: how concave a part may remain, as a part of the mesh's size


def hull_planes(points: np.ndarray) -> np.ndarray:
    """(k, 4): outward normals n and offsets b of planes n·x ≤ b around points (m, 3): of the faces
    of their convex hull, and through its
    edges and corners, half way between the faces that meet there, so that (D4) is near the
    distance before these too."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    normals = hull.equations[:, :3]
    edges = [normals[i] + normals[j] for i, row in enumerate(hull.neighbors) for j in row if i < j]
    corners = [normals[(hull.simplices == v).any(1)].sum(0) for v in hull.vertices]
    every = np.vstack([normals, *edges, *corners])
    length = np.linalg.norm(every, axis=1)
    every = np.unique(
        np.round(every[length > 1e-6] / length[length > 1e-6, None] / SAME) * SAME, axis=0
    )
    every /= np.linalg.norm(every, axis=1)[:, None]
    return np.column_stack([every, (every @ points[hull.vertices].T).max(1)])


def hull_corners(points: np.ndarray) -> np.ndarray:
    """(k, 3) corners of the convex hull of points (m, 3)."""
    from scipy.spatial import ConvexHull

    return points[ConvexHull(points).vertices]


def hull_faces(points: np.ndarray) -> np.ndarray:
    """(k, 3) triangles of the convex hull of points (m, 3), seen from outside anticlockwise."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    a, b, c = (points[hull.simplices[:, i]] for i in range(3))
    inwards = np.sum(np.cross(b - a, c - a) * hull.equations[:, :3], axis=1) < 0.0
    return np.where(inwards[:, None], hull.simplices[:, ::-1], hull.simplices)


def convex_parts(
    path: str | os.PathLike[str], scale: Any = 1.0, parts: str = "one"
) -> list[np.ndarray]:
    """The mesh of a file as convex parts, each (k, 3) corners, m. parts: "one" (its convex hull)
    or "several" (by coacd)."""
    mesh = read_mesh(path)
    mesh = mesh._replace(points=mesh.points * np.broadcast_to(np.asarray(scale, dtype=float), 3))
    if parts == "one":
        return [hull_corners(mesh.points)]
    if parts == "several":
        return decomposed(mesh)
    raise ArgumentError(
        f"parts = {parts!r} must be 'one' (the mesh's convex hull) or 'several' (convex parts, by"
        " coacd)"
    )


def decomposed(mesh: Mesh, threshold: float = THRESHOLD) -> list[np.ndarray]:
    """Convex parts of a mesh that together contain its surface (extra `collision`)."""
    try:
        import coacd
    except ImportError:
        raise MissingExtraError("cutting a mesh into convex parts", "coacd", "collision") from None
    coacd.set_log_level("error")
    given = coacd.Mesh(mesh.points, mesh.faces)
    found = coacd.run_coacd(given, threshold=threshold, max_ch_vertex=MOST_CORNERS, seed=1)
    return _containing(mesh, [np.asarray(points, dtype=float) for points, _ in found])


def _containing(mesh: Mesh, parts: list[np.ndarray]) -> list[np.ndarray]:
    """Parts, each made large enough for the triangles that are nearest to it: their union then
    contains the mesh's surface."""
    outside = []
    for points in parts:
        planes = hull_planes(points)
        outside.append((mesh.points @ planes[:, :3].T - planes[:, 3]).max(1)[mesh.faces].max(1))
    owner = np.argmin(outside, axis=0)
    corners = lambda k: mesh.points[np.unique(mesh.faces[owner == k])]
    return [hull_corners(np.vstack([points, corners(k)])) for k, points in enumerate(parts)]

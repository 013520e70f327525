"""A robot's meshes for the page: read from folders that the user names, thinned to a few hundred
triangles for each link."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from armature.errors import FileError
from armature.robot.load.packages import package_name
from armature.robot.mesh import read_mesh
from armature.robot.model import Robot, Visual

CELLS = 26  # along the longest edge of a mesh: vertices of one cell become one


def meshes(robot: Robot, folders: Sequence[str | PathLike[str]]) -> dict[str, list[dict[str, Any]]]:
    """{link: solids for the page} of the meshes that lie in the folders; links without a readable
    mesh are left out."""
    roots = [Path(fspath(folder)).resolve() for folder in folders]
    found = {
        link.name: [
            s for v in link.visuals if v.shape == "mesh" and (s := _solid(v, roots)) is not None
        ]
        for link in robot.links
    }
    return {name: solids for name, solids in found.items() if solids}


def inside(name: str, roots: Sequence[Path]) -> Path | None:
    """The file that a robot's file names, if it lies in one of the folders (../a.stl may lie in
    another of them): package://arm/a.stl may be arm/a.stl or a.stl there."""
    text = name.removeprefix("file://").removeprefix("package://").replace("\\", "/")
    if "://" in text or "\0" in text:
        return None
    parts = PurePosixPath("/" + text.lstrip("/") if text.startswith("/") else text).parts
    places = [root.joinpath(*parts).resolve() for root in roots if parts]
    if (
        name.startswith("package://") and len(parts) > 1
    ):  # a folder may be the package itself, unless it has another's name
        places += [
            root.joinpath(*parts[1:]).resolve()
            for root in roots
            if package_name(root) in (parts[0], None)
        ]
    return next(
        (
            path
            for path in places
            if any(path.is_relative_to(root) for root in roots) and os.path.isfile(path)
        ),
        None,
    )


def _solid(visual: Visual, roots: Sequence[Path]) -> dict[str, Any] | None:
    """A mesh as the page draws it, in its link's frame; None where it cannot be read."""
    path = inside(visual.file or "", roots)
    if path is None:
        return None
    try:
        points, faces, _ = read_mesh(path)
    except FileError:  # the link is then drawn without it
        return None
    points, faces = thinned(
        points * np.broadcast_to(np.asarray(visual.size or 1.0, dtype=float), 3), faces
    )
    placed = points @ np.asarray(visual.rotation).T + np.asarray(visual.position)
    paint = "limb" if visual.colour is None else [round(float(c), 3) for c in visual.colour[:3]]
    return {
        "kind": "mesh",
        "points": np.round(placed, 4).tolist(),
        "faces": faces.tolist(),
        "paint": paint,
    }


def thinned(
    points: np.ndarray, faces: np.ndarray, cells: int = CELLS
) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (k, 3) of one cell of a grid become their mean; triangles (m, 3) that lose a corner,
    or stand twice, go."""
    low = points.min(axis=0)
    size = max(float(np.ptp(points, axis=0).max()) / cells, 1e-9)
    _, which = np.unique(np.floor((points - low) / size).astype(int), axis=0, return_inverse=True)
    which = which.reshape(-1)
    count = np.bincount(which)
    means = np.column_stack([np.bincount(which, points[:, k]) / count for k in range(3)])
    left = which[faces]
    left = left[
        (left[:, 0] != left[:, 1]) & (left[:, 1] != left[:, 2]) & (left[:, 2] != left[:, 0])
    ]
    _, first = np.unique(np.sort(left, axis=1), axis=0, return_index=True)
    return means, left[np.sort(first)]

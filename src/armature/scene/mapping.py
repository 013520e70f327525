"""Scenes as mappings, lists, numbers and words, for saved plans."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from armature.scene.obstacle import Obstacle, matrix, vector
from armature.scene.scene import Scene

MOST = 100_000  # obstacles of a file


def scene_mapping(scene: Scene) -> dict[str, Any]:
    """A scene as plain data; `scene_from` makes the same scene of it."""
    lists = lambda x: [lists(y) for y in x] if isinstance(x, tuple | list) else x
    return {
        "obstacles": [
            {key: lists(value) for key, value in asdict(o).items()} for o in scene.obstacles
        ],
        "allowed": None if scene.allowed is None else lists(scene.allowed),
        "spheres": {link: lists(rows) for link, rows in scene.spheres.items()},
    }


def scene_from(data: Mapping[str, Any]) -> Scene:
    """The scene of plain data; raises what wrong kinds of data raise."""
    allowed = data["allowed"]
    return Scene(
        tuple(_obstacle(row) for row in list(data["obstacles"])[:MOST]),
        None if allowed is None else tuple((str(a), str(b)) for a, b in allowed),
        {str(link): rows for link, rows in data["spheres"].items()},
    )


def _obstacle(row: Mapping[str, Any]) -> Obstacle:
    known = {f.name: row[f.name] for f in fields(Obstacle) if f.name in row}
    known["size"] = tuple(float(x) for x in known["size"])
    known["position"], known["rotation"] = vector(known["position"]), matrix(known["rotation"])
    known["points"] = tuple(vector(p) for p in known["points"])
    return Obstacle(**known)

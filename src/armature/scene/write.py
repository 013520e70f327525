"""A scene as text in our own YAML format, which `load_scene` reads back to an equal scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import yaml

from armature.errors import ArgumentError
from armature.robot import frames
from armature.scene.obstacle import Obstacle
from armature.scene.scene import Scene

KEYS = {"half-space": "half_space"}


def scene_text(scene: Scene) -> str:
    """The YAML text of a scene; objects of several parts get numbered names."""
    if scene.spheres:
        raise ArgumentError("a scene file has no place for spheres of links; give them in Python")
    objects: dict[str, Any] = {}
    for o in scene.obstacles:
        parts = sum(other.name == o.name for other in scene.obstacles)
        name, k = o.name, 1
        while parts > 1 and (name := f"{o.name} {k}") in objects:
            k += 1
        objects[name] = _object(o)
    data: dict[str, Any] = {"objects": objects}
    if scene.allowed is not None:
        data["allowed"] = [list(pair) for pair in scene.allowed]
    return yaml.safe_dump(data, sort_keys=False, allow_unicode=True)


def _object(o: Obstacle) -> dict[str, Any]:
    size: Any = list(o.size)
    if o.shape == "half-space":
        size = True
    elif o.shape == "hull":
        size = [list(p) for p in o.points]
    elif o.shape == "sphere":
        size = o.size[0]
    found: dict[str, Any] = {KEYS.get(o.shape, o.shape): size, "position": list(o.position)}
    if o.shape != "sphere" and not np.array_equal(o.rotation, np.eye(3)):
        found["rpy"] = list(frames.to_rpy(o.rotation))
    found |= {"margin": o.margin} if o.margin else {}
    return found | ({"link": o.link} if o.link else {})

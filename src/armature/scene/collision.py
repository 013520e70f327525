"""The model of a robot in a scene, kept with the robot; with finer covers where the scene asks for
them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.errors import ArgumentError
from armature.memo import memo
from armature.robot.model import Robot
from armature.scene.finer import doubts, refined
from armature.scene.model import Model, plain_model
from armature.scene.scene import Scene


def collision_model(robot: Robot, scene: Scene) -> Model:
    """The model of a robot in a scene; what belongs to the robot alone is fitted once and kept."""
    if robot.nq != robot.nv:
        raise ArgumentError(
            f"robot {robot.name!r} has a floating base; scenes are for robots on a fixed base"
        )
    store = memo(robot, "scene models")
    key = (scene.obstacles, scene.allowed, tuple(sorted(scene.spheres.items())), scene.close)
    if key not in store:
        while len(store) > 7:
            store.pop(next(iter(store)))
        store[key] = plain_model(robot, scene) if not scene.close else _finer(robot, scene)
    return store[key]


def _finer(robot: Robot, scene: Scene) -> Model:
    return refined(robot, collision_model(robot, replace(scene, close=())), np.array(scene.close))


def told_apart(robot: Robot, scene: Scene, places: np.ndarray) -> Scene:
    """The scene, with finer covers where those of links overlap at configurations (k, n) and the
    links do not (`Scene.close`)."""
    model = collision_model(robot, scene)
    near = model.distances(places, 0.0)[0].min(1, initial=0.0)
    if not np.any(near < 0.0) or not doubts(robot, model, places[near < 0.0]):
        return scene
    close = tuple(tuple(float(x) for x in q) for q in places[near < 0.0])
    finer = replace(scene, close=tuple(dict.fromkeys((*scene.close, *close))))
    free = collision_model(robot, finer).distances(np.array(close), 0.0)[0].min(1, initial=0.0)
    return finer if np.any(free >= 0.0) else scene

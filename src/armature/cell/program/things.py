"""Objects of a program's scene that are gripped and put down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.cell.program.program import Grip, Program
from armature.dynamics.compiled import pose
from armature.robot.model import Robot
from armature.robot.tip import tip
from armature.scene.collision import collision_model
from armature.scene.obstacle import Obstacle, matrix, vector
from armature.scene.scene import Scene


def touchable(program: Program) -> Scene | None:
    """The program's scene, in which the links that grip things may touch them, with all that is
    rigidly joined to these links."""
    scene, frames = program.scene, program.robot.tree.frames
    grips = [s for s in program.steps if isinstance(s, Grip) and s.thing is not None]
    if scene is None or not grips:
        return scene
    if (
        scene.allowed is None
    ):  # where some pairs are allowed, others that always touch are not found
        scene = scene.allowing(*collision_model(program.robot, scene).touching)
    pairs = []
    for step in grips:
        hand = step.link or tip(program.robot, "carries the part")
        if hand in frames:
            body = frames[hand].body
            pairs += [(name, str(step.thing)) for name, f in frames.items() if f.body == body]
    return scene.allowing(*pairs)


def put_down(scene: Scene, thing: str, robot: Robot, q: np.ndarray) -> Scene:
    """The scene with a carried object left in the world where it is now."""

    def left(o: Obstacle) -> Obstacle:
        if o.name != thing or o.link is None:
            return o
        hand = pose(robot, q, o.link)
        turned = matrix(hand.R @ np.array(o.rotation).reshape(3, 3))
        place = vector(hand.R @ np.array(o.position) + hand.p)
        return replace(o, link=None, rotation=turned, position=place)

    return replace(scene, obstacles=tuple(left(o) for o in scene.obstacles))

"""Obstacles in space: their shapes, and the handle of the one that is picked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armature.dynamics.compiled import link_poses
from armature.plot.obstacles import PAINT, obstacle_solids
from armature.robot.model import Robot
from armature.robot.shape import IDENTITY, ZERO
from armature.scene.obstacle import Obstacle
from armature.scene.scene import Scene
from armature.web.space.geometry import Shape, joined, solid_shape
from armature.web.space.turn import matrix, quaternions

OPACITY = 0.85
PLANE = 3.0  # edge of a half-space as it is drawn, in sizes of the robot
THICK = 0.004  # its thickness, the same
Dragged = Callable[[str, np.ndarray, np.ndarray, bool], None]


class Obstacles:
    """The obstacles of one browser's scene. dragged(name, R, p, done): called when the picked one
    is moved.  picked(name): called when one is clicked."""

    def __init__(self, scene: Any, dragged: Dragged, picked: Callable[[str], None]):
        self._scene, self._dragged, self._picked = scene, dragged, picked
        self._nodes: list[tuple[Obstacle, Any]] = []
        self._handle: Any = None
        self._held = False
        self._shown: Scene | None = None
        self._root = ""

    def begin(self, root: str) -> None:
        """A new robot: nothing is there yet. root: name that all nodes are under."""
        self._nodes, self._handle, self._held, self._shown = [], None, False, None
        self._root, self._name = root, ""

    def show(self, scene: Scene | None, picked: str, size: float, gizmo: float) -> None:
        """Show a scene and the handle of the picked object. size: of the robot, m.  gizmo: length
        of the handle's arrows, m."""
        if scene != self._shown:
            self._draw(scene, size)
        world = {o.name: o for o in reversed(scene.world)} if scene is not None else {}
        if picked != self._name or (picked in world) != (self._handle is not None):
            self._name = picked
            if self._handle is not None:
                self._handle.remove()
            self._handle = self._made(picked, gizmo) if picked in world else None
        if self._handle is not None and not self._held:
            o = world[picked]
            self._handle.position = np.array(o.position)
            self._handle.wxyz = quaternions(np.array(o.rotation)[None])[0]

    def _draw(self, scene: Scene | None, size: float) -> None:
        """Only poses change while something is dragged; else all is drawn again."""
        new = scene.obstacles if scene is not None else ()
        form = lambda o: replace(o, position=ZERO, rotation=IDENTITY)
        if len(new) == len(self._nodes) and all(
            form(a) == form(b) for (a, _), b in zip(self._nodes, new)
        ):
            self._nodes = [(o, node) for o, (_, node) in zip(new, self._nodes)]
        else:
            for _, node in self._nodes:
                node.remove()
            self._nodes = [(o, self._node(k, o, size)) for k, o in enumerate(new)]
        for o, node in self._nodes:
            node.position = np.array(o.position)
            node.wxyz = quaternions(np.array(o.rotation)[None])[0]
        self._shown = scene

    def _node(self, k: int, o: Obstacle, size: float) -> Any:
        shape = shape_of(o, size)
        node = self._scene.add_mesh_simple(
            f"{self._root}/obstacle_{k}",
            shape.vertices.astype(np.float32),
            shape.faces.astype(np.uint32),
            color=shape.colour,
            opacity=OPACITY if o.link is None else None,
            flat_shading=o.shape != "sphere",
            cast_shadow=False,
        )
        if o.link is None:
            node.on_click(lambda _, name=o.name: self._picked(name))
        return node

    def _made(self, name: str, gizmo: float) -> Any:
        handle = self._scene.add_transform_controls(
            f"{self._root}/obstacle_handle", scale=gizmo, line_width=3.5, depth_test=False
        )

        @handle.on_update
        async def _(event: Any) -> None:
            done = event.phase == "end"
            self._held = not done
            place = np.asarray(handle.position, dtype=float)
            self._dragged(name, matrix(np.asarray(handle.wxyz)), place, done)

        return handle

    def corners(self) -> np.ndarray:
        """(k, 3) corners of what stands in the world and has an end, m."""
        bounded = [o for o, _ in self._nodes if o.link is None and o.shape != "half-space"]
        return np.concatenate(
            [np.zeros((0, 3)), *(o.corners @ np.array(o.rotation).T + o.position for o in bounded)]
        )

    def place(self, robot: Robot, q: np.ndarray) -> None:
        """Bring what is carried to where its links are at a configuration (nq,)."""
        carried = [(o, node) for o, node in self._nodes if o.link is not None]
        if not carried:
            return
        poses, names = link_poses(robot, q), list(robot.link_names)
        for o, node in carried:
            k = names.index(str(o.link))
            R, p = np.asarray(poses.R)[k], np.asarray(poses.p)[k]
            node.position = R @ np.array(o.position) + p
            node.wxyz = quaternions((R @ np.array(o.rotation))[None])[0]


def shape_of(o: Obstacle, size: float) -> Shape:
    """The triangles of an obstacle in its own frame, m. size: of the robot, for half-spaces."""
    if o.shape == "half-space":
        edge, thick = PLANE * size, THICK * size
        box = {"kind": "box", "at": [0.0, 0.0, -thick / 2], "R": np.eye(3).ravel(), "paint": PAINT}
        return solid_shape({**box, "size": [edge, edge, thick]})
    local = replace(o, position=ZERO, rotation=IDENTITY, link=None)
    return joined([solid_shape(solid) for solid in obstacle_solids(local)])[0]

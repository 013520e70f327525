"""What is seen in space: the moving robot, its ghost, the start and the goal with their handles, and the hand's way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armature.dynamics.compiled import link_poses, pose
from armature.motion.trajectory import Trajectory
from armature.plot.limbs import reach
from armature.robot.model import Robot
from armature.web.geometry import Shape, joined, shapes
from armature.web.session import hand

START, GOAL, PLAN, GHOST = (0.13, 0.59, 0.38), (0.90, 0.45, 0.10), (0.0, 0.447, 0.698), (0.45, 0.47, 0.50)
SKETCH = (0.55, 0.75, 0.88)  # an unfinished plan
LIGHT, DARK = ((225, 229, 235), (200, 206, 215)), ((48, 52, 58), (70, 76, 84))  # the ground's lines
FRAMES = 120  # points of the hand's way


class Figure:
    """One copy of the robot in a browser's scene. tint: one colour for all links, None for their own.  opacity: 0 … 1."""

    def __init__(
        self, scene: Any, name: str, robot: Robot, parts: dict[str, list[Shape]], tint: tuple | None = None, opacity: float | None = None
    ):
        self._robot, self._shift = robot, np.zeros(3)
        self._nodes: list[tuple[int, Any]] = []
        self.visible = True
        for k, link in enumerate(robot.links):
            for i, shape in enumerate(joined(parts[link.name], tint)):
                node = scene.add_mesh_simple(
                    f"{name}/{k}_{i}",
                    shape.vertices.astype(np.float32),
                    shape.faces.astype(np.uint32),
                    color=shape.colour,
                    opacity=opacity,
                    side="double" if opacity is None else "front",
                    cast_shadow=opacity is None,
                    receive_shadow=opacity is None,
                )
                self._nodes.append((k, node))

    def place(self, q: np.ndarray) -> None:
        """Bring it to a configuration (nq,)."""
        poses = link_poses(self._robot, q)
        wxyz, p = quaternions(np.asarray(poses.R)), np.asarray(poses.p) + self._shift
        for k, node in self._nodes:
            node.wxyz, node.position = wxyz[k], p[k]

    def shift(self, by: np.ndarray) -> None:
        """Stand so much aside, m."""
        self._shift = by

    def show(self, visible: bool) -> None:
        """Be seen or not."""
        if visible != self.visible:
            self.visible = visible
            for _, node in self._nodes:
                node.visible = visible


class Scene:
    """All that one browser sees in space. dragged(which, R, p, done): told when the start's or the goal's handle is moved.
    shape: width by height of what the panels leave of the window."""

    def __init__(self, client: Any, dragged: Callable[[str, np.ndarray, np.ndarray, bool], None], shape: float):
        self._client, self._scene, self._dragged, self._shape = client, client.scene, dragged, shape
        self._figures: dict[str, Figure] = {}
        self._handles: dict[str, Any] = {}
        self._labels: dict[str, Any] = {}
        self._ways: dict[str, Any] = {}
        self._held, self._aside, self._root, self._count = "", False, "/robot0", 0
        self._dark, self._height = False, 0.0

    def robot(self, robot: Robot, folders: Sequence[Path]) -> list[str]:
        """Put a robot into the empty scene; returns notes on what could not be drawn."""
        self._scene.remove_by_name(self._root)
        self._count += 1  # names are not used twice: what the browser still does with the old ones must not touch the new
        self._root = f"/robot{self._count}"
        self._scene.add_frame(self._root, show_axes=False)
        self._robot, self.size = robot, reach(robot)
        self._ways, self._held, self._aside = {}, "", False
        parts, notes = shapes(robot, folders)
        self._scene.configure_default_lights(True, cast_shadow=True)
        self._ground()
        self._figures = {
            "plan": Figure(self._scene, f"{self._root}/plan", robot, parts),
            "ghost": Figure(self._scene, f"{self._root}/ghost", robot, parts, GHOST, 0.28),
            "start": Figure(self._scene, f"{self._root}/start", robot, parts, START, 0.22),
            "goal": Figure(self._scene, f"{self._root}/goal", robot, parts, GOAL, 0.22),
        }
        self._figures["ghost"].show(False)
        self._handles = {which: self._handle(which) for which in ("start", "goal")}
        self._look()
        return notes

    def _ground(self) -> None:
        size, (cell, section) = self.size * 3, DARK if self._dark else LIGHT
        self._scene.add_grid(
            f"{self._root}/ground", size, size, cell_size=self.size / 8, section_size=self.size / 2, plane="xy",
            cell_color=cell, section_color=section, shadow_opacity=0.12, position=(0, 0, self._height - 0.002 * self.size),
        )  # fmt: skip

    def floor(self, height: float) -> None:
        """Where the ground is drawn, m."""
        self._height = height
        self._ground()

    def theme(self, dark: bool) -> None:
        """Light or dark ground."""
        self._dark = dark
        self._ground()

    def _handle(self, which: str) -> Any:
        """Arrows and rings at the hand; only arrows for an arm that cannot turn its hand at will."""
        free = self._robot.n >= 6
        look = {"scale": 0.17 * self.size, "line_width": 3.5, "depth_test": False, "opacity": 0.85}
        handle = self._scene.add_transform_controls(f"{self._root}/{which}_handle", disable_rotations=not free, **look)
        self._labels[which] = self._scene.add_label(f"{self._root}/{which}_label", which, anchor="bottom-center")

        @handle.on_update
        async def _(event: Any) -> None:
            self._held = "" if event.phase == "end" else which
            self._dragged(which, matrix(np.asarray(handle.wxyz)), np.asarray(handle.position, dtype=float), event.phase == "end")

        return handle

    def _look(self) -> None:
        """A view from the front right, a little from above; from farther away in a narrow window."""
        camera = self._client.camera
        away = (1.0 if self._aside else 0.64) * max(1.0, 0.85 / max(self._shape, 0.2))
        middle = np.array([0.1, 0.55 if self._aside else 0.0, 0.18]) * self.size
        place = middle + np.array([1.1, -1.05, 0.6]) * self.size * away
        with self._client.atomic():
            camera.up_direction = (0.0, 0.0, 1.0)
            camera.position = place
            camera.look_at = middle

    def ends(self, start: np.ndarray, goal: np.ndarray) -> None:
        """Show the start and the goal; a handle that is being held stays where the mouse is."""
        with self._client.atomic():
            for which, q in (("start", start), ("goal", goal)):
                self._figures[which].place(q)
                where = pose(self._robot, q, hand(self._robot))
                self._labels[which].position = np.asarray(where.p) + [0.0, 0.0, 0.06 * self.size]
                if which != self._held:
                    self._handles[which].position = np.asarray(where.p)
                    self._handles[which].wxyz = quaternions(np.asarray(where.R)[None])[0]

    def place(self, q: np.ndarray, ghost: np.ndarray | None) -> None:
        """Show the moving robot, and its ghost if there is one."""
        with self._client.atomic():
            self._figures["plan"].place(q)
            self._figures["ghost"].show(ghost is not None)
            if ghost is not None:
                self._figures["ghost"].place(ghost)

    def beside(self, aside: bool) -> None:
        """Whether the second robot stands beside the first (two plans compared) or within it (the baseline's ghost)."""
        self._figures["ghost"].shift(np.array([0.0, 1.1 * self.size, 0.0]) * aside)
        if aside != self._aside:
            self._aside = aside
            self._look()

    def handles(self, visible: bool) -> None:
        """Show the start, the goal and their handles, or not."""
        for which in ("start", "goal"):
            self._figures[which].show(visible)
            self._handles[which].visible = self._labels[which].visible = visible

    def way(self, name: str, track: Trajectory | None, colour: tuple[float, float, float], aside: bool = False) -> None:
        """Draw the way of the hand in a motion, or take it away."""
        if name in self._ways:
            self._ways.pop(name).remove()
        if track is None:
            return
        t = np.linspace(track.t[0], track.t[-1], FRAMES)
        p = np.asarray(pose(self._robot, track(t).q, hand(self._robot)).p) + np.array([0.0, 1.1 * self.size, 0.0]) * aside
        segments = np.stack([p[:-1], p[1:]], axis=1).astype(np.float32)
        self._ways[name] = self._scene.add_line_segments(f"{self._root}/way_{name}", segments, colors=colour, thickness=0.007 * self.size)


def quaternions(R: np.ndarray) -> np.ndarray:
    """(k, 4) w x y z of rotations (k, 3, 3)."""
    from scipy.spatial.transform import Rotation

    return np.roll(Rotation.from_matrix(R).as_quat(), 1, axis=-1)


def matrix(wxyz: np.ndarray) -> np.ndarray:
    """(3, 3) of a quaternion w x y z."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(np.roll(wxyz, -1)).as_matrix()

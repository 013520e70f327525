"""What is seen in space: the moving robot, its ghost, start, goal and via points with their
handles, and the hand's way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armature.dynamics.compiled import link_poses, pose
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot
from armature.web.space.camera import FIELD, Window, fit
from armature.web.space.geometry import Shape, corners, joined, shapes, shrunk
from armature.web.space.obstacles import Obstacles
from armature.web.space.turn import matrix, quaternions
from armature.web.wish import hand

START, GOAL, PLAN, GHOST = (
    (0.13, 0.59, 0.38),
    (0.90, 0.45, 0.10),
    (0.0, 0.447, 0.698),
    (0.45, 0.47, 0.50),
)
PINNED, VIA = (0.80, 0.30, 0.55), (0.55, 0.35, 0.75)
# opacity and size of the transparent copies: each a little smaller than the next, so that no two
# surfaces lie in one another
GHOSTS = {
    "start": (START, 0.22, 0.985),
    "goal": (GOAL, 0.22, 0.97),
    "ghost": (GHOST, 0.28, 0.955),
    "pinned": (PINNED, 0.3, 0.955),
}
GIZMO, ON_PHONES = (
    0.26,
    1.3,
)  # length of the handles' arrows by the radius of what is seen; times longer for fingers
BESIDE = 2.2  # radii between two robots that stand beside each other
SKETCH = (0.55, 0.75, 0.88)  # an unfinished plan
LIGHT, DARK = ((225, 229, 235), (200, 206, 215)), ((48, 52, 58), (70, 76, 84))  # the ground's lines
FRAMES = 120  # points of the hand's way


class Figure:
    """One copy of the robot in a browser's scene. tint: one colour for all links, None for their
    own.  opacity: 0 … 1."""

    def __init__(
        self,
        scene: Any,
        name: str,
        robot: Robot,
        parts: dict[str, list[Shape]],
        tint: tuple | None = None,
        opacity: float | None = None,
    ):
        self._robot, self._shift = robot, np.zeros(3)
        self._nodes: list[tuple[int, Any]] = []
        self.visible = True
        for k, link in enumerate(robot.links):
            for i, shape in enumerate(joined(parts.get(link.name, []), tint)):
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
    """All that one browser sees in space. dragged(which, R, p, done): called when a handle
    ("start", "goal", "via 1" …, or "obstacle NAME") is moved.  picked(name): when an obstacle is
    clicked.  window(): the canvas as it is now."""

    def __init__(
        self,
        client: Any,
        dragged: Callable[[str, np.ndarray, np.ndarray, bool], None],
        window: Callable[[], Window],
        picked: Callable[[str], None],
    ):
        self._client, self._scene, self._dragged, self._window = (
            client,
            client.scene,
            dragged,
            window,
        )
        self._figures: dict[str, Figure] = {}
        self._handles: dict[str, Any] = {}
        self._labels: dict[str, Any] = {}
        self._ways: dict[str, Any] = {}
        self._held, self._aside, self._root, self._count = "", False, "/robot0", 0
        self._dark, self._via, self._height = False, 0, 0.0
        moved = lambda name, R, p, done: dragged(f"obstacle {name}", R, p, done)
        self._obstacles = Obstacles(client.scene, moved, picked)

    def robot(self, robot: Robot, folders: Sequence[Path], seen: Sequence[np.ndarray]) -> list[str]:
        """Put a robot into the empty scene, the camera so that it is seen in all configurations
        `seen` (nq,); returns notes on what could not be drawn."""
        self._scene.remove_by_name(self._root)
        # names are not used twice: what the browser still does with the old ones must not touch the
        # new
        self._count += 1
        self._root = f"/robot{self._count}"
        self._scene.add_frame(self._root, show_axes=False)
        self._robot = robot
        self._ways, self._held, self._aside, self._via = {}, "", False, 0
        parts, notes = shapes(robot, folders)
        self._boxes = corners(robot, parts)
        points = self._corners(seen)
        self.size = float(max(np.linalg.norm(np.ptp(points, axis=0)) / 2, 1e-3))
        self._scene.configure_default_lights(True, cast_shadow=True)
        self._scene.configure_fog(1.0, 2.0, enabled=False)  # it would hide a large robot
        self._ground()
        moving = {name: shape for name, shape in parts.items() if name in _moving(robot)}
        self._figures = {"plan": Figure(self._scene, f"{self._root}/plan", robot, parts)}
        for name, (tint, opacity, size) in GHOSTS.items():
            self._figures[name] = Figure(
                self._scene, f"{self._root}/{name}", robot, shrunk(moving, size), tint, opacity
            )
        self._figures["ghost"].show(False)
        self._figures["pinned"].show(False)
        self._obstacles.begin(self._root)
        self._handles = {which: self._handle(which) for which in ("start", "goal")}
        self.look(seen)
        return notes

    def _corners(self, configurations: Sequence[np.ndarray]) -> np.ndarray:
        """Corners (k, 3) of boxes round all links in these configurations, m."""
        poses = [link_poses(self._robot, q) for q in configurations]
        boxes = [
            box @ np.asarray(x.R)[k].T + np.asarray(x.p)[k]
            for x in poses
            for k, box in self._boxes.items()
        ]
        return np.concatenate(boxes)

    def _with_handles(self, points: np.ndarray, configurations: Sequence[np.ndarray]) -> np.ndarray:
        """The same with the tips of the handles' arrows."""
        hands = np.array([pose(self._robot, q, hand(self._robot)).p for q in configurations])
        tips = np.concatenate([np.eye(3), -np.eye(3)]) * self._gizmo
        return np.concatenate([points, (hands[:, None] + tips).reshape(-1, 3)])

    @property
    def _gizmo(self) -> float:
        """Length of the handles' arrows, m."""
        return GIZMO * self.size * (ON_PHONES if self._window().phone else 1.0)

    def _ground(self) -> None:
        size, (cell, section) = self.size * 4, DARK if self._dark else LIGHT
        self._scene.add_grid(
            f"{self._root}/ground",
            size,
            size,
            cell_size=self.size / 8,
            section_size=self.size / 2,
            plane="xy",
            cell_color=cell,
            section_color=section,
            shadow_opacity=0.12,
            position=(0, 0, self._height - 0.002 * self.size),
        )

    def floor(self, height: float) -> None:
        """Where the ground is drawn, m."""
        if height != self._height:
            self._height = height
            self._ground()

    def theme(self, dark: bool) -> None:
        """Light or dark ground."""
        self._dark = dark
        self._ground()

    def _handle(self, which: str) -> Any:
        """Arrows and rings at the hand; only arrows for an arm that cannot turn its hand at
        will."""
        free = self._robot.n >= 6
        look = {"scale": self._gizmo, "line_width": 3.5, "depth_test": False, "opacity": 0.85}
        name = f"{self._root}/{which.replace(' ', '_')}"
        handle = self._scene.add_transform_controls(
            f"{name}_handle", disable_rotations=not free, **look
        )
        self._labels[which] = self._scene.add_label(f"{name}_label", which, anchor="bottom-center")
        if which.startswith("via"):
            self._scene.add_icosphere(f"{name}_handle/ball", radius=0.025 * self.size, color=VIA)

        @handle.on_update
        async def _(event: Any) -> None:
            self._held = "" if event.phase == "end" else which
            self._dragged(
                which,
                matrix(np.asarray(handle.wxyz)),
                np.asarray(handle.position, dtype=float),
                event.phase == "end",
            )

        return handle

    def look(self, configurations: Sequence[np.ndarray], view: str = "Iso") -> None:
        """Bring the robot in all these configurations (nq,) and the handles into view, from one of
        the sides of `camera.VIEWS`."""
        points = self._with_handles(self._corners(configurations), configurations)
        points = np.concatenate([points, self._obstacles.corners()])
        if self._aside:
            points = np.concatenate([points, points + self._shifted])
        position, look_at = fit(points, view, self._window())
        camera = self._client.camera
        with self._client.atomic():
            camera.fov = float(FIELD)
            camera.near, camera.far = 0.02 * self.size, 100.0 * self.size
            camera.up_direction = (0.0, 0.0, 1.0)
            camera.position = position
            camera.look_at = look_at

    @property
    def _shifted(self) -> np.ndarray:
        return np.array([0.0, BESIDE * self.size, 0.0])

    def ends(self, start: np.ndarray, goal: np.ndarray, via: Sequence[np.ndarray] = ()) -> None:
        """Show the start, the goal and the via points; a handle that is being held stays where the
        mouse is."""
        with self._client.atomic():
            self._vias(len(via))
            for which, q in (
                ("start", start),
                ("goal", goal),
                *((f"via {k}", q) for k, q in enumerate(via, start=1)),
            ):
                if which in self._figures:
                    self._figures[which].place(q)
                where = pose(self._robot, q, hand(self._robot))
                self._labels[which].position = np.asarray(where.p) + [0.0, 0.0, 0.07 * self.size]
                if which != self._held:
                    self._handles[which].position = np.asarray(where.p)
                    self._handles[which].wxyz = quaternions(np.asarray(where.R)[None])[0]

    def obstacles(self, scene: Any, picked: str) -> None:
        """Show the obstacles, and a handle at the picked one."""
        with self._client.atomic():
            self._obstacles.show(scene, picked, self.size, self._gizmo)

    def between(self, configurations: Sequence[np.ndarray]) -> np.ndarray:
        """The middle (3,), m, between the places of the hand in these configurations (nq,)."""
        return np.mean([pose(self._robot, q, hand(self._robot)).p for q in configurations], axis=0)

    def _vias(self, count: int) -> None:
        """So many handles for via points."""
        for k in range(self._via, count):
            self._handles[f"via {k + 1}"] = self._handle(f"via {k + 1}")
        for k in range(count, self._via):
            self._handles.pop(f"via {k + 1}").remove()
            self._labels.pop(f"via {k + 1}").remove()
        self._via = count

    def place(self, q: np.ndarray, ghost: np.ndarray | None, pinned: bool = False) -> None:
        """Show the moving robot, and its ghost if there is one; pinned: the ghost is a pinned
        plan's."""
        with self._client.atomic():
            self._figures["plan"].place(q)
            self._obstacles.place(self._robot, q)
            for name, wanted in (("ghost", not pinned), ("pinned", pinned)):
                self._figures[name].show(ghost is not None and wanted)
                if ghost is not None and wanted:
                    self._figures[name].place(ghost)

    def beside(self, aside: bool) -> bool:
        """Whether the second robot stands beside the first (two cases of a study) or within it (a
        ghost); True where this is new."""
        self._figures["pinned"].shift(self._shifted * aside)
        new, self._aside = aside != self._aside, aside
        return new

    def handles(self, visible: bool) -> None:
        """Show the start, the goal, the via points and their handles, or not."""
        for which, handle in self._handles.items():
            if which in self._figures:
                self._figures[which].show(visible)
            handle.visible = self._labels[which].visible = visible

    def way(
        self,
        name: str,
        track: Trajectory | None,
        colour: tuple[float, float, float],
        aside: bool = False,
    ) -> None:
        """Draw the way of the hand in a motion, or take it away."""
        if name in self._ways:
            self._ways.pop(name).remove()
        if track is None:
            return
        t = np.linspace(track.t[0], track.t[-1], FRAMES)
        p = np.asarray(pose(self._robot, track(t).q, hand(self._robot)).p) + self._shifted * aside
        segments = np.stack([p[:-1], p[1:]], axis=1).astype(np.float32)
        self._ways[name] = self._scene.add_line_segments(
            f"{self._root}/way_{name}", segments, colors=colour, thickness=0.009 * self.size
        )


def _moving(robot: Robot) -> set[str]:
    """The links that a joint can move: copies of the others would lie in one another."""
    found: set[str] = set()
    for joint in robot.joints:
        if joint.kind != "fixed" or joint.parent in found:
            found.add(joint.child)
    return found

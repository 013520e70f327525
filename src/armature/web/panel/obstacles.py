"""The tab in which obstacles are added, moved, resized and taken away, and scene files opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armature.robot import frames
from armature.robot.shape import ZERO, Vec3
from armature.scene.obstacle import Obstacle
from armature.scene.scene import Scene
from armature.web.obstacles import first_of

NONE = "none"
MILLIMETRE = 1e-3  # m
DEGREE = np.pi / 180.0
LABELS = {
    "box": "Edges x, y, z [mm]",
    "sphere": "Radius [mm]",
    "cylinder": "Radius, length [mm]",
    "capsule": "Radius, length [mm]",
}
Act = Callable[[str, Any], None]


class ObstacleTab:
    """Widgets of the tab; a change is handed to act("add obstacle", shape), act("obstacle", (name,
    values)), act("delete obstacle", name), act("pick obstacle", name) or act("upload", file)."""

    def __init__(self, gui: Any, act: Act):
        self._gui, self._act = gui, act
        self._scene: Scene | None = None
        gui.add_button("Add a box", icon="cube", hint="the plan goes round it").on_click(
            lambda _: act("add obstacle", "box")
        )
        gui.add_button("Add a sphere", icon="sphere").on_click(
            lambda _: act("add obstacle", "sphere")
        )
        gui.add_upload_button(
            "Open a scene", icon="upload", mime_type=".yaml,.yml", hint="ours or MoveIt's (.yaml)"
        ).on_upload(lambda event: act("upload", event.target.value))
        self._which = gui.add_dropdown("Obstacle", (NONE,), hint="or click it in space")
        self._which.on_update(
            lambda event: act("pick obstacle", event.target.value) if event.client else None
        )
        self._folder = gui.add_folder("Place and size", visible=False)
        with self._folder:
            self._fields()
        gui.add_markdown("Drag the arrows at the picked obstacle: the plan goes round it.")

    def _fields(self) -> None:
        self._position = self._three("x, y, z [mm]", 10.0, "position", MILLIMETRE)
        self._rpy = self._three("roll, pitch, yaw [°]", 5.0, "rpy", DEGREE)
        self._size = self._three(LABELS["box"], 10.0, "size", MILLIMETRE)
        self._margin = self._gui.add_number(
            "Margin [mm]", 0.0, min=0.0, step=1.0, hint="to be kept from it"
        )
        self._watch(self._margin, "margin", lambda value: float(value) * MILLIMETRE)
        delete = self._gui.add_button("Delete it", icon="trash")
        delete.on_click(lambda _: self._act("delete obstacle", self._which.value))

    def _three(self, label: str, step: float, what: str, unit: float) -> Any:
        field = self._gui.add_vector3(label, ZERO, step=step)
        field.precision = 1
        self._watch(field, what, lambda value: self._read(what, value, unit))
        return field

    def _read(self, what: str, value: Sequence[float], unit: float) -> tuple[float, ...]:
        count = 3 if what != "size" or self._scene is None else len(self._picked.size)
        return tuple(float(x) * unit for x in value[:count])

    def _watch(self, field: Any, what: str, read: Callable[[Any], Any]) -> None:
        field.on_update(
            lambda event: (
                self._act("obstacle", (self._which.value, {what: read(event.target.value)}))
                if event.client is not None
                else None
            )
        )

    @property
    def _picked(self) -> Obstacle:
        assert self._scene is not None
        return first_of(self._scene, self._which.value)

    def show(self, scene: Scene | None, picked: str) -> None:
        """Show a scene's obstacles, and the numbers of the picked one."""
        names = tuple(o.name for o in scene.world) if scene is not None else ()
        names = tuple(dict.fromkeys(names))
        self._scene = scene
        options = names or (NONE,)
        if tuple(self._which.options) != options:
            self._which.options = options
        self._which.value = picked if picked in names else options[0]
        self._folder.visible = bool(names)
        if not names:
            return
        o = self._picked
        self._position.value = _shown(o.position, MILLIMETRE)
        self._rpy.value = _shown(frames.to_rpy(o.rotation), DEGREE)
        self._size.visible = o.shape in LABELS
        self._size.label = LABELS.get(o.shape, "")
        self._size.value = _shown((*o.size, 0.0, 0.0, 0.0)[:3], MILLIMETRE)
        self._margin.value = round(o.margin / MILLIMETRE, 1)


def _shown(values: Sequence[float], unit: float) -> Vec3:
    """As the page shows it, to one decimal."""
    x, y, z = (round(float(value) / unit, 1) + 0.0 for value in values)
    return x, y, z

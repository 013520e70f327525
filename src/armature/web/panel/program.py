"""The tab in which a program is edited as a list of steps, planned and saved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from armature.cell.program.program import HOLDS, Dwell, MoveTo
from armature.web.program.shown import ShownProgram, table_of
from armature.web.program.sketch import KINDS, Sketch, told

NONE = "none"
Act = Callable[[str, Any], None]


class ProgramTab:
    """Widgets of the tab; a change is handed to act("add step", kind), act("order", "Up", "Down" or
    "Delete"), act("pick step", k), act("edit step", (k, values)), act("cycle", s),
    act("plan program", None) or act("export program", None)."""

    def __init__(self, gui: Any, act: Act):
        self._gui, self._act, self._sketch, self._count = gui, act, None, 0
        self.table = gui.add_html("")
        group = gui.add_button_group("Add", KINDS, hint="a step after the picked one")
        group.on_click(lambda event: act("add step", event.target.value))
        self._which = gui.add_dropdown(
            "Step", (NONE,), hint="its motion is shown and can be dragged"
        )
        self._which.on_update(
            lambda event: act("pick step", self._number) if event.client is not None else None
        )
        self._folder = gui.add_folder("This step", visible=False)
        with self._folder:
            order = gui.add_button_group("Order", ("Up", "Down", "Delete"))
            order.on_click(lambda event: act("order", event.target.value))
            self._name = self._field("name", gui.add_text("Name", ""), str)
            self._seconds = self._field("seconds", gui.add_number("Time [s]", 0.0, min=0.0), float)
            self._mass = self._field("mass", gui.add_number("Mass [kg]", 0.0, min=0.0), float)
            self._stop = self._field("stop", gui.add_checkbox("Stop at the goal", True), bool)
            upright = gui.add_checkbox("Upright", False, hint="straight, the tool axis kept")
            self._upright = self._field("upright", upright, bool)
            hold = gui.add_dropdown("Held by", HOLDS, hint="cheaper: motors or brakes")
            self._hold = self._field("hold", hold, str)
        for number in (self._seconds, self._mass):
            number.step, number.precision = 0.1, 4
        self._cycle = gui.add_number("Cycle [s]", 0.0, min=0.0, step=0.1, hint="0: the least one")
        self._cycle.precision = 3
        self._cycle.on_update(
            lambda event: act("cycle", event.target.value) if event.client is not None else None
        )
        gui.add_button("Plan the program", icon="route", color="green").on_click(
            lambda _: act("plan program", None)
        )
        gui.add_button("Download the program (.zip)", icon="download").on_click(
            lambda _: act("export program", None)
        )

    def _field(self, name: str, widget: Any, read: Callable[[Any], Any]) -> Any:
        def changed(event: Any) -> None:
            if event.client is not None and self._number >= 0:
                self._act("edit step", (self._number, {name: read(event.target.value)}))

        widget.on_update(changed)
        return widget

    @property
    def _number(self) -> int:
        """Index of the step that is picked; −1 for none."""
        first = str(self._which.value).partition(" ")[0]
        return int(first) - 1 if first.isdigit() else -1

    def show(self, sketch: Sketch | None, shown: ShownProgram | None, picked: int) -> None:
        """Show the steps, and the fields of the picked one."""
        steps = sketch.steps if sketch is not None else ()
        names = tuple(f"{k} {told(step)}" for k, step in enumerate(steps, start=1))
        options = names or (NONE,)
        if tuple(self._which.options) != options:
            self._which.options = options
        self._which.value = names[picked] if 0 <= picked < len(names) else options[-1]
        self.table.content = table_of(sketch, shown, picked)
        self._cycle.value = float((sketch.cycle if sketch is not None else None) or 0.0)
        self._folder.visible = 0 <= picked < len(names)
        if not self._folder.visible:
            return
        step = steps[picked]
        self._name.value = step.name
        self._seconds.visible = hasattr(step, "seconds")
        self._seconds.value = float(getattr(step, "seconds", 0.0))
        self._mass.visible = hasattr(step, "mass")
        self._mass.value = float(getattr(step, "mass", 0.0))
        self._stop.visible = isinstance(step, MoveTo)
        self._stop.value = bool(getattr(step, "stop", True))
        self._upright.visible = isinstance(step, MoveTo)
        self._upright.value = bool(getattr(step, "upright", False))
        self._hold.visible = isinstance(step, Dwell)
        self._hold.value = str(getattr(step, "hold", HOLDS[0]))

"""The widgets of one browser: what can be set, and what is told. It decides nothing: every change is handed to `act(name, value)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armature.robot.library import library
from armature.robot.model import Robot
from armature.web.exports import EXPORTS
from armature.web.reader import PLANS, ROBOTS
from armature.web.scene import GHOST, GOAL, PLAN, START
from armature.web.session import Wish, ranges

WAYS = {"free (the best one)": "free", "a straight line": "line", "an arc above the line": "arc"}
OBJECTIVES = {"least energy": "energy", "least time": "time"}
BURNT, RETURNED, OWN = "each axis burns it", "goes back to the supply", "the robot's own supply"
SUPPLIES = {BURNT: "non-regenerative", RETURNED: "regenerative"}
CHARTS = ("Currents", "Power", "Torque", "Energy")
NOBODY = "none"
LEFT, RIGHT = 340, 350  # widths of the panels, pixels
DEGREES, MILLIMETRES = 180.0 / np.pi, 1000.0
MARKS = (("plan", PLAN), ("ordinary motion", GHOST), ("start", START), ("goal", GOAL))
Act = Callable[[str, Any], None]


def _legend() -> str:
    """What the colours in space mean."""
    square = "display:inline-block;width:0.7em;height:0.7em;border-radius:2px;margin-right:0.35em;background:rgb"
    marks = [(name, ",".join(f"{255 * part:.0f}" for part in colour)) for name, colour in MARKS]
    words = "".join(f'<span style="white-space:nowrap"><span style="{square}({colour})"></span>{name}</span>' for name, colour in marks)
    return f'<div style="display:flex;flex-wrap:wrap;gap:0.1em 1em;padding:0.1em 0.8em;font-size:0.8em">{words}</div>'


LEGEND = _legend()


class Panel:
    """All widgets. Values set by the server do not come back as changes."""

    def __init__(self, client: Any, act: Act, study: bool):
        self._gui, self._act = client.gui, act
        gui = self._gui
        self.theme(dark=False)
        gui.set_panel_label("Armature")
        gui.main_panel.dock_right()
        gui.main_panel.set_width(RIGHT)
        self.card = gui.add_html("")
        self._remedy = gui.add_button("", visible=False, color="green")
        self._remedy.on_click(lambda _: act("remedy", None))
        self._player()
        self._move()
        self._pages(study)
        self._charts(client)

    def theme(self, dark: bool) -> None:
        """Light or dark."""
        self._gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(0, 114, 178), dark_mode=dark)

    # parts ----------------------------------------------------------------------------------------------------------------

    def _player(self) -> None:
        gui = self._gui
        self._play = gui.add_button("Play", icon="player-play", hint="play or pause the motion")
        self._play.on_click(lambda _: self._act("play", None))
        self._time = self._watched("time", gui.add_slider("Time [s]", 0.0, 1.0, 0.001, 0.0))
        self._ghost = self._watched("ghost", gui.add_checkbox("Ordinary motion", True, hint="show the joint cubic beside the plan"))
        gui.add_html(LEGEND)

    def _move(self) -> None:
        gui = self._gui
        with gui.add_folder("Move"):
            self._duration = self._watched("duration", gui.add_slider("Duration [s]", 0.1, 6.0, 0.01, 1.0))
            self._objective = self._watched("objective", gui.add_dropdown("Wanted", tuple(OBJECTIVES)))
            self._way = self._watched("way", gui.add_dropdown("Way of the hand", tuple(WAYS), hint="free: whatever costs least"))
            self._payload = self._watched("payload", gui.add_slider("Payload [kg]", 0.0, 10.0, 0.5, 0.0, hint="at the hand"))
            height = "height in m that all links stay above; none; auto: under the base of an arm that stands"
            self._floor = self._watched("floor", gui.add_text("Floor", "auto", hint=height))
            hint = "what becomes of the energy that comes back while braking"
            self._supply = self._watched("supply", gui.add_dropdown("Braking energy", (BURNT, RETURNED, OWN), hint=hint))

    def _pages(self, study: bool) -> None:
        gui = self._gui
        tabs = gui.add_tab_group()
        if study:
            with tabs.add_tab("Study"):
                self._study()
        self._joints = {which: tabs.add_tab(which.capitalize()) for which in ("goal", "start")}
        for which, tab in self._joints.items():
            with tab:
                gui.add_markdown(f"Drag the arrows at the hand marked *{which}*, or set the joints:")
        self._sliders: dict[str, list[Any]] = {"goal": [], "start": []}
        self._scales: list[float] = []
        with tabs.add_tab("Robot"):
            self._robot = self._watched("robot", gui.add_dropdown("Robot", (*library(),)))
            upload = gui.add_upload_button("Open a robot, its drives, or a plan", icon="upload", mime_type=",".join((*ROBOTS, *PLANS)))
            upload.on_upload(lambda event: self._act("upload", event.target.value))
            self.about = gui.add_markdown("")
        with tabs.add_tab("Save"):
            self._kind = gui.add_dropdown("What", tuple(EXPORTS))
            gui.add_button("Download", icon="download").on_click(lambda _: self._act("export", self._kind.value))

    def _study(self) -> None:
        gui = self._gui
        self._row = self._watched("row", gui.add_dropdown("Case", ("…",)))
        self._beside = self._watched("beside", gui.add_dropdown("Beside it", (NOBODY,)))
        self.table = gui.add_html("")

    def _charts(self, client: Any) -> None:
        gui = self._gui
        top = gui.add_panel()
        with top.add_tab("Energy against time"):
            self.curve = gui.add_html("")
        top.dock_left()
        below = gui.add_panel()
        self.charts: dict[str, Any] = {}
        for name in CHARTS:
            with below.add_tab(name):
                self.charts[name] = gui.add_html("")
        below.dock_below(top)
        top.set_width(LEFT)

    def _watched(self, name: str, handle: Any) -> Any:
        """Hand a user's change on; what the server sets itself has no client."""
        handle.on_update(lambda event: self._act(name, event.target.value) if event.client is not None else None)
        return handle

    # what is shown --------------------------------------------------------------------------------------------------------

    def robot(self, robot: Robot, about: str) -> None:
        """Sliders for a robot's joints."""
        low, high = ranges(robot)
        sliding = {j.name for j in robot.joints if j.kind == "prismatic"}
        self._scales = [MILLIMETRES if name in sliding else DEGREES for name in robot.joint_names]
        for which, tab in self._joints.items():
            for slider in self._sliders[which]:
                slider.remove()
            with tab:
                rows = enumerate(zip(robot.joint_names, self._scales, zip(low.tolist(), high.tolist())))
                self._sliders[which] = [self._slider(which, name, k, scale, ends) for k, (name, scale, ends) in rows]
        own = () if robot.name in library() else (f"{robot.name} (from its file)",)
        self._robot.options = (*own, *library())
        self._robot.value = own[0] if own else robot.name
        self.about.content = about

    def _slider(self, which: str, name: str, k: int, scale: float, ends: tuple[float, float]) -> Any:
        """A slider for one joint: degrees for a turning one, millimetres for a sliding one."""
        low, high = float(np.floor(ends[0] * scale)), float(np.ceil(ends[1] * scale))
        slider = self._gui.add_slider(f"{name} [{'mm' if scale == MILLIMETRES else '°'}]", low, high, 0.5, min(max(0.0, low), high))

        def changed(event: Any) -> None:
            if event.client is not None:
                self._act(f"joint {which} {k}", (which, k, float(np.clip(event.target.value / scale, *ends))))

        slider.on_update(changed)
        return slider

    def wish(self, wish: Wish) -> None:
        """Show what is wished for."""
        self._duration.max = max(6.0, float(np.ceil(wish.duration)))
        self._duration.value = float(wish.duration)
        self._objective.value = next(words for words, name in OBJECTIVES.items() if name == wish.objective)
        self._way.value = next(words for words, name in WAYS.items() if name == wish.way)
        self._payload.value = float(wish.payload)
        self._floor.value = "none" if wish.floor is None else str(wish.floor)
        own = wish.robot.supply is not None or not (wish.supply is None or isinstance(wish.supply, str))
        self._supply.options = (BURNT, RETURNED, *((OWN,) if own else ()))
        self._supply.value = next((words for words, name in SUPPLIES.items() if name == wish.supply), OWN if own else RETURNED)
        for which, sliders in self._sliders.items():
            for slider, q, scale in zip(sliders, getattr(wish, which), self._scales):
                value = round(2 * float(q) * scale) / 2
                slider.value = float(np.clip(value, slider.min, slider.max))

    def remedy(self, words: str | None) -> None:
        """Offer a way out, or none."""
        self._remedy.label = words or ""
        self._remedy.visible = bool(words)

    def playing(self, playing: bool) -> None:
        """The button says what it will do."""
        self._play.label = "Pause" if playing else "Play"
        self._play.icon = "player-pause" if playing else "player-play"

    def length(self, seconds: float) -> None:
        """How long the motion takes that the time slider runs over."""
        self._time.max = max(0.001, round(seconds, 3))

    def time(self, t: float) -> None:
        """Where in the motion the robot is, s."""
        self._time.value = min(round(float(t), 3), self._time.max)

    def rows(self, labels: Sequence[str], table: str) -> None:
        """The cases of a study."""
        self._row.options = tuple(labels) or ("no finished case",)
        self._beside.options = (NOBODY, *labels)
        self.table.content = table

"""The widgets of one browser: what can be set, and what is shown. It decides nothing: every change
is handed to `act(name, value)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armature.optimize.transcription.task import SMOOTHNESS
from armature.robot.library import library
from armature.robot.model import Robot
from armature.web.exports import EXPORTS, OBSTACLES
from armature.web.panel.drives import DriveTab
from armature.web.panel.obstacles import ObstacleTab
from armature.web.panel.program import ProgramTab
from armature.web.panel.style import STYLE, legend
from armature.web.panel.tool import ToolTab
from armature.web.pictures import CHARTS
from armature.web.reader import PLANS, ROBOTS
from armature.web.space.camera import PHONE, VIEWS
from armature.web.wish import Wish, payload_range, ranges

WAYS = {"free (the best one)": "free", "a straight line": "line", "an arc above the line": "arc"}
OBJECTIVES = {"least energy": "energy", "least time": "time"}
BURNT, RETURNED, OWN = "each axis burns it", "goes back to the supply", "the robot's own supply"
SUPPLIES = {BURNT: "non-regenerative", RETURNED: "regenerative"}
NOBODY = "none"
LEFT, RIGHT = 340, 350  # widths of the panels, pixels
DEGREES, MILLIMETRES = 180.0 / np.pi, 1000.0
ORDINARY, PINNED = "ordinary motion", "pinned plan"
GHOSTS = (ORDINARY, NOBODY)
NARROW = 1100  # pixels: in a narrower window the charts are folded away at first
FOLDED = 30  # pixels of a folded panel
# words of a command → key, modifier, what is done, value
KEYS: dict[str, tuple[Any, Any, str, Any]] = {
    "Play or pause": ("space", None, "play", None),
    "A step back": ("arrowleft", None, "step", -1),
    "A step ahead": ("arrowright", None, "step", 1),
    "To the start": ("home", None, "step", -1000),
    "To the goal": ("end", None, "step", 1000),
    "Undo": ("Z", "cmd/ctrl", "undo", None),
    "Redo": ("Z", "cmd/ctrl+shift", "redo", None),
    "Redo (as on Windows)": ("Y", "cmd/ctrl", "redo", None),
    "Pin this plan": ("P", None, "pin", None),
    **{
        f"View: {name.lower()}": (str(k), None, "view", name)
        for k, name in enumerate(VIEWS, start=1)
    },
}
Act = Callable[[str, Any], None]


class Panel:
    """All widgets. Values set by the server do not come back as changes."""

    def __init__(self, client: Any, act: Act, study: bool, arguments: str | None = None):
        self._gui, self._act = client.gui, act
        gui = self._gui
        self._width = client.camera.image_width
        self.theme(dark=False)
        gui.set_panel_label("Armature")
        gui.main_panel.dock_right()
        gui.main_panel.set_width(RIGHT)
        gui.add_html(STYLE)
        self.card = gui.add_html("")
        self._remedy = gui.add_button("", visible=False, color="green")
        self._remedy.on_click(lambda _: act("remedy", None))
        self._player()
        self._move()
        self._pages(study, arguments)
        self._charts(client)
        for words, (key, modifier, name, value) in KEYS.items():
            command = gui.add_command(words, hotkey=key, modifier=modifier)
            command.on_trigger(lambda _, name=name, value=value: act(name, value))

    @property
    def beside(self) -> float:
        """Pixels that the panels take from the window's width at first."""
        return RIGHT + (LEFT if self._width >= NARROW else FOLDED)

    def theme(self, dark: bool) -> None:
        """Light or dark."""
        self._gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=(0, 114, 178), dark_mode=dark
        )

    # parts ---------------------------------------------------------------------------------------

    def _player(self) -> None:
        gui = self._gui
        self._play = gui.add_button("Play", icon="player-play", hint="play or pause the motion")
        self._play.on_click(lambda _: self._act("play", None))
        self._time = self._watched("time", gui.add_slider("Time [s]", 0.0, 1.0, 0.001, 0.0))
        self._ghost = self._watched(
            "ghost", gui.add_dropdown("Compare with", GHOSTS, hint="whose motion the ghost shows")
        )
        self._legend = gui.add_html(legend(ORDINARY))
        self._buttons("View", tuple(VIEWS), lambda name: self._act("view", name), "keys 1, 2, 3, 4")
        self._buttons(
            "Change",
            ("Undo", "Redo"),
            lambda name: self._act(name.lower(), None),
            "Ctrl+Z, Ctrl+Shift+Z",
        )
        self._buttons(
            "This plan",
            ("Pin", "Unpin"),
            lambda name: self._act(name.lower(), None),
            "keep it, to compare others with it",
        )

    def _buttons(
        self, label: str, options: tuple[str, ...], act: Callable[[str], None], hint: str
    ) -> None:
        group = self._gui.add_button_group(label, options, hint=hint)
        group.on_click(lambda event: act(event.target.value))

    def _move(self) -> None:
        gui = self._gui
        with gui.add_folder("Move"):
            self._duration = self._watched(
                "duration", gui.add_slider("Duration [s]", 0.1, 6.0, 0.01, 1.0)
            )
            self._objective = self._watched(
                "objective", gui.add_dropdown("Wanted", tuple(OBJECTIVES))
            )
            self._way = self._watched(
                "way",
                gui.add_dropdown("Path of hand", tuple(WAYS), hint="free: whatever costs least"),
            )
            self._payload = self._watched(
                "payload", gui.add_slider("Payload [kg]", 0.0, 10.0, 0.5, 0.0, hint="at the hand")
            )
            height = (
                "height in m that all links stay above; none; auto: under the base of an arm that"
                " stands"
            )
            self._floor = self._watched("floor", gui.add_text("Floor", "auto", hint=height))
            hint = (
                "0: least energy alone; 0.1: the smoothest motion that keeps 95 % of the saving; 1:"
                " that keeps half of it"
            )
            self._smoothness = self._watched(
                "smoothness", gui.add_slider("Smoothness", 0.0, 1.0, 0.05, SMOOTHNESS, hint=hint)
            )
            hint = "what becomes of the energy that comes back while braking"
            self._supply = self._watched(
                "supply", gui.add_dropdown("Braking energy", (BURNT, RETURNED, OWN), hint=hint)
            )

    def _pages(self, study: bool, arguments: str | None) -> None:
        gui = self._gui
        tabs = gui.add_tab_group()
        if study:
            with tabs.add_tab("Study"):
                self._study()
        self._joints = {which: tabs.add_tab(which.capitalize()) for which in ("goal", "start")}
        for which, tab in self._joints.items():
            with tab:
                gui.add_markdown(
                    f"Drag the arrows at the hand marked *{which}*, or set the joints:"
                )
        with tabs.add_tab("Via") as tab:
            self._joints["via"] = tab
            self._vias()
        self._sliders: dict[str, list[Any]] = {"goal": [], "start": [], "via": []}
        self._scales: list[float] = []
        with tabs.add_tab("Obstacles"):
            self.obstacles = ObstacleTab(gui, self._act)
        with tabs.add_tab("Program"):
            self.program = ProgramTab(gui, self._act)
        with tabs.add_tab("Tool"):
            self.tool = ToolTab(gui, self._act)
        with tabs.add_tab("Drives"):
            self.drives = DriveTab(gui, self._act)
        with tabs.add_tab("Robot"):
            self._robot = self._watched("robot", gui.add_dropdown("Robot", (*library(),)))
            upload = gui.add_upload_button(
                "Open a robot, its drives, or a plan",
                icon="upload",
                mime_type=",".join((*ROBOTS, *PLANS)),
            )
            upload.on_upload(lambda event: self._act("upload", event.target.value))
            if arguments is not None:
                words = gui.add_text(
                    "xacro arguments", arguments, hint="name:=value, separated by blanks"
                )
                gui.add_button("Read the file again", icon="refresh").on_click(
                    lambda _: self._act("arguments", words.value)
                )
            self.about = gui.add_markdown("")
        with tabs.add_tab("Save"):
            self._kind = gui.add_dropdown("What", (*EXPORTS, OBSTACLES))
            gui.add_button("Download", icon="download").on_click(
                lambda _: self._act("export", self._kind.value)
            )

    def _vias(self) -> None:
        gui = self._gui
        hint = "a configuration to pass without stopping, put where the robot is now"
        gui.add_button("Add a via point", icon="plus", hint=hint).on_click(
            lambda _: self._act("add via", None)
        )
        self._via = self._watched(
            "pick via", gui.add_dropdown("Via point", (NOBODY,), visible=False)
        )
        self._delete = gui.add_button("Delete it", icon="trash", visible=False)
        self._delete.on_click(lambda _: self._act("delete via", self._via.value))

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
        if PHONE < self._width < NARROW:
            top.minimize()

    def _watched(self, name: str, handle: Any) -> Any:
        """Hand a user's change on; what the server sets itself has no client."""
        handle.on_update(
            lambda event: self._act(name, event.target.value) if event.client is not None else None
        )
        return handle

    # what is shown -------------------------------------------------------------------------------

    def robot(self, robot: Robot, about: str) -> None:
        """Sliders for a robot's joints."""
        self._low, self._high = ranges(robot)
        sliding = {j.name for j in robot.joints if j.kind == "prismatic"}
        self._names = robot.joint_names
        self._scales = [MILLIMETRES if name in sliding else DEGREES for name in robot.joint_names]
        for which in self._joints:
            self._remove(which)
        for which in ("goal", "start"):
            self._fill(which)
        own = () if robot.name in library() else (f"{robot.name} (from its file)",)
        self._robot.options = (*own, *library())
        self._robot.value = own[0] if own else robot.name
        self._payload.max = most_payload(robot)
        self._payload.step, self._payload.precision = self._payload.max / 40, 4
        self.about.content = about
        self.drives.robot(robot)
        self.tool.robot(robot)

    def _remove(self, which: str) -> None:
        for slider in self._sliders[which]:
            slider.remove()
        self._sliders[which] = []

    def _fill(self, which: str) -> None:
        """One slider for each joint."""
        with self._joints[which]:
            ends = zip(self._low.tolist(), self._high.tolist())
            rows = enumerate(zip(self._names, self._scales, ends))
            self._sliders[which] = [
                self._slider(which, name, k, scale, end) for k, (name, scale, end) in rows
            ]

    def _slider(
        self, which: str, name: str, k: int, scale: float, ends: tuple[float, float]
    ) -> Any:
        """A slider for one joint: degrees for a turning one, millimetres for a sliding one."""
        low, high = float(np.floor(ends[0] * scale)), float(np.ceil(ends[1] * scale))
        slider = self._gui.add_slider(
            f"{name} [{'mm' if scale == MILLIMETRES else '°'}]",
            low,
            high,
            0.5,
            min(max(0.0, low), high),
        )

        def changed(event: Any) -> None:
            if event.client is not None:
                whose = self._via.value if which == "via" else which
                self._act(
                    f"joint {whose} {k}",
                    (whose, k, float(np.clip(event.target.value / scale, *ends))),
                )

        slider.on_update(changed)
        return slider

    def wish(self, wish: Wish) -> None:
        """Show what is wished for."""
        self._duration.max = max(6.0, float(np.ceil(wish.duration)))
        self._duration.value = float(wish.duration)
        self._objective.value = next(
            words for words, name in OBJECTIVES.items() if name == wish.objective
        )
        self._way.value = next(words for words, name in WAYS.items() if name == wish.way)
        most = max(payload_range(wish.robot), float(wish.payload))
        self._payload.max, self._payload.step = most, payload_range(wish.robot) / 20
        self._payload.value = float(wish.payload)
        self.tool.payload(wish.centre, wish.inertia)
        self._floor.value = "none" if wish.floor is None else str(wish.floor)
        self._smoothness.value = float(wish.smoothness)
        own = wish.robot.supply is not None or not (
            wish.supply is None or isinstance(wish.supply, str)
        )
        self._supply.options = (BURNT, RETURNED, *((OWN,) if own else ()))
        self._supply.value = next(
            (words for words, name in SUPPLIES.items() if name == wish.supply),
            OWN if own else RETURNED,
        )
        self._show_vias(len(wish.via))
        for which, sliders in self._sliders.items():
            q = wish.at(self._via.value if which == "via" else which) if sliders else ()
            for slider, x, scale in zip(sliders, q, self._scales):
                value = round(2 * float(x) * scale) / 2
                slider.value = float(np.clip(value, slider.min, slider.max))

    def _show_vias(self, count: int) -> None:
        """The list of via points, and sliders for the one that is picked."""
        names = tuple(f"via {k + 1}" for k in range(count))
        if (names or (NOBODY,)) != tuple(self._via.options):
            new = names[-1] if len(names) > len(self._via.options) else self._via.value
            self._via.options = names or (NOBODY,)
            self._via.value = new if new in names else (names or (NOBODY,))[-1]
        self._via.visible = self._delete.visible = bool(names)
        if bool(self._sliders["via"]) != bool(names):
            self._fill("via") if names else self._remove("via")

    def ghost(self, pinned: bool, shown: str) -> None:
        """What the plan can be compared with, and what it is."""
        self._ghost.options = (ORDINARY, *((PINNED,) if pinned else ()), NOBODY)
        self._ghost.value = shown
        self._legend.content = legend(shown, self._via.visible)

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


def most_payload(robot: Robot) -> float:
    """A round mass (kg) at the end of the payload's slider: about half of what the robot weighs."""
    half = max(0.5 * robot.mass, 0.02)
    power = 10.0 ** np.floor(np.log10(half))
    return float(next(k for k in (1, 2, 5, 10) if k * power >= half - 1e-12) * power)

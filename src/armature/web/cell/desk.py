"""One browser that looks at a cell: all robots moving in one world, the schedule, the energies."""

from __future__ import annotations

import html
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armature.cell.workcell.cell import Cell, CellPlan
from armature.dynamics.compiled import link_poses
from armature.plot.limbs import reach
from armature.plot.programs.cell import gantt_svg
from armature.web.cell.work import CellWork, Stand
from armature.web.mailbox import Mailbox
from armature.web.panel.style import STYLE
from armature.web.player import ROUNDS
from armature.web.space.camera import FIELD, VIEWS, canvas, fit
from armature.web.space.geometry import corners, shapes
from armature.web.space.scene import Figure
from armature.web.space.turn import quaternions

RIGHT = 400  # pixels of the panel
BESIDE = 2.2  # of their reach, between robots that have no bases
SEEN = 13  # instants of a cycle at which the camera sees all robots


class CellDesk:
    """One browser. client: viser's handle of it.  work: plans for all browsers.  folders: that
    meshes may be read from."""

    def __init__(self, client: Any, work: CellWork, folders: Sequence[Path]):
        self._client, self._work = client, work
        self._world = World(client, work.stand.cell, folders)
        self._plan: CellPlan | None = None
        self._t, self._since, self._rounds = 0.0, 0.0, 0
        self._mail = Mailbox(self._tick, self._failed)
        self._panel()
        self._follows = lambda stand: self._mail.post("stand", lambda: self._show(stand))
        work.follow(self._follows)

    def close(self) -> None:
        """The browser is gone."""
        self._work.leave(self._follows)
        self._mail.close()

    @property
    def alive(self) -> bool:
        """Whether something is still being planned for the cell."""
        return self._work.alive

    def join(self, seconds: float) -> None:
        """Wait until its thread has ended."""
        self._mail.join(seconds)

    def act(self, name: str, value: Any) -> None:
        """A widget was changed; called from any thread."""
        does = {
            "play": self._toggle,
            "time": lambda: self._scrub(float(value)),
            "view": lambda: self._world.look(self._plan, str(value)),
            "cycle": lambda: self._work.plan(float(value)),
            "report": self._report,
            "theme": lambda: self._theme(value == "dark"),
        }
        if name in does:
            self._mail.post(name, does[name])

    # widgets --------------------------------------------------------------------------------------

    def _panel(self) -> None:
        gui = self._client.gui
        self._theme(False)
        gui.set_panel_label("Armature")
        gui.main_panel.dock_right()
        gui.main_panel.set_width(RIGHT)
        gui.add_html(STYLE)
        self._card = gui.add_html("")
        self._play = gui.add_button("Play", icon="player-play", hint="play or pause the cycle")
        self._play.on_click(lambda _: self.act("play", None))
        self._time = gui.add_slider("Time [s]", 0.0, self._work.stand.cell.cycle, 0.001, 0.0)
        self._time.on_update(lambda e: self.act("time", e.target.value) if e.client else None)
        views = gui.add_button_group("View", tuple(VIEWS))
        views.on_click(lambda e: self.act("view", e.target.value))
        cycle = self._work.stand.cell.cycle
        self._cycle = gui.add_number("Cycle [s]", float(cycle), min=1e-3, step=0.1)
        again = gui.add_button("Plan the cell", icon="route", color="green")
        again.on_click(lambda _: self.act("cycle", self._cycle.value))
        down = gui.add_button("Download the report (.html)", icon="download")
        down.on_click(lambda _: self.act("report", None))
        self._tables = gui.add_html("")

    def _theme(self, dark: bool) -> None:
        self._client.gui.configure_theme(
            show_logo=False, show_share_button=False, brand_color=(0, 114, 178), dark_mode=dark
        )

    # what is shown --------------------------------------------------------------------------------

    def _show(self, stand: Stand) -> None:
        """The card, and a new plan with its tables and its motion."""
        self._card.content = card_of(stand)
        if stand.plan is None or stand.plan is self._plan:
            return
        self._plan, self._t = stand.plan, 0.0
        self._time.max = float(stand.plan.cell.cycle)
        self._tables.content = tables_of(stand.plan)
        self._world.look(stand.plan, "Iso")
        if not self._mail.ticking:
            self._toggle()

    def _toggle(self) -> None:
        self._mail.ticking, self._since = not self._mail.ticking, time.monotonic()
        self._rounds = 0
        self._play.label = "Pause" if self._mail.ticking else "Play"

    def _scrub(self, t: float) -> None:
        if self._mail.ticking:
            self._toggle()
        self._t = t
        self._world.place(self._plan, t)

    def _tick(self) -> None:
        if self._plan is None:
            return
        now, cycle = time.monotonic(), self._plan.cell.cycle
        t, self._since = self._t + now - self._since, now
        self._t, self._rounds = t % cycle, self._rounds + int(t // cycle)
        self._time.value = float(self._t)
        self._world.place(self._plan, self._t)
        if self._rounds >= ROUNDS:
            self._toggle()

    def _report(self) -> None:
        if self._plan is None:
            return
        with tempfile.TemporaryDirectory(prefix="armature") as place:
            page = self._plan.report(Path(place) / "cell.html").read_bytes()
        self._client.send_file_download("cell.html", page, save_immediately=True)

    def _failed(self, error: Exception) -> None:
        self._card.content = _card("bad", "Something went wrong", html.escape(str(error)))


class World:
    """All robots of a cell in a browser's scene, each on its base."""

    def __init__(self, client: Any, cell: Cell, folders: Sequence[Path]):
        self._client, self._cell = client, cell
        self._figures: dict[str, Figure] = {}
        self._boxes: dict[str, dict[int, np.ndarray]] = {}
        scene = client.scene
        scene.configure_default_lights(True, cast_shadow=True)
        self._reach = max(reach(program.robot) for program in cell.robots.values())
        for k, (name, program) in enumerate(cell.robots.items()):
            parts, _ = shapes(program.robot, folders)
            self._boxes[name] = corners(program.robot, parts)
            R, p = self.base(name, k)
            root = f"/cell{k}"
            scene.add_frame(root, show_axes=False, wxyz=quaternions(R[None])[0], position=p)
            scene.add_label(f"{root}/name", name, anchor="bottom-center")
            self._figures[name] = Figure(scene, f"{root}/robot", program.robot, parts)
        self._ground()

    def base(self, name: str, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Where robot number k stands: rotation (3, 3) and position (3,), m; side by side where
        the cell gives no bases."""
        if self._cell.bases is None:
            return np.eye(3), np.array([0.0, BESIDE * self._reach * k, 0.0])
        base = self._cell.bases[name]
        return base.rotation, np.array(base.position, dtype=float)

    def _ground(self) -> None:
        size = 8.0 * self._reach
        look = {"cell_size": self._reach / 4, "section_size": self._reach, "plane": "xy"}
        self._client.scene.add_grid("/ground", size, size, **look)

    def place(self, plan: CellPlan | None, t: float) -> None:
        """Bring all robots to where they are at t, s of the cell's clock."""
        if plan is None:
            return
        with self._client.atomic():
            for name, q in plan.configurations(t).items():
                self._figures[name].place(q)

    def look(self, plan: CellPlan | None, view: str) -> None:
        """Bring the whole cell into view, over all of its cycle."""
        if plan is None:
            return
        self.place(plan, 0.0)
        points = []
        for t in np.linspace(0.0, plan.cell.cycle, SEEN):
            for k, (name, q) in enumerate(plan.configurations(float(t)).items()):
                R, at = self.base(name, k)
                poses = link_poses(plan.plans[name].robot, q)
                for link, box in self._boxes[name].items():
                    local = box @ np.asarray(poses.R)[link].T + np.asarray(poses.p)[link]
                    points.append(local @ R.T + at)
        camera = self._client.camera
        window = canvas(camera.image_width, max(camera.image_height, 1), RIGHT)
        position, look_at = fit(np.concatenate(points), view, window)
        with self._client.atomic():
            camera.fov, camera.up_direction = float(FIELD), (0.0, 0.0, 1.0)
            camera.position, camera.look_at = position, look_at


def card_of(stand: Stand) -> str:
    """The card's words."""
    escape = lambda x: html.escape(str(x))
    if stand.busy:
        return _card("busy", f"{escape(stand.cell.name)}: {escape(stand.busy)} …", "")
    if stand.plan is None or (stand.problem and not stand.plan.faults):
        return _card("bad", f"{escape(stand.cell.name)}: no plan", escape(stand.problem))
    plan = stand.plan
    saved = 100 * (1 - plan.energy / plan.fast) if plan.fast > 0 else 0.0
    head = f"{plan.energy:.4g} J in a cycle of {plan.cell.cycle:.4g} s"
    proved = f"✓ Proved: {plan.checked}" if plan.ok else "✗ Not proved: "
    words = (
        f"{saved:.1f} % less than every motion at its least time, then waiting ({plan.fast:.4g} J)."
        f"<br>{proved}{escape(stand.problem)}"
    )
    return _card("good" if plan.ok else "bad", head, words)


def _card(state: str, head: str, words: str) -> str:
    return (
        f'<div class="armature-card {state}" role="status" style="margin:0.6em 2%"><b>{head}</b>'
        f"<div>{words}</div></div>"
    )


def tables_of(plan: CellPlan) -> str:
    """Energy before and after of every robot, what the bus draws, and the schedule."""
    cell = '<td style="text-align:right">'
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td>{cell}{plan.start_of(name) % plan.cell.cycle:.2f} s</td>"
        f"{cell}{one.fast:.4g} J</td>{cell}{one.energy:.4g} J</td></tr>"
        for name, one in plan.plans.items()
    )
    head = "<tr><th>robot</th><th>begins</th><th>before</th><th>after</th></tr>"
    bus = "" if plan.on_bus is None else f"<pre>{html.escape(str(plan.on_bus))}</pre>"
    return (
        f'<table class="armature-cell" style="width:96%;margin:0.3em 2%">{head}{rows}</table>'
        f'<div style="background:#fff;margin:0.3em 2%">{gantt_svg(plan.schedule)}</div>'
        f'<div style="overflow-x:auto;font-size:0.75em;margin:0.3em 2%">{bus}</div>'
    )

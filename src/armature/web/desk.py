"""One browser's desk: it hears what the user does, keeps the state, has plans made, and shows them. One thread does all of it."""

from __future__ import annotations

import html
import time
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import ArmatureError
from armature.optimize.floor import as_floor
from armature.robot.library import library
from armature.robot.model import Robot
from armature.web import pictures
from armature.web.exports import export
from armature.web.mailbox import Mailbox
from armature.web.opening import Opening
from armature.web.panel import LEFT, NOBODY, OBJECTIVES, RIGHT, SUPPLIES, WAYS, Panel
from armature.web.planner import Planner
from armature.web.scene import GHOST, PLAN, SKETCH, Scene
from armature.web.session import Wish
from armature.web.study import Cases
from armature.web.typical import NOTE, is_typical
from armature.web.upload import MOST_PLAN, uploaded
from armature.web.warm import Warmer
from armature.web.words import card, remedy

PAUSE = 0.7  # seconds between two rounds of the motion
ROUNDS = 5  # after which a motion that nobody touches comes to rest, and the browser too


class Desk:
    """One browser. client: viser's handle of it.  opening: what it begins with.  address: where the page itself sends what it is told.
    warmer: compiles ahead for all browsers."""

    def __init__(self, client: Any, opening: Opening, address: str, warmer: Warmer):
        self._client, self._address, self._warmer = client, address, warmer
        self.session = opening.session()
        self._busy, self._show_ghost, self._rows = "", True, ("", NOBODY)
        self._shown = 0  # plans so far
        self._t, self._since, self._round = 0.0, 0.0, 0
        self._cases = Cases(opening.study) if opening.study else None
        self._mail = Mailbox(self._tick, self._failed)
        width, height = client.camera.image_width, client.camera.image_height  # of the whole window, before there are panels
        self._panel = Panel(client, self.act, self._cases is not None)
        self._scene = Scene(client, self._dragged, (width - LEFT - RIGHT) / max(height, 1))
        self._planner = Planner(self._told)
        self._mail.post("open", self._open)

    def close(self) -> None:
        """The browser is gone: stop planning for it."""
        self._planner.close()
        self._mail.close()

    @property
    def alive(self) -> bool:
        """Whether its planner still runs."""
        return self._planner.alive

    def join(self, seconds: float) -> None:
        """Wait until its threads have ended."""
        self._planner.join(seconds)
        self._mail.join(seconds)

    # what the user does ---------------------------------------------------------------------------------------------------

    def act(self, name: str, value: Any) -> None:
        """A widget was changed; called from any thread. Newer changes of the same widget replace older ones."""
        does = {
            "duration": lambda: self._wish(duration=round(float(value), 3)),
            "objective": lambda: self._wish(objective=OBJECTIVES[value]),
            "way": lambda: self._wish(way=WAYS[value]),
            "theme": lambda: self._theme(value == "dark"),
            "payload": lambda: self._wish(payload=float(value)),
            "floor": lambda: self._floor(str(value)),
            "supply": lambda: self._wish(supply=SUPPLIES.get(value, self.session.own_supply)),
            "remedy": self._help,
            "play": self._toggle,
            "time": lambda: self._scrub(float(value)),
            "ghost": lambda: self._ghost(bool(value)),
            "robot": lambda: self._take(library(value), ()) if value in library() else None,
            "upload": lambda: self._upload(value.name, value.content),
            "export": lambda: self._export(value),
            "row": lambda: self._case(value, self._rows[1]),
            "beside": lambda: self._case(self._rows[0], value),
        }
        if name.startswith("joint "):
            self._mail.post(name, lambda: self._joint(*value))
        elif name in does:
            self._mail.post(name, does[name])

    def _dragged(self, which: str, R: np.ndarray, p: np.ndarray, done: bool) -> None:
        self._mail.post(f"{which} handle", lambda: self._reach(which, R, p, done))

    def _reach(self, which: str, R: np.ndarray, p: np.ndarray, done: bool) -> None:
        problem = self.session.reach(which, R, p)
        self._plan_anew()
        self.session.problem = problem
        self._show_card()

    def _joint(self, which: str, k: int, value: float) -> None:
        q = np.array(getattr(self.session.wish, which))
        q[k] = value
        self._wish(**{which: q})

    def _floor(self, text: str) -> None:
        try:
            floor = as_floor(text.strip() or "auto")
        except ArmatureError as error:
            self.session.problem = str(error)
            return self._show_card()
        self._scene.floor(floor if isinstance(floor, float) else 0.0)
        self._wish(floor=floor)

    def _wish(self, **values: Any) -> None:
        if self.session.change(**values):
            self._plan_anew()

    def _theme(self, dark: bool) -> None:
        self._panel.theme(dark)
        self._scene.theme(dark)

    def _help(self) -> None:
        offer = remedy(self.session)
        if offer is not None:
            self._wish(**{offer[1]: offer[2]})

    def _take(self, robot: Robot, folders: tuple[Path, ...]) -> None:
        if robot is not self.session.robot:
            self.session.take(robot, folders)
            self._open()

    def _upload(self, name: str, content: bytes) -> None:
        found = uploaded(name, content, self.session.robot)
        if isinstance(found, Robot):
            self._take(found, ())
        else:
            self.session.look_at(found)
            self._open()

    def _export(self, kind: str) -> None:
        name, content = export(self.session.plan, kind)
        self._client.send_file_download(name, content, save_immediately=True)

    def _case(self, row: str, beside: str) -> None:
        """Look at a case of the study, and another beside it."""
        assert self._cases is not None
        self._rows = (row, beside)
        plan = self._cases.plan(row)
        other = None if beside == NOBODY else self._cases.plan(beside)
        fits = other is not None and other.trajectory.joint_names == plan.trajectory.joint_names
        new = plan.robot.joint_names != self.session.robot.joint_names
        self.session.look_at(plan, other if fits else None)
        self.session.problem = "" if fits or other is None else "These two robots have different joints; choose cases of one robot."
        self._open() if new else self._show_plan()

    # what is found --------------------------------------------------------------------------------------------------------

    def _told(self, what: str, value: Any, wish: Wish) -> None:
        """The planner has news; called from its thread. wish: what it was asked for."""
        self._mail.post(f"told {what}", lambda: self._news(what, value, wish))

    def _news(self, what: str, value: Any, wish: Wish) -> None:
        if what == "busy":
            self._busy = value
            return self._show_card()
        if not self.session.planning or wish.robot is not self.session.robot:
            return None
        if what == "sketch":
            return self._scene.way("plan", value.trajectory, SKETCH)
        if what in ("plan", "certified"):
            self.session.found(value, what == "certified", wish)
            return self._show_plan() if what == "plan" else self._show_card()
        if what in ("problem", "note"):
            setattr(self.session, what, value)
        elif wish.same_move(self.session.wish):
            setattr(self.session, what, value)
            self._show_curve()
        return self._show_card()

    def _failed(self, error: Exception) -> None:
        """Something that the user asked for cannot be done."""
        known = isinstance(error, ArmatureError)
        self.session.problem = str(error) if known else f"This did not work ({type(error).__name__}: {error})."
        self._show_card()

    # what is shown --------------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """A robot, from the beginning."""
        session = self.session
        notes = self._scene.robot(session.robot, session.mesh_folders)
        self._panel.robot(session.robot, self._about(session.robot, notes))
        self._scene.place(session.wish.start, None)
        self._mail.ticking = False
        self._t = 0.0
        self._toggle()
        if self._cases is not None and not self._rows[0]:
            self._panel.rows(self._cases.labels, self._cases.table())
            if self._cases.labels:
                return self._case(self._cases.labels[0], NOBODY)
        if session.planning:
            return self._plan_anew()
        return self._show_plan()

    def _about(self, robot: Robot, notes: list[str]) -> str:
        lines = [f"**{robot.name}**: {robot.n} joints, {robot.mass:.3g} kg, {len(robot.drives)} drives."]
        lines += [NOTE] if is_typical(robot) else []
        lines += [f"Drawn from its joints: {len(notes)} meshes were not read ({notes[0]})."] if notes else []
        return "\n\n".join(html.escape(line, quote=False) for line in lines)

    def _plan_anew(self) -> None:
        session = self.session
        session.problem, self._round = "", 0
        self._scene.handles(True)
        self._scene.ends(session.wish.start, session.wish.goal)
        self._panel.wish(session.wish)
        self._planner.ask(session.wish, session.guess(), session.curve is None)
        self._show_curve()

    def _show_plan(self) -> None:
        """The motion, its ghost, its charts."""
        session = self.session
        plan, second = session.plan, self._second()
        self._shown += 1
        aside = session.other is not None
        if not session.planning:
            self._scene.handles(False)
            self._scene.ends(session.wish.start, session.wish.goal)
            self._panel.wish(session.wish)
        self._scene.beside(aside)
        self._scene.way("plan", plan.trajectory if plan.ok else None, PLAN)
        self._scene.way("ghost", second if plan.ok else None, GHOST, aside)
        if plan.ok:
            self._panel.length(plan.duration)
            if not session.planning or session.wish.objective == "time":
                self._panel.wish(session.wish)
            self._mail.post("charts", self._show_charts)
            self._warmer.ask(session.wish)
        self._place()
        self._show_curve()
        self._show_card()

    def _show_card(self) -> None:
        self._panel.card.content = card(self.session, self._busy, self._shown, self._address)
        offer = remedy(self.session)
        self._panel.remedy(offer[0] if offer else None)

    def _show_charts(self) -> None:
        plan = self.session.plan
        if plan is None or not plan.ok:
            return
        draw = {"Currents": pictures.graf, "Power": pictures.power, "Torque": pictures.torque, "Energy": pictures.ledger}
        for name, chart in draw.items():
            self._panel.charts[name].content = chart(plan)

    def _show_curve(self) -> None:
        s = self.session
        self._panel.curve.content = pictures.curve(s.curve, s.least, s.plan, s.wish, self._address)

    # playing --------------------------------------------------------------------------------------------------------------

    def _second(self) -> Any:
        """The motion beside the plan: of the other plan, or the baseline."""
        plan, other = self.session.plan, self.session.other
        if other is not None:
            return other.trajectory
        base = plan.baseline if plan is not None and plan.ok and self._show_ghost else None
        return base.trajectory if base is not None else None

    def _ghost(self, visible: bool) -> None:
        self._show_ghost = visible
        if self.session.plan is not None:
            self._show_plan()

    def _toggle(self) -> None:
        """Play or pause; from the beginning where the end was reached."""
        self._mail.ticking = not self._mail.ticking
        self._since, self._round = time.monotonic(), 0
        self._panel.playing(self._mail.ticking)

    def _scrub(self, t: float) -> None:
        if self._mail.ticking:
            self._toggle()
        self._t = t
        self._panel.time(t)
        self._place()

    def _tick(self) -> None:
        now = time.monotonic()
        self._t, self._since = self._t + now - self._since, now
        plan = self.session.plan
        if plan is None or not plan.ok:
            return
        if self._t > max(plan.duration, getattr(self._second(), "duration", 0.0)) + PAUSE:
            self._t, self._round = 0.0, self._round + 1
        self._place()
        self._panel.time(min(self._t, plan.duration))
        if self._round >= ROUNDS:
            self._toggle()

    def _place(self) -> None:
        plan = self.session.plan
        if plan is None or not plan.ok:
            return
        second = self._second()
        at = lambda track: track(track.t[0] + self._t).q
        self._scene.place(at(plan.trajectory), None if second is None else at(second))


LARGEST_UPLOAD = MOST_PLAN

"""One browser's desk: it hears what the user does, keeps the state, has plans made, and shows them.
One thread does all of it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import ArmatureError
from armature.optimize.planner.floor import as_floor
from armature.robot.library import library
from armature.robot.model import Robot
from armature.web import pictures
from armature.web.exports import export
from armature.web.mailbox import Mailbox
from armature.web.obstacles import ObstacleEditor
from armature.web.opening import Opening
from armature.web.panel import NOBODY, OBJECTIVES, ORDINARY, PINNED, SUPPLIES, WAYS, Panel
from armature.web.panel.drives import with_drive, with_limits
from armature.web.panel.tool import with_tool, without_tool
from armature.web.planner import Planner
from armature.web.player import Player
from armature.web.program.editor import Editor
from armature.web.program.shown import ShownProgram, charts_of
from armature.web.space.camera import Window, canvas
from armature.web.space.geometry import same_shape
from armature.web.space.scene import GHOST, PLAN, SKETCH, Scene
from armature.web.space.scene import PINNED as PINNED_COLOUR
from armature.web.study import Cases
from armature.web.upload import MOST_PLAN, uploaded
from armature.web.warm import Warmer
from armature.web.wish import Wish
from armature.web.words import about, card, remedy

LONGEST_FIRST, EASY = (
    30.0,
    1.4,
)  # seconds that a first move may take at least, and times as long as that it is given


EACH_COUNTS = ("step", "undo", "redo", "play", "add via", "add obstacle", "add step", "order")


class Desk:
    """One browser. client: viser's handle of it.  opening: what it begins with.  address: where the
    page itself sends what it is told.
    warmer: compiles ahead for all browsers."""

    def __init__(self, client: Any, opening: Opening, address: str, warmer: Warmer):
        self._client, self._address, self._warmer = client, address, warmer
        self.session = opening.session()
        self._busy, self._rows = "", ("", NOBODY)
        self._shown, self._asked = 0, False  # plans so far; whether the user has asked for a view
        self._cases = Cases(opening.study) if opening.study else None
        self._mail = Mailbox(lambda: self._player.tick(), self._failed)
        self._size = (
            client.camera.image_width,
            max(client.camera.image_height, 1),
        )  # of the whole window, before there are panels
        self._again = opening.again
        self._panel = Panel(client, self.act, self._cases is not None, opening.arguments)
        picked = lambda name: self.act("pick obstacle", name)
        self._scene = Scene(client, self._dragged, self._window, picked)
        ask = lambda program, objective: self._planner.ask_program(
            self.session.wish, program, objective
        )
        send = lambda name, content: client.send_file_download(name, content, save_immediately=True)
        self._obstacles = ObstacleEditor(
            self.session, self._scene, self._panel.obstacles, self._plan_anew, self._say_busy
        )
        self._editor = Editor(self.session, self._panel.program, self._plan_anew, ask, send)
        self._player = Player(self.session, self._panel, self._scene, self._mail)
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

    # what the user does --------------------------------------------------------------------------

    def act(self, name: str, value: Any) -> None:
        """A widget was changed; called from any thread. Newer changes of the same widget replace
        older ones."""
        does = {
            "duration": lambda: self._wish(duration=round(float(value), 3)),
            "objective": lambda: self._wish(objective=OBJECTIVES[value]),
            "way": lambda: self._wish(way=WAYS[value]),
            "theme": lambda: self._theme(value == "dark"),
            "smoothness": lambda: self._wish(smoothness=float(value)),
            "payload": lambda: self._wish(payload=float(value)),
            "floor": lambda: self._wish(floor=as_floor(str(value).strip() or "auto")),
            "supply": lambda: self._wish(supply=SUPPLIES.get(value, self.session.own_supply)),
            "remedy": self._help,
            "play": self._player.toggle,
            "step": lambda: self._player.step(value),
            "time": lambda: self._player.scrub(float(value)),
            "ghost": lambda: self._compare(value),
            "pin": self._pin,
            "unpin": self._unpin,
            "undo": lambda: self._travel(self.session.undo()),
            "redo": lambda: self._travel(self.session.redo()),
            "view": lambda: self._look(value, asked=True),
            "add via": self._add_via,
            "delete via": lambda: self._anew_if(
                self.session.change_to(self.session.wish.without_via(value), "")
            ),
            "pick via": lambda: self._panel.wish(self.session.wish),
            "limits": lambda: self._refit(with_limits(self.session.robot, *value)),
            "drive": lambda: self._refit(with_drive(self.session.robot, *value)),
            "tool": lambda: self._refit(
                with_tool(self.session.robot, *value) if value else without_tool(self.session.robot)
            ),
            "load": lambda: self._wish(centre=value[0], inertia=value[1]),
            "robot": lambda: self._take(library(value), ()) if value in library() else None,
            "upload": lambda: self._upload(value.name, value.content),
            "arguments": lambda: self._read_again(value),
            "export": lambda: self._export(value),
            **self._obstacles.acts(value),
            **self._editor.acts(value),
            "row": lambda: self._case(value, self._rows[1]),
            "beside": lambda: self._case(self._rows[0], value),
        }
        if name.startswith("joint "):
            self._mail.post(name, lambda: self._joint(*value))
        elif name in EACH_COUNTS:
            self._mail.post(f"{name} {time.monotonic()}", does[name])
        elif name in does:
            self._mail.post(name, does[name])

    def _dragged(self, which: str, R: np.ndarray, p: np.ndarray, done: bool) -> None:
        if which.startswith("obstacle "):
            name, place = which.removeprefix("obstacle "), {"position": p, "rotation": R}
            change = self.session.change_obstacle
            return self._mail.post(which, lambda: self._anew_if(change(name, place)))
        return self._mail.post(f"{which} handle", lambda: self._reach(which, R, p, done))

    def _reach(self, which: str, R: np.ndarray, p: np.ndarray, done: bool) -> None:
        problem = self.session.reach(which, R, p)
        self._plan_anew()
        self.session.problem = problem
        self._show_card()

    def _joint(self, which: str, k: int, value: float) -> None:
        q = np.array(self.session.wish.at(which))
        q[k] = value
        self._anew_if(self.session.change_to(self.session.wish.moved(which, q), f"{which} {k}"))

    def _anew_if(self, changed: bool) -> None:
        if changed:
            self._plan_anew()

    def _add_via(self) -> None:
        problem = self.session.add_via(self._player.t)
        if not problem:
            self._plan_anew()
        self.session.problem = problem
        self._show_card()

    def _refit(self, robot: Robot) -> None:
        """The same robot with other limits, drives or another tool."""
        self._travel(self.session.change(robot=robot))

    def _travel(self, moved: bool) -> None:
        """After undo, redo or a change of the robot: show what is wished for now."""
        if not moved:
            return None
        robot = self.session.robot
        if robot is not self._drawn and not same_shape(robot, self._drawn):
            return self._open()
        self._panel.robot(robot, about(robot, self._notes, self.session.wish.remarks))
        return self._plan_anew()

    def _wish(self, **values: Any) -> None:
        self._anew_if(self.session.change(**values))

    def _theme(self, dark: bool) -> None:
        self._panel.theme(dark)
        self._scene.theme(dark)

    def _help(self) -> None:
        offer = remedy(self.session)
        if offer is not None:
            self._wish(**{offer[1]: offer[2]})

    def _helped_at_first(self) -> bool:
        """A first move that nobody has asked for must not be refused: it takes the time it
        needs."""
        offer = remedy(self.session)
        if offer is None or offer[1] != "duration" or offer[2] > LONGEST_FIRST:
            return False
        self.session.wish = replace(self.session.wish, duration=round(EASY * offer[2], 2))
        self._plan_anew()
        return True

    def _take(self, robot: Robot, folders: tuple[Path, ...], remarks: tuple[str, ...] = ()) -> None:
        if robot is not self.session.robot:
            self.session.take(robot, folders, remarks)
            self._open()

    def _upload(self, name: str, content: bytes) -> None:
        found = uploaded(name, content, self.session.robot)
        if found.robot is not None:
            self._take(found.robot, (), found.remarks)
        elif found.scene is not None:
            self._wish(scene=found.scene)
            self._obstacles.pick(next(iter(found.scene.names), ""))
        else:
            self.session.look_at(found.plan)
            self._open()

    def _read_again(self, arguments: str) -> None:
        """The xacro file that the app was started with, with other arguments."""
        if self._again is not None:
            opening = self._again(arguments)
            self._take(opening.wish.robot, opening.mesh_folders, opening.wish.remarks)

    def _export(self, kind: str) -> None:
        name, content = export(self.session.plan, kind, self.session.wish.scene)
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
        self.session.problem = (
            ""
            if fits or other is None
            else "These two robots have different joints; choose cases of one robot."
        )
        self._open() if new else self._show_plan()

    # what is found -------------------------------------------------------------------------------

    def _told(self, what: str, value: Any, wish: Wish) -> None:
        """The planner has news; called from its thread. wish: what it was asked for."""
        self._mail.post(f"told {what}", lambda: self._news(what, value, wish))

    def _news(self, what: str, value: Any, wish: Wish) -> None:
        if what == "busy":
            return self._say_busy(value)
        if wish.robot is self.session.robot and what == "program":
            self.session.show_program(ShownProgram(value))
            return self._show_plan()
        if not self.session.planning or wish.robot is not self.session.robot:
            return self._show_problem(value) if what == "problem" else None
        if what == "sketch":
            return self._scene.way("plan", value.trajectory, SKETCH)
        if what in ("plan", "certified"):
            self.session.found(value, what == "certified", wish)
            if not self.session.touched and self._helped_at_first():
                return None
            return self._show_plan() if what == "plan" else self._show_card()
        if what in ("problem", "note"):
            setattr(self.session, what, value)
        elif wish.same_move(self.session.wish):
            setattr(self.session, what, value)
            self._show_curve()
        return self._show_card()

    def _show_problem(self, problem: str) -> None:
        self.session.problem = problem
        self._show_card()

    def _say_busy(self, words: str) -> None:
        self._busy = words
        self._show_card()

    def _failed(self, error: Exception) -> None:
        """Something that the user asked for cannot be done."""
        known = isinstance(error, ArmatureError)
        self.session.problem = (
            str(error) if known else f"This did not work ({type(error).__name__}: {error})."
        )
        self._show_card()

    # what is shown -------------------------------------------------------------------------------

    def _open(self) -> None:
        """A robot, from the beginning."""
        session = self.session
        self._drawn, self._fitted = session.robot, False
        self._notes = self._scene.robot(session.robot, session.mesh_folders, self.session.seen)
        self._panel.robot(session.robot, about(session.robot, self._notes, session.wish.remarks))
        self._scene.place(session.wish.start, None)
        self._player.rewind()
        if self._cases is not None and not self._rows[0]:
            self._panel.rows(self._cases.labels, self._cases.table())
            if self._cases.labels:
                return self._case(self._cases.labels[0], NOBODY)
        if session.planning:
            return self._plan_anew()
        return self._show_plan()

    def _plan_anew(self) -> None:
        session = self.session
        session.problem = ""
        self._player.stay_awake()
        self._scene.floor(session.wish.floor if isinstance(session.wish.floor, float) else 0.0)
        self._scene.ends(session.wish.start, session.wish.goal, session.wish.via)
        self._scene.handles(True)
        self._obstacles.show()
        self._panel.wish(session.wish)
        self._editor.show()
        self._planner.ask(session.wish, session.guess(), session.curve is None)
        self._show_curve()

    def _show_plan(self) -> None:
        """The motion, its ghost, its charts."""
        session = self.session
        plan, second = session.plan, self._player.second
        self._shown += 1
        if not session.planning:
            self._scene.ends(session.wish.start, session.wish.goal)
            self._scene.handles(False)
            self._panel.wish(session.wish)
        if self._scene.beside(session.aside) or (plan.ok and not self._fitted):
            self._look("Iso")
            self._fitted = plan.ok
        self._panel.ghost(
            session.other is not None, PINNED if self._player.pinned else self._player.compared
        )
        self._scene.way("plan", plan.trajectory if plan.ok else None, PLAN)
        colour = PINNED_COLOUR if self._player.pinned else GHOST
        self._scene.way("ghost", second if plan.ok else None, colour, session.aside)
        if plan.ok:
            self._panel.length(plan.duration)
            if not session.planning or session.wish.objective == "time":
                self._panel.wish(session.wish)
            self._mail.post("charts", self._show_charts)
            self._warmer.ask(session.wish)
        self._editor.show()
        self._player.place()
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
        whole = charts_of(plan) if isinstance(plan, ShownProgram) else {}
        for name, chart in pictures.CHARTS.items():
            self._panel.charts[name].content = whole[name] if whole else chart(plan)

    def _show_curve(self) -> None:
        s = self.session
        if self._editor.shown is not None:
            self._panel.curve.content = pictures.NOTHING.format(
                "Energy against time is drawn for the motion of a single step: pick one."
            )
            return
        self._panel.curve.content = pictures.curve(
            s.curve, s.least, s.plan, s.wish, self._address, s.other
        )

    # where it is looked at from ------------------------------------------------------------------

    def _window(self) -> Window:
        """The canvas as the browser reports it; while its panels are still being laid out, no wider
        than they will leave it."""
        camera, first = self._client.camera, canvas(*self._size, self._panel.beside)
        now = Window(camera.image_width, max(camera.image_height, 1))
        return first if first.phone or (not self._asked and now.width > first.width) else now

    def _look(self, view: str, asked: bool = False) -> None:
        """asked: by the user, once the page is laid out."""
        self._asked = self._asked or asked
        self._scene.look(self.session.seen, view)

    # what it is compared with --------------------------------------------------------------------

    def _compare(self, ghost: str) -> None:
        self._player.compared = ghost
        if self.session.plan is not None:
            self._show_plan()

    def _pin(self) -> None:
        self.session.pin()
        self._compare(PINNED)

    def _unpin(self) -> None:
        self.session.other = None
        shown = self._player.compared
        self._compare(ORDINARY if shown == PINNED else shown)


LARGEST_UPLOAD = MOST_PLAN

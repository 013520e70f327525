"""Edits the program of one browser: what the buttons of its tab do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from armature.errors import ArgumentError
from armature.web.panel.program import ProgramTab
from armature.web.program.shown import ShownProgram, packed
from armature.web.program.sketch import Sketch, new_step
from armature.web.session import Session
from armature.web.wish import payload_range

ORDER = {"Up": -1, "Down": 1}


class Editor:
    """The program of a session. replan(): the wish has changed.  ask(program, objective): have a
    program planned.  send(name, content): a download."""

    def __init__(
        self,
        session: Session,
        tab: ProgramTab,
        replan: Callable[[], None],
        ask: Callable[[Any, str], None],
        send: Callable[[str, bytes], None],
    ):
        self._session, self._tab, self._replan = session, tab, replan
        self._ask, self._send = ask, send

    def acts(self, value: Any) -> dict[str, Callable[[], None]]:
        """What is done by name, with a value."""
        return {
            "add step": lambda: self.add(value),
            "pick step": lambda: self.pick(value),
            "edit step": lambda: self.edit(*value),
            "order": lambda: self.order(value),
            "cycle": lambda: self._change(
                replace(self.sketch, cycle=float(value) or None), self._session.step, "cycle"
            ),
            "plan program": self.plan,
            "export program": self.export,
        }

    @property
    def sketch(self) -> Sketch:
        """The steps so far."""
        return self._session.wish.program or Sketch(self._session.wish.start)

    @property
    def shown(self) -> ShownProgram | None:
        """The program's plan, where it is on the page."""
        plan = self._session.plan
        return plan if isinstance(plan, ShownProgram) and not self._session.planning else None

    def show(self) -> None:
        """Show the steps."""
        self._tab.show(self._session.wish.program, self.shown, self._session.step)

    def add(self, kind: str) -> None:
        """One more step after the picked one, or at the end."""
        sketch, k = self.sketch, self._session.step
        k = k if 0 <= k < len(sketch.steps) else len(sketch.steps) - 1
        wish = self._session.wish
        step = new_step(kind, sketch, k, wish, payload_range(wish.robot))
        self._change(sketch.added(k, step), k + 1)

    def pick(self, k: int) -> None:
        """Show the motion of a step alone."""
        self._change(self.sketch, k)

    def edit(self, k: int, values: dict[str, Any]) -> None:
        """Another name, time or mass of a step."""
        if 0 <= k < len(self.sketch.steps):
            self._change(self.sketch.changed(k, **values), k, f"step {k}")

    def order(self, what: str) -> None:
        """The picked step earlier, later or away."""
        sketch, k = self.sketch, self._session.step
        if not 0 <= k < len(sketch.steps):
            return
        if what == "Delete":
            left = sketch.without(k)
            self._change(left, min(k, len(left.steps) - 1))
        elif 0 <= k + ORDER[what] < len(sketch.steps):
            self._change(sketch.swapped(k, k + ORDER[what]), k + ORDER[what])

    def _change(self, sketch: Sketch, k: int, what: str = "") -> None:
        """Another program, of which step k is picked and its motion shown. what: quick changes of
        one thing are undone together."""
        session = self._session
        looked_at = not session.planning
        session.step = k
        wish = replace(session.wish, program=sketch)
        wish = sketch.leads_to(k, wish) if 0 <= k < len(sketch.steps) else wish
        if session.change_to(wish, what) or looked_at:
            self._replan()
        self.show()

    def plan(self) -> None:
        """Have the whole program planned."""
        program = self.sketch.program(self._session.wish)
        self._session.problem = ""
        self._ask(program, "time" if program.cycle is None else "energy")

    def export(self) -> None:
        """Download the program's plan with all its files."""
        if self.shown is None:
            raise ArgumentError("there is no planned program to save yet: plan the program first")
        self._send("program.zip", packed(self.shown.whole))

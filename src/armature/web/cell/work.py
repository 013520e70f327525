"""The planning of a cell for all browsers that look at it: one plan at a time, the newest wish."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from armature.cell.workcell.cell import Cell, CellPlan
from armature.cell.workcell.plan_cell import plan_cell
from armature.errors import ArmatureError


@dataclass(frozen=True, eq=False)
class Stand:
    """How far the planning is. busy: a sentence, "" when it has ended.  plan: the last one that
    was found.  problem: why there is none in the cycle that was asked for."""

    cell: Cell
    busy: str = ""
    plan: CellPlan | None = None
    problem: str = ""


class GivenUp(Exception):
    """Raised within a plan when another one is wanted, or nobody waits any more."""


class CellWork:
    """Plans a cell in a thread of its own, which begins with the first listener. Listeners are
    called with every new `Stand`, from that thread."""

    def __init__(self, cell: Cell):
        self.stand = Stand(cell, busy="planning")
        self._listeners: list[Callable[[Stand], None]] = []
        self._lock = threading.Lock()
        self._wanted: Cell | None = None
        self._thread: threading.Thread | None = None

    def follow(self, listener: Callable[[Stand], None]) -> None:
        """Tell a listener how far it is, now and on every change."""
        with self._lock:
            self._listeners.append(listener)
            begins = self.stand.plan is None and self._thread is None
        listener(self.stand)
        if begins:
            self.plan(self.stand.cell.cycle)

    def leave(self, listener: Callable[[Stand], None]) -> None:
        """Tell it nothing more."""
        with self._lock:
            self._listeners = [x for x in self._listeners if x is not listener]

    def plan(self, cycle: float) -> None:
        """Plan the cell in a cycle, s; what is being planned is given up."""
        with self._lock:
            self._wanted = replace(self.stand.cell, cycle=cycle)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="armature cell", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Give up what is being planned."""
        with self._lock:
            self._listeners, self._wanted = [], None

    @property
    def alive(self) -> bool:
        """Whether something is being planned."""
        thread = self._thread
        return thread is not None and thread.is_alive()

    def _run(self) -> None:
        while (cell := self._next()) is not None:
            self._tell(replace(self.stand, cell=cell, busy="planning", problem=""))
            try:
                plan = plan_cell(cell, self._progress)
                faults = "; ".join(plan.faults)  # proves it
                self._tell(Stand(cell, plan=plan, problem=faults))
            except ArmatureError as error:
                self._tell(replace(self.stand, busy="", problem=str(error)))
            except GivenUp:
                continue

    def _next(self) -> Cell | None:
        with self._lock:
            cell, self._wanted = self._wanted, None
            if cell is None:
                self._thread = None
            return cell

    def _progress(self, what: str, done: int, total: int) -> None:
        if self._wanted is not None or not self._listeners:
            raise GivenUp
        self._tell(replace(self.stand, busy=f"{what} ({done} of {total})"))

    def _tell(self, stand: Stand) -> None:
        with self._lock:
            self.stand, listeners = stand, list(self._listeners)
        for listener in listeners:
            listener(stand)

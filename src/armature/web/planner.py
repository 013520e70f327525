"""The thread that plans: it takes the newest wish, gives up the older one, and tells what it finds, roughly first and then exactly."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armature.errors import ArmatureError
from armature.motion.trajectory import Trajectory
from armature.optimize.curve import energy_time_curve
from armature.optimize.interior import Options
from armature.optimize.least_energy import minimize_energy
from armature.optimize.min_time import minimize_time
from armature.web.session import Wish

log = logging.getLogger("armature.web")
DRAFT, FINE, CURVE = 40, 100, 40  # knots: while something is being dragged, at rest, and for the curve
ROUGHLY = Options(tolerance=1e-4, iterations=200)  # for a plan that is made again at rest
REST = 0.35  # seconds without a change until the exact plan is made
POINTS = 16  # of the energy-time curve
Tell = Callable[[str, Any, Wish], None]


class GivenUp(Exception):
    """Raised within a search when a newer wish has come: it ends there and then."""


class Planner:
    """Plans for one browser. `tell(what, value, wish)` is called from its thread with

    "busy" (a sentence, "" when all is done), "plan" (a Solution), "certified" (the Solution, its certificate computed),
    "least" (s), "curve" (a Curve), "problem" (a sentence).
    """

    def __init__(self, tell: Tell):
        self._tell = tell
        self._changed = threading.Condition()
        self._wanted: tuple[Wish, Trajectory | None, bool] | None = None
        self._number = 0
        self._known: set[tuple] = set()  # what kernels were compiled for
        self._open = True
        self._thread = threading.Thread(target=self._run, name="armature planner", daemon=True)
        self._thread.start()

    def ask(self, wish: Wish, guess: Trajectory | None, curve: bool = True) -> None:
        """Plan this; whatever was being planned is given up. guess: a motion to start from.  curve: whether the curve is wanted too."""
        with self._changed:
            self._wanted = (wish, guess, curve)
            self._number += 1
            self._changed.notify()

    def close(self) -> None:
        """Give up and end, at the next step of the search."""
        with self._changed:
            self._open = False
            self._number += 1
            self._changed.notify()

    @property
    def alive(self) -> bool:
        """Whether its thread still runs."""
        return self._thread.is_alive()

    def join(self, seconds: float) -> None:
        """Wait until it has ended: a process must not end while its threads compile."""
        self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self._changed:
                while self._open and self._wanted is None:
                    self._changed.wait()
                if not self._open:
                    return
                assert self._wanted is not None
                (wish, guess, curve), number = self._wanted, self._number
                self._wanted, self._current = None, wish
            try:
                self._serve(wish, guess, curve, number)
            except GivenUp:
                continue
            except ArmatureError as error:
                self._say(number, "problem", str(error))
            except Exception as error:  # a solver's failure is a sentence on the page, not the end of the server
                log.warning("planning failed", exc_info=True)
                self._say(number, "problem", f"The planner failed ({type(error).__name__}: {error}). Try another duration or pose.")
            self._say(number, "busy", "")

    def _stale(self, number: int) -> bool:
        return number != self._number

    def _say(self, number: int, what: str, value: Any) -> None:
        if not self._stale(number):
            self._tell(what, value, self._current)

    def _at_rest(self, number: int) -> bool:
        """Wait a moment; False as soon as a newer wish comes."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._stale(number), REST)

    def _serve(self, wish: Wish, guess: Trajectory | None, curve: bool, number: int) -> None:
        """Roughly first, then with all knots, then the proof, then the curve; a newer wish ends it at any point."""
        known = (wish.robot, wish.payload, str(wish.supply), wish.objective)
        new = known not in self._known
        self._say(number, "busy", "compiling for this robot, payload and supply (once) …" if new else "planning …")
        self._known.add(known)
        plan = self._draft(wish, guess, self._watch(number, "planning"))
        self._say(number, "plan", plan)
        if not self._at_rest(number):
            return
        if plan.ok:
            plan = self._finer(wish, plan, self._watch(number, "planning with all knots"))
            self._say(number, "plan", plan)
            self._say(number, "busy", "simulating the plan to prove it …")
            _ = plan.certificate
            self._say(number, "certified", plan)
        if curve and not self._stale(number):
            self._curve(wish, plan, number)

    def _watch(self, number: int, what: str) -> Callable[[Any], None]:
        """A callback for the searches that shows how far they are and gives them up when they are stale."""

        def watch(iteration: Any) -> None:
            if self._stale(number):
                raise GivenUp
            if iteration.number and iteration.number % 10 == 0:
                self._say(number, "busy", f"{what} … step {iteration.number}")

        return watch

    def _draft(self, wish: Wish, guess: Trajectory | None, watch: Callable) -> Any:
        """A plan with few knots; for the least time from one starting motion only."""
        if wish.objective == "time":
            return minimize_time(wish.loaded, wish.task, knots=DRAFT, guess=guess, starts=1, callback=watch)
        return minimize_energy(wish.loaded, wish.task, wish.supply, DRAFT, guess, callback=watch, options=ROUGHLY)

    def _finer(self, wish: Wish, draft: Any, watch: Callable) -> Any:
        """The plan with all knots, from the draft."""
        if wish.objective == "time":
            return minimize_time(wish.loaded, wish.task, knots=FINE, guess=draft.trajectory, starts=1, callback=watch)
        fine = wish.job(FINE).run(guess=draft.trajectory, callback=watch)
        return fine if fine.ok else draft

    def _curve(self, wish: Wish, plan: Any, number: int) -> None:
        """The shortest duration of this move, then its energy over longer ones."""
        self._say(number, "busy", "looking for the shortest time …")
        watch = self._watch(number, "looking for the shortest time")
        fastest = plan if wish.objective == "time" else self._draft(replace(wish, objective="time"), None, watch)
        if not fastest.ok:
            return
        self._say(number, "least", fastest.duration)
        self._say(number, "busy", "drawing energy against time …")
        durations = np.geomspace(1.03 * fastest.duration, 4.0 * fastest.duration, POINTS)
        watch = self._watch(number, "drawing energy against time")
        self._say(number, "curve", energy_time_curve(wish.loaded, wish.task, durations, wish.supply, CURVE, False, watch))

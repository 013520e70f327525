"""The thread that plans: it takes the newest wish, gives up the older one, and tells what it finds,
roughly first and then exactly."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from armature.cell.program.plan_program import plan_program
from armature.cell.program.program import Program
from armature.errors import ArmatureError
from armature.motion.trajectory import Trajectory
from armature.optimize.moves.curve import Curve, energy_time_curve
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.task import Move
from armature.web.wish import Wish

log = logging.getLogger("armature.web")
DRAFT, FINE = (
    40,
    100,
)  # knots: while something is being dragged, and at rest; the curve has as many, so that both agree
ROUGHLY = Options(tolerance=1e-4, iterations=200)  # for a plan that is made again at rest
# seconds after which an unfinished motion is shown; until then a newer wish waits, or a drag would
# never show anything
HURRY = 0.4
REST = 0.35  # seconds without a change until the exact plan is made
POINTS = 15  # of the energy-time curve: so many are planned as single plans are
CHEAPER = 0.999  # of the plan's energy: what the curve has at its duration to be planned again from
# of the quick least time: what the long search finds must be shorter than this to be worth a change
SHORTER = 0.999
COMPILING = "Compiling for this robot (once; later plans take a moment)"
Tell = Callable[[str, Any, Wish], None]
Watch = Callable[[Any], None]


class GivenUp(Exception):
    """Raised within a search when a newer wish has come: it ends there and then."""


class Planner:
    """Plans for one browser. `tell(what, value, wish)` is called from its thread with

    "busy" (a sentence, "" when all is done), "sketch" (a Solution that is not finished), "plan" (a
    Solution), "certified" (the Solution, its certificate computed), "note" (a sentence on the
    plan), "least" (s), "curve" (a Curve), "program" (a ProgramPlan), "problem" (a
    sentence)."""

    def __init__(self, tell: Tell):
        self._tell = tell
        self._changed = threading.Condition()
        self._wanted: tuple[Wish, Callable[[int], None]] | None = None
        self._number = 0
        self._known: set[tuple] = set()  # what kernels were compiled for
        self._open = True
        self._thread = threading.Thread(target=self._run, name="armature planner", daemon=True)
        self._thread.start()

    def ask(self, wish: Wish, guess: Trajectory | None, curve: bool = True) -> None:
        """Plan this; whatever was being planned is given up. guess: a motion to start from.  curve:
        whether the curve is wanted too."""
        self._want(wish, lambda number: self._serve(wish, guess, curve, number))

    def ask_program(self, wish: Wish, program: Program, objective: str) -> None:
        """Plan a whole program; whatever was being planned is given up. objective: "energy" in the
        program's cycle, or "time"."""
        self._want(wish, lambda number: self._whole(program, objective, number))

    def _want(self, wish: Wish, serve: Callable[[int], None]) -> None:
        with self._changed:
            self._wanted = (wish, serve)
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
                (wish, serve), number = self._wanted, self._number
                self._wanted, self._current = None, wish
            try:
                serve(number)
            except GivenUp:
                continue
            except ArmatureError as error:
                self._say(number, "problem", str(error))
            except (
                Exception
            ) as error:  # a solver's failure is a sentence on the page, not the end of the server
                log.warning("planning failed", exc_info=True)
                self._say(
                    number,
                    "problem",
                    f"The planner failed ({type(error).__name__}: {error}). Try another duration or"
                    " pose.",
                )
            self._say(number, "busy", "")

    # who is told what ----------------------------------------------------------------------------

    def _stale(self, number: int) -> bool:
        return number != self._number

    def _say(self, number: int, what: str, value: Any) -> None:
        if not self._stale(number):
            self._tell(what, value, self._current)

    def _at_rest(self, number: int) -> bool:
        """Wait a moment; False as soon as a newer wish comes."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._stale(number), REST)

    def _watch(self, number: int, what: str) -> Watch:
        """A callback for the searches that shows how far they are and gives them up when they are
        stale."""

        def watch(iteration: Any) -> None:
            if self._stale(number):
                raise GivenUp
            if iteration.number and iteration.number % 10 == 0:
                self._say(number, "busy", f"{what} … step {iteration.number}")

        return watch

    def _patient(self, number: int) -> Watch:
        """A callback that lets a search go on for a while after it has become stale, so that
        something is seen during a drag."""
        begun = None

        def watch(iteration: Any) -> None:
            nonlocal begun
            begun = (
                begun or time.monotonic()
            )  # the first step: what was compiled before it does not count
            if not self._open or (self._stale(number) and time.monotonic() - begun > HURRY):
                raise GivenUp

        return watch

    # one wish ------------------------------------------------------------------------------------

    def _serve(self, wish: Wish, guess: Trajectory | None, curve: bool, number: int) -> None:
        """Roughly first, then with all knots, then the proof, then the curve; a newer wish ends it
        at any point but the first moment."""
        plan = self._quick(wish, guess, number)
        if not self._at_rest(number):
            return
        if plan.status.ok or (
            wish.scene is not None and plan.ok
        ):  # an optimum, which may exceed a limit between its few knots
            plan = self._finer(wish, plan, self._watch(number, "planning with all knots"))
            self._say(number, "plan", plan)
        if plan.ok:
            self._prove(plan, number)
            if wish.objective == "time" and isinstance(wish.task, Move) and wish.scene is None:
                plan = self._shorter(wish, plan, number)
        alone = wish.scene is None and isinstance(wish.task, Move)
        if curve and alone and not self._stale(number):
            self._curve(wish, plan, number)

    def _whole(self, program: Program, objective: str, number: int) -> None:
        """A whole program: every motion planned and proved, then told."""
        self._say(number, "busy", "planning the program …")

        def progress(what: str, done: int, of: int) -> None:
            if self._stale(number):
                raise GivenUp
            self._say(number, "busy", f"planning the program: {what} ({done} of {of})")

        with Clock(lambda s: None if s % 5 else self._say(number, "busy", f"planning … {s} s")):
            found = plan_program(program, objective, progress)
            _ = found.certificate, found.ledger, found.trajectory
        self._say(number, "program", found)

    def _quick(self, wish: Wish, guess: Trajectory | None, number: int) -> Any:
        """The first plan with few knots; where that takes long, the motion as it is so far, then
        the plan."""
        known = (wish.robot, str(wish.supply), wish.objective, wish.way, wish.scene is None)
        new = known not in self._known
        self._say(number, "busy", f"{COMPILING} …" if new else "planning …")
        with Clock(
            lambda s: self._say(
                number, "busy", f"{COMPILING} … {s} s" if new else f"planning … {s} s"
            )
        ):
            begun = time.monotonic()
            plan = draft(wish, guess, self._patient(number), None if new else HURRY)
            if not (new or plan.status.optimal) and time.monotonic() - begun >= HURRY:
                self._tell("sketch", plan, wish)
                plan = draft(wish, plan.trajectory, self._watch(number, "planning"))
            if self._open:
                self._known.add(known)
                self._tell(
                    "plan", plan, wish
                )  # even if the hand has moved on: a plan for where it was a moment ago
        return plan

    def _prove(self, plan: Any, number: int) -> None:
        self._say(number, "busy", "simulating the plan to prove it …")
        _ = plan.certificate
        self._say(number, "certified", plan)

    def _finer(self, wish: Wish, rough: Any, watch: Watch) -> Any:
        """The plan with all knots, from the draft."""
        if wish.objective == "time" and wish.scene is None:
            fine = minimize_time(
                wish.loaded,
                wish.task,
                FINE,
                rough.trajectory,
                starts=1,
                callback=watch,
                supply=wish.supply,
            )
        else:
            fine = wish.job(FINE).run(guess=rough.trajectory, callback=watch)
        return fine if fine.ok else rough

    def _shorter(self, wish: Wish, plan: Any, number: int) -> Any:
        """The long search for the least time, from many starting motions; it replaces the quick
        answer where it is shorter."""
        self._say(number, "busy", "trying other ways for a shorter motion …")
        watch = self._watch(number, "trying other ways for a shorter motion")
        found = minimize_time(
            wish.loaded, wish.task, FINE, plan.trajectory, callback=watch, supply=wish.supply
        )
        if not (found.ok and found.duration < SHORTER * plan.duration):
            self._say(number, "note", "Other ways were tried: none is shorter.")
            return plan
        self._say(number, "plan", found)
        self._prove(found, number)
        self._say(
            number,
            "note",
            "Another way turned out to be shorter than the first one found"
            f" ({plan.duration:.3g} s).",
        )
        return found

    def _curve(self, wish: Wish, plan: Any, number: int) -> None:
        """The shortest duration of this move, then its energy over longer ones."""
        self._say(number, "busy", "looking for the shortest time …")
        watch = self._watch(number, "looking for the shortest time")
        fastest = (
            plan
            if wish.objective == "time"
            else draft(replace(wish, objective="time"), None, watch)
        )
        if not fastest.ok:
            return
        self._say(number, "least", fastest.duration)
        self._say(number, "busy", "drawing energy against time …")
        watch = self._watch(number, "drawing energy against time")
        found = curve(wish, fastest.duration, watch)
        if wish.objective == "energy" and plan.ok:
            plan = self._from_curve(wish, plan, found, number)
            found = found.including(plan)
        self._say(number, "curve", found)

    def _from_curve(self, wish: Wish, plan: Any, found: Curve, number: int) -> Any:
        """The plan, or a cheaper one from the curve's motion of its duration: both are shown beside
        each other and must agree."""
        energy = float(np.interp(plan.duration, found.durations, found.energies))
        if not energy < CHEAPER * plan.energy:
            return plan
        watch = self._watch(number, "planning from a motion of the curve")
        again = wish.job(FINE).run(guess=found.guess(plan.duration), callback=watch)
        if not (again.ok and again.energy < CHEAPER * plan.energy):
            return plan
        self._say(number, "plan", again)
        self._prove(again, number)
        self._say(
            number, "note", f"A cheaper motion than the first ({plan.energy:.3g} J) was found."
        )
        return again


def draft(wish: Wish, guess: Trajectory | None, watch: Watch, deadline: float | None = None) -> Any:
    """A plan with few knots; for the least time from one starting motion only. deadline: s after
    which the best so far is returned."""
    if wish.scene is not None:  # a way round is found whole, or not at all
        return wish.job(DRAFT).run(guess, watch)
    common: dict[str, Any] = {
        "knots": DRAFT,
        "guess": guess,
        "callback": watch,
        "deadline": deadline,
        "supply": wish.supply,
    }
    if wish.objective == "time":
        return minimize_time(wish.loaded, wish.task, starts=1, **common)
    return minimize_energy(wish.loaded, wish.task, options=ROUGHLY, thorough=False, **common)


def curve(wish: Wish, least: float, watch: Watch | None = None, points: int = POINTS) -> Any:
    """Energy against time of a wish's move, from a little above its shortest duration (s) to four
    times that."""
    durations = np.geomspace(1.03 * least, 4.0 * least, points).tolist()
    assert isinstance(wish.task, Move)
    return energy_time_curve(wish.loaded, wish.task, durations, wish.supply, FINE, False, watch)


class Clock:
    """Calls `tell(seconds)` every second, until the block ends."""

    def __init__(self, tell: Callable[[int], None]):
        self._tell, self._ended = tell, threading.Event()
        self._thread = threading.Thread(target=self._run, name="armature clock", daemon=True)

    def _run(self) -> None:
        begun = time.monotonic()
        while not self._ended.wait(1.0):
            self._tell(round(time.monotonic() - begun))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: Any) -> None:
        self._ended.set()
        self._thread.join()

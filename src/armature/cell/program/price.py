"""One price of time for all motions of a cycle: the durations at which none would gain by a moment
of another's time.

The optimum over all durations of Σ E_i(T_i) + p · wait with Σ T_i + wait given has one price w for
all motions, dE_i/dT_i = −w (P1 of optimize/moves/priced.py), which is the waiting power, w = −p,
where there is a wait. Every motion is solved with its duration free at that price, and the price
is found so that the durations add up. Motions along paths and around obstacles, whose durations
are not free in a solve, take theirs from their curves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.cell.program.curves import Timed
from armature.cell.program.program import Program
from armature.cell.program.program_plan import PlannedLeg, PlannedStage, PlannedStop
from armature.cell.program.stages import Stop
from armature.optimize.moves.priced import priced_duration
from armature.optimize.transcription.task import Move
from armature.study.rest import coil_power

STEPS = 16  # prices tried at most
CLOSE = 1e-3  # of the time to be shared: what the durations may miss it by
PLACES = 2000  # of a curve that are compared
SPARE = 1e-6  # s: a shorter wait is none
SHORT = 1e-3  # s of waiting by which its power is measured


@dataclass(frozen=True)
class Shared:
    """Time shared out by a price. given: s beyond its least time for every stage.  price: W, what a
    second more saves.  solved: how many motions were solved with a free duration."""

    given: tuple[float, ...]
    price: float
    solved: int


def share_by_price(
    program: Program, laid: Sequence[PlannedStage], known: Sequence[Timed]
) -> Shared | None:
    """The time of a program's plan shared out anew so that one price holds for all motions; None
    where no price was found. Of several waits, the longest takes what is left."""
    legs = [s for s in laid if isinstance(s, PlannedLeg)]
    stops = [s for s in laid if isinstance(s, PlannedStop) and s.stop.waiting >= 0]
    wait = max(stops, key=lambda s: s.wait, default=None)
    wait = wait if wait is not None and wait.wait > SPARE else None
    solver = _Durations(program, known, [leg.plan.trajectory for leg in legs])
    total = sum(leg.duration for leg in legs) + (wait.wait if wait is not None else 0.0)
    if wait is not None:
        power = _waiting_power(wait.stop, wait.wait)
        found = solver(-power)
        if sum(found) <= total:
            return _shared(laid, known, found, wait, total - sum(found), -power, solver.solved)
    least_power = min((_waiting_power(s.stop, s.wait) for s in stops), default=0.0)
    answer = _root(lambda price: sum(solver(price)) - total, -least_power, total)
    if answer is None:
        return None
    found = _fitted(solver(answer), known, total)
    return _shared(laid, known, found, wait, 0.0, answer, solver.solved)


class _Durations:
    """Durations of all motions (s) at a price of time (W)."""

    def __init__(self, program: Program, known: Sequence[Timed], motions: Sequence[Any]):
        self.program, self.known, self.motions = program, known, motions
        self.free = [self._is_free(of) for of in known]

    def __call__(self, price: float) -> list[float]:
        return [self._one(k, price) for k in range(len(self.known))]

    @property
    def solved(self) -> int:
        """How many motions are solved with a free duration."""
        return sum(self.free)

    def _one(self, k: int, price: float) -> float:
        of = self.known[k]
        least, most = of.curve.least, float(of.curve.durations[-1])
        T = None
        task = of.leg.task
        if self.free[k] and isinstance(task, Move):
            moving = price + coil_power(of.leg.robot)  # released brakes cost as well
            given = self.program.supply, self.program.knots, self.motions[k]
            T = priced_duration(of.leg.robot, task, moving, *given)
        if T is None:
            grid = np.linspace(least, most, PLACES)
            T = float(grid[int(np.argmin(of.curve(grid) + price * grid))])
        return min(max(T, least), most)

    @staticmethod
    def _is_free(of: Timed) -> bool:
        """Whether a motion is a move that goes as it would without obstacles."""
        return isinstance(of.leg.task, Move) and of.fastest.scene is None


def _waiting_power(stop: Stop, wait: float) -> float:
    """W that a stop takes for a moment more, after `wait` seconds."""
    return (stop.energy(wait + SHORT) - stop.energy(wait)) / SHORT


def _root(excess: Callable[[float], float], low: float, total: float) -> float | None:
    """The price at which durations add up: the excess of time falls with the price. Regula falsi
    (Illinois) from a bracket."""
    a, fa = low, excess(low)
    if fa <= 0.0:  # even at the waiting power the motions use no more: nothing to share
        return a if fa > -CLOSE * total else None
    b, fb = max(1.0, abs(low)), np.inf
    for _ in range(STEPS):
        fb = excess(b)
        if fb < 0.0:
            break
        a, fa, b = b, fb, 4.0 * b
    if fb >= 0.0:
        return None
    for _ in range(STEPS):
        c = (a * fb - b * fa) / (fb - fa)
        fc = excess(c)
        if abs(fc) < CLOSE * total:
            return c
        if fc * fb < 0.0:
            a, fa = b, fb
        else:
            fa *= 0.5
        b, fb = c, fc
    return b if abs(fb) < 0.1 * total else None


def _fitted(durations: Sequence[float], known: Sequence[Timed], total: float) -> list[float]:
    """Durations that add up exactly, each beyond its least time in the same proportion more."""
    least = np.array([of.curve.least for of in known])
    most = np.array([of.curve.durations[-1] for of in known])
    beyond = np.array(durations) - least
    room = total - least.sum()
    scaled = beyond * (room / beyond.sum()) if beyond.sum() > 0.0 else 0.0 * beyond
    return np.minimum(least + scaled, most).tolist()


def _shared(
    laid: Sequence[PlannedStage],
    known: Sequence[Timed],
    durations: Sequence[float],
    wait: PlannedStop | None,
    left: float,
    price: float,
    solved: int,
) -> Shared:
    each, rest = iter(durations), iter(known)
    given = []
    for stage in laid:
        if isinstance(stage, PlannedLeg):
            given.append(max(0.0, next(each) - next(rest).curve.least))
        else:
            given.append(left if stage is wait else stage.wait)
    return Shared(tuple(given), price, solved)

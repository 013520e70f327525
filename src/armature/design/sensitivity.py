"""`Solution.sensitivity`: what a plan's cost does when a number of the robot changes and the motion
is planned again; the work of lagrangian.py with words and units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from armature.design.lagrangian import Optimum
from armature.design.parameters import PAYLOAD, Parameter, parameter, parameters
from armature.design.places import move_of
from armature.errors import ArgumentError, RobotError
from armature.memo import once
from armature.optimize.transcription.smoothed import SmoothedMove
from armature.robot.model import Robot

STEP = 1e-4  # of a parameter's value, or of its unit: exact functions are differenced over it
NOTHING = 1e-4  # relative change of the cost for one of the parameter: not worth a row
SLOWER = 1e-3  # of the duration
WORDS = {"energy": "energy drawn", "losses": "losses", "time": "duration"}


@dataclass(frozen=True)
class Sensitivity:
    """How the optimal cost depends on one number of the robot.

    parameter, value, unit: the number.  of: "energy", "losses" (J) or "time" (s).  cost: of the
    plan, J or s.  derivative: of the optimal cost, J or s per unit; limits inferred, smoothing and
    the weight on jerk are held.  exact: whether the multipliers are those of an optimum.
    """

    parameter: str
    value: float
    unit: str
    of: str
    cost: float
    derivative: float
    exact: bool = True

    @property
    def elasticity(self) -> float:
        """Relative change of the cost for a relative change of the parameter: −0.5 where 1 % more
        of it saves half a per cent."""
        return self.derivative * self.value / self.cost if self.cost else float("nan")

    def change(self, part: float) -> float:
        """The cost's relative change, to first order, where the parameter grows by a part of
        itself."""
        return part * self.elasticity

    def is_possible(self, part: float) -> bool:
        """Whether the parameter can change by a part of itself: no efficiency is above 1."""
        return "efficiency" not in self.parameter or self.value * (1.0 + part) <= 1.0

    def sentence(self, part: float = 0.1) -> str:
        """In words: what a parameter that is so much lower or higher saves, whichever does."""
        part = -abs(part) if self.elasticity > 0.0 else abs(part)
        way = "lower" if part < 0.0 else "higher"
        saved = -100.0 * self.change(part)
        return (
            f"{self.parameter} {100 * abs(part):.0f} % {way} saves about {saved:.2g} % of the"
            f" {WORDS[self.of]}"
        )

    def __str__(self) -> str:
        unit = "s" if self.of == "time" else "J"
        per = f"{unit}/({self.unit})" if self.unit else unit
        return (
            f"{self.parameter} = {self.value:.4g} {self.unit}".rstrip()
            + f": {self.derivative:+.4g} {per}"
            + (f", {self.elasticity:+.3f} % per %" if self.value else "")
            + ("" if self.exact else " (approximate)")
        )


@dataclass(frozen=True)
class Sensitivities:
    """Sensitivities of a plan, the largest first."""

    rows: tuple[Sensitivity, ...]

    def __iter__(self) -> Iterator[Sensitivity]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: int | str) -> Sensitivity:
        """By place, or by the parameter's name."""
        if isinstance(key, str):
            found = {row.parameter: row for row in self.rows}
            if key not in found:
                raise ArgumentError(f"{key!r} is not in the table; it has {', '.join(found)}")
            return found[key]
        return self.rows[key]

    def __str__(self) -> str:
        return "\n".join(str(row) for row in self.rows)


def sensitivity(solution: Any, name: str | Parameter, of: str | None = None) -> Sensitivity:
    """How a plan's optimal cost depends on one parameter; see `Solution.sensitivity`."""
    optimum = optimum_of(solution)
    return row(solution, optimum, parameter(solution.robot, name), quantity(solution, optimum, of))


def sensitivities(
    solution: Any, names: Iterable[str | Parameter] | None = None, of: str | None = None
) -> Sensitivities:
    """The same of several parameters, the largest first; see `Solution.sensitivities`."""
    optimum = optimum_of(solution)
    of = quantity(solution, optimum, of)
    asked = parameters(solution.robot) if names is None else names
    rows = [row(solution, optimum, parameter(solution.robot, name), of) for name in asked]
    if names is None:
        rows = [found for found in rows if matters(found)]
    return Sensitivities(tuple(sorted(rows, key=lambda found: -abs(found.elasticity))))


def matters(found: Sensitivity) -> bool:
    """Whether a row is worth a line: 1 % changes the cost by 1e-6 of itself or more; a payload, of
    which most robots have none, counts by the kilogram."""
    more = found.derivative / found.cost if found.parameter == PAYLOAD else found.elasticity
    return abs(more) > NOTHING


def quantity(solution: Any, optimum: Optimum, of: str | None) -> str:
    """What is differentiated, checked; by default what the plan's saving counts."""
    known = ("time",) if optimum.timed else ("energy", "losses")
    of = of or (known[0] if optimum.timed or not solution.returns else "losses")
    if of not in known:
        raise ArgumentError(f"of = {of!r} is not what was minimised; choose {' or '.join(known)}")
    return of


def optimum_of(solution: Any) -> Optimum:
    """The optimum behind a plan, with its multipliers polished once; an ArgumentError where the
    plan has none."""
    problem = getattr(solution, "problem", None)
    if not isinstance(problem, SmoothedMove) or not solution.result.multipliers.lam.size:
        raise ArgumentError(
            "sensitivities are known of plans of moves, as minimize_energy and minimize_time return"
            " them; not of paths, closed loops, programs, saved plans, or motions that were given"
        )
    if not solution.ok:
        raise ArgumentError(f"there is no plan to differentiate: {solution.diagnosis}")
    return once(solution, "optimum", lambda _: Optimum(problem, solution.result).polished())


def row(solution: Any, optimum: Optimum, number: Parameter, of: str) -> Sensitivity:
    """One row of the table."""
    low, high, width = neighbours(optimum.problem.robot, number)
    pairs = [(robot, move_of(robot, solution.task, optimum.problem.move)) for robot in (low, high)]
    found = optimum.derivative(pairs[0], pairs[1], width)
    cost = solution.duration if of == "time" else getattr(solution, of)
    if of == "energy":
        stored = [optimum.stored(*pair) for pair in pairs]
        found += (stored[1] - stored[0]) / width
    slower = optimum.timed and abs(solution.duration / optimum.duration - 1.0) > SLOWER
    exact = optimum.exact and not slower
    return Sensitivity(number.name, number.value, number.unit, of, cost, found, exact)


def neighbours(robot: Robot, number: Parameter) -> tuple[Robot, Robot, float]:
    """The robots with a parameter a little lower and higher, and by how much they differ; on one
    side only where there is no other (an efficiency of 1, no friction)."""
    step = STEP * (abs(number.value) or 1.0)
    error: Exception | None = None
    for down, up in ((-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0)):
        try:
            pair = [number.change(robot, number.value + side * step) for side in (down, up)]
        except (RobotError, ArgumentError) as e:
            error = error or e
        else:
            return pair[0], pair[1], (up - down) * step
    raise ArgumentError(f"{number.name} cannot be changed from {number.value:g}: {error}")

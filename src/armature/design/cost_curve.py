"""What moves cost at least over one number of the robot: energy against gear ratio, say."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.design.free import EXACT, as_flexible, with_limits_held
from armature.design.parameters import Parameter, parameter
from armature.design.places import move_of
from armature.design.sensitivity import optimum_of, quantity
from armature.errors import ArgumentError, ArmatureError
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot

COUNT = 25


@dataclass(frozen=True, eq=False)
class CostCurve:
    """Optimal costs over a parameter.

    values: (K,) of the parameter.  costs: (K,), J or s, NaN where the move cannot be made.  now:
    the robot's own value, and what it costs.  best: the cheapest of them."""

    parameter: str
    unit: str
    of: str
    values: np.ndarray
    costs: np.ndarray
    now: tuple[float, float]

    @property
    def best(self) -> tuple[float, float]:
        """(value, cost) of the cheapest."""
        k = int(np.nanargmin(self.costs))
        return float(self.values[k]), float(self.costs[k])


def cost_curve(
    robot: Robot,
    move: Move,
    name: str | Parameter,
    between: tuple[float, float],
    supply: Any = None,
    count: int = COUNT,
    of: str | None = None,
    knots: int = 100,
) -> CostCurve:
    """The least cost of a move over a parameter between two values, each motion optimal for its
    robot, solved from its neighbour; without smoothness, which gives a part of it up.

    name, of: as in `Solution.sensitivity`.  supply, knots: as in `minimize_energy`.  Without a
    duration in the move: the least time."""
    number = parameter(robot, name)
    low, high = map(float, between)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ArgumentError(f"{number.name}: between = ({low:g}, {high:g}) must rise")
    move = replace(move, smoothness=0.0)
    own = as_flexible(with_limits_held([robot], [move])[0])
    plan = (
        minimize_time(own, move, knots, supply=supply)
        if move.duration is None
        else minimize_energy(own, move, supply, knots, options=EXACT)
    )
    first = optimum_of(plan)
    of = quantity(plan, first, of)
    values = np.linspace(low, high, count)
    if low > 0.0 and high > 2.0 * low:
        values = np.geomspace(low, high, count)
    costs = np.full(count, np.nan)
    above = int(np.searchsorted(values, number.value))
    for order in (range(above, count), range(above - 1, -1, -1)):
        near = first
        for k in order:
            changed = number.change(plan.robot, float(values[k]))
            try:
                found = near.solved(changed, move_of(changed, plan.task, near.problem.move))
            except ArmatureError:
                found = None
            if found is not None:
                near = found
                costs[k] = found.result.cost
                costs[k] += found.stored(changed, found.problem.move) if of == "energy" else 0.0
    cost = plan.duration if of == "time" else getattr(plan, of)
    return CostCurve(number.name, number.unit, of, values, costs, (number.value, cost))

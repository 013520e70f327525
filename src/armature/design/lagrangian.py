"""The derivative of an optimal cost by the envelope theorem:

    (E1)  dV/dp = ∂ℒ/∂p,   ℒ = Σ_k [ l + λᵀf + yᵀ(c − b) ] + ηᵀ(t − b_t) + y_xᵀ(x − b_x) + …

at the optimum's variables and multipliers. A motion by accelerations is a polynomial whatever the
robot weighs: only costs, limits and the supply's store depend on its numbers θ (numbers.py), and
bounds b on limits and places. So

    (E2)  dV/dp = (∂ℒ/∂θ) dθ/dp − Σ y db/dp

where ∂ℒ/∂θ is found once, by algorithmic differentiation, for all parameters."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from armature.design.numbers import check_structure, numbers, traced
from armature.dynamics.recursion import energy
from armature.optimize.planner.jerk_weight import jerk_size
from armature.optimize.problem.problem import Problem
from armature.optimize.problem.result import Result
from armature.optimize.problem.stage import column, running_stage
from armature.optimize.solver.interior import Options, solve
from armature.optimize.transcription.driven import Weights, unit
from armature.optimize.transcription.smoothed import Smoothed, SmoothedMove
from armature.robot.model import Robot

POLISH = Options(tolerance=1e-9, iterations=300, centred=True, warm_barrier=1e-5, stretch=False)
NEAR = 1e-2  # of the cost: a polished optimum that differs by more is another one
SPEED = "motor speed of "  # rows of speeds whose factors are gear ratios


@dataclass(frozen=True, eq=False)
class Optimum:
    """A problem that was solved, and its result.

    exact: its multipliers are those without a barrier."""

    problem: SmoothedMove
    result: Result
    exact: bool = False

    @property
    def timed(self) -> bool:
        """Whether the duration was minimised."""
        return self.problem.free

    @functools.cached_property
    def weights(self) -> Weights:
        """Of what was minimised; a weight on jerk changes no derivative, as jerk depends on none of
        the robot's numbers."""
        return Weights(time=1.0) if self.timed else Weights(energy=1.0)

    @functools.cached_property
    def bounded(self) -> Problem:
        """The problem's bounds and data."""
        return self.problem.problem(self.weights)

    @functools.cached_property
    def function(self) -> ca.Function:
        """`number_gradient`; the same for all robots of one structure and the same limits."""
        return number_gradient(self.problem.driven, numbers(self.problem.robot).size)

    @functools.cached_property
    def by_numbers(self) -> np.ndarray:
        """∂ℒ/∂θ."""
        problem, result, m = self.problem, self.result, self.result.multipliers
        theta = numbers(problem.robot)
        N = problem.N
        z = np.hstack([result.x[:N], result.u])
        knots = z, self.bounded.data[:N], m.lam[1:], m.constraints
        columns = [np.atleast_2d(x).reshape(N, -1).T for x in knots]
        z, data, lam, y = columns
        found = self.function(
            z,
            np.tile(np.reshape(result.p, (-1, 1)), N),
            data,
            lam,
            y,
            np.tile(np.reshape(m.totals, (-1, 1)), N),
            theta,
        )
        return np.asarray(found).sum(1)

    @functools.cached_property
    def jerk_weight(self) -> float:
        """The weight on jerk that the result was found with: what its cost has besides energy or
        time, over ∫ Σ (jerk/V)² dt."""
        problem, result, N = self.problem, self.result, self.problem.N
        stage = running_stage(problem.driven.model)
        z, p = np.hstack([result.x[:N], result.u]), np.tile(result.p, (N, 1))
        ones = np.ones((N, 1 + stage.nc + stage.nt))
        plain = float(np.sum(stage.values(z, p, np.asarray(self.bounded.data)[:N], ones)[3]))
        size = jerk_size(problem, problem.trajectory(result))
        return max(result.cost - plain, 0.0) / size if size > 0.0 else 0.0

    def polished(self) -> Optimum:
        """The same optimum without what the barrier leaves: its search ended with prices μ/slack on
        rows far from their bounds, which add up. One warm re-solve of the same problem, from its
        own multipliers. This optimum itself where that ends elsewhere."""
        weights = replace(self.weights, jerk=self.jerk_weight)
        found = solve(self.problem.problem(weights), self.result, POLISH)
        near = abs(found.cost - self.result.cost) <= NEAR * abs(self.result.cost)
        return replace(self, result=found, exact=True) if found.status.optimal and near else self

    def changed(self, robot: Robot, move: Any) -> SmoothedMove:
        """The same discrete problem of another robot and its move; smoothing widths stay."""
        other = replace(self.problem, robot=robot, move=move)
        other.__dict__["scales"] = self.problem.scales
        return other

    def derivative(self, low: tuple[Robot, Any], high: tuple[Robot, Any], width: float) -> float:
        """(E2) between two robots, each with its move, whose parameter differs by `width`."""
        for robot, _ in (low, high):
            check_structure(self.problem.robot, robot)
        theta = [numbers(robot) for robot, _ in (low, high)]
        explicit = float(self.by_numbers @ (theta[1] - theta[0]))
        prices = [self.priced(self.changed(*pair)) for pair in (low, high)]
        return (explicit - (prices[1] - prices[0])) / width

    def solved(self, robot: Robot, move: Any) -> Optimum | None:
        """The optimum of the same discrete problem of another robot, from this one; None where
        there is none near. Limits' units, smoothing and the weight on jerk stay."""
        task = self.changed(robot, move)
        weights = replace(self.weights, jerk=self.jerk_weight)
        result = solve(task.problem(weights), self.result, POLISH)
        if not result.status.optimal:
            return None
        found = replace(self, problem=task, result=result, exact=True)
        found.__dict__.update(jerk_weight=self.jerk_weight, function=self.function)
        return found

    def priced(self, other: SmoothedMove) -> float:
        """Σ y b of another problem of the same rows: multipliers times the bounds on their
        sides."""
        m, bounds = self.result.multipliers, other.problem(self.weights)
        scale = row_units(other.driven) / row_units(self.problem.driven)
        total = side(m.x, bounds.x) + side(m.u, bounds.u) + side(m.p, bounds.p)
        low, high = (np.asarray(b) * scale for b in bounds.constraints)
        total += side(m.constraints, (low, high)) + side(m.totals, bounds.totals)
        return total + self.mean_prices(other, bounds)

    def mean_prices(self, other: SmoothedMove, bounds: Problem) -> float:
        """The same of limits of means, whose bounds are data: ∫ b dt."""
        driven, m = self.problem.driven, self.result.multipliers
        first = 1 + driven.durations + len(WEIGHT_NAMES)
        total = 0.0
        for k, (_, _, _, bound) in enumerate(driven.means):
            total += m.totals[k] * self.duration * float(bounds.data[0, first + k]) / unit(bound)
        return total

    @property
    def duration(self) -> float:
        """s."""
        legs = self.problem.legs
        return float(np.sum(self.result.p[:legs])) if legs else self.problem.duration

    def stored(self, robot: Robot, move: Any) -> float:
        """What a robot stores from the start of its move to the end, J; not part of the cost (L3 of
        smoothed.py)."""
        ends = move.vectors(robot)
        at = lambda q, v: (
            energy.kinetic_energy(robot.tree, q, v) + energy.potential_energy(robot.tree, q)
        )
        return float(at(ends.q1, ends.v1) - at(ends.q0, ends.v0))


WEIGHT_NAMES = ("energy", "heat", "time", "torque", "acceleration", "jerk")


def side(y: np.ndarray, bounds: tuple[Any, Any]) -> float:
    """Σ y b with the upper bound where y > 0, the lower where y < 0."""
    if not np.size(y):
        return 0.0
    low, high = (np.broadcast_to(np.asarray(b, dtype=float), y.shape) for b in bounds)
    b = np.where(y > 0.0, high, low)
    return float(np.sum(np.where(np.isfinite(b), y * np.where(np.isfinite(b), b, 0.0), 0.0)))


def row_units(driven: Smoothed) -> np.ndarray:
    """The unit in which each row of a step is counted."""
    limits = [unit(*row[3:]) for row in driven.quantities]
    rest = int(np.isfinite(driven.torques[1]).sum()) + len(driven.extra_names)
    each = [*limits, *[1.0] * rest] * driven.limit_points
    return np.array([*each, *[1.0] * (len(driven.shape.constraint_names) - len(each))])


def number_gradient(driven: Smoothed, count: int) -> ca.Function:
    """(z, p, d, λ, y, η, θ) -> ∂/∂θ of the Lagrangian of one step."""
    theta = ca.SX.sym("theta", count)
    varied = replace(driven, robot=traced(driven.robot, theta))
    speeds = [traced_speed(varied, row) for row in driven.speeds]
    # sizes and rows are those of the robot's own numbers
    own = {name: getattr(driven, name) for name in ("shape", "dry", "quantities", "means")}
    varied.__dict__.update(own, speeds=speeds)
    model = varied.transcription.model()
    z, p, d = (
        ca.SX.sym("z", model.nx + model.nu),
        ca.SX.sym("p", model.np),
        ca.SX.sym("d", model.nd),
    )
    x, u = z[: model.nx], z[model.nx :]
    assert model.inner is not None and model.constraints is not None and model.totals is not None
    inner = model.inner
    _, w = inner.unrolled(lambda xi: column(inner.function(ca.vertcat(*xi))), x, u, p, d)
    parts = (model.dynamics, model.constraints, model.totals)
    f, c, t = (column(part(x, u, p, d, w)) for part in parts)
    lam, y, eta = (ca.SX.sym(name, part.numel()) for name, part in zip("lyt", (f, c, t)))
    lagrangian = column(model.cost(x, u, p, d, w)) + ca.dot(lam, f) + ca.dot(y, c) + ca.dot(eta, t)
    return ca.Function("gradient", [z, p, d, lam, y, eta, theta], [ca.gradient(lagrangian, theta)])


def traced_speed(varied: Smoothed, row: tuple[str, dict[int, float], float]) -> Any:
    """A row of speeds with the symbol of its motor's gear ratio."""
    name, factors, bound = row
    if not name.startswith(SPEED):
        return row
    train = varied.robot.drivetrain
    axis = train.axis_names.index(name.removeprefix(SPEED))
    ratio = train.drives[axis].gear.ratio
    return name, {j: ratio * train.matrix[axis][j] for j in factors}, bound

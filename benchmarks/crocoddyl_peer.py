"""Crocoddyl on the unconstrained quadratic version of the UR5 move, and the very same discrete
problem for our solver.

    (B1)  q₊ = q + h v₊,  v₊ = v + h a,   cost  Σ h ½ w |τ|² + ½ W |x_N − x_goal|²

Crocoddyl's controls are the torques; ours the accelerations, τ by inverse dynamics: one problem in
two sets of variables.
Without gravity: the wheel of Crocoddyl 3.2 beside Pinocchio 4.1 leaves it out of its forward
dynamics, whatever the model says."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import armature as arm
from armature.dynamics.recursion import recursive
from armature.kernel.symbol import bare
from armature.optimize.problem.problem import Guess, Inner, Model, Problem
from armature.optimize.solver.interior import solve
from armature.optimize.transcription.driven import as_symbols, closed_curvature, closed_slope
from armature.optimize.transcription.transcribe import vector
from armature.robot.model import Robot
from benchmarks.measure import compared, table, ur5

EFFORT, GOAL = 1e-3, 1e3  # w and W of (B1)


@dataclass(frozen=True)
class Quadratic:
    """A move in N steps of h seconds, without limits."""

    start: np.ndarray
    goal: np.ndarray
    h: float
    N: int

    @property
    def cubic(self) -> tuple[np.ndarray, np.ndarray]:
        """The start of both: states (N+1, 2n) and accelerations (N, n) of the joint cubic."""
        s, d, T = np.linspace(0, 1, self.N + 1)[:, None], self.goal - self.start, self.h * self.N
        x = np.hstack([self.start + d * (3 * s**2 - 2 * s**3), d * (6 * s - 6 * s**2) / T])
        return x, d * (6 - 12 * s[:-1]) / T**2


def our_model(robot: Robot, move: Quadratic) -> Model:
    """(B1) for our solver."""
    n, tree, h, goal = robot.n, robot.tree, move.h, np.concatenate([move.goal, np.zeros(robot.n)])
    parts = lambda xi: (vector(xi, 0, n), vector(xi, n, n), vector(xi, 2 * n, n))

    def torque(xi: Any) -> list[Any]:
        q, v, a = (as_symbols(part) for part in parts(xi))
        return [bare(t) for t in recursive.inverse_dynamics(tree, q, v, a)]

    slope, curvature = partial(closed_slope, tree), partial(closed_curvature, tree)
    inner = Inner(
        lambda x, u, p, d: [[*vector(x, 0, 2 * n), *vector(u, 0, n)]],
        torque,
        3 * n,
        lambda xi: slope(*parts(xi)),
        lambda xi, m: curvature(*parts(xi), vector(m, 0, n)),
    )

    def step(x: Any, u: Any, p: Any, d: Any, w: Any) -> list[Any]:
        v = [x[n + i] + h * u[i] for i in range(n)]
        return [*(x[i] + h * v[i] for i in range(n)), *v]

    return Model(
        2 * n,
        n,
        step,
        lambda x, u, p, d, w: h * EFFORT / 2 * sum(w[0][i] ** 2 for i in range(n)),
        inner=inner,
        end_cost=lambda x, p, d: GOAL / 2 * sum((x[i] - goal[i]) ** 2 for i in range(2 * n)),
    )


def our_problem(robot: Robot, move: Quadratic) -> tuple[Problem, Guess]:
    """(B1) and the start."""
    n, N = robot.n, move.N
    x0 = np.concatenate([move.start, np.zeros(n)])
    low, high = np.full((N + 1, 2 * n), -np.inf), np.full((N + 1, 2 * n), np.inf)
    low[0] = high[0] = x0
    return Problem(our_model(robot, move), N, x=(low, high)), Guess(*move.cubic)


def their_problem(model: Any, move: Quadratic) -> Any:
    """(B1) as a shooting problem of Crocoddyl, on one thread."""
    crocoddyl = importlib.import_module("crocoddyl")
    state = crocoddyl.StateMultibody(model)
    actuation = crocoddyl.ActuationModelFull(state)
    running, last = crocoddyl.CostModelSum(state), crocoddyl.CostModelSum(state)
    running.addCost(
        "effort", crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelControl(state)), EFFORT
    )
    goal = np.concatenate([move.goal, np.zeros(model.nv)])
    last.addCost(
        "goal",
        crocoddyl.CostModelResidual(state, crocoddyl.ResidualModelState(state, goal, model.nv)),
        GOAL,
    )
    dynamics = [
        crocoddyl.DifferentialActionModelFreeFwdDynamics(state, actuation, cost)
        for cost in (running, last)
    ]
    steps = [crocoddyl.IntegratedActionModelEuler(d, h) for d, h in zip(dynamics, (move.h, 0.0))]
    problem = crocoddyl.ShootingProblem(
        np.concatenate([move.start, np.zeros(model.nv)]), [steps[0]] * move.N, steps[1]
    )
    problem.nthreads = 1
    return problem


def their_solve(problem: Any, xs: Any, us: Any) -> Any:
    """The solver after its search."""
    solver = importlib.import_module("crocoddyl").SolverFDDP(problem)
    solver.th_stop = 1e-9
    solver.solve(xs, us, 500, False, 1e-9)
    return solver


def against_crocoddyl() -> str:
    """A table; or the sentence that Crocoddyl is not installed."""
    if importlib.util.find_spec("crocoddyl") is None:
        return "Crocoddyl is not installed here (`pip install crocoddyl`), so it was not compared."
    robot, model = ur5()
    robot, model.gravity.linear = robot.with_gravity((0, 0, 0)), np.zeros(3)  # pyright: ignore[reportAttributeAccessIssue]
    move = Quadratic(
        np.array([0, -1.2, 1.0, -0.5, 0.3, 0]), np.array([2, -0.6, 0.4, 0.5, -0.8, 1]), 0.012, 100
    )
    problem, guess = our_problem(robot, move)
    theirs = their_problem(model, move)
    x, a = move.cubic
    begin = list(x), list(arm.inverse_dynamics(robot, x[:-1, : robot.n], x[:-1, robot.n :], a))
    ours, peer = solve(problem, guess), their_solve(theirs, *begin)
    quick, slow = compared(
        [lambda: solve(problem, guess), lambda: their_solve(theirs, *begin)], repeats=7
    )
    rows = []
    for name, status, cost, count, timing in (
        (
            "Armature, exact second derivatives",
            ours.status.name.lower(),
            ours.cost,
            len(ours.iterations) - 1,
            quick,
        ),
        (
            "Crocoddyl FDDP, Gauss–Newton",
            "converged" if peer.stop < 1e-8 else f"stopped at {peer.stop:.0e}",
            peer.cost,
            peer.iter,
            slow,
        ),
    ):
        rows.append(
            [
                name,
                status,
                f"{cost:.7f}",
                count,
                f"{timing.best * 1e3:.1f}",
                f"{timing.best / max(1, count) * 1e3:.2f}",
            ]
        )
    header = [
        "quadratic UR5 move without limits and gravity, 100 knots",
        "status",
        "optimum",
        "iterations",
        "solve, ms",
        "ms an iteration",
    ]
    return table(header, rows)

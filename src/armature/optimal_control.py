"""Optimal control of differential equations of one's own, by the solver of the planners.

from armature import optimal_control as oc
problem = oc.ControlProblem(nx=2, nu=1, rates=lambda x, u: [x[1], u[0]], minimize="time", start=[0,
0], end=[1, 0], u=(-1, 1)) motion = oc.solve(problem)          # 2 s: full acceleration, full
braking"""

from __future__ import annotations

from typing import Any, overload

from armature.optimize.control.collocation import radau, rk4
from armature.optimize.control.motion import Motion
from armature.optimize.control.search import optimize
from armature.optimize.control.statement import (
    ControlProblem,
    Objective,
    Phase,
    control_effort,
    final,
    integral,
    time,
)
from armature.optimize.problem.problem import Guess, Inner, Model, Problem
from armature.optimize.problem.result import Iteration, Multipliers, Result, Status, Violation
from armature.optimize.solver import interior
from armature.optimize.solver.interior import Options

__all__ = [
    "ControlProblem",
    "Guess",
    "Inner",
    "Iteration",
    "Model",
    "Motion",
    "Multipliers",
    "Objective",
    "Options",
    "Phase",
    "Problem",
    "Result",
    "Status",
    "Violation",
    "control_effort",
    "final",
    "integral",
    "optimize",
    "radau",
    "rk4",
    "solve",
    "time",
]


@overload
def solve(
    problem: ControlProblem, guess: Motion | Guess | None = None, **settings: Any
) -> Motion: ...
@overload
def solve(problem: Problem, guess: Guess | Result | None = None, **settings: Any) -> Result: ...
def solve(problem: Any, guess: Any = None, **settings: Any) -> Any:
    """The motion of least cost: of a `ControlProblem`, in continuous time (a `Motion`; settings of
    `optimize`), or of a `Problem` in steps (a `Result`; settings options, callback, deadline)."""
    if isinstance(problem, ControlProblem):
        return optimize(problem, guess, **settings)
    return interior.solve(problem, guess, **settings)

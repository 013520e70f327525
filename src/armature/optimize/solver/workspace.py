"""The arrays of a search, kept for the next one: a plan is several searches on the same model."""

from __future__ import annotations

import functools

from armature.optimize.problem.problem import Model, Problem
from armature.optimize.problem.stage import Stage, end_stage, running_stage
from armature.optimize.solver.direction import Direction
from armature.optimize.solver.evaluate import Evaluator, empty_point


@functools.lru_cache(maxsize=64)
def stages(model: Model) -> tuple[Stage, Stage]:
    """The compiled kernels of a model, made once."""
    return running_stage(model), end_stage(model)


class Workspace:
    """The arrays of a search: they serve one search after another on the same model and number of
    steps."""

    def __init__(self, problem: Problem):
        self.evaluator = Evaluator(problem, *stages(problem.model))
        self.direction, self.kept = Direction(self.evaluator), Direction(self.evaluator)
        self.best = empty_point(self.evaluator.n)

    def ask(self, problem: Problem) -> None:
        """Clear the table for another problem."""
        self.evaluator.ask(problem)
        for point in (self.evaluator.point, self.evaluator.trial):
            point.memory[:] = 0.0
        self.direction.clear()


IDLE: list[tuple[Model, int, Workspace]] = []  # the last ones used
MOST_IDLE = 6


def borrow(problem: Problem) -> Workspace:
    """A workspace that fits the problem: an idle one, or a new one. Searches of other threads have
    theirs."""
    for entry in list(IDLE):
        if entry[0] is problem.model and entry[1] == problem.N:
            try:
                IDLE.remove(entry)
            except ValueError:  # another thread was quicker
                continue
            entry[2].ask(problem)
            return entry[2]
    return Workspace(problem)


def give_back(workspace: Workspace) -> None:
    """Keep a workspace for the next search."""
    problem = workspace.evaluator.problem
    IDLE.append((problem.model, problem.N, workspace))
    del IDLE[:-MOST_IDLE]

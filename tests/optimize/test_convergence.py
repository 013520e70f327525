"""How fast the search ends: quadratically at a fixed barrier, superlinearly as a whole."""

import itertools

import casadi as ca
import numpy as np
from bench_models import ends
from test_thesis_cases import NICKNAMES, plan
from thesis import CASES

from armature.drive import Regenerative
from armature.optimize.problem.problem import Model, Problem
from armature.optimize.solver.interior import Options, solve
from armature.optimize.transcription.driven import Weights
from armature.robot import library

N = 30


def swing_up():
    step = lambda x, u, p, d: [x[0] + 0.05 * x[1], x[1] + 0.05 * (u[0] - 9.81 * ca.sin(x[0]))]
    model = Model(2, 1, step, lambda x, u, p, d: 0.05 * (u[0] ** 2 + 0.1 * x[1] ** 4))
    return Problem(model, N, x=ends(N, (0, 0), (1.0, 0)))


def test_newton_converges_quadratically_at_a_fixed_barrier():
    """Without inequalities the barrier plays no part: the error of an iterate is the square of the
    one before, times a constant."""
    record = solve(swing_up(), options=Options(tolerance=1e-13, delta=1e-12)).iterations
    errors = [max(line.stationarity, line.violation) for line in record]
    tail = [error for error in errors if 1e-11 < error < 1e-1]
    assert len(tail) >= 2
    constants = [after / before**2 for before, after in itertools.pairwise(tail)]
    assert all(c < 50 for c in constants)
    assert errors[-1] < 1e-11


def test_the_search_as_a_whole_converges_superlinearly():
    """With active limits: from 1e-4 to 1e-8 the factor by which an iteration lowers the error falls
    below 1/10."""
    arm = library("burgevin").with_payload(2.0)
    case = next(c for c in CASES if c["active"]["peak_current"])
    record = plan(arm, Regenerative(), case, Weights(heat=1)).iterations
    errors = np.array(
        [max(line.stationarity, line.violation, line.complementarity) for line in record]
    )
    late = errors[np.argmax(errors < 1e-4) :]
    assert late[-1] <= 1e-8
    assert np.min(late[1:] / late[:-1]) < 0.1
    assert len(late) <= 8
    assert arm.joint_names == NICKNAMES

"""Status, record, callback, deadline, interruption, warm start, and refusals of bad input."""

import numpy as np
import pytest
from bench_models import double_integrator, ends
from random_problems import random_problem

from armature.errors import ArgumentError
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.problem.result import Status
from armature.optimize.solver.interior import Options, solve

N = 20
MODEL = double_integrator()
PROBLEM = Problem(MODEL, N, x=ends(N, (0, 0), (1, 0)), u=(-4.5, 4.5), data=1 / N)


def test_every_status_is_a_sentence():
    for status in Status:
        assert (
            status.value[0].isupper()
            and status.value.endswith(".")
            and len(status.value.split()) > 4
        )


def test_the_record_tells_the_whole_search():
    lines = []
    result = solve(PROBLEM, callback=lines.append)
    assert result.ok and result.message == Status.CONVERGED.value
    assert [line.number for line in result.iterations] == list(range(len(result.iterations)))
    assert (
        lines == list(result.iterations[: len(lines)]) and len(lines) >= len(result.iterations) - 1
    )
    last = result.iterations[-1]
    assert (
        last.cost == pytest.approx(result.cost)
        and last.barrier < 1e-7
        and max(last.violation, last.stationarity) < 1e-8
    )


def test_a_callback_can_stop_the_search():
    result = solve(PROBLEM, callback=lambda line: line.number >= 3)
    assert result.status is Status.INTERRUPTED and len(result.iterations) == 4


def test_ctrl_c_returns_the_best_motion():
    def interrupt(line):
        if line.number == 5:
            raise KeyboardInterrupt

    result = solve(PROBLEM, callback=interrupt)
    assert result.status is Status.INTERRUPTED
    assert (
        np.abs(result.x[-1] - [1, 0]).max()
        <= min(line.violation for line in result.iterations) + 1e-6
    )


def test_a_deadline_is_kept():
    result = solve(*random_problem(7), deadline=1e-9)
    assert result.status is Status.DEADLINE and len(result.iterations) == 1
    assert "time allowed" in result.message


def test_iterations_are_limited():
    result = solve(PROBLEM, options=Options(iterations=2))
    assert result.status is Status.ITERATIONS and not result.ok


def test_a_warm_start_needs_fewer_iterations():
    first = solve(PROBLEM)
    moved = Problem(MODEL, N, x=ends(N, (0, 0), (1.02, 0)), u=(-4.5, 4.5), data=1 / N)
    cold, warm = solve(moved), solve(moved, first)
    assert warm.ok and warm.cost == pytest.approx(cold.cost, rel=1e-6)
    assert len(warm.iterations) < len(cold.iterations)
    again = solve(PROBLEM, first)
    assert again.ok and len(again.iterations) <= 6


def test_multipliers_are_sensitivities():
    """d(cost)/d(goal) is the multiplier of the goal, d(cost)/d(bound) that of the bound."""
    at = lambda goal, bound: solve(
        Problem(MODEL, N, x=ends(N, (0, 0), (goal, 0)), u=(-bound, bound), data=1 / N)
    )
    middle, eps = at(1, 4.5), 1e-4
    slope = (at(1 + eps, 4.5).cost - at(1 - eps, 4.5).cost) / (2 * eps)
    assert -middle.multipliers.x[-1, 0] == pytest.approx(slope, rel=1e-4)
    slope = (at(1, 4.5 + eps).cost - at(1, 4.5 - eps).cost) / (2 * eps)
    assert -np.abs(middle.multipliers.u).sum() == pytest.approx(slope, rel=1e-3)


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (lambda: Problem(MODEL, 0), "at least one step"),
        (lambda: Problem(MODEL, N, u=(1, -1), data=1 / N), "cross"),
        (lambda: Problem(MODEL, N, x=(np.zeros(3), np.ones(3)), data=1 / N), r"shape \(3,\)"),
        (lambda: Problem(MODEL, N, u=5, data=1 / N), "must be a pair"),
        (lambda: Problem(MODEL, N, data=np.nan), "NaN"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(problem, words):
    with pytest.raises(ArgumentError, match=words):
        solve(problem())


def test_a_result_of_another_size_is_refused():
    first = solve(PROBLEM)
    with pytest.raises(ArgumentError):
        solve(Problem(MODEL, N + 1, x=ends(N + 1, (0, 0), (1, 0)), data=1 / N), first)
    other = solve(
        Problem(MODEL, N + 1, x=ends(N + 1, (0, 0), (1, 0)), data=1 / N), Guess(first.x[0])
    )
    assert other.ok

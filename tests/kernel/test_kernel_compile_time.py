"""Compile time is linear in the length of an expression. CPU time of this process, not the clock's:
others may be at work."""

import time

import casadi as ca
import numpy as np
import pytest

from armature.kernel import lower, machine_code, trace
from armature.kernel.trace import Expression


def long_expression(operations: int) -> Expression:
    """Sums of products of values from far and near, as nested Jacobians have."""
    rng = np.random.default_rng(0)
    x = ca.SX.sym("x", 40)
    step, width = ca.vertcat(ca.sin(x), ca.cos(x[:8])), 48
    rounds = (operations - 48) // (3 * width)
    for _ in range(rounds):
        a, b, c = (step[rng.permutation(width).tolist()] for _ in range(3))
        step = a * b + 0.1 * c - 0.3
    return trace(lambda x: ca.substitute(step, _symbol(step), x), {"x": 40}, symbols="casadi")


def _symbol(expression: ca.SX) -> ca.SX:
    return ca.vertcat(*ca.symvar(expression))


def compile_seconds(expression: Expression) -> float:
    start = time.process_time()
    machine_code.assemble(lower.lower(expression, machine_code.vector_width()))
    return time.process_time() - start


def test_forty_thousand_operations_take_less_than_eight_seconds_and_four_times_ten_thousand():
    short, long = long_expression(10_000), long_expression(40_000)
    assert short.operations > 9_000
    assert long.operations > 39_000
    small, large = compile_seconds(short), compile_seconds(long)
    assert large < 8.0
    assert large < 1.6 * small * long.operations / short.operations


@pytest.mark.parametrize("kind", ["inputs", "outputs"])
def test_many_inputs_or_outputs_are_linear_too(kind):
    def make(n: int) -> Expression:
        if kind == "inputs":
            return trace(lambda x: ca.sumsqr(x), {"x": n}, symbols="casadi")
        return trace(
            lambda x: x[0] * ca.DM(np.linspace(1, 2, n)) + x[1], {"x": 2}, symbols="casadi"
        )

    small, large = compile_seconds(make(400)), compile_seconds(make(1600))
    assert large < 8 * small + 0.2


def test_reading_the_instructions_is_a_small_part():
    expression = long_expression(10_000)
    start = time.process_time()
    lower.read_program(expression)
    reading = time.process_time() - start
    assert reading < 0.2 * compile_seconds(expression)

"""Parameters: numbers of a kernel in memory. Other values need no other code, and every kernel
keeps its own."""

import casadi as ca
import numpy as np
import pytest

from armature.errors import ArgumentError
from armature.kernel import compile, compiled, parameters, trace
from armature.kernel.trace import bound, function_of

X = np.linspace(-1.0, 2.0, 21).reshape(21, 1)


def build():
    a, b, c = parameters(3)
    return trace(lambda x: np.sin(a * x) + b / (c + x * x), {"x": 1}, ["y"], name="curve")


def never():
    raise AssertionError("traced although the cache has it")


def curve(a: float, b: float, c: float) -> np.ndarray:
    return np.sin(a * X) + b / (c + X * X)


def test_other_values_need_no_other_code_and_do_not_disturb_the_first():
    first = compiled("curve with parameters", build, (1.0, 2.0, 3.0))
    second = compiled("curve with parameters", never, (-0.5, 0.25, 7.0))
    np.testing.assert_allclose(second(X), curve(-0.5, 0.25, 7.0), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(first(X), curve(1.0, 2.0, 3.0), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(first(X[3]), curve(1.0, 2.0, 3.0)[3], rtol=1e-14, atol=1e-15)


def test_without_machine_code_they_have_the_same_values(monkeypatch):
    monkeypatch.setenv("ARMATURE_JIT", "0")
    np.testing.assert_allclose(
        compiled("curve with parameters", build, (1.5, 2.0, 3.0))(X),
        curve(1.5, 2.0, 3.0),
        rtol=1e-14,
    )


def test_a_parameter_may_be_an_output_and_others_may_be_unused():
    numbers = parameters(5)
    run = compiled(
        "second of five",
        lambda: trace(lambda x: (numbers[1], x), {"x": 1}, name="second"),
        np.arange(5.0),
    )
    assert run(X[0])[0] == 1.0 and run(X)[0].tolist() == [1.0] * len(X)


def test_parameters_cost_what_constants_cost():
    with_constants = trace(lambda x: np.sin(1.5 * x) + 2.5 / (3.5 + x * x), {"x": 1})
    assert build().operations == with_constants.operations - 3  # which counts its three numbers


def test_missing_values_and_foreign_symbols_are_refused():
    with pytest.raises(ArgumentError, match="curve uses 3 parameters, got values for 2"):
        compiled("curve with parameters", build, (1.0, 2.0))
    with pytest.raises(ArgumentError, match="scaled uses parameters"):
        compile(scaled, {"x": 1}, symbols="numpy")
    with pytest.raises(
        ArgumentError, match="f uses symbols that are not among its inputs: stranger"
    ):
        function_of("f", [ca.SX.sym("x")], [ca.SX.sym("stranger")])


def scaled(x):
    return parameters(1)[0] * x


def test_bound_puts_numbers_for_them():
    x = ca.SX.sym("x")
    a, b = parameters(2)
    f = ca.Function("f", [x], [bound(a.x * x + b.x, (2.0, 3.0))])
    assert float(f(4.0)) == 11.0

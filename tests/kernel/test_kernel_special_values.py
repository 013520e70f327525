"""NaN, infinity and signed zeros go through a kernel as IEEE 754 and the C library have them."""

import casadi as ca
import numpy as np
import pytest

from armature.kernel import compile

INF, NAN = np.inf, np.nan
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 5e-324, -5e-324, 1e308, -1e308, 0.5, -2.0]
)


def same(y, expected):
    """Equal with signs of zeros, NaN equal to NaN."""
    np.testing.assert_array_equal(y, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(y)[numbers], np.signbit(expected)[numbers])


UNARY = {
    "sin": (ca.sin, np.sin),
    "cos": (ca.cos, np.cos),
    "tan": (ca.tan, np.tan),
    "exp": (ca.exp, np.exp),
    "log": (ca.log, np.log),
    "tanh": (ca.tanh, np.tanh),
    "sqrt": (ca.sqrt, np.sqrt),
    "fabs": (ca.fabs, np.abs),
    "floor": (ca.floor, np.floor),
    "ceil": (ca.ceil, np.ceil),
    "asin": (ca.asin, np.arcsin),
    "acos": (ca.acos, np.arccos),
    "atan": (ca.atan, np.arctan),
    "sinh": (ca.sinh, np.sinh),
    "cosh": (ca.cosh, np.cosh),
    "asinh": (ca.asinh, np.arcsinh),
    "acosh": (ca.acosh, np.arccosh),
    "atanh": (ca.atanh, np.arctanh),
    "log1p": (ca.log1p, np.log1p),
    "expm1": (ca.expm1, np.expm1),
    "neg": (lambda x: -x, np.negative),
    "1/x": (lambda x: 1 / x, lambda x: 1 / x),
    "x²": (ca.sq if hasattr(ca, "sq") else lambda x: x * x, np.square),
    "2x": (lambda x: x + x, lambda x: x + x),
}


@pytest.mark.parametrize("name", UNARY)
def test_special_values_of_one_number(name):
    function, expected = UNARY[name]
    y = compile(lambda x: function(x), {"x": ()})(SPECIAL)
    with np.errstate(all="ignore"):
        exact = expected(SPECIAL)
    finite = np.isfinite(exact) & (np.abs(exact) > 0)
    np.testing.assert_allclose(y[finite], exact[finite], rtol=1e-15)
    same(y[~finite], exact[~finite])


BINARY = {
    "+": (lambda a, b: a + b, np.add),
    "-": (lambda a, b: a - b, np.subtract),
    "*": (lambda a, b: a * b, np.multiply),
    "/": (lambda a, b: a / b, np.divide),
    "atan2": (ca.atan2, np.arctan2),
    "pow": (lambda a, b: a**b, np.power),
    "copysign": (ca.copysign, np.copysign),
    "fmod": (ca.fmod, np.fmod),
    "hypot": (ca.hypot, np.hypot),
    "<": (lambda a, b: a < b, np.less),
    "<=": (lambda a, b: a <= b, np.less_equal),
    ">": (lambda a, b: a > b, np.greater),
    ">=": (lambda a, b: a >= b, np.greater_equal),
    "==": (lambda a, b: a == b, np.equal),
    "!=": (lambda a, b: a != b, np.not_equal),
    "and": (ca.logic_and, np.logical_and),
    "or": (ca.logic_or, np.logical_or),
}


@pytest.mark.parametrize("name", BINARY)
def test_special_values_of_two_numbers(name):
    function, expected = BINARY[name]
    a, b = (x.ravel() for x in np.meshgrid(SPECIAL, SPECIAL))
    y = compile(lambda a, b: function(a, b), {"a": (), "b": ()})(a, b)
    with np.errstate(all="ignore"):
        exact = np.asarray(expected(a, b), dtype=float)
    finite = np.isfinite(exact) & (np.abs(exact) > 0)
    np.testing.assert_allclose(y[finite], exact[finite], rtol=1e-15)
    same(y[~finite], exact[~finite])


def test_minimum_and_maximum_never_hide_a_nan():
    a, b = (x.ravel() for x in np.meshgrid(SPECIAL, SPECIAL))
    low, high = compile(lambda a, b: (ca.fmin(a, b), ca.fmax(a, b)), {"a": (), "b": ()})(a, b)
    np.testing.assert_array_equal(low, np.minimum(a, b))
    np.testing.assert_array_equal(high, np.maximum(a, b))


def test_sign_and_not_of_special_values():
    sign, negation = compile(lambda x: (ca.sign(x), ca.logic_not(x)), {"x": ()})(SPECIAL)
    np.testing.assert_array_equal(sign, np.sign(SPECIAL))
    np.testing.assert_array_equal(negation, np.logical_not(SPECIAL))


def test_the_branch_not_taken_cannot_spoil_the_result():
    choose = compile(lambda c, a, b: ca.if_else(c > 0, a, b), {"c": (), "a": (), "b": ()})
    np.testing.assert_array_equal(
        choose([1.0, -1.0, NAN], [2.0, NAN, NAN], [INF, 3.0, 4.0]), [2.0, 3.0, 4.0]
    )


def test_a_row_does_not_depend_on_its_neighbours_to_the_last_bit():
    # a huge, infinite or NaN angle is taken from the C library; the others of its vector are not
    x = np.linspace(-3, 3, 64)
    f = compile(lambda x: (ca.sin(x), ca.cos(x), ca.exp(x), ca.log(x), ca.tanh(x)), {"x": ()})
    for bad in (NAN, INF, 1e300):
        spoiled = x.copy()
        spoiled[5] = bad
        for y, z in zip(f(spoiled), f(x)):
            np.testing.assert_array_equal(np.delete(y, 5), np.delete(z, 5))


def test_whole_powers_of_special_values():
    for n in (2, 3, 4, -1, -2, 0):
        y = compile(lambda x: ca.constpow(x, n), {"x": ()})(SPECIAL)  # noqa: B023 (traced at once)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(y, SPECIAL ** float(n), rtol=1e-15)


def test_powers_with_infinite_and_nan_exponents_are_those_of_the_c_library():
    for n in (INF, -INF, NAN):
        y = compile(lambda x: ca.constpow(x, n), {"x": ()})(SPECIAL)  # noqa: B023 (traced at once)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(y, SPECIAL**n)


def test_a_shared_divisor_below_the_normal_range_divides_correctly():
    # 1/y overflows here: x/y must not be computed as x·(1/y)
    y = 1e-310
    a, b = compile(lambda u, v, y: (u / y, v / y), {"u": (), "v": (), "y": ()})(y, 2 * y, y)
    assert (a, b) == (1.0, 2.0)

"""Every function of a kernel against mpmath at 300 bits, in units in the last place (ulp) of the
exact value."""

import casadi as ca
import mpmath as mp
import numpy as np
import pytest

from armature.kernel import compile

rng = np.random.default_rng(7)
WORST_ANGLE = 6381956970095103 * 2.0**797  # the double nearest to a multiple of π/2
SUBNORMAL = rng.integers(1, 2**52, 100).astype(np.uint64).view(np.float64)


def spread(low: float, high: float, count: int, signs: str = "+-") -> np.ndarray:
    """Numbers spread evenly over the orders of magnitude."""
    x = np.exp(rng.uniform(np.log(low), np.log(high), count))
    return np.concatenate([x, -x]) if signs == "+-" else x


def near_quarter_turns(limit: int, count: int) -> np.ndarray:
    """Multiples of π/2 and the doubles on both sides of them."""
    x = rng.integers(1, limit, count) * np.pi / 2
    return np.concatenate([np.nextafter(x, 0), x, -np.nextafter(x, np.inf)])


ANGLES = np.concatenate(
    [
        rng.uniform(-10, 10, 800),
        near_quarter_turns(1000, 100),
        near_quarter_turns(2**25, 100),
        spread(1e-300, 2.0**26, 300),
        SUBNORMAL,
    ]
)
HUGE = spread(2.0**26, 1e300, 60)
UNIT = np.concatenate([rng.uniform(-1, 1, 300), spread(1e-300, 1, 100)])
BELOW_ONE = np.concatenate(
    [UNIT, 1 - spread(1e-15, 0.5, 50, "+"), -1 + spread(1e-15, 0.5, 50, "+")]
)
WIDE = np.concatenate([UNIT, rng.uniform(-700, 700, 300), SUBNORMAL])
POSITIVE = np.concatenate([spread(1e-307, 1e307, 400, "+"), 1 + spread(1e-16, 0.4, 200), SUBNORMAL])

# name: (function of CasADi, function of mpmath, arguments, bound in ulp). docs/kernel.md shows the
# bounds.
UNARY = {
    "sin": (ca.sin, mp.sin, ANGLES, 1.3),
    "cos": (ca.cos, mp.cos, ANGLES, 1.3),
    "tan": (ca.tan, mp.tan, ANGLES, 2.5),
    "sin, huge": (ca.sin, mp.sin, np.append(HUGE, 1e22), 1.0),
    "cos, huge": (ca.cos, mp.cos, HUGE, 1.0),
    "tan, huge": (ca.tan, mp.tan, HUGE, 2.0),
    "exp": (ca.exp, mp.exp, np.concatenate([WIDE, rng.uniform(-708, 709.7, 500)]), 1.0),
    "exp, subnormal results": (ca.exp, mp.exp, rng.uniform(-745, -708.4, 200), 1.0),
    "log": (ca.log, mp.log, POSITIVE, 0.8),
    "tanh": (ca.tanh, mp.tanh, np.concatenate([UNIT, rng.uniform(-25, 25, 500)]), 2.5),
    "sqrt": (ca.sqrt, mp.sqrt, POSITIVE, 0.5),
    "asin": (ca.asin, mp.asin, BELOW_ONE, 1.0),
    "acos": (ca.acos, mp.acos, BELOW_ONE, 1.0),
    "atan": (ca.atan, mp.atan, np.concatenate([WIDE, spread(1, 1e300, 50)]), 1.0),
    "sinh": (ca.sinh, mp.sinh, WIDE, 2.5),
    "cosh": (ca.cosh, mp.cosh, WIDE, 2.5),
    "asinh": (ca.asinh, mp.asinh, np.concatenate([WIDE, spread(1, 1e300, 50)]), 2.5),
    "acosh": (ca.acosh, mp.acosh, 1 + spread(1e-15, 1e300, 300, "+"), 2.5),
    "atanh": (ca.atanh, mp.atanh, BELOW_ONE[np.abs(BELOW_ONE) < 1], 2.5),
    "erf": (ca.erf, mp.erf, np.concatenate([UNIT, rng.uniform(-6, 6, 200)]), 1.5),
    "log1p": (
        ca.log1p,
        mp.log1p,
        np.concatenate([BELOW_ONE[BELOW_ONE > -1], spread(1, 1e300, 50, "+")]),
        1.5,
    ),
    "expm1": (ca.expm1, mp.expm1, WIDE, 1.5),
    "1/x": (lambda x: 1 / x, lambda x: 1 / x, spread(1e-300, 1e300, 100), 0.5),
    "x^3": (lambda x: x**3, lambda x: x**3, spread(1e-90, 1e90, 200), 1.5),
    "x^-3": (lambda x: x**-3, lambda x: x**-3, spread(1e-90, 1e90, 200), 2.0),
    "x^16": (lambda x: x**16, lambda x: x**16, spread(1e-15, 1e15, 200), 8.0),
    "x^2.5": (lambda x: x**2.5, lambda x: x ** mp.mpf(2.5), spread(1e-100, 1e100, 200, "+"), 1.0),
}

PAIRS = (
    rng.uniform(-5, 5, (300, 2)),
    np.stack([spread(1e-200, 1e200, 100), rng.permutation(spread(1e-200, 1e200, 100))], axis=1),
)
POWERS = np.stack([spread(1e-30, 1e30, 300, "+"), rng.uniform(-9, 9, 300)], axis=1)
BINARY = {
    "a + b": (lambda a, b: a + b, lambda a, b: a + b, np.concatenate(PAIRS), 0.5),
    "a − b": (lambda a, b: a - b, lambda a, b: a - b, np.concatenate(PAIRS), 0.5),
    "a · b": (lambda a, b: a * b, lambda a, b: a * b, PAIRS[0], 0.5),
    "a / b": (lambda a, b: a / b, lambda a, b: a / b, PAIRS[0], 0.5),
    "pow": (lambda a, b: a**b, lambda a, b: a**b, POWERS, 1.0),
    "atan2": (ca.atan2, mp.atan2, np.concatenate(PAIRS), 1.0),
    "hypot": (ca.hypot, mp.hypot, np.concatenate(PAIRS), 1.0),
    "fmod": (ca.fmod, lambda a, b: mp.sign(a) * (abs(a) % abs(b)), PAIRS[0], 0.0),
    "remainder": (ca.remainder, lambda a, b: a - b * mp.nint(a / b), PAIRS[0], 0.0),
}


def errors(values: np.ndarray, exact: list) -> np.ndarray:
    """|value − exact| in ulps of exact."""
    return np.array(
        [
            float(abs(mp.mpf(float(v)) - e) / mp.mpf(float(np.spacing(abs(float(e))))))
            for v, e in zip(values, exact)
        ]
    )


@pytest.mark.parametrize("name", UNARY)
def test_function_of_one_number_is_accurate(name):
    function, exact, x, bound = UNARY[name]
    y = compile(lambda x: function(x), {"x": ()})(x)
    with mp.workprec(300):
        error = errors(y, [exact(mp.mpf(float(v))) for v in x])
    worst = error.argmax()
    assert error[worst] <= bound, (
        f"{name}({x[worst]!r}) = {y[worst]!r} is off by {error[worst]:.2f} ulp"
    )


@pytest.mark.parametrize("name", BINARY)
def test_function_of_two_numbers_is_accurate(name):
    function, exact, x, bound = BINARY[name]
    y = compile(lambda a, b: function(a, b), {"a": (), "b": ()})(x[:, 0], x[:, 1])
    with mp.workprec(1500):
        error = errors(y, [exact(mp.mpf(float(a)), mp.mpf(float(b))) for a, b in x])
    worst = error.argmax()
    assert error[worst] <= bound, (
        f"{name}{tuple(x[worst])} = {y[worst]!r} is off by {error[worst]:.2f} ulp"
    )


def test_the_angle_nearest_to_a_quarter_turn_keeps_its_sign_and_fourteen_digits():
    sine, cosine = compile(lambda x: (ca.sin(x), ca.cos(x)), {"x": ()})(WORST_ANGLE)
    with mp.workprec(2000):
        assert sine == float(mp.sin(mp.mpf(WORST_ANGLE)))
        assert cosine == pytest.approx(float(mp.cos(mp.mpf(WORST_ANGLE))), rel=1e-14)


def test_both_sides_of_the_limit_of_the_vector_sine_agree_with_the_exact_value():
    x = np.array([np.nextafter(2.0**26, 0), 2.0**26, np.nextafter(2.0**26, np.inf)])
    y = compile(lambda x: ca.sin(x), {"x": ()})(x)
    assert errors(y, [mp.sin(mp.mpf(float(v))) for v in x]).max() < 1.3

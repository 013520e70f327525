"""Smooth laws against exact ones: the stated bounds hold, and cannot be made smaller."""

import numpy as np
import pytest

from armature.drive.corner import (
    SIGN_POWER_ERROR,
    by_direction,
    fraction,
    magnitude,
    ramp,
    side,
    undo_direction,
)

X = np.concatenate([-np.logspace(-6, 6, 20001)[::-1], [0.0], np.logspace(-6, 6, 20001)])
WIDTHS = (1e-3, 0.1, 7.0)


@pytest.mark.parametrize("w", WIDTHS)
def test_smooth_sign_errs_in_power_by_at_most_the_stated_bound(w):
    error = np.abs(X * side(X, w) - np.abs(X))
    assert error.max() <= SIGN_POWER_ERROR * w * (1 + 1e-9)
    assert error.max() >= 0.999 * SIGN_POWER_ERROR * w  # the bound is the best possible


@pytest.mark.parametrize("w", WIDTHS)
def test_smooth_sign_is_exact_far_from_the_corner(w):
    far = X[np.abs(X) > 10 * w]
    assert np.all(np.abs(side(far, w) - np.sign(far)) <= w**2 / (2 * far**2) * (1 + 1e-6) + 1e-15)


@pytest.mark.parametrize("w", WIDTHS)
def test_smooth_maximum_is_convex_and_never_below(w):
    x = np.linspace(-30 * w, 30 * w, 4001)
    error = ramp(x, w) - np.maximum(0, x)
    assert np.all(error >= 0) and error.max() == pytest.approx(w / 2, rel=1e-9)
    assert np.all(np.diff(ramp(x, w), 2) > -1e-12 * w)
    assert np.all((magnitude(x, w) - np.abs(x) >= 0) & (magnitude(x, w) - np.abs(x) <= w))


@pytest.mark.parametrize("w", WIDTHS)
def test_factor_by_direction_stays_between_and_errs_in_power_within_bound(w):
    f, b = 1 / 0.8, 0.7
    smooth, exact = by_direction(X, f, b, w), by_direction(X, f, b)
    assert np.all((smooth >= b) & (smooth <= f))
    assert np.array_equal(exact, np.where(X > 0, f, b))
    assert np.abs(X * (smooth - exact)).max() <= SIGN_POWER_ERROR * w * (f - b) / 2 * (1 + 1e-6)


def test_fraction_of_a_cell_is_the_clipped_line():
    x = np.linspace(-3, 9, 1001)
    assert np.allclose(fraction(x, 1.0, 5.0), np.clip((x - 1) / 4, 0, 1), atol=1e-15)
    assert np.abs(fraction(x, 1.0, 5.0, 0.1) - np.clip((x - 1) / 4, 0, 1)).max() <= 0.05


@pytest.mark.parametrize("width", (0.0, 0.3))
def test_all_number_types_give_one_answer(width):
    import casadi

    s = casadi.SX.sym("x")
    f = casadi.Function(
        "f",
        [s],
        [side(s, width), magnitude(s, width), ramp(s, width), by_direction(s, 2.0, 0.5, width)],
    )
    for x in (-2.0, -0.1, 0.0, 0.1, 2.0):
        on_float = [
            float(g)
            for g in (
                side(x, width),
                magnitude(x, width),
                ramp(x, width),
                by_direction(x, 2.0, 0.5, width),
            )
        ]
        on_array = [
            g[0]
            for g in (
                side(np.array([x]), width),
                magnitude(np.array([x]), width),
                ramp(np.array([x]), width),
                by_direction(np.array([x]), 2.0, 0.5, width),
            )
        ]
        assert np.allclose(on_float, on_array, atol=1e-15) and np.allclose(
            on_float, [float(g) for g in f(x)], atol=1e-15
        )


@pytest.mark.parametrize("width", (0.0, 0.3))
def test_complex_step_gives_the_derivative(width):
    for x in (-1.3, 0.4):
        for law in (magnitude, ramp):
            step = np.imag(law(x + 1e-30j, width)) / 1e-30
            assert step == pytest.approx(
                (law(x + 1e-6, width) - law(x - 1e-6, width)) / 2e-6, rel=1e-6, abs=1e-9
            )


@pytest.mark.parametrize("eta", (0.3, 0.6, 0.95))
@pytest.mark.parametrize("w", (0.0, 1e-3, 0.1, 7.0))
def test_direction_is_undone(w, eta):
    rng = np.random.default_rng(1)
    x, v = rng.normal(size=2000) * 10, rng.normal(size=2000)
    y = x * by_direction(x * v, 1 / eta, eta, w)
    assert np.allclose(undo_direction(y, v, 1 / eta, eta, w), x, rtol=1e-6 if eta < 0.5 else 1e-10)


def test_widths_may_be_symbols():
    import casadi

    x, w = casadi.SX.sym("x"), casadi.SX.sym("w")
    laws = (
        side,
        magnitude,
        ramp,
        lambda x, w: by_direction(x, 2.0, 0.5, w),
        lambda x, w: undo_direction(x, 1.5, 2.0, 0.5, w),
    )
    f = casadi.Function("f", [x, w], [law(x, w) for law in laws])
    for width in (0.1, 3.0):
        assert np.allclose(
            [float(y) for y in f(0.7, width)], [float(law(0.7, width)) for law in laws], rtol=1e-12
        )

"""Polynomials of a motion: roots against NumPy's eigenvalues, coefficients against the motion
itself."""

import numpy as np
import pytest

from armature.motion.polynomials import coefficients, extremes, joint_roots, roots, value
from armature.motion.trajectory import Trajectory


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_roots_are_those_of_the_companion_matrix(degree):
    c = np.random.default_rng(degree).normal(size=(300, degree + 1))
    found = roots(c)
    for k, row in enumerate(c):
        every = np.roots(row[::-1])
        known = np.sort(
            every[(np.abs(every.imag) < 1e-9) & (every.real > 0) & (every.real < 1)].real
        )
        mine = np.sort(found[0][k][~np.isnan(found[0][k])])
        assert len(mine) == len(known)
        np.testing.assert_allclose(mine, known, atol=1e-8)


def test_polynomials_without_their_highest_terms_keep_their_roots():
    c = np.array(
        [
            [-0.5, 1.0, 0.0, 0.0, 0.0],
            [0.06, -0.5, 1.0, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.0] * 5,
        ]
    )
    found = [np.sort(row[~np.isnan(row)]) for row in roots(c)[0]]
    np.testing.assert_allclose(found[0], [0.5])
    np.testing.assert_allclose(found[1], [0.2, 0.3])
    assert not len(found[2]) and not np.any(found[3] > 0)


@pytest.mark.parametrize("interpolation", ["held", "linear", "hermite"])
def test_coefficients_give_the_motion_and_its_extrema(interpolation):
    rng = np.random.default_rng(3)
    t = np.cumsum(rng.uniform(0.1, 0.3, 7))
    q, v, a = rng.normal(size=(3, 7, 2))
    if interpolation != "hermite":  # knots that follow from their accelerations
        for k, h in enumerate(np.diff(t)):
            end = a[k] if interpolation == "held" else a[k + 1]
            v[k + 1] = v[k] + h * (a[k] + end) / 2
            q[k + 1] = q[k] + h * v[k] + h * h * (a[k] / 3 + end / 6)
    motion = Trajectory(t, q, v, a, interpolation=interpolation)
    c, x = coefficients(motion), np.linspace(0.0, 1.0, 400)[:-1]
    dense = np.stack([motion(t0 + x * h).q for t0, h in zip(t, np.diff(t))])
    np.testing.assert_allclose(value(c[:, None], x[None, :, None] + 0.0 * dense), dense, atol=1e-12)
    speed = c[:, 1:] * np.arange(1.0, c.shape[1])[:, None]
    largest = np.abs(extremes(c, joint_roots(speed)[0])[1]).max(1)
    assert np.all(largest >= np.abs(dense).max(1) - 1e-12)
    np.testing.assert_allclose(largest, np.abs(dense).max(1), rtol=1e-3, atol=1e-3)

"""Compiled loops that are kept on disk: good only as long as nothing that they call has changed."""

import sys

import numpy as np

from armature.kernel import sources
from armature.optimize.solver import loops, newton, rows


def test_what_is_kept_of_a_loop_depends_on_every_file_that_it_is_made_of():
    parts: dict[str, str] = {}
    sources.gather(newton.direct, parts)
    used = {name.split(".")[3] for name in parts if name.startswith("armature.optimize.")}
    assert {"newton", "riccati", "rows", "system", "local", "border"} <= used


def test_what_is_held_is_the_same_array_for_loops_and_for_python():
    """Of a type that the solver holds: what numba keeps on disk must be readable without the
    tests."""
    z, v, gap = np.arange(4.0).reshape(2, 2), np.zeros(4), np.zeros((1, 1))
    held = loops.hold(newton.Point(z, np.zeros(0), np.zeros((2, 1)), v, gap, rows.empty_rows(4)))
    t, f = np.zeros((2, 0)), np.array([[5.0]])
    assert newton.complete(held, t, f, 2) == 3.0  # |f − x₁|
    np.testing.assert_array_equal(v, z.ravel())
    assert gap[0, 0] == 3.0
    z[1, 0] = 4.0
    assert newton.complete(held, t, f, 2) == 1.0
    kept = sys.getrefcount(z)
    del held
    assert sys.getrefcount(z) == kept - 1  # the array goes with the last who holds it

"""Compiled loops that are kept on disk: good only as long as nothing that they call has changed."""

import re
import sys
from pathlib import Path

import numpy as np

from armature.optimize import loops, newton, rows

FOLDER = Path(loops.__file__).parent


def test_a_change_in_any_file_of_loops_makes_all_that_is_kept_of_them_stale():
    kept = newton.direct._cache._cache_file
    assert kept._source_stamp[1] == loops.written
    called = re.findall(r"^from armature\.optimize import (.+)$", (FOLDER / "newton.py").read_text(), re.M)[0].split(", ")
    assert set(called) <= set(loops.files) and "newton" in loops.files and "loops" in loops.files
    for name in called:  # and what these call
        for other in re.findall(r"^from armature\.optimize(?:\.(\w+))? import (.+)$", (FOLDER / f"{name}.py").read_text(), re.M):
            assert set([other[0]] if other[0] else other[1].split(", ")) <= set(loops.files)


def test_what_is_held_is_the_same_array_for_loops_and_for_python():
    """Of a type that the solver holds: what numba keeps on disk must be readable without the tests."""
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

"""Compiled loops that are kept on disk: good only as long as nothing that they call has changed."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

from armature.optimize import loops, newton

FOLDER = Path(loops.__file__).parent


def test_a_change_in_any_file_of_loops_makes_all_that_is_kept_of_them_stale():
    kept = newton.direct._cache._cache_file
    assert kept._source_stamp[1] == loops.written
    called = re.findall(r"^from armature\.optimize import (.+)$", (FOLDER / "newton.py").read_text(), re.M)[0].split(", ")
    assert set(called) <= set(loops.files) and "newton" in loops.files and "loops" in loops.files
    for name in called:  # and what these call
        for other in re.findall(r"^from armature\.optimize(?:\.(\w+))? import (.+)$", (FOLDER / f"{name}.py").read_text(), re.M):
            assert set([other[0]] if other[0] else other[1].split(", ")) <= set(loops.files)


class Pair(NamedTuple):
    a: np.ndarray
    n: int


@loops.loop
def add(pair):
    for i in range(pair.a.size):
        pair.a[i] += pair.n
    return pair.n


def test_what_is_held_is_the_same_array_for_loops_and_for_python():
    a = np.arange(3.0)
    held = loops.hold(Pair(a, 2))
    assert add(held) == 2
    np.testing.assert_array_equal(a, [2.0, 3.0, 4.0])
    a[0] = 7.0
    add(held)
    assert a[0] == 9.0
    kept = sys.getrefcount(a)
    del held
    assert sys.getrefcount(a) == kept - 1  # the array goes with the last who holds it

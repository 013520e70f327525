"""Compiled loops do what the same Python does, and say which line they cannot compile."""

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

from armature.errors import ArgumentError
from armature.kernel import activity
from armature.kernel.loop_library import Inner, Library, write_module
from armature.kernel.loop_types import Indices, Matrices, Matrix, Vector, hold

SCALE = 2.5
library = Library("the loops of the tests")


class Pair(NamedTuple):
    x: Vector
    at: Indices


class Data(NamedTuple):
    pairs: tuple[Pair, Pair]
    A: Matrix
    stack: Matrices
    count: int
    weight: float


@Inner
def dot(a: Vector, b: Vector) -> float:
    """Σ ab."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@Inner
def extremes(x: Vector) -> tuple[float, float]:
    """(least, largest)."""
    low = high = x[0]
    for value in x:
        low, high = min(low, value), max(high, value)
    return low, high


@library.loop
def everything(data: Data, on: bool, start: int, out: Vector) -> tuple[float, int, bool]:
    """Every statement and operation that loops may use."""
    A, total, count = data.A, 0.0, 0
    n, m = A.shape
    for x, at in data.pairs:  # written out
        for i in range(at.size - 1, -1, -1):
            if at[i] < 0 or x[at[i]] == 0.0:  # what follows is not looked at
                continue
            total += x[at[i]] ** 2 / (1.0 + abs(x[at[i]]))
            count += x[at[i]] > 0.5
    for k in range(data.stack.shape[0]):
        part = data.stack[k, 1]
        part[start:] = -SCALE
        total -= dot(data.stack[k, 0], part)
        data.stack[k, 2, :start] = data.weight
    for i in range(0, n, 2):
        for j in range(m):
            A[i, j], out[j] = out[j], A[i, j] if on and j != 1 else float_of(j, data.count)
    low, high = extremes(out[: m - 1])
    inside = not (low < -1e3) and -1e6 < high <= 1e6
    flat = A.flat
    flat[n * m - 1] = np.sqrt(abs(total)) + np.log(2.0 + high - low)
    for value in A.flat:
        total += value
    return (
        total,
        -count // 2 + m // 2,
        inside or np.isfinite(total),
    )  # pyright: ignore[reportReturnType]


@Inner
def float_of(j: int, count: int) -> float:
    """A number that depends on both."""
    if j < count:
        return 0.25 * j
    elif j == count:
        return -1.0
    return j / count


def example(seed):
    rng = np.random.default_rng(seed)
    pairs = tuple(Pair(rng.normal(size=5), rng.integers(-1, 5, size=7)) for _ in range(2))
    return Data(pairs, rng.normal(size=(5, 4)), rng.normal(size=(3, 3, 4)), 2, 0.75), np.arange(4.0)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_compiled_loops_give_the_numbers_of_python(seed, on):
    (mine, mine_out), (plain, plain_out) = example(seed), example(seed)
    found = everything(hold(mine), on, 2, mine_out)
    expected = everything.py_func(plain, on, 2, plain_out)
    np.testing.assert_allclose(found, [float(x) for x in expected], rtol=1e-12)
    for a, b in zip((mine_out, mine.A, mine.stack), (plain_out, plain.A, plain.stack)):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    again, again_out = example(seed)
    assert everything(again, on, 2, again_out) == found  # not held: laid out for this call


@library.loop
def largest(x: Vector, floor: float) -> float:
    """max as Python's, NaN included; division as NumPy's."""
    best = floor / x[0]
    for value in x:
        best = max(best, value)
    return best


@pytest.mark.parametrize(
    "x", [[0.0, 2.0], [1.0, np.nan, 3.0], [np.nan, 1.0], [2.0, np.inf], [-0.0, -1.0]]
)
def test_nan_and_infinity_keep_their_meaning(x):
    with np.errstate(all="ignore"):
        expected = largest.py_func(np.array(x), np.float64(1.0))
    np.testing.assert_equal(largest(np.array(x), 1.0), expected)


@library.loop
def divide(a: int, b: int) -> int:
    """Rounded down."""
    return a // b


@pytest.mark.parametrize("a", [-7, -6, 0, 6, 7])
@pytest.mark.parametrize("b", [-3, 2])
def test_whole_division_rounds_down(a, b):
    assert divide(a, b) == a // b


def test_arrays_of_another_kind_are_refused():
    for array in (
        np.zeros((2, 2)),
        np.zeros(4)[::2],
        np.zeros(2, dtype=np.float32),
        np.zeros(2, dtype=int),
    ):
        with pytest.raises(ArgumentError, match="C-contiguous array of rank 1"):
            largest(array, 1.0)
    with pytest.raises(ArgumentError, match=r"Pair"):
        everything(hold(Pair(np.zeros(1), np.zeros(1, dtype=np.int64))), True, 0, np.zeros(1))


def with_while(x: Vector) -> float:
    while x[0] > 0.0:
        x[0] -= 1.0
    return x[0]


def with_allocation(n: int) -> float:
    x = np.zeros(n)
    return x[0]


def with_a_float_for_an_integer(x: Vector) -> int:
    count = 0
    count = x[0]
    return count


def with_the_wrong_array(x: Matrix) -> float:
    return dot(x, x[0])


REFUSED = [with_while, with_allocation, with_a_float_for_an_integer, with_the_wrong_array]


@pytest.mark.parametrize("function", REFUSED)
def test_what_cannot_be_compiled_is_named_with_its_line(function):
    with pytest.raises(
        ArgumentError, match=rf"{function.__name__}, line \d: .* cannot be compiled"
    ):
        write_module([Library("one").loop(function).signature])


def test_an_argument_without_type_is_refused():
    def untyped(x) -> float:
        return x[0]

    with pytest.raises(ArgumentError, match="annotate x"):
        Library("one").loop(untyped)(np.ones(2))


def test_what_is_compiled_is_known_meanwhile():
    assert activity.compiled_now() is None
    with activity.compiling("a"), activity.compiling("b"):
        assert activity.compiled_now() == "b"
    assert activity.compiled_now() is None


def test_planning_does_not_load_numba_to_compile_the_solver():
    """The solver's loops are compiled by our own compiler: seconds, where Numba takes most of a
    minute."""
    code = "import sys, armature.optimize.solver.interior; print('numba' in sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert found.stdout.strip() == "False"

"""Arrays in and out: every length, shape, kind and layout gives the same numbers; what cannot be
meant is refused with its name."""

import threading
import tracemalloc

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armature.errors import ArgumentError, ArmatureError
from armature.kernel import compile

rng = np.random.default_rng(3)


@pytest.fixture(scope="module")
def kernel(empty_cache):
    """y = A x + b·s and |x|², A (2, 3), x (3,), b (2,), s scalar."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARMATURE_CACHE", str(empty_cache))
        return compile(
            lambda A, x, b, s: (A @ x + b * s, ca.dot(x, x)),
            {"A": (2, 3), "x": 3, "b": 2, "s": ()},
            ["y", "square"],
        )


def witness(A, x, b, s):
    A, x, b, s = (np.asarray(v, dtype=float) for v in (A, x, b, s))
    y = (A @ x[..., None])[..., 0] + b * s[..., None]
    return y, np.broadcast_to(np.sum(x * x, axis=-1), y.shape[:-1])


def inputs(*batch):
    return [rng.uniform(-1, 1, (*batch, *shape)) for shape in ((2, 3), (3,), (2,), ())]


def check(kernel, arrays):
    for y, z in zip(kernel(*arrays), witness(*arrays)):
        assert y.dtype == np.float64
        assert y.shape == z.shape
        np.testing.assert_allclose(y, z, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("count", [*range(35), 255, 256, 257, 1000])
def test_every_batch_length_is_computed_whole(kernel, count):
    check(kernel, inputs(count))


@pytest.mark.parametrize(
    "batch", [(), (1,), (1, 1), (2, 3), (4, 1, 5), (0, 3), (3, 0), (2, 2, 2, 2)]
)
def test_leading_axes_are_a_batch(kernel, batch):
    check(kernel, inputs(*batch))


@given(
    st.lists(st.lists(st.sampled_from([0, 1]), min_size=0, max_size=3), min_size=4, max_size=4),
    st.tuples(*[st.integers(0, 4)] * 3),
)
def test_leading_axes_broadcast(kernel, kept, lengths):
    # each input has some of the axes, the others are missing or of length 1
    batches = [tuple(n if keep else 1 for n, keep in zip(lengths[3 - len(k) :], k)) for k in kept]
    check(kernel, [inputs(*batch)[i] for i, batch in enumerate(batches)])


@pytest.mark.parametrize("kind", ["f4", "f2", "i8", "i4", "u1", "?", ">f8", ">i2", "g", "<f8"])
def test_other_kinds_of_numbers_are_converted(kernel, kind):
    check(kernel, [(10 * x).astype(kind) for x in inputs(9)])


def misaligned(x):
    raw = np.zeros(x.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(np.float64).reshape(x.shape)
    view[...] = x
    assert not view.flags.aligned
    return view


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


LAYOUTS = {
    "F order": np.asfortranarray,
    "reversed": lambda x: x[::-1].copy()[::-1],
    "reversed row": lambda x: x[..., ::-1].copy()[..., ::-1] if x.ndim > 1 else x,
    "every other": lambda x: np.repeat(x, 2, axis=0)[::2],
    "middle of a wider array": lambda x: np.pad(x, [(1, 1)] * x.ndim)[(slice(1, -1),) * x.ndim],
    "read-only": read_only,
    "misaligned": misaligned,
    "subclass": lambda x: x.view(np.ma.MaskedArray),
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch", [(), (1,), (11,)])
def test_every_layout_gives_the_same_numbers(kernel, layout, batch):
    arrays = inputs(*batch)
    with_axes = [LAYOUTS[layout](x) if x.ndim else x for x in arrays]
    for y, z in zip(kernel(*with_axes), kernel(*arrays)):
        np.testing.assert_array_equal(y, z)


def test_contiguous_float64_is_used_in_place(kernel):
    arrays = inputs(50_000)
    kernel(*arrays)
    tracemalloc.start()
    try:
        y, square = kernel(*arrays)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < y.nbytes + square.nbytes + 20_000


def test_arrays_reach_the_machine_code_at_their_own_addresses(kernel, monkeypatch):
    arrays, seen = inputs(7, 2), []
    monkeypatch.setattr(
        kernel, "run_rows", lambda addresses, strides, count: seen.extend(addresses)
    )
    results = kernel(*arrays)
    assert seen == [x.ctypes.data for x in (*arrays, *results)]


@pytest.mark.parametrize("batch", [(), (0,), (1,), (8,), (21,)])
def test_the_quick_way_is_taken_and_equals_the_general_one(kernel, batch):
    arrays = inputs(*batch)
    quick, general = kernel._quick(arrays), kernel._batch(arrays)
    assert quick is not None
    for y, z in zip(quick, general):
        np.testing.assert_array_equal(y, z)


def test_the_quick_way_declines_what_it_cannot_take(kernel):
    one, rows = inputs(), inputs(5)
    assert kernel._quick([*one[:3], 1.0]) is None
    assert kernel._quick([one[0], *rows[1:]]) is None
    assert kernel._quick([*rows[:3], rows[3][:4]]) is None
    assert kernel._quick([*rows[:3], rows[3].astype("f4")]) is None
    assert kernel._quick([np.asfortranarray(rows[0]), *rows[1:]]) is None
    assert kernel._one() is False
    assert kernel._rows(*rows) is False


def test_other_python_threads_run_during_a_batch():
    f = compile(
        lambda x: nested_sine(x, 40), {"x": 10}
    )  # some 30 ms below, with the lock held all the time no tick would fall into it
    x, ticks, done = rng.uniform(size=(100_000, 10)), [], threading.Event()

    def tick():
        while not done.wait(1e-3):
            ticks.append(0)

    thread = threading.Thread(target=tick)
    thread.start()
    y = np.empty_like(x)
    before = len(ticks)
    ran = f._rows(x, y)
    during = len(ticks) - before
    done.set()
    thread.join()
    assert ran
    assert during > 3
    np.testing.assert_allclose(y[:9], nested_sine(x[:9], 40), rtol=1e-13)


def nested_sine(x, depth):
    for _ in range(depth):
        x = np.sin(x) if isinstance(x, np.ndarray) else ca.sin(x)
    return x


def test_inputs_are_not_changed_and_results_are_new(kernel):
    for batch in ((), (5,)):
        arrays = inputs(*batch)
        copies = [x.copy() for x in arrays]
        first, second = kernel(*arrays), kernel(*arrays)
        assert not any(np.shares_memory(a, b) for a in first for b in (*second, *arrays))
        for x, copy in zip(arrays, copies):
            np.testing.assert_array_equal(x, copy)


BAD = {
    "too short": (1, np.zeros(2), "x has shape"),
    "transposed": (0, np.zeros((3, 2)), "A has shape"),
    "too few axes": (0, np.zeros(3), "A has shape"),
    "complex": (1, np.zeros(3, dtype=complex), "x must be an array of real numbers"),
    "strings": (1, ["1", "2", "3"], "x must be an array of real numbers"),
    "None": (1, None, "x must be an array of real numbers"),
    "None inside": (1, [1.0, None, 2.0], "x must be an array of real numbers"),
    "objects": (2, np.array([object(), object()]), "b must be an array of real numbers"),
    "ragged": (1, [[1.0, 2.0], [3.0]], "x must be an array of real numbers"),
    "dates": (1, np.zeros(3, dtype="M8[s]"), "x must be an array of real numbers"),
    "a dict": (3, {}, "s must be an array of real numbers"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_array_of_the_right_shape_is_refused_by_name(kernel, case):
    position, value, message = BAD[case]
    arrays = inputs()
    arrays[position] = value
    with pytest.raises(ArgumentError, match=message):
        kernel(*arrays)


def test_batches_that_do_not_match_are_refused_by_name(kernel):
    arrays = inputs(4)
    arrays[1] = inputs(5)[1]
    with pytest.raises(ArgumentError, match=r"do not broadcast: A \(4, 2, 3\), x \(5, 3\)"):
        kernel(*arrays)


@pytest.mark.parametrize("count", [0, 3, 5])
def test_a_wrong_number_of_arrays_is_refused(kernel, count):
    with pytest.raises(ArgumentError, match=r"takes 4 arrays \(A, x, b, s\)"):
        kernel(*(inputs() + [np.zeros(1)])[:count])


def test_odd_objects_in_place_of_one_state_are_refused_or_converted_never_read_as_arrays(kernel):
    arrays = inputs()
    for odd in (
        1,
        1.5,
        "x",
        b"x",
        (),
        [],
        object(),
        int,
        np.float64,
        np.dtype(float),
        Ellipsis,
        lambda: 0,
        np.ma.masked,
    ):
        for i in range(4):
            try:
                kernel(*arrays[:i], odd, *arrays[i + 1 :])
            except ArmatureError:
                continue
            assert i == 3  # only the scalar takes a bare number, or an empty batch of them
            assert isinstance(odd, (int, float, tuple, list)) or odd is np.ma.masked


# shapes at the edges -----------------------------------------------------------------------------


def test_empty_inputs_and_outputs():
    f = compile(lambda x, e: (2 * x, e), {"x": 2, "e": 0}, ["y", "nothing"])
    y, nothing = f(np.ones((3, 2)), np.ones((3, 0)))
    assert nothing.shape == (3, 0)
    np.testing.assert_array_equal(y, 2 * np.ones((3, 2)))
    assert f(np.ones(2), np.ones(0))[1].shape == (0,)


def test_constants_only():
    f = compile(lambda x: ca.SX([1.5, -2.0]), {"x": 3})
    np.testing.assert_array_equal(f(np.zeros((2, 3))), [[1.5, -2.0]] * 2)


def test_no_inputs():
    f = compile(lambda: np.array([[1.0, 2.0]]), {})
    np.testing.assert_array_equal(f(), [[1.0, 2.0]])


def test_outputs_that_are_inputs_and_the_same_output_twice():
    f = compile(lambda x, y: (x, y, x * y, x * y, y), {"x": 2, "y": 2})
    x, y = rng.uniform(size=(2, 13, 2))
    for a, b in zip(f(x, y), (x, y, x * y, x * y, y)):
        np.testing.assert_array_equal(a, b)


def test_structural_zeros_of_a_sparse_result_are_zeros():
    f = compile(lambda x: ca.diag(x), {"x": 3})
    np.testing.assert_array_equal(f(np.array([1.0, 2.0, 3.0])), np.diag([1.0, 2.0, 3.0]))


def test_an_input_that_is_not_used_still_sets_the_batch():
    f = compile(lambda x, unused: x + 1, {"x": 2, "unused": 5})
    assert f(np.zeros(2), np.zeros((4, 5))).shape == (4, 2)


@pytest.mark.parametrize("size", [*range(1, 19), 31, 33, 40, 100])
def test_every_width_of_a_row_is_moved_whole(size):
    # 4, 2 and 1 columns at once, written out or in a loop
    f = compile(lambda x: (np.concatenate([x[1:], -x[:1]]), x[0]), {"x": size}, symbols="numpy")
    x = rng.uniform(size=(11, size))
    rolled, first = f(x)
    np.testing.assert_array_equal(rolled, np.concatenate([x[:, 1:], -x[:, :1]], axis=1))
    np.testing.assert_array_equal(first, x[:, 0])


def test_nothing_is_written_beside_the_results():
    f = compile(lambda x: 2 * x, {"x": 3})
    memory = np.full((20, 3), -1.0)
    x = rng.uniform(size=(13, 3))
    f.run_rows([x.ctypes.data, memory[4:].ctypes.data], [3, 3], 13)
    np.testing.assert_array_equal(memory[4:17], 2 * x)
    assert (memory[:4] == -1).all()
    assert (memory[17:] == -1).all()


def test_rows_may_be_computed_in_place_and_apart():
    f = compile(lambda x: ca.vertcat(x[1], -x[0]), {"x": 2})
    x = rng.uniform(size=(21, 5))
    expected = np.stack([x[:, 1], -x[:, 0]], axis=1)
    f.run_rows([x.ctypes.data, x.ctypes.data], [5, 5], 21)
    np.testing.assert_array_equal(x[:, :2], expected)


def test_matrices_keep_their_order_for_numpy_and_casadi_symbols():
    A = rng.uniform(size=(4, 2, 3))
    for symbols in ("numpy", "casadi"):
        f = compile(lambda A: A.T, {"A": (2, 3)}, symbols=symbols)
        np.testing.assert_array_equal(f(A), A.transpose(0, 2, 1))


def test_arrays_of_three_axes_need_numpy_symbols():
    f = compile(lambda A: A.sum(axis=1), {"A": (2, 3, 2)}, symbols="numpy")
    A = rng.uniform(size=(2, 3, 2))
    np.testing.assert_allclose(f(A), A.sum(axis=1), rtol=1e-15)
    with pytest.raises(ArgumentError, match="symbols='numpy'"):
        compile(lambda A: A, {"A": (2, 3, 2)})

"""Any expression compiled = CasADi's own evaluation, for every vector width, cut into blocks or
not, on one thread or several."""

import threading

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armature.errors import ArgumentError
from armature.kernel import Kernel, compile, kernel, lower, machine_code, set_threads, shell, trace
from armature.kernel.trace import Expression, from_casadi


def build(expression: Expression, width: int) -> Kernel:
    """A kernel for vectors of `width` doubles, whatever this CPU would choose."""
    loaded = machine_code.load_object(machine_code.assemble(lower.lower(expression, width)))
    return Kernel(
        expression.name,
        expression.inputs,
        expression.outputs,
        expression.operations,
        loaded.address,
        loaded,
        loaded.entries,
    )


def by_casadi(expression: Expression, *rows: np.ndarray) -> list[np.ndarray]:
    """The outputs row by row from CasADi's virtual machine."""
    results = [
        expression.function.call([ca.DM(x[i].ravel()) for x in rows]) for i in range(len(rows[0]))
    ]
    return [
        np.array([np.asarray(r[k]).reshape(a.shape) for r in results])
        for k, a in enumerate(expression.outputs)
    ]


# random expressions ------------------------------------------------------------------------------

BINARY = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a / (2 + b * b),
    ca.fmin,
    ca.fmax,
    ca.atan2,
    ca.hypot,
)
BINARY += (
    lambda a, b: ca.if_else(a < b, a * b, b),
    lambda a, b: ca.if_else(ca.logic_or(a > 1, ca.logic_not(b <= 0)), a, -b),
    ca.copysign,
)
UNARY = (
    ca.sin,
    ca.cos,
    ca.tanh,
    ca.atan,
    ca.fabs,
    ca.sign,
    ca.floor,
    lambda a: -a,
    lambda a: a * a,
    lambda a: 2 * a,
    lambda a: a / 3,
)
UNARY += (
    lambda a: ca.sqrt(1 + a * a),
    lambda a: ca.log(1 + a * a),
    lambda a: ca.exp(-a * a),
    lambda a: 1 / (1 + a * a),
)
UNARY += (lambda a: ca.tan(ca.sin(a)), lambda a: ca.asin(ca.tanh(a)), lambda a: (2 + a * a) ** 1.7)
# of a jump's argument two roundings may fall on its two sides: such steps are taken of inputs only
JUMPS = (ca.sign, ca.floor)


@st.composite
def random_expression(draw) -> Expression:
    x = ca.SX.sym("x", 4)
    values = [x[i] for i in range(4)] + [ca.SX(draw(st.floats(-3, 3)))]
    for _ in range(draw(st.integers(1, 60))):
        pick = lambda: values[draw(st.integers(0, len(values) - 1))]
        if draw(st.booleans()):
            values.append(draw(st.sampled_from(BINARY[:4] + BINARY[6:8]))(pick(), pick()))
        else:
            f = draw(st.sampled_from(UNARY))
            values.append(f(x[draw(st.integers(0, 3))] if f in JUMPS else pick()))
        values.append(
            draw(st.sampled_from(BINARY))(x[draw(st.integers(0, 3))], x[draw(st.integers(0, 3))])
        )
    outputs = [
        values[-1 - draw(st.integers(0, len(values) - 1))] for _ in range(draw(st.integers(1, 6)))
    ]
    return from_casadi(
        ca.Function("random", [x], [ca.vertcat(*outputs), values[-1]], ["x"], ["many", "one"])
    )


@settings(max_examples=60)
@given(
    random_expression(), st.sampled_from([2, 4, 8]), st.integers(1, 20), st.integers(0, 2**32 - 1)
)
def test_a_random_expression_equals_casadi(expression, width, count, seed):
    # keep the products bounded: values beyond 1e6 would only test how rounding errors grow
    x = np.random.default_rng(seed).uniform(-1, 1, (count, 4))
    expected = by_casadi(expression, x)
    if max(np.abs(y).max() for y in expected) > 1e6:
        return
    for y, z in zip(build(expression, width)(x), expected):
        np.testing.assert_allclose(y, z, rtol=1e-11, atol=1e-11)


# a real one --------------------------------------------------------------------------------------


def turn(i: int, q: ca.SX) -> ca.SX:
    """Rotation about an axis that changes from joint to joint."""
    c, s = ca.cos(q), ca.sin(q)
    about_z = ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))
    return (about_z, about_z[[2, 0, 1], [2, 0, 1]], about_z[[1, 2, 0], [1, 2, 0]])[i % 3]


def chain(joints: int, order: int = 0) -> Expression:
    """The tip of a chain of turning links; order 1 with its Jacobian, 2 with the Hessian of its
    squared distance."""
    q, lengths = ca.SX.sym("q", joints), np.linspace(0.3, 0.7, joints)
    tip = ca.SX.zeros(3)
    for i in reversed(range(joints)):
        tip = turn(i, q[i]) @ (tip + ca.DM([lengths[i], 0.1 * lengths[i], -0.2]))
    outputs = [tip, ca.jacobian(tip, q), ca.hessian(ca.sumsqr(tip) + tip[0] ** 3, q)[0]][
        : order + 1
    ]
    return from_casadi(
        ca.Function("chain", [q], outputs, ["q"], ["tip", "jacobian", "hessian"][: order + 1])
    )


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("block", [7, 100, 100_000])
def test_blocks_and_widths_give_the_same_answers(width, block, monkeypatch):
    monkeypatch.setattr(lower, "BLOCK", block)
    expression = chain(5, 2)
    q = np.random.default_rng(0).uniform(-3, 3, (13, 5))
    for y, z in zip(build(expression, width)(q), by_casadi(expression, q)):
        np.testing.assert_allclose(y, z, rtol=1e-13, atol=1e-14)


def test_widths_agree_to_rounding_and_rows_do_not_depend_on_their_neighbours():
    expression = chain(6, 1)
    q = np.random.default_rng(1).uniform(-3, 3, (29, 6))
    wide = build(expression, 8)(q)
    for width in (2, 4):
        for y, z in zip(build(expression, width)(q), wide):
            np.testing.assert_allclose(y, z, rtol=1e-15, atol=1e-15)
    kernel8 = build(expression, 8)
    for i in range(29):
        for y, z in zip(kernel8(q[i]), wide):
            np.testing.assert_array_equal(y, z[i])


def test_values_too_many_for_the_stack_go_to_the_heap(monkeypatch):
    expression = chain(6, 2)
    q = np.random.default_rng(2).uniform(-3, 3, (17, 6))
    on_stack = build(expression, 8)(q)
    monkeypatch.setattr(shell, "STACK", 64)
    text = lower.lower(expression, 8)
    assert "call ptr @malloc" in text
    assert "call void @free" in text
    for y, z in zip(build(expression, 8)(q), on_stack):
        np.testing.assert_array_equal(y, z)


def test_a_wide_kernel_runs_on_a_thread_with_a_small_stack():
    # 6,000 inputs and outputs of 64 bytes each: 768 KB of vectors, on a stack of 512 KB
    f = build(trace(lambda x: 2 * x, {"x": 6000}), 8)
    x, result = np.random.default_rng(3).uniform(size=(9, 6000)), []
    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=lambda: result.append(f(x)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    np.testing.assert_array_equal(result[0], 2 * x)


def test_threads_give_bit_for_bit_the_results_of_one(monkeypatch):
    f = build(chain(6, 1), machine_code.vector_width())
    q = np.random.default_rng(4).uniform(-3, 3, (5003, 6))
    set_threads(1)
    try:
        alone = f(q)
        monkeypatch.setattr(kernel, "THREAD_WORK", 1000)
        for count in (2, 3, 7):
            set_threads(count)
            for y, z in zip(f(q), alone):
                np.testing.assert_array_equal(y, z)
    finally:
        set_threads(None)


def test_one_kernel_serves_several_python_threads_at_once(monkeypatch):
    f = build(chain(6, 1), machine_code.vector_width())
    monkeypatch.setattr(kernel, "THREAD_WORK", 1000)
    batches = np.random.default_rng(5).uniform(-3, 3, (8, 501, 6))
    expected, wrong = [f(q)[1] for q in batches], []

    def work(i: int) -> None:
        for k in range(20):
            if not np.array_equal(f(batches[i])[1], expected[i]) or not np.array_equal(
                f(batches[i, k])[1], expected[i][k]
            ):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_threads_must_be_positive_and_can_be_set_by_the_environment(monkeypatch):
    with pytest.raises(ArgumentError, match="at least 1"):
        set_threads(0)
    monkeypatch.setenv("ARMATURE_THREADS", "3")
    assert kernel.thread_count() == 3
    monkeypatch.setenv("ARMATURE_THREADS", "many")
    assert kernel.thread_count() >= 1


# operations --------------------------------------------------------------------------------------


def scalar_operations() -> dict[str, tuple[int, ca.Function]]:
    """Every operation that CasADi's scalar machine knows, as a function of two numbers."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    found = {}
    for name in dir(ca):
        code = getattr(ca, name)
        if name.startswith("OP_"):
            try:
                value = ca.SX.binary(code, x, y) if _is_binary(code) else ca.SX.unary(code, x)
                f = ca.Function("f", [x, y], [value])
            except (RuntimeError, NotImplementedError):
                continue
            if any(f.instruction_id(k) == code for k in range(f.n_instructions())):
                found[name] = code, f
    return found


def _is_binary(code: int) -> bool:
    named = {
        "ADD",
        "SUB",
        "MUL",
        "DIV",
        "POW",
        "CONSTPOW",
        "LT",
        "LE",
        "EQ",
        "NE",
        "AND",
        "OR",
        "FMOD",
        "COPYSIGN",
        "IF_ELSE_ZERO",
        "FMIN",
    }
    named |= {"FMAX", "ATAN2", "HYPOT", "REMAINDER", "LIFT", "PRINTME"}
    return code in {getattr(ca, f"OP_{name}") for name in named}


@pytest.mark.parametrize("name", scalar_operations())
def test_every_scalar_operation_is_compiled_or_refused_by_name(name):
    _, f = scalar_operations()[name]
    if name in ("OP_ERFINV", "OP_PRINTME"):
        with pytest.raises(ArgumentError, match=name):
            compile(f)
        return
    x = np.array([0.3, 0.7, -0.4, 0.9, 1.6])
    y = np.array([0.5, -0.7, 2.0, 0.1, 1.1])
    expected = [float(f(a, b)) for a, b in zip(x, y)]
    np.testing.assert_allclose(compile(f)(x, y), expected, rtol=4e-15)


def test_the_list_of_scalar_operations_is_not_empty():
    assert {
        "OP_ADD",
        "OP_SIN",
        "OP_ATAN2",
        "OP_IF_ELSE_ZERO",
        "OP_ERFINV",
        "OP_LOG1P",
        "OP_HYPOT",
    } <= scalar_operations().keys()


def test_a_function_that_is_no_expression_is_refused_with_the_reason():
    x, A = ca.MX.sym("x"), ca.MX.sym("A", 2, 2)
    with pytest.raises(ArgumentError, match="OP_CALL"):
        compile(ca.rootfinder("solver", "newton", {"x": x, "g": ca.sin(x) - 0.5}))
    with pytest.raises(ArgumentError, match="linear cannot be written as scalar operations"):
        compile(ca.Function("linear", [A, x], [ca.solve(A, ca.vertcat(x, x))]))


def test_an_mx_function_of_expressions_is_expanded():
    A, x = ca.MX.sym("A", 2, 3), ca.MX.sym("x", 3)
    f = compile(ca.Function("f", [A, x], [A @ x, A.T], ["A", "x"], ["y", "transposed"]))
    matrix, vector = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 4.0])
    y, transposed = f(matrix, vector)
    np.testing.assert_array_equal(y, matrix @ vector)
    np.testing.assert_array_equal(transposed, matrix.T)


BAD = {
    "neither function": (lambda: compile(3), "casadi.Function or a Python function"),  # type: ignore[arg-type]
    "no inputs": (lambda: compile(lambda x: x), "give the name and shape"),
    "negative shape": (lambda: compile(lambda x: x, {"x": -1}), "shape of input 'x'"),
    "names": (lambda: compile(lambda x: x, {"x": 1}, ["a", "b"]), "2 output names"),
    "string": (lambda: compile(lambda x: "a", {"x": 1}), "neither a number nor a symbol"),
    "MX": (lambda: compile(lambda x: ca.MX.sym("y"), {"x": 1}), "MX expression"),
    "free symbol": (lambda: compile(lambda x: x + ca.SX.sym("stray"), {"x": 1}), "stray"),
    "symbols": (lambda: compile(lambda x: x, {"x": 1}, symbols="sympy"), "'numpy' or 'casadi'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_traced_is_refused_with_the_reason(case):
    make, message = BAD[case]
    with pytest.raises(ArgumentError, match=message):
        make()


def test_results_may_be_named_by_a_dict():
    f = compile(lambda x: {"twice": 2 * x, "square": x * x}, {"x": 2})
    assert [a.name for a in f.outputs] == ["twice", "square"]
    assert "x[2] -> twice[2], square[2]" in repr(f)

"""The quick ways from Python to a kernel: built-in functions in machine code that check their
arrays and run the kernel on them.

NumPy's own attributes take longer to ask (data pointer, shape, kind, flags: 1.5 µs an array) than a
robot's dynamics to compute. The functions read them where CPython and NumPy keep them.
`layout_known` tries that on an array first; where it fails, or for arrays of any other kind, the
caller takes the general way."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

import numpy as np

from armature.kernel.ir import Writer, function
from armature.kernel.trace import Expression

HEAD = (
    object.__basicsize__
)  # bytes of a Python object before its own fields; the last of them point to its type
# PyArrayObject after the head: data (pointer), nd (int), dimensions, strides, base, descr
# (pointers), flags (int)
DATA, ND, DIMENSIONS, DESCR, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48
USABLE = 0x0101  # C-contiguous and aligned
FASTCALL = 0x0080  # METH_FASTCALL: PyObject* f(PyObject* self, PyObject** args, Py_ssize_t count)


def entries(expression: Expression) -> str:
    """LLVM assembly of @one, for one state, and @rows, for a batch along one leading axis that all
    inputs have."""
    return _entry(expression, "one", 0) + _entry(expression, "rows", 1)


def _entry(expression: Expression, name: str, leading: int) -> str:
    """`PyObject* name(PyObject* self, PyObject** args, Py_ssize_t number)`; args: input arrays,
    then output arrays.

    It answers True when every input is a float64 array of exactly its shape after `leading` common
    axes, and then has run the kernel;
    else False. self: an int64 array with the addresses listed in `_facts`.
    """
    w = Writer(1)
    arguments = (*expression.inputs, *expression.outputs)
    inputs, n = expression.inputs, len(arguments)
    facts = _load(w, "ptr", "%self", DATA)
    array_type, float64, answer, unlock, lock = (_load(w, "ptr", facts, 8 * i) for i in range(5))
    _require(w, "objects", [w.emit(f"icmp eq i64 %number, {n}")])
    # nothing of an object is read before it is known to be an array, nothing of its shape before it
    # is known how long that is
    objects = [_load(w, "ptr", "%args", 8 * i) for i in range(n)]
    _require(
        w,
        "arrays",
        [w.emit(f"icmp eq ptr {_load(w, 'ptr', x, HEAD - 8)}, {array_type}") for x in objects],
    )
    same = []
    for x, a in zip(objects, inputs):
        usable = w.emit(f"and i32 {_load(w, 'i32', x, FLAGS)}, {USABLE}")
        same.append(w.emit(f"icmp eq i32 {usable}, {USABLE}"))
        same.append(w.emit(f"icmp eq i32 {_load(w, 'i32', x, ND)}, {len(a.shape) + leading}"))
        same.append(w.emit(f"icmp eq ptr {_load(w, 'ptr', x, DESCR)}, {float64}"))
    _require(w, "shapes", same)
    dimensions = [_load(w, "ptr", x, DIMENSIONS) for x, _ in zip(objects, inputs)]
    lengths = [
        [_load(w, "i64", d, 8 * i) for i in range(len(a.shape) + leading)]
        for d, a in zip(dimensions, inputs)
    ]
    count = lengths[0][0] if leading and inputs else "1"
    wanted = [[*[count] * leading, *a.shape] for a in inputs]
    _require(
        w,
        "run",
        [w.emit(f"icmp eq i64 {x}, {y}") for row in zip(lengths, wanted) for x, y in zip(*row)],
    )
    w.do(f"%table = alloca [{n + 1} x ptr]")
    w.do(f"%strides = alloca [{n + 1} x i64]")
    for i, (x, a) in enumerate(zip(objects, arguments)):
        w.do(f"store ptr {_load(w, 'ptr', x, DATA)}, ptr {_at(w, '%table', 8 * i)}")
        w.do(f"store i64 {a.size}, ptr {_at(w, '%strides', 8 * i)}")
    # other Python threads may run during a batch
    state = w.emit(f"call ptr {unlock}()") if leading else ""
    w.do(f"call void @kernel(ptr %table, ptr %strides, i64 {count})")
    if leading:
        w.do(f"call void {lock}(ptr {state})")
    w.do(f"ret ptr {w.emit(f'call ptr {answer}(i64 1)')}")
    w.label("other")
    w.do(f"ret ptr {w.emit(f'call ptr {answer}(i64 0)')}")
    return function(f"ptr @{name}(ptr %self, ptr %args, i64 %number)", w)


def _at(w: Writer, pointer: str, offset: int) -> str:
    return w.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}")


def _load(w: Writer, kind: str, pointer: str, offset: int) -> str:
    return w.emit(f"load {kind}, ptr {_at(w, pointer, offset)}")


def _require(w: Writer, label: str, conditions: list[str]) -> None:
    """Go on at `label` when all conditions hold, else at %other."""
    all_of = "true"
    for c in conditions:
        all_of = w.emit(f"and i1 {all_of}, {c}")
    w.do(f"br i1 {all_of}, label %{label}, label %other")
    w.label(label)


class _Definition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@functools.cache
def layout_known() -> bool:
    """Do arrays lie in memory as the functions read them? Tried on one whose every field is
    distinct."""
    x = np.empty((3, 5))[1:, :]
    if (
        type(x).__basicsize__ < HEAD + 52
        or ctypes.sizeof(ctypes.c_void_p) != 8
        or not hasattr(ctypes, "pythonapi")
    ):
        return False
    word = lambda offset: ctypes.c_int64.from_address(id(x) + offset).value
    short = lambda offset: ctypes.c_int32.from_address(id(x) + offset).value
    found = (word(HEAD - 8), word(DATA), short(ND), word(DESCR), short(FLAGS))
    if found != (id(np.ndarray), x.ctypes.data, 2, id(np.dtype(np.float64)), x.flags.num):
        return False
    return [ctypes.c_int64.from_address(word(DIMENSIONS) + 8 * i).value for i in (0, 1)] == [2, 5]


@functools.cache
def _facts() -> np.ndarray:
    """What the functions expect as self: addresses of NumPy's array type, of float64's descriptor,
    and of three functions of CPython."""
    names = ("PyBool_FromLong", "PyEval_SaveThread", "PyEval_RestoreThread")
    functions = [
        ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0 for name in names
    ]
    return np.array([id(np.ndarray), id(np.dtype(np.float64)), *functions], dtype=np.int64)


def builtin(address: int, name: str) -> tuple[Callable[..., bool], object]:
    """(the function at this address as a Python built-in, what must be kept as long as it)."""
    definition = _Definition(name.encode(), address, FASTCALL, None)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    return make(ctypes.addressof(definition), _facts(), None), definition


def _read_address(array: np.ndarray) -> int:
    return _INT64_AT(id(array) + DATA).value


def _ask_address(array: np.ndarray) -> int:
    return array.ctypes.data


_INT64_AT = ctypes.c_int64.from_address
data_address = _read_address if layout_known() else _ask_address  # of an array's numbers

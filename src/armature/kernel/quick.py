"""One state, straight from Python: a built-in function in machine code that checks its arrays and runs the kernel on them.

NumPy's own attributes take longer to ask (data pointer, shape, kind, flags: 1.5 µs an array) than a robot's dynamics to compute.
The function reads them where CPython and NumPy keep them. `layout_known` tries that on an array first; where it fails, or for arrays
of any other kind, the caller takes the general way.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

import numpy as np

from armature.kernel.ir import Writer, function
from armature.kernel.trace import Expression

HEAD = object.__basicsize__  # bytes of a Python object before its own fields; the last of them point to its type
# PyArrayObject after the head: data (pointer), nd (int), dimensions, strides, base, descr (pointers), flags (int)
DATA, ND, DIMENSIONS, DESCR, FLAGS = HEAD, HEAD + 8, HEAD + 16, HEAD + 40, HEAD + 48
USABLE = 0x0101  # C-contiguous and aligned
FASTCALL = 0x0080  # METH_FASTCALL: PyObject* f(PyObject* self, PyObject** args, Py_ssize_t count)


def entry(expression: Expression) -> str:
    """LLVM assembly of `PyObject* one(PyObject* self, PyObject** args, Py_ssize_t count)`; args: input arrays, then output arrays.

    It answers True when every input is a float64 array of exactly its shape, and then has run the kernel on one row; else False.
    self: an int64 array with the addresses of the array type, of float64's descriptor, and of PyBool_FromLong.
    """
    w = Writer(1)
    inputs = expression.inputs
    n = len(inputs) + len(expression.outputs)
    facts = _load(w, "ptr", "%self", DATA)
    array_type, float64, answer = (_load(w, "ptr", facts, 8 * i) for i in range(3))
    w.do(f"%complete = icmp eq i64 %count, {n}")
    w.do("br i1 %complete, label %objects, label %other")
    # nothing of an object is read before it is known to be an array, nothing of its shape before it is known how long that is
    w.label("objects")
    objects = [_load(w, "ptr", "%args", 8 * i) for i in range(n)]
    _require(w, "arrays", [w.emit(f"icmp eq ptr {_load(w, 'ptr', x, HEAD - 8)}, {array_type}") for x in objects])
    same = []
    for x, a in zip(objects, inputs):
        usable = w.emit(f"and i32 {_load(w, 'i32', x, FLAGS)}, {USABLE}")
        same.append(w.emit(f"icmp eq i32 {usable}, {USABLE}"))
        same.append(w.emit(f"icmp eq i32 {_load(w, 'i32', x, ND)}, {len(a.shape)}"))
        same.append(w.emit(f"icmp eq ptr {_load(w, 'ptr', x, DESCR)}, {float64}"))
    _require(w, "shapes", same)
    same = []
    for x, a in zip(objects, inputs):
        dimensions = _load(w, "ptr", x, DIMENSIONS) if a.shape else ""
        same += [w.emit(f"icmp eq i64 {_load(w, 'i64', dimensions, 8 * i)}, {length}") for i, length in enumerate(a.shape)]
    _require(w, "run", same)
    w.do(f"%table = alloca [{n + 1} x ptr]")
    w.do(f"%strides = alloca [{n + 1} x i64]")
    for i, x in enumerate(objects):
        w.do(f"store ptr {_load(w, 'ptr', x, DATA)}, ptr {_at(w, '%table', 8 * i)}")
        w.do(f"store i64 0, ptr {_at(w, '%strides', 8 * i)}")
    w.do("call void @kernel(ptr %table, ptr %strides, i64 1)")
    w.do(f"ret ptr {w.emit(f'call ptr {answer}(i64 1)')}")
    w.label("other")
    w.do(f"ret ptr {w.emit(f'call ptr {answer}(i64 0)')}")
    return function("ptr @one(ptr %self, ptr %args, i64 %count)", w)


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

    _fields_ = (("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


@functools.cache
def layout_known() -> bool:
    """Do arrays lie in memory as `entry` reads them? Tried on one whose every field is distinct."""
    x = np.empty((3, 5))[1:, :]
    if type(x).__basicsize__ < HEAD + 52 or ctypes.sizeof(ctypes.c_void_p) != 8 or not hasattr(ctypes, "pythonapi"):
        return False
    word = lambda offset: ctypes.c_int64.from_address(id(x) + offset).value
    short = lambda offset: ctypes.c_int32.from_address(id(x) + offset).value
    found = (word(HEAD - 8), word(DATA), short(ND), word(DESCR), short(FLAGS))
    if found != (id(np.ndarray), x.ctypes.data, 2, id(np.dtype(np.float64)), x.flags.num):
        return False
    return [ctypes.c_int64.from_address(word(DIMENSIONS) + 8 * i).value for i in (0, 1)] == [2, 5]


@functools.cache
def _facts() -> np.ndarray:
    """What `entry` expects as self."""
    answer = ctypes.cast(ctypes.pythonapi.PyBool_FromLong, ctypes.c_void_p).value or 0
    return np.array([id(np.ndarray), id(np.dtype(np.float64)), answer], dtype=np.int64)


def builtin(address: int, name: str) -> tuple[Callable[..., bool], object] | None:
    """(the function at this address as a Python built-in, what must be kept as long as it); None where arrays lie otherwise."""
    if not layout_known():
        return None
    definition = _Definition(name.encode(), address, FASTCALL, None)
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(("PyCFunction_NewEx", ctypes.pythonapi))
    return make(ctypes.addressof(definition), _facts(), None), definition


def _read_address(array: np.ndarray) -> int:
    return _INT64_AT(id(array) + DATA).value


def _ask_address(array: np.ndarray) -> int:
    return array.ctypes.data


_INT64_AT = ctypes.c_int64.from_address
data_address = _read_address if layout_known() else _ask_address  # of an array's numbers

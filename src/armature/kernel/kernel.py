"""The callable: NumPy batches in and out, threads over large ones, and the address for compiled loops."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import casadi as ca
import numpy as np

from armature.errors import ArgumentError
from armature.kernel import machine_code
from armature.kernel.lower import lower
from armature.kernel.trace import Argument, Expression, Shape, from_casadi, trace

C_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
THREAD_WORK = 4_000_000  # operations × rows below which a second thread costs more than it brings


class Kernel:
    """A compiled function on batches.

    Call it with one array for each input, of shape (..., *input.shape); leading axes broadcast. It returns one array, or a tuple
    of arrays when there are several outputs, of shape (..., *output.shape), float64. C-contiguous float64 input is used in place.

    address: of the machine code `void f(double** args, int64_t* strides, int64_t count)`, for compiled loops (`armature.kernel.call`).
    operations: how many there are for one row.
    """

    def __init__(self, name: str, inputs: Sequence[Argument], outputs: Sequence[Argument], operations: int, address: int, keep: object):
        self.name = name
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.operations = operations
        self.address = address
        self._keep = keep
        self._run = C_SIGNATURE(address)
        self._shapes_in = [a.shape for a in self.inputs]
        self._shapes_out = [a.shape for a in self.outputs]
        self._sizes = [a.size for a in (*self.inputs, *self.outputs)]
        self._one_row = np.zeros(len(self._sizes), dtype=np.int64)

    def __repr__(self) -> str:
        arguments = ", ".join(f"{a.name}{list(a.shape)}" for a in self.inputs)
        results = ", ".join(f"{a.name}{list(a.shape)}" for a in self.outputs)
        return f"<kernel {self.name}: {arguments} -> {results}; {self.operations} operations>"

    def __call__(self, *arrays: Any) -> Any:
        if len(arrays) != len(self.inputs):
            raise ArgumentError(f"{self.name} takes {len(self.inputs)} arrays ({', '.join(a.name for a in self.inputs)}), got {len(arrays)}")
        results = self._one(arrays)
        if results is None:
            results = self._batch(arrays)
        return results[0] if len(results) == 1 else tuple(results)

    def _one(self, arrays: Sequence[Any]) -> list[np.ndarray] | None:
        """One state in arrays of exactly the right kind: the quick way. None when it does not apply."""
        for x, shape in zip(arrays, self._shapes_in):
            if type(x) is not np.ndarray or x.shape != shape or x.dtype is not FLOAT64 or not x.flags.c_contiguous:
                return None
        results = [np.empty(shape) for shape in self._shapes_out]
        table = np.array([x.ctypes.data for x in (*arrays, *results)])
        self._run(table.ctypes.data, self._one_row.ctypes.data, 1)
        return results

    def _batch(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        """Any arrays: convert, broadcast the leading axes, run."""
        converted = [self._convert(x, a) for x, a in zip(arrays, self.inputs)]
        leading = [x.shape[: x.ndim - len(a.shape)] for x, a in zip(converted, self.inputs)]
        try:
            batch = np.broadcast_shapes(*leading)
        except ValueError:
            shapes = ", ".join(f"{a.name} {x.shape}" for x, a in zip(converted, self.inputs))
            raise ArgumentError(f"{self.name}: the leading axes do not broadcast: {shapes}") from None
        rows, strides = [], []
        for x, lead, a in zip(converted, leading, self.inputs):
            if lead != batch and any(n != 1 for n in lead):  # a partial broadcast needs its rows laid out
                x = np.ascontiguousarray(np.broadcast_to(x, batch + a.shape))
                lead = batch
            rows.append(x)
            strides.append(a.size if lead == batch else 0)
        results = [np.empty(batch + a.shape) for a in self.outputs]
        strides += [a.size for a in self.outputs]
        count = int(np.prod(batch, dtype=np.int64))
        if count:
            self.run_rows([x.ctypes.data for x in (*rows, *results)], strides, count)
        return results

    def _convert(self, x: Any, argument: Argument) -> np.ndarray:
        """Any array-like as C-contiguous float64 with the right trailing axes."""
        try:
            array = np.ascontiguousarray(x, dtype=np.float64) if np.ndim(x) else np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise ArgumentError(f"{self.name}: {argument.name} must be an array of real numbers, got {_describe(x)}") from None
        if array.ndim < len(argument.shape) or array.shape[array.ndim - len(argument.shape) :] != argument.shape:
            wanted = ", ".join(["...", *map(str, argument.shape)])
            raise ArgumentError(f"{self.name}: {argument.name} has shape {array.shape}; expected ({wanted})")
        return array

    def run_rows(self, addresses: Sequence[int], strides: Sequence[int], count: int) -> None:
        """Run over `count` rows at these addresses (inputs, then outputs), strides in doubles; several threads when it pays."""
        steps = np.array(strides, dtype=np.int64)
        table = np.array(addresses, dtype=np.int64)
        threads = min(thread_count(), count * max(self.operations, 1) // THREAD_WORK)
        if threads < 2:
            self._run(table.ctypes.data, steps.ctypes.data, count)
            return
        width = machine_code.vector_width()
        share = -(-count // (threads * width)) * width
        starts = range(0, count, share)
        tables = [table + 8 * start * steps for start in starts]
        jobs = [
            _pool(threads).submit(self._run, t.ctypes.data, steps.ctypes.data, min(share, count - start)) for t, start in zip(tables, starts)
        ]
        wait(jobs)


FLOAT64 = np.dtype(np.float64)


def _describe(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 60 else f"{type(x).__name__} {text[:57]}..."


# threads -----------------------------------------------------------------------------------------------------------------

_threads: int | None = None


def set_threads(count: int | None) -> None:
    """Threads used over large batches; None for all cores (or ARMATURE_THREADS)."""
    global _threads
    if count is not None and count < 1:
        raise ArgumentError(f"threads must be at least 1, got {count}")
    _threads = count


def thread_count() -> int:
    """Threads used over large batches."""
    if _threads is not None:
        return _threads
    try:
        return max(1, int(os.environ["ARMATURE_THREADS"]))
    except (KeyError, ValueError):
        return os.cpu_count() or 1


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="armature")


# making kernels ----------------------------------------------------------------------------------------------------------


def compiled(key: str, build: Callable[[], Expression]) -> Kernel:
    """The kernel for `key`: from the disk cache, else traced by `build`, compiled and kept.

    The key must say everything that the trace depends on; CPU and versions are added here.
    """
    if os.environ.get("ARMATURE_JIT") == "0":
        return interpreted(build())
    entry = machine_code.read_cache(key)
    if entry is None:
        expression = build()
        code = machine_code.assemble(lower(expression, machine_code.vector_width()))
        header = {
            "name": expression.name,
            "inputs": [[a.name, list(a.shape)] for a in expression.inputs],
            "outputs": [[a.name, list(a.shape)] for a in expression.outputs],
            "operations": expression.operations,
        }
        machine_code.write_cache(key, header, code)
        entry = header, code
    header, code = entry
    loaded = machine_code.load_object(code)
    inputs, outputs = ([Argument(name, tuple(shape)) for name, shape in header[side]] for side in ("inputs", "outputs"))
    return Kernel(header["name"], inputs, outputs, header["operations"], loaded.address, loaded)


def interpreted(expression: Expression) -> Kernel:
    """The same callable without machine code of ours: CasADi evaluates row by row (ARMATURE_JIT=0, for debugging)."""
    arguments = [*expression.inputs, *expression.outputs]
    n_in = len(expression.inputs)

    def run(args: int, strides: int, count: int) -> None:
        pointers = (ctypes.c_int64 * len(arguments)).from_address(args)
        steps = (ctypes.c_int64 * len(arguments)).from_address(strides)
        for row in range(count):
            views = [
                np.frombuffer((ctypes.c_double * a.size).from_address(p + 8 * row * s)) if a.size else np.empty(0)
                for a, p, s in zip(arguments, pointers, steps)
            ]
            for view, value in zip(views[n_in:], expression.function.call([ca.DM(v) for v in views[:n_in]])):
                view[:] = np.asarray(ca.densify(value)).ravel()

    callback = C_SIGNATURE(run)
    address = ctypes.cast(callback, ctypes.c_void_p).value or 0
    return Kernel(expression.name, expression.inputs, expression.outputs, expression.operations, address, callback)


def compile(function: ca.Function | Callable, inputs: Mapping[str, Shape | int] | None = None, outputs: Sequence[str] = (), *, key: str = "", symbols: str = "casadi") -> Kernel:
    """Compile a CasADi function, or a Python function of symbols, into a kernel on NumPy batches.

    inputs: for a Python function, the name and shape (int, tuple or ()) of each argument; it is called once with CasADi SX symbols
    (`symbols="numpy"`: with arrays of scalar symbols) and returns one result, a tuple, or a dict of named results.
    key: names what is traced, for the disk cache; without it the expression itself is the key, which needs the trace each time.
    """
    def build() -> Expression:
        if isinstance(function, ca.Function):
            return from_casadi(function)
        if inputs is None:
            raise ArgumentError("compile(function, inputs): give the name and shape of each argument of a Python function")
        return trace(function, inputs, outputs, symbols=symbols)

    if key:
        return compiled(key, build)
    expression = build()
    digest = hashlib.sha256(expression.function.serialize().encode()).hexdigest()
    shapes = [(a.name, a.shape) for a in (*expression.inputs, *expression.outputs)]
    return compiled(f"expression {expression.name} {digest} {shapes}", lambda: expression)

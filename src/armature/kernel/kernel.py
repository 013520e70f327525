"""The callable: NumPy batches in and out, threads over large ones, and the address for compiled
loops."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from math import prod
from typing import Any

import casadi as ca
import numpy as np

import armature.kernel.machine_code as machine_code
import armature.kernel.quick as quick
from armature.errors import ArgumentError
from armature.kernel.activity import compiling
from armature.kernel.lower import lower
from armature.kernel.trace import Argument, Expression, Shape, from_casadi, trace

C_SIGNATURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
FLOAT64 = np.dtype(np.float64)
THREAD_WORK = 4_000_000  # operations × rows below which a second thread costs more than it brings


class Kernel:
    """A compiled function on batches.

    Call it with one array for each input, of shape (..., *input.shape); leading axes broadcast. It
    returns one array, or a tuple of arrays when there are several outputs, of shape (...,
    *output.shape), float64. C-contiguous float64 input is used in place.

    address: of machine code `void f(double** args, int64_t* strides, int64_t count)`, for compiled
    loops (`armature.kernel.loops.call`).
    operations: how many there are for one row.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[Argument],
        outputs: Sequence[Argument],
        operations: int,
        address: int,
        keep: object,
        entries: tuple[int, int] | None = None,
        remake: tuple | None = None,
    ):
        self.name = name
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.operations = operations
        self.address = address
        self._run = C_SIGNATURE(address)
        self._table = ctypes.c_int64 * (len(self.inputs) + len(self.outputs))
        self._shapes_out = [a.shape for a in self.outputs]
        self._builtins = (
            [quick.builtin(entry, name) for entry in entries]
            if entries and quick.layout_known()
            else []
        )
        self._one, self._rows = (
            (function for function, _ in self._builtins) if self._builtins else (None, None)
        )
        self._keep = keep
        self._remake = remake

    def __reduce__(self) -> tuple:
        """Object code travels to processes on the same kind of CPU with the same versions;
        elsewhere it is compiled anew."""
        if self._remake is None:
            raise TypeError(
                f"the kernel {self.name} was made from machine code of this process alone and"
                " cannot be copied"
            )
        return self._remake

    def __repr__(self) -> str:
        arguments = ", ".join(f"{a.name}{list(a.shape)}" for a in self.inputs)
        results = ", ".join(f"{a.name}{list(a.shape)}" for a in self.outputs)
        return f"<kernel {self.name}: {arguments} -> {results}; {self.operations} operations>"

    def __call__(self, *arrays: Any) -> Any:
        if len(arrays) != len(self.inputs):
            names = ", ".join(a.name for a in self.inputs)
            raise ArgumentError(
                f"{self.name} takes {len(self.inputs)} arrays ({names}), got {len(arrays)}"
            )
        results = self._quick(arrays)
        if results is None:
            results = self._batch(arrays)
        return results[0] if len(results) == 1 else tuple(results)

    def _quick(self, arrays: Sequence[Any]) -> list[np.ndarray] | None:
        """One state, or a batch along one axis, in arrays of exactly the right kind. None when it
        is anything else."""
        if self._one is None or self._rows is None:
            return None
        results = [np.empty(shape) for shape in self._shapes_out]
        if self._one(*arrays, *results):
            return results
        first = arrays[0] if arrays else None
        if (
            type(first) is np.ndarray
            and first.ndim
            and len(first) * self.operations < 2 * THREAD_WORK
        ):
            count = len(first)
            results = [np.empty((count, *shape)) for shape in self._shapes_out]
            if self._rows(*arrays, *results):
                return results
        return None

    def _batch(self, arrays: Sequence[Any]) -> list[np.ndarray]:
        """Any arrays: convert, broadcast the leading axes, run."""
        converted = [self._convert(x, a) for x, a in zip(arrays, self.inputs)]
        leading = [x.shape[: x.ndim - len(a.shape)] for x, a in zip(converted, self.inputs)]
        batch = self._broadcast(leading, converted)
        strides = []
        for i, (lead, a) in enumerate(zip(leading, self.inputs)):
            one = prod(lead) == 1
            strides.append(0 if one else a.size)
            if lead != batch and not one:  # a partial broadcast needs its rows laid out
                converted[i] = np.ascontiguousarray(np.broadcast_to(converted[i], batch + a.shape))
        results = [np.empty(batch + a.shape) for a in self.outputs]
        strides += [a.size for a in self.outputs]
        count = prod(batch)
        if count:
            self.run_rows([quick.data_address(x) for x in (*converted, *results)], strides, count)
        return results

    def _broadcast(self, leading: Sequence[Shape], converted: Sequence[np.ndarray]) -> Shape:
        """The leading axes of the results."""
        different = set(leading)
        if len(different) == 1:
            return leading[0]
        try:
            return np.broadcast_shapes(*different)
        except ValueError:
            shapes = ", ".join(f"{a.name} {x.shape}" for x, a in zip(converted, self.inputs))
            raise ArgumentError(
                f"{self.name}: the leading axes do not broadcast: {shapes}"
            ) from None

    def _convert(self, x: Any, argument: Argument) -> np.ndarray:
        """Any array-like of real numbers as aligned, C-contiguous float64 with the right trailing
        axes; itself when it is that already."""
        array = x
        if (
            type(x) is not np.ndarray
            or x.dtype is not FLOAT64
            or x.flags.num & quick.USABLE != quick.USABLE
        ):
            array = self._as_float64(x, argument)
        if (
            array.ndim < len(argument.shape)
            or array.shape[array.ndim - len(argument.shape) :] != argument.shape
        ):
            wanted = ", ".join(["...", *map(str, argument.shape)])
            raise ArgumentError(
                f"{self.name}: {argument.name} has shape {array.shape}; expected ({wanted})"
            )
        return array

    def _as_float64(self, x: Any, argument: Argument) -> np.ndarray:
        """A copy, or a view when the memory of `x` will do."""
        try:
            array = np.asarray(x)
            real = array.dtype.kind in "fiub"
        except (TypeError, ValueError):  # nested lists of unequal lengths
            real = False
        if not real:
            raise ArgumentError(
                f"{self.name}: {argument.name} must be an array of real numbers, got {_describe(x)}"
            )
        return np.require(array, np.float64, ("C", "A"))

    def run_rows(self, addresses: Sequence[int], strides: Sequence[int], count: int) -> None:
        """Run over `count` rows at these addresses (inputs, then outputs), strides in doubles;
        several threads when it pays."""
        useful = count * self.operations // THREAD_WORK
        threads = min(thread_count(), useful) if useful > 1 else 1
        steps = self._table(*strides)
        if threads < 2:
            self._run(self._table(*addresses), steps, count)
            return
        # shares are whole groups of rows: the results are those of one thread, bit for bit
        width = machine_code.vector_width()
        share = -(-count // (threads * width)) * width

        def run(start: int) -> None:
            table = self._table(
                *(address + 8 * start * stride for address, stride in zip(addresses, strides))
            )
            self._run(table, steps, min(share, count - start))

        wait([_pool(threads).submit(run, start) for start in range(0, count, share)])


def _describe(x: Any) -> str:
    text = repr(x)
    return text if len(text) < 60 else f"{type(x).__name__} {text[:57]}..."


# threads -----------------------------------------------------------------------------------------

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


if hasattr(os, "register_at_fork"):  # a forked child has none of its parent's threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


# making kernels ----------------------------------------------------------------------------------


def compiled(key: str, build: Callable[[], Expression], parameters: Sequence[float] = ()) -> Kernel:
    """The kernel for `key`: from the disk cache, else traced by `build`, compiled and kept.

    The key must say everything that the trace depends on; CPU and versions are added here.
    parameters: values of those that the trace uses (`trace.parameters`), written into this kernel's
    own copy of the code."""
    if os.environ.get("ARMATURE_JIT") == "0":
        return interpreted(build(), parameters)
    entry = machine_code.read_cache(key)
    if entry is None:
        with compiling("equations"):
            expression = build()
        with compiling(f"the function {expression.name}"):
            code = machine_code.assemble(lower(expression, machine_code.vector_width()))
        header = {
            "name": expression.name,
            "inputs": [[a.name, list(a.shape)] for a in expression.inputs],
            "outputs": [[a.name, list(a.shape)] for a in expression.outputs],
            "operations": expression.operations,
            "parameters": expression.parameters,
        }
        machine_code.write_cache(key, header, code)
        entry = header, code
    return load_kernel(*entry, tuple(parameters), machine_code.platform_key())


def load_kernel(
    header: Mapping[str, Any], code: bytes, parameters: Sequence[float], platform: str
) -> Kernel:
    """A kernel from its object code. platform: what the code was compiled for and by."""
    if platform != machine_code.platform_key():
        raise ArgumentError(
            f"kernel {header['name']} was compiled on another kind of CPU, or by other versions;"
            " compile it here"
        )
    loaded = machine_code.load_object(
        code, _values(header["name"], parameters, header["parameters"])
    )
    inputs, outputs = (
        [Argument(name, tuple(shape)) for name, shape in header[side]]
        for side in ("inputs", "outputs")
    )
    again = load_kernel, (dict(header), code, parameters, platform)
    return Kernel(
        header["name"],
        inputs,
        outputs,
        header["operations"],
        loaded.address,
        loaded,
        loaded.entries,
        again,
    )


def _values(name: str, parameters: Sequence[float], count: int) -> Sequence[float]:
    """The first `count` parameters."""
    if len(parameters) < count:
        raise ArgumentError(f"{name} uses {count} parameters, got values for {len(parameters)}")
    return parameters[:count]


def _doubles(address: int, size: int) -> np.ndarray:
    """The memory at an address as an array."""
    return (
        np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))
        if size
        else np.empty(0)
    )


def interpreted(expression: Expression, parameters: Sequence[float] = ()) -> Kernel:
    """The same callable without machine code of ours: CasADi evaluates row by row (ARMATURE_JIT=0,
    for debugging)."""
    arguments = [*expression.inputs, *expression.outputs]
    n_in = len(expression.inputs)
    fixed = (
        [ca.DM(list(_values(expression.name, parameters, expression.parameters)))]
        if expression.parameters
        else []
    )

    def run(args: int, strides: int, count: int) -> None:
        pointers = (ctypes.c_int64 * len(arguments)).from_address(args)
        steps = (ctypes.c_int64 * len(arguments)).from_address(strides)
        for row in range(count):
            views = [
                _doubles(p + 8 * row * s, a.size) for a, p, s in zip(arguments, pointers, steps)
            ]
            for view, value in zip(
                views[n_in:], expression.function.call([*(ca.DM(v) for v in views[:n_in]), *fixed])
            ):
                view[:] = np.asarray(ca.densify(value)).ravel()

    callback = C_SIGNATURE(run)
    address = ctypes.cast(callback, ctypes.c_void_p).value or 0
    values = tuple(parameters[: expression.parameters])
    again = (
        load_interpreted,
        (
            expression.function.serialize(),
            expression.name,
            expression.inputs,
            expression.outputs,
            values,
        ),
    )
    return Kernel(
        expression.name,
        expression.inputs,
        expression.outputs,
        expression.operations,
        address,
        callback,
        None,
        again,
    )


def load_interpreted(
    function: str,
    name: str,
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
    parameters: Sequence[float],
) -> Kernel:
    """A kernel without machine code of ours from its CasADi function."""
    made = ca.Function.deserialize(function)
    return interpreted(
        Expression(name, tuple(inputs), tuple(outputs), made, len(parameters)), parameters
    )


def compile(
    function: ca.Function | Callable,
    inputs: Mapping[str, Shape | int] | None = None,
    outputs: Sequence[str] = (),
    *,
    key: str = "",
    symbols: str = "casadi",
) -> Kernel:
    """Compile a CasADi function, or a Python function of symbols, into a kernel on NumPy batches.

    inputs: for a Python function, the name and shape (int, tuple or ()) of each argument; it is
    called once with CasADi SX symbols (`symbols="numpy"`: with arrays of scalar symbols) and
    returns one result, a tuple, or a dict of named results.
    key: names what is traced, for the disk cache; without it the expression itself is the key,
    which needs the trace each time."""

    def build() -> Expression:
        if isinstance(function, ca.Function):
            return from_casadi(function)
        if not callable(function):
            raise ArgumentError(
                f"compile takes a casadi.Function or a Python function, got {_describe(function)}"
            )
        if inputs is None:
            raise ArgumentError(
                "compile(function, inputs): give the name and shape of each argument of a Python"
                " function"
            )
        return trace(function, inputs, outputs, symbols=symbols)

    if key:
        return compiled(key, build)
    expression = build()
    if expression.parameters:
        raise ArgumentError(
            f"{expression.name} uses parameters, whose values compile does not know; use"
            " compiled(key, build, parameters)"
        )
    digest = hashlib.sha256(expression.function.serialize().encode()).hexdigest()
    shapes = [(a.name, a.shape) for a in (*expression.inputs, *expression.outputs)]
    return compiled(f"expression {expression.name} {digest} {shapes}", lambda: expression)

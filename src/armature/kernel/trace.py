"""Run a function once on symbols and keep what it computes: an expression with named, shaped inputs
and outputs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import casadi as ca
import numpy as np

from armature.errors import ArgumentError
from armature.kernel.symbol import Symbol, from_casadi_column, to_casadi

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Argument:
    """One input or output of a kernel: its name and the shape of one row of the batch (() for a
    scalar)."""

    name: str
    shape: Shape

    @functools.cached_property
    def size(self) -> int:
        """Numbers in one row."""
        return prod(self.shape)


@dataclass(frozen=True)
class Expression:
    """A traced function: `function` takes and returns flat vectors, one for each argument, in C
    order.

    parameters: how many of the process's parameters it reads; they are then one more, last input of
    `function`."""

    name: str
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    function: ca.Function
    parameters: int = 0

    @property
    def operations(self) -> int:
        """Number of instructions that compute something."""
        moved = sum(a.size for a in (*self.inputs, *self.outputs)) + self.parameters
        return self.function.n_instructions() - moved


_parameters: list[ca.SX] = []
FREE = {"allow_free": True}  # for functions of CasADi on the way: parameters pass through them


def parameters(count: int) -> np.ndarray:
    """(count,) symbols of numbers that belong to a kernel in memory, neither to its code nor to its
    calls; always the same symbols.

    A traced function may use them freely. `compiled` writes their values next to the code when it
    loads it: they cost what constants cost, and other values need no other code.
    """
    while len(_parameters) < count:
        _parameters.append(ca.SX.sym(f"parameter{len(_parameters)}"))
    return from_casadi_column(ca.vertcat(*_parameters[:count]), (count,))


def bound(expression: ca.SX, numbers: Sequence[float]) -> ca.SX:
    """The expression with numbers for its parameters."""
    return (
        ca.substitute(expression, ca.vertcat(*_parameters[: len(numbers)]), ca.SX(numbers))
        if len(numbers)
        else expression
    )


def function_of(
    name: str, inputs: Sequence[ca.SX], outputs: Sequence[ca.SX]
) -> tuple[ca.Function, int]:
    """The outputs as a function of the inputs and, after them, of as many parameters as they use;
    and how many these are."""
    function = ca.Function("kernel", [*inputs], [*outputs], FREE)
    if not function.has_free():
        return function, 0
    places = {symbol.element_hash(): place for place, symbol in enumerate(_parameters)}
    free = [ca.SX(symbol) for symbol in function.free_sx()]
    if unknown := [str(symbol) for symbol in free if symbol.element_hash() not in places]:
        raise ArgumentError(
            f"{name} uses symbols that are not among its inputs: {', '.join(unknown)}"
        )
    count = 1 + max(places[symbol.element_hash()] for symbol in free)
    return ca.Function("kernel", [*inputs, ca.vertcat(*_parameters[:count])], [*outputs]), count


def trace(
    function: Callable,
    inputs: Mapping[str, Shape | int],
    outputs: Sequence[str] = (),
    name: str = "",
    symbols: str = "numpy",
) -> Expression:
    """Call `function` once with symbols of the given shapes and record its results.

    symbols: "numpy" passes arrays of `Symbol` (dtype object), "casadi" passes SX matrices.
    The function returns one array, or a tuple or dict of arrays; a dict names the outputs.
    """
    if symbols not in ("numpy", "casadi"):
        raise ArgumentError(f"symbols must be 'numpy' or 'casadi', got {symbols!r}")
    arguments = tuple(Argument(key, _as_shape(key, shape)) for key, shape in inputs.items())
    flat = [ca.SX.sym(a.name, a.size) for a in arguments]
    shaped = [
        from_casadi_column(x, a.shape) if symbols == "numpy" else _as_casadi(x, a.shape)
        for x, a in zip(flat, arguments)
    ]
    return _record(
        name or getattr(function, "__name__", "function"),
        arguments,
        flat,
        function(*shaped),
        outputs,
    )


def from_casadi(function: ca.Function) -> Expression:
    """A CasADi function as an expression; (n, 1) matrices become vectors of shape (n,), (1, 1)
    scalars of shape ()."""
    if not isinstance(function, ca.Function):
        raise ArgumentError(
            f"expected a casadi.Function, got {type(function).__name__}; pass a Python function"
            " together with `inputs`"
        )
    shapes = [_shape_of(function.size1_in(i), function.size2_in(i)) for i in range(function.n_in())]
    arguments = tuple(Argument(function.name_in(i), shape) for i, shape in enumerate(shapes))
    flat = [ca.SX.sym(a.name, a.size) for a in arguments]
    matrices = [
        ca.reshape(x, function.size2_in(i), function.size1_in(i)).T for i, x in enumerate(flat)
    ]
    try:
        results = function.call(matrices)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1]
        message = (
            f"{function.name()} cannot be written as scalar operations (CasADi: {reason}); replace"
            " its solvers by formulas"
        )
        raise ArgumentError(message) from error
    named = {function.name_out(i): ca.densify(r) for i, r in enumerate(results)}
    return _record(function.name(), arguments, flat, named, ())


def _record(
    name: str, arguments: tuple[Argument, ...], flat: list, result: Any, names: Sequence[str]
) -> Expression:
    """Flatten the results in C order, share common sub-expressions, and keep them as one
    function."""
    if isinstance(result, Mapping):
        names, values = list(result), list(result.values())
    else:
        values = list(result) if isinstance(result, (tuple, list)) else [result]
        names = list(names) or [f"out{i}" for i in range(len(values))]
    if len(names) != len(values):
        raise ArgumentError(
            f"{name} returned {len(values)} results, but {len(names)} output names were given:"
            f" {', '.join(names)}"
        )
    columns, outputs = [], []
    for key, value in zip(names, values):
        shape, column = _flatten(value, f"output {key!r} of {name}")
        columns.append(column)
        outputs.append(Argument(key, shape))
    shared: Any = ca.cse(columns) if columns else []
    return Expression(name, arguments, tuple(outputs), *function_of(name, flat, shared))


def _as_shape(name: str, shape: Any) -> Shape:
    """An int or a sequence of ints as a shape."""
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if not all(isinstance(n, (int, np.integer)) and n >= 0 for n in lengths):
        raise ArgumentError(
            f"the shape of input {name!r} must be a whole number or a tuple of them, got {shape!r}"
        )
    return tuple(int(n) for n in lengths)


def _as_casadi(column: ca.SX, shape: Shape) -> ca.SX:
    """The entries of a symbolic column as a matrix, rows first."""
    if len(shape) > 2:
        raise ArgumentError(
            f"CasADi has matrices only; an input of shape {shape} needs symbols='numpy'"
        )
    return ca.reshape(column, shape[1], shape[0]).T if len(shape) == 2 else column


def _flatten(value: Any, what: str) -> tuple[Shape, ca.SX]:
    """Shape and C-ordered dense column of a result."""
    if isinstance(value, Symbol):
        return (), value.x
    if isinstance(value, (ca.SX, ca.DM)):
        dense = ca.densify(ca.SX(value))
        return _shape_of(*dense.shape), ca.vec(dense.T)
    if isinstance(value, ca.MX):
        raise ArgumentError(
            f"{what} is an MX expression; build it from SX symbols, or give a casadi.Function"
        )
    array = np.asarray(value, dtype=object)
    try:
        column = to_casadi(array.ravel())
    except (TypeError, NotImplementedError, RuntimeError) as error:
        kind = type(value).__name__
        raise ArgumentError(
            f"{what} cannot be traced: {kind} holds something that is neither a number nor a symbol"
        ) from error
    return array.shape, column


def _shape_of(rows: int, columns: int) -> Shape:
    """The NumPy shape that a CasADi matrix is given: columns of width one are vectors."""
    return () if (rows, columns) == (1, 1) else (rows,) if columns == 1 else (rows, columns)

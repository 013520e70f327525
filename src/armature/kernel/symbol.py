"""Scalar symbols that live in NumPy arrays.

A `Symbol` wraps one CasADi SX scalar and behaves as a number: arrays of them (dtype object) add,
multiply and `@` by NumPy's own rules, which arrays of bare SX do not. Products with 0 and sums with
0 vanish at once, so that the zeros of a robot cost nothing."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import casadi as ca
import numpy as np

from armature.errors import ArgumentError


class Symbol:
    """One symbolic real number."""

    __slots__ = ("x",)
    is_symbolic = True  # what the number functions of the physics look for

    def __init__(self, x: ca.SX):
        self.x = x

    def __repr__(self) -> str:
        return str(self.x)

    # arithmetic: arrays on the other side go to NumPy, which comes back entry by entry
    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Symbol):
            return Symbol(self.x + other.x)
        return self if other == 0 else Symbol(self.x + other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Symbol):
            return Symbol(self.x - other.x)
        return self if other == 0 else Symbol(self.x - other)

    def __rsub__(self, other: Any) -> Any:
        return Symbol(-self.x) if other == 0 else Symbol(other - self.x)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Symbol):
            return Symbol(self.x * other.x)
        if other == 0:
            return 0.0
        if other == 1:
            return self
        return Symbol(-self.x) if other == -1 else Symbol(self.x * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if isinstance(other, Symbol):
            return Symbol(self.x / other.x)
        return (
            self if other == 1 else Symbol(self.x * (1.0 / other) if other != 0 else self.x / other)
        )

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if other == 0 else Symbol(other / self.x)

    def __pow__(self, other: Any) -> Any:
        return Symbol(self.x ** bare(other))

    def __neg__(self) -> Symbol:
        return Symbol(-self.x)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return Symbol(ca.fabs(self.x))

    # comparisons give conditions: symbols that are 1 or 0
    def __lt__(self, other: Any) -> Symbol:
        return Condition(self.x < bare(other))

    def __le__(self, other: Any) -> Symbol:
        return Condition(self.x <= bare(other))

    def __gt__(self, other: Any) -> Symbol:
        return Condition(self.x > bare(other))

    def __ge__(self, other: Any) -> Symbol:
        return Condition(self.x >= bare(other))

    def where(self, a: Any, b: Any) -> Symbol:
        """a where this truth value holds, else b."""
        return Symbol(ca.if_else(self.x, bare(a), bare(b)))

    def atan2(self, x: Any) -> Symbol:
        """Angle of the point (x, self)."""
        return Symbol(ca.atan2(self.x, bare(x)))

    def fmin(self, other: Any) -> Symbol:
        return Symbol(ca.fmin(self.x, bare(other)))

    def fmax(self, other: Any) -> Symbol:
        return Symbol(ca.fmax(self.x, bare(other)))

    def is_zero(self) -> bool:
        """Known to be zero."""
        return self.x.is_zero()


class Condition(Symbol):
    """A symbol that is 1 where a comparison holds, else 0."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise ArgumentError(
            "a traced function decides by `if`, `and`, `or`, max or min on a comparison, whose"
            " outcome is not known when it is traced; use where, maximum and minimum of"
            " armature.spatial.numbers, which take both ways"
        )


def _method(name: str) -> Callable[[Symbol], Symbol]:
    function = getattr(ca, name)

    def method(self: Symbol) -> Symbol:
        return Symbol(function(self.x))

    method.__name__ = name
    return method


# elementary functions under NumPy's names, so that np.sin(array of symbols) works too
_FUNCTIONS = (
    "sin cos tan arcsin arccos arctan sinh cosh tanh exp log log1p expm1 sqrt fabs sign floor ceil"
)
for _name in _FUNCTIONS.split():
    setattr(Symbol, _name, _method(_name))


def bare(value: Any) -> Any:
    """The CasADi scalar in a symbol; other numbers unchanged."""
    return value.x if isinstance(value, Symbol) else value


def symbols(name: str, shape: int | tuple[int, ...]) -> Any:
    """An array (dtype object) of new symbols; one bare symbol for shape ()."""
    shape = (shape,) if isinstance(shape, int) else shape
    return from_casadi_column(ca.SX.sym(name, prod(shape)), shape)


def from_casadi_column(column: ca.SX, shape: tuple[int, ...]) -> Any:
    """The entries of a symbolic column, in C order, as an array of symbols; one bare symbol for
    shape ()."""
    if shape == ():
        return Symbol(column[0])
    array = np.empty(prod(shape), dtype=object)
    for i in range(array.size):
        array[i] = Symbol(column[i])
    return array.reshape(shape)


def to_casadi(array: Any) -> ca.SX:
    """Symbols and numbers as one SX: a matrix for two axes, else a column in C order."""
    array = np.asarray(array, dtype=object)
    column = ca.vertcat(*(ca.SX(bare(v)) for v in array.ravel())) if array.size else ca.SX(0, 1)
    return ca.reshape(column, array.shape[1], array.shape[0]).T if array.ndim == 2 else column

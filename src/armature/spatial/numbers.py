"""Elementary functions on any number type: float, complex (for the complex step), NumPy arrays, and
symbols (CasADi SX).

Physics calls these instead of `math`, so that one source runs on numbers and is traced on symbols.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from armature.annotations import (
    Number as Number,
)  # float | complex | np.ndarray | casadi.SX: whatever subtracts and divides


def is_symbol(x: Number) -> bool:
    """True for a symbol of the compiler or of CasADi (recognised by what it can do, not by
    importing either)."""
    return hasattr(x, "is_symbolic")


def _elementary(name: str, method: str) -> Callable[[Number], Number]:
    """One function for all number types: `math` on floats, the symbol's own method, NumPy on
    everything else."""
    on_float: Callable[[float], float] = getattr(math, name)
    on_array = getattr(np, method)

    def function(x: Number) -> Number:
        if type(x) is float:
            return on_float(x)
        if is_symbol(x):
            return getattr(x, method)()
        return on_array(x)

    function.__name__ = name
    function.__doc__ = f"{name}(x) on a float, a complex number, an array or a symbol."
    return function


sin = _elementary("sin", "sin")
cos = _elementary("cos", "cos")
tan = _elementary("tan", "tan")
tanh = _elementary("tanh", "tanh")
sinh = _elementary("sinh", "sinh")
cosh = _elementary("cosh", "cosh")


def _guarded(method: str) -> Callable[[Number], Number]:
    """Functions with a domain: NumPy's NaN and infinity instead of `math`'s exceptions."""
    on_array = getattr(np, method)

    def function(x: Number) -> Number:
        return getattr(x, method)() if is_symbol(x) else on_array(x)

    function.__name__ = method
    function.__doc__ = f"{method}(x) on a float, a complex number, an array or a symbol."
    return function


sqrt = _guarded("sqrt")
exp = _guarded("exp")
log = _guarded("log")
log1p = _guarded("log1p")


def atan2(y: Number, x: Number) -> Number:
    """Angle of the point (x, y), rad, in (−π, π]."""
    if hasattr(y, "atan2"):
        return y.atan2(x)
    if is_symbol(y) or is_symbol(x):
        import casadi

        return casadi.atan2(y, x)
    return np.arctan2(y, x)


def where(condition: Number, a: Number, b: Number) -> Number:
    """a where the condition holds, else b; on symbols both are evaluated and one is taken."""
    if hasattr(condition, "where"):
        return condition.where(a, b)
    if is_symbol(condition) or is_symbol(a) or is_symbol(b):
        import casadi

        return casadi.if_else(condition, a, b)
    return (
        np.where(condition, a, b) if isinstance(condition, np.ndarray) else (a if condition else b)
    )


def maximum(a: Number, b: Number) -> Number:
    """The larger of two real numbers."""
    if is_symbol(a) or is_symbol(b):
        return a.fmax(b) if is_symbol(a) else b.fmax(a)
    return np.maximum(a, b)


def minimum(a: Number, b: Number) -> Number:
    """The smaller of two real numbers."""
    if is_symbol(a) or is_symbol(b):
        return a.fmin(b) if is_symbol(a) else b.fmin(a)
    return np.minimum(a, b)


for _function, _name in ((sqrt, "sqrt"), (maximum, "max"), (minimum, "min")):
    vars(_function)["intrinsic"] = _name  # what compiled loops call it


def sign(x: Number) -> Number:
    """−1, 0 or 1."""
    return x.sign() if is_symbol(x) else np.sign(x)

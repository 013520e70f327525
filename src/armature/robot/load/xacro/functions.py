"""The functions and methods that expressions may call. There are no others: nothing of Python is
reached by name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from armature.robot.load.xacro.budget import LONGEST_VALUE, MOST_VALUES, XacroError

MOST_BITS = 4096  # of a whole number
MATHS = """
    acos acosh asin asinh atan atan2 atanh ceil copysign cos cosh degrees erf erfc exp expm1 fabs
    floor fmod fsum gamma gcd hypot isclose isfinite isinf isnan log log10 log1p log2 modf pow
    radians sin sinh sqrt tan tanh trunc
"""
CONSTANTS = {
    "pi": math.pi,
    "e": math.e,
    "tau": math.tau,
    "inf": math.inf,
    "nan": math.nan,
    "true": True,
    "false": False,
}


@dataclass(frozen=True)
class Function:
    """A function that expressions may call, under the name that messages give it."""

    name: str
    call: Callable[..., Any]


def _listed(values: Any) -> list:
    if not isinstance(values, (list, tuple, str, dict)):
        raise XacroError(f"{values!r} is not a list")
    return list(values)


def _range(*bounds: int) -> list[int]:
    numbers = range(*bounds)
    if len(numbers) > MOST_VALUES:
        raise XacroError(f"range{bounds} is longer than {MOST_VALUES}")
    return list(numbers)


def _map(function: Any, *lists: Any) -> list:
    if not isinstance(function, Function):
        raise XacroError("map needs the name of a function, such as float")
    return [function.call(*items) for items in zip(*(_listed(values) for values in lists))]


def _integer(*args: Any) -> int:
    if args and isinstance(args[0], str) and len(args[0]) > 400:
        raise XacroError("a number has more than 400 digits")
    return int(*args)


def _mapping(*args: Any, **named: Any) -> dict:
    if any(not isinstance(a, (dict, list, tuple)) for a in args):
        raise XacroError("dict needs a mapping or a list of pairs")
    return dict(*args, **named)


def tokens(text: str, separators: str = ",; ", skip_empty: bool = True) -> list[str]:
    parts = re.split("[" + re.escape(separators) + "]", str(text))
    return [part for part in parts if part] if skip_empty else parts


BUILTINS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "all": lambda x: all(_listed(x)),
    "any": lambda x: any(_listed(x)),
    "bool": bool,
    "dict": _mapping,
    "enumerate": lambda x: [list(p) for p in enumerate(_listed(x))],
    "float": float,
    "int": _integer,
    "len": len,
    "list": lambda x=(): _listed(x),
    "map": _map,
    "max": max,
    "min": min,
    "range": _range,
    "reversed": lambda x: _listed(x)[::-1],
    "round": round,
    "sorted": lambda x, reverse=False: sorted(_listed(x), reverse=bool(reverse)),
    "str": lambda x="": str(x),
    "sum": lambda x: sum(_listed(x)),
    "tuple": lambda x=(): tuple(_listed(x)),
    "zip": lambda *x: [list(p) for p in zip(*(_listed(values) for values in x))],
}


def _replace(text: str, old: str, new: str) -> str:
    if len(text) + text.count(old) * len(new) > LONGEST_VALUE:
        raise XacroError(f"the text grows beyond {LONGEST_VALUE} characters")
    return text.replace(old, new)


def _join(separator: str, parts: Any) -> str:
    words = _listed(parts)
    if (
        sum(len(w) for w in words if isinstance(w, str)) + len(separator) * len(words)
        > LONGEST_VALUE
    ):
        raise XacroError(f"the text grows beyond {LONGEST_VALUE} characters")
    return separator.join(words)


TEXT_METHODS: dict[str, Callable[..., Any]] = {
    "capitalize": str.capitalize,
    "count": str.count,
    "endswith": str.endswith,
    "find": str.find,
    "isdigit": str.isdigit,
    "join": _join,
    "lower": str.lower,
    "lstrip": str.lstrip,
    "replace": _replace,
    "rstrip": str.rstrip,
    "split": str.split,
    "startswith": str.startswith,
    "strip": str.strip,
    "title": str.title,
    "upper": str.upper,
}
LIST_METHODS: dict[str, Callable[..., Any]] = {"count": list.count, "index": list.index}
MAPPING_METHODS: dict[str, Callable[..., Any]] = {
    "get": dict.get,
    "items": lambda d: [list(item) for item in d.items()],
    "keys": lambda d: list(d),
    "values": lambda d: list(d.values()),
}


def method(value: Any, name: str) -> Function | None:
    """The method of a text, list or mapping that expressions may call, or None."""
    kinds = ((str, TEXT_METHODS), (list, LIST_METHODS), (dict, MAPPING_METHODS))
    found = next((methods.get(name) for kind, methods in kinds if isinstance(value, kind)), None)
    return (
        None
        if found is None
        else Function(name, lambda *args, **named: found(value, *args, **named))
    )


def global_names() -> dict[str, Any]:
    """Constants and functions by name, and the namespaces `math` and `python` of the same."""
    maths = {name: Function(name, getattr(math, name)) for name in MATHS.split()}
    builtins = {name: Function(name, call) for name, call in BUILTINS.items()}
    return {**maths, **builtins, **CONSTANTS, "math": {**maths, **CONSTANTS}, "python": builtins}

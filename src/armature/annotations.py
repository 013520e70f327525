"""What an annotation means, and whether a value is like it: the matching behind `arguments.py`.

`unlike(value, hint, strict)` is '' where the value is what the annotation says, else what it must
be, in words. strict is for calls that have failed: an array must then be an array, and a count one
that a machine can count to.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral, Real
from os import PathLike
from typing import Annotated, Any

MANY = 2000  # elements of a list that are looked at

# Annotations of arguments that are left open to the type checker, and not to the guards; OPEN says
# what each is like.
Number = Annotated[
    Any, "number"
]  # of any kind: whatever subtracts and divides, real, complex, symbolic, or arrays of them
Numbers = Annotated[Any, "numbers"]  # a real number, or arrays and lists of them
Values = Annotated[Any, "values"]  # Numbers, or {name: number}
Place = Annotated[Any, "place"]  # Values, or a pose: (R, p), (p, quaternion), a 4 × 4 matrix


def same(value: Any, default: Any) -> bool:
    """Whether a value is the default itself."""
    return value is default or (
        type(value) is type(default) is float and (value == default or value != value != default)
    )


def show(value: Any) -> str:
    """A value as it is put into a sentence: short, whatever its own repr does."""
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 60 else f"{text[:50]}… ({type(value).__name__})"


def unlike(value: Any, hint: Any, strict: bool) -> str:
    """What the value should be, in words, if it is not what the annotation says; else ''."""
    if hint is Any or hint is object or isinstance(hint, (str, typing.TypeVar, typing.ForwardRef)):
        return ""
    if hint is None or hint is type(None):
        return "" if value is None else "None"
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return OPEN[hint.__metadata__[0]](value)
    if origin in (typing.Union, types.UnionType):
        words = [unlike(value, choice, strict) for choice in typing.get_args(hint)]
        return " or ".join(dict.fromkeys(words)) if all(words) else ""
    if origin is typing.Literal:
        choices = typing.get_args(hint)
        return (
            ""
            if any(value is c or (type(value) is type(c) and value == c) for c in choices)
            else f"one of {choices}"
        )
    simple = SIMPLE.get(hint)
    if simple:
        return simple(value, strict)
    if origin is not None:
        return unlike_container(value, origin, typing.get_args(hint), strict)
    if isinstance(hint, type) and not getattr(hint, "_is_protocol", False):
        return "" if isinstance(value, hint) else called(hint)
    return ""


def called(cls: type) -> str:
    """A class in a sentence."""
    if cls is Callable:
        return "a function"
    return f"{'an' if cls.__name__[0] in 'AEIOU' else 'a'} {cls.__name__}"


def unlike_number(value: Any, strict: bool) -> str:
    """A real number that is one (not NaN, not a truth value); arrays without axes are numbers
    too."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    try:
        is_one = isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)
    except OverflowError:  # an integer beyond any float
        is_one = False
    return "" if is_one else "a real number"


def unlike_count(value: Any, strict: bool) -> str:
    """A whole number; where a call has failed, one that a machine can count to."""
    if not isinstance(value, Integral) or isinstance(value, bool) or abs(int(value)) >= 2**63:
        return "a whole number"
    return (
        "a whole number between 1 and a million"
        if strict and not 1 <= int(value) <= 1_000_000
        else ""
    )


def unlike_truth(value: Any, strict: bool) -> str:
    """True or False."""
    return "" if type(value).__name__ in ("bool", "bool_") else "True or False"


def unlike_text(value: Any, strict: bool) -> str:
    """Text."""
    return "" if isinstance(value, str) else "text"


def unlike_array(value: Any, strict: bool) -> str:
    """An array of real numbers; a list of them will do where it has not failed."""
    import numpy as np

    if strict and not isinstance(value, np.ndarray):
        return "an array of real numbers"
    return unlike_numbers(value)


def unlike_numbers(value: Any) -> str:
    """An array of real numbers, or what NumPy makes one."""
    import numpy as np

    try:
        kind = np.asarray(value).dtype.kind
    except Exception:  # unequal lengths, and whatever an object's own __array__ raises
        kind = "O"
    return "" if kind in "fiu" else "an array of real numbers"


def unlike_quantity(value: Any) -> str:
    """Whatever subtracts and divides: numbers of any kind, symbols, and arrays of them."""
    import numpy as np

    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return next(filter(None, map(unlike_quantity, value.ravel()[:MANY].tolist())), "")
    is_one = hasattr(type(value), "__sub__") and hasattr(type(value), "__truediv__")
    is_text = isinstance(value, np.ndarray) and value.dtype.kind not in "fiuc"
    return "" if is_one and not is_text else "a number, or an array of numbers"


def unlike_values(value: Any) -> str:
    """Real numbers, or some by name."""
    if isinstance(value, Mapping):
        return unlike_mapping(value, (str, float), False)
    return "a number, an array of real numbers, or a dict of them" if unlike_numbers(value) else ""


def unlike_place(value: Any) -> str:
    """Real numbers, some by name, or a pose: a tuple of arrays."""
    parts = list(value) if isinstance(value, (tuple, list)) and len(value) == 2 else []
    is_pose = bool(parts) and not any(unlike_numbers(part) or part is None for part in parts)
    return (
        ""
        if is_pose or not unlike_values(value)
        else "an array of real numbers, a dict of them, or a pose"
    )


OPEN: dict[str, Callable[[Any], str]] = {
    "number": unlike_quantity,
    "numbers": unlike_numbers,
    "values": unlike_values,
    "place": unlike_place,
}


def unlike_function(value: Any, strict: bool) -> str:
    """Something to call."""
    return "" if callable(value) else "a function"


def unlike_container(value: Any, origin: Any, inner: tuple, strict: bool) -> str:
    """Mappings, sequences, tuples and functions with annotated contents."""
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return unlike_mapping(value, inner, strict)
    if origin is Callable or not isinstance(origin, type):
        return unlike_function(value, strict) if origin is Callable else ""
    if origin is PathLike:
        return "" if isinstance(value, origin) else "a path"
    if issubclass(origin, type):
        return "" if isinstance(value, type) else "a class"
    if issubclass(origin, (tuple, list, Sequence, Iterable)):
        return unlike_sequence(value, origin, inner, strict)
    return "" if isinstance(value, origin) else called(origin)


def unlike_mapping(value: Any, inner: tuple, strict: bool) -> str:
    """A dict; its keys and values."""
    if not isinstance(value, Mapping):
        return "a dict"
    keys, values = inner if len(inner) == 2 else (Any, Any)
    for key, item in list(value.items())[:MANY]:
        words = unlike(key, keys, strict) or unlike(item, values, strict)
        if words:
            return f"a dict whose entry {show(key)} is {words}"
    return ""


def unlike_sequence(value: Any, origin: type, inner: tuple, strict: bool) -> str:
    """A list, tuple or array; how long, and of what."""
    fixed = origin is tuple and bool(inner) and Ellipsis not in inner
    wanted = ("a pair" if len(inner) == 2 else f"a list of {len(inner)}") if fixed else "a list"
    if (
        isinstance(value, (str, bytes, Mapping))
        or not hasattr(value, "__iter__")
        or isinstance(value, type)
    ):
        return wanted
    if not (hasattr(value, "__len__") and hasattr(value, "__getitem__")):
        return "" if origin is Iterable and not strict else wanted
    try:
        items = list(value[:MANY])
    except Exception:
        return wanted
    if fixed and len(value) != len(inner):
        return wanted
    each = inner if fixed else [inner[0] if inner else Any] * len(items)
    for i, (item, hint) in enumerate(zip(items, each)):
        words = unlike(item, hint, strict)
        if words:
            return f"a list whose element {i} is {words}"
    return ""


def simple_hints() -> dict[Any, Callable[[Any, bool], str]]:
    """The annotations with a meaning of their own."""
    return {
        float: unlike_number,
        int: unlike_count,
        bool: unlike_truth,
        str: unlike_text,
        Callable: unlike_function,
        typing.Callable: unlike_function,
    }


SIMPLE: dict[Any, Callable[[Any, bool], str]] = simple_hints()


# annotations -------------------------------------------------------------------------------------


@functools.cache
def signature_of(function: Callable) -> inspect.Signature:
    """A function's signature."""
    return inspect.signature(function)


class Names(dict):
    """The names that an annotation may use: its module's, and those that only type checkers
    import."""

    def __init__(self, module: str):
        super().__init__()
        self.module = vars(sys.modules[module]) if module in sys.modules else {}

    def __missing__(self, name: str) -> Any:
        if name in self.module:
            return self.module[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        for other, module in list(sys.modules.items()):
            found = vars(module).get(name) if other.startswith("armature.") else None
            if isinstance(found, types.UnionType) or (
                isinstance(found, type) and found.__module__ == other
            ):
                return found
        return Any


def evaluate(annotation: Any, module: str) -> Any:
    """An annotation as what it means; Any where that cannot be found."""
    text = getattr(annotation, "__forward_arg__", annotation)
    if not isinstance(text, str):
        return annotation
    try:
        return eval(text, {}, Names(module))
    except Exception:
        return Any


@functools.cache
def hints_of(function: Callable) -> dict[str, Any]:
    """What each argument's annotation means."""
    import numpy as np

    SIMPLE.setdefault(np.ndarray, unlike_array)
    given = getattr(function, "__annotations__", {})
    module = function.__module__
    if function.__qualname__.endswith("__init__") and "." in function.__qualname__:
        owner = getattr(sys.modules.get(module), function.__qualname__.split(".")[0], None)
        given = (
            {**given, **fields_of(owner)}
            if owner and hasattr(owner, "__dataclass_fields__")
            else given
        )
    return {name: evaluate(annotation, module) for name, annotation in given.items()}


def fields_of(cls: type) -> dict[str, Any]:
    """What the annotation of each field of a dataclass or named tuple means."""
    found = {}
    for base in reversed(cls.__mro__):
        for name, annotation in vars(base).get("__annotations__", {}).items():
            found[name] = evaluate(annotation, base.__module__)
    return found

"""The types of compiled loops: numbers, arrays of known rank, and tuples with names.

A loop is a Python function whose arguments are annotated with these. An array is C-contiguous; its
record is its address and its lengths. A tuple with names (or a plain tuple) is one address on the
side of the loops: its fields stand one after the other in words of eight bytes.
"""

from __future__ import annotations

import functools
import inspect
import struct
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from armature.errors import ArgumentError
from armature.kernel.quick import data_address

WORD = 8  # bytes of a field
DOUBLE, INTEGER, BOOLEAN = "double", "i64", "i1"
SCALARS = {float: DOUBLE, int: INTEGER, bool: BOOLEAN}
FORMAT = {DOUBLE: "d", INTEGER: "q", BOOLEAN: "q"}  # of struct: in a word


@dataclass(frozen=True)
class ArrayType:
    """An array of doubles or of 64-bit integers."""

    kind: str
    rank: int

    @property
    def dtype(self) -> Any:
        """NumPy's type of an element."""
        return np.float64 if self.kind == DOUBLE else np.int64


Vector = Annotated[np.ndarray, ArrayType(DOUBLE, 1)]
Matrix = Annotated[np.ndarray, ArrayType(DOUBLE, 2)]
Matrices = Annotated[np.ndarray, ArrayType(DOUBLE, 3)]
Indices = Annotated[np.ndarray, ArrayType(INTEGER, 1)]


@dataclass(frozen=True)
class RecordType:
    """A tuple with names: fields and their types in order."""

    name: str
    fields: tuple[tuple[str, Type], ...]

    def find(self, name: str) -> tuple[Type, int] | None:
        """(type, byte where it begins) of a field; None when there is none of this name."""
        start = 0
        for field, kind in self.fields:
            if field == name:
                return kind, start
            start += size(kind)
        return None


Type = str | ArrayType | RecordType


def size(kind: Type) -> int:
    """Bytes of a field."""
    if isinstance(kind, RecordType):
        return sum(size(part) for _, part in kind.fields)
    return WORD * (1 + kind.rank if isinstance(kind, ArrayType) else 1)


@functools.cache
def read_annotation(annotation: Any) -> Type:
    """The type that an annotation means."""
    if annotation in SCALARS:
        return SCALARS[annotation]
    for about in getattr(annotation, "__metadata__", ()):
        if isinstance(about, ArrayType):
            return about
    if typing.get_origin(annotation) is tuple:
        parts = enumerate(typing.get_args(annotation))
        return RecordType(str(annotation), tuple((str(i), read_annotation(x)) for i, x in parts))
    if hasattr(annotation, "_fields"):
        hints = typing.get_type_hints(annotation, include_extras=True)
        fields = tuple((name, read_annotation(hints[name])) for name in annotation._fields)
        return RecordType(annotation.__qualname__, fields)
    raise ArgumentError(
        f"a loop cannot be given {annotation}: annotate float, int, bool, Vector, Matrix, Matrices,"
        " Indices, or a NamedTuple of these"
    )


@dataclass(frozen=True)
class Signature:
    """A function with the types of its arguments and results. name: in the assembly."""

    function: Callable
    name: str
    arguments: tuple[tuple[str, Type], ...]
    results: tuple[str, ...]


def read_signature(function: Callable) -> Signature:
    """The types of a function, from its annotations."""
    hints = typing.get_type_hints(function, include_extras=True)
    returned = hints.pop("return", type(None))
    name = f"{function.__module__}.{function.__qualname__}"
    missing = [x for x in inspect.signature(function).parameters if x not in hints]
    if missing:
        raise ArgumentError(f"{name} is a loop: annotate {', '.join(missing)}")
    results = typing.get_args(returned) or ((returned,) if returned is not type(None) else ())
    arguments = tuple((argument, read_annotation(hint)) for argument, hint in hints.items())
    return Signature(function, name, arguments, tuple(SCALARS[x] for x in results))


# values from Python ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Held:
    """A tuple with names, laid out for loops once for many calls. Its arrays are not copied."""

    value: Any
    kind: RecordType
    words: bytes

    @functools.cached_property
    def address(self) -> int:
        """Of the words, which live as long as this."""
        return np.frombuffer(self.words, np.uint8).ctypes.data


def hold(value: Any) -> Held:
    """Lay out a tuple with names for loops; they find its fields in what they are given."""
    kind = read_annotation(type(value))
    if not isinstance(kind, RecordType):
        raise ArgumentError(f"only a NamedTuple can be held, got {type(value).__name__}")
    return Held(value, kind, lay_out(kind, value))


def lay_out(kind: Type, value: Any) -> bytes:
    """The words of a value."""
    if isinstance(kind, RecordType):
        return b"".join(lay_out(part, x) for (_, part), x in zip(kind.fields, value))
    if isinstance(kind, ArrayType):
        return struct.pack(f"{1 + kind.rank}q", *array_words(kind, value))
    return struct.pack(FORMAT[kind], value)


def array_words(kind: ArrayType, array: np.ndarray) -> tuple[int, ...]:
    """(address, lengths) of an array; one of another kind is refused."""
    if array.ndim != kind.rank or array.dtype != kind.dtype or not array.flags.c_contiguous:
        raise ArgumentError(
            f"a loop takes a C-contiguous array of rank {kind.rank} of {kind.dtype.__name__}, got"
            f" shape {array.shape}, {array.dtype}"
        )
    return data_address(array), *array.shape

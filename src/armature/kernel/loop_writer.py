"""A writer of LLVM assembly for loops on numbers and arrays: values, arithmetic, memory, jumps."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from armature.errors import ArgumentError
from armature.kernel.loop_types import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    ArrayType,
    RecordType,
    Signature,
    Type,
)

FAST = "contract reassoc nsz arcp"  # sums may be reordered; NaN and infinity keep their meaning
ORDER = {BOOLEAN: 0, INTEGER: 1, DOUBLE: 2}
# Doubles and integers lie in different memory, and what describes an array is never written.
METADATA = """!0 = !{}
!1 = !{!"memory"}
!2 = !{!"double", !1, i64 0}
!3 = !{!"i64", !1, i64 0}
!4 = !{!2, !2, i64 0}
!5 = !{!3, !3, i64 0}
"""
CONSTANT = ", !invariant.load !0"
MEMORY = {DOUBLE: ", align 8, !tbaa !4", INTEGER: ", align 8, !tbaa !5"}


class Scalar(NamedTuple):
    """A number: name or constant."""

    kind: str
    name: str


class Slot(NamedTuple):
    """A variable: where its number stands on the stack (LLVM keeps it in a register)."""

    kind: str
    name: str


class Array(NamedTuple):
    """An array: address of its first element, and lengths."""

    kind: str
    pointer: str
    lengths: tuple[Scalar, ...]


class Record(NamedTuple):
    """A tuple with names: where it stands."""

    type: RecordType
    pointer: str


def integer(value: int) -> Scalar:
    """A constant."""
    return Scalar(INTEGER, str(value))


def number(value: float | bool) -> Scalar:
    """A constant of Python: bool, int or float, exact."""
    if isinstance(value, bool):
        return Scalar(BOOLEAN, str(value).lower())
    if isinstance(value, int):
        return integer(value)
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return Scalar(DOUBLE, f"0x{bits:016X}")


class Writer:
    """Collects the lines of one function: what is done once at its entry, and the rest."""

    def __init__(self):
        self.entry: list[str] = []
        self.lines: list[str] = []
        self.fields: dict[tuple[str, int], str] = {}
        self.count = 0

    def text(self) -> str:
        """The body of the function."""
        return "\n".join(["entry:", *self.entry, "  br label %begin", "begin:", *self.lines])

    # lines and labels ------------------------------------------------------------------------

    def fresh(self, word: str) -> str:
        """A new name."""
        self.count += 1
        return f"{word}{self.count}"

    def emit(self, text: str, lines: list[str] | None = None) -> str:
        """Append `%new = text`; return the new name."""
        name = f"%{self.fresh('v')}"
        (self.lines if lines is None else lines).append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        """What follows is reached by jumps to this name."""
        self.lines.append(f"{name}:")

    def jump(self, name: str) -> None:
        """Go on at a label; what is written next is reached only by a label."""
        self.leave(f"br label %{name}")

    def leave(self, instruction: str) -> None:
        """An instruction that ends a block."""
        self.do(instruction)
        self.label(self.fresh("after"))

    def branch(self, condition: Scalar, yes: str, no: str) -> None:
        """Go on at one of two labels, the first of which follows."""
        self.do(f"br i1 {condition.name}, label %{yes}, label %{no}")
        self.label(yes)

    @contextlib.contextmanager
    def counted(self, start: Scalar, stop: Scalar, step: int) -> Iterator[tuple[Scalar, str]]:
        """A loop: (its counter, the label at which the next round begins)."""
        counter = self.slot(INTEGER)
        test, body, following, end = (self.fresh(w) for w in ("test", "body", "next", "end"))
        self.store(counter, start)
        self.do(f"br label %{test}")
        self.label(test)
        now = self.load(counter)
        order = "slt" if step > 0 else "sgt"
        inside = self.emit(f"icmp {order} i64 {now.name}, {stop.name}")
        self.branch(Scalar(BOOLEAN, inside), body, end)
        yield now, following
        self.do(f"br label %{following}")
        self.label(following)
        self.store(counter, Scalar(INTEGER, self.emit(f"add nsw i64 {now.name}, {step}")))
        self.do(f"br label %{test}")
        self.label(end)

    # numbers ---------------------------------------------------------------------------------

    def slot(self, kind: str) -> Slot:
        """Room for a variable."""
        return Slot(kind, self.emit(f"alloca {kind}", self.entry))

    def load(self, slot: Slot) -> Scalar:
        """The number of a variable."""
        return Scalar(slot.kind, self.emit(f"load {slot.kind}, ptr {slot.name}"))

    def store(self, slot: Slot, value: Scalar) -> None:
        """Set a variable."""
        self.do(f"store {slot.kind} {self.convert(value, slot.kind).name}, ptr {slot.name}")

    def convert(self, value: Scalar, kind: str) -> Scalar:
        """A number as one of a wider kind."""
        if value.kind == kind:
            return value
        if ORDER[value.kind] > ORDER[kind]:
            raise ArgumentError(f"a value of type {value.kind} cannot become {kind}")
        if kind == INTEGER:
            return Scalar(kind, self.emit(f"zext i1 {value.name} to i64"))
        how = "uitofp" if value.kind == BOOLEAN else "sitofp"
        return Scalar(kind, self.emit(f"{how} {value.kind} {value.name} to double"))

    def widest(self, a: Scalar, b: Scalar, least: str = INTEGER) -> tuple[Scalar, Scalar]:
        """Both numbers as the wider of their kinds."""
        kind = max(a.kind, b.kind, least, key=ORDER.__getitem__)
        return self.convert(a, kind), self.convert(b, kind)

    def arithmetic(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """add, sub, mul of two numbers."""
        a, b = self.widest(a, b)
        how = f"f{op} {FAST}" if a.kind == DOUBLE else f"{op} nsw"
        return Scalar(a.kind, self.emit(f"{how} {a.kind} {a.name}, {b.name}"))

    def divide(self, a: Scalar, b: Scalar) -> Scalar:
        """a / b."""
        a, b = self.widest(a, b, DOUBLE)
        return Scalar(DOUBLE, self.emit(f"fdiv {FAST} double {a.name}, {b.name}"))

    def floor_divide(self, a: Scalar, b: Scalar) -> Scalar:
        """a // b of integers: rounded down, as Python does."""
        quotient = self.emit(f"sdiv i64 {a.name}, {b.name}")
        rest = self.emit(f"srem i64 {a.name}, {b.name}")
        opposite = self.emit(f"icmp slt i64 {self.emit(f'xor i64 {rest}, {b.name}')}, 0")
        inexact = self.emit(f"icmp ne i64 {rest}, 0")
        less = self.emit(f"zext i1 {self.emit(f'and i1 {opposite}, {inexact}')} to i64")
        return Scalar(INTEGER, self.emit(f"sub nsw i64 {quotient}, {less}"))

    def compare(self, op: str, a: Scalar, b: Scalar) -> Scalar:
        """lt, le, gt, ge, eq or ne; with NaN only ne holds."""
        a, b = self.widest(a, b)
        signed = "" if op in ("eq", "ne") else "s"
        how = f"icmp {signed}{op}"
        if a.kind == DOUBLE:
            how = f"fcmp {'u' if op == 'ne' else 'o'}{op}"
        return Scalar(BOOLEAN, self.emit(f"{how} {a.kind} {a.name}, {b.name}"))

    def select(self, condition: Scalar, a: Scalar, b: Scalar) -> Scalar:
        """The first number where the condition holds, else the second."""
        a, b = self.widest(a, b, BOOLEAN)
        text = f"select i1 {condition.name}, {a.kind} {a.name}, {b.kind} {b.name}"
        return Scalar(a.kind, self.emit(text))

    def intrinsic(self, name: str, x: Scalar) -> Scalar:
        """A function of LLVM on doubles."""
        x = self.convert(x, DOUBLE)
        return Scalar(DOUBLE, self.emit(f"call {FAST} double @llvm.{name}.f64(double {x.name})"))

    # memory ----------------------------------------------------------------------------------

    def part(self, array: Array, indices: Sequence[Scalar]) -> Array:
        """What is left of an array after its first indices."""
        if len(indices) > len(array.lengths):
            raise ArgumentError(f"{len(indices)} indices for an array of rank {len(array.lengths)}")
        place = None
        for i, length in enumerate(array.lengths):
            place = place and self.arithmetic("mul", place, length)
            if i < len(indices):
                place = self.arithmetic("add", place, indices[i]) if place else indices[i]
        rest = array.lengths[len(indices) :]
        return Array(array.kind, self.offset(array, place) if place else array.pointer, rest)

    def offset(self, array: Array, place: Scalar) -> str:
        """The address of an element by its place in memory."""
        kind = array.kind
        return self.emit(f"getelementptr inbounds {kind}, ptr {array.pointer}, i64 {place.name}")

    def read(self, kind: str, pointer: str) -> Scalar:
        """An element."""
        return Scalar(kind, self.emit(f"load {kind}, ptr {pointer}{MEMORY[kind]}"))

    def write(self, kind: str, pointer: str, value: Scalar) -> None:
        """Set an element."""
        value = self.convert(value, kind)
        self.do(f"store {kind} {value.name}, ptr {pointer}{MEMORY[kind]}")

    def count_of(self, array: Array) -> Scalar:
        """How many elements an array has."""
        total = integer(1)
        for i, length in enumerate(array.lengths):
            total = self.arithmetic("mul", total, length) if i else length
        return total

    def fill(self, array: Array, value: Scalar) -> None:
        """Set all elements."""
        with self.counted(integer(0), self.count_of(array), 1) as (i, _):
            self.write(array.kind, self.offset(array, i), value)

    # fields of tuples: read once, at the function's entry --------------------------------------

    def field(self, record: Record, name: str) -> Scalar | Array | Record:
        """A field of a tuple with names."""
        found = record.type.find(name)
        if found is None:
            raise ArgumentError(f"{record.type.name} has no field {name}")
        kind, start = found
        return self.at_entry(kind, record.pointer, start)

    def at_entry(self, kind: Type, pointer: str, start: int) -> Scalar | Array | Record:
        """What stands at a place that is known at the function's entry."""
        if isinstance(kind, RecordType):
            return Record(kind, self.place(pointer, start))
        if isinstance(kind, ArrayType):
            lengths = [self.word(INTEGER, pointer, start + 8 * (i + 1)) for i in range(kind.rank)]
            first = self.word("ptr", pointer, start)
            return Array(kind.kind, first, tuple(Scalar(INTEGER, x) for x in lengths))
        if kind == BOOLEAN:
            word = self.word(INTEGER, pointer, start)
            return Scalar(BOOLEAN, self.emit(f"icmp ne i64 {word}, 0", self.entry))
        return Scalar(kind, self.word(kind, pointer, start))

    def place(self, pointer: str, start: int) -> str:
        """The address of a word."""
        key = pointer, -1 - start
        if key not in self.fields:
            text = f"getelementptr inbounds i8, ptr {pointer}, i64 {start}"
            self.fields[key] = self.emit(text, self.entry)
        return self.fields[key]

    def word(self, kind: str, pointer: str, start: int) -> str:
        """A word, which loops never change."""
        key = pointer, start
        if key not in self.fields:
            text = f"load {kind}, ptr {self.place(pointer, start)}, align 8{CONSTANT}"
            self.fields[key] = self.emit(text, self.entry)
        return self.fields[key]


def parameters(name: str, kind: Type) -> list[str]:
    """The parameters of a definition for one argument."""
    if isinstance(kind, ArrayType):
        return [f"ptr %arg.{name}", *(f"i64 %arg.{name}.{i}" for i in range(kind.rank))]
    return [f"{'ptr' if isinstance(kind, RecordType) else kind} %arg.{name}"]


def result_type(signature: Signature) -> str:
    """Of the function in LLVM."""
    kinds = signature.results
    return {0: "void", 1: "".join(kinds)}.get(len(kinds), f"{{ {', '.join(kinds)} }}")

"""A writer of LLVM assembly for vectors of doubles: fresh names, one method for each instruction
used."""

from __future__ import annotations

import struct
from collections.abc import Sequence


class Writer:
    """Collects the lines of one function body. Values are strings: names (%12) or constants.

    width: lanes of a vector.  fast: flags of the arithmetic.  table: bits → place of the numbers
    that are read from the array %constants instead of standing in the code, shared by all functions
    of a module; its first places, with negative keys, are parameters."""

    def __init__(self, width: int, fast: str = "", table: dict[int, int] | None = None):
        self.width = width
        self.fast = fast
        self.table = table
        self.volatile = ""  # or "volatile ": loads and stores that LLVM must not try to merge
        self.lines: list[str] = []
        self._count = 0
        self.vector = f"<{width} x double>"
        self.integers = f"<{width} x i64>"
        self.mask = f"<{width} x i1>"

    # names and constants
    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def emit(self, text: str) -> str:
        """Append `%new = text`; return the new name."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def number(self, value: float) -> str:
        """A vector with this number, exact by its bits, in every lane. Read from the table, it
        costs one broadcast and no address."""
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        if self.table is None or bits == 0:
            return "<" + ", ".join([f"double 0x{bits:016X}"] * self.width) + ">"
        return self.kept(self.table.setdefault(bits, len(self.table)))

    def kept(self, place: int) -> str:
        """A vector with the number at this place of the table in every lane."""
        address = self.emit(f"getelementptr double, ptr %constants, i64 {place}")
        return self.splat(self.emit(f"load double, ptr {address}, align 8, !invariant.load !1"))

    def splat(self, scalar: str) -> str:
        """A vector with this double in every lane."""
        first = self.emit(f"insertelement {self.vector} poison, double {scalar}, i32 0")
        return self.emit(
            f"shufflevector {self.vector} {first}, {self.vector} poison, <{self.width} x i32>"
            " zeroinitializer"
        )

    def integer(self, value: int) -> str:
        """A vector of 64-bit integers, every lane the same."""
        return "<" + ", ".join([f"i64 {value}"] * self.width) + ">"

    # arithmetic on vectors of doubles
    def add(self, a: str, b: str) -> str:
        return self.emit(f"fadd {self.fast} {self.vector} {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        return self.emit(f"fsub {self.fast} {self.vector} {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        return self.emit(f"fmul {self.fast} {self.vector} {a}, {b}")

    def div(self, a: str, b: str) -> str:
        return self.emit(f"fdiv {self.fast} {self.vector} {a}, {b}")

    def neg(self, a: str) -> str:
        return self.emit(f"fneg {self.vector} {a}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a·b + c, rounded once."""
        v = self.vector
        return self.emit(f"call {v} @llvm.fma.v{self.width}f64({v} {a}, {v} {b}, {v} {c})")

    def intrinsic(self, name: str, *args: str) -> str:
        """An LLVM intrinsic from vectors to a vector."""
        operands = ", ".join(f"{self.vector} {a}" for a in args)
        return self.emit(f"call {self.vector} @llvm.{name}.v{self.width}f64({operands})")

    def compare(self, predicate: str, a: str, b: str) -> str:
        """A mask; ordered predicates (olt, oeq, …) are false on NaN."""
        return self.emit(f"fcmp {predicate} {self.vector} {a}, {b}")

    def select(self, mask: str, a: str, b: str) -> str:
        return self.emit(f"select {self.mask} {mask}, {self.vector} {a}, {self.vector} {b}")

    # bits
    def bits(self, a: str) -> str:
        return self.emit(f"bitcast {self.vector} {a} to {self.integers}")

    def from_bits(self, a: str) -> str:
        return self.emit(f"bitcast {self.integers} {a} to {self.vector}")

    def int_op(self, op: str, a: str, b: str) -> str:
        return self.emit(f"{op} {self.integers} {a}, {b}")

    def any(self, mask: str) -> str:
        """One bit: does the mask hold in any lane?"""
        word = self.emit(f"bitcast {self.mask} {mask} to i{self.width}")
        return self.emit(f"icmp ne i{self.width} {word}, 0")

    # memory
    def load(self, pointer: str, index: int) -> str:
        """Vector number `index` of an array of vectors."""
        address = self.emit(f"getelementptr {self.vector}, ptr {pointer}, i64 {index}")
        return self.emit(
            f"load {self.volatile}{self.vector}, ptr {address}, align {8 * self.width}"
        )

    def store(self, value: str, pointer: str, index: int) -> None:
        address = self.emit(f"getelementptr {self.vector}, ptr {pointer}, i64 {index}")
        self.do(
            f"store {self.volatile}{self.vector} {value}, ptr {address}, align {8 * self.width}"
        )


def function(header: str, writer: Writer) -> str:
    """The text of a function definition from its header and body."""
    return f"define {header} #0 {{\nentry:\n" + "\n".join(writer.lines) + "\n}\n"


def parameter_places(count: int) -> dict[int, int]:
    """A writer's table with nothing but room for parameters, at its beginning."""
    return {-1 - place: place for place in range(count)}


def table(numbers: dict[int, int]) -> str:
    """The text of the array @constants from a writer's table; with parameters it can be found and
    written from outside."""
    values = ", ".join(f"double 0x{max(bits, 0):016X}" for bits in numbers) or "double 0.0"
    kind = "global" if -1 in numbers else "internal constant"
    return f"@constants = {kind} [{max(len(numbers), 1)} x double] [{values}], align 64\n"


def transpose(w: Writer, rows: Sequence[str]) -> list[str]:
    """c vectors as rows of c × c blocks side by side → the same of each block's columns: log₂ c
    rounds of shuffles. Its own inverse."""
    values = list(rows)
    step = 1
    while step < len(values):
        low = ", ".join(f"i32 {i if not i & step else i - step + w.width}" for i in range(w.width))
        high = ", ".join(f"i32 {i + step if not i & step else i + w.width}" for i in range(w.width))
        for i in range(len(values)):
            if not i & step:
                a, b = values[i], values[i + step]
                pair = f"shufflevector {w.vector} {a}, {w.vector} {b}, <{w.width} x i32>"
                values[i], values[i + step] = w.emit(f"{pair} <{low}>"), w.emit(f"{pair} <{high}>")
        step *= 2
    return values

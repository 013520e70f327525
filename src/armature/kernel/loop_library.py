"""Loops over arrays, written in plain Python and compiled together (loop_source.py).

    library = Library("a name for messages")

    @library.loop
    def total(x: Vector) -> float: ...

All loops of a library are compiled in one piece when the first is called, and kept on disk: one or
two seconds for a thousand lines, where a compiler of all of Python takes a minute. `py_func` is the
Python function itself, which gives the same answer slowly.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import struct
import threading
from collections.abc import Callable, Sequence
from typing import Any

from armature.errors import ArgumentError
from armature.kernel import machine_code
from armature.kernel.activity import compiling
from armature.kernel.loop_source import Translation
from armature.kernel.loop_types import (
    BOOLEAN,
    FORMAT,
    ArrayType,
    Held,
    RecordType,
    Signature,
    Type,
    array_words,
    hold,
    read_signature,
    size,
)
from armature.kernel.loop_writer import METADATA, Array, Scalar, Writer, result_type
from armature.kernel.sources import digest

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
INTRINSICS = ("sqrt", "log", "sin", "cos", "fabs")


class Inner:
    """A loop that other loops call. Python may call it too, and then runs it as it is written."""

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)

    @functools.cached_property
    def signature(self) -> Signature:
        """The types of arguments and results."""
        return read_signature(self.py_func)


class Loop(Inner):
    """A loop that Python calls with numbers, arrays, tuples with names, or such as are held."""

    def __init__(self, function: Callable, library: Library):
        super().__init__(function)
        self.library = library
        self._entry: Callable | None = None

    def __call__(self, *arguments: Any) -> Any:
        if self._entry is None:
            self._entry = self.library.find(self)
        words: list[Any] = []
        kept = [pack(value, words) for pack, value in zip(self._packers, arguments, strict=True)]
        memory = self._memory()
        self._given.pack_into(memory, 0, *words)
        self._entry(memory)
        del kept  # what the words point to lives until here
        return self._answer(memory)

    @functools.cached_property
    def _packers(self) -> list[Callable[[Any, list[Any]], Any]]:
        return [packer(kind) for _, kind in self.signature.arguments]

    @functools.cached_property
    def _given(self) -> struct.Struct:
        """The layout of the words that a call is given."""
        return struct.Struct("".join(word_format(kind) for _, kind in self.signature.arguments))

    @functools.cached_property
    def _memory(self) -> type[ctypes.Array]:
        return ctypes.c_int64 * (self._given.size // 8 + len(self.signature.results) or 1)

    @functools.cached_property
    def _answer(self) -> Callable[[Any], Any]:
        results, start = self.signature.results, self._given.size
        layout = struct.Struct("".join(FORMAT[kind] for kind in results))
        if not results:
            return lambda memory: None
        if results == (BOOLEAN,):
            return lambda memory: bool(layout.unpack_from(memory, start)[0])
        if len(results) == 1:
            return lambda memory: layout.unpack_from(memory, start)[0]
        return lambda memory: layout.unpack_from(memory, start)


def word_format(kind: Type) -> str:
    """Of `struct`: how a call hands over an argument."""
    if isinstance(kind, ArrayType):
        return "q" * (1 + kind.rank)
    return "q" if isinstance(kind, RecordType) else FORMAT[kind]


def packer(kind: Type) -> Callable[[Any, list[Any]], Any]:
    """What appends the words of an argument, and returns what must outlive the call."""
    if isinstance(kind, ArrayType):
        return lambda array, words: words.extend(array_words(kind, array))
    if isinstance(kind, RecordType):
        return lambda value, words: append_record(kind, value, words)
    if kind == BOOLEAN:
        return lambda value, words: words.append(bool(value))
    return lambda value, words: words.append(value)


def append_record(kind: RecordType, value: Any, words: list[Any]) -> Held:
    """The address of a tuple with names, held for this call if it is not held already."""
    held = value if isinstance(value, Held) else hold(value)
    if held.kind is not kind:
        raise ArgumentError(f"a loop takes {kind.name}, got {held.kind.name}")
    words.append(held.address)
    return held


class Library:
    """Loops that are compiled together. title: what is said to be compiled, in messages."""

    def __init__(self, title: str):
        self.title = title
        self.loops: dict[str, Loop] = {}
        self._engines: list[Any] = []
        self._lock = threading.Lock()
        self._found: dict[str, Callable] = {}

    def loop(self, function: Callable) -> Loop:
        """Decorate a function that Python calls."""
        made = Loop(function, self)
        self.loops[f"{function.__module__}.{function.__qualname__}"] = made
        return made

    def find(self, loop: Loop) -> Callable:
        """The compiled function; all that were not compiled yet are."""
        name = loop.signature.name
        with self._lock:
            if name not in self._found:
                wanted = {name: x for name, x in self.loops.items() if name not in self._found}
                code = self._code([loop for _, loop in sorted(wanted.items())])
                engine = machine_code.load_engine(code)
                self._engines.append(engine)
                for each in wanted:
                    address = engine.get_function_address(entry_name(each))
                    self._found[each] = ENTRY(address)
        return self._found[name]

    def _code(self, loops: Sequence[Loop]) -> bytes:
        """The object code of these loops and what they call, from the disk if it is kept there."""
        parts = [f"{loop.signature.name} {digest(loop.py_func)}" for loop in loops]
        key = f"loops {hashlib.sha256(repr(parts).encode()).hexdigest()}"
        entry = machine_code.read_cache(key)
        if entry is not None:
            return entry[1]
        with compiling(self.title):
            code = machine_code.assemble_optimized(write_module([loop.signature for loop in loops]))
        machine_code.write_cache(key, {"name": self.title}, code)
        return code


def write_module(exported: Sequence[Signature]) -> str:
    """LLVM assembly of these functions and all that they call."""
    waiting, texts = {signature.name: signature for signature in exported}, {}
    while waiting:
        name, signature = waiting.popitem()
        translation = Translation(signature)
        texts[name] = translation.text()
        waiting |= {x: y for x, y in translation.called.items() if x not in texts}
    entries = [write_entry(signature) for signature in exported]
    known = [f"declare double @llvm.{name}.f64(double)\n" for name in INTRINSICS]
    attributes = "attributes #0 = { nounwind }\n"
    return "".join([*(texts[x] for x in sorted(texts)), *entries, *known, attributes, METADATA])


def entry_name(name: str) -> str:
    """Of the function that Python calls."""
    return f"{name}.entry"


def write_entry(signature: Signature) -> str:
    """The function that Python calls: arguments from an array of words, results after them."""
    w = Writer()
    start, handed = 0, []
    for _, kind in signature.arguments:
        if isinstance(kind, RecordType):
            handed.append(f"ptr {w.word('ptr', '%words', start)}")
            start += 8
            continue
        value = w.at_entry(kind, "%words", start)
        assert isinstance(value, (Scalar, Array))
        first = value.pointer if isinstance(value, Array) else value.name
        handed.append(f"{'ptr' if isinstance(value, Array) else kind} {first}")
        handed += [f"i64 {x.name}" for x in value.lengths] if isinstance(value, Array) else []
        start += size(kind)
    kind = result_type(signature)
    call = f'call {kind} @"{signature.name}"({", ".join(handed)})'
    found = w.emit(call) if signature.results else w.do(call)
    for i, result in enumerate(signature.results):
        several = len(signature.results) > 1
        one = Scalar(result, w.emit(f"extractvalue {kind} {found}, {i}") if several else str(found))
        wide = w.convert(one, "i64") if result == BOOLEAN else one
        w.do(f"store {wide.kind} {wide.name}, ptr {w.place('%words', start + 8 * i)}")
    w.do("ret void")
    return f'define void @"{entry_name(signature.name)}"(ptr %words) #0 {{\n{w.text()}\n}}\n'

"""Python functions on numbers and arrays → LLVM assembly: loops over knots, and what they call.

The part of Python that such loops need, with its meaning: `for … in range`, over an array or over a
tuple, `if`, `continue`, `return`, assignments, arithmetic, comparisons, `abs`, `min`, `max`,
`np.sqrt`, `np.log`, `np.sin`, `np.cos`, `np.isfinite`, the functions of `spatial.numbers` with an
`intrinsic`, elements of arrays, their leading parts (`a[k]`, `a[k, 2:]`), and
calls of other loops. Types come from the annotations (loop_types.py), so nothing is inferred but
local names, which have the type of what is first assigned to them. Indices are not checked and may
not be negative.

Sums may be reordered and contracted, as vector units need it; NaN and infinity keep their meaning.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import textwrap
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.kernel import loop_writer
from armature.kernel.loop_types import BOOLEAN, DOUBLE, INTEGER, ArrayType, RecordType, Signature
from armature.kernel.loop_writer import Array, Record, Scalar, Slot, Writer, integer, number

COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
INTRINSIC = {np.sqrt: "sqrt", np.log: "log", np.sin: "sin", np.cos: "cos", abs: "fabs"}
EXTREME = {min: "min", max: "max"}


class Translation:
    """One function. `called`: the functions that it calls, by their names in the assembly."""

    def __init__(self, signature: Signature):
        self.signature = signature
        self.writer = Writer()
        self.called: dict[str, Signature] = {}
        self.next_round: list[str] = []  # the labels to which `continue` goes
        self.names: dict[str, Any] = {}
        for name, kind in signature.arguments:
            self.names[name] = self.argument(name, kind)

    def argument(self, name: str, kind: Any) -> Any:
        """An argument as a value: numbers may be assigned anew."""
        if isinstance(kind, RecordType):
            return Record(kind, f"%arg.{name}")
        if isinstance(kind, ArrayType):
            lengths = tuple(Scalar(INTEGER, f"%arg.{name}.{i}") for i in range(kind.rank))
            return Array(kind.kind, f"%arg.{name}", lengths)
        slot = self.writer.slot(kind)
        self.writer.entry.append(f"  store {kind} %arg.{name}, ptr {slot.name}")
        return slot

    def text(self) -> str:
        """The definition in LLVM assembly."""
        tree = ast.parse(textwrap.dedent(inspect.getsource(self.signature.function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.block(tree.body)
        self.writer.do("ret void" if not self.signature.results else "unreachable")
        given = self.signature.arguments
        head = ", ".join(x for one in given for x in loop_writer.parameters(*one))
        name, result = self.signature.name, loop_writer.result_type(self.signature)
        return f'define internal {result} @"{name}"({head}) #0 {{\n{self.writer.text()}\n}}\n'

    # statements ------------------------------------------------------------------------------

    def block(self, statements: Sequence[ast.stmt]) -> None:
        """Statements one after the other."""
        for statement in statements:
            try:
                getattr(self, f"do_{type(statement).__name__}", self.refuse)(statement)
            except ArgumentError as error:
                if error.args and "cannot be compiled" in str(error):
                    raise
                self.refuse(statement, f": {error}")

    def refuse(self, node: ast.AST, why: str = "") -> Any:
        """Say which line is outside of what loops may use."""
        line, text = getattr(node, "lineno", "?"), ast.unparse(node).splitlines()[0]
        raise ArgumentError(f"{self.signature.name}, line {line}: {text} cannot be compiled{why}")

    def do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # not a docstring
            self.value(node.value)

    def do_Continue(self, node: ast.Continue) -> None:
        self.writer.jump(self.next_round[-1])

    def do_Return(self, node: ast.Return) -> None:
        w, wanted = self.writer, self.signature.results
        if not wanted:
            return w.leave("ret void")
        found = self.value(node.value) if node.value else ()
        found = found if isinstance(found, tuple) and not isinstance(found, Scalar) else (found,)
        values = [w.convert(x, kind) for x, kind in zip(found, wanted, strict=True)]
        kind = loop_writer.result_type(self.signature)
        if len(values) == 1:
            return w.leave(f"ret {kind} {values[0].name}")
        whole = "poison"
        for i, x in enumerate(values):
            whole = w.emit(f"insertvalue {kind} {whole}, {x.kind} {x.name}, {i}")
        return w.leave(f"ret {kind} {whole}")

    def do_If(self, node: ast.If) -> None:
        w = self.writer
        yes, no, end = w.fresh("yes"), w.fresh("no"), w.fresh("end")
        w.branch(self.condition(node.test), yes, no)
        self.block(node.body)
        w.do(f"br label %{end}")
        w.label(no)
        self.block(node.orelse)
        w.do(f"br label %{end}")
        w.label(end)

    def do_For(self, node: ast.For) -> None:
        w = self.writer
        if is_call(node.iter, "range"):
            start, stop, step = self.range_of(node.iter)
            with w.counted(start, stop, step) as (i, following):
                self.assign(node.target, i)
                self.round(node.body, following)
            return
        over = self.value(node.iter)
        if isinstance(over, Array):
            with w.counted(integer(0), w.count_of(over), 1) as (i, following):
                self.assign(node.target, w.read(over.kind, w.offset(over, i)))
                self.round(node.body, following)
            return
        for value in self.parts(over):  # of a tuple: written out
            following = w.fresh("next")
            self.assign(node.target, value)
            self.round(node.body, following)
            w.do(f"br label %{following}")
            w.label(following)

    def round(self, body: Sequence[ast.stmt], following: str) -> None:
        """The body of a loop."""
        self.next_round.append(following)
        self.block(body)
        self.next_round.pop()

    def range_of(self, node: ast.expr) -> tuple[Scalar, Scalar, int]:
        """(start, stop, step) of a range."""
        assert isinstance(node, ast.Call)
        step = self.scalar(node.args[2]).name if len(node.args) == 3 else "1"
        if step.startswith("%"):
            return self.refuse(node, ": its step must be a constant")
        ends = [self.scalar(x) for x in node.args[:2]]
        start, stop = ends if len(ends) == 2 else (integer(0), *ends)
        return start, stop, int(step)

    def do_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AugAssign(self, node: ast.AugAssign) -> None:
        before = self.value(node.target)
        self.assign(node.target, self.operate(node.op, before, self.scalar(node.value), node))

    def assign(self, target: ast.expr, value: Any) -> None:
        """Give a name, an element or a part of an array its value."""
        w = self.writer
        if isinstance(target, ast.Tuple):
            for part, one in zip(target.elts, self.parts(value), strict=True):
                self.assign(part, one)
        elif isinstance(target, ast.Subscript):
            where = self.element(target)
            if where.lengths:
                w.fill(where, value)
            else:
                w.write(where.kind, where.pointer, value)
        elif isinstance(target, ast.Name) and isinstance(value, Scalar):
            if not isinstance(self.names.get(target.id), Slot):
                self.names[target.id] = w.slot(value.kind)
            w.store(self.names[target.id], value)
        elif isinstance(target, ast.Name):
            self.names[target.id] = value
        else:
            self.refuse(target)

    # expressions -----------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Any:
        """A number, array, tuple, or a thing of Python such as a module or a function."""
        return getattr(self, f"of_{type(node).__name__}", self.refuse)(node)

    def scalar(self, node: ast.expr) -> Scalar:
        """A number."""
        value = self.value(node)
        return value if isinstance(value, Scalar) else self.refuse(node, ": not a number")

    def condition(self, node: ast.expr) -> Scalar:
        """A truth value."""
        value = self.scalar(node)
        return value if value.kind == BOOLEAN else self.refuse(node, ": not a truth value")

    def parts(self, value: Any) -> tuple[Any, ...]:
        """What a tuple consists of."""
        if isinstance(value, Record):
            return tuple(self.writer.field(value, name) for name, _ in value.type.fields)
        if isinstance(value, tuple) and not isinstance(value, (Scalar, Array)):
            return value
        raise ArgumentError("a tuple is needed here")

    def of_Constant(self, node: ast.Constant) -> Scalar:
        if isinstance(node.value, (bool, int, float)):
            return number(node.value)
        return self.refuse(node)

    def of_Name(self, node: ast.Name) -> Any:
        if node.id in self.names:
            found = self.names[node.id]
            return self.writer.load(found) if isinstance(found, Slot) else found
        function = self.signature.function
        found = function.__globals__.get(node.id, getattr(builtins, node.id, None))
        if found is None:
            return self.refuse(node, ": unknown name")
        return number(found) if isinstance(found, (bool, int, float)) else found

    def of_Attribute(self, node: ast.Attribute) -> Any:
        base = self.value(node.value)
        if isinstance(base, Record):
            return self.writer.field(base, node.attr)
        if isinstance(base, Array):
            about = {"shape": lambda: base.lengths, "size": lambda: self.writer.count_of(base)}
            if node.attr in about:
                return about[node.attr]()
            if node.attr == "flat":
                return Array(base.kind, base.pointer, (self.writer.count_of(base),))
        if isinstance(base, types.ModuleType):
            found = getattr(base, node.attr)
            return number(found) if isinstance(found, (bool, int, float)) else found
        return self.refuse(node)

    def of_Tuple(self, node: ast.Tuple) -> tuple[Any, ...]:
        return self.values(node.elts)

    def values(self, nodes: Sequence[ast.expr]) -> tuple[Any, ...]:
        """Values one after the other; a starred tuple is several."""
        found: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                found.extend(self.parts(self.value(node.value)))
            else:
                found.append(self.value(node))
        return tuple(found)

    def of_Subscript(self, node: ast.Subscript) -> Any:
        base = self.value(node.value)
        if isinstance(base, tuple) and not isinstance(base, (Array, Scalar)):
            return self.parts(base)[ast.literal_eval(node.slice)]
        where = self.element(node)
        return where if where.lengths else self.writer.read(where.kind, where.pointer)

    def element(self, node: ast.Subscript) -> Array:
        """The part of an array that indices name: whole numbers, after them at most one slice."""
        array = self.value(node.value)
        if not isinstance(array, Array):
            return self.refuse(node, ": not an array")
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        cut = indices[-1] if isinstance(indices[-1], ast.Slice) else None
        found = [self.scalar(i) for i in (indices[:-1] if cut else indices)]
        part = self.writer.part(array, found)
        return self.cut(part, cut) if cut else part

    def cut(self, array: Array, part: ast.Slice) -> Array:
        """A slice along the first axis."""
        w = self.writer
        start = self.scalar(part.lower) if part.lower else integer(0)
        stop = self.scalar(part.upper) if part.upper else array.lengths[0]
        length = w.arithmetic("sub", stop, start) if part.lower else stop
        first = w.part(array, [start]).pointer if part.lower else array.pointer
        return Array(array.kind, first, (length, *array.lengths[1:]))

    # operations ------------------------------------------------------------------------------

    def of_BinOp(self, node: ast.BinOp) -> Scalar:
        return self.operate(node.op, self.scalar(node.left), self.scalar(node.right), node)

    def operate(self, op: ast.operator, a: Scalar, b: Scalar, node: ast.AST) -> Scalar:
        """Arithmetic of two numbers."""
        w = self.writer
        if type(op) in ARITHMETIC:
            return w.arithmetic(ARITHMETIC[type(op)], a, b)
        if isinstance(op, ast.Div):
            return w.divide(a, b)
        if isinstance(op, ast.FloorDiv) and a.kind == b.kind == INTEGER:
            return w.floor_divide(a, b)
        if isinstance(op, ast.Pow) and b == integer(2):
            return w.arithmetic("mul", a, a)
        return self.refuse(node)

    def of_UnaryOp(self, node: ast.UnaryOp) -> Scalar:
        w, x = self.writer, self.scalar(node.operand)
        if isinstance(node.op, ast.USub) and x.kind == INTEGER and x.name.isdecimal():
            return integer(-int(x.name))
        if isinstance(node.op, ast.Not) and x.kind == BOOLEAN:
            return Scalar(BOOLEAN, w.emit(f"xor i1 {x.name}, true"))
        if isinstance(node.op, ast.USub) and x.kind == DOUBLE:
            return Scalar(DOUBLE, w.emit(f"fneg double {x.name}"))
        if isinstance(node.op, ast.USub):
            return w.arithmetic("sub", integer(0), x)
        return self.refuse(node)

    def of_Compare(self, node: ast.Compare) -> Scalar:
        w, values = self.writer, [self.scalar(x) for x in (node.left, *node.comparators)]
        pairs = zip(node.ops, values, values[1:])
        first, *more = [w.compare(COMPARE[type(op)], a, b) for op, a, b in pairs]
        for other in more:
            first = Scalar(BOOLEAN, w.emit(f"and i1 {first.name}, {other.name}"))
        return first

    def of_BoolOp(self, node: ast.BoolOp) -> Scalar:
        """`and`, `or`: what follows is not looked at when the first has decided."""
        w, result, end = self.writer, self.writer.slot(BOOLEAN), self.writer.fresh("end")
        for one in node.values:
            known = self.condition(one)
            w.store(result, known)
            more = w.fresh("more")
            ways = (more, end) if isinstance(node.op, ast.And) else (end, more)
            w.do(f"br i1 {known.name}, label %{ways[0]}, label %{ways[1]}")
            w.label(more)
        w.do(f"br label %{end}")
        w.label(end)
        return w.load(result)

    def of_IfExp(self, node: ast.IfExp) -> Scalar:
        w = self.writer
        yes, no, end = w.fresh("yes"), w.fresh("no"), w.fresh("end")
        w.branch(self.condition(node.test), yes, no)
        first = self.scalar(node.body)
        result = w.slot(first.kind)
        w.store(result, first)
        w.do(f"br label %{end}")
        w.label(no)
        w.store(result, self.scalar(node.orelse))
        w.do(f"br label %{end}")
        w.label(end)
        return w.load(result)

    def of_Call(self, node: ast.Call) -> Any:
        function, arguments = self.value(node.func), self.values(node.args)
        if node.keywords:
            return self.refuse(node, ": arguments by name")
        signature = getattr(function, "signature", None)
        if isinstance(signature, Signature):
            return self.call(signature, arguments)
        known = getattr(function, "intrinsic", "") or (INTRINSIC | EXTREME).get(function, "")
        if known in INTRINSIC.values():
            return self.writer.intrinsic(known, *arguments)
        if function is np.isfinite:
            size = self.writer.intrinsic("fabs", *arguments)
            return self.writer.compare("lt", size, number(np.inf))
        if known in EXTREME.values():
            result, op = arguments[0], "lt" if known == "min" else "gt"
            for x in arguments[1:]:
                result = self.writer.select(self.writer.compare(op, x, result), x, result)
            return result
        return self.refuse(node, ": neither a loop nor a known function")

    def call(self, signature: Signature, values: Sequence[Any]) -> Any:
        """Call another loop."""
        w = self.writer
        self.called[signature.name] = signature
        pairs = zip(values, signature.arguments, strict=True)
        handed = [x for value, (name, kind) in pairs for x in self.handed(value, name, kind)]
        text = f'call {loop_writer.result_type(signature)} @"{signature.name}"({", ".join(handed)})'
        if not signature.results:
            return w.do(text)
        found = w.emit(text)
        if len(signature.results) == 1:
            return Scalar(signature.results[0], found)
        kind = loop_writer.result_type(signature)
        names = [w.emit(f"extractvalue {kind} {found}, {i}") for i in range(len(signature.results))]
        return tuple(map(Scalar, signature.results, names))

    def handed(self, value: Any, name: str, kind: Any) -> list[str]:
        """The operands for one argument of a call."""
        if isinstance(kind, RecordType) and isinstance(value, Record) and value.type == kind:
            return [f"ptr {value.pointer}"]
        if isinstance(value, Array) and ArrayType(value.kind, len(value.lengths)) == kind:
            return [f"ptr {value.pointer}", *(f"i64 {x.name}" for x in value.lengths)]
        if isinstance(kind, str) and isinstance(value, Scalar):
            return [f"{kind} {self.writer.convert(value, kind).name}"]
        raise ArgumentError(f"the argument {name} must be {kind}, got {value}")


def is_call(node: ast.expr, name: str) -> bool:
    """Whether it is a call of a function by this name."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name

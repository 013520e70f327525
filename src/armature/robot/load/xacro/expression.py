"""Expressions `${…}` computed by a small evaluator of our own: Python's grammar, none of its
objects.

A value is a number, a truth value, a text, None, or a list or mapping of these. A dot reaches into
mappings only, a call reaches the functions and methods of `functions.py` only; whatever else the
grammar allows is refused by name."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from armature.robot.load.xacro.budget import LONGEST_VALUE, MOST_VALUES, Budget, XacroError
from armature.robot.load.xacro.functions import MOST_BITS, Function, method
from armature.robot.load.xacro.scope import Namespace

LONGEST = 8_000  # characters of an expression
CHARACTERS = LONGEST_VALUE // MOST_VALUES  # of a text that count as one value
DEEPEST = 60  # operations inside each other
WIDTH = re.compile(r"%\(|%[^a-zA-Z%]*(\*|\d{3,})")

Lookup = Callable[[str], Any]

OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.USub: lambda a, _: -a,
    ast.UAdd: lambda a, _: +a,
    ast.Not: lambda a, _: not a,
}


def parse_expression(text: str) -> ast.expr:
    """The syntax tree of an expression, or a XacroError."""
    if len(text) > LONGEST:
        raise XacroError(
            f"an expression has {len(text)} characters; at most {LONGEST} are computed"
        )
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as e:
        raise XacroError(
            f"the expression {_short(text)} is not well formed"
            f" ({getattr(e, 'msg', 'nested too deep')})"
        ) from None


def evaluate(tree: ast.expr, lookup: Lookup, budget: Budget) -> Any:
    """The value of an expression; `lookup(name)` gives the value of a name or raises a
    XacroError."""
    return _Evaluator(lookup, budget).value(tree)


class _Evaluator:
    """One expression: every node costs a step, every list and text its length."""

    def __init__(self, lookup: Lookup, budget: Budget):
        self.lookup, self.budget, self.depth = lookup, budget, 0
        self.bound: list[dict[str, Any]] = []  # names of comprehensions

    def value(self, node: ast.expr) -> Any:
        visit = getattr(self, "_" + type(node).__name__, None)
        if visit is None:
            allowed = "arithmetic, comparisons, lists, mappings and maths functions are"
            raise XacroError(f"{_words(node)} is not allowed in an expression; {allowed}")
        self.depth += 1
        if self.depth > DEEPEST:
            raise XacroError(f"the operations of an expression are nested deeper than {DEEPEST}")
        self.budget.take_steps()
        try:
            return visit(node)
        except (
            TypeError,
            ValueError,
            ArithmeticError,
            LookupError,
            RecursionError,
            AttributeError,
        ) as e:
            raise XacroError(f"{_words(node)} cannot be computed ({_reason(e)})") from None
        finally:
            self.depth -= 1

    def _Constant(self, node: ast.Constant) -> Any:
        if node.value is None or isinstance(node.value, (bool, int, float, str)):
            return node.value
        raise XacroError(f"{_words(node)} is not a number or text")

    def _Name(self, node: ast.Name) -> Any:
        for names in reversed(self.bound):
            if node.id in names:
                return names[node.id]
        return self.lookup(node.id)

    def _BinOp(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        _refuse_growth(node.op, left, right)
        return self._sized(OPERATORS[type(node.op)](left, right))

    def _UnaryOp(self, node: ast.UnaryOp) -> Any:
        return OPERATORS[type(node.op)](self.value(node.operand), None)

    def _BoolOp(self, node: ast.BoolOp) -> Any:
        result: Any = None
        for part in node.values:
            result = self.value(part)
            if bool(result) is isinstance(node.op, ast.Or):
                break
        return result

    def _Compare(self, node: ast.Compare) -> Any:
        left = self.value(node.left)
        for kind, part in zip(node.ops, node.comparators):
            right = self.value(part)
            self._sized(left)
            self._sized(right)
            if not OPERATORS[type(kind)](left, right):
                return False
            left = right
        return True

    def _IfExp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _List(self, node: ast.List) -> Any:
        return self._sized([self.value(item) for item in node.elts])

    def _Tuple(self, node: ast.Tuple) -> Any:
        return self._sized(tuple(self.value(item) for item in node.elts))

    def _Dict(self, node: ast.Dict) -> Any:
        if None in node.keys:
            raise XacroError("** is not allowed in an expression")
        return self._sized(
            {self.value(k): self.value(v) for k, v in zip(node.keys, node.values) if k is not None}
        )

    def _Subscript(self, node: ast.Subscript) -> Any:
        whole = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            ends = [
                None if end is None else self.value(end)
                for end in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            return self._sized(whole[slice(*ends)])
        return member(whole, self.value(node.slice), _words(node.value))

    def _Attribute(self, node: ast.Attribute) -> Any:
        whole = self.value(node.value)
        if isinstance(whole, (dict, Namespace)):
            return member(whole, node.attr, _words(node.value))
        what = f"{_words(node.value)} is {kind_of(whole)}"
        raise XacroError(
            f"{_words(node)} is not allowed: the dot reaches into mappings only, and {what}"
        )

    def _Call(self, node: ast.Call) -> Any:
        function = self._function(node.func)
        if any(k.arg is None for k in node.keywords) or any(
            isinstance(a, ast.Starred) for a in node.args
        ):
            raise XacroError("* and ** are not allowed in a call")
        args = [self.value(a) for a in node.args]
        return self._sized(
            function.call(*args, **{str(k.arg): self.value(k.value) for k in node.keywords})
        )

    def _function(self, node: ast.expr) -> Function:
        if isinstance(node, ast.Attribute):
            whole = self.value(node.value)
            inside = whole.get(node.attr) if isinstance(whole, dict) else None
            found = inside if isinstance(inside, Function) else method(whole, node.attr)
        elif isinstance(node, ast.Name):
            found = self.value(node)
        else:
            found = None
        if not isinstance(found, Function):
            raise XacroError(f"{_words(node)} is not a function that an expression may call")
        return found

    def _ListComp(self, node: ast.ListComp) -> Any:
        return self._sized([self.value(node.elt) for _ in self._rounds(node.generators)])

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return self._sized([self.value(node.elt) for _ in self._rounds(node.generators)])

    def _DictComp(self, node: ast.DictComp) -> Any:
        return self._sized(
            {self.value(node.key): self.value(node.value) for _ in self._rounds(node.generators)}
        )

    def _rounds(self, generators: list[ast.comprehension]) -> Any:
        if not generators:
            yield
            return
        first, rest = generators[0], generators[1:]
        items = self.value(first.iter)
        if not isinstance(items, (list, tuple, dict, str)) or first.is_async:
            raise XacroError(f"{_words(first.iter)} is not a list")
        for item in items:
            self.bound.append(_bind(first.target, item))
            try:
                if all(self.value(condition) for condition in first.ifs):
                    yield from self._rounds(rest)
            finally:
                self.bound.pop()

    def _sized(self, value: Any) -> Any:
        """The value, its size counted; one that is too large is refused."""
        if isinstance(value, complex):
            raise XacroError(
                "the result is a complex number; a root or power of a negative number?"
            )
        self.budget.take_steps(weight(value))
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise XacroError(f"a whole number has more than {MOST_BITS} bits")
        return value


def member(whole: Any, key: Any, name: str) -> Any:
    """An item of a list or text, a value of a mapping or namespace; whole numbers find the keys
    that YAML reads as words."""
    if isinstance(whole, dict):
        key = str(key) if key not in whole and isinstance(key, int) else key
        if key not in whole:
            known = ", ".join(str(k) for k in list(whole)[:12])
            raise XacroError(f"{name} has no key {key!r}; there are: {known}")
        return whole[key]
    if isinstance(whole, (list, tuple, str)):
        return whole[key]
    if isinstance(whole, Namespace):
        return whole.member(key)
    raise XacroError(f"{name} is {kind_of(whole)}, which has no items")


def weight(value: Any) -> int:
    """How many values and characters a value holds, counted as often as they are held; at most
    MOST_VALUES."""
    total, left = 0, [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            total += len(item) // CHARACTERS
        elif isinstance(item, (list, tuple)):
            total += len(item) + 1
            left.extend(x for x in item if isinstance(x, (list, tuple, dict, str)))
        elif isinstance(item, dict):
            total += len(item) + 1
            left.extend(x for x in item.values() if isinstance(x, (list, tuple, dict, str)))
        if total > MOST_VALUES or len(left) > MOST_VALUES:
            raise XacroError(f"a list, mapping or text has more than {MOST_VALUES} values")
    return total


def kind_of(value: Any) -> str:
    """What a value is, in words."""
    kinds = (
        (bool, "a truth value"),
        ((int, float), "a number"),
        (str, "text"),
        ((list, tuple), "a list"),
        (dict, "a mapping"),
    )
    return next((words for kind, words in kinds if isinstance(value, kind)), "no value")


def _refuse_growth(op: ast.operator, left: Any, right: Any) -> None:
    """Refuse powers and repetitions before they are computed, and text formats that fill lines."""
    if (
        isinstance(op, ast.Pow)
        and isinstance(left, int)
        and isinstance(right, int)
        and left.bit_length() * abs(right) > MOST_BITS
    ):
        raise XacroError(f"a power has more than {MOST_BITS} bits")
    if isinstance(op, ast.Mult):
        for whole, times in ((left, right), (right, left)):
            if (
                isinstance(whole, (str, list, tuple))
                and isinstance(times, int)
                and len(whole) * times > MOST_VALUES
            ):
                raise XacroError(f"a text or list is repeated to more than {MOST_VALUES} values")
    if isinstance(op, ast.Mod) and isinstance(left, str) and WIDTH.search(left):
        raise XacroError("a text format has a width of more than two digits, or names")


def _bind(target: ast.expr, item: Any) -> dict[str, Any]:
    if isinstance(target, ast.Name):
        return {target.id: item}
    if (
        isinstance(target, (ast.Tuple, ast.List))
        and isinstance(item, (list, tuple))
        and len(item) == len(target.elts)
    ):
        return {
            name: value
            for part, one in zip(target.elts, item)
            for name, value in _bind(part, one).items()
        }
    raise XacroError(f"{_words(target)} does not fit what it runs over")


def _words(node: ast.AST) -> str:
    try:
        return _short(ast.unparse(node))
    except RecursionError:
        return "the expression"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 80 else text[:77] + "…")


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"

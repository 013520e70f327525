"""Expression → LLVM assembly: one instruction on a vector of states for each operation.

Long expressions are cut into functions of about BLOCK operations, which exchange values through an
array: LLVM's time then grows linearly with their number. The loop over the batch around them is in
`shell`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import casadi as ca

import armature.kernel.ir as ir
import armature.kernel.quick as quick
import armature.kernel.shell as shell
import armature.kernel.vectormath as vectormath
from armature.errors import ArgumentError
from armature.kernel.ir import Writer
from armature.kernel.trace import Expression

# fewer, and values travel through memory more often; more, and LLVM's time grows faster than the
# length
BLOCK = 8000
# loads and stores in a block that LLVM may try to merge, in time growing with the square of their
# number
TRAFFIC = 500
# allows fused multiply-add and nothing else: NaN, infinity, signed zeros and the order of
# operations are kept
FAST = "contract"


@dataclass
class Program:
    """The expression in single-assignment form: value i is made by operation `ops[i]` from the
    values `args[i]`."""

    ops: list[int] = field(default_factory=list)
    args: list[tuple[int, ...]] = field(default_factory=list)
    constants: dict[int, float] = field(default_factory=dict)
    parameters: dict[int, int] = field(default_factory=dict)  # value → its number
    inputs: dict[int, int] = field(default_factory=dict)  # value → position among all input numbers
    outputs: list[int] = field(default_factory=list)  # position among all output numbers → value


def read_program(expression: Expression) -> Program:
    """CasADi's list of instructions (whose work slots are reused) as single assignments."""
    f = expression.function
    in_offset = [0]
    for a in expression.inputs:
        in_offset.append(in_offset[-1] + a.size)
    out_offset = [0]
    for a in expression.outputs:
        out_offset.append(out_offset[-1] + a.size)
    program = Program(outputs=[-1] * out_offset[-1])
    slot: dict[int, int] = {}
    for k in range(f.n_instructions()):
        op, i, o = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_OUTPUT:
            program.outputs[out_offset[o[0]] + o[1]] = slot[i[0]]
            continue
        value = len(program.ops)
        program.ops.append(op)
        if op == ca.OP_CONST:
            program.constants[value] = f.instruction_constant(k)
            program.args.append(())
        elif op == ca.OP_INPUT and i[0] == len(expression.inputs):
            program.parameters[value] = i[1]
            program.args.append(())
        elif op == ca.OP_INPUT:
            program.inputs[value] = in_offset[i[0]] + i[1]
            program.args.append(())
        else:
            program.args.append(tuple(slot[j] for j in i))
        slot[o[0]] = value
    # structural zeros of an output have no instruction
    if -1 in program.outputs:
        zero = len(program.ops)
        program.ops.append(ca.OP_CONST)
        program.args.append(())
        program.constants[zero] = 0.0
        program.outputs = [zero if v < 0 else v for v in program.outputs]
    return program


# operations --------------------------------------------------------------------------------------

_INTRINSIC = {
    ca.OP_SQRT: "sqrt",
    ca.OP_FABS: "fabs",
    ca.OP_FLOOR: "floor",
    ca.OP_CEIL: "ceil",
    ca.OP_COPYSIGN: "copysign",
}
_COMPARE = {ca.OP_LT: "olt", ca.OP_LE: "ole", ca.OP_EQ: "oeq", ca.OP_NE: "une"}
_LANES = {
    ca.OP_ASIN: "asin",
    ca.OP_ACOS: "acos",
    ca.OP_ATAN: "atan",
    ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh",
    ca.OP_ASINH: "asinh",
    ca.OP_ACOSH: "acosh",
    ca.OP_ATANH: "atanh",
    ca.OP_ERF: "erf",
    ca.OP_LOG1P: "log1p",
    ca.OP_EXPM1: "expm1",
    ca.OP_POW: "pow",
    ca.OP_CONSTPOW: "pow",
    ca.OP_ATAN2: "atan2",
    ca.OP_FMOD: "fmod",
    ca.OP_HYPOT: "hypot",
    ca.OP_REMAINDER: "remainder",
}
_ARITHMETIC: dict[int, Callable[..., str]] = {
    ca.OP_ASSIGN: lambda w, a: a,
    ca.OP_LIFT: lambda w, a, b: a,
    ca.OP_ADD: lambda w, a, b: w.add(a, b),
    ca.OP_SUB: lambda w, a, b: w.sub(a, b),
    ca.OP_MUL: lambda w, a, b: w.mul(a, b),
    ca.OP_DIV: lambda w, a, b: w.div(a, b),
    ca.OP_NEG: lambda w, a: w.neg(a),
    ca.OP_INV: lambda w, a: w.div(w.number(1.0), a),
    ca.OP_SQ: lambda w, a: w.mul(a, a),
    ca.OP_TWICE: lambda w, a: w.add(a, a),
    # fmin and fmax: NaN in either argument comes out, so that it is never hidden
    ca.OP_FMIN: lambda w, a, b: w.select(
        w.compare("uno", b, b), b, w.select(w.compare("ogt", a, b), b, a)
    ),
    ca.OP_FMAX: lambda w, a, b: w.select(
        w.compare("uno", b, b), b, w.select(w.compare("olt", a, b), b, a)
    ),
    ca.OP_SIGN: lambda w, a: w.select(
        w.compare("ogt", a, w.number(0.0)),
        w.number(1.0),
        w.select(w.compare("olt", a, w.number(0.0)), w.number(-1.0), a),
    ),
    # truth values are 1.0 and 0.0, as in CasADi
    ca.OP_NOT: lambda w, a: _truth(w, w.compare("oeq", a, w.number(0.0))),
    ca.OP_AND: lambda w, a, b: _truth(w, _both(w, "and", a, b)),
    ca.OP_OR: lambda w, a, b: _truth(w, _both(w, "or", a, b)),
    ca.OP_IF_ELSE_ZERO: lambda w, a, b: w.select(
        w.compare("une", a, w.number(0.0)), b, w.number(0.0)
    ),
}
_STRICT = {
    ca.OP_EXP: vectormath.exponential,
    ca.OP_LOG: vectormath.logarithm,
    ca.OP_TANH: vectormath.hyperbolic_tangent,
}
_CIRCULAR = {ca.OP_SIN: "s", ca.OP_COS: "c"}


def _name(op: int) -> str:
    """CasADi's name of an operation, as OP_…"""
    return next(
        (name for name in dir(ca) if name.startswith("OP_") and getattr(ca, name) == op),
        f"number {op}",
    )


def _truth(w: Writer, mask: str) -> str:
    return w.select(mask, w.number(1.0), w.number(0.0))


def _both(w: Writer, op: str, a: str, b: str) -> str:
    zero = w.number(0.0)
    return w.emit(f"{op} {w.mask} {w.compare('une', a, zero)}, {w.compare('une', b, zero)}")


class Lowering:
    """Writes one program as LLVM assembly for vectors of `width` doubles."""

    def __init__(self, expression: Expression, width: int):
        self.width = width
        self.expression = expression
        self.program = read_program(expression)
        self.library: set[str] = set()
        self.far: set[str] = set()  # of "s" and "c"
        self.constants = ir.parameter_places(expression.parameters)
        # which of sin and cos are taken of each value: both share one reduction
        self.circular: dict[int, str] = {}
        for op, args in zip(self.program.ops, self.program.args):
            if op in _CIRCULAR and _CIRCULAR[op] not in self.circular.get(args[0], ""):
                self.circular[args[0]] = self.circular.get(args[0], "") + _CIRCULAR[op]

    def module(self) -> str:
        """The whole module: blocks, the kernel around them, and the C-library functions that they
        call."""
        blocks, spills = self._blocks()
        kernel = shell.kernel(self.expression, self.width, len(blocks), spills)
        lanes = "".join(vectormath.lane_by_lane(name, self.width) for name in sorted(self.library))
        lanes += "".join(vectormath.far(f, self.width) for f in sorted(self.far))
        return (
            "".join(blocks)
            + kernel
            + quick.entries(self.expression)
            + lanes
            + ir.table(self.constants)
            + shell.declarations(self.width)
        )

    def _blocks(self) -> tuple[list[str], int]:
        """The operations in functions of about BLOCK operations, and the number of values spilled
        between them."""
        p = self.program
        given = p.constants.keys() | p.parameters.keys() | p.inputs.keys()
        work = [v for v in range(len(p.ops)) if v not in given]
        chunks = _chunks(p, work)
        home = {v: c for c, chunk in enumerate(chunks) for v in chunk}
        last = dict(home)
        for v in work:
            for a in p.args[v]:
                if a in home:
                    last[a] = max(last[a], home[v])
        place, total = _spill_places(chunks, last)
        stores: dict[int, list[int]] = {}
        for position, v in enumerate(p.outputs):
            stores.setdefault(home.get(v, 0), []).append(position)
        texts = [self._block(c, chunk, place, stores.get(c, [])) for c, chunk in enumerate(chunks)]
        return texts, total

    def _block(
        self, index: int, chunk: list[int], place: dict[int, int], positions: list[int]
    ) -> str:
        """One function: load what it needs, compute, store what later blocks and the outputs
        need."""
        p, w = self.program, Writer(self.width, FAST, self.constants)
        fetched = {a for v in chunk for a in p.args[v]}.difference(chunk, p.constants, p.parameters)
        if len(fetched) + len(positions) + sum(v in place for v in chunk) > TRAFFIC:
            w.volatile = "volatile "
        known: dict[int, str] = {}
        angles: dict[int, dict[str, str]] = {}

        def value(v: int) -> str:
            if v in p.constants:  # next to each use, where LLVM makes it an operand
                return w.number(p.constants[v])
            if v in p.parameters:
                return w.kept(p.parameters[v])
            if v not in known:
                known[v] = (
                    w.load("%in", p.inputs[v]) if v in p.inputs else w.load("%spill", place[v])
                )
            return known[v]

        for v in chunk:
            known[v] = self._operation(
                w, p.ops[v], [value(a) for a in p.args[v]], p.args[v], angles
            )
            if v in place:
                w.store(known[v], "%spill", place[v])
        for position in positions:
            w.store(value(p.outputs[position]), "%out", position)
        w.do("ret void")
        # values come and go through memory that no other pointer reaches
        pointers = ", ".join(f"ptr noalias %{name}" for name in shell.BLOCK_POINTERS)
        return ir.function(f"internal void @block{index}({pointers}) noinline", w)

    def _operation(
        self,
        w: Writer,
        op: int,
        args: list[str],
        values: tuple[int, ...],
        angles: dict[int, dict[str, str]],
    ) -> str:
        if op in _ARITHMETIC:
            return _ARITHMETIC[op](w, *args)
        if op in _INTRINSIC:
            return w.intrinsic(_INTRINSIC[op], *args)
        if op in _COMPARE:
            return _truth(w, w.compare(_COMPARE[op], *args))
        if op in _CIRCULAR or op == ca.OP_TAN:
            return self._circular(w, op, args[0], values[0], angles)
        if op in _STRICT:
            return self._strict(w, lambda: _STRICT[op](w, args[0]))
        if op in (ca.OP_POW, ca.OP_CONSTPOW) and values[1] in self.program.constants:
            power = self._constant_power(w, args[0], self.program.constants[values[1]])
            if power is not None:
                return power
        if op not in _LANES:
            name = self.expression.name
            raise ArgumentError(
                f"{name} uses CasADi's operation {_name(op)}, which has no machine code; write it"
                " with other operations"
            )
        self.library.add(_LANES[op])
        return vectormath.call_lanes(w, _LANES[op], *args)

    def _circular(
        self, w: Writer, op: int, x: str, value: int, angles: dict[int, dict[str, str]]
    ) -> str:
        if value not in angles:
            which = "".join(
                dict.fromkeys(self.circular.get(value, "") + ("sc" if op == ca.OP_TAN else ""))
            )
            self.far.update(which)
            angles[value] = self._strict(w, lambda: vectormath.sine_cosine(w, x, which))
        if op == ca.OP_TAN:
            if not {"s", "c"} <= angles[value].keys():
                self.far.update("sc")
                angles[value] = self._strict(w, lambda: vectormath.sine_cosine(w, x, "sc"))
            return w.div(angles[value]["s"], angles[value]["c"])
        return angles[value][_CIRCULAR[op]]

    @staticmethod
    def _strict(w: Writer, write: Callable):
        """Write with no fast-math flags: argument reductions rely on the order of operations."""
        fast, w.fast = w.fast, ""
        result = write()
        w.fast = fast
        return result

    @staticmethod
    def _constant_power(w: Writer, x: str, exponent: float) -> str | None:
        """x^n for small whole n by squaring, √x for ½; None for the others."""
        if exponent == 0.5:
            return w.intrinsic("sqrt", x)
        if not exponent.is_integer() or abs(exponent) > 16:
            return None
        result, square, n = None, x, abs(int(exponent))
        while n:
            if n & 1:
                result = square if result is None else w.mul(result, square)
            n >>= 1
            square = w.mul(square, square) if n else square
        if result is None:
            return w.number(1.0)
        return w.div(w.number(1.0), result) if exponent < 0 else result


def _chunks(p: Program, work: list[int]) -> list[list[int]]:
    """Consecutive operations up to a weight of BLOCK; reading an input or feeding an output weighs
    as much as four operations."""
    feeds = Counter(p.outputs)
    chunks: list[list[int]] = [[]]
    weight = 0
    for v in work:
        own = 1 + 4 * (feeds[v] + sum(a in p.inputs for a in p.args[v]))
        if weight + own > BLOCK and chunks[-1]:
            chunks.append([])
            weight = 0
        chunks[-1].append(v)
        weight += own
    return chunks


def _spill_places(chunks: list[list[int]], last: dict[int, int]) -> tuple[dict[int, int], int]:
    """A place on the stack for every value that outlives its block; places are used again when
    their value is dead."""
    place: dict[int, int] = {}
    free: list[int] = []
    total = 0
    dying: dict[int, list[int]] = {}
    for c, chunk in enumerate(chunks):
        for v in chunk:
            if last[v] > c:
                if not free:
                    free.append(total)
                    total += 1
                place[v] = free.pop()
                dying.setdefault(last[v], []).append(place[v])
        free.extend(dying.pop(c, []))
    return place, total


def lower(expression: Expression, width: int) -> str:
    """LLVM assembly of a kernel for this expression."""
    return Lowering(expression, width).module()

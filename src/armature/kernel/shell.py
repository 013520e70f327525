"""The kernel around the blocks of operations: `void kernel(double** args, int64_t* strides, int64_t
count)`.

args: pointers to the inputs, then the outputs.  strides: the distance in doubles between
consecutive rows of each.  count: rows.
It handles `width` rows at a time: their inputs are transposed into vectors, the operations run, the
outputs are transposed back. In the last, ragged group the last row stands in for the missing ones,
so there is no second path."""

from __future__ import annotations

from armature.kernel.ir import Writer, function, transpose
from armature.kernel.trace import Expression

BLOCK_POINTERS = ("in", "out", "spill", "constants")  # what each block of operations is given
STACK = 256 * 1024  # bytes of values on the stack; above it, on the heap
UNROLL = 4  # up to so many steps a mover is written out, beyond it is a loop
COLUMNS = 4  # moved at once


def kernel(expression: Expression, width: int, blocks: int, spills: int) -> str:
    """The loop over groups of rows: gather, run the blocks, scatter."""
    w = Writer(width)
    sizes_in = [a.size for a in expression.inputs]
    sizes_out = [a.size for a in expression.outputs]
    n = len(sizes_in) + len(sizes_out)
    on_heap = _arrays(w, {"in": sum(sizes_in), "out": sum(sizes_out), "spill": spills})
    base = [
        w.emit(f"load ptr, ptr {w.emit(f'getelementptr ptr, ptr %args, i64 {i}')}")
        for i in range(n)
    ]
    step = [
        w.emit(f"load i64, ptr {w.emit(f'getelementptr i64, ptr %strides, i64 {i}')}")
        for i in range(n)
    ]
    w.do("%last = sub i64 %count, 1")
    w.do("%some = icmp sgt i64 %count, 0")
    w.do("br i1 %some, label %group, label %end")
    w.label("group")
    w.do("%row = phi i64 [ 0, %entry ], [ %next, %done ]")
    rows = [
        w.emit(f"call i64 @llvm.smin.i64(i64 {w.emit(f'add i64 %row, {lane}')}, i64 %last)")
        for lane in range(width)
    ]
    _move(w, "gather", base, step, rows, sizes_in)
    for b in range(blocks):
        w.do(f"call void @block{b}(ptr %in, ptr %out, ptr %spill, ptr @constants)")
    _move(w, "scatter", base[len(sizes_in) :], step[len(sizes_in) :], rows, sizes_out)
    w.do("br label %done")
    w.label("done")
    w.do(f"%next = add i64 %row, {width}")
    w.do("%more = icmp slt i64 %next, %count")
    w.do("br i1 %more, label %group, label %end")
    w.label("end")
    if on_heap:
        w.do("call void @free(ptr %memory)")
    w.do("ret void")
    return function("void @kernel(ptr %args, ptr %strides, i64 %count)", w)


def _arrays(w: Writer, sizes: dict[str, int]) -> bool:
    """Room for %in, %out and %spill, in vectors; on the heap when it is too much for the stack of a
    thread. Is it?"""
    size = 8 * w.width
    if size * sum(sizes.values()) <= STACK:
        for name, number in sizes.items():
            w.do(f"%{name} = alloca [{max(number, 1)} x {w.vector}], align {size}")
        return False
    w.do(f"%memory = call ptr @malloc(i64 {size * (sum(sizes.values()) + 1)})")
    place = w.emit("ptrtoint ptr %memory to i64")
    place = w.emit(f"and i64 {w.emit(f'add i64 {place}, {size - 1}')}, {-size}")
    start = w.emit(f"inttoptr i64 {place} to ptr")
    for name, number in sizes.items():
        w.do(f"%{name} = getelementptr i8, ptr {start}, i64 0")
        start = w.emit(f"getelementptr {w.vector}, ptr {start}, i64 {number}")
    return True


def _move(
    w: Writer, way: str, base: list[str], step: list[str], rows: list[str], sizes: list[int]
) -> None:
    """gather: the numbers of each argument in `width` rows → vectors of %in; scatter: vectors of
    %out → rows. COLUMNS at a time."""
    local, offset = ("%in" if way == "gather" else "%out"), 0
    for i, size in enumerate(sizes):
        addresses = (
            [
                w.emit(
                    f"getelementptr double, ptr {base[i]}, i64 {w.emit(f'mul i64 {r}, {step[i]}')}"
                )
                for r in rows
            ]
            if size
            else []
        )
        place = w.emit(f"getelementptr {w.vector}, ptr {local}, i64 {offset}")
        offset += size
        done, columns = 0, min(COLUMNS, w.width)
        while done < size:
            whole = (size - done) // columns
            if whole > UNROLL:
                _loop(w, way, addresses, place, whole, columns)
            else:
                for k in range(whole):
                    _columns(w, way, addresses, place, str(done + k * columns), columns)
            done, columns = done + whole * columns, columns // 2


def _loop(w: Writer, way: str, addresses: list[str], place: str, times: int, columns: int) -> None:
    """`times` steps of `columns` columns each, from the first on."""
    n = w.name()[1:]
    w.do(f"br label %before.{n}")
    w.label(f"before.{n}")
    w.do(f"br label %loop.{n}")
    w.label(f"loop.{n}")
    w.do(f"%k.{n} = phi i64 [ 0, %before.{n} ], [ %next.{n}, %loop.{n} ]")
    _columns(w, way, addresses, place, f"%k.{n}", columns)
    w.do(f"%next.{n} = add i64 %k.{n}, {columns}")
    more = w.emit(f"icmp slt i64 %next.{n}, {times * columns}")
    w.do(f"br i1 {more}, label %loop.{n}, label %after.{n}")
    w.label(f"after.{n}")


def _columns(w: Writer, way: str, addresses: list[str], place: str, k: str, columns: int) -> None:
    """Columns k, k + 1, … of every row: pieces of rows side by side in a vector, blocks transposed,
    and the way back."""
    piece = f"<{columns} x double>"
    address = [w.emit(f"getelementptr double, ptr {a}, i64 {k}") for a in addresses]
    place = w.emit(f"getelementptr {w.vector}, ptr {place}, i64 {k}")
    if way == "gather":
        pieces = [w.emit(f"load {piece}, ptr {a}, align 8") for a in address]
        for i, column in enumerate(
            transpose(w, [_join(w, pieces[j::columns], columns) for j in range(columns)])
        ):
            w.store(column, place, i)
        return
    for j, row in enumerate(transpose(w, [w.load(place, i) for i in range(columns)])):
        for b, a in enumerate(address[j::columns]):
            lanes = ", ".join(f"i32 {b * columns + i}" for i in range(columns))
            part = w.emit(
                f"shufflevector {w.vector} {row}, {w.vector} poison, <{columns} x i32> <{lanes}>"
            )
            w.do(f"store {piece} {part}, ptr {a}, align 8")


def _join(w: Writer, pieces: list[str], length: int) -> str:
    """Pieces of `length` doubles as one vector, pair by pair."""
    while len(pieces) > 1:
        lanes = ", ".join(f"i32 {i}" for i in range(2 * length))
        pair = f"<{length} x double>"
        pieces = [
            w.emit(f"shufflevector {pair} {a}, {pair} {b}, <{2 * length} x i32> <{lanes}>")
            for a, b in zip(pieces[::2], pieces[1::2])
        ]
        length *= 2
    return pieces[0]


def declarations(width: int) -> str:
    """Everything that a module calls, its attributes and metadata."""
    v = f"<{width} x double>"
    unary = [f"declare {v} @llvm.{f}.v{width}f64({v})" for f in ("sqrt", "fabs", "floor", "ceil")]
    return (
        "\n".join(unary)
        + f"""
declare {v} @llvm.copysign.v{width}f64({v}, {v})
declare {v} @llvm.fma.v{width}f64({v}, {v}, {v})
declare i64 @llvm.smin.i64(i64, i64)
declare ptr @malloc(i64)
declare void @free(ptr)
attributes #0 = {{ nounwind "min-legal-vector-width"="{64 * width}" "prefer-vector-width"="{64 * width}" }}
!0 = !{{!"branch_weights", i32 1, i32 100000}}
!1 = !{{}}
"""
    )

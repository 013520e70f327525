"""Calling kernels from Numba: compiled loops around compiled functions."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic
def call(typingctx, address, args, strides, count):
    """Inside @njit: run the kernel at `address` over `count` rows.

    args: address of an int64 table of pointers to the inputs, then the outputs.  strides: address
    of an int64 table of distances between rows, in doubles.  All four are integers;
    `array.ctypes.data` gives the address of a table."""
    signature = types.void(types.intp, types.intp, types.intp, types.intp)

    def generate(context, builder, sig, values):
        pointer = ir.IntType(8).as_pointer()
        function = ir.FunctionType(ir.VoidType(), [pointer, pointer, ir.IntType(64)])
        target = builder.inttoptr(values[0], function.as_pointer())
        builder.call(
            target,
            [builder.inttoptr(values[1], pointer), builder.inttoptr(values[2], pointer), values[3]],
        )
        return context.get_dummy_value()

    return signature, generate

"""How the loops over knots are compiled: once, kept on disk, fused and vectorised; NaN and infinity keep their meaning.

Numba looks at every array of a call, which costs as much as the work on some knots, and a function with many takes long to compile.
So what belongs together is handed over once (`hold`) and is one address from then on.
"""

from typing import Any

from numba import types
from numba.experimental import structref
from numba.extending import overload

from armature.kernel.keep import compiled_loop

how: dict[str, Any] = {"nogil": True, "fastmath": {"contract", "reassoc", "nsz", "arcp"}, "error_model": "numpy"}
unseen: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # by Python
loop = compiled_loop(**how)  # a compiled loop
inner = compiled_loop(**how, **unseen)  # one that other loops call: what Python needs to call it too takes its time to compile
part = compiled_loop(**how, inline="always")  # a part of a loop that is written into it: a call would count the references to every array


@inner
def copy(x, to):
    """Copy a vector. Written as a loop: numba takes seconds to compile an assignment of arrays, for the words of its errors."""
    for i in range(to.size):
        to[i] = x[i]


@structref.register
class HeldType(types.StructRef):
    """Numba's type of `Held`: it knows the fields' types."""


class Held(structref.StructRefProxy):
    """A tuple with names on the side of the compiled loops: one address there, whatever is in it."""


structref.define_boxing(HeldType, Held)


def as_held(value):
    """A `Held` with the fields of a tuple with names: what `build` is below, and in compiled loops only."""
    raise NotImplementedError


@overload(as_held)
def build_held(value):
    """The source of `as_held` for a type of tuple: numba cannot go through its fields."""
    held = HeldType([*zip(value.fields, value.types)])
    lines = ["def build(value):", "    made = new(held)", *(f"    made.{name} = value.{name}" for name in value.fields), "    return made"]
    scope = {"new": structref.new, "held": held}
    exec("\n".join(lines), scope)
    return scope["build"]


@loop
def hold(value):
    """Hand over a tuple with names once for many calls; loops find its fields in what they are given. Arrays are not copied."""
    return as_held(value)

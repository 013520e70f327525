"""The compiler: traces functions on symbols, turns them into vector machine code, keeps it on disk.
It knows no robots.

`armature.kernel.loops.call` runs a kernel from inside a Numba function.
"""

from armature.kernel.kernel import Kernel, compile, compiled, set_threads, thread_count
from armature.kernel.trace import Argument, Expression, parameters, trace

__all__ = [
    "Argument",
    "Expression",
    "Kernel",
    "compile",
    "compiled",
    "parameters",
    "set_threads",
    "thread_count",
    "trace",
]

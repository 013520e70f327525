"""How the loops over knots are compiled: together, in a second or two, and kept on disk.

They are plain Python with annotated arguments; see `kernel/loop_library.py` for what they may use.
What belongs together is laid out once (`hold`) and is one address in every call from then on.
"""

from armature.kernel.loop_library import Inner, Library
from armature.kernel.loop_types import Held, Indices, Matrices, Matrix, Vector, hold

__all__ = ["Held", "Indices", "Matrices", "Matrix", "Vector", "hold", "inner", "loop"]

loop = Library("the solver's loops").loop  # a loop that Python calls
inner = Inner  # one that other loops call

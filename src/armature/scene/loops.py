"""How the loops over states, links and obstacles are compiled: together, once for all robots and
scenes, and kept on disk."""

from armature.kernel.loop_library import Inner, Library
from armature.kernel.loop_types import Held, Indices, Matrices, Matrix, Vector, hold

__all__ = ["Held", "Indices", "Matrices", "Matrix", "Vector", "hold", "inner", "loop"]

loop = Library("distances").loop  # a loop that Python calls
inner = Inner  # one that other loops call

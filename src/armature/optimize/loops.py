"""How the loops over knots are compiled: once, kept on disk, fused and vectorised; NaN and infinity keep their meaning."""

from numba import njit

how = {"cache": True, "fastmath": {"contract", "reassoc", "nsz", "arcp"}, "error_model": "numpy"}
loop = njit(**how)
part = njit(**how, inline="always")  # a part of a loop that is written into it: a call would count the references to every array

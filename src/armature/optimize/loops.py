"""How the loops over knots are compiled: once, kept on disk, fused and vectorised; NaN and infinity keep their meaning."""

from numba import njit

loop = njit(cache=True, fastmath={"contract", "reassoc", "nsz", "arcp"}, error_model="numpy")

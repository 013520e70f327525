"""Numba's compiled loops, kept in our own cache (`cache.py`) instead of Numba's.

Numba keeps what it compiles as pickles beside the source or in the user's home, refuses to compile
where neither can be written, and stops at a damaged file. Here an entry is verified before it is
unpickled, any error is a miss, and no folder is needed. It works whether or not the user has
imported Numba before: each loop is given a cache of its own, and Numba's settings are not touched.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import llvmlite
import numba

from armature.kernel import cache
from armature.kernel.sources import digest


def compiled_loop(**options: Any) -> Callable[[Callable], Any]:
    """`numba.njit(**options)` whose machine code is kept for the next process."""

    def decorate(function: Callable) -> Any:
        made: Any = numba.njit(**options)(function)
        if hasattr(made, "_cache"):  # not with NUMBA_DISABLE_JIT
            made._cache = LoopCache(function, options)
        return made

    return decorate


class LoopCache:
    """What a Numba function asks for its cache: an overload by its signature, or None."""

    cache_path = None

    def __init__(self, function: Callable, options: dict[str, Any]):
        self.function = function
        self.options = sorted(
            (name, sorted(x) if isinstance(x, set) else x) for name, x in options.items()
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled overload, or None: whatever goes wrong, it is compiled again."""
        from numba.core.compiler import CompileResult

        try:
            target_context.refresh()
            entry = cache.read_entry(self.key(sig, target_context.codegen()))
            return entry and CompileResult._rebuild(target_context, *pickle.loads(entry[1]))
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled overload that does not depend on addresses in this process."""
        from numba.core.serialize import dumps

        if data.lifted or data.library.has_dynamic_globals:
            return
        try:
            content = dumps(data._reduce())
            cache.write_entry(
                self.key(sig, data.codegen), {"loop": self.function.__qualname__}, content
            )
        except Exception:  # what cannot be kept is compiled again
            return

    def key(self, sig: Any, codegen: Any) -> str:
        """Signature, CPU, versions, and every source and constant that the loop is made of."""
        versions = f"numba {numba.__version__} llvmlite {llvmlite.__version__} python {sys.version}"
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        return (
            f"loop {name} {sig} {codegen.magic_tuple()} {versions} {self.options}"
            f" {digest(self.function)}"
        )

    def enable(self) -> None:
        """Numba's caches can be switched on and off; this one is on."""

    disable = flush = enable

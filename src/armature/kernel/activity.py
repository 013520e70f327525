"""What is being compiled at this moment, for progress messages."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

_titles: list[str] = []  # of all threads, the latest last


@contextlib.contextmanager
def compiling(title: str) -> Iterator[None]:
    """Say that something is compiled as long as the context lasts."""
    _titles.append(title)
    try:
        yield
    finally:
        _titles.remove(title)


def compiled_now() -> str | None:
    """What is being compiled, by its title; None when nothing is."""
    return _titles[-1] if _titles else None

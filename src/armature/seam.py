"""Methods whose work is done in a room further along the line: `Solution.report` draws figures,
`Move` asks the planner for postures.

The method keeps its signature and asks here for the function that does the work, by the method's
name; `assembly.py`, which has the whole house in view, says which function that is. So no room
imports what stands to its right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_sources: dict[str, Callable[[], Callable[..., Any]]] = {}


def provide(method: str, source: Callable[[], Callable[..., Any]]) -> None:
    """Say who does the work of a method. source: returns the function; called when the method is,
    so that imports can wait."""
    _sources[method] = source


def worker(method: str) -> Callable[..., Any]:
    """The function that does the work of a method."""
    return _sources[method]()

"""What was computed of a frozen object (a robot's kernels, models, covering shapes), kept with it
in one place: it lives and dies with the object, is not compared, hashed, copied by
`dataclasses.replace` or sent to other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

T = TypeVar("T")
Item = TypeVar("Item")
PLACE = "_memo"


def memo(item: object, name: str) -> dict[Any, Any]:
    """The store of this name that belongs to an object; empty at first."""
    try:
        return item.__dict__[PLACE][name]
    except KeyError:
        return item.__dict__.setdefault(PLACE, {}).setdefault(name, {})


def once(item: Item, name: str, make: Callable[[Item], T]) -> T:
    """A value that is made once for an object, from it."""
    try:
        return item.__dict__[PLACE][name]
    except KeyError:
        value = item.__dict__.setdefault(PLACE, {})[name] = make(item)
        return value


def share(
    source: object, target: object, stores: Iterable[str], values: Iterable[str] = ()
) -> None:
    """Let another object use the same stores, and the single values that have been made so far."""
    theirs = target.__dict__.setdefault(PLACE, {})
    theirs.update({name: memo(source, name) for name in stores})
    made = source.__dict__.get(PLACE, {})
    theirs.update({name: made[name] for name in values if name in made})

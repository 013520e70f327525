"""Properties by name, in scopes inside each other, evaluated when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from armature.robot.load.xacro.budget import XacroError

Evaluate = Callable[[str, "Scope"], Any]


class Scope:
    """Values by name; what is not here is looked up in the parent. `namespace`: made by
    `<xacro:include ns="…">`."""

    def __init__(self, parent: Scope | None = None, namespace: bool = False):
        self.parent, self.namespace = parent, namespace
        self.values: dict[str, Any] = {}
        self._lazy: set[str] = set()
        self._open: list[str] = []

    def holder(self, name: str) -> Scope | None:
        """The nearest scope that has a value of this name."""
        scope: Scope | None = self
        while scope is not None and name not in scope.values:
            scope = scope.parent
        return scope

    def get(self, name: str, evaluate: Evaluate) -> Any:
        """The value of a name that some scope has; a lazy one is evaluated where it was defined,
        once."""
        scope = self.holder(name)
        if scope is None:
            raise KeyError(name)
        return scope._value(name, evaluate)

    def _value(self, name: str, evaluate: Evaluate) -> Any:
        if name in self._lazy:
            if name in self._open:
                raise XacroError(
                    f"the properties {' → '.join([*self._open, name])} are defined by each other;"
                    " break the circle"
                )
            self._open.append(name)
            try:
                self.values[name] = literal(evaluate(self.values[name], self))
            finally:
                self._open.remove(name)
            self._lazy.discard(name)
        return self.values[name]

    def set(self, name: str, value: Any, lazy: bool = False) -> None:
        """Keep a value; a lazy text is evaluated when it is first asked for."""
        value = literal(value)
        self.values[name] = value
        (self._lazy.add if lazy and isinstance(value, str) else self._lazy.discard)(name)

    def remove(self, name: str) -> None:
        """Forget a name here and in all scopes outside."""
        scope: Scope | None = self
        while scope is not None:
            scope.values.pop(name, None)
            scope._lazy.discard(name)
            scope = scope.parent

    def outermost(self) -> Scope:
        """The scope of the whole document."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


def literal(value: Any) -> Any:
    """A text as the number or truth value that it spells; 'quoted' text stays text."""
    if not isinstance(value, str):
        return value
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return value[1:-1]
    if "_" in value or len(value) > 400:
        return value
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            pass
    return {"true": True, "True": True, "false": False, "False": False}.get(value, value)


def truth(value: Any, condition: str) -> bool:
    """A condition's value as true or false."""
    if isinstance(value, str):
        if value in ("true", "True", "false", "False"):
            return value in ("true", "True")
        try:
            return bool(float(value))
        except ValueError:
            shown = f"{condition!r} is {value[:60]!r}"
            raise XacroError(
                f"the condition {shown}, neither true nor false; give true, false, 1 or 0"
            ) from None
    return bool(value)


@dataclass(frozen=True)
class Namespace:
    """The properties of an include with `ns`, as expressions see them."""

    scope: Scope
    evaluate: Evaluate

    def member(self, name: str) -> Any:
        """The property of this name, or a XacroError."""
        try:
            return self.scope.get(name, self.evaluate)
        except KeyError:
            raise XacroError(f"the namespace has no property {name!r}") from None

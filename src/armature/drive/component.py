"""How a part of a drive declares a quantity: unit, range and hint once, for the checks and for the
reader of data sheets."""

from __future__ import annotations

import math
from dataclasses import MISSING, field, fields
from typing import Any

from armature.errors import RobotError


def quantity(
    unit: str,
    default: Any = MISSING,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    hint: str = "",
) -> Any:
    """A field that holds a number in the given SI unit, within (above, …) or [least, most]. It may
    be infinite only if that is its default: a limit that is not there."""
    metadata = {
        "unit": unit,
        "above": above,
        "least": least,
        "most": most,
        "hint": hint,
        "endless": default == math.inf,
    }
    return field(default=default, metadata=metadata)


class Component:
    """A frozen dataclass whose quantities are checked when it is made."""

    def __post_init__(self) -> None:
        for f in fields(self):  # type: ignore[arg-type]
            value = getattr(self, f.name)
            if "unit" in f.metadata and value is not None:
                object.__setattr__(self, f.name, self._checked(f.name, value, f.metadata))

    @property
    def label(self) -> str:
        """What messages call this part."""
        name = getattr(self, "name", "")
        kind = type(self).__name__.lower()
        return f"{kind} {name!r}" if name else kind

    def _checked(self, name: str, value: Any, rule: Any) -> float:
        if isinstance(value, bool) or (
            not isinstance(value, int | float) and not hasattr(value, "__float__")
        ):
            raise RobotError(
                f"{self.label}: {name} = {value!r} is not a number; give it in"
                f" {rule['unit'] or 'plain numbers'}"
            )
        x = float(value)
        low, above, high = rule["least"], rule["above"], rule["most"]
        wrong = math.isnan(x) or (math.isinf(x) and not rule["endless"])
        if (
            wrong
            or (above is not None and not x > above)
            or (low is not None and x < low)
            or (high is not None and x > high)
        ):
            raise self.error(name, x, rule)
        return x

    def error(self, name: str, value: float, rule: Any) -> RobotError:
        """The refusal of a value: part, quantity, value, range, and what to do."""
        bounds = [
            f"above {rule['above']:g}" if rule["above"] is not None else "",
            f"at least {rule['least']:g}" if rule["least"] is not None else "",
            f"at most {rule['most']:g}" if rule["most"] is not None else "",
        ]
        allowed = " and ".join(b for b in bounds if b) or "a number"
        allowed = f"finite, {allowed}" if math.isinf(value) else allowed
        unit = f" {rule['unit']}" if rule["unit"] else ""
        return RobotError(
            f"{self.label}: {name} = {value:g}{unit} must be {allowed};"
            f" {rule['hint'] or 'correct it'}"
        )

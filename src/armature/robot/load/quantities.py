"""Numbers as people write them in YAML: in SI units, or as text such as "90 deg" and "250 mm"."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator

from armature.drive.units import parse
from armature.errors import ArgumentError


def quantity(*units: str, infinite: bool = False) -> Callable[[Any], float]:
    """A reader of numbers in SI units, or of text with a unit of the same kind as one of `units`; finite ones unless told."""

    def read(value: Any) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _float(value, infinite)
        if isinstance(value, str) and len(value) < 100:
            for unit in units:
                try:
                    return _float(parse(value, unit), infinite)
                except (ArgumentError, ArithmeticError):
                    continue
        text = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "…"
        wanted = f', or text with a unit, such as "1.5 {units[0]}"' if units else ""
        raise ValueError(f"{text} is not a number; give one in SI units{wanted}")

    return read


def _float(value: float, infinite: bool) -> float:
    try:
        x = float(value)
    except OverflowError:
        x = math.nan
    if math.isnan(x) or (math.isinf(x) and not infinite):
        raise ValueError("this is not a finite number; give one that can be computed with")
    return x


Number = Annotated[float, BeforeValidator(quantity())]
Angle = Annotated[float, BeforeValidator(quantity("rad"))]
Length = Annotated[float, BeforeValidator(quantity("m"))]
Mass = Annotated[float, BeforeValidator(quantity("kg"))]
Moment = Annotated[float, BeforeValidator(quantity("kg*m^2"))]
Coordinate = Annotated[float, BeforeValidator(quantity("rad", "m"))]
# limits, which may be infinite
Bound = Annotated[float, BeforeValidator(quantity("rad", "m", infinite=True))]
Rate = Annotated[float, BeforeValidator(quantity("rad/s", "m/s", infinite=True))]
Torque = Annotated[float, BeforeValidator(quantity("N*m", "N", infinite=True))]
Limit = Annotated[float, BeforeValidator(quantity(infinite=True))]

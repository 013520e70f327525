"""Numbers as people write them in YAML: in SI units, or as text such as "90 deg" and "250 mm"."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic_core import core_schema

from armature.drive.units import parse
from armature.errors import ArgumentError

LARGEST: dict[tuple[str, ...], float] = {("s",): 1e7, ("rad", "m"): 1e6, ("rad",): 1e6, ("m",): 1e6}
LARGEST_OTHER = 1e15


class Quantity:
    """How a number is read: in SI units, or from text with a unit of the same kind as one of
    `units`; finite unless told otherwise; a magnitude is not negative."""

    def __init__(self, *units: str, infinite: bool = False, magnitude: bool = False):
        self.units, self.infinite, self.magnitude = units, infinite, magnitude

    def read(self, value: Any) -> float:
        """The number, or a ValueError with what to write instead."""
        number = self._number(value)
        if self.magnitude and number < 0.0:
            raise ValueError(f"{value} is negative, but this is a magnitude: give a number ≥ 0")
        most = LARGEST.get(self.units, LARGEST_OTHER)
        if not self.infinite and abs(number) > most:
            raise ValueError(
                f"{value} is beyond {most:g}, the largest that is taken here: check its unit"
            )
        return number

    def _number(self, value: Any) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _float(value, self.infinite)
        if isinstance(value, str) and len(value) < 100:
            for unit in self.units:
                try:
                    return _float(parse(value, unit), self.infinite)
                except (ArgumentError, ArithmeticError):
                    continue
        text = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "…"
        wanted = f', or text with a unit, such as "1.5 {self.units[0]}"' if self.units else ""
        raise ValueError(f"{text} is not a number; give one in SI units{wanted}")

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        return core_schema.no_info_before_validator_function(self.read, handler(source))

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        if not self.units:
            return {"type": "number"}
        text = {"type": "string", "examples": [f"1.5 {unit}" for unit in self.units]}
        return {
            "anyOf": [{"type": "number"}, text],
            "description": f"a number in {' or '.join(self.units)}, or text with a unit",
        }


def _float(value: float, infinite: bool) -> float:
    try:
        x = float(value)
    except OverflowError:
        x = math.nan
    if math.isnan(x) or (math.isinf(x) and not infinite):
        raise ValueError("this is not a finite number; give one that can be computed with")
    return x


Number = Annotated[float, Quantity()]
Angle = Annotated[float, Quantity("rad")]
Length = Annotated[float, Quantity("m")]
Mass = Annotated[float, Quantity("kg")]
Moment = Annotated[float, Quantity("kg*m^2")]
Coordinate = Annotated[float, Quantity("rad", "m")]
Speed = Annotated[float, Quantity("rad/s", "m/s")]
Duration = Annotated[float, Quantity("s")]
Power = Annotated[float, Quantity("W")]
PerSecond = Annotated[float, Quantity("1/s")]
# limits, which may be infinite; all but the ends of the range are magnitudes
Bound = Annotated[float, Quantity("rad", "m", infinite=True)]
Rate = Annotated[float, Quantity("rad/s", "m/s", infinite=True, magnitude=True)]
Acceleration = Annotated[float, Quantity("rad/s^2", "m/s^2", infinite=True, magnitude=True)]
Jerk = Annotated[float, Quantity("rad/s^3", "m/s^3", infinite=True, magnitude=True)]
Torque = Annotated[float, Quantity("N*m", "N", infinite=True, magnitude=True)]
TorqueRate = Annotated[float, Quantity("N*m/s", "N/s", infinite=True, magnitude=True)]

"""Quantities as data sheets print them: "54.6 mN*m/A", "102 gcm²", "175 rpm/V", "12000 min⁻¹", a
lead of "10 mm", a gear of "100:1"."""

from __future__ import annotations

import math
import re

from armature.errors import ArgumentError

# dimension: exponents of (kg, m, s, A, K); angles are pure numbers
_BASE: dict[str, tuple[float, tuple[int, ...]]] = {
    "g": (1e-3, (1, 0, 0, 0, 0)),
    "t": (1e3, (1, 0, 0, 0, 0)),
    "lb": (0.45359237, (1, 0, 0, 0, 0)),
    "m": (1.0, (0, 1, 0, 0, 0)),
    "in": (0.0254, (0, 1, 0, 0, 0)),
    "s": (1.0, (0, 0, 1, 0, 0)),
    "min": (60.0, (0, 0, 1, 0, 0)),
    "h": (3600.0, (0, 0, 1, 0, 0)),
    "A": (1.0, (0, 0, 0, 1, 0)),
    "K": (1.0, (0, 0, 0, 0, 1)),
    "degC": (1.0, (0, 0, 0, 0, 1)),
    "°C": (1.0, (0, 0, 0, 0, 1)),
    "N": (1.0, (1, 1, -2, 0, 0)),
    "J": (1.0, (1, 2, -2, 0, 0)),
    "W": (1.0, (1, 2, -3, 0, 0)),
    "V": (1.0, (1, 2, -3, -1, 0)),
    "ohm": (1.0, (1, 2, -3, -2, 0)),
    "Ohm": (1.0, (1, 2, -3, -2, 0)),
    "Ω": (1.0, (1, 2, -3, -2, 0)),
    "H": (1.0, (1, 2, -2, -2, 0)),
    "F": (1.0, (-1, -2, 4, 2, 0)),
    "rpm": (2 * math.pi / 60, (0, 0, -1, 0, 0)),
    "Nm": (1.0, (1, 2, -2, 0, 0)),
    "oz": (0.028349523125, (1, 0, 0, 0, 0)),
    "ozf": (0.27801385095378125, (1, 1, -2, 0, 0)),
    "rad": (1.0, (0,) * 5),
    "deg": (math.pi / 180, (0,) * 5),
    "°": (math.pi / 180, (0,) * 5),
    "rev": (2 * math.pi, (0,) * 5),
    "arcmin": (math.pi / 10800, (0,) * 5),
    "%": (0.01, (0,) * 5),
    "1": (1.0, (0,) * 5),
}
_PREFIX = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "c": 1e-2, "k": 1e3, "M": 1e6}
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*$")
_RATIO = re.compile(r"\s*(\d+\.?\d*)\s*:\s*(\d+\.?\d*)\s*$")
_ANGLE = re.compile(r"rad|deg|°(?!C)|rev|rpm|arcmin")
_FACTOR = re.compile(r"([^\d^\s*·/⋅()-]+|1)(?:\^?(-?\d+))?$")


def unit(text: str) -> tuple[float, tuple[int, ...]]:
    """(factor to SI, dimension) of a unit expression: products by * or ·, quotients by /, powers by
    ^ (or ² ³)."""
    factor, dimension, power = 1.0, [0] * 5, 1
    for token in re.split(r"([*·⋅/])", _spelt_out(text)):
        if token in "*·⋅":
            continue
        if token == "/":
            power = -1
            continue
        scale, exponents, exponent = _factor(token, text)
        factor *= scale ** (exponent * power)
        dimension = [d + e * exponent * power for d, e in zip(dimension, exponents)]
        power = 1
    return factor, tuple(dimension)


def _spelt_out(text: str) -> str:
    """A unit with ^ for powers and * for products, which sheets leave out: "gcm²", "kg m²",
    "min⁻¹"."""
    text = (
        text.replace("⁻", "^-")
        .replace("¹", "1")
        .replace("²", "^2")
        .replace("³", "^3")
        .replace("^-^", "^-")
        .strip()
    )
    text = re.sub(r"\s+", "*", re.sub(r"\s*([*·⋅/^])\s*", r"\1", text))
    return re.sub(r"(?<![A-Za-z])(k?g)(c?m)\^?2", r"\1*\2^2", text)


def _factor(token: str, text: str) -> tuple[float, tuple[int, ...], int]:
    match = _FACTOR.match(token)
    symbol, exponent = (match[1], int(match[2] or 1)) if match else (token, 1)
    if symbol in _BASE:
        return *_BASE[symbol], exponent
    if (
        match
        and symbol[0] in _PREFIX
        and symbol[1:] in _BASE
        and symbol[1:] not in ("1", "%", "min", "rpm", "deg", "in")
    ):
        scale, exponents = _BASE[symbol[1:]]
        return _PREFIX[symbol[0]] * scale, exponents, exponent
    raise ArgumentError(
        f"unit {token!r} in {text!r} is not known; known are {', '.join(_BASE)} with the prefixes"
        f" {', '.join(_PREFIX)}"
    )


def parse(text: str, target: str) -> float:
    """A number with its unit, e.g. "54.6 mN*m/A", in the SI unit `target`; a bare number is taken
    to be in `target` already."""
    if not target and (stated := _RATIO.match(text)):
        return _quotient(text, float(stated[1]), float(stated[2]))
    match = _NUMBER.match(text)
    if not match:
        raise ArgumentError(
            f'{text!r} is not a number with a unit; write for example "1.5 {target or "%"}"'
        )
    number, written = float(match[1]), match[2]
    if not written:
        return number
    factor, dimension = unit(written)
    to, wanted = unit(target) if target else (1.0, (0,) * 5)
    if dimension != wanted:
        raise ArgumentError(
            f"{text!r} has the wrong kind of unit; give it in {target or 'no unit'} or a multiple"
            " of it"
        )
    if target == "degC" and written == "K":
        return number - 273.15
    return number * factor / to * _turns(written, target)


def _turns(written: str, target: str) -> float:
    """2π or 1/2π where a sheet means turns and does not say so: speeds in min⁻¹ are turns a minute,
    a lead in mm is that of one turn."""
    if _ANGLE.search(written):
        return 1.0
    return (
        2 * math.pi
        if target.startswith("rad/s") and "min" in written
        else 1 / (2 * math.pi)
        if target == "m/rad"
        else 1.0
    )


def _quotient(text: str, turns: float, one: float) -> float:
    """A ratio written as "100:1"."""
    if one == 0.0 or turns < one:
        raise ArgumentError(
            f'{text!r} is a ratio below 1; write the turns of the motor first: "100:1"'
        )
    return turns / one

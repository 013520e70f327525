"""YAML files as values of expressions: numbers with units, and the truth values of YAML 1.1, which
ROS reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from armature.document import values
from armature.nested import scalar
from armature.robot.load.xacro.budget import Budget, XacroError
from armature.robot.load.xacro.expression import evaluate, parse_expression
from armature.robot.load.xacro.scope import Scope
from armature.text import read_text

UNITS = {
    "!radians": 1.0,
    "!degrees": math.pi / 180,
    "!meters": 1.0,
    "!millimeters": 1e-3,
    "!foot": 0.3048,
    "!inches": 0.0254,
}
WORDS = {"yes": True, "on": True, "no": False, "off": False}


def read_values(path: Path, lookup: Callable[[str, Scope], Any], budget: Budget) -> Any:
    """The plain values of a YAML file; `!degrees 90` is an expression in a unit, here in SI."""

    def one(event: Any) -> Any:
        tag, text = str(event.tag), str(event.value)
        if tag in UNITS:
            number = evaluate(parse_expression(text), lambda name: lookup(name, Scope()), budget)
            if not isinstance(number, (int, float)):
                raise XacroError(
                    f"{path}:{event.start_mark.line + 1}: {tag} {text[:40]} is not a number"
                )
            return number * UNITS[tag]
        value = scalar(event)
        plain = isinstance(value, str) and event.tag is None and event.implicit[0]
        return WORDS.get(value.lower(), value) if plain else value

    return values(read_text(path), path, one)

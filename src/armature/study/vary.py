"""What a study varies: lists, ranges and random numbers, by key; and the cases that come of them.

Lists and ranges make a grid: every value with every other. Random keys are drawn anew for each
sample at each point of the grid, from a stream of the case's own, so that a longer study begins
with the shorter one's cases."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from armature.drive.units import unit
from armature.errors import ArgumentError
from armature.robot.format.schema import Part
from armature.robot.model import Robot

MOST_CASES = 10_000_000
QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S.*?)\s*$")


def _amount(value: Any) -> Any:
    """A number in SI units, or text such as "1.5 s"."""
    value = si(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(
            f'{value!r} is not a number; give one in SI units, or text with a unit, such as "1.5 s"'
        )
    return float(value)


def si(value: Any) -> Any:
    """Text that is a number with a known unit as a number in SI units, also inside lists and
    mappings; anything else as it is."""
    if isinstance(value, Mapping):
        return {key: si(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [si(item) for item in value]
    found = QUANTITY.match(value) if isinstance(value, str) else None
    try:
        return float(found[1]) * unit(found[2])[0] if found else value
    except ArgumentError:
        return value


Amount = Annotated[
    float,
    BeforeValidator(_amount),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]}),
]


class RangePart(Part):
    """count values from one number to another, SI or with units."""

    from_: Amount = Field(alias="from")
    to: Amount
    count: int = Field(ge=1, le=1_000_000)
    spacing: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _consistent(self) -> RangePart:
        if self.spacing == "log" and not self.from_ * self.to > 0:
            raise ValueError("with spacing: log both ends must have the same sign and not be 0")
        return self

    def values(self) -> list[Any]:
        """The numbers, SI."""
        make = np.geomspace if self.spacing == "log" else np.linspace
        return [float(x) for x in make(self.from_, self.to, self.count)]


class RandomPart(Part):
    """A number (SI) drawn at random: uniform or log-uniform between low and high, normal about a
    mean, or one of several values; or a configuration within the limits of the joints."""

    random: Literal["uniform", "log-uniform", "normal", "choice", "limits"]
    low: Amount | None = None
    high: Amount | None = None
    mean: Amount | None = None
    deviation: Amount | None = None
    values: list[Any] | None = None
    margin: float = Field(0.05, ge=0.0, lt=0.5)

    @model_validator(mode="after")
    def _complete(self) -> RandomPart:
        needed = {
            "uniform": ("low", "high"),
            "log-uniform": ("low", "high"),
            "normal": ("mean", "deviation"),
            "choice": ("values",),
        }
        keys = needed.get(self.random, ())
        for key in ("low", "high", "mean", "deviation", "values"):
            if (getattr(self, key) is not None) != (key in keys):
                raise ValueError(
                    f"random: {self.random} is described by {' and '.join(keys) or 'margin alone'}"
                )
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"low {self.low:g} must be below high {self.high:g}")
        if self.random == "log-uniform" and (self.low or 0.0) <= 0:
            raise ValueError("log-uniform needs low above 0")
        if self.random == "normal" and (self.deviation or 0.0) < 0:
            raise ValueError(f"deviation {self.deviation:g} must not be negative")
        if self.random == "choice" and not self.values:
            raise ValueError("values is empty; give what to choose from")
        return self

    def draw(self, rng: np.random.Generator, robot: Robot | None) -> Any:
        """One value. robot: for a configuration within its limits."""
        if self.random == "limits":
            return within_limits(rng, robot, self.margin)
        if self.random == "choice":
            return si((self.values or [])[int(rng.integers(len(self.values or [])))])
        a, b = (self.low, self.high) if self.low is not None else (self.mean, self.deviation)
        draw = {
            "uniform": rng.uniform,
            "normal": rng.normal,
            "log-uniform": lambda a, b: np.exp(rng.uniform(np.log(a), np.log(b))),
        }
        return float(draw[self.random](a, b))


def within_limits(rng: np.random.Generator, robot: Robot | None, margin: float) -> dict[str, float]:
    """A configuration {joint: rad or m} drawn evenly from the joints' ranges, leaving out `margin`
    of each at both ends; a joint that turns without end counts as −π … π."""
    if robot is None:
        raise ArgumentError(
            "random: limits draws a configuration of the robot, and there is none; give low and"
            " high"
        )
    found = {}
    for name in robot.joint_names:
        joint = robot.joint(name)
        lower, upper = joint.limits.lower, joint.limits.upper
        if joint.kind != "prismatic":
            lower, upper = (
                max(lower, -np.pi) if np.isinf(lower) else lower,
                min(upper, np.pi) if np.isinf(upper) else upper,
            )
        if not (np.isfinite(lower) and np.isfinite(upper)):
            raise ArgumentError(
                f"joint {name!r} has no range to draw from; give it limits: robot.with_limits"
            )
        off = margin * (upper - lower)
        found[name] = float(rng.uniform(lower + off, upper - off))
    return found


Axis = RangePart | RandomPart | list[Any]


def axis(key: str, given: Any) -> Axis:
    """What is varied, from a list, an array, or a mapping as in a study's file."""
    if isinstance(given, RangePart | RandomPart):
        return given
    if isinstance(given, Mapping):
        model = RandomPart if "random" in given else RangePart
        try:
            return model.model_validate(dict(given))
        except ValueError as e:
            raise ArgumentError(f"vary {key!r}: {_first(e)}") from None
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        raise ArgumentError(
            f"vary {key!r} = {given!r}; give a list of values, {{from, to, count}} or {{random: …}}"
        )
    values = given.tolist() if isinstance(given, np.ndarray) else list(given)
    if not values:
        raise ArgumentError(f"vary {key!r} is an empty list; give at least one value")
    return si(values)


def _first(error: ValueError) -> str:
    """The first mistake that pydantic found, in words."""
    errors = getattr(error, "errors", None)
    if errors is None:
        return str(error)
    e = errors(include_url=False)[0]
    place = ".".join(str(step) for step in e["loc"])
    return f"{place + ': ' if place else ''}{e['msg'].removeprefix('Value error, ')}"


def count(axes: Mapping[str, Axis], samples: int) -> int:
    """How many cases these make."""
    grid = [
        len(a.values()) if isinstance(a, RangePart) else len(a)
        for a in axes.values()
        if not isinstance(a, RandomPart)
    ]
    return int(np.prod(grid, dtype=float)) * (
        samples if any(isinstance(a, RandomPart) for a in axes.values()) else 1
    )


def combinations(
    axes: Mapping[str, Axis], samples: int, seed: int, robot: Any
) -> Iterator[dict[str, Any]]:
    """The inputs of every case. robot: function from the inputs drawn so far to the robot, for
    configurations within limits."""
    if not axes:
        return
    grid = {
        k: a.values() if isinstance(a, RangePart) else a
        for k, a in axes.items()
        if not isinstance(a, RandomPart)
    }
    random = {k: a for k, a in axes.items() if isinstance(a, RandomPart)}
    ordered = sorted(
        random, key=lambda k: random[k].random == "limits"
    )  # configurations last: they need the robot
    for point, values in enumerate(itertools.product(*grid.values())):
        for sample in range(samples if random else 1):
            inputs = dict(zip(grid, values))
            rng = np.random.default_rng([seed, point, sample])
            for key in ordered:
                inputs[key] = random[key].draw(
                    rng, robot(inputs) if random[key].random == "limits" else None
                )
            yield {key: inputs[key] for key in axes}

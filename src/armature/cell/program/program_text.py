"""A program as the text of a file, which `load_program` reads back."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import yaml

from armature.cell.program.program import Along, Dwell, Grip, MoveTo, Program, Release
from armature.drive import Bus
from armature.errors import ArgumentError


def program_text(program: Program, robot: str, scene: str | None = None) -> str:
    """The YAML text of a program whose robot and scene are files of these names."""
    steps = [_step(step) for step in program.steps]
    body: dict[str, Any] = {"start": _place(program.start)}
    body |= {} if program.cycle is None else {"cycle": float(program.cycle)}
    body |= {"closed": program.closed, "points": program.points}
    body |= {"mean_limits": program.mean_limits, "steps": steps}
    data: dict[str, Any] = {"name": program.name, "robot": robot}
    data |= _supply(program.supply)
    if program.modes:
        data["modes"] = {m.name: _numbers(m) for m in program.modes}
    data |= {} if scene is None else {"scene": scene}
    data |= {"floor": "none" if program.floor is None else program.floor, "knots": program.knots}
    data |= {"objective": "time"} if program.cycle is None else {}
    return yaml.safe_dump({**data, "program": body}, sort_keys=False, allow_unicode=True)


def _supply(given: Any) -> dict[str, Any]:
    """The key of a supply: a word, or a bus with its numbers; none where the robot's is taken."""
    if isinstance(given, Bus):
        return {"supply": {"kind": "bus", **_numbers(given)}}
    return {"supply": given} if isinstance(given, str) else {}


def _numbers(part: Any) -> dict[str, float]:
    """The finite numbers of a dataclass by their names, SI."""
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    return {k: float(x) for k, x in values.items() if not isinstance(x, str) and np.isfinite(x)}


def _place(q: Any) -> list[float]:
    """Joint coordinates as numbers, rad or m."""
    return [float(x) for x in np.asarray(q, dtype=float)]


def _step(step: Any) -> dict[str, Any]:
    if isinstance(step, Along):
        raise ArgumentError(f"step {step.name!r} follows a path, which is not written as text")
    named = {"name": step.name}
    if isinstance(step, MoveTo):
        goal = step.goal if isinstance(step.goal, str) else _place(step.goal)
        via = {"via": [_place(q) for q in step.via]} if len(step.via) else {}
        options = {"stop": step.stop, "upright": step.upright, "smoothness": step.smoothness}
        options |= {} if step.most is None else {"most": float(step.most)}
        return {"move": {"goal": goal, **via, **options}, **named}
    if isinstance(step, Dwell):
        given = {"seconds": float(step.seconds), "hold": step.hold, "fixed": step.fixed}
        return {"dwell": given, **named}
    if isinstance(step, Release):
        return {"release": float(step.seconds), **named}
    assert isinstance(step, Grip)
    part: dict[str, Any] = {"mass": float(step.mass), "seconds": float(step.seconds)}
    for key in ("at", "inertia"):
        if getattr(step, key) is not None:
            part[key] = [float(x) for x in getattr(step, key)]
    part |= {key: getattr(step, key) for key in ("link", "thing") if getattr(step, key)}
    return {"grip": part, **named}

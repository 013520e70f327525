"""The JSON schema of drives files, made from the parts' own fields and the data sheets' words."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from armature.drive.catalogue import _SUPPLIES, catalogue
from armature.drive.drive import Drive
from armature.drive.gear import Gear
from armature.drive.motor import Motor
from armature.drive.sheet import _FOLLOWS, _NESTED, _THERMAL, _WORDS

ANY_NUMBER = {"anyOf": [{"type": "number"}, {"type": "string"}]}


def drives_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of a drives file."""
    parts = {kind for kind in _NESTED.values() if kind.__name__ != "EfficiencyTable"} | {Drive}
    one = _reference(Drive)
    coupling = {
        "type": "object",
        "required": ["joints", "drives"],
        "additionalProperties": False,
        "properties": {
            "joints": {"type": "array", "items": {"type": "string"}},
            "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            "drives": {"type": "array", "items": one},
        },
    }
    sections = {
        "drives": {"type": "object", "additionalProperties": one, "description": "{joint: drive}"},
        "couplings": {"type": "array", "items": coupling},
        "supply": _supply(),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Armature drives",
        "description": (
            "Which motor, gear and amplifier move each joint; quantities are SI numbers or text"
            " with a unit."
        ),
        "type": "object",
        "anyOf": [
            {"properties": sections, "additionalProperties": False},
            {"additionalProperties": one},
        ],
        "$defs": {kind.__name__: _part(kind) for kind in sorted(parts, key=lambda k: k.__name__)},
    }


def _reference(kind: type) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _supply() -> dict[str, Any]:
    """A name, or a mapping with `kind:`."""
    detailed = []
    for name, kind in _SUPPLIES.items():
        keys = {"kind": {"const": name}, **{f.name: _field(f) for f in fields(kind)}}
        detailed.append(
            {
                "type": "object",
                "properties": keys,
                "required": ["kind"],
                "additionalProperties": False,
            }
        )
    return {"anyOf": [{"enum": list(_SUPPLIES)}, *detailed]}


def _part(kind: type) -> dict[str, Any]:
    """A mapping of a part's quantities, or a name of the catalogue where there is one; words may be
    joined by _, - or blanks."""
    own = {f.name: _field(f) for f in fields(kind)}
    words = {
        word: {**ANY_NUMBER, "description": f"gives {target}; {unit}"}
        for (k, word), (target, unit, _) in _WORDS.items()
        if k is kind
    }
    if kind is Motor:
        words |= dict.fromkeys((*_THERMAL, *_FOLLOWS), ANY_NUMBER)
    known = {
        **own,
        **words,
        "like": {
            "type": "string",
            "description": "a part of the catalogue whose quantities are taken over",
        },
    }
    spelled = {
        "^" + re.escape(name).replace("_", "[ _-]") + "$": rule
        for name, rule in known.items()
        if "_" in name
    }
    mapping = {
        "type": "object",
        "properties": known,
        "patternProperties": spelled,
        "additionalProperties": False,
    }
    shelf = {Motor: catalogue().motors, Gear: catalogue().gears}.get(kind)
    return mapping if shelf is None else {"anyOf": [{"enum": sorted(shelf)}, mapping]}


def _field(f: Any) -> dict[str, Any]:
    """The schema of one quantity."""
    nested, unit, hint = _NESTED.get(f.name), f.metadata.get("unit"), f.metadata.get("hint", "")
    if f.name == "efficiency":
        return {
            "anyOf": [
                *ANY_NUMBER["anyOf"],
                {"type": "object", "required": ["speeds", "loads", "values"]},
            ]
        }
    if nested is not None:
        return _reference(nested)
    if unit is not None:
        return {**ANY_NUMBER, "description": f"{unit or 'a number'}; {hint}"}
    return {"type": "boolean" if f.name == "linear" else "string"}

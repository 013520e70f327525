"""Robots as YAML text that reads back to an equal robot, every number bit for bit."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from os import PathLike, fspath
from typing import Any

from armature.drive.bus import Bus
from armature.drive.friction import Friction
from armature.drive.supply import NonRegenerative, Regenerative
from armature.errors import ArgumentError
from armature.robot.description import RobotDescription
from armature.robot.format.schema import LETTERS
from armature.robot.parts import Joint, Limits, Link
from armature.robot.shape import IDENTITY, ZERO
from armature.write import MARK, write_whole

PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*", re.ASCII)
SUPPLIES = {Regenerative: "regenerative", NonRegenerative: "non-regenerative", Bus: "bus"}
RESERVED = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}


def save(robot: RobotDescription, path: str | PathLike[str]) -> None:
    """Write a robot to a .yaml file."""
    if not fspath(path).lower().endswith((".yaml", ".yml")):
        raise ArgumentError(
            f"path is {fspath(path)!r}; robots are saved as .yaml: give such a name"
        )
    write_whole(path, f"# {MARK}\n{to_yaml(robot)}")


def to_yaml(robot: RobotDescription) -> str:
    """A robot as YAML text."""
    base, names = robot.link(robot.base), [robot.base]
    lines = [
        "armature: 1",
        f"name: {_text(robot.name)}",
        f"gravity: {_flow(robot.gravity)}",
        "base:",
    ]
    lines += ["  " + line for line in _body(base)]
    lines.append("links:" if robot.joints else "links: []")
    for joint in robot.joints:
        entry = [*_body(robot.link(joint.child)), *_joint(joint, names[-1])]
        lines += [("  - " if k == 0 else "    ") + line for k, line in enumerate(entry)]
        names.append(joint.child)
    error = [] if robot.model_error is None else [f"model_error: {_flow(vars(robot.model_error))}"]
    return "\n".join(lines + _loops(robot) + _drives(robot) + error) + "\n"


def _body(link: Link) -> list[str]:
    lines = [f"name: {_text(link.name)}", f"mass: {link.mass!r}"]
    lines += [] if link.com == ZERO else [f"com: {_flow(link.com)}"]
    lines += [f"inertia: {_flow(link.inertia)}"] if any(link.inertia) else []
    if link.visuals:
        lines.append("visuals:")
        for v in link.visuals:
            keys = {"shape": v.shape, "size": v.size, "position": v.position}
            keys |= {} if v.rotation == IDENTITY else {"rotation": v.rotation}
            keys |= {} if v.file is None else {"file": v.file}
            keys |= {} if v.colour is None else {"colour": v.colour}
            lines.append(f"  - {_flow(keys)}")
    return lines


def _joint(j: Joint, previous: str) -> list[str]:
    lines = [f"joint: {_text(j.name)}", f"kind: {j.kind}"]
    lines += [] if j.parent == previous else [f"parent: {_text(j.parent)}"]
    lines += [] if j.position == ZERO else [f"offset: {_flow(j.position)}"]
    lines += [] if j.rotation == IDENTITY else [f"rotation: {_flow(j.rotation)}"]
    lines += [f"axis: {_axis(j.axis)}"] if j.kind not in ("fixed", "floating") else []
    for key, value, default in (
        ("limits", j.limits, Limits()),
        ("friction", j.friction, Friction()),
    ):
        if value != default:
            lines.append(f"{key}: {_flow(_changed(value, default))}")
    if j.rotor is not None:
        lines.append(f"rotor: {_flow({k: v for k, v in vars(j.rotor).items() if v is not None})}")
    if j.mimic is not None:
        lines.append(f"mimic: {_flow(vars(j.mimic))}")
    lines += [] if j.reduction is None else [f"reduction: {j.reduction!r}"]
    return lines + (["passive: true"] if j.passive else [])


def _loops(robot: RobotDescription) -> list[str]:
    lines = ["loops:"] if robot.loops else []
    for c in robot.loops:
        ends = {
            "a": c.a,
            "b": c.b,
            "at_a": c.position_a,
            "at_b": c.position_b,
            "rotation_a": c.rotation_a,
            "rotation_b": c.rotation_b,
        }
        lines.append(f"  - {_flow({'name': c.name, 'kind': c.kind, **ends, 'axis': c.axis})}")
    return lines


def _drives(robot: RobotDescription) -> list[str]:
    """Drives by joint, or all as couplings when one of them is more than a drive on a joint; then
    the supply."""
    lines = []
    if robot.drives and all(len(c.joints) == 1 and c.matrix == ((1.0,),) for c in robot.drives):
        lines += [
            "drives:",
            *(f"  {_text(c.joints[0])}: {_flow(_part(c.drives[0]))}" for c in robot.drives),
        ]
    elif robot.drives:
        lines.append("couplings:")
        for c in robot.drives:
            drives = tuple(_part(d) for d in c.drives)
            lines.append(f"  - {_flow({'joints': c.joints, 'matrix': c.matrix, 'drives': drives})}")
    if robot.supply is not None:
        lines.append(
            f"supply: {_flow({'kind': SUPPLIES[type(robot.supply)], **_part(robot.supply)})}"
        )
    return lines


def _part(part: Any) -> dict[str, Any]:
    """A part of a drive as the quantities that differ from their defaults, parts inside parts
    included."""
    pairs = [
        (f.name, getattr(part, f.name)) for f in fields(part) if getattr(part, f.name) != f.default
    ]
    return {key: _part(x) if is_dataclass(x) else x for key, x in pairs}


def _changed(value: Any, default: Any) -> dict[str, float]:
    pairs = [(f.name, getattr(value, f.name)) for f in fields(value)]
    return {key: x for key, x in pairs if x != getattr(default, key)}


def _axis(axis: tuple[float, float, float]) -> str:
    for letter, vector in LETTERS.items():
        if axis in (vector, tuple(-c for c in vector)):
            return letter if axis == vector else "-" + letter
    return _flow(axis)


def _flow(value: Any) -> str:
    """A value in one line: numbers by repr, which reads back bit for bit."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value).replace("inf", ".inf")


def _text(text: str) -> str:
    """A string as a plain word where that is safe, otherwise in double quotes with every odd
    character escaped."""
    if PLAIN.fullmatch(text) and text.lower() not in RESERVED:
        return text
    return '"' + "".join(_escaped(c) for c in text) + '"'


def _escaped(c: str) -> str:
    if c in '"\\':
        return "\\" + c
    if c.isprintable():
        return c
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"

"""The same robot with something changed, and the robot as a table: what Robot's methods do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from os import PathLike
from typing import Any

from armature.drive.friction import Friction
from armature.errors import ArgumentError, FileError, RobotError
from armature.robot import frames, guard
from armature.robot.check import inertia_doubt
from armature.robot.description import R, RobotDescription
from armature.robot.format.loops import loops_from_file
from armature.robot.format.moveit import limits_from_moveit
from armature.robot.parts import Joint, Limits, Link, Mimic
from armature.robot.shape import ZERO
from armature.robot.tip import TOOL, hands, moves, tip


def with_payload(
    robot: R,
    mass: float,
    at: Iterable[float] | None,
    link: str | None,
    inertia: Iterable[float] | None = None,
) -> R:
    """A mass m (kg) at a point of a link: mass, centre and inertia of the two together, exactly
    (Steiner); the link is marked."""
    m = guard.number("payload mass", mass)
    if m < 0.0:
        raise ArgumentError(f"payload mass is {m:g} kg; give a number ≥ 0")
    point = ZERO if at is None else guard.vector("payload position `at`", at, 3)
    name = (
        tip(robot, "carries the payload")
        if link is None
        else guard.known("link", link, robot.link_names)
    )
    if robot.n and not moves(robot, name):
        advice = f"give one that moves, e.g. {hands(robot)[0]}"
        raise ArgumentError(
            f"no joint moves the link {name!r}, so that a payload there changes nothing; {advice}"
        )
    moments = frames.POINT if inertia is None else _moments(inertia, m)
    old = robot.link(name)
    carried, where = old.payload or (0.0, point)
    if m == 0.0:
        new = replace(old, payload=(carried, where))
    else:
        joined = frames.joined([(old.mass, old.com, old.inertia), (m, point, moments)])
        where = tuple((carried * a + m * b) / (carried + m) for a, b in zip(where, point))
        new = replace(
            old, mass=joined[0], com=joined[1], inertia=joined[2], payload=(carried + m, where)
        )
    return replace(robot, links=tuple(new if x.name == name else x for x in robot.links))


def _moments(inertia: Iterable[float], mass: float) -> frames.Inertia:
    """Six moments of a payload, which must be those of a body."""
    given = list(inertia)
    six = guard.vector("payload inertia", [*given, 0.0, 0.0, 0.0] if len(given) == 3 else given, 6)
    doubt = inertia_doubt(six)
    if doubt is not None or (mass == 0.0 and any(six)):
        raise ArgumentError(
            f"payload inertia is {six}: {doubt or 'a payload of 0 kg has none'}; give (xx, yy, zz)"
            " about its centre, kg·m²"
        )
    return six  # type: ignore[return-value]


def with_tool(
    robot: R, position: Iterable[float], rpy: Iterable[float], link: str | None, name: str
) -> R:
    """A massless frame welded to a link: the tool centre point."""
    parent = (
        tip(robot, "carries the tool")
        if link is None
        else guard.known("link", link, robot.link_names)
    )
    if name in robot.link_names or name in {joint.name for joint in robot.joints}:
        raise ArgumentError(
            f"the robot {robot.name!r} has a link or joint {name!r} already; give the tool another"
            " name"
        )
    place, turn = guard.vector("tool position", position, 3), guard.vector("tool rpy", rpy, 3)
    joint = Joint(name + TOOL, "fixed", parent, name, place, frames.from_rpy(*turn))
    return replace(robot, links=(*robot.links, Link(name)), joints=(*robot.joints, joint))


def with_limits(
    robot: R, limits: Mapping[str, Mapping[str, float] | Limits] | str | PathLike[str]
) -> R:
    """Other limits of the named joints; a mapping changes what it names, a Limits object all; a
    path is MoveIt's joint_limits.yaml."""
    if isinstance(limits, str | PathLike):
        try:
            return _with_joints(robot, "limits", Limits, limits_from_moveit(limits))
        except ArgumentError as e:
            raise FileError(str(e), limits) from None
    return _with_joints(robot, "limits", Limits, limits)


def with_friction(robot: R, friction: Mapping[str, Mapping[str, float] | Friction]) -> R:
    """Other friction of the named joints; a mapping changes what it names, a Friction object
    all."""
    return _with_joints(robot, "friction", Friction, friction)


def with_loops(robot: R, loops: Any, passive: Iterable[str] = ()) -> R:
    """The robot with these loops (or those of a YAML file) added, and the named joints passive."""
    if isinstance(loops, str | PathLike):
        loops, more = loops_from_file(robot, loops)
        passive = [*passive, *more]
    names = {guard.known("joint", name, [j.name for j in robot.joints]) for name in passive}
    joints = tuple(replace(j, passive=True) if j.name in names else j for j in robot.joints)
    return replace(robot, joints=joints, loops=(*robot.loops, *loops))


def _with_joints(robot: R, field: str, kind: type, changes: Mapping[str, Any]) -> R:
    """The robot with `field` of the named joints changed."""
    if not isinstance(changes, Mapping):
        raise ArgumentError(
            f"{field} are {changes!r}; give a dictionary from joint names to dictionaries"
        )
    new: dict[str, Joint] = {}
    for name, change in changes.items():
        joint = robot.joint(name)
        try:
            new[name] = replace(
                joint,
                **{
                    field: _changed(getattr(joint, field), kind, change, f"joint {name!r}: {field}")
                },
            )
        except RobotError as e:
            text = str(e)
            raise ArgumentError(
                text if text.startswith("joint ") else f"joint {name!r}: {text}"
            ) from None
    return replace(robot, joints=tuple(new.get(j.name, j) for j in robot.joints))


def _changed(old: Any, kind: type, change: Any, where: str) -> Any:
    if isinstance(change, kind):
        return change
    names = [f.name for f in fields(kind)]
    if not isinstance(change, Mapping):
        raise ArgumentError(
            f"{where} is {change!r}; give a dictionary with any of {', '.join(names)}"
        )
    for key in change:
        if key not in names:
            raise ArgumentError(f"{where}: there is no {key!r}; {guard.suggestion(key, names)}")
    numbers = {
        key: guard.number(f"{where} {key}", value, infinite=True) for key, value in change.items()
    }
    return kind(**{**asdict(old), **numbers})


def summary(robot: RobotDescription) -> str:
    """The robot as a text table: one line per joint, with the link that it carries."""
    g = "(" + ", ".join(f"{x:g}" for x in robot.gravity) + ")"
    base = robot.link(robot.base)
    lines = [
        f"{robot.name}: {len(robot.links)} links, {robot.mass:.4g} kg, gravity {g} m/s², base"
        f" {base.name} ({base.mass:.4g} kg)"
    ]
    rows = [("joint", "kind", "parent", "child", "kg", "range", "velocity", "torque")]
    rows += [_row(robot, j) for j in robot.joints]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines += ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]
    return "\n".join(lines)


def _follows(mimic: Mimic) -> str:
    """The law of a joint that follows another, without a factor of 1 and an offset of 0."""
    factor = {1.0: "", -1.0: "-"}.get(mimic.multiplier, f"{mimic.multiplier:.4g} ")
    return f"{factor}{mimic.joint}" + (f" {mimic.offset:+.4g}" if mimic.offset else "")


def _row(robot: RobotDescription, j: Joint) -> tuple[str, ...]:
    limits = j.limits
    span = (
        ""
        if limits.lower == -limits.upper == -float("inf")
        else f"{limits.lower:.4g} … {limits.upper:.4g}"
    )
    kind = j.kind if j.mimic is None else f"{j.kind} = {_follows(j.mimic)}"
    ends = ["" if x == float("inf") else f"{x:.4g}" for x in (limits.velocity, limits.torque)]
    return (j.name, kind, j.parent, j.child, f"{robot.link(j.child).mass:.4g}", span, *ends)

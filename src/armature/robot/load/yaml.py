"""Armature's own format: YAML 1.2, a few numbers per link. Each entry of `links` is a link with the
joint that carries it."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any

from armature.document import checked, line_of, selected, values
from armature.drive.friction import Friction
from armature.errors import ArmatureError, FileError, RobotError
from armature.robot import frames, structure
from armature.robot.check import check
from armature.robot.drives import with_drives
from armature.robot.format.loops import loop_of
from armature.robot.format.schema import LETTERS, BodyPart, LinkPart, RobotPart
from armature.robot.load.xml import Source
from armature.robot.model import IDENTITY, Joint, Kind, Limits, Link, Mimic, Robot, Rotor, Visual
from armature.robot.model_error import ModelError
from armature.robot.unit import limits_suit
from armature.text import read_text


def load_yaml(path: str | PathLike[str]) -> Robot:
    """The robot of a YAML file. Raises FileError that lists all mistakes with their paths and
    lines."""
    return robot_from_yaml(read_text(path), path)


def robot_from_yaml(text: str, path: object) -> Robot:
    """The robot that a YAML text describes; `path` is for messages."""
    data = values(text, path)
    return _build(checked(RobotPart, data, path), data, path)


# --- values to a robot ---------------------------------------------------------------------------


def _build(part: RobotPart, data: Any, path: object) -> Robot:
    places = [("base",), *(("links", i) for i in range(len(part.links)))]
    names = [p.name or f"link{i}" for i, p in enumerate(part.links, 1)]
    names = [part.base.name or ("ground" if "base" in names else "base"), *names]

    def located(i: int, make: Any, *arguments: Any) -> Any:
        try:
            return make(*arguments)
        except RobotError as e:
            raise FileError(str(e), path, line_of(data, places[i])) from None

    links = [
        located(i, _link, body, name)
        for i, (body, name) in enumerate(zip((part.base, *part.links), names))
    ]
    joints = [
        located(i, _joint, p, i, p.parent or names[i - 1], names[i])
        for i, p in enumerate(part.links, 1)
    ]
    for problem in structure.problems(links, joints):
        raise FileError(
            str(problem), path, line_of(data, places[problem.index + (problem.element == "joint")])
        )
    robot = located(0, Robot, part.name, tuple(links), tuple(joints), names[0], part.gravity)
    for i, (joint, link) in enumerate(zip(robot.joints, data.get("links", ()))):
        try:
            limits_suit(robot, joint.name, link.get("limits"))
        except ArmatureError as e:
            raise FileError(str(e), path, line_of(data, ("links", i, "limits"))) from None
    source, lines = Source(path), {name: line_of(data, place) for name, place in zip(names, places)}
    for problem in check(robot):
        link = problem.name if problem.element == "link" else robot.joint(problem.name).child
        source.warn(lines[link], str(problem))
    return _with_error(
        _driven(_closed(robot, part, data, path), part, data, path), part, data, path
    )


def _with_error(robot: Robot, part: RobotPart, data: Any, path: object) -> Robot:
    """The robot with the errors that identification found."""
    if part.model_error is None:
        return robot
    try:
        return replace(robot, model_error=ModelError(**part.model_error.model_dump()))
    except RobotError as e:
        raise FileError(str(e), path, line_of(data, ("model_error",))) from None


def _closed(robot: Robot, part: RobotPart, data: Any, path: object) -> Robot:
    """The robot with the loops that the file gives."""
    for i, loop in enumerate(part.loops):
        try:
            robot = robot.with_loops([loop_of(robot, loop, i + 1)])
        except ArmatureError as e:
            raise FileError(str(e), path, line_of(data, ("loops", i))) from None
    return robot


def _driven(robot: Robot, part: RobotPart, data: Any, path: object) -> Robot:
    """The robot with the drives and the supply that the file gives."""
    given = selected(
        data, [key for key in ("drives", "couplings", "supply") if getattr(part, key) is not None]
    )
    return with_drives(robot, given, path) if given else robot


def _link(part: BodyPart, name: str) -> Link:
    visuals = tuple(
        Visual(v.shape, v.size, v.position, v.rotation or IDENTITY, v.file, v.colour)
        for v in part.visuals
    )
    return Link(name, part.mass, part.com, part.moments(), visuals or _drawn(part))


def _drawn(part: BodyPart) -> tuple[Visual, ...]:
    """The shape that gave the inertia is also what the pictures draw; a rod gets a fiftieth of its
    length as radius."""
    s = part.shape
    if s is None:
        return ()
    if s.kind == "box" and s.size is not None:
        return (Visual("box", s.size, part.com),)
    if s.kind == "sphere":
        return (Visual("sphere", (s.radius or 0.0,), part.com),)
    turn = {
        "x": frames.from_rpy(0.0, 1.5707963267948966, 0.0),
        "y": frames.from_rpy(1.5707963267948966, 0.0, 0.0),
        "z": IDENTITY,
    }[s.along]
    length = s.length or 0.0
    return (Visual("cylinder", (s.radius or length / 50, length), part.com, turn),)


def _joint(part: LinkPart, i: int, parent: str, child: str) -> Joint:
    kind, axis, position, rotation = _frame(part)
    name = part.joint or f"joint{i}"
    try:
        limits = Limits(**part.limits.model_dump())
        friction = Friction(**part.friction)
        rotor = (
            None
            if part.rotor is None
            else Rotor(part.rotor.inertia, part.rotor.ratio, part.rotor.axis)
        )
    except RobotError as e:
        raise RobotError(f"joint {name!r}: {e}") from None
    mimic = (
        None
        if part.mimic is None
        else Mimic(part.mimic.joint, part.mimic.multiplier, part.mimic.offset)
    )
    return Joint(
        name,
        kind,
        parent,
        child,
        position,
        rotation,
        axis,
        limits,
        friction,
        rotor,
        mimic,
        part.reduction,
        part.passive,
    )


def _frame(part: LinkPart) -> tuple[Kind, frames.Vec3, frames.Vec3, frames.Mat3]:
    """Kind, axis, position and rotation of a joint.

    Zaremba's description: rotation C₁(θ₁)C₂(θ₂)C₃(θ₃); n in 1..3 slides along, 4..6 turns about x,
    y, z of the link's own frame; the offset of a sliding joint is given in the link's own axes,
    that of a turning one in the parent's."""
    rotation = IDENTITY if part.rotation is None else part.rotation
    if part.rpy is not None:
        rotation = frames.from_rpy(*part.rpy)
    if part.turns is not None:
        t1, t2, t3 = part.turns
        rotation = frames.multiply(
            frames.multiply(frames.elementary(1, t1), frames.elementary(2, t2)),
            frames.elementary(3, t3),
        )
    if part.n is None:
        return part.kind or "fixed", part.axis or LETTERS["z"], part.offset, rotation
    axis = LETTERS["xyz"[(part.n - 1) % 3]]
    if part.n <= 3:
        return "prismatic", axis, frames.apply(rotation, part.offset), rotation
    return "revolute", axis, part.offset, rotation

"""Armature's own format: YAML 1.2, a few numbers per link. Each entry of `links` is a link with the joint that carries it."""

from __future__ import annotations

from os import PathLike
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from armature.drive.friction import Friction
from armature.errors import ArmatureError, FileError, RobotError
from armature.robot import frames, guard, structure
from armature.robot.check import check
from armature.robot.load.loops import loop_of
from armature.robot.load.schema import LETTERS, BodyPart, LinkPart, RobotPart
from armature.robot.load.text import decode, read_bytes
from armature.robot.load.xml import Source
from armature.robot.model import IDENTITY, Joint, Kind, Limits, Link, Mimic, Robot, Rotor, Visual

MOST_TEXT = 4 * 2**20
MOST_VALUES = 1_000_000
DEEPEST = 20
TAG = "tag:yaml.org,2002:"
CONSTANTS = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}


def load_yaml(path: str | PathLike[str]) -> Robot:
    """The robot of a YAML file. Raises FileError that lists all mistakes with their paths and lines."""
    text = decode(read_bytes(path), "utf-8-sig", path)
    return robot_from_yaml(text, path)


def robot_from_yaml(text: str, path: object) -> Robot:
    """The robot that a YAML text describes; `path` is for messages."""
    node = _compose(text, path)
    data = _Values(path).value(node, 0)
    if not isinstance(data, dict):
        raise FileError("the file is not a mapping; it begins with name: … and links: …", path, 1)
    try:
        part = RobotPart.model_validate(data)
    except ValidationError as e:
        raise _mistakes(e, node, path) from None
    return _build(part, node, path)


def plain_values(text: str, path: object) -> Any:
    """The mappings, lists, numbers and strings of any YAML text; `path` is for messages."""
    return _Values(path).value(_compose(text, path), 0)


# --- text to values ---------------------------------------------------------------------------------------------------


def _compose(text: str, path: object) -> Node:
    if len(text) > MOST_TEXT:
        raise FileError(f"the file has {len(text) / 2**20:.0f} MB; at most {MOST_TEXT // 2**20} MB of YAML are read", path)
    try:
        node = YAML(typ="safe", pure=True).compose(text)
    except YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        reason = getattr(e, "problem", None) or str(e).splitlines()[0]
        raise FileError(f"this is not well-formed YAML ({reason}); correct it there", path, mark.line + 1 if mark else None) from None
    except (RecursionError, ValueError, AttributeError, KeyError) as e:
        raise FileError(f"this is not well-formed YAML ({type(e).__name__}); nesting too deep, or a broken directive", path) from None
    if node is None:
        raise FileError("the file is empty; a robot's description was expected", path)
    return node


class _Values:
    """Plain values of a node graph; aliases are followed, but not without end."""

    def __init__(self, path: object):
        self.path, self.count = path, 0

    def value(self, node: Node, depth: int) -> Any:
        self.count += 1
        if depth > DEEPEST or self.count > MOST_VALUES:
            raise FileError("the values are nested or repeated too much for a robot; write them out flat", self.path, _line(node))
        if isinstance(node, SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        if isinstance(node, MappingNode):
            return self._mapping(node, depth)
        return self._scalar(node)

    def _mapping(self, node: MappingNode, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, item in node.value:
            if not isinstance(key, ScalarNode) or key.value in result:
                what = "a key is not a word" if not isinstance(key, ScalarNode) else f"the key {key.value[:60]!r} stands twice"
                raise FileError(f"{what}; remove or rename it", self.path, _line(key))
            result[key.value] = self.value(item, depth + 1)
        return result

    def _scalar(self, node: Node) -> Any:
        text, tag = str(node.value), str(node.tag)
        try:
            if tag == TAG + "float":
                return float(CONSTANTS.get(text.lower(), text.replace("_", "")))
            if tag == TAG + "int":
                return int(text.replace("_", ""), 0 if text.lstrip("+-").lower().startswith(("0x", "0o", "0b")) else 10)
        except ValueError:
            return text
        if tag == TAG + "bool":
            return text.lower() == "true"
        if tag == TAG + "null":
            return None
        return text


def _line(node: Node) -> int:
    return node.start_mark.line + 1


def _line_of(node: Node, location: tuple) -> int:
    """The line of a value by its path; of the nearest thing that exists, where it is missing."""
    line = _line(node)
    for step in location:
        if isinstance(node, MappingNode):
            found = next(((k, v) for k, v in node.value if isinstance(k, ScalarNode) and k.value == step), None)
            if found is None:
                continue  # a missing key, or the name of an alternative that pydantic puts into its paths
            line, node = _line(found[0]), found[1]
        elif isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = _line(node)
    return line


# --- mistakes ---------------------------------------------------------------------------------------------------------


def _mistakes(error: ValidationError, node: Node, path: object) -> FileError:
    """One FileError for all mistakes, each with its path and line."""
    found = []
    for e in error.errors(include_url=False, include_context=False)[:200]:
        location = tuple(e["loc"])
        words = [f"[{s}]" if isinstance(s, int) else f".{s}" for s in location]
        message = e["msg"].removeprefix("Value error, ")
        if e["type"] == "extra_forbidden":
            message = f"there is no such key; {guard.suggestion(location[-1], _keys(location))}"
        found.append((_line_of(node, location), f"{''.join(words).lstrip('.') or 'the file'}: {message}"))
    found.sort(key=lambda item: item[0])
    shown = [f"line {line}: {text}" for line, text in found[1:20]]
    more = [f"and {len(found) - 20} more"] if len(found) > 20 else []
    return FileError("\n  ".join([found[0][1], *shown, *more]), path, found[0][0])


def _keys(location: tuple) -> list[str]:
    """The keys that are known where a path leads."""
    model: type[BaseModel] = RobotPart
    for step in location[:-1]:
        field = model.model_fields.get(step) if isinstance(step, str) else None
        options = [] if field is None else _models(field.annotation)
        model = options[0] if options else model
    return list(model.model_fields)


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for a in get_args(annotation) for m in _models(a)]


# --- values to a robot ------------------------------------------------------------------------------------------------


def _build(part: RobotPart, node: Node, path: object) -> Robot:
    places = [("base",), *(("links", i) for i in range(len(part.links)))]
    names = [part.base.name or "base", *(p.name or f"link{i}" for i, p in enumerate(part.links, 1))]

    def located(i: int, make: Any, *arguments: Any) -> Any:
        try:
            return make(*arguments)
        except RobotError as e:
            raise FileError(str(e), path, _line_of(node, places[i])) from None

    links = [located(i, _link, body, name) for i, (body, name) in enumerate(zip((part.base, *part.links), names))]
    joints = [located(i, _joint, p, i, p.parent or names[i - 1], names[i]) for i, p in enumerate(part.links, 1)]
    for problem in structure.problems(links, joints):
        raise FileError(str(problem), path, _line_of(node, places[problem.index + (problem.element == "joint")]))
    robot = located(0, Robot, part.name, tuple(links), tuple(joints), names[0], part.gravity)
    source, lines = Source(path), {name: _line_of(node, place) for name, place in zip(names, places)}
    for problem in check(robot):
        link = problem.name if problem.element == "link" else robot.joint(problem.name).child
        source.warn(lines[link], str(problem))
    return _driven(_closed(robot, part, node, path), part, node, path)


def _closed(robot: Robot, part: RobotPart, node: Node, path: object) -> Robot:
    """The robot with the loops that the file gives."""
    for i, loop in enumerate(part.loops):
        try:
            robot = robot.with_loops([loop_of(robot, loop, i + 1)])
        except ArmatureError as e:
            raise FileError(str(e), path, _line_of(node, ("loops", i))) from None
    return robot


def _driven(robot: Robot, part: RobotPart, node: Node, path: object) -> Robot:
    """The robot with the drives and the supply that the file gives."""
    given = {key: value for key in ("drives", "couplings", "supply") if (value := getattr(part, key)) is not None}
    if not given:
        return robot
    try:
        return robot.with_drives(given)
    except ArmatureError as e:
        raise FileError(str(e), path, _line_of(node, (next(iter(given)),))) from None


def _link(part: BodyPart, name: str) -> Link:
    visuals = tuple(Visual(v.shape, v.size, v.position, v.rotation or IDENTITY, v.file, v.colour) for v in part.visuals)
    return Link(name, part.mass, part.com, part.moments(), visuals or _drawn(part))


def _drawn(part: BodyPart) -> tuple[Visual, ...]:
    """The shape that gave the inertia is also what the pictures draw; a rod gets a fiftieth of its length as radius."""
    s = part.shape
    if s is None:
        return ()
    if s.kind == "box" and s.size is not None:
        return (Visual("box", s.size, part.com),)
    if s.kind == "sphere":
        return (Visual("sphere", (s.radius or 0.0,), part.com),)
    turn = {"x": frames.from_rpy(0.0, 1.5707963267948966, 0.0), "y": frames.from_rpy(1.5707963267948966, 0.0, 0.0), "z": IDENTITY}[s.along]
    length = s.length or 0.0
    return (Visual("cylinder", (s.radius or length / 50, length), part.com, turn),)


def _joint(part: LinkPart, i: int, parent: str, child: str) -> Joint:
    kind, axis, position, rotation = _frame(part)
    name = part.joint or f"joint{i}"
    try:
        limits = Limits(**part.limits.model_dump())
        friction = Friction(**part.friction)
        rotor = None if part.rotor is None else Rotor(part.rotor.inertia, part.rotor.ratio, part.rotor.axis)
    except RobotError as e:
        raise RobotError(f"joint {name!r}: {e}") from None
    mimic = None if part.mimic is None else Mimic(part.mimic.joint, part.mimic.multiplier, part.mimic.offset)
    return Joint(name, kind, parent, child, position, rotation, axis, limits, friction, rotor, mimic, part.reduction, part.passive)


def _frame(part: LinkPart) -> tuple[Kind, frames.Vec3, frames.Vec3, frames.Mat3]:
    """Kind, axis, position and rotation of a joint.

    Zaremba's description: rotation C₁(θ₁)C₂(θ₂)C₃(θ₃); n in 1..3 slides along, 4..6 turns about x, y, z of the link's own frame;
    the offset of a sliding joint is given in the link's own axes, that of a turning one in the parent's.
    """
    rotation = IDENTITY if part.rotation is None else part.rotation
    if part.rpy is not None:
        rotation = frames.from_rpy(*part.rpy)
    if part.turns is not None:
        t1, t2, t3 = part.turns
        rotation = frames.multiply(frames.multiply(frames.elementary(1, t1), frames.elementary(2, t2)), frames.elementary(3, t3))
    if part.n is None:
        return part.kind or "fixed", part.axis or LETTERS["z"], part.offset, rotation
    axis = LETTERS["xyz"[(part.n - 1) % 3]]
    if part.n <= 3:
        return "prismatic", axis, frames.apply(rotation, part.offset), rotation
    return "revolute", axis, part.offset, rotation

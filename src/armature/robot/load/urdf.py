"""URDF: a strict reader of our own. What it does not know it ignores; what it knows must be right,
or the line is named."""

from __future__ import annotations

import math
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import cast

from armature.drive.friction import Friction
from armature.robot import frames, guard, structure
from armature.robot.check import check
from armature.robot.load.packages import mesh_finder
from armature.robot.load.xml import Element, Source, child, children, parse
from armature.robot.model import (
    IDENTITY,
    INF,
    Joint,
    Kind,
    Limits,
    Link,
    Mat3,
    Mimic,
    Robot,
    Vec3,
    Visual,
)
from armature.text import read_bytes

KINDS = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
SIZES = {
    "box": (),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "sphere": ("radius",),
    "mesh": (),
}


def load_urdf(path: str | PathLike[str]) -> Robot:
    """The robot of a URDF file. Raises FileError with file, line and reason; what was repaired is
    an ArmatureWarning."""
    return robot_from_urdf(parse(read_bytes(path), path), path)


def robot_from_urdf(root: Element, path: object, source: Source | None = None) -> Robot:
    """The robot of a `<robot>` element; `path` is for messages, `source` where elements know their
    own files."""
    source = source or Source(path)
    _strip_namespace(root)
    if root.tag != "robot":
        raise source.error(root, 'is the outermost element; a URDF begins with <robot name="…">')
    colours = {m.get("name"): c for m in children(root, "material") if (c := _rgba(m)) is not None}
    link_elements, joint_elements = children(root, "link"), children(root, "joint")
    _refuse_macros(root, source)
    if not link_elements:
        raise source.error(root, "has no <link>; a robot has at least one")
    if len(link_elements) > structure.MOST_LINKS:
        raise source.error(
            root, f"has {len(link_elements)} links; at most {structure.MOST_LINKS} are read"
        )
    links = _located([_link(e, source, colours) for e in link_elements], path)
    joints = [_joint(e, source) for e in joint_elements]
    for problem in structure.problems(links, joints):
        element = (link_elements if problem.element == "link" else joint_elements)[problem.index]
        raise source.error(element, str(problem))
    elements = {j.name: e for j, e in zip(joints, joint_elements)}
    joints = _with_reductions(root, joints, source, elements)
    base = ({link.name for link in links} - {joint.child for joint in joints}).pop()
    with source.at(root):
        robot = Robot(root.get("name") or "robot", tuple(links), tuple(joints), base)
    inertials = {link.name: _inertial(e) for link, e in zip(links, link_elements)}
    for problem in check(robot):
        source.warn(
            (inertials if problem.element == "link" else elements)[problem.name], str(problem)
        )
    if any(j.kind != "fixed" for j in joints) and not any(
        link.mass for link in links if link.name != base
    ):
        words = (
            "no link that moves has a mass, so that nothing but motors takes energy; give every"
            " link its <inertial>"
        )
        source.warn(root, f"robot {robot.name!r}: {words}")
    return robot


def _strip_namespace(root: Element) -> None:
    """Old files put all elements in a default namespace: drop it."""
    if not isinstance(root.tag, str) or not root.tag.startswith("{"):
        return
    prefix = root.tag[: root.tag.index("}") + 1]
    for element in root.iter():
        if isinstance(element.tag, str) and element.tag.startswith(prefix):
            element.tag = element.tag[len(prefix) :]


def _refuse_macros(root: Element, source: Source) -> None:
    for element in root:
        if isinstance(element.tag, str) and element.tag.startswith("{") and "xacro" in element.tag:
            raise source.error(
                root,
                f"holds xacro macros (line {element.sourceline}); name the file .xacro, or expand"
                " it first",
            )


def _inertial(element: Element) -> Element:
    inner = child(element, "inertial")
    return element if inner is None else inner


def origin(element: Element, source: Source) -> tuple[Vec3, Mat3]:
    """Position (m) and rotation of an element's `<origin>`; none means identity."""
    o = child(element, "origin")
    if o is None:
        return (0.0, 0.0, 0.0), IDENTITY
    xyz, rpy = (
        source.numbers(o, "xyz", 3, (0.0, 0.0, 0.0)),
        source.numbers(o, "rpy", 3, (0.0, 0.0, 0.0)),
    )
    return cast(Vec3, xyz), frames.from_rpy(*rpy)


# --- links ---------------------------------------------------------------------------------------


def _link(element: Element, source: Source, colours: dict) -> Link:
    name = source.text(element, "name")
    visuals = tuple(
        v for e in children(element, "visual") if (v := _visual(e, source, colours)) is not None
    )
    collisions = tuple(
        shape
        for e in children(element, "collision")
        if (shape := _visual(e, source, colours)) is not None
    )
    inertial = child(element, "inertial")
    if inertial is None:
        return Link(name, visuals=visuals, collisions=collisions)
    mass_element = child(inertial, "mass")
    if mass_element is None:
        raise source.error(
            inertial,
            f"of link {name!r} has no <mass>; give it, or leave the whole <inertial> out for a"
            " massless link",
        )
    mass = source.number(mass_element, "value")
    com, R = origin(inertial, source)
    with source.at(mass_element):
        return Link(
            name,
            mass,
            com,
            frames.rotated(_inertia(inertial, name, source), R),
            visuals,
            collisions=collisions,
        )


def _located(links: list[Link], path: object) -> list[Link]:
    """The links with the mesh files of their shapes looked for; `path`: of the robot's file."""
    if not isinstance(path, str | PathLike):
        return links
    find = mesh_finder(Path(path).parent)
    found = lambda shapes: tuple(
        replace(s, path=find(s.file)) if s.shape == "mesh" else s for s in shapes
    )
    return [
        (
            replace(x, collisions=found(x.collisions), visuals=found(x.visuals))
            if x.collisions or x.visuals
            else x
        )
        for x in links
    ]


def _inertia(inertial: Element, name: str, source: Source) -> frames.Inertia:
    """(xx, yy, zz, xy, xz, yz) as the file gives them, in the axes of the `<inertial>`'s origin."""
    element = child(inertial, "inertia")
    if element is None:
        source.warn(
            inertial, f"link {name!r}: its <inertial> has no <inertia>; it is taken as a point mass"
        )
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    missing = [key for key in ("ixy", "ixz", "iyz") if element.get(key) is None]
    if missing:
        source.warn(
            element, f"link {name!r}: {', '.join(missing)} missing in <inertia>; taken as 0"
        )
    xx, yy, zz = (source.number(element, key) for key in ("ixx", "iyy", "izz"))
    xy, xz, yz = (source.number(element, key, 0.0) for key in ("ixy", "ixz", "iyz"))
    return (xx, yy, zz, xy, xz, yz)


def _visual(element: Element, source: Source, colours: dict) -> Visual | None:
    """A visual as a few numbers; None for a shape without one, which no picture can draw."""
    geometry = child(element, "geometry")
    shape = (
        None if geometry is None else next((c for c in geometry if isinstance(c.tag, str)), None)
    )
    if shape is None:
        return None
    keys = SIZES.get(str(shape.tag))
    if keys is None:
        return None
    size = tuple(source.number(shape, key) for key in keys)
    if shape.tag == "box":
        size = source.numbers(shape, "size", 3, (1.0, 1.0, 1.0))
    elif shape.tag == "mesh":
        size = source.numbers(shape, "scale", 3, (1.0, 1.0, 1.0))
    material = child(element, "material")
    colour = None if material is None else _rgba(material) or colours.get(material.get("name"))
    return Visual(str(shape.tag), size, *origin(element, source), shape.get("filename"), colour)


def _rgba(material: Element) -> tuple[float, float, float, float] | None:
    """A material's colour; None when it has none that can be read, for pictures only."""
    colour = child(material, "color")
    try:
        r, g, b, a = (
            float(x) for x in ("" if colour is None else colour.get("rgba") or "").split()
        )
    except ValueError:
        return None
    return (r, g, b, a) if all(0.0 <= x <= 1.0 for x in (r, g, b, a)) else None


# --- joints --------------------------------------------------------------------------------------


def _joint(element: Element, source: Source) -> Joint:
    name, kind = source.text(element, "name"), source.text(element, "type")
    if kind not in KINDS:
        raise source.error(
            element, f"{name!r} has the type {kind!r}; take one of {', '.join(KINDS)}"
        )
    parent, end = _end(element, "parent", source), _end(element, "child", source)
    position, rotation = origin(element, source)
    axis = _axis(element, name, source) if kind not in ("fixed", "floating") else (0.0, 0.0, 1.0)
    limits, friction, mimic = (
        _limits(element, name, kind, source),
        _friction(element, source),
        _mimic(element, kind, source),
    )
    with source.at(element):
        return Joint(
            name,
            cast(Kind, kind),
            parent,
            end,
            position,
            rotation,
            axis,
            limits,
            friction,
            None,
            mimic,
        )


def _end(element: Element, role: str, source: Source) -> str:
    """The link at one end of a joint; role: "parent" or "child"."""
    end = child(element, role)
    if end is None:
        raise source.error(
            element, f'{element.get("name")!r} has no <{role}>; give it as <{role} link="…"/>'
        )
    return source.text(end, "link")


def _axis(element: Element, name: str, source: Source) -> Vec3:
    a = child(element, "axis")
    if a is None:
        return (1.0, 0.0, 0.0)
    given = source.numbers(a, "xyz", 3, (1.0, 0.0, 0.0))
    with source.at(a):
        axis = guard.unit(f"joint {name!r}: axis", given)
    length = math.hypot(*given)
    if abs(length - 1.0) > 1e-3:
        source.warn(
            a,
            f"joint {name!r}: its axis {a.get('xyz')!r} has length {length:.6g}; it is taken with"
            " length 1",
        )
    return axis


def _limits(element: Element, name: str, kind: str, source: Source) -> Limits:
    e = child(element, "limit")
    if e is None or kind == "fixed":
        return Limits()
    lower, upper = source.number(e, "lower", -INF, True), source.number(e, "upper", INF, True)
    if kind == "continuous":
        lower, upper = -INF, INF
    with source.at(e, f"joint {name!r}: "):
        return Limits(
            lower,
            upper,
            source.number(e, "velocity", INF, True),
            torque=source.number(e, "effort", INF, True),
        )


def _friction(element: Element, source: Source) -> Friction:
    e = child(element, "dynamics")
    if e is None:
        return Friction()
    with source.at(e, f"joint {element.get('name')!r}: "):
        return Friction(source.number(e, "damping", 0.0), source.number(e, "friction", 0.0))


def _mimic(element: Element, kind: str, source: Source) -> Mimic | None:
    e = child(element, "mimic")
    if e is None or kind == "fixed":
        return None
    with source.at(e, f"joint {element.get('name')!r}: "):
        return Mimic(
            source.text(e, "joint"),
            source.number(e, "multiplier", 1.0),
            source.number(e, "offset", 0.0),
        )


# --- reductions ----------------------------------------------------------------------------------


def _with_reductions(
    root: Element, joints: list[Joint], source: Source, elements: dict
) -> list[Joint]:
    """The joints with the gear ratios of `<transmission>` (ROS 1) and `<ros2_control>` (ROS 2)."""
    ratios: dict[str, float] = {}
    blocks = [
        *children(root, "transmission"),
        *(t for c in children(root, "ros2_control") for t in children(c, "transmission")),
    ]
    for block in blocks:
        for name, ratio in _reductions(block, source):
            if name in elements:
                ratios[name] = ratio
            else:
                source.warn(
                    block, f"<transmission> names the joint {name!r}, which does not exist; ignored"
                )
    return [replace(j, reduction=ratios[j.name]) if j.name in ratios else j for j in joints]


def _reductions(block: Element, source: Source) -> list[tuple[str, float]]:
    """(joint, ratio) pairs of one transmission. One joint: its actuator's ratio, else its own, else
    the block's; several: each its own."""
    joints, actuators = children(block, "joint"), children(block, "actuator")
    if len(joints) == 1:
        candidates = [*(actuators if len(actuators) == 1 else []), joints[0], block]
    found = []
    for joint in joints:
        for holder in candidates if len(joints) == 1 else [joint]:
            ratio = _reduction(holder, source)
            if ratio is not None:
                found.append((source.text(joint, "name"), ratio))
                break
    return found


def _reduction(holder: Element, source: Source) -> float | None:
    for tag in ("mechanicalReduction", "mechanical_reduction"):
        e = child(holder, tag)
        if e is not None and (e.text or "").strip():
            ratio = source.parse_number(e, tag, e.text or "")
            if ratio != 0.0:
                return ratio
            source.warn(e, f"<{tag}> is 0, which is no gear; ignored")
    return None

"""Numbers of a robot by name: "gear ratio of elbow", "mass of forearm", "payload".

A `Parameter` knows its value and how a robot looks with another one."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from armature.drive.drive import Drive
from armature.drive.gear import EfficiencyTable
from armature.errors import ArgumentError
from armature.robot.model import Robot
from armature.robot.tip import tip
from armature.robot.unit import LIMIT_UNITS, unit_of

Change = Callable[[Robot, float], Robot]

# what of a drive's parts a name means: (name, [(part, field), ...], unit); several fields change
# together, the value is the first's
DRIVES = (
    ("gear ratio", [("gear", "ratio")], ""),
    ("gear efficiency", [("gear", "efficiency")], ""),
    ("resistance", [("motor", "resistance")], "Ω"),
    ("torque constant", [("motor", "torque_constant"), ("motor", "back_emf_constant")], "N·m/A"),
    ("rotor inertia", [("motor", "inertia")], "kg·m²"),
    ("iron torque", [("motor", "iron_torque")], "N·m"),
    ("motor friction", [("motor", "viscous")], "N·m·s/rad"),
    ("amplifier efficiency", [("amplifier", "efficiency")], ""),
    ("standby power", [("amplifier", "standby")], "W"),
)
DRIVE_LIMITS = (
    ("voltage", [("amplifier", "voltage")], "V"),
    ("peak current", [("motor", "peak_current"), ("amplifier", "peak_current")], "A"),
    (
        "continuous current",
        [("motor", "continuous_current"), ("amplifier", "continuous_current")],
        "A",
    ),
    ("peak heat", [("motor", "peak_heat")], "W"),
    ("average heat", [("motor", "average_heat")], "W"),
    ("motor speed", [("motor", "maximum_speed"), ("gear", "maximum_speed")], "rad/s"),
    ("gear torque", [("gear", "maximum_torque")], "N·m"),
)
FRICTIONS = {
    "Coulomb friction": ("coulomb", "N·m or N"),
    "viscous friction": ("viscous", "N·m·s/rad or N·s/m"),
}
LIMITS = {
    "torque limit": "torque",
    "velocity limit": "velocity",
    "acceleration limit": "acceleration",
    "jerk limit": "jerk",
}
AXES = "xyz"
SIGNS = str.maketrans({"*": "·", "^": "", "2": "²", "3": "³"})
SUPPLY, PAYLOAD = "supply voltage", "payload"


@dataclass(frozen=True)
class Parameter:
    """A number of a robot.

    name: what messages and tables call it.  value: at which derivatives are taken and searches
    begin.  change: (robot, value) -> the robot with this value; it may change whatever depends on
    it too, such as the mass of a tube with its length.  unit: of the value."""

    name: str
    value: float
    change: Change
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.value:.4g} {self.unit}".rstrip()


def parameters(robot: Robot) -> tuple[Parameter, ...]:
    """Every parameter that has a name: of drives, joints and links, the payload, the voltage of
    all drives, the base's position. Limits that a robot does not have are left out."""
    return tuple(
        p
        for p in (
            *_robot_parameters(robot),
            *_drive_parameters(robot),
            *_joint_parameters(robot),
            *_link_parameters(robot),
        )
        if math.isfinite(p.value)
    )


def parameter(robot: Robot, name: str | Parameter) -> Parameter:
    """The parameter of this name; an ArgumentError suggests similar ones."""
    if isinstance(name, Parameter):
        return name
    known = {p.name: p for p in parameters(robot)}
    if name in known:
        return known[name]
    close = difflib.get_close_matches(str(name), known, 3, 0.5)
    hint = f"did you mean {' or '.join(repr(x) for x in close)}?" if close else ""
    raise ArgumentError(
        f"there is no parameter {name!r} of robot {robot.name!r};"
        f" {hint or 'arm.design.parameters(robot) lists them all'}"
    )


# of the whole robot ------------------------------------------------------------------------------


def _robot_parameters(robot: Robot) -> Iterator[Parameter]:
    loads = [(link.payload, link.name) for link in robot.links if link.payload is not None]
    (carried, at), name = max(loads, default=((0.0, None), ""))
    if not carried:
        at, name = None, _hand(robot)
    if name:

        def loaded(other: Robot, value: float) -> Robot:
            return _carrying(other, name, value - carried, at)

        yield Parameter(PAYLOAD, carried, loaded, "kg")
    voltages = {d.amplifier.voltage for d in robot.drivetrain.drives}
    if len(voltages) == 1:
        yield Parameter(SUPPLY, voltages.pop(), _with_voltage, "V")
    for k, axis in enumerate(AXES):
        yield Parameter(f"base {axis}", 0.0, _base_moved(robot, k), "m")


def _hand(robot: Robot) -> str:
    try:
        return tip(robot)
    except ArgumentError:
        return ""


def _carrying(robot: Robot, name: str, mass: float, at: Any) -> Robot:
    """The robot with a mass more, or less, at a point of a link."""
    if mass >= 0.0:
        return robot.with_payload(mass, at=at, link=name)
    link, point = robot.link(name), (0.0, 0.0, 0.0) if at is None else at
    rest = link.mass + mass
    if rest < 0.0:
        raise ArgumentError(f"payload: link {name!r} cannot carry {-mass:.4g} kg less")
    com = tuple((link.mass * c + mass * p) / rest if rest else c for c, p in zip(link.com, point))
    apart = tuple(p - c for p, c in zip(point, com))
    before = tuple(a - c for a, c in zip(link.com, com))
    inertia = tuple(
        J + link.mass * b + mass * a
        for J, a, b in zip(link.inertia, _steiner(apart), _steiner(before))
    )
    return _with_link(robot, name, mass=rest, com=com, inertia=inertia)


def _steiner(r: Any) -> tuple[float, ...]:
    x, y, z = r
    return y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z


def _with_voltage(robot: Robot, value: float) -> Robot:
    change = lambda d: replace(d, amplifier=replace(d.amplifier, voltage=value))
    return _with_couplings(robot, lambda c: replace(c, drives=tuple(map(change, c.drives))))


def _base_moved(robot: Robot, axis: int) -> Change:
    """Joints on the base where they are in `robot`, moved along an axis of the world."""
    at = {j.name: j.position for j in robot.joints if j.parent == robot.base}

    def change(other: Robot, value: float) -> Robot:
        joints = (
            replace(j, position=_shifted(j.position, axis, value + at[j.name][axis]))
            if j.name in at
            else j
            for j in other.joints
        )
        return replace(other, joints=tuple(joints))

    return change


def _shifted(vector: tuple[float, ...], axis: int, value: float) -> tuple[float, ...]:
    return (*vector[:axis], value, *vector[axis + 1 :])


# of drives ---------------------------------------------------------------------------------------


def _drive_parameters(robot: Robot) -> Iterator[Parameter]:
    for coupling in robot.drives:
        for k, axis in enumerate(coupling.axis_names):
            drive = coupling.drives[k]
            for name, places, unit in (*DRIVES, *DRIVE_LIMITS):
                values = [_value(drive, *place) for place in places]
                known = [v for v in values if v is not None and math.isfinite(v)]
                limit = (name, places, unit) in DRIVE_LIMITS
                if known and values[0] is not None:
                    value = min(known) if limit else values[0]
                    change = _drive_change(coupling.joints, k, places, limit)
                    yield Parameter(f"{name} of {axis}", value, change, unit)


def _value(drive: Drive, part: str, field: str) -> float | None:
    value = getattr(getattr(drive, part), field)
    return None if isinstance(value, EfficiencyTable) else value


def _drive_change(
    joints: tuple[str, ...], k: int, places: list[tuple[str, str]], limit: bool
) -> Change:
    """The drive of an axis with another value: of a limit every part that has one takes it, of
    others the first takes it and the rest change in proportion."""

    def change(robot: Robot, value: float) -> Robot:
        def renewed(coupling: Any) -> Any:
            if coupling.joints != joints:
                return coupling
            drive = coupling.drives[k]
            first = _value(drive, *places[0]) or 1.0
            for part, field in places:
                old = _value(drive, part, field)
                if old is None or (limit and math.isinf(old)):
                    continue
                new = value if limit or old == first else old * value / first
                drive = replace(drive, **{part: replace(getattr(drive, part), **{field: new})})
            drives = (*coupling.drives[:k], drive, *coupling.drives[k + 1 :])
            return replace(coupling, drives=drives)

        return _with_couplings(robot, renewed)

    return change


def _with_couplings(robot: Robot, change: Callable[[Any], Any]) -> Robot:
    couplings = [change(c) for c in robot.drives]
    return robot.with_drives(couplings)


# of joints ---------------------------------------------------------------------------------------


def _joint_parameters(robot: Robot) -> Iterator[Parameter]:
    drives = {c.joints[0]: c.drives[0] for c in robot.drives if len(c.joints) == len(c.drives) == 1}
    for joint in robot.joints:
        if joint.name not in robot.joint_names:
            continue
        for what, (field, unit) in FRICTIONS.items():
            own = getattr(joint.friction, field)
            drive = drives.get(joint.name)
            theirs = getattr(drive.friction, field) if drive else 0.0
            in_drive = own == 0.0 and theirs > 0.0
            change = _friction_change(joint.name, field, in_drive)
            unit = unit_of(robot, joint.name, unit)
            yield Parameter(f"{what} of {joint.name}", theirs if in_drive else own, change, unit)
        for what, field in LIMITS.items():
            unit = unit_of(robot, joint.name, LIMIT_UNITS[field]).translate(SIGNS)
            change = _limit_change(joint.name, field)
            value = getattr(joint.limits, field)
            yield Parameter(f"{what} of {joint.name}", value, change, unit)


def _friction_change(joint: str, field: str, in_drive: bool) -> Change:
    def of_joint(robot: Robot, value: float) -> Robot:
        return robot.with_friction({joint: {field: value}})

    def of_drive(robot: Robot, value: float) -> Robot:
        change = lambda d: replace(d, friction=replace(d.friction, **{field: value}))
        return _with_couplings(
            robot,
            lambda c: (
                replace(c, drives=tuple(map(change, c.drives))) if c.joints == (joint,) else c
            ),
        )

    return of_drive if in_drive else of_joint


def _limit_change(joint: str, field: str) -> Change:
    return lambda robot, value: robot.with_limits({joint: {field: value}})


# of links ----------------------------------------------------------------------------------------


def _link_parameters(robot: Robot) -> Iterator[Parameter]:
    for link in robot.links:
        if robot.tree.frames[link.name].body < 0:
            continue
        if link.mass > 0.0:
            yield Parameter(
                f"mass of {link.name}", link.mass, _link_change(link.name, "mass"), "kg"
            )
            for k, axis in enumerate(AXES):
                change = _centre_change(link.name, k)
                yield Parameter(f"centre {axis} of {link.name}", link.com[k], change, "m")
        if any(link.inertia):
            yield Parameter(f"inertia of {link.name}", 1.0, _inertia_change(link), "times")
        length = link_length(robot, link.name)
        if length:
            yield Parameter(f"length of {link.name}", length, _length_change(link.name), "m")


def link_length(robot: Robot, link: str) -> float:
    """How far the first joint that a link carries is from the link's own, m; 0 without one."""
    joints = [j for j in robot.joints if j.parent == link]
    return max((math.hypot(*j.position) for j in joints[:1]), default=0.0)


def _link_change(link: str, field: str) -> Change:
    return lambda robot, value: _with_link(robot, link, **{field: value})


def _centre_change(link: str, axis: int) -> Change:
    return lambda robot, value: _with_link(
        robot, link, com=_shifted(robot.link(link).com, axis, value)
    )


def _inertia_change(link: Any) -> Change:
    """All moments about the centre times a number."""
    return lambda robot, value: _with_link(
        robot, link.name, inertia=tuple(value * J for J in link.inertia)
    )


def _length_change(link: str) -> Change:
    """The joints that a link carries moved out in proportion; its mass and centre stay."""

    def change(robot: Robot, value: float) -> Robot:
        part = value / link_length(robot, link)
        joints = (
            replace(j, position=tuple(part * x for x in j.position)) if j.parent == link else j
            for j in robot.joints
        )
        return replace(robot, joints=tuple(joints))

    return change


def _with_link(robot: Robot, name: str, **changed: Any) -> Robot:
    links = (replace(x, **changed) if x.name == name else x for x in robot.links)
    return replace(robot, links=tuple(links))

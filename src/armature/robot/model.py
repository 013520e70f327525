"""What a robot is: links, joints and gravity, frozen and hashable. Nothing here computes dynamics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, get_args

from armature import notebook
from armature.drive.friction import Friction
from armature.errors import RobotError
from armature.robot import guard, structure
from armature.robot.loop import Loop, check_loops
from armature.robot.shape import IDENTITY, ZERO, Mat3, Vec3, Visual

if TYPE_CHECKING:
    from armature.drive.catalogue import Supply
    from armature.drive.train import Coupling, Drivetrain
    from armature.robot.tree import Tree

Kind = Literal["revolute", "continuous", "prismatic", "planar", "floating", "fixed"]
INF = math.inf


def _set(item: object, **values: Any) -> None:
    """Store normalised values in a frozen dataclass that is being made."""
    for key, value in values.items():
        object.__setattr__(item, key, value)


@dataclass(frozen=True)
class Link:
    """A rigid body.

    mass: kg, ≥ 0.  com: centre of mass in the link's frame, m.
    inertia: (xx, yy, zz, xy, xz, yz) about the centre of mass, in the axes of the link's frame, kg·m²; zeros for a point mass.
    payload: how much of the mass is a payload that `Robot.with_payload` added, kg, and where; None where nothing is carried.
    """

    name: str
    mass: float = 0.0
    com: Vec3 = ZERO
    inertia: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    visuals: tuple[Visual, ...] = field(default=(), compare=False)  # what the pictures draw; no influence on dynamics
    payload: tuple[float, Vec3] | None = field(default=None, compare=False)
    collisions: tuple[Visual, ...] = field(default=(), compare=False)  # its shape for clearances

    def __post_init__(self) -> None:
        where = f"link {guard.name('link', self.name)!r}: "
        mass = guard.number(where + "mass", self.mass)
        if mass < 0.0:
            raise RobotError(f"{where}mass is {mass:g} kg; a mass cannot be negative: correct it (0 for a massless frame)")
        com, inertia = guard.vector(where + "com", self.com, 3), guard.vector(where + "inertia", self.inertia, 6)
        _set(self, mass=mass, com=com, inertia=inertia, visuals=tuple(self.visuals))


@dataclass(frozen=True)
class Limits:
    """Limits of one joint, SI; infinite where there is none. torque is a force for a prismatic joint."""

    lower: float = -INF
    upper: float = INF
    velocity: float = INF
    acceleration: float = INF
    jerk: float = INF
    torque: float = INF
    torque_rate: float = INF

    def __post_init__(self) -> None:
        for f in fields(self):
            value = guard.number(f"limit {f.name}", getattr(self, f.name), infinite=True)
            if f.name not in ("lower", "upper") and value < 0.0:
                raise RobotError(f"limit {f.name} is {value:g}; it is a magnitude: give a number ≥ 0")
            _set(self, **{f.name: value})
        if self.lower > self.upper or self.lower == INF or self.upper == -INF:
            raise RobotError(f"limit lower {self.lower:g} is above upper {self.upper:g}; exchange or correct them")


@dataclass(frozen=True)
class Rotor:
    """The rotor of a joint's motor, carried by the joint's parent link (V4).

    inertia: d, kg·m², about the rotor's own axis.
    ratio: rotor angle per joint coordinate (gear ratio, signed; rad/m for a prismatic joint).
    axis: unit vector of the rotor's axis in the *parent* link's frame, which brings the gyroscopic coupling; None leaves it out
    (MuJoCo's armature).
    The parent link's own inertia includes the rotor, locked.
    """

    inertia: float
    ratio: float = 1.0
    axis: Vec3 | None = None

    def __post_init__(self) -> None:
        inertia, ratio = guard.number("rotor inertia", self.inertia), guard.number("rotor ratio", self.ratio)
        if inertia < 0.0:
            raise RobotError(f"rotor inertia is {inertia:g} kg·m²; it cannot be negative: correct it")
        _set(self, inertia=inertia, ratio=ratio, axis=None if self.axis is None else guard.unit("rotor axis", self.axis))


@dataclass(frozen=True)
class Mimic:
    """This joint's coordinate = multiplier × (coordinate of `joint`) + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        guard.name("joint to mimic", self.joint)
        _set(self, multiplier=guard.number("mimic multiplier", self.multiplier), offset=guard.number("mimic offset", self.offset))


@dataclass(frozen=True)
class Joint:
    """What connects a link to its parent.

    position (m), rotation (rows of a matrix): the joint's frame (= the child link's frame at coordinate 0) in the parent link's frame.
    axis: direction in the joint's frame, made a unit vector; the normal of a planar joint's plane; fixed and floating ones have none.
    A planar joint has coordinates (x, y, angle): along two axes of the plane, then about the normal; a floating one those of a free base.
    passive: it has no motor.
    reduction: gear ratio named by the file (`<mechanicalReduction>`), signed; a note for the drives, no influence on dynamics.
    """

    name: str
    kind: Kind
    parent: str
    child: str
    position: Vec3 = ZERO
    rotation: Mat3 = IDENTITY
    axis: Vec3 = (0.0, 0.0, 1.0)
    limits: Limits = Limits()
    friction: Friction = Friction()  # noqa: RUF009 (frozen)
    rotor: Rotor | None = None
    mimic: Mimic | None = None
    reduction: float | None = None
    passive: bool = False

    def __post_init__(self) -> None:
        where = f"joint {guard.name('joint', self.name)!r}: "
        if self.kind not in get_args(Kind):
            raise RobotError(f"{where}its kind is {self.kind!r}; take one of {', '.join(get_args(Kind))}")
        guard.name(f"link (parent of joint {self.name!r})", self.parent)
        guard.name(f"link (child of joint {self.name!r})", self.child)
        directed = self.kind not in ("fixed", "floating")
        _set(
            self,
            position=guard.vector(where + "position", self.position, 3),
            rotation=IDENTITY if self.rotation == IDENTITY else guard.rotation(where + "rotation", self.rotation),
            axis=guard.unit(where + "axis", self.axis) if directed else (0.0, 0.0, 1.0),
            reduction=None if self.reduction is None else guard.number(where + "reduction", self.reduction),
        )
        for what in ("viscous", "coulomb"):
            if not guard.number(f"{where}{what} friction", getattr(self.friction, what)) >= 0.0:
                raise RobotError(f"{where}{what} friction is {getattr(self.friction, what):g}; give a number ≥ 0")


@dataclass(frozen=True, repr=False)
class Robot:
    """A mechanism: links, the joints that connect them, and gravity (m/s², world axes).

    `base` is the link that stands in the world. Joints are ordered base to tip, document order within a branch, and links as the joints
    that carry them, the base first (given otherwise, they are put in this order). A mimic joint refers to a joint that mimics none: chains
    are resolved.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    base: str
    gravity: Vec3 = (0.0, 0.0, -9.81)
    drives: tuple[Coupling, ...] = ()  # set by with_drives
    supply: Supply | None = None  # what feeds the drives, where a file of drives says so
    loops: tuple[Loop, ...] = ()  # joints that close loops on top of the tree
    floor: Any = field(default=None, compare=False)  # `scene.Floor` that links keep clear of; set by the planners

    def __post_init__(self) -> None:
        links, joints = tuple(self.links), tuple(self.joints)
        if problems := structure.problems(links, joints):
            raise RobotError(str(problems[0]))
        root = ({link.name for link in links} - {joint.child for joint in joints}).pop()
        if self.base != root:
            raise RobotError(f"base is {self.base!r}, but the link without a parent is {root!r}; give that one")
        joints = _without_mimic_chains(structure.base_to_tip(root, joints))
        by_name = {link.name: link for link in links}
        links = tuple(by_name[name] for name in (root, *(joint.child for joint in joints)))
        _set(self, name=str(self.name), links=links, joints=joints, gravity=guard.vector("gravity", self.gravity, 3))
        _set(self, loops=tuple(self.loops))
        check_loops(self.loops, by_name)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.links, self.joints, self.base, self.gravity, self.drives, self.supply, self.loops))

    def __getstate__(self) -> dict[str, Any]:
        # what was computed from the data (hash, tree, kernels) belongs to this process
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        _set(self, **state)

    def __repr__(self) -> str:
        kinds = [j.kind for j in self.joints if j.kind != "fixed"]
        return f"<Robot {self.name!r}: {len(self.links)} links, {len(kinds)} moving joints, {self.mass:.4g} kg>"

    @cached_property
    def tree(self) -> Tree:
        """The mechanism as numbers for the dynamics: welded links merged, one moving body for each degree of freedom."""
        from armature.robot.tree import build_tree

        return build_tree(self)

    @cached_property
    def drivetrain(self) -> Drivetrain:
        """All drives as one: joint torques and velocities to currents, voltages, powers and losses; limits by axis."""
        from armature.robot.drives import robot_drivetrain

        return robot_drivetrain(self)

    @property
    def n(self) -> int:
        """Number of independent velocities."""
        return self.tree.nv

    @property
    def nv(self) -> int:
        """Number of independent velocities."""
        return self.tree.nv

    @property
    def nq(self) -> int:
        """Number of coordinates; differs from `nv` only with a floating base."""
        return self.tree.nq

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the independent moving joints in the order of q and v."""
        return self.tree.joint_names

    @cached_property
    def passive(self) -> tuple[int, ...]:
        """Indices in v of the joints without a motor."""
        passive = {j.name for j in self.joints if j.passive}
        return tuple(b.v for b in self.tree.bodies if not b.mimic and b.name in passive)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, each of which is a frame."""
        return tuple(link.name for link in self.links)

    @property
    def mass(self) -> float:
        """Mass of all links together, kg."""
        return math.fsum(link.mass for link in self.links)

    @property
    def tips(self) -> tuple[str, ...]:
        """Links that carry no other link, base to tip, document order."""
        parents = {j.parent for j in self.joints}
        return tuple(name for name in (self.base, *(j.child for j in self.joints)) if name not in parents)

    @property
    def tip(self) -> str:
        """The hand of a chain: what a payload or a path of the hand belongs to where no link is named; an error where links branch."""
        from armature.robot.tip import tip

        return tip(self)

    def link(self, name: str) -> Link:
        """The link of this name."""
        guard.known("link", name, self._links_by_name)
        return self._links_by_name[name]

    def joint(self, name: str) -> Joint:
        """The joint of this name."""
        guard.known("joint", name, self._joints_by_name)
        return self._joints_by_name[name]

    @cached_property
    def _links_by_name(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    @cached_property
    def _joints_by_name(self) -> dict[str, Joint]:
        return {joint.name: joint for joint in self.joints}

    def with_gravity(self, gravity: Iterable[float]) -> Robot:
        """The same robot under another gravity vector, m/s², world axes."""
        return replace(self, gravity=guard.vector("gravity", gravity, 3))

    def with_payload(
        self, mass: float, at: Iterable[float] | None = None, link: str | None = None, inertia: Iterable[float] | None = None
    ) -> Robot:
        """The same robot with a mass (kg) fixed to a link: by default a point mass at the origin of the tip of a chain.

        at: its centre in the link's frame, m.  link: `robot.tip` by default; must be given where moving links branch.
        inertia: (xx, yy, zz) or (xx, yy, zz, xy, xz, yz) about its centre, in the axes of the link's frame, kg·m².
        Robots that carry anything on the same link, also 0 kg, share their compiled kernels: another payload compiles nothing.
        """
        from armature.robot.change import with_payload

        return with_payload(self, mass, at, link, inertia)

    def with_tool(self, position: Iterable[float], rpy: Iterable[float] = ZERO, link: str | None = None, name: str = "tcp") -> Robot:
        """The same robot with a tool centre point: a frame without mass, which goals, paths and reports may name like a link.

        position (m), rpy (roll, pitch, yaw, rad): of the frame in the link's frame.  link: `robot.tip` by default.
        """
        from armature.robot.change import with_tool

        return with_tool(self, position, rpy, link, name)

    def with_limits(self, limits: Mapping[str, Mapping[str, float] | Limits] | str | PathLike[str]) -> Robot:
        """The same robot with other limits of the named joints; what is not given stays as it is.

        limits: {joint: {"lower", "upper", "velocity", "acceleration", "jerk", "torque", "torque_rate": SI}}, or the path of a
        MoveIt joint_limits.yaml.
        """
        from armature.robot.change import with_limits

        return with_limits(self, limits)

    def with_friction(self, friction: Mapping[str, Mapping[str, float] | Friction]) -> Robot:
        """The same robot with other friction of the named joints: {joint: {"viscous": N·m·s/rad or N·s/m, "coulomb": N·m or N}}."""
        from armature.robot.change import with_friction

        return with_friction(self, friction)

    def with_loops(self, loops: Iterable[Loop] | str | PathLike[str], passive: Iterable[str] = ()) -> Robot:
        """The same robot with loops closed: Loop objects, or a YAML side file with `loops` and `passive`; and joints made passive."""
        from armature.robot.loop import with_loops

        return with_loops(self, loops, passive)

    def with_held(self, joints: Mapping[str, float] | Iterable[str]) -> Robot:
        """A robot whose named joints are locked: {joint: value, rad or m}, or names (held at 0, or the nearest end of their range)."""
        from armature.robot.hold import with_held

        return with_held(self, joints)

    def with_drives(self, drives: Any) -> Robot:
        """The same robot with drives: {joint name: Drive}, a list of Couplings (several motors, differentials), or a YAML file's path.

        Joints that are not named keep their drives. The rotors' inertia joins the mechanism (Joint.rotor), and a gear ratio that the
        robot's file names is taken over where the drive has none.
        """
        from armature.robot.drives import with_drives

        return with_drives(self, drives)

    def summary(self) -> str:
        """A table of the joints and links, as text."""
        from armature.robot.change import summary

        return summary(self)

    _repr_html_ = notebook.robot_html

    def to_yaml(self) -> str:
        """This robot as text in Armature's YAML format, which `arm.load` reads back to an equal robot."""
        from armature.robot.load.dump import to_yaml

        return to_yaml(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write this robot to a .yaml file, which `arm.load` reads back to an equal robot."""
        from armature.robot.load.dump import save

        save(self, path)


def _without_mimic_chains(joints: tuple[Joint, ...]) -> tuple[Joint, ...]:
    """Joints whose mimics all refer to a free joint: m₁(m₂q + o₂) + o₁ = (m₁m₂)q + (m₁o₂ + o₁)."""
    mimics = {j.name: j.mimic for j in joints if j.mimic is not None}
    if all(m.joint not in mimics for m in mimics.values()):
        return joints
    resolved: dict[str, Mimic] = {}
    for name in mimics:
        trail = []
        while name in mimics and name not in resolved:
            trail.append(name)
            name = mimics[name].joint
        for name in reversed(trail):
            m, master = mimics[name], resolved.get(mimics[name].joint)
            if master is not None:
                m = Mimic(master.joint, m.multiplier * master.multiplier, m.multiplier * master.offset + m.offset)
            resolved[name] = m
    return tuple(replace(j, mimic=resolved[j.name]) if j.mimic is not None else j for j in joints)

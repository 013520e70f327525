"""A robot: its description (description.py) and what can be done with it. Nothing here computes
dynamics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any

from armature.drive.friction import Friction
from armature.drive.train import Drivetrain
from armature.notebook import robot_html
from armature.robot import guard
from armature.robot.change import (
    summary,
    with_friction,
    with_limits,
    with_loops,
    with_payload,
    with_tool,
)
from armature.robot.description import RobotDescription
from armature.robot.drives import robot_drivetrain, with_drives
from armature.robot.format.dump import save, to_yaml
from armature.robot.hold import with_held
from armature.robot.loop import Loop
from armature.robot.parts import INF, Joint, Kind, Limits, Link, Mimic, Rotor
from armature.robot.shape import IDENTITY, ZERO, Mat3, Vec3, Visual
from armature.robot.tip import tip

__all__ = [
    "IDENTITY",
    "INF",
    "ZERO",
    "Joint",
    "Kind",
    "Limits",
    "Link",
    "Mat3",
    "Mimic",
    "Robot",
    "Rotor",
    "Vec3",
    "Visual",
]


class Robot(RobotDescription):
    """A mechanism: links, the joints that connect them, and gravity (m/s², world axes).

    `base` is the link that stands in the world. Joints are ordered base to tip, document order
    within a branch, and links as the joints that carry them, the base first (given otherwise, they
    are put in this order). A mimic joint refers to a joint that mimics none: chains are resolved.
    """

    @cached_property
    def drivetrain(self) -> Drivetrain:
        """All drives as one: joint torques and velocities to currents, voltages, powers and losses;
        limits by axis."""
        return robot_drivetrain(self)

    @property
    def tip(self) -> str:
        """The hand of a chain: what a payload or a path of the hand belongs to where no link is
        named; an error where links branch."""
        return tip(self)

    def with_gravity(self, gravity: Iterable[float]) -> Robot:
        """The same robot under another gravity vector, m/s², world axes."""
        return replace(self, gravity=guard.vector("gravity", gravity, 3))

    def with_payload(
        self,
        mass: float,
        at: Iterable[float] | None = None,
        link: str | None = None,
        inertia: Iterable[float] | None = None,
    ) -> Robot:
        """The same robot with a mass (kg) fixed to a link: by default a point mass at the origin of
        the tip of a chain.

        at: its centre in the link's frame, m.  link: `robot.tip` by default; must be given where
        moving links branch.
        inertia: (xx, yy, zz) or (xx, yy, zz, xy, xz, yz) about its centre, in the axes of the
        link's frame, kg·m². Robots that carry anything on the same link, also 0 kg, share their
        compiled kernels: another payload compiles nothing."""
        return with_payload(self, mass, at, link, inertia)

    def with_tool(
        self,
        position: Iterable[float],
        rpy: Iterable[float] = ZERO,
        link: str | None = None,
        name: str = "tcp",
    ) -> Robot:
        """The same robot with a tool centre point: a frame without mass, which goals, paths and
        reports may name like a link.

        position (m), rpy (roll, pitch, yaw, rad): of the frame in the link's frame.  link:
        `robot.tip` by default."""
        return with_tool(self, position, rpy, link, name)

    def with_limits(
        self, limits: Mapping[str, Mapping[str, float] | Limits] | str | PathLike[str]
    ) -> Robot:
        """The same robot with other limits of the named joints; what is not given stays as it is.

        limits: {joint: {"lower", "upper", "velocity", "acceleration", "jerk", "torque",
        "torque_rate": SI}}, or the path of a MoveIt joint_limits.yaml.
        """
        return with_limits(self, limits)

    def with_friction(self, friction: Mapping[str, Mapping[str, float] | Friction]) -> Robot:
        """The same robot with other friction of the named joints: {joint: {"viscous": N·m·s/rad or
        N·s/m, "coulomb": N·m or N}}."""
        return with_friction(self, friction)

    def with_loops(
        self, loops: Iterable[Loop] | str | PathLike[str], passive: Iterable[str] = ()
    ) -> Robot:
        """The same robot with loops closed: Loop objects, or a YAML side file with `loops` and
        `passive`; and joints made passive."""
        return with_loops(self, loops, passive)

    def with_held(self, joints: Mapping[str, float] | Iterable[str]) -> Robot:
        """A robot whose named joints are locked: {joint: value, rad or m}, or names (held at 0, or
        the nearest end of their range)."""
        return with_held(self, joints)

    def with_drives(self, drives: Any) -> Robot:
        """The same robot with drives: {joint name: Drive}, a list of Couplings (several motors,
        differentials), or a YAML file's path.

        Joints that are not named keep their drives. The rotors' inertia joins the mechanism
        (Joint.rotor), and a gear ratio that the robot's file names is taken over where the drive
        has none."""
        return with_drives(self, drives)

    def summary(self) -> str:
        """A table of the joints and links, as text."""
        return summary(self)

    _repr_html_ = robot_html

    def to_yaml(self) -> str:
        """This robot as text in Armature's YAML format, which `arm.load` reads back to an equal
        robot."""
        return to_yaml(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write this robot to a .yaml file, which `arm.load` reads back to an equal robot."""
        save(self, path)

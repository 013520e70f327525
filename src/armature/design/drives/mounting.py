"""Drives on a robot, with their masses on the links that carry them.

The links of a robot contain the masses of its drives: another drive adds the difference, as a point
mass where the drive sits, by default at its joint, on the joint's parent link. A link that is too
light for that does not contain its drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.drive.drive import Drive
from armature.drive.train import Coupling
from armature.dynamics.compiled import jacobian, pose
from armature.errors import ArgumentError, RobotError
from armature.robot import frames
from armature.robot.check import inertia_doubt
from armature.robot.model import Robot
from armature.robot.parts import Joint, Rotor

# limits that a drive may have; rows of the planner's model
LIMITS = (
    "voltage",
    "peak current",
    "peak heat",
    "motor speed",
    "gear torque",
    "average heat",
    "continuous current",
)


@dataclass(frozen=True)
class Mount:
    """Where the drive of a joint sits. link: that carries it.  at: in the link's frame, m."""

    link: str
    at: tuple[float, float, float]


def mounts_of(
    robot: Robot, joints: Sequence[str], given: Mapping[str, Any] | None
) -> dict[str, Mount]:
    """Mounts of the joints' drives: at the joint on its parent link, unless {joint: link} or
    {joint: (link, (x, y, z))} says otherwise."""
    found = {}
    for name in joints:
        joint = robot.joint(name)
        found[name] = Mount(joint.parent, joint.position)
        place = (given or {}).get(name)
        if place is not None:
            link, at = (place, (0.0, 0.0, 0.0)) if isinstance(place, str) else place
            if link not in robot.link_names:
                raise ArgumentError(
                    f"mounts: the drive of {name!r} sits on {link!r}, which is no link; take one of"
                    f" {', '.join(robot.link_names)}"
                )
            x, y, z = (float(value) for value in at)
            found[name] = Mount(link, (x, y, z))
    for name in given or {}:
        if name not in joints:
            raise ArgumentError(
                f"mounts: {name!r} is no joint whose drive is chosen; these are {', '.join(joints)}"
            )
    return found


def present_drive(robot: Robot, joint: str) -> Drive | None:
    """The drive of a joint, None where it has none; an error where it shares drives with others."""
    for coupling in robot.drives:
        if joint in coupling.joints:
            if (len(coupling.joints), len(coupling.drives)) != (1, 1):
                raise ArgumentError(
                    f"joint {joint!r} is moved by {len(coupling.drives)} drives together with"
                    f" {', '.join(coupling.joints)}; drives are chosen for joints that have one"
                    " each: name the others in joints="
                )
            return coupling.drives[0]
    return None


def drive_mass(drive: Drive | None) -> float:
    """Motor and gear, kg; 0 where there is none."""
    return 0.0 if drive is None else drive.motor.mass + drive.gear.mass


def mounted(robot: Robot, choice: Mapping[str, Drive], mounts: Mapping[str, Mount]) -> Robot:
    """The robot with other drives on the named joints: rotors, and masses on the links."""
    new = tuple(Coupling((name,), (drive,)) for name, drive in choice.items())
    kept = tuple(c for c in robot.drives if not set(choice) & set(c.joints))
    joints = tuple(_with_rotor(j, choice[j.name]) if j.name in choice else j for j in robot.joints)
    added: dict[str, list[tuple[float, Any, Any]]] = {}
    for name, drive in choice.items():
        more = drive_mass(drive) - drive_mass(present_drive(robot, name))
        if more and robot.tree.frames[mounts[name].link].body >= 0:  # not on the ground
            added.setdefault(mounts[name].link, []).append((more, mounts[name].at, frames.POINT))
    links = tuple(
        _heavier(link, added[link.name]) if link.name in added else link for link in robot.links
    )
    return replace(robot, links=links, joints=joints, drives=kept + new)


def with_contained(robot: Robot, joints: Sequence[str], mounts: Mapping[str, Mount]) -> Robot:
    """The same robot, with drives of no mass where the links that carry them cannot contain it."""
    light = set()
    for link in {mounts[name].link for name in joints}:
        carried = [name for name in joints if mounts[name].link == link]
        masses = [(-drive_mass(present_drive(robot, n)), mounts[n].at) for n in carried]
        taken = [(mass, at, frames.POINT) for mass, at in masses if mass]
        try:
            _heavier(robot.link(link), taken)
        except RobotError:
            light |= set(carried)
    changed = [
        replace(c, drives=tuple(_massless(d) for d in c.drives)) if set(c.joints) & light else c
        for c in robot.drives
    ]
    return replace(robot, drives=tuple(changed)) if light else robot


def _massless(drive: Drive) -> Drive:
    motor, gear = replace(drive.motor, mass=0.0), replace(drive.gear, mass=0.0)
    return replace(drive, motor=motor, gear=gear)


def as_variable(robot: Robot) -> Robot:
    """The same robot with the numbers of its drives as parameters of its kernels: others need no
    compiling."""
    return replace(robot, variable_limits=LIMITS)


def _with_rotor(joint: Joint, drive: Drive) -> Joint:
    axis = None if joint.rotor is None else joint.rotor.axis
    rotor = Rotor(drive.motor.inertia + drive.gear.inertia, drive.gear.ratio, axis)
    return replace(joint, rotor=rotor)


def _heavier(link: Any, added: list[tuple[float, Any, Any]]) -> Any:
    if not added:
        return link
    mass, com, inertia = frames.joined([(link.mass, link.com, link.inertia), *added])
    doubt = inertia_doubt(inertia) if mass > 0.0 else "no mass is left"
    if doubt is not None:
        less = -sum(m for m, _, _ in added)
        raise RobotError(
            f"link {link.name!r} of {link.mass:g} kg cannot contain the present drives that it"
            f" carries: without {less:.3g} kg of them it is no body ({doubt}); correct the masses"
            " of the robot's motors and gears, or leave them out"
        )
    return replace(link, mass=mass, com=com, inertia=inertia)


def heights(robot: Robot, q: np.ndarray, mounts: Mapping[str, Mount]) -> np.ndarray:
    """(K, joints) potential energy of 1 kg at each mount for configurations q (K, n), J/kg."""
    g = np.array(robot.gravity)
    columns = []
    for mount in mounts.values():
        place = pose(robot, q, mount.link)
        columns.append(-(place.p + place.R @ np.array(mount.at)) @ g)
    return np.stack(columns, axis=-1)


def weight_torques(robot: Robot, q: np.ndarray, mounts: Mapping[str, Mount]) -> np.ndarray:
    """(K, n, joints) torque that holds 1 kg at each mount, N·m/kg (N/kg): −Jᵀ g."""
    g = np.array(robot.gravity)
    columns = [
        -np.einsum("kin,i->kn", jacobian(robot, q, m.link, at=m.at)[:, :3], g)
        for m in mounts.values()
    ]
    return np.stack(columns, axis=-1)

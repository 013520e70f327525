"""What follows from a robot's numbers: laws robot -> robot for `optimize_parameters`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from armature.drive.drive import Drive
from armature.errors import ArgumentError
from armature.robot import frames
from armature.robot.model import Robot

Law = Callable[[Robot], Robot]


def tube(link: str, density: float, radius: float, wall: float) -> Law:
    """The law of a link that is a round tube from its own joint to the one it carries: mass, centre
    and inertia from its length.

    density: kg/m³.  radius: the outer one, m.  wall: its thickness, m. What else the link bears (a
    motor, a flange) is another law's, such as `motor_mass`."""
    if not (density > 0.0 and radius > 0.0 and 0.0 < wall <= radius):
        raise ArgumentError(
            f"tube {link!r}: density {density:g} kg/m³, radius {radius:g} m and wall {wall:g} m"
            " must be positive, the wall at most the radius"
        )
    inner = radius - wall
    area, squares = math.pi * (radius**2 - inner**2), radius**2 + inner**2

    def law(robot: Robot) -> Robot:
        robot.link(link)
        ends = [j.position for j in robot.joints if j.parent == link]
        if not ends or not any(ends[0]):
            raise ArgumentError(
                f"tube: link {link!r} carries no joint at a distance, so that it has no length;"
                " give a tool or another link on it"
            )
        way = np.array(ends[0])
        length = float(np.linalg.norm(way))
        mass, axis = density * area * length, way / length
        along, across = mass * squares / 2, mass * (3 * squares + length**2) / 12
        J = across * np.eye(3) + (along - across) * np.outer(axis, axis)
        moments = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        changed = {
            "mass": mass,
            "com": tuple(float(x) for x in way / 2),
            "inertia": tuple(map(float, moments)),
        }
        return replace(
            robot, links=tuple(replace(x, **changed) if x.name == link else x for x in robot.links)
        )

    return law


def motor_mass(joint: str, mass: float | Callable[[Drive], float]) -> Law:
    """The law of a motor that sits at a joint, on the link before it: a point mass there, besides
    the link's own.

    mass: kg, or a function of the joint's drive, such as one of its gear ratio."""

    def law(robot: Robot) -> Robot:
        place = robot.joint(joint)
        drives = [d for c in robot.drives if joint in c.joints for d in c.drives]
        if callable(mass) and not drives:
            raise ArgumentError(f"motor_mass: joint {joint!r} has no drive to take the mass of")
        kilos = sum(mass(drive) for drive in drives) if callable(mass) else float(mass)
        old = robot.link(place.parent)
        parts = [(old.mass, old.com, old.inertia), (kilos, place.position, frames.POINT)]
        new = frames.joined(parts)
        changed = replace(old, mass=new[0], com=new[1], inertia=new[2])
        return replace(
            robot, links=tuple(changed if x.name == old.name else x for x in robot.links)
        )

    return law

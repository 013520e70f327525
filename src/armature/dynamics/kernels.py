"""Kernels of a robot: plain functions of its tree, traced once, compiled, and kept with the robot
(and on disk).

What a robot carries (`Robot.with_payload`) is no constant of the code: in the tree that functions
are traced with, mass, first moment and inertia of a body with a payload are parameters, whose
values a kernel is given when it is loaded."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armature.drive.train import Drivetrain
from armature.dynamics import linked
from armature.dynamics.recursion import mass
from armature.dynamics.variable_drives import (
    drive_carriers,
    drive_numbers,
    driven_bodies,
    drivetrain_as,
    rotor_numbers,
    rotors_as,
    units_as,
)
from armature.errors import ArgumentError, RobotError
from armature.kernel import Kernel, parameters
from armature.kernel.kernel import compiled
from armature.kernel.trace import Shape, trace
from armature.memo import memo, once
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.spatial.vectors import pack

Wrenches = Mapping[str, Any]


@functools.cache
def physics_source() -> str:
    """Digest of the source that kernels are traced from: a change of the physics makes new
    kernels."""
    root = Path(__file__).parent.parent
    files = sorted(p for room in ("spatial", "dynamics") for p in (root / room).rglob("*.py")) + [
        root / "robot" / "tree.py"
    ]
    return hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()


def fingerprint(robot: Robot, masses: bool = True) -> str:
    """Digest of every number of `traced_tree(robot, masses)`, and of the links' names, by which
    they are asked for."""
    return keep(robot, ("fingerprint", masses), lambda: _digest(robot, masses))


def _digest(robot: Robot, masses: bool) -> str:
    tree, carrying, driven = robot.tree, carriers(robot), driven_bodies(robot)
    digest = hashlib.sha256(
        tree.gravity.tobytes()
        # of variable drives, where their numbers stand among the parameters: after what is carried
        + f"{(carrying, driven) if driven else carrying if masses else None}".encode()
    )
    for i, b in enumerate(tree.bodies):
        numbers = [b.parent, b.q, b.v, b.multiplier, b.offset, *b.R.flat, *b.p, *b.axis]
        numbers += ([] if i in driven else [b.rotor, b.ratio]) if masses else []
        numbers += [*b.rotor_axis] if masses else []
        numbers += (
            [b.mass, *b.first_moment, *b.inertia.flat] if masses and i not in carrying else []
        )
        digest.update(f"{b.kind} {b.mimic}".encode() + np.array(numbers, dtype=float).tobytes())
    for name, frame in tree.frames.items():
        digest.update(
            name.encode() + np.array([frame.body, *frame.R.flat, *frame.p], dtype=float).tobytes()
        )
    return digest.hexdigest()


def keep(robot: Robot, key: object, make: Callable[[], Any]) -> Any:
    """A value made once for a robot and kept with it."""
    store = memo(robot, "kernels")
    if key not in store:
        store[key] = make()
    return store[key]


def kernel(
    robot: Robot,
    name: str,
    function: Callable,
    inputs: Mapping[str, Shape | int],
    *details: object,
    masses: bool = True,
) -> Kernel:
    """The kernel of `function(tree, *symbols)` for a robot, named by (name, details), which must
    say all that it depends on besides.

    It must take the mechanism's numbers from the tree that it is given. masses: False for what does
    not depend on them."""

    def make() -> Kernel:
        key = f"{name} {details} {fingerprint(robot, masses)} {physics_source()}"
        build = lambda: trace(
            functools.partial(function, traced_tree(robot, masses)), inputs, name=name
        )
        return compiled(key, build, kernel_numbers(robot))

    return keep(robot, (name, details), make)


# what is carried ---------------------------------------------------------------------------------

INERTIAL = 10  # numbers of a body: m, m c (3), J about its origin (xx, yy, zz, xy, xz, yz)


def carriers(robot: Robot) -> tuple[int, ...]:
    """Bodies with a link that carries a payload, or a variable drive."""
    places = (robot.tree.frames[link.name].body for link in robot.links if link.payload is not None)
    return tuple(sorted({body for body in places if body >= 0} | drive_carriers(robot)))


def carried_numbers(robot: Robot) -> tuple[float, ...]:
    """INERTIAL numbers of every body that carries a payload, all that is welded to it included: the
    parameters of the robot's kernels."""
    bodies = [robot.tree.bodies[i] for i in carriers(robot)]
    rows = [
        (
            b.mass,
            *b.first_moment,
            *b.inertia.diagonal(),
            b.inertia[0, 1],
            b.inertia[0, 2],
            b.inertia[1, 2],
        )
        for b in bodies
    ]
    return tuple(float(x) for row in rows for x in row)


def kernel_numbers(robot: Robot) -> tuple[float, ...]:
    """All parameters of the robot's kernels: what is carried, then rotors and drives where they
    are variable."""
    return (*carried_numbers(robot), *rotor_numbers(robot), *drive_numbers(robot))


def traced_drivetrain(robot: Robot) -> Drivetrain:
    """The robot's drivetrain for tracing: numbers of variable drives are parameters."""
    if robot.variable_limits is None:
        return robot.drivetrain
    return drivetrain_as(robot.drivetrain, _drive_symbols(robot))


def traced_units(robot: Robot) -> dict[tuple[int, str, bool], Any]:
    """{(axis, quantity, mean): unit} of the limits of variable drives, as parameters."""
    return units_as(robot.drivetrain, _drive_symbols(robot))


def _drive_symbols(robot: Robot) -> Any:
    return parameters(len(kernel_numbers(robot)))[-len(drive_numbers(robot)) :]


def traced_tree(robot: Robot, masses: bool = True) -> Tree:
    """The robot's tree for tracing: mass, first moment and inertia of bodies with a payload are
    parameters of the kernel.

    masses: False makes those of all bodies, and of rotors, NaN: what is traced cannot depend on
    them."""
    bodies = list(robot.tree.bodies)
    if not masses:
        unknown = {
            "mass": np.nan,
            "first_moment": np.full(3, np.nan),
            "inertia": np.full((3, 3), np.nan),
            "rotor": np.nan,
        }
        return replace(robot.tree, bodies=tuple(replace(b, **unknown) for b in bodies))
    carrying = carriers(robot)
    for i, numbers in zip(carrying, parameters(INERTIAL * len(carrying)).reshape(-1, INERTIAL)):
        xx, yy, zz, xy, xz, yz = numbers[4:]
        J = pack([xx, xy, xz, xy, yy, yz, xz, yz, zz], (3, 3))
        bodies[i] = replace(bodies[i], mass=numbers[0], first_moment=numbers[1:4], inertia=J)
    count, rotors = INERTIAL * len(carrying), len(rotor_numbers(robot))
    rotors_as(robot, bodies, parameters(count + rotors)[count:])
    return replace(robot.tree, bodies=tuple(bodies))


# what functions of a robot are asked with --------------------------------------------------------


class BaseMotion(NamedTuple):
    """Prescribed motion of a robot's base: orientation in the world (..., 3, 3); in the base's own
    axes its angular velocity (rad/s), angular acceleration (rad/s²) and the acceleration of its
    origin (m/s²), each (..., 3)."""

    rotation: Any = np.eye(3)
    angular_velocity: Any = np.zeros(3)
    angular_acceleration: Any = np.zeros(3)
    linear_acceleration: Any = np.zeros(3)


def link_frame(robot: Robot, link: str) -> str:
    """The name of a link that the robot has."""
    if link not in robot.tree.frames:
        raise ArgumentError(
            f"link {link!r} is not in robot {robot.name!r}; its links are:"
            f" {', '.join(robot.tree.frames)}"
        )
    return link


def check_links(robot: Robot, wrenches: Wrenches | None) -> tuple[str, ...]:
    """The links that wrenches act on, each known to the robot."""
    return tuple(link_frame(robot, link) for link in wrenches or ())


def check_moves(robot: Robot) -> None:
    """Refuse a joint that moves no mass or inertia at all: its acceleration is not defined (BᵀPB =
    0)."""
    once(robot, "moves", _check_moves)


def _check_moves(robot: Robot) -> bool:
    tree = robot.tree
    q = random_configuration(tree, np.random.default_rng(0))
    found = (
        linked.pivots(robot, q, physics_source()) if linked.applies(tree) else mass.pivots(tree, q)
    )
    for name, D, scale in reversed(
        found
    ):  # tip to base, as they were eliminated: past a zero the rest means nothing
        if not 1e-13 * scale < D:  # also where D is not a number
            raise RobotError(
                f"joint {name!r} moves no mass or inertia (generalised inertia {D:.3g}): its"
                " acceleration is not defined; give its link a mass or inertia, its motor a rotor"
                " inertia, or make the joint fixed"
            )
    return True


def random_configuration(tree: Tree, rng: np.random.Generator) -> np.ndarray:
    """Coordinates (nq,) between −1 and 1; floating bases get a unit quaternion."""
    q = rng.uniform(-1.0, 1.0, tree.nq)
    for body in tree.bodies:
        if body.kind == "free":
            q[body.q + 3 : body.q + 7] /= np.linalg.norm(q[body.q + 3 : body.q + 7])
    return q

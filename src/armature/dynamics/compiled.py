"""The one place where physics meets the compiler: the public, batched functions.

Each traces its plain function once for a robot, keeps the kernel with the robot (and on disk), and calls it on whole batches.
What a robot carries (`Robot.with_payload`) is no constant of the code: in the tree that functions are traced with, mass, first moment
and inertia of a body with a payload are parameters, whose values a kernel is given when it is loaded.
SI units, rad; arrays have the joint axis last; any leading axes are a batch and broadcast.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from armature.dynamics import derivatives, energy, kinematics, linked, linked_derivatives, mass, recursive
from armature.errors import ArgumentError, RobotError
from armature.kernel import Kernel, parameters
from armature.kernel.kernel import compiled
from armature.kernel.trace import Shape, trace
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.spatial.vectors import pack

Wrenches = Mapping[str, Any]
EMPTY: dict = {}


@functools.cache
def physics_source() -> str:
    """Digest of the source that kernels are traced from: a change of the physics makes new kernels."""
    root = Path(__file__).parent.parent
    files = sorted(p for room in ("spatial", "dynamics") for p in (root / room).glob("*.py")) + [root / "robot" / "tree.py"]
    return hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()


def fingerprint(robot: Robot, masses: bool = True) -> str:
    """Digest of every number of `traced_tree(robot, masses)`, and of the links' names, by which they are asked for."""
    return _kept(robot, ("fingerprint", masses), lambda: _digest(robot.tree, carriers(robot), masses))


def _digest(tree: Tree, carrying: tuple[int, ...], masses: bool) -> str:
    digest = hashlib.sha256(tree.gravity.tobytes() + f"{carrying if masses else None}".encode())
    for i, b in enumerate(tree.bodies):
        numbers = [b.parent, b.q, b.v, b.multiplier, b.offset, *b.R.flat, *b.p, *b.axis]
        numbers += [b.rotor, b.ratio, *b.rotor_axis] if masses else []
        numbers += [b.mass, *b.first_moment, *b.inertia.flat] if masses and i not in carrying else []
        digest.update(f"{b.kind} {b.mimic}".encode() + np.array(numbers, dtype=float).tobytes())
    for name, frame in tree.frames.items():
        digest.update(name.encode() + np.array([frame.body, *frame.R.flat, *frame.p], dtype=float).tobytes())
    return digest.hexdigest()


def _kept(robot: Robot, key: object, make: Callable[[], Any]) -> Any:
    """A value made once for a robot and kept with it."""
    store = robot.__dict__.setdefault("_kernels", {})
    if key not in store:
        store[key] = make()
    return store[key]


def kernel(robot: Robot, name: str, function: Callable, inputs: Mapping[str, Shape | int], *details: object, masses: bool = True) -> Kernel:
    """The kernel of `function(tree, *symbols)` for a robot, named by (name, details), which must say all that it depends on besides.

    It must take the mechanism's numbers from the tree that it is given. masses: False for what does not depend on them.
    """

    def make() -> Kernel:
        key = f"{name} {details} {fingerprint(robot, masses)} {physics_source()}"
        build = lambda: trace(functools.partial(function, traced_tree(robot, masses)), inputs, name=name)
        return compiled(key, build, carried_numbers(robot))

    return _kept(robot, (name, details), make)


# what is carried ---------------------------------------------------------------------------------------------------------

INERTIAL = 10  # numbers of a body: m, m c (3), J about its origin (xx, yy, zz, xy, xz, yz)


def carriers(robot: Robot) -> tuple[int, ...]:
    """Bodies with a link that carries a payload."""
    places = (robot.tree.frames[link.name].body for link in robot.links if link.payload is not None)
    return tuple(sorted({body for body in places if body >= 0}))


def carried_numbers(robot: Robot) -> tuple[float, ...]:
    """INERTIAL numbers of every body that carries a payload, all that is welded to it included: the parameters of the robot's kernels."""
    bodies = [robot.tree.bodies[i] for i in carriers(robot)]
    rows = [(b.mass, *b.first_moment, *b.inertia.diagonal(), b.inertia[0, 1], b.inertia[0, 2], b.inertia[1, 2]) for b in bodies]
    return tuple(float(x) for row in rows for x in row)


def traced_tree(robot: Robot, masses: bool = True) -> Tree:
    """The robot's tree for tracing: mass, first moment and inertia of bodies with a payload are parameters of the kernel.

    masses: False makes those of all bodies, and of rotors, NaN: what is traced cannot depend on them.
    """
    bodies = list(robot.tree.bodies)
    if not masses:
        unknown = {"mass": np.nan, "first_moment": np.full(3, np.nan), "inertia": np.full((3, 3), np.nan), "rotor": np.nan}
        return replace(robot.tree, bodies=tuple(replace(b, **unknown) for b in bodies))
    carrying = carriers(robot)
    for i, numbers in zip(carrying, parameters(INERTIAL * len(carrying)).reshape(-1, INERTIAL)):
        xx, yy, zz, xy, xz, yz = numbers[4:]
        J = pack([xx, xy, xz, xy, yy, yz, xz, yz, zz], (3, 3))
        bodies[i] = replace(bodies[i], mass=numbers[0], first_moment=numbers[1:4], inertia=J)
    return replace(robot.tree, bodies=tuple(bodies))


# dynamics ----------------------------------------------------------------------------------------------------------------


def inverse_dynamics(robot: Robot, q: Any, v: Any, a: Any, wrenches: Wrenches | None = None, base: BaseMotion | None = None) -> np.ndarray:
    """Joint torques and forces (..., n) for accelerations `a` (..., n): τ = M(q) a + b(q, v). N·m, N.

    wrenches: {link name: (..., 6) force and torque on the link at its origin, world axes}.  base: prescribed motion of the base.
    """
    if robot.loops:
        return _closed_loops().inverse_dynamics(robot, q, v, a, wrenches, base)
    return _dynamics(robot, "inverse_dynamics", recursive.inverse_dynamics, q, v, a, wrenches, base)


def forward_dynamics(
    robot: Robot, q: Any, v: Any, tau: Any, wrenches: Wrenches | None = None, method: str = "recursive", base: BaseMotion | None = None
) -> np.ndarray:
    """Accelerations (..., n) under joint torques and forces `tau` (..., n). rad/s², m/s².

    method: "recursive", the linear-cost recursion (3.5); "gauss", the sparse system of Gauss's principle (1.2); "gibbs-appell", the
    probes of (2.2). All give the same answer; the first is by far the fastest.
    wrenches: {link name: (..., 6) force and torque on the link at its origin, world axes}.  base: prescribed motion of the base.
    """
    if method != "recursive":
        from armature.dynamics import routes

        return routes.forward_dynamics(robot, method, q, v, tau, wrenches, base)
    if robot.loops or robot.passive:
        if robot.loops:
            return _closed_loops().forward_dynamics(robot, q, v, tau, wrenches, base)
        _closed_loops().check_passive(robot, tau)
    if "_moves" not in robot.__dict__:
        check_moves(robot)
    return _dynamics(robot, "forward_dynamics", recursive.forward_dynamics, q, v, tau, wrenches, base)


def _closed_loops() -> ModuleType:
    from armature.dynamics import closed_loops

    return closed_loops


class BaseMotion(NamedTuple):
    """Prescribed motion of a robot's base: orientation in the world (..., 3, 3); in the base's own axes its angular velocity
    (rad/s), angular acceleration (rad/s²) and the acceleration of its origin (m/s²), each (..., 3)."""

    rotation: Any = np.eye(3)
    angular_velocity: Any = np.zeros(3)
    angular_acceleration: Any = np.zeros(3)
    linear_acceleration: Any = np.zeros(3)


def _dynamics(
    robot: Robot, name: str, function: Callable, q: Any, v: Any, x: Any, wrenches: Wrenches | None, base: BaseMotion | None
) -> np.ndarray:
    """Call inverse or forward dynamics: `function(tree, q, v, x, wrenches, base)`."""
    if not wrenches and base is None:
        known = robot.__dict__.get("_kernels", EMPTY).get((name, ((), False)))
        if known is not None:
            return known(q, v, x)
    tree = robot.tree
    if linked.applies(tree) and base is None:
        for link in wrenches or ():
            _frame(robot, link)
        return linked.run(robot, name, physics_source(), q, v, x, wrenches)
    links = tuple(wrenches) if wrenches else ()
    for link in links:
        _frame(robot, link)
    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, "a" if name == "inverse_dynamics" else "tau": tree.nv}
    inputs |= {f"wrench {link}": 6 for link in links}
    if base is not None:
        inputs |= {"base rotation": (3, 3), "base velocity": 3, "base angular acceleration": 3, "base acceleration": 3}

    def plain(tree, q, v, x, *rest):
        outside = dict(zip(links, rest[: len(links)]))
        moving = recursive.Base(*rest[len(links) :]) if base is not None else recursive.FIXED
        return function(tree, q, v, x, outside, moving)

    run = kernel(robot, name, plain, inputs, links, base is not None)
    return run(q, v, x, *(wrenches[k] for k in links) if wrenches else (), *(base or ()))


def mass_matrix(robot: Robot, q: Any) -> np.ndarray:
    """M(q) (..., n, n), symmetric; kg·m², kg."""
    if linked.applies(robot.tree):
        return linked.mass_matrix(robot, q, physics_source())
    return kernel(robot, "mass_matrix", mass.mass_matrix, {"q": robot.nq})(q)


def bias_forces(robot: Robot, q: Any, v: Any) -> np.ndarray:
    """b(q, v) (..., n) in M q̈ + b = τ: gravity, centrifugal, Coriolis and gyroscopic forces."""
    if linked.applies(robot.tree):
        return linked.run(robot, "inverse_dynamics", physics_source(), q, v, np.zeros(robot.nv), None)
    return kernel(robot, "bias_forces", recursive.bias_forces, {"q": robot.nq, "v": robot.nv})(q, v)


def kinetic_energy(robot: Robot, q: Any, v: Any) -> np.ndarray:
    """Kinetic energy (...), rotors included, J."""
    return kernel(robot, "kinetic_energy", energy.kinetic_energy, {"q": robot.nq, "v": robot.nv})(q, v)


def potential_energy(robot: Robot, q: Any) -> np.ndarray:
    """Potential energy (...) in the robot's gravity, zero at the world's origin, J."""
    return kernel(robot, "potential_energy", energy.potential_energy, {"q": robot.nq})(q)


class InverseDerivatives(NamedTuple):
    """∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M: (..., n, n), in the tangent space of q."""

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


class ForwardDerivatives(NamedTuple):
    """∂q̈/∂q, ∂q̈/∂v, ∂q̈/∂τ = M⁻¹: (..., n, n), in the tangent space of q."""

    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray


def inverse_dynamics_derivatives(robot: Robot, q: Any, v: Any, a: Any) -> InverseDerivatives:
    """Derivatives of inverse dynamics with respect to q, v and a."""
    if robot.loops:
        return InverseDerivatives(*_closed_loops().derivatives(robot, False, q, v, a))
    tree = robot.tree
    if linked.applies(tree):
        return InverseDerivatives(*linked_derivatives.inverse(robot, q, v, a, physics_source()))
    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, "a": tree.nv}
    run = kernel(robot, "inverse_dynamics_derivatives", derivatives.inverse, inputs)
    return InverseDerivatives(*run(q, v, a))


def forward_dynamics_derivatives(robot: Robot, q: Any, v: Any, tau: Any) -> ForwardDerivatives:
    """Derivatives of forward dynamics with respect to q, v and τ."""
    if robot.loops:
        return ForwardDerivatives(*_closed_loops().derivatives(robot, True, q, v, tau))
    check_moves(robot)
    tree = robot.tree
    if linked.applies(tree):
        return ForwardDerivatives(*linked_derivatives.forward(robot, q, v, tau, physics_source()))
    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, "tau": tree.nv}
    run = kernel(robot, "forward_dynamics_derivatives", derivatives.forward, inputs)
    return ForwardDerivatives(*run(q, v, tau))


def check_moves(robot: Robot) -> None:
    """Refuse a joint that moves no mass or inertia at all: its acceleration is not defined (BᵀPB = 0)."""
    if "_moves" not in robot.__dict__:
        robot.__dict__["_moves"] = _check_moves(robot)


def _check_moves(robot: Robot) -> bool:
    tree = robot.tree
    q = random_configuration(tree, np.random.default_rng(0))
    found = linked.pivots(robot, q, physics_source()) if linked.applies(tree) else mass.pivots(tree, q)
    for name, D, scale in reversed(found):  # tip to base, as they were eliminated: past a zero the rest means nothing
        if not 1e-13 * scale < D:  # also where D is not a number
            raise RobotError(
                f"joint {name!r} moves no mass or inertia (generalised inertia {D:.3g}): its acceleration is not defined; "
                "give its link a mass or inertia, its motor a rotor inertia, or make the joint fixed"
            )
    return True


def random_configuration(tree: Tree, rng: np.random.Generator) -> np.ndarray:
    """Coordinates (nq,) between −1 and 1; floating bases get a unit quaternion."""
    q = rng.uniform(-1.0, 1.0, tree.nq)
    for body in tree.bodies:
        if body.kind == "free":
            q[body.q + 3 : body.q + 7] /= np.linalg.norm(q[body.q + 3 : body.q + 7])
    return q


# kinematics --------------------------------------------------------------------------------------------------------------


class Pose(NamedTuple):
    """Orientation R (..., 3, 3) and origin p (..., 3) of a link's frame in the world, m."""

    R: np.ndarray
    p: np.ndarray


class PointMotion(NamedTuple):
    """A point of a link: pose of the link's frame at the point, velocity and acceleration (..., 6), (linear, angular), world axes."""

    pose: Pose
    velocity: np.ndarray
    acceleration: np.ndarray


def _frame(robot: Robot, link: str) -> str:
    if link not in robot.tree.frames:
        raise ArgumentError(f"link {link!r} is not in robot {robot.name!r}; its links are: {', '.join(robot.tree.frames)}")
    return link


def check_links(robot: Robot, wrenches: Wrenches | None) -> tuple[str, ...]:
    """The links that wrenches act on, each known to the robot."""
    return tuple(_frame(robot, link) for link in wrenches or ())


def _point(at: Any) -> Any:
    return np.zeros(3) if at is None else at


def pose(robot: Robot, q: Any, link: str) -> Pose:
    """Pose of a link's frame in the world."""
    plain = lambda tree, q: kinematics.link_pose(tree, q, link)
    return Pose(*kernel(robot, "pose", plain, {"q": robot.nq}, _frame(robot, link), masses=False)(q))


def jacobian(robot: Robot, q: Any, link: str, at: Any = None) -> np.ndarray:
    """(..., 6, n): linear and angular velocity, world axes, of a point of a link for each unit of v.

    at: the point in the link's frame, (..., 3), m; its origin by default.
    """
    plain = lambda tree, q, at: kinematics.jacobian(tree, q, link, at)
    return kernel(robot, "jacobian", plain, {"q": robot.nq, "at": 3}, _frame(robot, link), masses=False)(q, _point(at))


def point_kinematics(robot: Robot, q: Any, v: Any, a: Any, link: str, at: Any = None) -> PointMotion:
    """Pose, velocity and acceleration of a point of a link; `at` in the link's frame, (..., 3), m, its origin by default."""

    def plain(tree, q, v, a, at):
        where = kinematics.link_pose(tree, q, link)
        velocity, acceleration = kinematics.point_motion(tree, q, v, a, link, at)
        return where.R, where.p + where.R @ at, velocity, acceleration

    inputs: dict[str, Shape | int] = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "at": 3}
    run = kernel(robot, "kinematics", plain, inputs, _frame(robot, link), masses=False)
    R, p, velocity, acceleration = run(q, v, a, _point(at))
    return PointMotion(Pose(R, p), velocity, acceleration)


def skeleton(robot: Robot, q: Any) -> np.ndarray:
    """(..., links, 3): origins of all link frames in the world, m, in the order of `robot.links`; for pictures."""

    def plain(tree, q):
        poses = [*energy.body_poses(tree, q), kinematics.WORLD]  # the last, index −1, is the world
        frames = [tree.frames[link.name] for link in robot.links]
        return np.stack([poses[f.body].p + poses[f.body].R @ f.p for f in frames])

    return kernel(robot, "skeleton", plain, {"q": robot.nq}, masses=False)(q)


def link_poses(robot: Robot, q: Any) -> Pose:
    """Poses of all link frames in the world: R (..., links, 3, 3), p (..., links, 3), in the order of `robot.links`; for pictures."""

    def plain(tree, q):
        poses = [*energy.body_poses(tree, q), kinematics.WORLD]  # the last, index −1, is the world
        frames = [tree.frames[link.name] for link in robot.links]
        places = np.stack([poses[f.body].p + poses[f.body].R @ f.p for f in frames])
        return np.stack([poses[f.body].R @ np.asarray(f.R) for f in frames]), places

    return Pose(*kernel(robot, "link_poses", plain, {"q": robot.nq}, masses=False)(q))

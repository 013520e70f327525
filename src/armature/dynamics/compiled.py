"""The one place where physics meets the compiler: the public, batched functions.

Each traces its plain function once for a robot, keeps the kernel with the robot (and on disk), and calls it on whole batches.
SI units, rad; arrays have the joint axis last; any leading axes are a batch and broadcast.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from armature.dynamics import derivatives, energy, kinematics, linked, linked_derivatives, mass, recursive
from armature.errors import ArgumentError, RobotError
from armature.kernel import Kernel
from armature.kernel.kernel import compiled
from armature.kernel.trace import Shape, trace
from armature.robot.model import Robot
from armature.robot.tree import Tree

Wrenches = Mapping[str, Any]
EMPTY: dict = {}


@functools.cache
def physics_source() -> str:
    """Digest of the source that kernels are traced from: a change of the physics makes new kernels."""
    root = Path(__file__).parent.parent
    files = sorted(p for room in ("spatial", "dynamics") for p in (root / room).glob("*.py")) + [root / "robot" / "tree.py"]
    return hashlib.sha256(b"".join(p.read_bytes() for p in files)).hexdigest()


def fingerprint(robot: Robot) -> str:
    """Digest of every number that dynamics and kinematics of a robot depend on, and of the links' names, by which they are asked for."""
    return _kept(robot, "fingerprint", lambda: _digest(robot.tree))


def _digest(tree: Tree) -> str:
    digest = hashlib.sha256(tree.gravity.tobytes())
    for b in tree.bodies:
        numbers = [b.parent, b.q, b.v, b.multiplier, b.offset, b.mass, b.rotor, b.ratio, *b.R.flat, *b.p, *b.axis]
        numbers += [*b.first_moment, *b.inertia.flat, *b.rotor_axis]
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


def kernel(robot: Robot, name: str, function: Callable, inputs: Mapping[str, Shape | int], *details: object) -> Kernel:
    """The kernel of `function(*symbols)` for a robot, named by (name, details), which must say all that the function depends on."""

    def make() -> Kernel:
        key = f"{name} {details} {fingerprint(robot)} {physics_source()}"
        return compiled(key, lambda: trace(function, inputs, name=name))

    return _kept(robot, (name, details), make)


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

    def plain(q, v, x, *rest):
        outside = dict(zip(links, rest[: len(links)]))
        moving = recursive.Base(*rest[len(links) :]) if base is not None else recursive.FIXED
        return function(tree, q, v, x, outside, moving)

    run = kernel(robot, name, plain, inputs, links, base is not None)
    return run(q, v, x, *(wrenches[k] for k in links) if wrenches else (), *(base or ()))


def mass_matrix(robot: Robot, q: Any) -> np.ndarray:
    """M(q) (..., n, n), symmetric; kg·m², kg."""
    if linked.applies(robot.tree):
        return linked.mass_matrix(robot, q, physics_source())
    return kernel(robot, "mass_matrix", lambda q: mass.mass_matrix(robot.tree, q), {"q": robot.nq})(q)


def bias_forces(robot: Robot, q: Any, v: Any) -> np.ndarray:
    """b(q, v) (..., n) in M q̈ + b = τ: gravity, centrifugal, Coriolis and gyroscopic forces."""
    if linked.applies(robot.tree):
        return linked.run(robot, "inverse_dynamics", physics_source(), q, v, np.zeros(robot.nv), None)
    tree = robot.tree
    return kernel(robot, "bias_forces", lambda q, v: recursive.bias_forces(tree, q, v), {"q": tree.nq, "v": tree.nv})(q, v)


def kinetic_energy(robot: Robot, q: Any, v: Any) -> np.ndarray:
    """Kinetic energy (...), rotors included, J."""
    tree = robot.tree
    return kernel(robot, "kinetic_energy", lambda q, v: energy.kinetic_energy(tree, q, v), {"q": tree.nq, "v": tree.nv})(q, v)


def potential_energy(robot: Robot, q: Any) -> np.ndarray:
    """Potential energy (...) in the robot's gravity, zero at the world's origin, J."""
    return kernel(robot, "potential_energy", lambda q: energy.potential_energy(robot.tree, q), {"q": robot.nq})(q)


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
    run = kernel(robot, "inverse_dynamics_derivatives", functools.partial(derivatives.inverse, tree), inputs)
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
    run = kernel(robot, "forward_dynamics_derivatives", functools.partial(derivatives.forward, tree), inputs)
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
    tree, link = robot.tree, _frame(robot, link)
    return Pose(*kernel(robot, "pose", lambda q: kinematics.link_pose(tree, q, link), {"q": tree.nq}, link)(q))


def jacobian(robot: Robot, q: Any, link: str, at: Any = None) -> np.ndarray:
    """(..., 6, n): linear and angular velocity, world axes, of a point of a link for each unit of v.

    at: the point in the link's frame, (..., 3), m; its origin by default.
    """
    tree, link = robot.tree, _frame(robot, link)
    plain = lambda q, at: kinematics.jacobian(tree, q, link, at)
    return kernel(robot, "jacobian", plain, {"q": tree.nq, "at": 3}, link)(q, _point(at))


def point_kinematics(robot: Robot, q: Any, v: Any, a: Any, link: str, at: Any = None) -> PointMotion:
    """Pose, velocity and acceleration of a point of a link; `at` in the link's frame, (..., 3), m, its origin by default."""
    tree, link = robot.tree, _frame(robot, link)

    def plain(q, v, a, at):
        where = kinematics.link_pose(tree, q, link)
        velocity, acceleration = kinematics.point_motion(tree, q, v, a, link, at)
        return where.R, where.p + where.R @ at, velocity, acceleration

    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, "a": tree.nv, "at": 3}
    R, p, velocity, acceleration = kernel(robot, "kinematics", plain, inputs, link)(q, v, a, _point(at))
    return PointMotion(Pose(R, p), velocity, acceleration)


def skeleton(robot: Robot, q: Any) -> np.ndarray:
    """(..., links, 3): origins of all link frames in the world, m, in the order of `robot.links`; for pictures."""
    tree = robot.tree

    def plain(q):
        poses = [*energy.body_poses(tree, q), kinematics.WORLD]  # the last, index −1, is the world
        frames = [tree.frames[link.name] for link in robot.links]
        return np.stack([poses[f.body].p + poses[f.body].R @ f.p for f in frames])

    return kernel(robot, "skeleton", plain, {"q": tree.nq})(q)


def link_poses(robot: Robot, q: Any) -> Pose:
    """Poses of all link frames in the world: R (..., links, 3, 3), p (..., links, 3), in the order of `robot.links`; for pictures."""
    tree = robot.tree

    def plain(q):
        poses = [*energy.body_poses(tree, q), kinematics.WORLD]  # the last, index −1, is the world
        frames = [tree.frames[link.name] for link in robot.links]
        places = np.stack([poses[f.body].p + poses[f.body].R @ f.p for f in frames])
        return np.stack([poses[f.body].R @ np.asarray(f.R) for f in frames]), places

    return Pose(*kernel(robot, "link_poses", plain, {"q": tree.nq})(q))

"""The one place where physics meets the compiler: the public, batched functions.

Each traces its plain function once for a robot, keeps the kernel with the robot (and on disk,
`kernels`), and calls it on whole batches. SI units, rad; arrays have the joint axis last; any
leading axes are a batch and broadcast."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from armature.dynamics import linked, linked_derivatives, routes
from armature.dynamics.differentiation import derivatives
from armature.dynamics.holonomic import closed_loops
from armature.dynamics.kernels import (
    BaseMotion,
    Wrenches,
    check_moves,
    kernel,
    link_frame,
    physics_source,
)
from armature.dynamics.recursion import energy, kinematics, mass, recursive
from armature.errors import ArgumentError
from armature.kernel.trace import Shape
from armature.memo import memo
from armature.robot.model import Robot


def inverse_dynamics(
    robot: Robot,
    q: Any,
    v: Any,
    a: Any,
    wrenches: Wrenches | None = None,
    base: BaseMotion | None = None,
) -> np.ndarray:
    """Joint torques and forces (..., n) for accelerations `a` (..., n): τ = M(q) a + b(q, v). N·m,
    N.

    wrenches: {link name: (..., 6) force and torque on the link at its origin, world axes}.  base:
    prescribed motion of the base."""
    if robot.loops:
        return closed_loops.inverse_dynamics(robot, q, v, a, wrenches, base)
    return _dynamics(robot, "inverse_dynamics", recursive.inverse_dynamics, q, v, a, wrenches, base)


def forward_dynamics(
    robot: Robot,
    q: Any,
    v: Any,
    tau: Any,
    wrenches: Wrenches | None = None,
    method: str = "recursive",
    base: BaseMotion | None = None,
) -> np.ndarray:
    """Accelerations (..., n) under joint torques and forces `tau` (..., n). rad/s², m/s².

    method: "recursive", the linear-cost recursion (3.5); "gauss", the sparse system of Gauss's
    principle (1.2); "gibbs-appell", the probes of (2.2). All give the same answer; the first is by
    far the fastest.
    wrenches: {link name: (..., 6) force and torque on the link at its origin, world axes}.  base:
    prescribed motion of the base."""
    if method != "recursive":
        return routes.forward_dynamics(robot, method, q, v, tau, wrenches, base)
    if robot.loops or robot.passive:
        if robot.loops:
            return closed_loops.forward_dynamics(robot, q, v, tau, wrenches, base)
        closed_loops.check_passive(robot, tau)
    check_moves(robot)
    return _dynamics(
        robot, "forward_dynamics", recursive.forward_dynamics, q, v, tau, wrenches, base
    )


def _dynamics(
    robot: Robot,
    name: str,
    function: Callable,
    q: Any,
    v: Any,
    x: Any,
    wrenches: Wrenches | None,
    base: BaseMotion | None,
) -> np.ndarray:
    """Call inverse or forward dynamics: `function(tree, q, v, x, wrenches, base)`."""
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise ArgumentError(f"{name}: wrenches = {wrenches!r:.60} must be a dict of links")
    if not wrenches and base is None:
        known = memo(robot, "kernels").get((name, ((), False)))
        if known is not None:
            return known(q, v, x)
    tree = robot.tree
    if linked.applies(tree) and base is None:
        for link in wrenches or ():
            link_frame(robot, link)
        return linked.run(robot, name, physics_source(), q, v, x, wrenches)
    links = tuple(wrenches) if wrenches else ()
    for link in links:
        link_frame(robot, link)
    inputs: dict[str, Shape | int] = {
        "q": tree.nq,
        "v": tree.nv,
        "a" if name == "inverse_dynamics" else "tau": tree.nv,
    }
    inputs |= {f"wrench {link}": 6 for link in links}
    if base is not None:
        inputs |= {
            "base rotation": (3, 3),
            "base velocity": 3,
            "base angular acceleration": 3,
            "base acceleration": 3,
        }

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
        return linked.run(
            robot, "inverse_dynamics", physics_source(), q, v, np.zeros(robot.nv), None
        )
    return kernel(robot, "bias_forces", recursive.bias_forces, {"q": robot.nq, "v": robot.nv})(q, v)


def kinetic_energy(robot: Robot, q: Any, v: Any) -> np.ndarray:
    """Kinetic energy (...), rotors included, J."""
    return kernel(robot, "kinetic_energy", energy.kinetic_energy, {"q": robot.nq, "v": robot.nv})(
        q, v
    )


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
        return InverseDerivatives(*closed_loops.derivatives(robot, False, q, v, a))
    tree = robot.tree
    if linked.applies(tree):
        return InverseDerivatives(*linked_derivatives.inverse(robot, q, v, a, physics_source()))
    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, "a": tree.nv}
    run = kernel(robot, "inverse_dynamics_derivatives", derivatives.inverse, inputs)
    return InverseDerivatives(*run(q, v, a))


def forward_dynamics_derivatives(robot: Robot, q: Any, v: Any, tau: Any) -> ForwardDerivatives:
    """Derivatives of forward dynamics with respect to q, v and τ."""
    if robot.loops:
        return ForwardDerivatives(*closed_loops.derivatives(robot, True, q, v, tau))
    check_moves(robot)
    tree = robot.tree
    if linked.applies(tree):
        return ForwardDerivatives(*linked_derivatives.forward(robot, q, v, tau, physics_source()))
    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, "tau": tree.nv}
    run = kernel(robot, "forward_dynamics_derivatives", derivatives.forward, inputs)
    return ForwardDerivatives(*run(q, v, tau))


# kinematics --------------------------------------------------------------------------------------


class Pose(NamedTuple):
    """Orientation R (..., 3, 3) and origin p (..., 3) of a link's frame in the world, m."""

    R: np.ndarray
    p: np.ndarray


class PointMotion(NamedTuple):
    """A point of a link: pose of the link's frame at the point, velocity and acceleration (..., 6),
    (linear, angular), world axes."""

    pose: Pose
    velocity: np.ndarray
    acceleration: np.ndarray


def _point(at: Any) -> Any:
    return np.zeros(3) if at is None else at


def pose(robot: Robot, q: Any, link: str) -> Pose:
    """Pose of a link's frame in the world."""
    plain = lambda tree, q: kinematics.link_pose(tree, q, link)
    return Pose(
        *kernel(robot, "pose", plain, {"q": robot.nq}, link_frame(robot, link), masses=False)(q)
    )


def jacobian(robot: Robot, q: Any, link: str, at: Any = None) -> np.ndarray:
    """(..., 6, n): linear and angular velocity, world axes, of a point of a link for each unit of
    v.

    at: the point in the link's frame, (..., 3), m; its origin by default.
    """
    plain = lambda tree, q, at: kinematics.jacobian(tree, q, link, at)
    return kernel(
        robot, "jacobian", plain, {"q": robot.nq, "at": 3}, link_frame(robot, link), masses=False
    )(q, _point(at))


def point_kinematics(
    robot: Robot, q: Any, v: Any, a: Any, link: str, at: Any = None
) -> PointMotion:
    """Pose, velocity and acceleration of a point of a link; `at` in the link's frame, (..., 3), m,
    its origin by default."""

    def plain(tree, q, v, a, at):
        where = kinematics.link_pose(tree, q, link)
        velocity, acceleration = kinematics.point_motion(tree, q, v, a, link, at)
        return where.R, where.p + where.R @ at, velocity, acceleration

    inputs: dict[str, Shape | int] = {"q": robot.nq, "v": robot.nv, "a": robot.nv, "at": 3}
    run = kernel(robot, "kinematics", plain, inputs, link_frame(robot, link), masses=False)
    R, p, velocity, acceleration = run(q, v, a, _point(at))
    return PointMotion(Pose(R, p), velocity, acceleration)


def skeleton(robot: Robot, q: Any) -> np.ndarray:
    """(..., links, 3): origins of all link frames in the world, m, in the order of `robot.links`;
    for pictures."""

    def plain(tree, q):
        poses = [*energy.body_poses(tree, q), kinematics.WORLD]  # the last, index −1, is the world
        frames = [tree.frames[link.name] for link in robot.links]
        return np.stack([poses[f.body].p + poses[f.body].R @ f.p for f in frames])

    return kernel(robot, "skeleton", plain, {"q": robot.nq}, masses=False)(q)


def link_poses(robot: Robot, q: Any) -> Pose:
    """Poses of all link frames in the world: R (..., links, 3, 3), p (..., links, 3), in the order
    of `robot.links`; for pictures."""

    def plain(tree, q):
        poses = [*energy.body_poses(tree, q), kinematics.WORLD]  # the last, index −1, is the world
        frames = [tree.frames[link.name] for link in robot.links]
        places = np.stack([poses[f.body].p + poses[f.body].R @ f.p for f in frames])
        return np.stack([poses[f.body].R @ np.asarray(f.R) for f in frames]), places

    return Pose(*kernel(robot, "link_poses", plain, {"q": robot.nq}, masses=False)(q))

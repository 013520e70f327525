"""Robots with closed loops, on batches: dynamics under the loops, and configurations that close
them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from armature.annotations import Numbers
from armature.dynamics.holonomic import loops
from armature.dynamics.kernels import BaseMotion, Wrenches, check_links, check_moves, kernel
from armature.dynamics.recursion import recursive
from armature.errors import ArgumentError, RobotError
from armature.kernel import Kernel
from armature.kernel.trace import Shape
from armature.robot.loop import Loop
from armature.robot.model import Robot

CLOSED = 1e-12  # residual of a closed loop, m or rad
MOST_STEPS = 100


def details(robot: Robot) -> tuple:
    """What a kernel with loops depends on beyond the tree."""
    return robot.loops, robot.passive


def check_passive(robot: Robot, tau: Any) -> None:
    """Refuse torques on joints without a motor."""
    if not robot.passive:
        return
    given = np.asarray(tau, dtype=float)
    if given.ndim == 0 or given.shape[-1] != robot.nv:
        return  # the kernel says what is wrong with the shape
    for v in robot.passive:
        wrong = given[..., v][given[..., v] != 0.0]
        if wrong.size:
            name = next(b.name for b in robot.tree.bodies if b.v == v and not b.mimic)
            raise ArgumentError(
                f"joint {name!r} is passive, it has no motor, but gets the torque"
                f" {wrong.flat[0]:g}; give 0 there"
            )


def forward_dynamics(
    robot: Robot, q: Any, v: Any, tau: Any, wrenches: Wrenches | None, base: BaseMotion | None
) -> np.ndarray:
    """q̈ (..., n) under the loops (2.19)."""
    return _forward(robot, q, v, tau, wrenches, base)[0]


def _forward(
    robot: Robot, q: Any, v: Any, tau: Any, wrenches: Wrenches | None, base: BaseMotion | None
) -> tuple[np.ndarray, np.ndarray]:
    check_moves(robot)
    check_passive(robot, tau)
    if base is not None:
        raise ArgumentError(
            f"robot {robot.name!r} has closed loops: a moving base is not offered for it; give it a"
            " floating base instead"
        )
    links, tree = check_links(robot, wrenches), robot.tree
    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, "tau": tree.nv}
    inputs |= {f"wrench {link}": 6 for link in links}

    def plain(tree, q, v, tau, *outside):
        bias = recursive.inverse_dynamics(tree, q, v, np.zeros(tree.nv), dict(zip(links, outside)))
        return loops.forward_dynamics(tree, robot.loops, q, v, tau, bias)

    run = kernel(robot, "forward_dynamics with loops", plain, inputs, links, *details(robot))
    return run(q, v, tau, *((wrenches or {})[k] for k in links))


def inverse_dynamics(
    robot: Robot, q: Any, v: Any, a: Any, wrenches: Wrenches | None, base: BaseMotion | None
) -> np.ndarray:
    """τ (..., n) for accelerations that keep the loops closed, zero at passive joints."""
    if base is not None:
        raise ArgumentError(
            f"robot {robot.name!r} has closed loops: a moving base is not offered for it; give it a"
            " floating base instead"
        )
    links, tree = check_links(robot, wrenches), robot.tree
    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, "a": tree.nv}
    inputs |= {f"wrench {link}": 6 for link in links}

    def plain(tree, q, v, a, *outside):
        open_tau = recursive.inverse_dynamics(tree, q, v, a, dict(zip(links, outside)))
        return loops.inverse_dynamics(tree, robot.loops, robot.passive, q, v, open_tau)

    return kernel(robot, "inverse_dynamics with loops", plain, inputs, links, *details(robot))(
        q, v, a, *((wrenches or {})[k] for k in links)
    )


def derivatives(robot: Robot, forward: bool, q: Any, v: Any, x: Any) -> tuple[np.ndarray, ...]:
    """Derivatives of forward or inverse dynamics under the loops, as if q and v were free (they are
    consistent ones)."""
    tree, name = robot.tree, "tau" if forward else "a"

    def plain(tree, q, v, x):
        if forward:
            result = loops.forward_dynamics(tree, robot.loops, q, v, x)[0]
        else:
            result = loops.inverse_dynamics(
                tree, robot.loops, robot.passive, q, v, recursive.inverse_dynamics(tree, q, v, x)
            )
        return loops.derivatives(tree, q, v, x, result)

    inputs: dict[str, Shape | int] = {"q": tree.nq, "v": tree.nv, name: tree.nv}
    return kernel(robot, f"derivatives with loops by {name}", plain, inputs, *details(robot))(
        q, v, x
    )


def loop_forces(
    robot: Robot, q: Numbers, v: Numbers, tau: Numbers, wrenches: Wrenches | None = None
) -> dict[str, np.ndarray]:
    """{loop: (..., 6) force and torque on its link b, at the closing point, world axes}; redundant
    rows carry the smallest share.

    N·m, N. q, v must close the loops.
    """
    if not robot.loops:
        return {}
    _, N = _forward(robot, q, v, tau, wrenches, None)
    names = np.array([name for name, _ in loops.moving_rows(robot.tree, robot.loops)])
    return {loop.name: _wrench(robot, loop, q, N[..., names == loop.name]) for loop in robot.loops}


def _wrench(robot: Robot, loop: Loop, q: Any, N: np.ndarray) -> np.ndarray:
    """Σ N ∂f/∂(displacement, rotation of link b at the closing point)."""
    mine = [k for name, k in loops.moving_rows(robot.tree, robot.loops) if name == loop.name]
    plain = lambda tree, q: loops.wrench_rows(tree, loop, q)[mine]
    rows = kernel(
        robot, "loop wrench", plain, {"q": robot.nq}, loop, *details(robot), masses=False
    )(q)
    return np.einsum("...mk,...m->...k", rows, N)


def loop_rows(robot: Robot) -> Kernel:
    """(q, v) → f, ḟ, D (..., m) and Γ (..., m, n) of all loops."""
    plain = lambda tree, q, v: tuple(loops.rows(tree, robot.loops, q, v))
    return kernel(
        robot, "loop rows", plain, {"q": robot.nq, "v": robot.nv}, *details(robot), masses=False
    )


def projection(robot: Robot) -> Kernel:
    """(q, v) → one step nearer to closed loops: q, v, and the largest error before."""
    plain = lambda tree, q, v: loops.project(tree, robot.loops, q, v)
    return kernel(robot, "loop projection", plain, {"q": robot.nq, "v": robot.nv}, *details(robot))


# closing -----------------------------------------------------------------------------------------


def close_loops(robot: Robot, q: Numbers, hold: Iterable[str] | None = None) -> np.ndarray:
    """The configuration (..., nq) nearest to q that closes the robot's loops.

    hold: joints that keep their coordinates; by default those with motors, where some are passive.
    Raises RobotError with the loop and its residual where none is found.
    """
    q = np.array(q, dtype=float)
    if q.ndim < 1 or q.shape[-1] != robot.nq:
        raise ArgumentError(f"q has shape {q.shape}; expected (..., {robot.nq})")
    if not robot.loops:
        return q
    free = _free(robot, hold)
    flat = q.reshape(-1, robot.nq)
    rows, v = loop_rows(robot), np.zeros(robot.nv)
    damping = np.ones(len(flat))
    for _ in range(MOST_STEPS):
        f, _, _, G = rows(flat, v)
        if np.max(np.abs(f)) <= CLOSED:
            break
        step = np.zeros((len(flat), robot.nv))
        step[:, free] = -np.einsum("bij,bj->bi", np.linalg.pinv(G[:, :, free], rcond=1e-10), f)
        damping = np.minimum(1.0, 0.3 / np.maximum(np.max(np.abs(step), axis=1), 1e-300))
        flat = _moved(robot, flat, step * damping[:, None])
    error = np.max(np.abs(f), axis=0)
    if np.max(error) > 1e3 * CLOSED:
        worst = int(np.argmax(error))
        name = loops.moving_rows(robot.tree, robot.loops)[worst][0]
        held = (
            ""
            if len(free) == robot.nv
            else " while the joints with motors are held (hold=() lets all move)"
        )
        raise RobotError(
            f"loop {name!r} of robot {robot.name!r} cannot be closed{held}: residual"
            f" {error[worst]:.3g} m or rad; start nearer to a closed position, or check the loop's"
            " points"
        )
    return flat.reshape(q.shape)


def _free(robot: Robot, hold: Iterable[str] | None) -> list[int]:
    """Indices in v that may move."""
    if hold is None:
        return list(robot.passive) or list(range(robot.nv))
    held = set()
    for name in hold:
        body = next((b for b in robot.tree.bodies if b.name == name and not b.mimic), None)
        if body is None:
            raise ArgumentError(
                f"there is no joint {name!r} to hold; the joints are:"
                f" {', '.join(robot.joint_names)}"
            )
        held |= set(range(body.v, body.v + (6 if body.kind == "free" else 1)))
    return [k for k in range(robot.nv) if k not in held]


def _moved(robot: Robot, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    plain = lambda tree, q, d: loops.normalized(tree, q + loops.coordinate_rates(tree, q, d))
    return kernel(robot, "moved", plain, {"q": robot.nq, "step": robot.nv}, masses=False)(q, step)

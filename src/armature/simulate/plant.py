"""What a controller acts on: the robot with the friction of its joints, force elements and
wrenches, as one compiled function."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

from armature.drive import corner
from armature.drive import friction as friction_module
from armature.dynamics import compiled, kernels, linked
from armature.dynamics.holonomic import loops
from armature.dynamics.holonomic.closed_loops import check_passive, loop_rows
from armature.dynamics.recursion import kinematics, recursive
from armature.dynamics.recursion.friction import friction_torque
from armature.errors import ArgumentError
from armature.kernel import Kernel
from armature.kernel.trace import Shape, trace
from armature.robot.model import Robot
from armature.robot.tree import Tree
from armature.spatial.vectors import Array, pack

OPEN = 1e-6  # m or rad that a loop may be open at the start of a simulation


def applied(
    robot: Robot,
    elements: Sequence[Any],
    width: float,
    t: Any,
    q: Array,
    v: Array,
    tau: Array,
    wrenches: Mapping[str, Array],
) -> Array:
    """All generalised forces but the dynamics' own: τ − friction + Σ elements + Σ JᵀF."""
    tree = robot.tree
    total = tau - friction_torque(robot, v, tau, width)
    for element in elements:
        total = total + element.joint_forces(tree, t, q, v)
    for link, wrench in wrenches.items():
        total = total + kinematics.jacobian(tree, q, link, np.zeros(3)).T @ wrench
    return total


@functools.cache
def _sources() -> str:
    """Digest of the source traced here that `kernels.physics_source` does not cover."""
    files = (__file__, friction_module.__file__, corner.__file__)
    return hashlib.sha256(b"".join(Path(f).read_bytes() for f in files)).hexdigest()


def _friction_numbers(robot: Robot) -> tuple:
    return tuple(astuple(j.friction) for j in robot.joints)


class Plant:
    """A robot under control, as compiled functions.

    elements: force elements on the robot's links and joints.  links: those on which wrenches act.
    width: velocity over which dry friction is rounded, rad/s or m/s; 0 keeps its jump.
    """

    def __init__(
        self,
        robot: Robot,
        elements: Sequence[Any] = (),
        links: Sequence[str] = (),
        width: float = 1e-2,
    ):
        kernels.check_moves(robot)
        if not (math.isfinite(width) and width >= 0.0):
            raise ArgumentError(f"friction_width = {width} must be a velocity ≥ 0, rad/s or m/s")
        self.robot, self.elements, self.links, self.width = (
            robot,
            tuple(elements),
            tuple(links),
            float(width),
        )
        for link in self.links:
            if link not in robot.tree.frames:
                raise ArgumentError(
                    f"link {link!r} is not in robot {robot.name!r}; its links are:"
                    f" {', '.join(robot.tree.frames)}"
                )
        self._driven: Kernel | None = None
        self._details = (
            self.links,
            self.width,
            self._element_digest(),
            _friction_numbers(robot),
            robot.loops,
            _sources(),
        )

    def _element_digest(self) -> str:
        """Names the force elements: the digest of what they compute."""
        if not self.elements:
            return ""
        tree = self.robot.tree
        law = lambda t, q, v, p: sum(
            (e.joint_forces(tree, t, q, v) for e in self.elements), np.zeros(tree.nv)
        )
        return _digest(law, {"t": (), "q": tree.nq, "v": tree.nv, "p": 1})

    def driven(self) -> Kernel:
        """(t, q, v, torques, wrench on each link) → accelerations (nv,), power of all applied
        forces ()."""
        inputs = self._inputs(("torque", self.robot.nv)) | {
            f"wrench {link}": 6 for link in self.links
        }

        def plain(tree, t, q, v, tau, *wrenches):
            return self._motion(tree, t, q, v, tau, dict(zip(self.links, wrenches)))

        if self._driven is None:
            self._driven = kernels.kernel(self.robot, "driven", plain, inputs, *self._details)
        return self._driven

    def motion(
        self,
        t: float,
        q: np.ndarray,
        v: np.ndarray,
        tau: np.ndarray,
        wrenches: Sequence[np.ndarray],
    ) -> tuple[np.ndarray, float]:
        """Accelerations (nv,) and power (W) at one state; mechanisms of very many links go through
        the loop kernel."""
        if linked.applies(self.robot.tree) and not self.robot.loops:
            total = applied(
                self.robot, self.elements, self.width, t, q, v, tau, dict(zip(self.links, wrenches))
            )
            return compiled.forward_dynamics(self.robot, q, v, total), float(total @ v)
        a, power = self.driven()(np.array(t), q, v, tau, *wrenches)
        return a, float(power)

    def controlled(self, controller: Any, parameters: int) -> Kernel:
        """(t, q, v, parameters) → accelerations, power, and the torques of a traced controller (the
        parameters themselves when None)."""
        robot, size = self.robot, parameters if controller is not None else self.robot.nv
        law = (lambda t, q, v, p: p) if controller is None else _law(controller, size)

        def plain(tree, t, q, v, p):
            tau = pack(list(np.asarray(law(t, q, v, p), dtype=object).ravel()))
            if tau.shape != (robot.nv,):
                raise ArgumentError(
                    f"the traced controller gives {tau.size} torques; expected {robot.nv}, one for"
                    " each joint"
                )
            return (*self._motion(tree, t, q, v, tau, {}), tau)

        inputs = self._inputs(("parameters", size))
        formula = "" if controller is None else _digest(law, inputs)
        return kernels.kernel(robot, "controlled", plain, inputs, formula, *self._details)

    def _inputs(self, last: tuple[str, int]) -> dict[str, Shape | int]:
        return {"t": (), "q": self.robot.nq, "v": self.robot.nv, last[0]: last[1]}

    def _motion(
        self, tree: Tree, t: Any, q: Array, v: Array, tau: Array, wrenches: Mapping[str, Array]
    ) -> tuple[Array, Any]:
        total = applied(self.robot, self.elements, self.width, t, q, v, tau, wrenches)
        power = sum((x * y for x, y in zip(total, v)), 0.0)
        if self.robot.loops:
            return loops.forward_dynamics(tree, self.robot.loops, q, v, total)[0], power
        return recursive.forward_dynamics(tree, q, v, total), power


def check_start(robot: Robot, q: np.ndarray, torques: np.ndarray | None) -> None:
    """Refuse a start (B, nq) whose loops are open, and torques on passive joints."""
    if torques is not None:
        check_passive(robot, torques)
    if not robot.loops:
        return
    f = np.max(np.abs(loop_rows(robot)(q, np.zeros(robot.nv))[0]), axis=0)
    worst = int(np.argmax(f))
    if f[worst] > OPEN:
        name = loops.moving_rows(robot.tree, robot.loops)[worst][0]
        raise ArgumentError(
            f"loop {name!r} is open by {f[worst]:.3g} (m or rad) at the start; close it: q0 ="
            " arm.close_loops(robot, q0)"
        )


def _law(controller: Any, parameters: int) -> Callable:
    return (
        (lambda t, q, v, p: controller.formula(t, q, v, p))
        if parameters
        else (lambda t, q, v, p: controller.formula(t, q, v))
    )


def _digest(law: Callable, inputs: Mapping[str, Shape | int]) -> str:
    """Names a traced control law: the digest of its expression."""
    expression = trace(
        lambda t, q, v, p: np.asarray(law(t, q, v, p), dtype=object), inputs, name="controller"
    )
    return hashlib.sha256(expression.function.serialize().encode()).hexdigest()

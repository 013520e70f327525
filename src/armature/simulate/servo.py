"""The controller that runs a planned motion on the real (perturbed) robot (K7): planned
feed-forward + linear position servo."""

from __future__ import annotations

from typing import Any

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.recursion.friction import friction_torque
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot

FEED_FORWARD = ("model", "planned", "none")


class Servo:
    """τ = τ_planned(t) + K_p(q_planned − q) + K_d(q̇_planned − q̇), held within the joints' torque
    limits.

    robot: the model that the plan was made with.  plan: a Trajectory of its joints.
    stiffness: K_p, N·m/rad or N/m; damping: K_d, N·m·s/rad or N·s/m: a number, (n,), or (n, n); or
    functions of time that give (n, n).
    feed_forward: "model": what the model needs for the plan, friction included; "planned": the
    plan's own torques, straight between its knots; "none".
    """

    def __init__(
        self,
        robot: Robot,
        plan: Trajectory,
        stiffness: Any,
        damping: Any,
        feed_forward: str = "model",
        limited: bool = True,
    ):
        if feed_forward not in FEED_FORWARD:
            raise ArgumentError(
                f"feed_forward is {feed_forward!r}; use one of {', '.join(FEED_FORWARD)}"
            )
        if robot.nq != robot.nv:
            raise ArgumentError(
                f"robot {robot.name!r} has a floating base, which no servo drives; use"
                " ConstraintController"
            )
        if plan.n != robot.nv:
            raise ArgumentError(
                f"the plan moves {plan.n} joints, robot {robot.name!r} has {robot.nv}; plan with"
                " the same robot"
            )
        if feed_forward == "planned" and plan.tau is None:
            raise ArgumentError("the plan holds no torques; use feed_forward='model'")
        self.robot, self.plan, self.feed_forward = robot, plan, feed_forward
        self.stiffness, self.damping = (
            _gain(name, x, robot.nv) for name, x in (("stiffness", stiffness), ("damping", damping))
        )
        limits = _torque_limits(robot) if limited else np.full(robot.nv, np.inf)
        self._low, self._high = -limits, limits

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Joint torques and forces (n,)."""
        wanted = self.plan(t)
        K, D = (gain(t) if callable(gain) else gain for gain in (self.stiffness, self.damping))
        tau = self.planned(t) + K @ (wanted.q - q) + D @ (wanted.v - v)
        return np.clip(tau, self._low, self._high)

    def planned(self, t: float) -> np.ndarray:
        """The feed-forward torques (n,)."""
        if self.feed_forward == "none":
            return np.zeros(self.robot.nv)
        if self.feed_forward == "planned":
            assert self.plan.tau is not None
            return np.array([np.interp(t, self.plan.t, column) for column in self.plan.tau.T])
        q, v, a = self.plan(t)
        tau = inverse_dynamics(self.robot, q, v, a)
        return tau + friction_torque(self.robot, v, tau)


def _gain(name: str, value: Any, n: int) -> Any:
    if callable(value):
        return value
    array = np.asarray(value, dtype=float)
    if array.shape == (n, n):
        return array
    if array.shape not in ((), (n,)) or not np.all(array >= 0.0):
        raise ArgumentError(
            f"{name} is {value!r}; give a number ≥ 0, ({n},) of them, or a matrix ({n}, {n})"
        )
    return array * np.eye(n)


def _torque_limits(robot: Robot) -> np.ndarray:
    """Largest torque of each independent joint, (n,), infinite where there is none."""
    limits = np.full(robot.nv, np.inf)
    joints = {j.name: j for j in robot.joints}
    for body in robot.tree.bodies:
        if not body.mimic and body.name in joints:
            limits[body.v] = joints[body.name].limits.torque
    return limits

"""How far a motion stays from all limits at its knots, in one number: what `certify.margins` tells there, for many motions of one robot."""

from __future__ import annotations

import numpy as np

from armature.drive import Flow
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ASIDE
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.simulate.flows import drives_at

AT_REST = 1e-6  # of the greatest velocity


class Room:
    """The limits of a robot's joints and drives, laid out once."""

    def __init__(self, robot: Robot):
        self.robot, self.most = robot, bounds(robot)
        span = self.most.upper - self.most.lower
        self.span = np.where(np.isfinite(span), span, 1.0)
        self.laws: dict[tuple[str, bool], dict[int, float]] = {}  # {(quantity, mean): {axis: bound}}
        for axis, _, limit in robot.drivetrain.limits():
            self.laws.setdefault((limit.quantity, limit.mean), {})[axis] = limit.bound

    def __call__(self, motion: Trajectory) -> float:
        """The smallest margin at the knots, as a fraction of its limit; 1 without limits."""
        q, v, a, most, h = motion.q, np.array(motion.v), motion.a, self.most, np.diff(motion.t)[:, None]
        # just inside its ends joints that set out have done so, and friction is against them
        v[0] += ASIDE * h[0] * a[0]
        v[-1] -= ASIDE * h[-1] * a[-1]
        tau = np.asarray(inverse_dynamics(self.robot, q, v, a))
        drives = drives_at(self.robot, tau, v, a)
        used = [largest(x) / bound for x, bound in ((v, most.velocity), (a, most.acceleration), (drives.torque, most.torque))]
        for x, bound in ((a, most.jerk), (tau, most.torque_rate)):
            if np.isfinite(bound).any():
                used.append(np.maximum(largest(np.diff(x, axis=0) / h), self.setting_out(motion, x, h)) / bound)
        inside = np.minimum(q.min(0) - most.lower, most.upper - q.max(0)) / self.span
        return min(float(inside.min()), 1.0 - max(float(x.max()) for x in used), self.of_drives(motion, drives.together))

    def setting_out(self, motion: Trajectory, x: np.ndarray, h: np.ndarray) -> np.ndarray:
        """(n,) rates from standing before the motion to its first knot, and from its last to standing, in a step each."""
        rest = (np.abs(motion.v[[0, -1]]) <= AT_REST * np.abs(motion.v).max()).all(1)[:, None]
        zero = 0.0 * motion.v[[0, -1]]
        still = zero if x is motion.a else np.asarray(inverse_dynamics(self.robot, motion.q[[0, -1]], zero, zero))
        return largest((x[[0, -1]] - still) / h[[0, -1]] * rest)

    def of_drives(self, motion: Trajectory, together: Flow) -> float:
        """The smallest margin of the drives' limits. together: what the axes do at the knots, fields (K, axes)."""
        dt, least = np.diff(motion.t), np.inf
        for (quantity, mean), bound in self.laws.items():
            x = getattr(together, quantity)[:, [*bound]]
            values = dt @ (x[1:] + x[:-1]) / 2 / motion.duration if mean else largest(x)
            least = min(least, 1.0 - float((values / np.array([*bound.values()])).max()))
        return least


def largest(x: np.ndarray) -> np.ndarray:
    """(n,) greatest magnitudes of the columns."""
    return np.maximum(x.max(0), -x.min(0))

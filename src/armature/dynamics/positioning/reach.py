"""One damped step of a link towards a pose, compiled: what inverse kinematics and path following
iterate.

With the error e of the pose and the Jacobian J (positions divided by a length of the arm, so that
both are of order one),

(R1)  step = z + Jᵀ(J Jᵀ + λE)⁻¹(e − J z)      for arms with at least as many axes as the goal has
conditions,
      step = (JᵀJ + λE)⁻¹Jᵀe                   for those with fewer,
      λ = w e·e + ε: Levenberg–Marquardt with a damping that vanishes at the goal, hence quadratic
      convergence,

where z is a wish for the joints, of which the null space of J keeps what does not disturb the hand.
(R2)  the error of a rotation by θ about a unit vector u is 2 sin(θ/2) u = s/√((1 + c)/2), with
      s = ½ vee(E − Eᵀ), c = (tr E − 1)/2, E = R_goal Rᵀ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.dynamics import kernels
from armature.dynamics.recursion import kinematics
from armature.dynamics.recursion.mass import solve_positive
from armature.errors import ArgumentError
from armature.kernel import Kernel
from armature.motion.goal import Goal
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.tree import Body, Tree
from armature.spatial.numbers import sqrt
from armature.spatial.vectors import Array, pack

DAMPING, LEAST_DAMPING = 0.02, 1e-12
# singular values below this fraction of the largest count as zero, at configurations drawn at
# random
RANK = 1e-6


@dataclass(frozen=True, eq=False)
class Reach:
    """A link of a robot and the axes that move it.

    axes: (a,) indices in q.  rates: (a,) indices in v.  lower, upper: (a,).  periodic: (a,) a full
    turn changes nothing.
    length: m, by which positions are divided.  rank: of J at nearly all configurations.
    step: the kernel (x, rest, R, p, held, pull) → (step, cost, e, J).
    """

    robot: Robot
    link: str
    position_only: bool
    axes: np.ndarray
    rates: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    periodic: np.ndarray
    length: float
    rank: int
    step: Kernel

    @property
    def conditions(self) -> int:
        """How many numbers the goal gives: 3 or 6."""
        return 3 if self.position_only else 6

    @property
    def redundant(self) -> bool:
        """True when a pose leaves the axes some freedom."""
        return len(self.axes) > self.rank

    def full(self, x: np.ndarray, rest: np.ndarray) -> np.ndarray:
        """Coordinates (..., nq) with the moved axes x (..., a) put into `rest` (nq,)."""
        q = np.broadcast_to(rest, (*x.shape[:-1], len(rest))).copy()
        q[..., self.axes] = x
        return q

    def errors(self, x: np.ndarray, rest: np.ndarray, goal: Goal) -> tuple[np.ndarray, np.ndarray]:
        """Distance (...), m, and angle (...), rad, between the link's frame and the goal; angle 0
        where orientation is free."""
        _, _, e, _ = self.evaluate(x, rest, goal)
        distance = self.length * np.linalg.norm(e[..., :3], axis=-1)
        return distance, 2.0 * np.arcsin(np.minimum(1.0, np.linalg.norm(e[..., 3:], axis=-1) / 2.0))

    def evaluate(
        self, x: np.ndarray, rest: np.ndarray, goal: Goal, held: Any = 1.0, pull: Any = 0.0
    ) -> tuple[np.ndarray, ...]:
        """Step (..., a), cost e·e (...), e (..., c), J (..., c, a), the last two with positions
        divided by `length`."""
        full = lambda y: y if np.ndim(y) else np.full(len(self.axes), y)
        R = np.eye(3) if goal.R is None else goal.R
        return self.step(x, rest, R, goal.p, full(held), full(pull))


def reach(robot: Robot, link: str, position_only: bool) -> Reach:
    """What is needed to bring a link to a pose; made once for a robot and kept with it."""
    return kernels.keep(
        robot,
        ("reach", link, position_only),
        lambda: _reach(robot, kernels.link_frame(robot, link), position_only),
    )


def _reach(robot: Robot, link: str, position_only: bool) -> Reach:
    tree, limits = robot.tree, bounds(robot)
    moving = [tree.bodies[i] for i in tree.path(tree.frames[link].body)]
    masters = {body.q: body.v for body in moving if body.kind != "free"}
    if not masters:
        raise ArgumentError(
            f"link {link!r} of robot {robot.name!r} is moved by no joint; name a link that a joint"
            " moves"
        )
    axes, rates = np.array(list(masters)), np.array(list(masters.values()))
    length = (
        sum(float(np.linalg.norm(b.p)) for b in moving[1:])
        + float(np.linalg.norm(tree.frames[link].p))
        or 1.0
    )
    plain = _step(link, axes, rates, position_only, length)
    inputs = {
        "x": len(axes),
        "rest": tree.nq,
        "R": (3, 3),
        "p": 3,
        "held": len(axes),
        "pull": len(axes),
    }
    kernel = kernels.kernel(robot, "reach", plain, inputs, link, position_only, masses=False)
    periodic = np.array([_periodic([b for b in moving if b.q == k]) for k in axes])
    rank = _generic_rank(kernel, tree)
    return Reach(
        robot,
        link,
        position_only,
        axes,
        rates,
        limits.lower[rates],
        limits.upper[rates],
        periodic,
        length,
        rank,
        kernel,
    )


def _generic_rank(step: Kernel, tree: Tree) -> int:
    """The rank of J at configurations drawn at random."""
    rng, a = np.random.default_rng(1), step.inputs[0].size
    rest = kernels.random_configuration(tree, rng)
    J = step(rng.uniform(-1.0, 1.0, (8, a)), rest, np.eye(3), np.zeros(3), np.ones(a), np.zeros(a))[
        3
    ]
    sigma = np.linalg.svd(J, compute_uv=False)
    return int(np.max(np.sum(sigma > RANK * sigma[:, :1], axis=-1)))


def _periodic(bodies: list[Body]) -> bool:
    """A full turn of this coordinate turns every joint that follows it by full turns."""
    return all(b.kind == "revolute" and float(b.multiplier).is_integer() for b in bodies)


def _step(link: str, axes: Array, rates: Array, position_only: bool, length: float) -> Callable:
    """(R1) as a plain function of (tree, x, rest, R, p, held, pull); joints with held = 0 stay."""

    def plain(tree, x, rest, R, p, held, pull):
        q = np.array(rest)
        for k, axis in enumerate(axes):
            q[axis] = x[k]
        where = kinematics.link_pose(tree, q, link)
        full = kinematics.jacobian(tree, q, link, np.zeros(3))[:, rates]
        J, e = full[:3] / length, (p - where.p) / length
        if not position_only:
            J, e = np.concatenate([J, full[3:]]), np.concatenate([e, rotation_error(R @ where.R.T)])
        cost = sum(y * y for y in e)
        return _damped(J * held, e, pull * held, DAMPING * cost + LEAST_DAMPING), cost, e, J

    return plain


def rotation_error(E: Array) -> Array:
    """(R2)."""
    s = pack([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]]) * 0.5
    return s / sqrt((E[0, 0] + E[1, 1] + E[2, 2] + 1.0) / 4.0 + 1e-12)


def _damped(J: Array, e: Array, pull: Array, damping: Any) -> Array:
    rows, columns = J.shape
    if columns >= rows:
        return pull + J.T @ solve_positive(J @ J.T + damping * np.eye(rows), e - J @ pull)
    return solve_positive(J.T @ J + damping * np.eye(columns), J.T @ e)

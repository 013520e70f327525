"""Holonomic constraints f(q, t) = 0 of any form (Z5): Python functions of symbols, and ready-made
ones.

A constraint is data: its equations, and the reference that they follow in time (the time itself, or
a sampled motion). The equations of the ready-made ones are functions of this module with their data
bound, so that constraints can be pickled and copied."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from armature.annotations import Number, Numbers
from armature.dynamics.recursion.kinematics import link_pose
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.robot import guard
from armature.robot.model import Robot
from armature.spatial.vectors import Array, cross, dot, pack

Reference = Callable[[Any], tuple[Any, Any, Any]]  # t (...) → r, ṙ, r̈, each (..., k)


def _time_itself(t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """r = t: the reference of a constraint that is a formula of time."""
    t = np.asarray(t, dtype=float)[..., None]
    return t, np.ones_like(t), np.zeros_like(t)


@dataclass(frozen=True)
class Constraint:
    """Equations f(q, r(t)) = 0.

    name: what messages call it.  function(robot, q, r): the equations (m,) on symbols (or numbers),
    q (nq,), r (k,).
    reference: t (...) → r, ṙ, r̈ (..., k); the time itself (k = 1) by default.  size: k.
    """

    name: str
    function: Callable[[Robot, Array, Array], Any]
    reference: Reference = _time_itself
    size: int = 1

    def equations(self, robot: Robot, q: Number, r: Number) -> Array:
        """f (m,)."""
        return pack(list(np.asarray(self.function(robot, q, r), dtype=object).ravel()))


def constraint(function: Callable[[Array, Any], Any], name: str = "") -> Constraint:
    """A constraint f(q, t) = 0 given as a Python function of q (nq,) and t (s) that returns m
    equations.

    It is called once with symbols: arithmetic, `@`, np.sin and the like work; no `if` on values.
    """
    return Constraint(name or getattr(function, "__name__", "f"), _Formula(function))


@dataclass(frozen=True)
class _Formula:
    """f(q, t) as equations of a robot; equal when the function is the same, so that it is traced
    once."""

    function: Callable

    def __call__(self, robot: Robot, q: Array, r: Array) -> Any:
        return self.function(q, r[0])


def together(*constraints: Constraint) -> Constraint:
    """All equations of several constraints as one."""
    if not constraints:
        raise ArgumentError("together() needs at least one constraint")
    joined = _Together(constraints)
    return Constraint(
        " and ".join(c.name for c in constraints),
        joined,
        joined.reference,
        sum(c.size for c in constraints),
    )


@dataclass(frozen=True)
class _Together:
    """The equations and references of several constraints, one after the other."""

    parts: tuple[Constraint, ...]

    def __call__(self, robot: Robot, q: Array, r: Array) -> Array:
        edges = np.cumsum([0, *(c.size for c in self.parts)])
        return np.concatenate(
            [c.equations(robot, q, r[a:b]) for c, a, b in zip(self.parts, edges, edges[1:])]
        )

    def reference(self, t: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """r, ṙ, r̈ of all parts."""
        r, dr, ddr = zip(*(c.reference(t) for c in self.parts))
        return np.concatenate(r, axis=-1), np.concatenate(dr, axis=-1), np.concatenate(ddr, axis=-1)


def as_constraint(given: Any) -> Constraint:
    """A Constraint, a function f(q, t), or a sequence of such, as one Constraint."""
    if isinstance(given, Constraint):
        return given
    if callable(given):
        return constraint(given)
    if isinstance(given, Sequence) and given:
        return together(*(as_constraint(c) for c in given))
    raise ArgumentError(
        "a constraint is a Constraint, a function f(q, t), or a list of them; got"
        f" {type(given).__name__}"
    )


# ready-made --------------------------------------------------------------------------------------


def _place(robot: Robot, q: Array, link: str, at: Array) -> tuple[Array, Array]:
    """Orientation of a link and position of its point, world axes."""
    guard.known("link", link, robot.tree.frames)
    pose = link_pose(robot.tree, q, link)
    return pose.R, pose.p + pose.R @ at


def _point(at: Any) -> np.ndarray:
    return np.zeros(3) if at is None else guard_vector("at", at)


def guard_vector(what: str, value: Any) -> np.ndarray:
    """Three finite numbers."""
    return np.array(guard.vector(what, value, 3))


def joint_motion(motion: Trajectory | Callable[[Any], Any]) -> Constraint:
    """q = motion(t): all joints follow a Trajectory, or a function of the symbol t that returns
    (nq,)."""
    if isinstance(motion, Trajectory):
        return Constraint("joint motion", _joints_follow, motion, motion.q.shape[1])
    return Constraint("joint motion", partial(_joints_follow_formula, motion))


def _joints_follow(robot: Robot, q: Array, r: Array) -> Array:
    return q - r


def _joints_follow_formula(motion: Callable, robot: Robot, q: Array, r: Array) -> Array:
    return q - pack(list(motion(r[0])))


def couple_joints(coefficients: Mapping[str, float], offset: float = 0.0) -> Constraint:
    """Σ coefficient · coordinate of the named joints = offset."""
    weights = {
        name: guard.number(f"coefficient of joint {name!r}", c) for name, c in coefficients.items()
    }
    return Constraint("coupling of " + ", ".join(weights), partial(_coupled, weights, offset))


def _coupled(weights: Mapping[str, float], offset: float, robot: Robot, q: Array, r: Array) -> list:
    first = {b.name: b for b in robot.tree.bodies if b.kind != "free" and not b.mimic}
    return [
        sum(
            (c * q[first[guard.known("joint", name, first)].q] for name, c in weights.items()),
            -offset,
        )
    ]


def follow_point(
    link: str, motion: Callable[[Any], Any], at: Any = None, sampled: bool = False
) -> Constraint:
    """A point of a link follows motion(t) (3,), world axes, m.

    at: the point in the link's frame (3,), m.  sampled: motion(t) is numeric and returns position,
    velocity and acceleration (..., 3); otherwise it is a formula of the symbol t.
    """
    point = _point(at)
    if sampled:
        return Constraint(f"point of {link}", partial(_point_follows, link, point), motion, 3)
    return Constraint(f"point of {link}", partial(_point_follows_formula, link, point, motion))


def _point_follows(link: str, point: Array, robot: Robot, q: Array, r: Array) -> Array:
    return _place(robot, q, link, point)[1] - r


def _point_follows_formula(
    link: str, point: Array, motion: Callable, robot: Robot, q: Array, r: Array
) -> Array:
    return _place(robot, q, link, point)[1] - pack(list(motion(r[0])))


def follow_pose(link: str, motion: Callable[[Any], tuple[Any, Any]], at: Any = None) -> Constraint:
    """A link follows motion(t) → (R (3, 3), p (3,)), a formula of the symbol t: six equations,
    world axes.

    The error of orientation is ½ Σ of the cross products of wanted and actual axes: sin(angle)
    about its axis."""
    return Constraint(f"pose of {link}", partial(_pose_follows_formula, link, _point(at), motion))


def _pose_follows_formula(
    link: str, point: Array, motion: Callable, robot: Robot, q: Array, r: Array
) -> Array:
    R, p = _place(robot, q, link, point)
    wanted_R, wanted_p = motion(r[0])
    return np.concatenate([p - np.asarray(wanted_p), orientation_error(R, np.asarray(wanted_R))])


def keep_orientation(link: str, rotation: Any) -> Constraint:
    """A link keeps an orientation (3, 3): three equations."""
    return Constraint(
        f"orientation of {link}",
        partial(_oriented, link, np.array(guard.rotation("rotation", rotation))),
    )


def _oriented(link: str, wanted: Array, robot: Robot, q: Array, r: Array) -> Array:
    return orientation_error(_place(robot, q, link, np.zeros(3))[0], wanted)


def orientation_error(R: Array, wanted: Array) -> Array:
    """½ Σ wanted axis × actual axis (3,): the sine of the angle between them along its axis."""
    x, y, z = (cross(wanted[:, k], R[:, k]) for k in range(3))
    return 0.5 * (x + y + z)


def on_surface(link: str, surface: Callable[[Array], Any], at: Any = None) -> Constraint:
    """A point of a link stays on surface(p) = 0, a formula of its position p (3,), world axes,
    m."""
    return Constraint(
        f"point of {link} on a surface", partial(_on_surface, link, _point(at), surface)
    )


def _on_surface(
    link: str, point: Array, surface: Callable, robot: Robot, q: Array, r: Array
) -> list:
    return [surface(_place(robot, q, link, point)[1])]


def on_line(link: str, through: Any, direction: Any, at: Any = None) -> Constraint:
    """A point of a link stays on the line through a point (3,) along a direction (3,), world axes:
    two equations."""
    point, start, along = (
        _point(at),
        guard_vector("through", through),
        np.array(guard.unit("direction", direction)),
    )
    across = np.linalg.svd(along[None, :])[2][1:]
    return Constraint(f"point of {link} on a line", partial(_on_line, link, point, start, across))


def _on_line(
    link: str, point: Array, start: Array, across: Array, robot: Robot, q: Array, r: Array
) -> list:
    p = _place(robot, q, link, point)[1]
    return [dot(row, p - start) for row in across]


def points_meet(
    link_a: str, at_a: Any, link_b: str, at_b: Any, along: Numbers | None = None
) -> Constraint:
    """A point of one link coincides with a point of another: closes a loop (three equations, a ball
    joint).

    along: (m, 3) world directions in which they shall meet; by default all three. A planar loop
    needs the two of its plane."""
    rows = np.eye(3) if along is None else np.atleast_2d(np.asarray(along, dtype=float))
    return Constraint(
        f"{link_a} meets {link_b}",
        partial(_points_meet, link_a, _point(at_a), link_b, _point(at_b), rows),
    )


def _points_meet(
    link_a: str, a: Array, link_b: str, b: Array, rows: Array, robot: Robot, q: Array, r: Array
) -> Array:
    return rows @ (_place(robot, q, link_a, a)[1] - _place(robot, q, link_b, b)[1])

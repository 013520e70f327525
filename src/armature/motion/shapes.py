"""Lines, circles, screws, polylines and splines of the hand, and paths of the joints.

Points are (3,) arrays in m; a pose instead of a point, in any notation of `arm.inverse_kinematics`,
fixes the orientation too."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np

from armature.errors import ArgumentError
from armature.motion.goal import Goal, as_goal
from armature.motion.path import Helix, JointPath, Path, QuaternionCurve, Turns
from armature.motion.piecewise import Piecewise
from armature.motion.rotation import log, to_quaternion
from armature.motion.waypoints import load_waypoints

# m: a turn by one radian counts as long as the way of a point so far from the axis
ROTATION_ARM = 0.1


def line(start: Any, end: Any) -> Path:
    """A straight line from one point or pose to another; between poses the hand turns evenly about
    one axis."""
    return polyline([start, end])


def circle(
    start: Any, centre: Any, normal: Any, angle: float = 2 * np.pi, turning: bool = False
) -> Path:
    """An arc (by default a full circle) from a point or pose, about a centre (3,) and a normal
    (3,), by `angle` (rad, right-handed).

    turning: a given orientation turns with the circle; otherwise it stays as it is.
    """
    return screw(start, centre, normal, angle, 0.0, turning)


def arc(start: Any, via: Any, end: Any) -> Path:
    """The circular arc from start through via to end, points or poses; the hand turns evenly from
    the first pose to the last."""
    a, b, c = (as_goal(x) for x in (start, via, end))
    u, v = b.p - a.p, c.p - a.p
    n = np.cross(u, v)
    if np.linalg.norm(n) <= 1e-9 * np.linalg.norm(u) * np.linalg.norm(v) or not np.any(u):
        raise ArgumentError(
            "the three points of the arc are on one line; use line(), or move the middle one"
        )
    centre = a.p + np.cross(v * (u @ u) - u * (v @ v), n) / (2 * (n @ n))
    x, y = a.p - centre, np.cross(n / np.linalg.norm(n), a.p - centre)
    angle = float(np.arctan2((c.p - centre) @ y, (c.p - centre) @ x)) % (2 * np.pi)
    position = screw(a.p, centre, n, angle, 0.0).position
    return Path(position, _even_turn(a.R, c.R, "the arc"))


def screw(
    start: Any, centre: Any, axis: Any, angle: float, advance: float, turning: bool = True
) -> Path:
    """A screw motion from a point or pose about the axis (3,) through `centre` (3,), by `angle`
    (rad), going `advance` (m) along it.

    turning: a given orientation turns with the screw; otherwise it stays as it is.
    """
    goal, c, n = as_goal(start), _vector(centre, "the centre"), _vector(axis, "the axis")
    if np.linalg.norm(n) == 0.0:
        raise ArgumentError("the axis of the circle or screw is (0, 0, 0); give its direction")
    n = n / np.linalg.norm(n)
    r = goal.p - c
    r = r - n * (n @ r)
    if not np.isfinite(angle * advance) or (
        np.linalg.norm(r) * abs(angle) + abs(advance) == 0.0 and (goal.R is None or not turning)
    ):
        away = np.linalg.norm(r)
        raise ArgumentError(
            f"a screw by {angle:g} rad and {advance:g} m, {away:g} m from its axis, has no length;"
            " move the start"
        )
    helix = Helix(goal.p - r, r, np.cross(n, r), advance * n, float(angle))
    rotation = None if goal.R is None else _turn(goal.R, n * angle if turning else np.zeros(3))
    return Path(helix, rotation)


def polyline(points: Any, blend: float = 0.0) -> Path:
    """Straight lines through points (k, 3), poses, or those of a CSV file; corners rounded from
    `blend` m before to as far after.

    A blend is shortened to half of the shorter neighbour. With (d₁ − d₀) the change of direction, σ
    from 0 to ℓ = 2 blend, it follows x'' = (d₁ − d₀) 6σ(ℓ − σ)/ℓ³: direction and curvature are
    continuous. Without a blend the corners are in `path.corners`."""
    goals = _goals(points)
    x, R = np.array([g.p for g in goals]), _rotations(goals)
    steps = np.diff(x, axis=0)
    turns = np.zeros_like(steps) if R is None else log(R[1:] @ R[:-1].transpose(0, 2, 1))
    sizes = _sizes(steps, turns)
    if not np.isfinite(blend) or blend < 0.0:
        raise ArgumentError(f"the blend is {blend:g} m; give a distance ≥ 0")
    radii = np.zeros(len(x))
    radii[1:-1] = np.minimum(blend, np.minimum(sizes[:-1], sizes[1:]) / 2)
    return _legs(x, R, steps / sizes[:, None], turns / sizes[:, None], sizes, radii)


def _legs(
    x: np.ndarray,
    R: np.ndarray | None,
    d: np.ndarray,
    e: np.ndarray,
    sizes: np.ndarray,
    radii: np.ndarray,
) -> Path:
    """Straight pieces x_i + d a, a = r + σ, and blends x_i + d₀ a(σ) + d₁ b(σ), b'' = g, a = σ − r
    − b; rotations likewise."""
    base, first, second, angles, lengths = [], [], [], [], []
    for i in range(len(sizes)):
        r = radii[i]
        if r > 0.0:
            base, first, second = [*base, i], [*first, i - 1], [*second, i]
            bump = np.array(
                [0.0, 0.0, 0.0, 1.0 / (4 * r * r), -1.0 / (16 * r**3)]
            )  # (σ³ℓ − σ⁴/2)/ℓ³, ℓ = 2r
            angles.append(np.column_stack([np.array([-r, 1.0, 0.0, 0.0, 0.0]) - bump, bump]))
            lengths.append(2 * r)
        straight = sizes[i] - radii[i] - radii[i + 1]
        if straight > 1e-12 * sizes[i]:
            base, first, second = [*base, i], [*first, i], [*second, i]
            angles.append(np.array([[r, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]))
            lengths.append(straight)
    total = sum(lengths)
    breaks = np.concatenate([[0.0], np.cumsum(lengths) / total])
    breaks[-1] = 1.0
    ab = np.array(angles) * total ** np.arange(5)[:, None]  # σ = total · p
    c = ab[..., :1] * d[first][:, None, :] + ab[..., 1:] * d[second][:, None, :]
    c[:, 0] += x[base]
    rotation = None if R is None else Turns(e[first], e[second], R[base], Piecewise(breaks, ab))
    ends = np.cumsum(sizes)[:-1] / total
    bend = np.abs(np.diff(d, axis=0)).max(-1, initial=0.0) + np.abs(np.diff(e, axis=0)).max(
        -1, initial=0.0
    )
    sharp = (radii[1:-1] == 0.0) & (bend > 1e-9)
    return Path(Piecewise(breaks, c), rotation, tuple(float(p) for p in ends[sharp]))


def spline(points: Any, closed: bool = False) -> Path:
    """The smooth curve (cubic, continuous curvature) through points (k, 3), poses, or those of a
    CSV file; closed: back to the first.

    p is spread by the distances between the points. Orientations are a spline of quaternions, made
    of unit length."""
    goals = _goals(points)
    if closed and np.linalg.norm(goals[-1].p - goals[0].p) > 0.0:
        goals = [*goals, goals[0]]
    x, R = np.array([g.p for g in goals]), _rotations(goals)
    turns = np.zeros((len(x) - 1, 3)) if R is None else log(R[1:] @ R[:-1].transpose(0, 2, 1))
    sizes = _sizes(np.diff(x, axis=0), turns)
    p = np.concatenate([[0.0], np.cumsum(sizes)]) / sizes.sum()
    p[-1] = 1.0
    if closed:
        x[-1] = x[0]
    return Path(Piecewise.spline(p, x, closed), None if R is None else _quaternions(p, R, closed))


def _quaternions(p: np.ndarray, R: np.ndarray, closed: bool) -> QuaternionCurve:
    """A spline through the quaternions, each with the sign nearest to the one before."""
    Q = to_quaternion(R)
    for k in range(1, len(Q)):
        Q[k] *= 1.0 if Q[k] @ Q[k - 1] >= 0.0 else -1.0
    return QuaternionCurve(Piecewise.spline(p, Q, closed and bool(np.allclose(Q[0], Q[-1]))))


def joint_path(waypoints: Any, joint_names: Sequence[str] = (), p: Any = None) -> JointPath:
    """The smooth curve through configurations (k, n); two give a straight line. p: (k,) their
    places from 0 to 1, else by distance."""
    q = np.asarray(waypoints, dtype=float)
    if q.ndim != 2 or len(q) < 2 or not np.all(np.isfinite(q)):
        raise ArgumentError(
            f"the waypoints have shape {q.shape}; give at least two configurations (k, n) of finite"
            " numbers"
        )
    if p is None:
        sizes = np.linalg.norm(np.diff(q, axis=0), axis=1)
        if np.any(sizes == 0.0):
            raise ArgumentError(
                f"waypoints {int(np.argmin(sizes))} and {int(np.argmin(sizes)) + 1} are the same;"
                " leave one out"
            )
        p = np.concatenate([[0.0], np.cumsum(sizes)]) / sizes.sum()
    p = np.asarray(p, dtype=float)
    if (
        p.shape != (len(q),)
        or np.any(np.diff(p) <= 0)
        or abs(p[0]) > 1e-12
        or abs(p[-1] - 1) > 1e-12
    ):
        raise ArgumentError("the places p of the waypoints must increase from 0 to 1, one for each")
    return JointPath(Piecewise.spline(p, q), tuple(joint_names))


# parts -------------------------------------------------------------------------------------------


def _goals(points: Any) -> list[Goal]:
    """Points or poses, or those of a file, as goals; at least two."""
    if isinstance(points, (str, PathLike)):
        points = load_waypoints(points)
    try:
        goals = [x if isinstance(x, Goal) else as_goal(x) for x in points]
    except TypeError:
        raise ArgumentError(
            f"{points!r} is not a sequence of points; give points (k, 3), poses, or the path of a"
            " CSV file"
        ) from None
    if len(goals) < 2:
        raise ArgumentError(f"a path needs at least two points, got {len(goals)}")
    return goals


def _rotations(goals: list[Goal]) -> np.ndarray | None:
    """The orientations (k, 3, 3), or None where no point has one; one given at the start alone
    holds throughout."""
    given = [g.R for g in goals]
    if given[0] is not None and all(R is None for R in given[1:]):
        given = [given[0]] * len(goals)
    if all(R is None for R in given):
        return None
    for k, R in enumerate(given):
        if R is None:
            raise ArgumentError(
                f"point {k} has no orientation but others have; give all of them, or the first one"
                " only"
            )
    return np.array(given)


def _sizes(steps: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """How long each step counts: √(distance² + (0.1 m · angle)²)."""
    sizes = np.hypot(np.linalg.norm(steps, axis=1), ROTATION_ARM * np.linalg.norm(turns, axis=1))
    if np.any(sizes < 1e-12):
        k = int(np.argmin(sizes))
        raise ArgumentError(f"points {k} and {k + 1} of the path are the same; leave one out")
    return sizes


def _turn(R: np.ndarray, angle: np.ndarray) -> Turns:
    """R(p) = exp(angle · p) R."""
    once = Piecewise(np.array([0.0, 1.0]), np.array([[[0.0, 0.0], [1.0, 0.0]]]))
    return Turns(angle[None], np.zeros((1, 3)), R[None], once)


def _even_turn(R0: np.ndarray | None, R1: np.ndarray | None, what: str) -> Turns | None:
    """From one orientation to the other about one axis; the first alone stays."""
    if R0 is None:
        if R1 is not None:
            raise ArgumentError(
                f"the end of {what} has an orientation but its start has none; give both, or the"
                " start's only"
            )
        return None
    return _turn(R0, np.zeros(3) if R1 is None else log(R1 @ R0.T))


def _vector(x: Any, what: str) -> np.ndarray:
    try:
        v = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        v = np.empty(0)
    if v.shape != (3,) or not np.all(np.isfinite(v)):
        raise ArgumentError(f"{what} is {x!r}; give three finite numbers")
    return v

"""Starting motions (B5): plain motions between configurations, the straight line of the hand, an
earlier motion at another duration.

All are Trajectories of N + 1 knots; s = t/T runs from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from armature.dynamics import compiled
from armature.dynamics.positioning.follow import follow
from armature.dynamics.positioning.reach import reach
from armature.errors import ArgumentError
from armature.motion.path import JointPath
from armature.motion.piecewise import Piecewise
from armature.motion.shapes import line
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot

# rad or m: how far the end of a followed line may be from the goal of an arm without freedom
SAME_BRANCH = 1e-4


def joint_cubic(
    start: Any,
    goal: Any,
    duration: float,
    intervals: int = 100,
    *,
    velocities: Any = (0.0, 0.0),
    joint_names: Sequence[str] = (),
) -> Trajectory:
    """The cubic in time between configurations (n,), with given velocities at the ends ((n,) or a
    number each); the papers' baseline."""
    q0, q1, T = _ends(start, goal, duration)
    v0, v1 = (np.broadcast_to(np.asarray(v, dtype=float), q0.shape) * T for v in velocities)
    d = q1 - q0
    return _polynomial([q0, v0, 3 * d - 2 * v0 - v1, v0 + v1 - 2 * d], T, intervals, joint_names)


def joint_quintic(
    start: Any,
    goal: Any,
    duration: float,
    intervals: int = 100,
    *,
    velocities: Any = (0.0, 0.0),
    joint_names: Sequence[str] = (),
) -> Trajectory:
    """The polynomial of fifth degree with given end velocities and no acceleration at either
    end."""
    q0, q1, T = _ends(start, goal, duration)
    v0, v1 = (np.broadcast_to(np.asarray(v, dtype=float), q0.shape) * T for v in velocities)
    d = q1 - q0
    c = [q0, v0, 0.0 * d, 10 * d - 6 * v0 - 4 * v1, 8 * v0 + 7 * v1 - 15 * d, 6 * d - 3 * (v0 + v1)]
    return _polynomial(c, T, intervals, joint_names)


def _polynomial(c: list[np.ndarray], T: float, intervals: int, names: Sequence[str]) -> Trajectory:
    """Σ c_k s^k over a duration T."""
    s = np.linspace(0.0, 1.0, _count(intervals) + 1)
    q, v, a = Piecewise(np.array([0.0, 1.0]), np.array(c)[None])(s, 2)
    return Trajectory(T * s, q, v / T, a / T**2, tuple(names), interpolation="hermite")


def joint_trapezoid(
    start: Any,
    goal: Any,
    duration: float,
    intervals: int = 100,
    *,
    ramp: float = 1 / 3,
    joint_names: Sequence[str] = (),
) -> Trajectory:
    """Constant acceleration for the part `ramp` of the time, constant velocity, the same
    deceleration; all joints together.

    The knots are uniform, and at both ends of the ramps: the motion between the knots is then
    exact."""
    q0, q1, T = _ends(start, goal, duration)
    if not 0.0 < ramp <= 0.5:
        raise ArgumentError(
            f"the ramp is {ramp:g} of the duration; give a number above 0 and at most 0.5"
        )
    s = np.union1d(np.linspace(0.0, 1.0, _count(intervals) + 1), [ramp, 1.0 - ramp])
    s = s[np.concatenate([[True], np.diff(s) > 1e-9])]
    top = 1.0 / (1.0 - ramp)
    left = np.minimum(s, 1.0 - s)  # the second half mirrors the first
    half = np.where(left < ramp, top * left**2 / (2 * ramp), top * (left - ramp / 2))
    law = np.where(s <= 0.5, half, 1.0 - half)
    rate = top * np.minimum(left / ramp, 1.0)
    ahead = np.where(
        s < ramp - 1e-12, top / ramp, np.where(s < 1.0 - ramp - 1e-12, 0.0, -top / ramp)
    )  # holds from this knot on
    column = lambda x, scale: x[:, None] * (q1 - q0) / scale
    return Trajectory(
        T * s,
        q0 + column(law, 1.0),
        column(rate, T),
        column(ahead, T**2),
        tuple(joint_names),
        interpolation="held",
    )


def through(
    points: Any,
    duration: float,
    intervals: int = 100,
    *,
    times: Any = None,
    velocities: Any = (0.0, 0.0),
    joint_names: Sequence[str] = (),
) -> Trajectory:
    """The smooth motion (cubic spline, given end velocities) through configurations (k, n).

    times: (k,) when each is passed, s, from 0 to the duration; without them by the distances
    between the configurations. They take the places of the nearest of the even knots, so that the
    motion passes every point exactly, as the certificate asks (1e-6)."""
    q = np.asarray(points, dtype=float)
    if q.ndim != 2 or len(q) < 2 or not np.all(np.isfinite(q)):
        raise ArgumentError(
            f"the points have shape {q.shape}; give at least two configurations (k, n) of finite"
            " numbers"
        )
    _, _, T = _ends(q[0], q[-1], duration)
    if times is None:
        sizes = np.maximum(np.linalg.norm(np.diff(q, axis=0), axis=1), 1e-3)
        times = np.concatenate([[0.0], np.cumsum(sizes)]) * (T / sizes.sum())
    t = np.asarray(times, dtype=float)
    if (
        t.shape != (len(q),)
        or np.any(np.diff(t) <= 0.0)
        or abs(t[0]) > 1e-9
        or abs(t[-1] - T) > 1e-9 * T
    ):
        raise ArgumentError(
            f"the passing times must increase from 0 to {T:g} s, one for each of the {len(q)}"
            " points"
        )
    from scipy.interpolate import CubicSpline

    v0, v1 = (np.broadcast_to(np.asarray(v, dtype=float), q[0].shape) for v in velocities)
    curve = CubicSpline(t, q, bc_type=((1, v0), (1, v1)))  # type: ignore[arg-type]
    even = np.linspace(0.0, T, _count(intervals) + 1)
    at = np.sort(np.concatenate([np.delete(even, np.rint(t / T * intervals).astype(int)), t]))
    return Trajectory(
        at, curve(at), curve(at, 1), curve(at, 2), tuple(joint_names), interpolation="hermite"
    )


LAWS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]] = {
    "linear": lambda s: (s, np.ones_like(s), np.zeros_like(s)),
    "cubic": lambda s: (s * s * (3 - 2 * s), 6 * s * (1 - s), 6 - 12 * s),
    "quintic": lambda s: (
        s**3 * (10 - 15 * s + 6 * s * s),
        30 * (s * (1 - s)) ** 2,
        60 * s * (1 - s) * (1 - 2 * s),
    ),
}


def along(
    path: JointPath, duration: float, intervals: int = 100, law: str = "quintic"
) -> Trajectory:
    """A joint path in time: p follows the "linear", "cubic" or "quintic" law. q̇ = q'ṗ, q̈ = q''ṗ²
    + q'p̈."""
    if law not in LAWS:
        raise ArgumentError(f"the law {law!r} is not known; use one of {', '.join(LAWS)}")
    T = _duration(duration)
    s = np.linspace(0.0, 1.0, _count(intervals) + 1)
    p, dp, ddp = (x[:, None] for x in LAWS[law](s))
    at = path(np.clip(p[:, 0], 0.0, 1.0))
    return Trajectory(
        T * s,
        at.q,
        at.dq * dp / T,
        (at.ddq * dp**2 + at.dq * ddp) / T**2,
        path.joint_names,
        interpolation="hermite",
    )


def hand_line(
    robot: Robot,
    start: Any,
    goal: Any,
    duration: float,
    intervals: int = 100,
    *,
    link: str | None = None,
    law: str = "quintic",
) -> Trajectory:
    """The straight line of the hand from configuration `start` to `goal` (n,), by inverse
    kinematics along it.

    link: the hand; by default the tip of a chain. The orientation is led too where the arm has six
    axes or more. The joints of a redundant arm are led to the goal within their freedom, which may
    take the hand off the line by what is left. An ArgumentError tells why
    where there is no such motion: out of reach, singular, out of range, or ending in another branch
    than the goal."""
    q0, q1, T = _ends(start, goal, duration)
    link = link or robot.tip
    free = len(reach(robot, link, True).axes) < 6
    ends = [compiled.pose(robot, q, link) for q in (q0, q1)]
    path = line(*(e.p for e in ends)) if free else line(*ends)
    found = follow(robot, path, link, start=q0, home=q1, pull=5.0)
    joints = found.path  # raises with the reason
    left = q1 - found.q[-1]
    if np.abs(left).max() > (1.0 if reach(robot, link, free).redundant else SAME_BRANCH):
        k = int(np.argmax(np.abs(left)))
        raise ArgumentError(
            f"the straight line of {link!r} ends in another branch than the goal: joint"
            f" {robot.joint_names[k]!r} at {found.q[-1, k]:.4g}, not {q1[k]:.4g}; start from a"
            " joint motion"
        )
    return along(_shifted(joints, left), T, intervals, law)


def _shifted(path: JointPath, left: np.ndarray) -> JointPath:
    """q(p) + p³(10 − 15p + 6p²) · left: to the goal, without touching the start's derivatives or
    the end's."""
    p = path.breaks
    at, (s, ds, dds) = path(p), (x[:, None] for x in LAWS["quintic"](p))
    return JointPath(
        Piecewise.hermite(p, at.q + s * left, at.dq + ds * left, at.ddq + dds * left),
        path.joint_names,
    )


def stretched(motion: Trajectory, duration: float) -> Trajectory:
    """The same motion over another duration: velocities by T₀/T, accelerations by its square;
    torques and signals are dropped."""
    scale = motion.duration / _duration(duration)
    t = (motion.t - motion.t[0]) / scale
    return Trajectory(
        t,
        motion.q,
        motion.v * scale,
        motion.a * scale**2,
        motion.joint_names,
        interpolation=motion.interpolation,
    )


def resampled(
    motion: Trajectory, duration: float | None = None, intervals: int = 100
) -> Trajectory:
    """An earlier motion with uniform knots, at another duration if one is given."""
    scaled = stretched(motion, motion.duration if duration is None else duration)
    return scaled.resample(np.linspace(0.0, scaled.duration, _count(intervals) + 1))


def held(motion: Trajectory, intervals: int = 100) -> Trajectory:
    """The nearest motion with constant accelerations between uniform knots (K1), which meets both
    ends exactly in position and velocity.

    The mean accelerations of each interval, and the least change (in squares) that brings the last
    position where it belongs."""
    N = _count(intervals)
    t = np.linspace(0.0, motion.duration, N + 1)
    at, h = motion(motion.t[0] + t), motion.duration / N
    a = np.diff(at.v, axis=0) / h
    ahead = (
        motion.duration - t[:-1] - h / 2
    )  # what an acceleration of the interval brings at the end, per h
    missing = at.q[-1] - at.q[0] - at.v[0] * motion.duration - h * ahead @ a
    weights = ahead - ahead.mean()
    if N > 1:
        a = a + np.outer(weights, missing) / (h * weights @ weights)
    v = at.v[0] + np.concatenate([np.zeros((1, a.shape[1])), np.cumsum(a, axis=0)]) * h
    q = at.q[0] + np.concatenate(
        [np.zeros((1, a.shape[1])), np.cumsum((v[:-1] + v[1:]) * (h / 2), axis=0)]
    )
    return Trajectory(t, q, v, np.vstack([a, a[-1:]]), motion.joint_names, interpolation="held")


# arguments ---------------------------------------------------------------------------------------


def _ends(start: Any, goal: Any, duration: float) -> tuple[np.ndarray, np.ndarray, float]:
    q0, q1 = (np.asarray(x, dtype=float) for x in (start, goal))
    if q0.ndim != 1 or q0.shape != q1.shape or not np.all(np.isfinite([q0, q1])):
        raise ArgumentError(
            f"start and goal have shapes {q0.shape} and {q1.shape}; give two configurations (n,) of"
            " finite numbers"
        )
    return q0, q1, _duration(duration)


def _duration(duration: float) -> float:
    if not 0.0 < duration < np.inf:
        raise ArgumentError(f"the duration is {duration!r} s; give a number above 0")
    return float(duration)


def _count(intervals: int) -> int:
    if intervals != int(intervals) or intervals < 1:
        raise ArgumentError(
            f"the number of intervals is {intervals!r}; give a whole number of at least 1"
        )
    return int(intervals)

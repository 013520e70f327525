"""The durations in which a geometric motion can be run, all of them, exactly (K6).

With s = t/T and x = 1/T a motion q(s) needs, at every s,

(T1)  q̇ = q'x,  q̈ = q''x²,  torque = A x² + G (+ c q'x of viscous friction + dry friction),  A = M
q'' + (Coriolis terms of q'), (T2)  currents and voltages quadratic in x, heat quartic, jerk and
torque rate cubic,

with corners in x where the power through a gear or a load-dependent friction changes its direction.
The laws are the drives' own: between the corners they are polynomials, which three values
determine. Limits then forbid intervals of x, and what they leave free is the
answer: it may have several parts (a motion may be too slow to hold its load, or too fast for its
motors)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.errors import ArgumentError, check_count
from armature.motion.path import JointPath
from armature.motion.trajectory import Trajectory
from armature.optimize.scaling.duration_limits import DurationLimits, Reason
from armature.optimize.scaling.polynomial_sets import gaps
from armature.optimize.transcription.guess import stretched
from armature.robot.model import Robot


@dataclass(frozen=True, eq=False)
class TimeScaling:
    """The durations in which a motion can be run.

    intervals: ((shortest, longest), …), s, increasing; the last may be infinite.  reasons: for
    each, what forbids to be any faster.
    message: in one sentence.  exact: False where a law is no polynomial (Stribeck's friction,
    efficiency tables): then close, not exact.
    reason: where there is no interval, the limit that is exceeded least but always, with its excess
    at the duration `best`, s."""

    motion: Trajectory
    intervals: tuple[tuple[float, float], ...]
    reasons: tuple[Reason | None, ...]
    message: str
    exact: bool
    reason: Reason | None = None
    best: float = float("nan")

    @property
    def ok(self) -> bool:
        """True when some duration is possible."""
        return bool(self.intervals)

    @property
    def shortest(self) -> float:
        """The shortest duration, s; infinite where there is none."""
        return self.intervals[0][0] if self.intervals else float("inf")

    def allows(self, duration: float) -> bool:
        """True for a duration (s) within the limits."""
        return any(low <= duration <= high for low, high in self.intervals)

    def from_duration(self, duration: float) -> float:
        """The shortest allowed duration from this one on, s; infinite where there is none."""
        return min(
            (max(duration, low) for low, high in self.intervals if high >= duration),
            default=float("inf"),
        )

    def trajectory(self, duration: float | None = None) -> Trajectory:
        """The motion at a duration, the shortest if none is given; an ArgumentError that says why
        where that is not allowed."""
        T = self.shortest if duration is None else float(duration)
        if not self.ok or not self.allows(T) or T <= 0.0:
            raise ArgumentError(
                self.message
                if not self.ok
                else f"a duration of {T:.6g} s is not possible: {self.message}"
            )
        return stretched(self.motion, T)

    def __repr__(self) -> str:
        return f"<TimeScaling: {self.message}>"


def time_scaling(
    robot: Robot, motion: Trajectory | JointPath, *, rest: float = 0.0, samples: int = 500
) -> TimeScaling:
    """All durations at which the drives and the joints' limits allow a geometric motion, uniformly
    scaled (K6).

    motion: its knots and what runs between them; its own duration plays no part. A JointPath is run
    with p = s.
    rest: pause before the next cycle, s, without current; it counts in the averages of heat and
    current.
    samples: at least so many places on the motion; more are put where a limit binds.
    """
    check_count(samples, "samples")
    if isinstance(motion, JointPath):
        motion = _as_trajectory(motion)
    if motion.n != robot.nv or len(motion) < 2 or robot.nq != robot.nv:
        raise ArgumentError(
            f"a motion of {motion.n} joints and {len(motion)} knots does not fit robot"
            f" {robot.name!r} of {robot.nv} joints"
        )
    if not 0.0 <= rest < np.inf:
        raise ArgumentError(f"the rest is {rest!r} s; give a number ≥ 0")
    knots, N = (motion.t - motion.t[0]) / motion.duration, len(motion) - 1
    edges = np.interp(
        np.linspace(0, N, N * max(1, round(samples / 5 / N)) + 1), np.arange(N + 1), knots
    )
    for _ in range(3):
        limits = DurationLimits(robot, motion, edges, rest)
        found = gaps(limits.forbidden())
        places = [limits.reason(r).place for g in found for r in (g.row_low, g.row_high) if r >= 0]
        finer = _refined(edges, places)
        if len(finer) == len(edges) or not limits.exact:
            break
        edges = finer
    return _result(limits, found)


def _as_trajectory(path: JointPath) -> Trajectory:
    """p as time, with knots at the breaks and between them."""
    p = np.unique(np.concatenate([np.linspace(0.0, 1.0, 101), path.breaks]))
    p = p[np.concatenate([[True], np.diff(p) > 1e-9])]
    at = path(p)
    return Trajectory(p, at.q, at.dq, at.ddq, path.joint_names, interpolation="hermite")


def _refined(edges: np.ndarray, places: list[float]) -> np.ndarray:
    """Eight parts for one around each place."""
    added = [edges]
    for s in places:
        k = int(np.clip(np.searchsorted(edges, s) - 1, 0, len(edges) - 2))
        if edges[k + 1] - edges[k] > 1e-7:
            added.append(np.linspace(edges[max(0, k - 1)], edges[min(len(edges) - 1, k + 2)], 25))
    merged = np.unique(np.concatenate(added))
    return merged[np.concatenate([[True], np.diff(merged) > 1e-9])]


def _result(limits: DurationLimits, found: list) -> TimeScaling:
    """Gaps of x as intervals of T = 1/x, fastest first, with what ends each on its fast side."""
    if not found:
        return _impossible(limits)
    intervals, reasons = [], []
    for gap in reversed(found):
        intervals.append(
            (
                0.0 if np.isinf(gap.high) else 1.0 / gap.high,
                np.inf if gap.low == 0.0 else 1.0 / gap.low,
            )
        )
        reasons.append(limits.reason(gap.row_high) if gap.row_high >= 0 else None)
    shown = ", ".join(
        f"{a:.6g} to {b:.6g} s" if np.isfinite(b) else f"{a:.6g} s and more" for a, b in intervals
    )
    because = f"; faster is forbidden by {reasons[0]}" if reasons[0] is not None else ""
    return TimeScaling(
        limits.motion,
        tuple(intervals),
        tuple(reasons),
        f"possible in {shown}{because}",
        limits.exact,
    )


def _impossible(limits: DurationLimits) -> TimeScaling:
    """The duration at which the worst limit is exceeded least, and that limit."""
    from scipy.optimize import minimize_scalar

    worst = lambda u: max((e for e, _ in limits.excess(limits.x * np.exp(u))), default=0.0)
    grid = np.linspace(np.log(1e-4), np.log(1e3), 71)
    k = int(np.argmin([worst(u) for u in grid]))
    found: Any = minimize_scalar(
        worst,
        bounds=(grid[max(0, k - 1)], grid[min(70, k + 1)]),
        method="bounded",
        options={"xatol": 1e-6},
    )
    x = limits.x * float(np.exp(found.x))
    excess, reason = max(limits.excess(x), key=lambda found: found[0])
    T = np.inf if k == 0 else 1.0 / x
    when = "however slowly" if k == 0 else f"at the best, {T:.6g} s"
    message = (
        f"no duration is possible: {when}, {reason} is exceeded by {100 * excess:.4g} %; change the"
        " way, the load or the drive"
    )
    return TimeScaling(limits.motion, (), (), message, limits.exact, reason, T)

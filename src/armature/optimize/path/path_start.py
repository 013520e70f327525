"""Where a search along a path begins (K6), or goes on with other knots: profiles of speed in the
durations in which the limits allow them, by time scaling, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.path.along_path import (
    SUBSTEPS,
    Curve,
    Timing,
    joint_motion,
    plain_at,
    plain_timing,
    slowed,
)
from armature.optimize.scaling.time_scaling import TimeScaling, time_scaling
from armature.optimize.transcription.guess import stretched

ROOM = (1.3, 2.0)  # times the shortest duration: an interior solver begins well inside the limits
SAMPLES = 200  # places at which limits are looked at, at least


@dataclass(frozen=True, eq=False)
class Scaled:
    """A profile of speed along a path, and all durations in which it can be run."""

    curve: Curve
    timing: Timing
    motion: Trajectory

    @cached_property
    def scaling(self) -> TimeScaling:
        """All durations that the limits allow."""
        return time_scaling(self.curve.robot, self.motion, samples=SAMPLES)

    def lasting(self, duration: float) -> Timing:
        """The profile in another duration, s."""
        return slowed(self.timing, duration / self.timing.t[-1])

    def trajectory(self, duration: float) -> Trajectory:
        """Its motion in another duration, s."""
        return stretched(self.motion, duration)

    def inside(self) -> Iterator[Timing]:
        """The profile well inside every span of durations that is allowed; where there is none,
        where the least is exceeded."""
        for room in ROOM:
            for low, high in self.scaling.intervals:
                yield self.lasting(
                    min(room * low, float(np.sqrt(low * high))) if low > 0.0 else self.timing.t[-1]
                )
        if not self.scaling.ok:
            yield (
                self.lasting(self.scaling.best)
                if np.isfinite(self.scaling.best)
                else slowed(self.timing, 4.0)
            )


def plain(curve: Curve, p: np.ndarray, duration: float) -> Scaled:
    """The plain profile at knots p (N+1,)."""
    timing = plain_timing(curve, p, duration)
    t = timing.sampled(SUBSTEPS)[0]
    return Scaled(curve, timing, joint_motion(curve, t, *plain_at(curve, t, timing.t[-1])))


def scaled(curve: Curve, timing: Timing) -> Scaled:
    """Any profile."""
    return Scaled(curve, timing, timing.trajectory(curve))


def jumps(timing: Timing, fine: np.ndarray) -> np.ndarray:
    """How much of all changes of p̈ falls to each part of `fine`: the shortest motions jump from
    limit to limit."""
    total = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(timing.a)))])
    return np.diff(np.interp(fine, timing.p, total)) / max(total[-1], 1e-300)


def interpolated(timing: Timing, p: np.ndarray) -> Timing:
    """The same run with other knots: t, ṗ and p̈ where it passes them."""
    t, at, s, a = timing.sampled(20)
    at = np.maximum.accumulate(at)
    when = np.interp(p, at, t)
    return Timing(
        p, np.interp(p, at, s), np.interp(p, at, a), np.maximum(np.diff(when), 1e-9 * t[-1])
    )

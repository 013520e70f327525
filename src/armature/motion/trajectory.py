"""A motion in time: knots, and a continuous function between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from armature.annotations import Numbers
from armature.errors import ArgumentError
from armature.seam import worker

INTERPOLATIONS = ("held", "linear", "hermite")
# of a duration: what sums of steps leave, and solvers of a sum that they have to meet
ROUNDING = 1e-7


class Sample(NamedTuple):
    """A motion at given times: q, v, a of shape (..., n)."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Knots of a motion, N + 1 of them, and how it runs between them.

    t: (N+1,) increasing, s.  q, v, a: (N+1, n), rad or m and their rates.  joint_names: n names.
    tau: (N+1, n) joint torques or forces; current A, voltage V, power W of each drive: (N+1,
    drives); None where not known.
    interpolation: "held": the acceleration a[k] holds from knot k to k+1 (a plan by accelerations;
    q and v are then exact); "linear": the acceleration runs straight between the knots; "hermite":
    a polynomial that meets q, v and a at both ends."""

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    joint_names: tuple[str, ...] = ()
    tau: np.ndarray | None = None
    current: np.ndarray | None = None
    voltage: np.ndarray | None = None
    power: np.ndarray | None = None
    interpolation: str = "hermite"

    def __post_init__(self) -> None:
        for name in ("t", "q", "v", "a", "tau", "current", "voltage", "power"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, np.ascontiguousarray(value, dtype=float))
        if self.interpolation not in INTERPOLATIONS:
            raise ArgumentError(
                f"interpolation {self.interpolation!r} is not known; use one of"
                f" {', '.join(INTERPOLATIONS)}"
            )
        if self.t.ndim != 1 or len(self.t) == 0 or not np.all(np.diff(self.t) > 0):
            raise ArgumentError("times must be one increasing sequence of at least one number")
        for name in ("q", "v", "a", "tau", "current", "voltage", "power"):
            value = getattr(self, name)
            if value is not None and (value.ndim != 2 or len(value) != len(self.t)):
                raise ArgumentError(
                    f"{name} has shape {value.shape}; expected ({len(self.t)}, n), one row for each"
                    " time"
                )

    @property
    def duration(self) -> float:
        """From the first knot to the last, s."""
        return float(self.t[-1] - self.t[0])

    @property
    def n(self) -> int:
        """Number of coordinates of v."""
        return self.v.shape[1]

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<Trajectory of {self.n} joints, {len(self)} knots, {self.duration:.6g} s>"

    def __call__(self, t: Numbers) -> Sample:
        """q, v and a at times t (...), each (..., n); the motion stands still before its start and
        after its end."""
        t = np.asarray(t, dtype=float)
        if len(self.t) == 1:
            return Sample(
                *(
                    np.broadcast_to(x[0], (*t.shape, x.shape[1])).copy()
                    for x in (self.q, self.v, self.a)
                )
            )
        inside = np.clip(t, self.t[0], self.t[-1])
        k = np.clip(np.searchsorted(self.t, inside, side="right") - 1, 0, len(self.t) - 2)
        h = (self.t[k + 1] - self.t[k])[..., None]
        s = (inside - self.t[k])[..., None]
        q, v, a = _BETWEEN[self.interpolation](self, k, h, s)
        rounding = 4 * np.spacing(
            abs(self.t[0]) + abs(self.t[-1])
        )  # t[0] + duration is still the end
        rest = ((t < self.t[0] - rounding) | (t > self.t[-1] + rounding))[..., None]
        return (
            Sample(q, np.where(rest, 0.0, v), np.where(rest, 0.0, a))
            if rest.any()
            else Sample(q, v, a)
        )

    def lasting(self, duration: float) -> Trajectory:
        """The same knots with the last at exactly `duration` (s) after the first, where rounding
        left it beside."""
        if abs(duration - self.duration) > ROUNDING * duration or duration <= 0.0:
            return self
        t = self.t[0] + (self.t - self.t[0]) * (duration / self.duration)
        t[-1] = self.t[0] + duration
        return replace(self, t=t)

    def resample(self, t: Any) -> Trajectory:
        """The same motion with knots at other times; what is not q, v, a is interpolated
        linearly."""
        t = np.asarray(t, dtype=float)
        linear = lambda x: (
            None if x is None else np.column_stack([np.interp(t, self.t, column) for column in x.T])
        )
        others = {
            name: linear(getattr(self, name)) for name in ("tau", "current", "voltage", "power")
        }
        interpolation = "hermite" if self.interpolation == "held" else self.interpolation
        return replace(self, t=t, **self(t)._asdict(), **others, interpolation=interpolation)

    def save(self, path: str | PathLike[str]) -> None:
        """Write this motion to a .csv, .npz, .json, .yaml (ROS 2 JointTrajectory), .parquet, .h5 or
        .mcap file by its suffix."""
        worker("Trajectory.save")(self, path)

    @staticmethod
    def load(path: str | PathLike[str]) -> Trajectory:
        """Read a motion from a file that `save` wrote, or a CSV or ROS 2 file of another
        program."""
        return worker("Trajectory.load")(path)


def _held(m: Trajectory, k: np.ndarray, h: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, ...]:
    """a constant: v = v₀ + a s, q = q₀ + v₀ s + a s²/2."""
    a = m.a[k] + 0.0 * s
    return m.q[k] + s * (m.v[k] + 0.5 * s * a), m.v[k] + s * a, a


def _linear(m: Trajectory, k: np.ndarray, h: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, ...]:
    """a straight from a₀ to a₁: jerk j = (a₁ − a₀)/h."""
    v0, a0 = m.v[k], m.a[k]
    js = (m.a[k + 1] - a0) * (s / h)
    return m.q[k] + s * (v0 + s * (a0 / 2 + js / 6)), v0 + s * (a0 + js / 2), a0 + js


def _hermite(m: Trajectory, k: np.ndarray, h: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, ...]:
    """The polynomial of fifth degree with q, v and a given at both ends."""
    q0, v0, a0 = m.q[k], m.v[k] * h, m.a[k] * h * h
    q1, v1, a1 = m.q[k + 1], m.v[k + 1] * h, m.a[k + 1] * h * h
    # remainders of q, v, a at the end, after the start's own parabola
    dq, dv, da = q1 - q0 - v0 - a0 / 2, v1 - v0 - a0, a1 - a0
    c3, c4, c5 = 10 * dq - 4 * dv + da / 2, -15 * dq + 7 * dv - da, 6 * dq - 3 * dv + da / 2
    x = s / h
    q = q0 + x * (v0 + x * (a0 / 2 + x * (c3 + x * (c4 + x * c5))))
    v = v0 + x * (a0 + x * (3 * c3 + x * (4 * c4 + x * 5 * c5)))
    a = a0 + x * (6 * c3 + x * (12 * c4 + x * 20 * c5))
    return q, v / h, a / (h * h)


_BETWEEN = {"held": _held, "linear": _linear, "hermite": _hermite}

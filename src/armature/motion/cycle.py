"""Motions one after the other, and at even times: what is handed to a controller."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory

APART = 1e-4  # rad or m by which a motion may begin beside the end of the one before
MOST = 1_000_000  # points
TINY = 1e-3  # of a step: how long an acceleration takes to jump where two motions meet


def joined(motions: Sequence[Trajectory]) -> Trajectory:
    """One motion of several that follow one another: each begins where the one before ended, with
    its velocity."""
    first = motions[0]
    for k, (before, after) in enumerate(itertools.pairwise(motions)):
        if before.joint_names != after.joint_names:
            theirs, others = (", ".join(m.joint_names) for m in (after, before))
            raise ArgumentError(
                f"motion {k + 2} moves the joints {theirs}, the one before {others}"
            )
        for name in ("q", "v"):
            gap = np.abs(getattr(after, name)[0] - getattr(before, name)[-1])
            j = int(np.argmax(gap))
            if gap[j] > APART * max(1.0, np.abs(getattr(before, name)).max()):
                what = "position" if name == "q" else "velocity"
                joint = first.joint_names[j] if first.joint_names else f"joint {j}"
                pair = (
                    f"motion {k + 2} begins with another {what} of {joint!r} than motion {k + 1}"
                    " ends with"
                )
                raise ArgumentError(f"{pair}: off by {gap[j]:.4g}; plan it from there")
    return first if len(motions) == 1 else chained(motions)


def chained(motions: Sequence[Trajectory]) -> Trajectory:
    """Motions one after the other, not checked. Where their accelerations differ there are two
    knots, TINY of a step apart, so that every motion runs between its knots as it did alone."""
    kinds = {m.interpolation for m in motions}
    parts = (
        list(motions)
        if len(kinds) == 1
        else [m if m.interpolation == "linear" else _linear(m) for m in motions]
    )
    names = [
        name
        for name in ("q", "v", "a", "tau", "current", "voltage", "power")
        if all(getattr(m, name) is not None for m in parts)
    ]
    t, rows, start = [], {name: [] for name in names}, 0.0
    for k, motion in enumerate(parts):
        at = motion.t - motion.t[0] + start
        start = float(at[-1])
        keep = len(at)
        if k + 1 < len(parts):
            jumps = motion.interpolation == "held" or not np.allclose(
                motion.a[-1], parts[k + 1].a[0], atol=1e-9
            )
            if jumps and motion.interpolation != "held" and len(motion) > 1:
                motion = _ending_earlier(motion)
                at = motion.t - motion.t[0] + at[0]
            else:  # the next motion's first knot stands for both
                keep -= 1
        t.append(at[:keep])
        for name in names:
            rows[name].append(getattr(motion, name)[:keep])
    missing = dict.fromkeys({"tau", "current", "voltage", "power"} - set(names))
    return replace(
        parts[0],
        t=np.concatenate(t),
        **{name: np.concatenate(r) for name, r in rows.items()},
        **missing,
    )


def _ending_earlier(motion: Trajectory) -> Trajectory:
    """The same motion with its last knot TINY of a step before its end."""
    t = motion.t.copy()
    t[-1] -= TINY * (t[-1] - t[-2])
    last = motion(t[-1])
    swap = lambda rows, row: np.vstack([rows[:-1], row])
    return replace(
        motion, t=t, q=swap(motion.q, last.q), v=swap(motion.v, last.v), a=swap(motion.a, last.a)
    )


def _linear(motion: Trajectory) -> Trajectory:
    """A motion with straight accelerations between knots four times as dense."""
    inside = np.linspace(0.0, 1.0, 4, endpoint=False)
    t = np.append((motion.t[:-1, None] + inside * np.diff(motion.t)[:, None]).ravel(), motion.t[-1])
    return replace(motion.resample(t), interpolation="linear")


def at_even_times(motion: Trajectory, step: float) -> Trajectory:
    """The motion every `step` seconds, first and last point exact: where its duration is no
    multiple of the step the motion is run slower, in the next multiple; torques and currents are
    left out then, for they are those of the quicker motion."""
    if not (step > 0.0 and motion.duration / step <= MOST):
        raise ArgumentError(
            f"a step of {step:g} s: give a time above 0 that leaves at most a million points"
        )
    if step > motion.duration * (1.0 + 1e-9):
        raise ArgumentError(
            f"a step of {step:g} s is longer than the motion, which takes {motion.duration:.6g} s;"
            " give a shorter one"
        )
    count = max(1, int(np.ceil(motion.duration / step - 1e-6)))
    slower = count * step / motion.duration
    even = motion.resample(np.linspace(motion.t[0], motion.t[-1], count + 1))
    if abs(slower - 1.0) < 1e-9:
        return replace(even, t=step * np.arange(count + 1))
    gone = {"tau": None, "current": None, "voltage": None, "power": None}
    return replace(
        even, t=step * np.arange(count + 1), v=even.v / slower, a=even.a / slower**2, **gone
    )

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


def joined(motions: Sequence[Trajectory]) -> Trajectory:
    """One motion of several that follow one another: each begins where the one before ended, with its velocity."""
    first = motions[0]
    for k, (before, after) in enumerate(itertools.pairwise(motions)):
        if before.joint_names != after.joint_names:
            theirs, others = (", ".join(m.joint_names) for m in (after, before))
            raise ArgumentError(f"motion {k + 2} moves the joints {theirs}, the one before {others}")
        for name in ("q", "v"):
            gap = np.abs(getattr(after, name)[0] - getattr(before, name)[-1])
            j = int(np.argmax(gap))
            if gap[j] > APART * max(1.0, np.abs(getattr(before, name)).max()):
                what = "position" if name == "q" else "velocity"
                joint = first.joint_names[j] if first.joint_names else f"joint {j}"
                pair = f"motion {k + 2} begins with another {what} of {joint!r} than motion {k + 1} ends with"
                raise ArgumentError(f"{pair}: off by {gap[j]:.4g}; plan it from there")
    if len(motions) == 1:
        return first
    t, start = [], 0.0
    for k, motion in enumerate(motions):
        t.append((motion.t - motion.t[0] + start)[min(k, 1) :])
        start += motion.duration
    names = [name for name in ("q", "v", "a", "tau", "current", "voltage", "power") if all(getattr(m, name) is not None for m in motions)]
    chained = {name: np.concatenate([getattr(m, name)[min(k, 1) :] for k, m in enumerate(motions)]) for name in names}
    missing = {name: None for name in ("tau", "current", "voltage", "power") if name not in names}
    return replace(first, t=np.concatenate(t), **chained, **missing)


def at_even_times(motion: Trajectory, step: float) -> Trajectory:
    """The motion every `step` seconds, first and last point exact: where its duration is no multiple of the step the motion is run slower,
    in the next multiple; torques and currents are left out then, for they are those of the quicker motion."""
    if not (step > 0.0 and motion.duration / step <= MOST):
        raise ArgumentError(f"a step of {step:g} s: give a time above 0 that leaves at most a million points")
    count = max(1, int(np.ceil(motion.duration / step - 1e-6)))
    slower = count * step / motion.duration
    even = motion.resample(np.linspace(motion.t[0], motion.t[-1], count + 1))
    if abs(slower - 1.0) < 1e-9:
        return replace(even, t=step * np.arange(count + 1))
    gone = {"tau": None, "current": None, "voltage": None, "power": None}
    return replace(even, t=step * np.arange(count + 1), v=even.v / slower, a=even.a / slower**2, **gone)

"""`armature export`: a motion or a saved plan in another format."""

from __future__ import annotations

from pathlib import Path

import typer

from armature.cli.inputs import find_motion
from armature.cli.output import answer, say


def export(
    source: Path = typer.Argument(help="a motion (.csv, .npz, .json, .yaml, .parquet, .h5, .mcap), or a saved plan (folder, .npz, .json)"),
    target: Path = typer.Argument(help="the file to write; its ending decides: .csv, .npz, .json, .yaml (ROS 2), .parquet, .h5, .mcap"),
    step: str | None = typer.Option(None, "--step", help="other times: every so many seconds, e.g. 8ms", show_default=False),
) -> None:
    """Write a motion in another format: for ROS 2 (.yaml), tables (.csv, .parquet), programs (.npz, .json, .h5), players (.mcap)."""
    motion = find_motion(source)
    if step is not None:
        motion = _sampled(motion, step)
    motion.save(target)
    say(f"written: {target} ({motion.n} joints, {len(motion)} points, {motion.duration:.6g} s)")
    answer({"written": target, "joints": motion.joint_names, "points": len(motion), "duration": motion.duration})


def _sampled(motion, step: str):
    """The motion at even times, its end included."""
    import numpy as np

    from armature.cli.inputs import coordinates
    from armature.errors import ArgumentError

    h = coordinates(step, "--step", ("s",))[0]
    if not h > 0 or motion.duration / h > 1e6:
        raise ArgumentError(f"--step is {step}; give a time above 0 that leaves at most a million points, e.g. 8ms")
    return motion.resample(motion.t[0] + np.append(np.arange(0.0, motion.duration - 1e-9, h), motion.duration))

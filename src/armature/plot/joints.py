"""Joints against their limits: position, velocity, torque and current of each over time (B10)."""

from __future__ import annotations

import math
from os import PathLike
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armature.motion.trajectory import Trajectory
from armature.plot import style
from armature.plot.region import peak_current
from armature.robot.model import Robot

NEAR = 0.45  # of a limit: motions that use more than this are drawn with it


def joints(
    robot: Robot | Any,
    trajectory: Trajectory | None = None,
    baseline: Trajectory | None = None,
    save: str | PathLike[str] | None = None,
) -> Figure:
    """One row of panels for each joint: position, velocity, torque (force), current; limits dashed,
    the baseline thin.

    robot, trajectory: or a plan in place of both, which brings its baseline. Torques and currents
    where the trajectory holds them."""
    other = getattr(robot, "baseline", None) if trajectory is None else None
    baseline = other.trajectory if baseline is None and other is not None else baseline
    robot, trajectory = style.subject(robot, trajectory)
    columns = [
        kind for kind in ("q", "v", "tau", "current") if getattr(trajectory, kind) is not None
    ]
    figure, axes = style.panels(
        len(columns) * robot.nv, "Joints against their limits", 3.0, 1.9, len(columns)
    )
    for j, name in enumerate(robot.joint_names):
        for c, kind in enumerate(columns):
            _panel(axes[j * len(columns) + c], robot, trajectory, baseline, kind, j, name)
    return style.finish(figure, save)


def _panel(
    a: Axes,
    robot: Robot,
    motion: Trajectory,
    baseline: Trajectory | None,
    kind: str,
    j: int,
    name: str,
) -> None:
    """One signal of one joint."""
    title, unit, bounds = signal(robot, kind, j, name)
    column = _column(robot, kind, j, name)
    if column is None:
        a.axis("off")
        return
    if baseline is not None and getattr(baseline, kind) is not None:
        a.plot(
            baseline.t - baseline.t[0],
            getattr(baseline, kind)[:, column],
            color="#888888",
            linewidth=0.9,
            label="baseline",
        )
    y = getattr(motion, kind)[:, column]
    a.plot(motion.t - motion.t[0], y, color=style.COLOURS[0], linewidth=1.7, label="plan")
    for bound in bounds:
        if math.isfinite(bound) and (y.max() > NEAR * bound > 0 or y.min() < NEAR * bound < 0):
            a.axhline(bound, color=style.COLOURS[1], linewidth=1.0, linestyle="--", label="limit")
    low, high = a.get_ylim()
    least = max(1e-4, 0.02 * max((abs(b) for b in bounds if math.isfinite(b)), default=0.0))
    if high - low < least:  # what hardly moves is drawn as what it is
        a.set_ylim((low + high - least) / 2, (low + high + least) / 2)
    a.set_title(f"{name}: {title} [{unit}]", fontsize="small")
    a.tick_params(labelsize="x-small")
    a.set_xlabel("time [s]", fontsize="x-small")


def signal(robot: Robot, kind: str, j: int, name: str) -> tuple[str, str, tuple[float, float]]:
    """Title, unit and limits of a joint's signal."""
    joint = robot.joint(name)
    slides, limit = joint.kind == "prismatic", joint.limits
    if kind == "q":
        return "position", "m" if slides else "rad", (limit.lower, limit.upper)
    if kind == "v":
        return "velocity", "m/s" if slides else "rad/s", (-limit.velocity, limit.velocity)
    if kind == "tau":
        return (
            ("force", "N", (-limit.torque, limit.torque))
            if slides
            else ("torque", "N·m", (-limit.torque, limit.torque))
        )
    column = _column(robot, kind, j, name)
    most = math.inf if column is None else peak_current(robot.drivetrain.drives[column])
    return "current", "A", (-most, most)


def _column(robot: Robot, kind: str, j: int, name: str) -> int | None:
    """Column of the signal: the joint's, or its axis's for a drive; None where no drive bears the
    joint's name."""
    names = robot.drivetrain.axis_names
    return j if kind != "current" else names.index(name) if name in names else None

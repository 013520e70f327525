"""Torque against speed at the joint, with the regions for continuous and for peak load."""

from __future__ import annotations

from math import inf
from os import PathLike
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armature.drive import Drive
from armature.motion.trajectory import Trajectory
from armature.plot import style
from armature.plot.region import (
    continuous_current,
    current_band,
    fastest,
    peak_current,
    velocity_range,
)
from armature.robot.model import Robot
from armature.simulate.ledger import flow_of, motion_steps


def torque_speed(
    robot: Robot | Any,
    trajectory: Trajectory | None = None,
    save: str | PathLike[str] | None = None,
) -> Figure:
    """Torque (N·m, N) that each drive gives to its joint against joint velocity: peak region light,
    continuous region dark.

    Gear losses and friction are counted in: a drive brakes more than it drives.
    """
    if hasattr(robot, "trajectory"):
        robot, trajectory = style.subject(robot)
    train = robot.drivetrain
    figure, axes = style.panels(len(train.drives), "Torque against speed")
    steps = None if trajectory is None else motion_steps(robot, trajectory)
    flows = [None] * len(axes) if steps is None else flow_of(robot, steps)
    for name, drive, flow, a in zip(train.axis_names, train.drives, flows, axes):
        used = 0.0 if flow is None else float(np.abs(flow.velocity).max())
        shade_regions(a, drive, used)
        if flow is not None:
            a.plot(
                flow.velocity, flow.torque, color=style.COLOURS[1], linewidth=1.6, label="motion"
            )
        slides = any(j.name == name and j.kind == "prismatic" for j in robot.joints)
        a.set(
            title=name,
            xlabel=f"velocity [{'m/s' if slides else 'rad/s'}]",
            ylabel=f"{'force [N]' if slides else 'torque [N·m]'}",
        )
    axes[0].legend(loc="best", fontsize="small")
    return style.finish(figure, save)


def shade_regions(a: Axes, drive: Drive, used: float) -> None:
    """Shade what the peak and the continuous current give at each velocity; a drive without such
    limits has no region."""
    for current, colour, label in (
        (peak_current(drive), style.REGION_2, "peak"),
        (continuous_current(drive), style.REGION, "continuous"),
    ):
        if current == inf:
            continue
        reach = fastest(drive, current)
        v = (
            velocity_range(drive, current, used)
            if used
            else np.linspace(-1.02 * reach, 1.02 * reach, 801)
        )
        low, high = current_band(drive, v, current)
        ends = [np.where(np.abs(v) <= reach, drive.torque(i, v), np.nan) for i in (low, high)]
        bound = drive.gear.maximum_torque
        low_torque, high_torque = (
            np.clip(x, -bound, bound) for x in (np.minimum(*ends), np.maximum(*ends))
        )
        a.fill_between(
            v,
            low_torque,
            high_torque,
            color=colour,
            linewidth=0.8,
            edgecolor=style.LIMIT,
            label=label,
        )

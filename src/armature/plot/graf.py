"""GRAF: current against velocity of each drive, with the region that voltage, current and heat
limits leave (B10)."""

from __future__ import annotations

from math import inf
from os import PathLike
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from armature.motion.trajectory import Trajectory
from armature.plot import style
from armature.plot.region import current_band, fastest, peak_current, velocity_range
from armature.robot.model import Robot
from armature.simulate.ledger import flow_of, motion_steps


def graf(
    robot: Robot | Any,
    trajectory: Trajectory | None = None,
    save: str | PathLike[str] | None = None,
) -> Figure:
    """Current (A) against joint velocity (rad/s, m/s), one panel for each drive; the feasible
    region is shaded, the start is a dot.

    robot: with its drives, or a plan in place of robot and trajectory.
    """
    robot, trajectory = style.subject(robot, trajectory)
    steps = motion_steps(robot, trajectory)
    flows, train = flow_of(robot, steps), robot.drivetrain
    figure, axes = style.panels(len(flows), "Current against velocity")
    for name, drive, flow, a in zip(train.axis_names, train.drives, flows, axes):
        v, i = (np.broadcast_to(x, steps.t.shape) for x in (flow.velocity, flow.current))
        most = peak_current(drive)
        largest = min(most, 1.6 * float(np.abs(i).max()) + 1e-6) if most == inf else most
        x = velocity_range(drive, largest, float(np.abs(v).max()))
        low, high = current_band(
            drive, np.clip(x, -fastest(drive, most), fastest(drive, most)), largest
        )
        inside = np.abs(x) <= fastest(drive, most)
        a.fill_between(
            x, low, high, where=inside, color=style.REGION, linewidth=0, label="feasible"
        )
        for bound in (low, high):
            a.plot(x, np.where(inside, bound, np.nan), color=style.LIMIT, linewidth=0.8)
        a.plot(v, i, color=style.COLOURS[1], linewidth=1.6, label="motion")
        a.plot(v[0], i[0], "o", color=style.COLOURS[1], markersize=5)
        a.set(
            title=name,
            xlabel=f"velocity [{'m/s' if _slides(robot, name) else 'rad/s'}]",
            ylabel="current [A]",
        )
        a.margins(0.04)
    axes[0].legend(loc="best", fontsize="small")
    return style.finish(figure, save)


def _slides(robot: Robot, name: str) -> bool:
    """True for the axis of a prismatic joint."""
    return any(j.name == name and j.kind == "prismatic" for j in robot.joints)

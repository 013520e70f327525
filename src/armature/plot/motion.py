"""MOV: the motion of the robot seen from the side, the front and above (B10)."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from armature.dynamics.compiled import skeleton
from armature.motion.trajectory import Trajectory
from armature.plot import style
from armature.plot.limbs import bones
from armature.robot.model import Robot

VIEWS = (
    ("from the side", 0, 2, "x", "z"),
    ("from the front", 1, 2, "y", "z"),
    ("from above", 0, 1, "x", "y"),
)


def motion(
    robot: Robot | Any,
    trajectory: Trajectory | None = None,
    poses: int = 13,
    save: str | PathLike[str] | None = None,
) -> Figure:
    """Stick figures at equal times, pale at the start and dark at the end, and the path of the last
    link; three views, m."""
    robot, trajectory = style.subject(robot, trajectory)
    t = np.linspace(trajectory.t[0], trajectory.t[-1], 200)
    points = np.asarray(skeleton(robot, trajectory(t).q))
    edges = bones(robot)
    figure, axes = style.panels(3, f"{robot.name}: {trajectory.duration:.3g} s")
    for a, (title, i, j, x, y) in zip(axes, VIEWS):
        for k in np.linspace(0, len(t) - 1, poses).astype(int):
            shade = 0.15 + 0.8 * k / (len(t) - 1)
            for parent, child in edges:
                a.plot(
                    points[k, [parent, child], i],
                    points[k, [parent, child], j],
                    color=style.COLOURS[0],
                    alpha=shade,
                    linewidth=1.4,
                )
        a.plot(points[:, -1, i], points[:, -1, j], color=style.COLOURS[1], linewidth=1.6)
        a.set(title=title, xlabel=f"{x} [m]", ylabel=f"{y} [m]", aspect="equal")
    return style.finish(figure, save)

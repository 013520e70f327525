"""One look for all figures: colours that colour-blind readers tell apart, line styles that survive
grey print, no global state."""

from __future__ import annotations

import math
from os import PathLike, fspath
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armature.errors import ArgumentError, FileError
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot
from armature.write import MARK, check_target

# Okabe and Ito's colours, dark ones first
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999933")
LINES = ("-", "--", "-.", ":")
REGION = "#BBD7EA"
REGION_2 = "#E8F1F7"
LIMIT = "#444444"


def subject(robot: Any, trajectory: Trajectory | None = None) -> tuple[Robot, Trajectory]:
    """The robot and the motion to draw: both as given, or those of a plan in place of the robot."""
    if trajectory is not None:
        return robot, trajectory
    if not hasattr(robot, "trajectory"):
        raise ArgumentError("there is no motion to draw; give a robot and a trajectory, or a plan")
    return robot.robot, robot.trajectory


def line(k: int) -> dict[str, Any]:
    """Colour and dash of the k-th curve."""
    return {
        "color": COLOURS[k % len(COLOURS)],
        "linestyle": LINES[k % len(LINES)],
        "linewidth": 1.6,
    }


def panels(
    count: int, title: str = "", width: float = 4.2, height: float = 3.4, columns: int = 3
) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels side by side, `columns` to a row."""
    if count < 1:
        raise ArgumentError(
            "there is nothing to draw: the robot has no drives; give it some by"
            " robot.with_drives(...)"
        )
    columns = min(count, columns)
    rows = math.ceil(count / columns)
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    axes = [figure.add_subplot(rows, columns, k + 1) for k in range(count)]
    for a in axes:
        a.grid(True, color="#DDDDDD", linewidth=0.6)
        a.set_axisbelow(True)
    if title:
        figure.suptitle(title)
    return figure, axes


def _mark(path: str) -> dict[str, str] | None:
    """What tells a picture of ours from others: it may be written over."""
    key = {".png": "Software", ".svg": "Creator", ".pdf": "Creator"}.get(path[-4:].lower())
    return {key: MARK} if key else None


def finish(figure: Figure, save: str | PathLike[str] | None) -> Figure:
    """Write the figure to a file (png, pdf, svg by its ending) if asked to, and hand it over."""
    if save is not None:
        try:
            check_target(save)
            figure.savefig(save, dpi=150, metadata=_mark(fspath(save)))
        except (OSError, ValueError) as error:
            raise FileError(
                f"the figure cannot be written: {error}; give a path that ends in .png, .pdf or"
                " .svg",
                fspath(save),
            ) from None
    return figure

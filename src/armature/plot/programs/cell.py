"""A cell's schedule as a Gantt chart, and its energies."""

from __future__ import annotations

import io
from os import PathLike

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from armature.cell.schedule.schedule import Schedule
from armature.plot import style

MOVE = style.COLOURS[0]
STANDS = ("#DDDDDD", style.COLOURS[2], style.COLOURS[5], style.COLOURS[3])


def gantt(schedule: Schedule, save: str | PathLike[str] | None = None) -> Figure:
    """One row for every robot over one cycle (s): movements, and stands coloured by power mode.
    Tasks that go on into the next cycle are drawn in two parts."""
    robots, cycle = list(schedule.tasks), schedule.model.cycle
    figure = Figure(figsize=(12.0, 1.8 + 0.6 * len(robots)), layout="constrained")
    axes = figure.add_subplot()
    modes = list(
        dict.fromkeys(t.mode for tasks in schedule.tasks.values() for t in tasks if t.mode)
    )
    colour = {mode: STANDS[k % len(STANDS)] for k, mode in enumerate(modes)} | {"": MOVE}
    for row, name in enumerate(robots):
        for task in schedule.tasks[name]:
            for left, width in pieces(task.start, task.duration, cycle):
                axes.barh(
                    row,
                    width,
                    0.7,
                    left=left,
                    color=colour[task.mode],
                    edgecolor="white",
                    linewidth=0.6,
                )
                if width > 0.02 * cycle:
                    axes.text(
                        left + width / 2, row, task.activity, ha="center", va="center", fontsize=7
                    )
    axes.set_yticks(range(len(robots)), robots)
    axes.set(xlim=(0, cycle), ylim=(len(robots) - 0.4, -0.6), xlabel="time in the cycle [s]")
    handles = [
        Patch(color=MOVE, label="moves"),
        *(Patch(color=colour[m], label=f"stands: {m}") for m in modes),
    ]
    axes.legend(
        handles=handles,
        ncols=len(handles),
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0, 1),
        frameon=False,
    )
    title = f"{schedule.model.name}: {cycle:.5g} s, {schedule.energy:.6g} J by the model's curves"
    axes.set_title(title, loc="right")
    return style.finish(figure, save)


def gantt_svg(schedule: Schedule) -> str:
    """The chart as an <svg> element for a page."""
    text = io.StringIO()
    gantt(schedule).savefig(text, format="svg")
    picture = text.getvalue()
    return picture[picture.index("<svg") :].replace(
        "<svg", '<svg style="max-width:100%;height:auto"', 1
    )


def pieces(start: float, duration: float, cycle: float) -> list[tuple[float, float]]:
    """(start, duration) of what is seen of a task in one cycle that is repeated, s."""
    begin = start % cycle
    first = min(duration, cycle - begin)
    rest = duration - first
    return [(begin, first), *([(0.0, rest)] if rest > 1e-9 else [])]

"""A balanced line: what every station does in the cycle, before and after; its energies; and the
curves that were used."""

from __future__ import annotations

from os import PathLike

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from armature.plot import style
from armature.study.line import BalancedLine, BalancedStation

MOVE, WAIT, PROCESS = style.COLOURS[0], "#DDDDDD", style.COLOURS[5]


def line(balanced: BalancedLine, save: str | PathLike[str] | None = None) -> Figure:
    """Times of all stations before and after, energies of a cycle (J), and energy-time curves with
    the durations that were chosen."""
    stations = balanced.stations
    title = (
        f"{balanced.name}: {balanced.before:.4g} J → {balanced.after:.4g} J in a cycle of"
        f" {balanced.cycle:.4g} s"
    )
    figure = Figure(figsize=(12.0, 2.6 + 0.55 * len(stations) + 3.2), layout="constrained")
    figure.suptitle(title)
    grid = figure.add_gridspec(2, 2, height_ratios=[1.6 + 0.55 * len(stations), 3.2])
    times, energies = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[0, 1])
    curves = figure.add_subplot(grid[1, :])
    names = [s.name for s in stations]
    for k, station in enumerate(stations):
        _bars(times, station, balanced.cycle, k)
    times.axvline(balanced.cycle, color=style.LIMIT, linestyle="--", linewidth=1.0)
    times.set(
        xlabel="time in the cycle [s] (above: before, below: after)",
        xlim=(0, 1.03 * balanced.cycle),
    )
    looks = (("moves", MOVE), ("process", PROCESS), ("waits", WAIT))
    patches = [Patch(color=colour, label=label) for label, colour in looks]
    times.legend(
        handles=patches,
        ncols=3,
        fontsize="small",
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        frameon=False,
    )
    place = np.arange(len(stations))
    energies.barh(place - 0.2, [s.before for s in stations], 0.36, color="#999999", label="before")
    bars = energies.barh(
        place + 0.2, [s.after for s in stations], 0.36, color=style.COLOURS[2], label="after"
    )
    energies.bar_label(
        bars,
        [f" {100 * (s.after / s.before - 1):+.0f} %" if s.before > 0 else "" for s in stations],
        fontsize="small",
    )
    energies.set(xlabel="energy of a cycle [J]")
    energies.legend(fontsize="small")
    for axes in (times, energies):
        axes.set_yticks(place, names)
        axes.set_ylim(len(stations) - 0.4, -0.6)
    _curves(curves, balanced)
    return style.finish(figure, save)


def _bars(axes: Axes, station: BalancedStation, cycle: float, row: int) -> None:
    """Moves, processes and waits of a station as bars: before above, after below."""
    least = sum(m.least.duration for m in station.moves)
    moves = sum(m.plan.duration for m in station.moves)
    for offset, parts in (
        (-0.2, (least, station.process_time, cycle - station.least_time)),
        (0.2, (moves, station.process_time, station.waits)),
    ):
        left = 0.0
        for width, colour in zip(parts, (MOVE, PROCESS, WAIT)):
            axes.barh(row + offset, width, 0.36, left=left, color=colour)
            left += width


def _curves(axes: Axes, balanced: BalancedLine) -> None:
    """Energy against time of every move, with the duration that it was given."""
    moves = [(f"{s.name}: {m.name}", m) for s in balanced.stations for m in s.moves]
    for k, (name, move) in enumerate(moves):
        axes.plot(
            move.durations,
            move.energies,
            label=name,
            marker="." if len(move.durations) == 1 else None,
            **style.line(k),
        )
        axes.plot(
            [move.plan.duration],
            [move.after],
            "o",
            color=style.COLOURS[k % len(style.COLOURS)],
            markersize=6,
        )
    axes.set(xlabel="duration of a move [s] (o: as planned)", ylabel="energy [J]")
    axes.grid(True, color="#DDDDDD", linewidth=0.6)
    if len(moves) <= 16:
        axes.legend(fontsize="small", ncols=2)

"""Winding temperatures while a cycle is repeated."""

from __future__ import annotations

from math import ceil
from os import PathLike
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from armature.errors import ArgumentError
from armature.plot import style
from armature.simulate.ledger import Ledger


def temperature(
    ledger: Ledger | Any, cycles: int | None = None, save: str | PathLike[str] | None = None
) -> Figure:
    """Highest winding temperature (°C) in each repetition of the ledger's cycle, begun cold, with
    the steady state and the maximum.

    cycles: how many repetitions to draw; by default five thermal time constants of the slowest
    motor."""
    ledger = getattr(ledger, "ledger", ledger)
    warm = [(h, h.drive.motor.thermal) for h in ledger.heating if h.drive.motor.thermal is not None]
    if not warm:
        raise ArgumentError(
            "no motor has thermal data; give its `thermal` (resistances and time constants) to see"
            " temperatures"
        )
    longest = max(thermal.housing_time for _, thermal in warm)
    cycles = cycles or max(2, ceil(5 * longest / ledger.duration))
    counts = np.unique(np.linspace(1, cycles, min(cycles, 200)).astype(int))
    figure, (a,) = style.panels(
        1, "Winding temperature over repeated cycles", width=7.0, height=4.0
    )
    for k, (heat, _) in enumerate(warm):
        a.plot(
            counts * ledger.duration / 60,
            [heat.winding(int(n)) for n in counts],
            label=heat.name,
            **style.line(k),
        )
        if np.isfinite(heat.steady_winding):
            a.axhline(
                heat.steady_winding,
                color=style.COLOURS[k % len(style.COLOURS)],
                linewidth=0.7,
                linestyle=":",
            )
    for limit in sorted({thermal.maximum for _, thermal in warm}):
        a.axhline(limit, color=style.LIMIT, linewidth=1.0)
        a.annotate(
            "maximum",
            (0.99, limit),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            fontsize="small",
        )
    a.set(xlabel="time [min]", ylabel="winding [°C]")
    a.legend(loc="best", fontsize="small")
    return style.finish(figure, save)

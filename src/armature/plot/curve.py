"""Energy against duration: the curve, its minima and the advice (B8)."""

from __future__ import annotations

import textwrap
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from armature.plot import style

if TYPE_CHECKING:
    from armature.optimize.moves.curve import Curve


def curve(result: Curve, save: str | PathLike[str] | None = None) -> Figure:
    """Net energy and losses (J) over durations (s) of an `energy_time_curve`; minima are marked,
    the advice stands below."""
    figure, (a,) = style.panels(1, "Energy against duration", width=7.5, height=4.6)
    a.plot(
        result.durations,
        result.energies,
        marker="o",
        markersize=3,
        label="energy drawn",
        **style.line(0),
    )
    a.plot(result.durations, result.losses, label="losses", **style.line(1))
    for T, E in result.minima:
        a.plot(T, E, "v", color=style.COLOURS[2], markersize=8)
        a.annotate(
            f"{T:.3g} s, {E:.3g} J",
            (T, E),
            xytext=(0, -16),
            textcoords="offset points",
            ha="center",
            fontsize="small",
        )
    missing = result.durations[np.isnan(result.energies)]
    if len(missing):
        a.axvspan(missing.min(), missing.max(), color="#EEEEEE", label="no plan")
    a.set(xlabel="duration [s]", ylabel="energy [J]")
    a.legend(loc="best", fontsize="small")
    if result.advice:
        figure.supxlabel("\n".join(textwrap.wrap(result.advice, 105)), fontsize="small")
    return style.finish(figure, save)

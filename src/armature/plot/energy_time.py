"""Energy against duration (B8): the curve, its minima, the losses."""

from __future__ import annotations

from os import PathLike

from matplotlib.figure import Figure

from armature.optimize.curve import Curve
from armature.plot import style


def energy_time(curve: Curve, save: str | PathLike[str] | None = None) -> Figure:
    """Energy and losses (J) over the duration (s); minima are marked."""
    figure, (axis,) = style.panels(1, "energy against duration", width=6.4, height=4.2)
    axis.plot(curve.durations, curve.energies, label="energy drawn", marker=".", **style.line(0))
    axis.plot(curve.durations, curve.losses, label="losses", **style.line(1))
    for k, (T, E) in enumerate(curve.minima):
        axis.plot([T], [E], "o", color=style.LIMIT, label="minimum" if k == 0 else None)
        axis.annotate(f"{T:.3g} s, {E:.3g} J", (T, E), textcoords="offset points", xytext=(4, -12))
    axis.set(xlabel="duration [s]", ylabel="energy [J]")
    axis.legend()
    return style.finish(figure, save)

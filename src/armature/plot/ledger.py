"""The energy ledger as a flow: what came in on the left, where it went on the right, widths in
proportion."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armature.plot import style
from armature.plot.flows import flows_in, flows_out
from armature.simulate.ledger import Ledger

COLOUR = {
    "drawn": 4,
    "returned": 2,
    "kinetic": 5,
    "potential": 5,
    "capacitor": 5,
    "copper": 1,
    "resistor": 6,
}
GAP = 0.04  # between bands, of the whole height


def ledger_flow(ledger: Ledger | Any, save: str | PathLike[str] | None = None) -> Figure:
    """Energies (J) in and out of a motion as bands; stored energy that fell stands on the left,
    that grew on the right.

    ledger: of a motion, or a plan.
    """
    ledger = getattr(ledger, "ledger", ledger)
    sources, sinks = flows_in(ledger), flows_out(ledger)
    figure, (a,) = style.panels(
        1, f"Energy of the motion: {ledger.energy:.4g} J net", width=8.0, height=4.5
    )
    total = max(sum(x for _, x in sources), sum(x for _, x in sinks), 1e-12)
    for bands, x0, x1 in ((sources, 0.0, 0.45), (sinks, 1.0, 0.55)):
        _side(a, bands, total, x0, x1)
    a.fill_between([0.45, 0.55], -0.5, 0.5, color=style.REGION)
    a.text(0.5, 0.0, f"{total:.4g} J", ha="center", va="center", rotation=90)
    a.set(xlim=(-0.28, 1.28), ylim=(-0.75, 0.75))
    a.axis("off")
    return style.finish(figure, save)


def _side(
    a: Axes, bands: list[tuple[str, float]], total: float, outer: float, inner: float
) -> None:
    """Bands from their own places at `outer` to a closed stack at `inner`."""
    step = np.linspace(0, 1, 60)
    ease = step * step * (3 - 2 * step)
    top_in, top_out = 0.5, 0.5 + GAP * (len(bands) - 1) / 2
    for k, (name, energy) in enumerate(bands):
        height = energy / total
        x = outer + (inner - outer) * step
        top = top_out + (top_in - top_out) * ease
        colour = style.COLOURS[COLOUR.get(name, (3, 0, 7)[k % 3])]
        a.fill_between(x, top - height, top, color=colour, alpha=0.65, linewidth=0)
        left = outer < inner
        label = f"{name.replace('_', ' ')} {energy:.4g} J"
        a.text(
            outer + (-0.02 if left else 0.02),
            top_out - height / 2,
            label,
            ha="right" if left else "left",
            va="center",
            fontsize="small",
        )
        top_in, top_out = top_in - height, top_out - height - GAP

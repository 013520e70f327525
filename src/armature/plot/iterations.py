"""How a search went: cost, violation, stationarity and barrier by iteration."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from armature.errors import ArgumentError
from armature.plot import style

TINY = 1e-16
ROWS = ("violation", "stationarity", "barrier")


def iterations(plan: Any, save: str | PathLike[str] | None = None) -> Figure:
    """Cost (J, or s for a least time) by iteration, and below it what is left to do, on a scale of
    powers of ten.

    plan: a `Solution` or `SavedPlan`, or its iterations.
    """
    record = getattr(plan, "iterations", plan)
    if not record:
        raise ArgumentError(
            "there are no iterations to draw: the search ended before its first step"
        )
    figure, (cost, left) = style.panels(2, "How the search went", width=7.0, height=3.0, columns=1)
    numbers = [i.number for i in record]
    cost.plot(numbers, [i.cost for i in record], **style.line(0))
    cost.set(ylabel="cost")
    for k, name in enumerate(ROWS):
        left.semilogy(
            numbers,
            np.maximum([getattr(i, name) for i in record], TINY),
            label=name,
            **style.line(k + 1),
        )
    elastic = [i.number for i in record if i.elastic]
    if elastic:
        left.axvspan(elastic[0], elastic[-1], color=style.REGION_2, label="constraints softened")
    left.set(xlabel="iteration", ylabel="residual")
    left.legend(loc="best", fontsize="small", ncols=4)
    return style.finish(figure, save)

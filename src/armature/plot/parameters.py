"""Figures of a design: which numbers matter (tornado), cost against one of them, before and
after."""

from __future__ import annotations

from os import PathLike

import numpy as np
from matplotlib.figure import Figure

from armature.design.cost_curve import CostCurve
from armature.design.free import Design
from armature.design.sensitivity import WORDS, Sensitivities
from armature.errors import ArgumentError
from armature.optimize.certificate.solution import Solution
from armature.plot import style

MOST = 15  # bars


def tornado(
    table: Sensitivities | Solution, change: float = 0.1, save: str | PathLike[str] | None = None
) -> Figure:
    """Relative change of a plan's optimal cost where each parameter is lower or higher by a part of
    itself (0.1: 10 %), to first order; the longest bars first.

    table: of `Solution.sensitivities`, or a plan."""
    if not isinstance(table, Sensitivities | Solution):
        raise ArgumentError(
            f"table = {table!r} must be a plan, or what its sensitivities() returns"
        )
    found = table if isinstance(table, Sensitivities) else table.sensitivities()
    rows = [row for row in found if row.value and np.isfinite(row.elasticity)][:MOST][::-1]
    if not rows:
        raise ArgumentError("there is nothing to draw: no parameter changes the plan's cost")
    what = WORDS[rows[0].of]
    height = 1.2 + 0.28 * len(rows)
    figure, (a,) = style.panels(1, f"Sensitivity of the {what}", width=7.5, height=height)
    places = np.arange(len(rows))
    for sign, word, colour in ((-1.0, "lower", 0), (1.0, "higher", 1)):
        bars = [
            100.0 * row.change(sign * change) if row.is_possible(sign * change) else 0.0
            for row in rows
        ]
        label = f"{100 * change:.0f} % {word}"
        a.barh(places, bars, color=style.COLOURS[colour], height=0.7, label=label)
    a.axvline(0.0, color=style.LIMIT, linewidth=0.8)
    a.set_yticks(
        places, [f"{row.parameter} ({f'{row.value:.3g} {row.unit}'.rstrip()})" for row in rows]
    )
    a.set(xlabel=f"{what}, change [%]")
    a.legend(loc="lower right", fontsize="small")
    return style.finish(figure, save)


def parameter_curve(curve: CostCurve, save: str | PathLike[str] | None = None) -> Figure:
    """Optimal cost over a parameter (`design.cost_curve`): energy against ratio; the robot's own
    value and the best are marked."""
    what, unit = WORDS[curve.of], "s" if curve.of == "time" else "J"
    figure, (a,) = style.panels(1, f"{what} against {curve.parameter}", width=7.0, height=4.2)
    a.plot(curve.values, curve.costs, marker="o", markersize=3, **style.line(0))
    a.plot(*curve.now, "s", color=style.COLOURS[6], label=f"now: {curve.now[0]:.4g}")
    a.plot(*curve.best, "v", color=style.COLOURS[2], label=f"best here: {curve.best[0]:.4g}")
    label = curve.parameter + (f" [{curve.unit}]" if curve.unit else "")
    a.set(xlabel=label, ylabel=f"{what} [{unit}]")
    a.legend(loc="best", fontsize="small")
    return style.finish(figure, save)


def before_and_after(design: Design, save: str | PathLike[str] | None = None) -> Figure:
    """A design's parameters and the costs of its moves, before and after."""
    unit = "s" if design.of == "time" else "J"
    figure, (left, right) = style.panels(2, f"{100 * design.saving:.1f} % saved", 5.2, 3.6)
    names = list(design.values)
    parts = [
        100.0 * (design.values[n] / design.start[n] - 1.0) if design.start[n] else 0.0
        for n in names
    ]
    left.barh(names, parts, color=style.COLOURS[2])
    left.set(xlabel="change of the parameter [%]")
    for k, (name, part) in enumerate(zip(names, parts)):
        text = f" {design.start[name]:.4g} → {design.values[name]:.4g} {design.units[name]}"
        left.text(part, k, text, va="center", fontsize="small")
    left.margins(x=0.5)
    cost = lambda plan: plan.duration if design.of == "time" else getattr(plan, design.of)
    places = np.arange(len(design.plans))
    for shift, plans, label, colour in (
        (-0.2, design.first, "before", 4),
        (0.2, design.plans, "after", 0),
    ):
        heights = [cost(plan) for plan in plans]
        right.bar(places + shift, heights, 0.4, color=style.COLOURS[colour], label=label)
    right.set_xticks(places, [f"move {k + 1}" for k in places])
    right.set(ylabel=f"{WORDS[design.of]} [{unit}]")
    right.legend(fontsize="small")
    return style.finish(figure, save)

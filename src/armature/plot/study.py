"""A study at a glance: energy against every varied key, what succeeded, the savings, and energy
against time."""

from __future__ import annotations

import json
from os import PathLike
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armature.errors import ArgumentError
from armature.plot import style
from armature.study.store import STATES
from armature.study.summary import Results

MOST_KEYS = 6
MOST_CURVES = 40
COLOURS = {
    "plan": style.COLOURS[2],
    "no plan": style.COLOURS[1],
    "failed": style.COLOURS[3],
    "poisoned": style.COLOURS[6],
}


def study(results: Results, save: str | PathLike[str] | None = None) -> Figure:
    """Summary of a study's table; energies in J, savings in per cent."""
    table = results.table()
    done = [row for row in results.rows if row.state == "done"]
    if not done:
        counts = ", ".join(f"{results.counts[s]} {s}" for s in STATES if results.counts[s])
        raise ArgumentError(
            f"study {results.name!r} has no finished case to draw ({counts}); run it first"
        )
    curves = [row for row in done if row.outcome.get("curve_energies")]
    measure = next(
        (
            name
            for name in ("energy", *table)
            if _numeric(table.get(name, [])) and name in done[0].outcome
        ),
        None,
    )
    keys = [key for key in results.keys if len({_text(row.inputs.get(key)) for row in done}) > 1][
        :MOST_KEYS
    ]
    keys = keys if measure is not None else []
    savings = np.array(
        [
            100 * s
            for row in done
            if row.outcome.get("ok") and (s := row.outcome.get("saving")) is not None
        ]
    )
    count = len(keys) + 1 + bool(curves) + bool(savings.size)
    figure, axes = style.panels(count, results.name, columns=2 if count == 4 else 3)
    places = iter(axes)
    for key in keys:
        _against(next(places), results, key, str(measure))
    if curves:
        _curves(next(places), curves)
    if savings.size:
        panel = next(places)
        panel.hist(
            savings,
            bins=min(30, max(5, savings.size // 5)),
            color=style.COLOURS[0],
            edgecolor="white",
            linewidth=0.5,
        )
        panel.axvline(
            float(np.median(savings)),
            color=style.COLOURS[1],
            linestyle="--",
            label=f"median {np.median(savings):.3g} %",
        )
        panel.set(xlabel="saved against the joint cubic [%]", ylabel="cases")
        panel.legend(fontsize="small")
    _success(next(places), results)
    return style.finish(figure, save)


def _against(panel: Axes, results: Results, key: str, measure: str) -> None:
    """What was found against one key: points, and the median at every value that occurs more than
    once."""
    done = [r for r in results.rows if r.state == "done" and r.outcome.get("ok", True)]
    rows = [r for r in done if r.outcome.get(measure) is not None and r.inputs.get(key) is not None]
    given: list[Any] = [r.inputs[key] for r in rows]
    found = np.array([float(r.outcome[measure]) for r in rows])
    numeric = _numeric(given)
    names = [] if numeric else list(dict.fromkeys(_text(v) for v in given))
    x = (
        np.array([float(v) for v in given])
        if numeric
        else np.array([float(names.index(_text(v))) for v in given])
    )
    panel.plot(x, found, "o", color=style.COLOURS[0], markersize=3.5, alpha=0.6)
    places = np.unique(x)
    if 1 < len(places) < len(x):
        medians = [np.median(found[x == place]) for place in places]
        panel.plot(places, medians, label="median", color=style.COLOURS[1], linewidth=1.6)
        panel.legend(fontsize="small")
    if names:
        panel.set_xticks(
            range(len(names)),
            [n if len(n) <= 18 else n[:17] + "…" for n in names],
            rotation=20,
            ha="right",
            fontsize="small",
        )
    unit = {"energy": " [J]", "losses": " [J]"}.get(measure, "")
    units = {"payload": " [kg]", "duration": " [s]"}
    panel.set(xlabel=key + units.get(key.rpartition(".")[2], ""), ylabel=measure + unit)


def _curves(panel: Axes, rows: list[Any]) -> None:
    """Energy against time, one line a case."""
    for k, row in enumerate(rows[:MOST_CURVES]):
        T, E = (
            row.outcome["curve_durations"],
            [np.nan if e is None else e for e in row.outcome["curve_energies"]],
        )
        look = (
            style.line(k)
            if len(rows) <= 8
            else {"color": style.COLOURS[0], "alpha": 0.4, "linewidth": 1.0}
        )
        panel.plot(T, E, label=f"case {row.number}", **look)
    if len(rows) <= 8:
        panel.legend(fontsize="small")
    more = f" (first {MOST_CURVES} of {len(rows)})" if len(rows) > MOST_CURVES else ""
    panel.set(xlabel="duration [s]", ylabel="energy [J]", title=f"energy against time{more}")


def _success(panel: Axes, results: Results) -> None:
    """How many cases have a plan, have none, failed, or were set aside."""
    done = [row for row in results.rows if row.state == "done"]
    good = sum(bool(row.outcome.get("ok", True)) for row in done)
    numbers = {
        "plan": good,
        "no plan": len(done) - good,
        "failed": results.counts["failed"],
        "poisoned": results.counts["poisoned"],
    }
    numbers |= {"waiting": results.counts["waiting"]}
    shown = {name: n for name, n in numbers.items() if n}
    bars = panel.bar(
        range(len(shown)),
        list(shown.values()),
        color=[COLOURS.get(name, "#999999") for name in shown],
    )
    panel.bar_label(bars)
    panel.set_xticks(range(len(shown)), list(shown))
    panel.set(ylabel="cases")


def _numeric(values: list[Any]) -> bool:
    return bool(values) and all(
        isinstance(v, int | float) and not isinstance(v, bool) for v in values if v is not None
    )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)

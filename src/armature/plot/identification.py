"""The page of an identification (HTML, no network): measured against predicted, residuals, what is
well and what badly known."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Iterable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from armature.errors import FileError
from armature.identify.identified import condition_words
from armature.identify.model_error import planned_power
from armature.identify.recording import Recording
from armature.plot import style
from armature.write import MARK, check_target, write_whole

MOST_POINTS = 1500  # of a curve
STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:72em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:.6em 0}td,th{padding:.15em .8em;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child{text-align:left}img{max-width:100%}.bad{color:#B3261E}small{color:#666}"""


def write_identification(found: Any, path: str | PathLike[str]) -> Path:
    """Write the page of an `Identified` robot. Returns the path."""
    place = check_target(path)
    if place.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"the page ends in .html, not {place.suffix!r}; choose that", place)
    return write_whole(place, identification_page(found))


def save_identification(found: Any, path: str | PathLike[str]) -> tuple[Path, ...]:
    """Write the robot, its drives and the page beside one another. Returns the files."""
    stem = Path(fspath(path))
    stem = stem.with_suffix("") if stem.suffix.lower() in (".yaml", ".yml", ".html") else stem
    robot, drives, page = (
        stem.with_name(stem.name + end) for end in (".yaml", "_drives.yaml", ".html")
    )
    has_drives = bool(found.robot.drives)
    for target in (robot, *((drives,) if has_drives else ()), page):
        check_target(target)
    found.robot.save(robot)
    written = [robot]
    if has_drives:
        lines = found.robot.to_yaml().split("\n")
        first = next(k for k, line in enumerate(lines) if line in ("drives:", "couplings:"))
        kept = [line for line in lines[first:] if not line.startswith("model_error:")]
        write_whole(drives, f"# {MARK}\n" + "\n".join(kept))
        written.append(drives)
    return (*written, write_identification(found, page))


def identification_page(found: Any) -> str:
    """The page as text."""
    names = found.robot.joint_names
    parts = [f"<h1>{html.escape(found.robot.name)}, identified</h1>"]
    error = found.robot.model_error
    parts += [] if error is None else [f"<p><b>{html.escape(str(error))}.</b></p>"]
    parts.append(f"<p>{html.escape(found.agreement)}.</p>")
    parts += [
        "<h2>Error of each recording</h2>",
        "<p>R.m.s. error in % of each joint's spread: description → identified.</p>",
    ]
    parts.append(_table(("recording", *names), _error_rows(found)))
    if found.supply is not None:
        parts += ["<h2>Supply</h2>", f"<p>{html.escape(str(found.supply))}.</p>", _power(found)]
    parts.append("<h2>Measured against predicted</h2>")
    shown = [r for r in found.recordings if r.name in found.held_out] or list(found.recordings)
    for recording in shown[:3]:
        kind = "held out" if recording.name in found.held_out else "fitted"
        parts += [
            f"<h3>{html.escape(recording.name)} ({kind})</h3>",
            _picture(comparison(found, recording)),
        ]
    parts += ["<h2>Parameters</h2>", _known(found)]
    title = html.escape(f"{found.robot.name}, identified")
    head = f'<meta charset="utf-8"><title>{title}</title><!-- {MARK} --><style>{STYLE}</style>'
    body = "\n".join(parts)
    return f'<!doctype html><html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'


def comparison(found: Any, recording: Recording) -> Figure:
    """Measured and predicted signals with their difference, joint by joint."""
    t, predicted, measured = found.predict(recording)
    unit = "A" if recording.current is not None else "N·m"
    figure, axes = style.panels(found.robot.n, width=4.6, height=2.6)
    pick = slice(None, None, max(1, len(t) // MOST_POINTS))
    for k, (a, name) in enumerate(zip(axes, found.robot.joint_names)):
        a.plot(t[pick], measured[pick, k], color="#888888", linewidth=1.4, label="measured")
        a.plot(
            t[pick], predicted[pick, k], color=style.COLOURS[0], linewidth=0.9, label="predicted"
        )
        a.plot(
            t[pick],
            (measured - predicted)[pick, k],
            color=style.COLOURS[1],
            linewidth=0.7,
            label="difference",
        )
        a.set_title(
            f"{name}: {found.error.get(recording.name, np.full(99, np.nan))[k]:.1f} %", fontsize=9
        )
        a.set_ylabel(unit)
    axes[0].legend(fontsize=7)
    return figure


def power_figure(found: Any, recording: Recording) -> Figure:
    """Supply power: the meter, and the ledger of the identified robot from the motion alone."""
    figure, (a,) = style.panels(1, width=9.0, height=2.8)
    for part in planned_power(found.robot, recording, found.cutoff):
        a.plot(part.t, part.measured, color="#888888", linewidth=1.4, label="measured")
        a.plot(
            part.t,
            part.predicted,
            color=style.COLOURS[0],
            linewidth=0.9,
            label="predicted from the motion",
        )
    a.set_xlabel("s")
    a.set_ylabel("W")
    a.legend(fontsize=7)
    return figure


def _error_rows(found: Any) -> Iterable[Sequence[str]]:
    for name, error in found.error.items():
        kind = "held out" if name in found.held_out else "fitted"
        pairs = zip(found.prior_error[name], error)
        yield (f"{name} ({kind})", *(f"{a:.0f} → {b:.1f}" for a, b in pairs))


def _power(found: Any) -> str:
    metered = [r for r in found.recordings if r.supply_power is not None]
    rows = []
    for recording in metered:
        sums = np.sum(
            [part.energy for part in planned_power(found.robot, recording, found.cutoff)], axis=0
        )
        rows.append(
            (
                recording.name,
                f"{sums[0]:.4g}",
                f"{sums[1]:.4g}",
                f"{100 * (sums[0] / sums[1] - 1):+.1f} %",
            )
        )
    table = _table(("recording", "predicted from the motion, J", "measured, J", ""), rows)
    return table + "".join(_picture(power_figure(found, r)) for r in metered[:2])


def _known(found: Any) -> str:
    """All parameters with their standard errors; badly known ones in red; what cannot be
    identified, by name."""
    base = found.base
    lines = [
        f"<p>{len(base.pivots)} combinations of {len(base.labels)} inertial parameters, rotors and"
        f" offsets act on the torques (condition number {condition_words(found.condition)})."
        " Standard errors above 30 % are red.</p>"
    ]
    in_sums = "Known only in the sums below, each alone left at the description"
    for words, names in (("No torque depends on", base.unseen), (in_sums, base.combined)):
        if names:
            lines.append(f"<p><small>{words}: {html.escape(', '.join(names))}.</small></p>")
    rows = []
    for p in found.parameters:
        kind = ' class="bad"' if p.is_badly_known else ""
        cells = (f"{p.value:.4g}", f"{p.standard_error:.2g}", f"{p.prior:.4g}", html.escape(p.unit))
        rows.append(
            f"<tr{kind}><td>{html.escape(p.name)}</td>"
            + "".join(f"<td>{c}</td>" for c in cells)
            + "</tr>"
        )
    head = "".join(
        f"<th>{x}</th>"
        for x in ("parameter", "identified", "standard error", "description", "unit")
    )
    return (
        "\n".join(lines)
        + f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    first = "".join(f"<th>{html.escape(x)}</th>" for x in head)
    rest = "".join(
        "<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{first}</tr></thead><tbody>{rest}</tbody></table>"


def _picture(figure: Figure) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    out = io.BytesIO()
    FigureCanvasAgg(figure).print_png(out)
    return f'<img alt="" src="data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}">'

"""The report of a plan on paper: the figures as pages of a PDF, or under one another in a PNG."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from armature.plot import style, words
from armature.plot.graf import graf
from armature.plot.iterations import iterations
from armature.plot.joints import joints
from armature.plot.ledger import ledger_flow
from armature.plot.motion import motion
from armature.plot.parameters import tornado
from armature.plot.power import power
from armature.robot.check import mass_doubt
from armature.write import MARK, write_whole

ROWS = 28  # of the certificate's table on a page


def write_pages(plan: Any, path: Path) -> Path:
    """Write the report of a plan as .pdf or .png; returns the path."""
    return write_whole(path, _pdf(plan) if path.suffix.lower() == ".pdf" else _png(plan))


def pages(plan: Any) -> Iterator[Figure]:
    """The pages, one after the other."""
    yield _title(plan)
    yield motion(plan)
    yield joints(plan)
    if plan.robot.drives:
        yield graf(plan)
        yield power(plan)
        yield ledger_flow(plan)
    if words.sensitive(plan):
        yield tornado(plan)
    yield _margins(plan)
    if len(plan.iterations) > 1:
        yield iterations(plan)


def _pdf(plan: Any) -> bytes:
    from matplotlib.backends.backend_pdf import PdfPages

    out = io.BytesIO()
    with PdfPages(
        out, metadata={"Title": f"{plan.robot.name}: {words.headline(plan)}", "Creator": MARK}
    ) as file:
        for page in pages(plan):
            file.savefig(page)
    return out.getvalue()


def _png(plan: Any) -> bytes:
    """All pages under one another, white beside the narrow ones."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.image import imsave

    pictures = []
    for page in pages(plan):
        page.set_dpi(100)
        canvas = FigureCanvasAgg(page)
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba())[..., :3])
    width = max(p.shape[1] for p in pictures)
    wide = [
        np.pad(p, ((0, 0), (0, width - p.shape[1]), (0, 0)), constant_values=255) for p in pictures
    ]
    out = io.BytesIO()
    imsave(
        out, np.ascontiguousarray(np.concatenate(wide)), format="png", metadata={"Software": MARK}
    )
    return out.getvalue()


def _title(plan: Any) -> Figure:
    """What the plan saves, in words, and the certificate."""
    figure = Figure(figsize=(8.3, 6.0))
    good = plan.ok and plan.certificate.ok and not mass_doubt(plan.robot)
    peaks = [
        f"peak {what} of {joint}: {mine}, {plan.baseline.name} {other}"
        for what, joint, mine, other, _ in words.peak_rows(plan)
    ]
    figure.text(0.06, 0.92, plan.robot.name, fontsize=11, color="#666666")
    title = textwrap.fill(words.headline(plan), 44)
    figure.text(
        0.06,
        0.90,
        title,
        fontsize=20,
        weight="bold",
        color="#0A7A52" if good else "#B3261E",
        va="top",
    )
    told = (
        *words.summary(plan),
        *(peaks if plan.ok else ()),
        "",
        *words.certificate(plan).splitlines(),
        "",
        *plan.notes,
    )
    lines = [textwrap.fill(line, 96) for line in told]
    figure.text(0.06, 0.74, "\n".join(lines), fontsize=9.5, va="top", linespacing=1.5)
    return figure


def _margins(plan: Any) -> Figure:
    """The limits that the motion comes nearest to."""
    rows = sorted(
        (m for row in plan.certificate.margins.values() for m in row.values()),
        key=lambda m: m.fraction,
    )[:ROWS]
    figure, (a,) = style.panels(
        1, "Every limit, nearest first", width=8.3, height=0.6 + 0.24 * (len(rows) + 2)
    )
    a.axis("off")
    cells = [
        [
            m.joint,
            m.limit,
            f"{m.value:.4g}",
            f"{m.bound:.4g} {m.unit}",
            words.left(m),
            f"{m.time:.3f} s",
        ]
        for m in rows
    ]
    if cells:
        table = a.table(
            cells,
            colLabels=["joint", "limit", "largest", "allowed", "", "at"],
            loc="upper center",
            cellLoc="left",
        )
        table.auto_set_font_size(False)
        table.set_fontsize(8)
    return figure

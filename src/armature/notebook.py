"""How results look in a notebook: small tables in HTML, every text escaped, nothing fetched from
anywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

ROWS = 40  # of a table; more are counted, not shown
GOOD, BAD = "#1a7f37", "#b42318"
CELL = "padding:1px 10px 1px 0;text-align:left;border:0"


def table(rows: Iterable[Sequence[Any]], head: Sequence[str] = ()) -> str:
    """Rows as a table; numbers with four digits."""
    every = [list(row) for row in rows]
    lines = []
    if head:
        lines.append(
            "<tr>" + "".join(f'<th style="{CELL}">{escape(name)}</th>' for name in head) + "</tr>"
        )
    for row in every[:ROWS]:
        lines.append(
            "<tr>" + "".join(f'<td style="{CELL}">{escape(cell(x))}</td>' for x in row) + "</tr>"
        )
    more = f"<small>… and {len(every) - ROWS} more</small>" if len(every) > ROWS else ""
    return f'<table style="border-collapse:collapse">{"".join(lines)}</table>{more}'


def cell(value: Any) -> str:
    """A value in a table."""
    if isinstance(value, float):
        return "" if math.isinf(value) else f"{value:.4g}"
    return str(value)


def title(text: str, verdict: str = "", good: bool = True) -> str:
    """A heading, with a verdict in colour."""
    said = (
        f' <span style="color:{GOOD if good else BAD}">{escape(verdict)}</span>' if verdict else ""
    )
    return f"<b>{escape(text)}</b>{said}"


def robot_html(robot: Any) -> str:
    """A robot: its joints, what they carry and how far they may go."""
    driven = {name for coupling in robot.drives for name in coupling.joints}
    rows = []
    for j in robot.joints:
        limits = j.limits
        drive = "yes" if j.name in driven else ""
        mass = robot.link(j.child).mass
        rows.append(
            (
                j.name,
                j.kind,
                j.parent,
                j.child,
                mass,
                limits.lower,
                limits.upper,
                limits.velocity,
                limits.torque,
                drive,
            )
        )
    head = (
        "joint",
        "kind",
        "parent",
        "child",
        "kg",
        "lower",
        "upper",
        "velocity",
        "torque",
        "drive",
    )
    return f"{title(robot.name)} {len(robot.links)} links, {robot.mass:.4g} kg{table(rows, head)}"


def plan_html(plan: Any) -> str:
    """A plan: how it ended, what it takes and saves; its certificate where that is known
    already."""
    verdict = "found" if plan.ok else "no plan"
    rows: list[tuple[str, str]] = [("duration", f"{plan.duration:.4g} s")]
    if plan.ok:
        rows += [("energy drawn", f"{plan.energy:.4g} J"), ("losses", f"{plan.losses:.4g} J")]
        if plan.saving is not None:
            what = "losses" if plan.returns else "energy drawn"
            rows.append(
                (
                    "saved",
                    f"{100 * plan.saving:.1f} % of the {what} against the {plan.baseline.name}",
                )
            )
    if "certificate" in vars(plan):
        rows.append(("certificate", "passed" if plan.ok and plan.certificate.ok else "not passed"))
    why = [str(plan.diagnosis)] if plan.diagnosis is not None else []
    notes = "".join(f"<div>{escape(note)}</div>" for note in (plan.status.value, *why, *plan.notes))
    return f"{title(plan.robot.name, verdict, plan.ok)}{table(rows)}<small>{notes}</small>"


def certificate_html(certificate: Any) -> str:
    """A certificate: the verdict, and the nearest limit of each joint."""
    rows = []
    for joint, margins in certificate.margins.items():
        if margins:
            m = min(margins.values(), key=lambda x: x.fraction)
            value, bound = f"{m.value:.4g} {m.unit}", f"{m.bound:.4g} {m.unit}"
            rows.append(
                (joint, m.limit, value, bound, f"{100 * m.fraction:.2f} %", f"{m.time:.4g} s")
            )
    head = ("joint", "nearest limit", "value", "limit", "left", "at")
    errors = [
        ("off in the simulation with a servo", f"{certificate.tracking_error:.1e} of the motion"),
        (
            "energy of the simulation",
            f"{certificate.energy:.6g} J, off by {certificate.energy_error:.1e}",
        ),
    ]
    verdict = "passed" if certificate.ok else "not passed"
    return f"{title('certificate', verdict, certificate.ok)}{table(rows, head)}{table(errors)}"


def curve_html(curve: Any) -> str:
    """A curve: a line of energy over duration, its minima, the advice."""
    points = [
        (float(T), float(E)) for T, E in zip(curve.durations, curve.energies) if math.isfinite(E)
    ]
    minima = (
        table([(f"{T:.4g} s", f"{E:.4g} J") for T, E in curve.minima], ("minimum at", "energy"))
        if curve.minima
        else ""
    )
    return f"{title('energy against duration')}<br>{line_svg(points)}{minima}<div>{escape(curve.advice)}</div>"


def line_svg(points: Sequence[tuple[float, float]], width: int = 360, height: int = 120) -> str:
    """A line through points, with the ends of both axes written."""
    if not points:
        return ""
    xs, ys = zip(*points)
    across, up = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0
    place = lambda x, y: (
        f"{50 + (width - 60) * (x - min(xs)) / across:.1f},{8 + (height - 30) * (max(ys) - y) / up:.1f}"
    )
    line = " ".join(place(x, y) for x, y in points)
    label = lambda x, y, words: (
        f'<text x="{x}" y="{y}" font-size="10" fill="currentColor">{escape(words)}</text>'
    )
    labels = [
        label(0, 14, f"{max(ys):.3g} J"),
        label(0, height - 22, f"{min(ys):.3g} J"),
        label(50, height - 6, f"{min(xs):.3g} s"),
        label(width - 40, height - 6, f"{max(xs):.3g} s"),
    ]
    path = f'<polyline points="{line}" fill="none" stroke="#0969da" stroke-width="2"/>'
    return (
        f'<svg width="{width}" height="{height}" role="img" aria-label="energy against'
        f' duration">{path}{"".join(labels)}</svg>'
    )


def ledger_html(ledger: Any) -> str:
    """A ledger: where the energy went, joint by joint."""
    names = (
        "drawn",
        "returned",
        "copper",
        "friction",
        "gear",
        "iron",
        "amplifier",
        "resistor",
        "supply_loss",
        "kinetic",
        "potential",
    )
    rows = [
        (name.replace("_", " "), f"{getattr(ledger, name):.4g} J")
        for name in names
        if getattr(ledger, name, 0.0)
    ]
    joints = list(ledger.per_joint.items())
    columns = list(joints[0][1]) if joints else []
    each = table(
        [(joint, *(float(row[c]) for c in columns)) for joint, row in joints], ("joint", *columns)
    )
    return f"{title('energy ledger')}{table(rows)}{each}"

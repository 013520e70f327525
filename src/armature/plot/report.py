"""The report of a plan: one page (HTML, no network) with the moving robot, or the figures as PDF or
PNG."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any

from armature.errors import FileError
from armature.optimize.certificate.solution import NOT_COUNTED, NOTHING, doubts
from armature.plot import words
from armature.plot.page_data import page_data
from armature.robot.check import mass_doubt
from armature.simulate.yearly import Yearly
from armature.write import check_target, write_whole

PARTS = Path(__file__).parent / "page"
SCRIPTS = ("scene.js", "charts.js", "report.js")


def write_report(
    plan: Any,
    path: str | PathLike[str],
    meshes: Sequence[str | PathLike[str]] = (),
    cycles_per_day: float | None = None,
    price: float | None = None,
) -> Path:
    """Write the report of a `Solution` or a `SavedPlan`: .html, .pdf, or .png by the path's ending.
    Returns the path.

    meshes: folders in which the meshes that the robot's file names are looked for; without them the
    page draws limbs between the joints.
    cycles_per_day, price: for kWh in a year, and money where the price of a kWh is given (HTML).
    """
    place = check_target(path)  # before anything is drawn
    suffix = place.suffix.lower()
    if suffix in (".html", ".htm"):
        return write_whole(place, html_page(plan, meshes, cycles_per_day, price))
    if suffix in (".pdf", ".png"):
        from armature.plot.pages import write_pages  # matplotlib is needed for these only

        return write_pages(plan, place)
    raise FileError(
        f"a report ends in .html, .pdf or .png, not {suffix!r}; choose one of them", place
    )


def html_page(
    plan: Any,
    meshes: Sequence[str | PathLike[str]] = (),
    cycles_per_day: float | None = None,
    price: float | None = None,
) -> str:
    """The page as text: style, data and scripts are inside."""
    shapes = _meshes(plan, meshes)
    text = lambda name: (PARTS / name).read_text(encoding="utf-8")
    lead, *rest = words.summary(plan, doubted=False)  # the banner says it
    if found := words.sensitive(plan):
        rest.append(f"Were the robot another: {'; '.join(found)}, with the motion planned again.")
    return Template(text("report.html")).substitute(
        title=html.escape(f"{plan.robot.name}: {plan.duration:.4g} s"),
        robot=html.escape(plan.robot.name),
        headline=html.escape(words.headline(plan)),
        verdict=_verdict(plan),
        banner="".join(
            f'<p class="banner" role="alert">{html.escape(line[0].upper() + line[1:])}.</p>'
            for line in doubts(plan.robot)
        ),
        peaks=_peaks(plan),
        summary="".join(
            f"<p>{html.escape(line)}</p>" for line in ([lead, *rest] if plan.ok else rest)
        ),
        failure="" if plan.ok else f'<p class="failure" role="alert">{html.escape(lead)}</p>',
        tiles=_tiles(plan, None if cycles_per_day is None else plan.yearly(cycles_per_day, price)),
        notes="".join(
            f"<li>{html.escape(note)}</li>"
            for note in (*(() if plan.status.optimal else (plan.status.value,)), *plan.notes)
        ),
        certificate=html.escape(words.certificate(plan)),
        books=html.escape(str(plan.ledger) if plan.robot.drives else NOT_COUNTED),
        provenance=_provenance(plan),
        style=text("report.css"),
        script="\n".join(text(name) for name in SCRIPTS),
        data=script_data(page_data(plan, shapes)),
    )


def _verdict(plan: Any) -> str:
    """The colour of the headline: green only for a plan that is certified and whose energy means
    something."""
    if not (plan.ok and plan.certificate.ok) or mass_doubt(plan.robot):
        return "bad"
    return (
        "plain"
        if plan.saving is not None and plan.saving < NOTHING and not words.hurried(plan)
        else "good"
    )


def _peaks(plan: Any) -> str:
    """The peaks of plan and baseline, as a table."""
    rows = words.peak_rows(plan) if plan.ok else []
    if not rows:
        return ""
    cells = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    head = "".join(
        f"<th>{html.escape(name)}</th>" for name in ("peak", "of", "plan", plan.baseline.name, "")
    )
    return f'<table class="peaks"><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table>'


def script_data(data: Any) -> str:
    """JSON that may stand in a script of a page, whatever names are in it: no character of it can
    end the script or begin a comment."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # pure ASCII
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _meshes(plan: Any, folders: Sequence[str | PathLike[str]]) -> dict[str, list[dict[str, Any]]]:
    if not folders:
        return {}
    from armature.plot.meshes import meshes

    return meshes(plan.robot, folders)


def _tiles(plan: Any, year: Yearly | None = None) -> str:
    """The numbers that matter, each with its name and a remark."""
    base, proof, near = plan.baseline, plan.certificate, plan.certificate.worst
    counted = bool(plan.robot.drives)
    follows = f"follows to {proof.tracking_error:.0e}" + (
        f", energy to {proof.energy_error:.0e}" if counted else ""
    )
    other = lambda name: (
        "" if base is None else f"{words.the(base.name)}: {getattr(base.ledger, name):.4g} J"
    )
    tiles = [
        ("energy drawn", f"{plan.energy:.4g} J", other("energy")),
        ("heat", f"{plan.losses:.4g} J", other("losses")),
        (
            "duration",
            f"{plan.duration:.4g} s",
            (
                f"{len(plan.trajectory) - 1} knots, {len(plan.iterations)} iterations in the last"
                " search"
            ),
        ),
        (
            "certificate",
            "passed" if plan.ok and proof.ok else "not passed",
            follows if plan.ok else "the task is not met",
        ),
    ]
    if not counted:
        tiles[:2] = [("energy", "not counted", "the robot has no drives")]
    if (
        plan.ok
        and plan.saving is not None
        and not words.hurried(plan)
        and not mass_doubt(plan.robot)
    ):
        tiles.insert(
            0,
            (
                "saved",
                f"{100 * plan.saving:.1f} %",
                f"of the {'losses' if plan.returns else 'energy drawn'}",
            ),
        )
    if near is not None:
        tiles.append(
            (
                "nearest limit",
                words.left(near),
                f"{near.joint}: {near.limit} at {round(near.time, 6):.3g} s",
            )
        )
    if plan.ok and year is not None:
        money = "" if year.cost is None else f", {year.cost:,.2f}"
        tiles.append(("in a year", f"{year.energy:,.4g} kWh{money}", _saved_in_a_year(year)))
    cells = [tuple(html.escape(text) for text in tile) for tile in tiles]
    return "".join(
        f"<div><dt>{name}</dt><dd>{value}</dd><small>{remark}</small></div>"
        for name, value, remark in cells
    )


def _saved_in_a_year(year: Yearly) -> str:
    """What a year saves against the ordinary motion, in words."""
    if year.saved is None:
        return f"{year.cycles:,.0f} cycles"
    money = "" if year.saved_cost is None else f" and {abs(year.saved_cost):,.2f}"
    return (
        f"{abs(year.saved):,.4g} kWh{money} {'saved' if year.saved >= 0 else 'more'};"
        f" {year.cycles:,.0f} cycles"
    )


def _provenance(plan: Any) -> str:
    """Where the plan comes from, as rows of a table."""
    from armature.job.provenance import provenance

    origin = dict(
        getattr(plan, "provenance", None)
        or provenance({"robot": plan.robot, "supply": plan.supply})
    )
    packages = ", ".join(
        f"{name} {version}" for name, version in origin.pop("packages", {}).items()
    )
    inputs = [(f"input: {name}", value) for name, value in origin.pop("inputs", {}).items()]
    rows = [*origin.items(), ("packages", packages), *inputs]
    return "".join(
        f"<tr><th>{html.escape(str(k))}</th><td>{html.escape(str(v))}</td></tr>"
        for k, v in rows
        if v
    )

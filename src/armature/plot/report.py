"""The report of a plan: one page (HTML, no network) with the moving robot, or the figures as PDF or PNG."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from os import PathLike, fspath
from pathlib import Path
from string import Template
from typing import Any

from armature.errors import FileError
from armature.optimize.solution import NOT_COUNTED
from armature.plot import words
from armature.plot.page_data import page_data
from armature.write import write_whole

PARTS = Path(__file__).parent / "page"
SCRIPTS = ("scene.js", "charts.js", "report.js")


def write_report(plan: Any, path: str | PathLike[str], meshes: Sequence[str | PathLike[str]] = ()) -> Path:
    """Write the report of a `Solution` or a `SavedPlan`: .html, .pdf, or .png by the path's ending. Returns the path.

    meshes: folders in which the meshes that the robot's file names are looked for; without them the page draws limbs between the joints.
    """
    place = Path(fspath(path))
    suffix = place.suffix.lower()
    if suffix in (".html", ".htm"):
        return write_whole(place, html_page(plan, meshes))
    if suffix in (".pdf", ".png"):
        from armature.plot.pages import write_pages  # matplotlib is needed for these only

        return write_pages(plan, place)
    raise FileError(f"a report ends in .html, .pdf or .png, not {suffix!r}; choose one of them", place)


def html_page(plan: Any, meshes: Sequence[str | PathLike[str]] = ()) -> str:
    """The page as text: style, data and scripts are inside."""
    shapes = _meshes(plan, meshes)
    text = lambda name: (PARTS / name).read_text(encoding="utf-8")
    lead, *rest = words.summary(plan)
    return Template(text("report.html")).substitute(
        title=html.escape(f"{plan.robot.name}: {plan.duration:.4g} s"),
        robot=html.escape(plan.robot.name),
        headline=html.escape(words.headline(plan)),
        verdict="good" if plan.ok and plan.certificate.ok else "bad",
        summary="".join(f"<p>{html.escape(line)}</p>" for line in ([lead, *rest] if plan.ok else rest)),
        failure="" if plan.ok else f'<p class="failure" role="alert">{html.escape(lead)}</p>',
        tiles=_tiles(plan),
        notes="".join(f"<li>{html.escape(note)}</li>" for note in (plan.status.value, *plan.notes)),
        certificate=html.escape(words.certificate(plan)),
        books=html.escape(str(plan.ledger) if plan.robot.drives else NOT_COUNTED),
        provenance=_provenance(plan),
        style=text("report.css"),
        script="\n".join(text(name) for name in SCRIPTS),
        data=_script(page_data(plan, shapes)),
    )


def _script(data: Any) -> str:
    """JSON that may stand in a script of a page, whatever names are in it: no character of it can end the script or begin a comment."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # pure ASCII
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _meshes(plan: Any, folders: Sequence[str | PathLike[str]]) -> dict[str, list[dict[str, Any]]]:
    if not folders:
        return {}
    from armature.plot.meshes import meshes

    return meshes(plan.robot, folders)


def _tiles(plan: Any) -> str:
    """The numbers that matter, each with its name and a remark."""
    base, proof, near = plan.baseline, plan.certificate, plan.certificate.worst
    counted = bool(plan.robot.drives)
    follows = f"follows to {proof.tracking_error:.0e}" + (f", energy to {proof.energy_error:.0e}" if counted else "")
    other = lambda name: "" if base is None else f"{words.the(base.name)}: {getattr(base.ledger, name):.4g} J"
    tiles = [
        ("energy drawn", f"{plan.energy:.4g} J", other("energy")),
        ("heat", f"{plan.losses:.4g} J", other("losses")),
        ("duration", f"{plan.duration:.4g} s", f"{len(plan.trajectory) - 1} knots, {len(plan.iterations)} iterations in the last search"),
        ("certificate", "passed" if plan.ok and proof.ok else "not passed", follows if plan.ok else "the task is not met"),
    ]
    if not counted:
        tiles[:2] = [("energy", "not counted", "the robot has no drives")]
    if plan.ok and plan.saving is not None and not words.hurried(plan):
        tiles.insert(0, ("saved", f"{100 * plan.saving:.1f} %", f"of the {'losses' if plan.returns else 'energy drawn'}"))
    if near is not None:
        tiles.append(("nearest limit", words.left(near), f"{near.joint}: {near.limit} at {near.time:.3g} s"))
    cells = [tuple(html.escape(text) for text in tile) for tile in tiles]
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd><small>{remark}</small></div>" for name, value, remark in cells)


def _provenance(plan: Any) -> str:
    """Where the plan comes from, as rows of a table."""
    from armature.optimize.provenance import provenance

    origin = dict(getattr(plan, "provenance", None) or provenance({"robot": plan.robot, "supply": plan.supply}))
    packages = ", ".join(f"{name} {version}" for name, version in origin.pop("packages", {}).items())
    inputs = [(f"input: {name}", value) for name, value in origin.pop("inputs", {}).items()]
    rows = [*origin.items(), ("packages", packages), *inputs]
    return "".join(f"<tr><th>{html.escape(str(k))}</th><td>{html.escape(str(v))}</td></tr>" for k, v in rows if v)

"""A planned program: its time chart, its power, its motions' energy-time curves; and its page."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from armature.cell.program.program import Grip, Program
from armature.cell.program.program_plan import PlannedLeg, ProgramPlan
from armature.errors import FileError
from armature.plot import style
from armature.plot.page_data import page_data
from armature.plot.report import PARTS, SCRIPTS, script_data
from armature.scene.scene import Scene
from armature.write import check_target, write_whole

MOVE, STOP = style.COLOURS[0], "#DDDDDD"


def program(plan: ProgramPlan, save: str | PathLike[str] | None = None) -> Figure:
    """Time chart of a program, power of the robot over the cycle (W), and the energy-time curves of
    its motions (J over s) with the durations that were chosen."""
    figure = Figure(figsize=(11.0, 8.0), layout="constrained")
    figure.suptitle(f"{plan.program.name}: {plan.energy:.4g} J in a cycle of {plan.cycle:.4g} s")
    chart, power, curves = (figure.add_subplot(3, 1, k) for k in (1, 2, 3))
    _chart(chart, plan)
    motion = plan.trajectory
    if motion.power is not None:
        power.plot(motion.t, motion.power.sum(-1), **style.line(0))
        power.set(
            xlabel="time in the cycle [s]", ylabel="power of all motors [W]", xlim=(0, plan.cycle)
        )
    for k, leg in enumerate(plan.legs):
        curves.plot(leg.curve.durations, leg.curve.energies, label=leg.name, **style.line(k))
        energy = float(leg.curve(min(leg.duration, leg.curve.durations[-1])))
        curves.plot([leg.duration], [energy], "o", color=style.COLOURS[k % len(style.COLOURS)])
    curves.set(xlabel="duration of a motion [s] (o: as planned)", ylabel="energy [J]")
    curves.legend(fontsize="small")
    return style.finish(figure, save)


def _chart(axes: Axes, plan: ProgramPlan) -> None:
    for stage in plan.stages:
        if stage.duration <= 0.0:
            continue
        moves = isinstance(stage, PlannedLeg)
        axes.barh(
            0,
            stage.duration,
            0.6,
            left=stage.begin,
            color=MOVE if moves else STOP,
            edgecolor="white",
        )
        middle = stage.begin + stage.duration / 2
        if stage.duration > 0.04 * plan.cycle:
            name = stage.name if moves else ", ".join(p.name for p, _ in stage.pauses)  # type: ignore[union-attr]
            axes.text(middle, 0, name, ha="center", va="center", fontsize="small", wrap=True)
    axes.set(
        xlabel="time in the cycle [s] (blue: moves, grey: stands)", xlim=(0, plan.cycle), yticks=[]
    )


def write_program_report(plan: ProgramPlan, path: str | PathLike[str]) -> Path:
    """Write the page of a program (.html): its steps, the moving robot over the whole cycle,
    signals, ledger and certificate; or its figure (.png, .pdf, .svg). Returns the path."""
    place = check_target(path)
    if place.suffix.lower() in (".png", ".pdf", ".svg"):
        program(plan, save=place)
        return place
    if place.suffix.lower() not in (".html", ".htm"):
        raise FileError(f"a report ends in .html, .png, .pdf or .svg, not {place.suffix!r}", place)
    return write_whole(place, program_page(plan))


class _Motion(NamedTuple):
    """The whole cycle as the page's data want a plan."""

    ok: bool
    robot: Any
    trajectory: Any
    ledger: Any
    certificate: Any
    baseline: None = None
    iterations: tuple = ()
    scene: Any = None


class _Margins(NamedTuple):
    margins: dict[str, dict[str, Any]]


def program_page(plan: ProgramPlan) -> str:
    """The page as text: style, data and scripts are inside."""
    proof = plan.certificate
    parts = plan.robot, plan.trajectory, plan.ledger, _Margins(nearest_margins(plan))
    motion = _Motion(proof.ok, *parts, scene=still_scene(plan.program))
    text = lambda name: (PARTS / name).read_text(encoding="utf-8")
    escape = lambda x: html.escape(str(x))
    told = [
        (
            f"{plan.robot.name} does {len(plan.legs)} motions in a cycle of {plan.cycle:.4g} s; "
            f"the least cycle is {plan.least_cycle:.4g} s."
        ),
        f"Every motion at its least time, then waiting: {plan.fast:.4g} J.",
    ]
    if plan.even is not None:
        told.append(
            f"Each motion planned alone, the spare time shared out evenly: {plan.even:.4g} J."
        )
    tiles = [
        ("energy of a cycle", f"{plan.energy:.4g} J", f"{plan.losses:.4g} J lost"),
        (
            "saved",
            f"{100 * plan.saving:.1f} %",
            "against an even share of the time" if plan.even else "against least times",
        ),
        ("cycle", f"{plan.cycle:.4g} s", f"least {plan.least_cycle:.4g} s"),
        ("certificate", "passed" if proof.ok else "not passed", f"{len(plan.legs)} motions"),
    ]
    cells = "".join(
        f"<div><dt>{escape(a)}</dt><dd>{escape(b)}</dd><small>{escape(c)}</small></div>"
        for a, b, c in tiles
    )
    return Template(text("report.html")).substitute(
        title=escape(plan.program.name),
        robot=escape(plan.robot.name),
        headline=escape(f"{plan.program.name}: {plan.energy:.4g} J in {plan.cycle:.4g} s"),
        verdict="good" if proof.ok else "bad",
        banner="",
        peaks=_steps(plan),
        summary="".join(f"<p>{escape(line)}</p>" for line in told),
        failure=(
            ""
            if proof.ok
            else f'<p class="failure" role="alert">{escape("; ".join(proof.failed))}</p>'
        ),
        tiles=cells,
        notes="".join(f"<li>{escape(note)}</li>" for note in plan.notes),
        certificate=escape(proof),
        books=escape(plan.ledger),
        provenance="",
        style=text("report.css"),
        script="\n".join(text(name) for name in SCRIPTS),
        data=script_data(page_data(motion)),
    )


def _steps(plan: ProgramPlan) -> str:
    """Every stage with its time and energy, as a table."""
    rows = [
        (s.name, f"{s.begin:.3f} s", f"{s.duration:.3f} s", f"{e:.4g} J")
        for s, e in zip(plan.stages, plan.energies())
        if s.duration > 0.0
    ]
    return table(("step", "begins", "lasts", "energy"), rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows of texts as a table of the page."""
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in row) + "</tr>" for row in rows
    )
    top = "".join(f"<th>{html.escape(x)}</th>" for x in head)
    return f'<table class="peaks"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def still_scene(program: Program) -> Scene | None:
    """The objects of a program's scene that are never taken up; None without any."""
    scene = program.scene
    for step in program.steps:
        thing = step.thing if isinstance(step, Grip) else None
        if scene is not None and thing in scene.names:
            scene = scene.without(str(thing))
    return scene if scene is not None and scene.obstacles else None


def nearest_margins(plan: ProgramPlan) -> dict[str, dict[str, Any]]:
    """The nearest margin of every limit over all motions, at its time in the cycle."""
    found: dict[str, dict[str, Any]] = {}
    for leg in plan.legs:
        for joint, row in leg.plan.certificate.margins.items():
            for limit, margin in row.items():
                known = found.setdefault(joint, {}).get(limit)
                if known is None or margin.fraction < known.fraction:
                    found[joint][limit] = replace(margin, time=margin.time + leg.begin)
    return found

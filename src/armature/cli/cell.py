"""`armature cell`: the schedule of least energy of several robots in one cycle."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armature.cli import output
from armature.cli.kinds import refuse_other
from armature.errors import ArgumentError

if TYPE_CHECKING:
    from armature.cell.schedule.schedule import Schedule


def cell(
    file: Path = typer.Argument(help="cell file (.yaml), or a data set of cells (.xml)"),
    cycle: float | None = typer.Option(
        None, "--cycle", help="s; instead of the file's", show_default=False, min=1e-6
    ),
    seconds: float = typer.Option(60.0, "--seconds", help="of computing, for each cell", min=0.1),
    gap: float = typer.Option(
        1e-6, "--gap", help="between energy and bound, at which a search ends", min=1e-9, max=1.0
    ),
    only: int | None = typer.Option(
        None, "--only", help="number of one cell of a data set, from 0", show_default=False, min=0
    ),
    picture: Path | None = typer.Option(
        None, "--plot", help="Gantt chart to write: .png, .svg or .pdf", show_default=False
    ),
    report: Path | None = typer.Option(
        None,
        "--report",
        help="page of a cell of programs to write (.html): all robots moving, schedule, energies",
        show_default=False,
    ),
    save: Path | None = typer.Option(
        None,
        "--save",
        help="table of all tasks to write (.csv), or a folder for a cell of programs",
        show_default=False,
    ),
) -> int:
    """Share one cycle out among robots with the least energy: speeds, places, orders and power
    modes, proved by a lower bound.

    Exit codes: 0 a schedule was found and simulated; 1 it does not hold; 2 bad input, or a cell
    that is impossible."""
    from armature.cell.schedule.cell_file import load_cell_models
    from armature.cell.schedule.optimize_cell import optimize_cell
    from armature.cell.workcell.program_cell_file import has_programs

    refuse_other(file, frozenset({"robots"}))
    if has_programs(file):
        return _of_programs(file, cycle, seconds, picture, report, save)
    if report is not None:
        raise ArgumentError("--report is for cells of programs; --plot draws this one's schedule")
    models = load_cell_models(file)
    if only is not None:
        if only >= len(models):
            raise ArgumentError(
                f"--only {only}: the file has {len(models)} cells, from 0 to {len(models) - 1}"
            )
        models = models[only : only + 1]
    found = []
    for model in models:
        model = model if cycle is None else replace(model, cycle=cycle)
        told = lambda text, name=model.name: output.note(f"{name}: {text}")
        schedule = optimize_cell(
            model, seconds, gap, progress=None if output.settings.json else told
        )
        output.say(schedule, "", output.table(HEADS, rows(schedule)), "")
        found.append(schedule)
    write(found, picture, save)
    output.answer({"ok": all(s.ok for s in found), "cells": [facts(s) for s in found]})
    return output.OK if all(s.ok for s in found) else output.FAILED


def _of_programs(
    file: Path,
    cycle: float | None,
    seconds: float,
    picture: Path | None,
    report: Path | None,
    save: Path | None,
) -> int:
    """A cell whose robots have programs: planned, certified, written."""
    from armature.cell.program.saved_program import facts as program_facts
    from armature.cell.workcell.plan_cell import plan_cell
    from armature.cell.workcell.program_cell_file import load_cell
    from armature.cli.line import Steps

    what = load_cell(file)
    what = what if cycle is None else replace(what, cycle=cycle)
    with Steps(what.name) as steps:
        plan = plan_cell(what, steps, seconds)
    output.say(plan, "", output.table(HEADS, rows(plan.schedule)))
    if picture is not None:
        write([plan.schedule], picture, None)
    for name, one in plan.plans.items():
        output.say("", one)
        if save is not None:
            output.say(f"written: {one.save(save / name)}")
    if report is not None or save is not None:
        output.say(f"written: {plan.report(report or Path(str(save)) / 'report.html')}")
    bus = (
        None
        if plan.on_bus is None
        else {
            "energy": plan.on_bus.energy,
            "saving": plan.on_bus.saving,
            "peak": plan.on_bus.together.peak,
            "shifts": plan.on_bus.shifts,
            "voltage": plan.on_bus.certificate.voltage,
        }
    )
    robots = {name: program_facts(one) for name, one in plan.plans.items()}
    totals = {"energy": plan.energy, "energy_before": plan.fast, "faults": list(plan.faults)}
    output.answer(
        {
            "ok": plan.ok,
            "name": what.name,
            "cycle": what.cycle,
            **totals,
            "bus": bus,
            "schedule": facts(plan.schedule),
            "robots": robots,
        }
    )
    return output.OK if plan.ok else output.FAILED


HEADS = ("robot", "activity", "at or by", "mode", "start s", "lasts s", "energy J")


def rows(schedule: Schedule) -> list[list[Any]]:
    """One line for every task."""
    return [
        [name, t.activity, t.option, t.mode, t.start, t.duration, t.energy]
        for name, tasks in schedule.tasks.items()
        for t in tasks
    ]


def write(found: list[Schedule], picture: Path | None, save: Path | None) -> None:
    """The chart and the table of the first cell."""
    if len(found) > 1 and (picture is not None or save is not None):
        raise ArgumentError("--plot and --save are for one cell; choose it by --only")
    if picture is not None:
        from armature.plot.programs.cell import gantt

        gantt(found[0], save=picture)
        output.say(f"written: {picture}")
    if save is not None:
        import csv
        import io

        from armature.write import write_whole

        text = io.StringIO()
        csv.writer(text).writerows([HEADS, *rows(found[0])])
        write_whole(save, text.getvalue(), table=True)
        output.say(f"written: {save}")


def facts(schedule: Schedule) -> dict[str, Any]:
    """What programs want to know: times in s, energies in J."""
    keys = ("robot", "activity", "option", "mode", "start", "duration", "energy")
    return {
        "ok": schedule.ok,
        "name": schedule.model.name,
        "cycle": schedule.model.cycle,
        "energy": schedule.energy,
        "lower_bound": schedule.lower_bound,
        "gap": schedule.gap,
        "full_speed": schedule.full_speed,
        "saving": schedule.saving,
        "faults": list(schedule.faults),
        "seconds": schedule.seconds,
        "tasks": [dict(zip(keys, row)) for row in rows(schedule)],
        "notes": list(schedule.notes),
    }

"""A program's plan on disk: one motion, the plans of its steps, and its numbers."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import Any

from armature.cell.program.program_plan import PlannedLeg, ProgramPlan
from armature.errors import FileError
from armature.job.provenance import provenance
from armature.job.saved import save_plan
from armature.write import write_whole

MARK = "armature program"


def save_program(plan: ProgramPlan, folder: str | PathLike[str], report: bool = True) -> Path:
    """Write a program's plan into a folder, which is made: motion.csv and motion.yaml (ROS 2) of
    the whole cycle, program.json with its numbers, one plan for every motion (01-name.npz), and
    report.html."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(
            f"it cannot be made ({error.strerror}); choose another folder", place
        ) from None
    plan.trajectory.save(place / "motion.csv")
    plan.trajectory.save(place / "motion.yaml")
    for k, leg in enumerate(plan.legs, start=1):
        save_plan(leg.plan, place / f"{k:02d}-{file_name(leg.name)}.npz")
    origin = provenance({"robot": plan.robot, "supply": plan.program.supply})
    text = json.dumps({"format": MARK, **facts(plan), "provenance": origin}, indent=1, default=str)
    write_whole(place / "program.json", text + "\n")
    if report:
        plan.report(place / "report.html")
    return place


def file_name(name: str) -> str:
    """A name that every file system takes."""
    return "".join(c if c.isalnum() else "_" for c in name)[:60]


def facts(plan: ProgramPlan) -> dict[str, Any]:
    """What programs want to know: times in s, energies in J."""
    proof = plan.certificate
    rows = [
        {
            "name": stage.name,
            "kind": "motion" if isinstance(stage, PlannedLeg) else "stop",
            "begin": stage.begin,
            "duration": stage.duration,
            "energy": energy,
        }
        for stage, energy in zip(plan.stages, plan.energies())
    ]
    return {
        "ok": proof.ok,
        "name": plan.program.name,
        "robot": plan.robot.name,
        "cycle": plan.cycle,
        "least_cycle": plan.least_cycle,
        "energy": plan.energy,
        "losses": plan.losses,
        "energy_even_share": plan.even,
        "energy_least_times": plan.fast,
        "saving": plan.saving,
        "steps": rows,
        "certificate": {"ok": proof.ok, "failed": list(proof.failed)},
        "notes": list(plan.notes),
    }

"""`armature plan` of a task file with `program:`: the whole cycle of a robot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from armature.cli import output
from armature.cli.inputs import seconds
from armature.cli.line import Steps
from armature.errors import ArgumentError

if TYPE_CHECKING:
    from armature.scene.scene import Scene


def plan_file(
    file: Path,
    cycle: str | None,
    objective: str | None,
    supply: str | None,
    knots: int | None,
    save: Path | None,
    report: Path | None,
    scene: Scene | None = None,
) -> int:
    """Plan the program of a file and prove it. cycle: instead of the file's, e.g. "5 s".  scene:
    instead of the file's."""
    from armature.cell.program.plan_program import plan_program
    from armature.cell.program.program_file import read_program
    from armature.cell.program.saved_program import facts
    from armature.write import check_target

    program, part = read_program(file)
    change = {
        "cycle": None if cycle is None else seconds(cycle, "--duration"),
        "supply": supply,
        "knots": knots,
        "scene": scene,
    }
    program = replace(program, **{key: value for key, value in change.items() if value is not None})
    for path in (p for p in (save, report) if p is not None and p.suffix):
        check_target(path)
    with Steps(program.name) as steps:
        plan = plan_program(program, (objective or part.objective).strip().lower(), progress=steps)
    output.say(plan, plan.certificate)
    written = []
    folder = save or (None if part.output is None else file.parent / part.output)
    if folder is not None and folder.suffix:
        plan.trajectory.save(folder)
        written.append(str(folder))
    elif folder is not None:
        written.append(str(plan.save(folder)))
    if report is not None:
        written.append(str(plan.report(report)))
    for name in written:
        output.say(f"written: {name}")
    output.answer({**facts(plan), "written": written})
    return output.OK if plan.ok else output.FAILED


def curve_of_file(file: Path, longest: str | None, supply: str | None, save: Path | None) -> int:
    """Least energy of a program against its cycle. longest: the last cycle, e.g. "8 s".  save:
    .csv."""
    from armature.cell.program.plan_program import program_curve
    from armature.cell.program.program_file import load_program
    from armature.write import write_whole

    if save is not None and save.suffix.lower() != ".csv":
        raise ArgumentError(f"--save {save}: the curve of a program is written as .csv")
    program = load_program(file)
    program = program if supply is None else replace(program, supply=supply)
    with Steps(program.name) as steps:
        found = program_curve(
            program, None if longest is None else seconds(longest, "--longest"), progress=steps
        )
    output.say(found)
    if save is not None:
        rows = [f"{T!r},{E!r}" for T, E in zip(found.cycles.tolist(), found.energies.tolist())]
        write_whole(save, "\n".join(["cycle [s],energy [J]", *rows]) + "\n", table=True)
        output.say(f"written: {save}")
    output.answer(
        {"ok": True, "cycles": found.cycles, "energies": found.energies, "best": found.best}
    )
    return output.OK

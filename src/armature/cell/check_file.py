"""`check_file`: what is known of a program, cell or line file before anything is planned."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from armature.cell.line.check_line import LineCheck, check_line
from armature.cell.line.line_tasks import load_line_tasks
from armature.cell.program.check_program import ProgramCheck, check_program
from armature.cell.program.program_file import load_program
from armature.cell.schedule.cell_file import load_cell_models
from armature.cell.schedule.check_model import ModelCheck, check_model
from armature.cell.workcell.check_cell import CellCheck, check_cell
from armature.cell.workcell.program_cell_file import has_programs, load_cell
from armature.document import values
from armature.errors import ArmatureError
from armature.study.line_file import load_line
from armature.text import read_text

Check = ProgramCheck | CellCheck | ModelCheck | LineCheck
DATA_SET = "<dataset"  # how a data set of cells begins


def check_file(path: str | PathLike[str]) -> Sequence[Check] | None:
    """Check the program, cell or line of a file, or all cells of a data set; None for any other
    file. A FileError lists mistakes with their lines; an ArgumentError names the step."""
    keys = _keys(path)
    if "program" in keys:
        return [check_program(load_program(path))]
    if "stations" in keys:
        return [check_line(load_line_tasks(path) if "tasks" in keys else load_line(path))]
    if "robots" in keys and has_programs(path):
        return [check_cell(load_cell(path))]
    if "robots" in keys or DATA_SET in keys:
        return [check_model(model) for model in load_cell_models(path)]
    return None


def _keys(path: str | PathLike[str]) -> set[str]:
    """The keys of a YAML file; DATA_SET for a data set of cells; none for what cannot be read."""
    place = Path(path)
    if place.suffix.lower() not in (".yaml", ".yml", ".xml") or not place.is_file():
        return set()
    try:
        text = read_text(path)
        if place.suffix.lower() == ".xml":
            return {DATA_SET} if DATA_SET in text[:2000] else set()
        data = values(text, path)
    except ArmatureError:
        return set()
    return set(data) if isinstance(data, dict) else set()

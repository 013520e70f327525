"""`armature schema`: JSON schemas of the files, with which editors complete keys and underline
mistakes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import typer

from armature.cli.output import answer, say, settings
from armature.errors import ArgumentError

KINDS = ("robot", "drives", "task", "study", "line", "program", "cell", "cell-model", "line-tasks")


def schema(
    kind: str = typer.Argument(help=f"one of: {', '.join(KINDS)}", autocompletion=lambda: KINDS),
    save: Path | None = typer.Option(
        None, "--save", help="write it to this file instead of stdout", show_default=False
    ),
) -> None:
    """The JSON schema of a kind of file. For VS Code: a first line `# yaml-language-server:
    $schema=task.json` in the YAML file."""
    if kind not in KINDS:
        raise ArgumentError(f"there is no schema of {kind!r}; choose one of {', '.join(KINDS)}")
    found = schema_of(kind)
    if save is None:
        return answer(found) if settings.json else say(json.dumps(found, indent=1))
    from armature.write import write_whole

    write_whole(save, json.dumps({"$comment": "written by armature", **found}, indent=1) + "\n")
    say(f"written: {save}")
    return answer({"written": save})


def schema_of(kind: str) -> dict[str, Any]:
    """The schema (JSON Schema 2020-12) of a kind of file, as data."""
    if kind == "drives":
        from armature.drive.schema import drives_schema

        return drives_schema()
    found = _model(kind).model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **_finite(found),
        "title": f"Armature {kind}",
    }


def _model(kind: str) -> Any:
    if kind == "robot":
        from armature.robot.format.schema import RobotPart as model
    elif kind == "task":
        from armature.job.job_schema import TaskFile as model
    elif kind == "study":
        from armature.study.file import StudyFile as model
    elif kind == "program":
        from armature.cell.program.program_file import ProgramFile as model
    elif kind == "cell":
        from armature.cell.workcell.program_cell_file import CellFile as model
    elif kind == "cell-model":
        from armature.cell.schedule.cell_file import CellModelFile as model
    elif kind == "line-tasks":
        from armature.cell.line.line_tasks import LineTasksFile as model
    else:
        from armature.study.line_file import LineFile as model
    return model


def _finite(value: Any) -> Any:
    """JSON has no infinity: defaults that are infinite are left out."""
    if isinstance(value, dict):
        keep = {
            k: v for k, v in value.items() if not (isinstance(v, float) and not math.isfinite(v))
        }
        return {k: _finite(v) for k, v in keep.items()}
    return [_finite(v) for v in value] if isinstance(value, list) else value

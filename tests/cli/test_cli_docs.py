"""What docs/command_line.md and docs/files.md show is true."""

import re
from pathlib import Path

import pytest

from armature.cli.init import template
from armature.cli.main import app, run
from armature.document import values
from armature.drive.catalogue import read_drives
from armature.job.job_file import load_job
from armature.job.job_schema import SHAPES, MovePart, PathPart, TaskFile

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS, FILES = (
    (DOCS / name).read_text(encoding="utf-8") for name in ("command_line.md", "files.md")
)


def blocks(page: str) -> list[str]:
    """YAML blocks, indented ones too."""
    found = re.findall(r"^( *)```yaml\n(.*?)^ *```", page, re.DOTALL | re.MULTILINE)
    return ["\n".join(line[len(indent) :] for line in text.splitlines()) for indent, text in found]


def test_every_verb_and_exit_code_is_documented():
    verbs = [c.name for c in app.registered_commands if not c.hidden] + [
        g.name for g in app.registered_groups
    ]
    assert len(verbs) >= 15 and not [verb for verb in verbs if f"| `{verb}" not in COMMANDS]
    assert all(f"| {code} |" in COMMANDS for code in (0, 1, 2, 3, 130, 141))


def test_every_key_of_a_task_is_documented():
    keys = [*TaskFile.model_fields, *MovePart.model_fields, *PathPart.model_fields, *SHAPES]
    assert not [
        key
        for key in keys
        if key not in ("armature",) and f"`{key}" not in FILES and f"{key}:" not in FILES
    ]


def test_the_drives_shown_are_read():
    found, supply = read_drives(values(blocks(COMMANDS)[0], "docs/command_line.md"))
    assert [c.joints for c in found] == [
        ("shoulder_pan_joint",),
        ("shoulder_lift_joint",),
    ] and supply is not None


def test_the_move_shown_is_read(tmp_path):
    (tmp_path / "task.yaml").write_text("robot: six_axis\n" + blocks(FILES)[0])
    move = load_job(tmp_path / "task.yaml").task
    assert (
        len(move.via) == 2
        and move.via[1].at == 0.9
        and move.goal_velocity[0] == pytest.approx(0.1745, abs=1e-4)
    )


def test_the_errors_shown_are_those_that_come(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (
        template("task.yaml")
        .replace("robot: robot", "robott: robot")
        .replace("elbow: 40 deg", "elbow: 40 degrees")
    )
    (tmp_path / "task.yaml").write_text(text.replace("duration: 1.5", "durations: 1.5"))
    assert run(["plan", "task.yaml"]) == 2
    shown = re.findall(r"^ +(?:error: task.yaml:\d+|line \d+): (.*)$", FILES, re.MULTILINE)
    told = capsys.readouterr().err
    assert len(shown) == 3 and all(words in told for words in shown)

"""Broken files, more than three hundred: each gives one clear error that names the file and the
place, exit code 2, and no traceback."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from malformed import Case, cases

from armature.cli.init import template
from armature.cli.main import run

CASES = cases()


def lay_out(case: Case, folder: Path) -> list[str]:
    """Write the broken file and the sound ones that it may name; returns the command line."""
    (folder / "robot.yaml").write_text(template("robot.yaml"), encoding="utf-8")
    (folder / "drives.yaml").write_text(template("drives.yaml"), encoding="utf-8")
    (folder / "points.csv").write_text("x,y,z\n0,one,2\n")
    (folder / "folder.yaml").mkdir()
    target = folder / case.file
    if case.content == "directory" or case.content is None:
        target.unlink(missing_ok=True)
        if case.content is not None:
            target.mkdir()
    elif isinstance(case.content, bytes):
        target.write_bytes(case.content)
    else:
        target.write_text(case.content, encoding="utf-8")
    return [case.file if word == "FILE" else word for word in case.command]


def check(case: Case, code: int, out: str, err: str) -> None:
    assert code == 2, f"exit code {code}: {out[-300:]} {err[-300:]}"
    assert "Traceback" not in out + err and "internal error" not in err
    message = err[err.index("error: ") :]
    named = re.search(r"[\w./-]+\.(yaml|urdf|csv|json|npz|parquet|h5|mcap|step|docx)", message)
    assert named is not None, message
    assert not case.words or any(words in message for words in case.words), message
    if case.line is not None:
        lines = {int(n) for n in re.findall(r"\.yaml:(\d+):|line (\d+):", message) for n in n if n}
        assert case.line in lines, message


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_broken_file_gives_one_clear_error(case, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    command = lay_out(case, tmp_path)
    code = run(command)
    streams = capsys.readouterr()
    check(case, code, streams.out, streams.err)


def test_there_are_at_least_three_hundred():
    assert len(CASES) >= 300 and len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES[::150], ids=[case.name for case in CASES[::150]])
def test_the_real_program_gives_the_same(case, tmp_path):
    command = [sys.executable, "-m", "armature", *lay_out(case, tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    check(case, done.returncode, done.stdout, done.stderr)

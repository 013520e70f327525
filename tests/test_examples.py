"""Every example runs in an empty folder; the numbered ones are short and leave their picture."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NUMBERED = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))
OTHERS = sorted({*(ROOT / "examples").rglob("*.py")} - {*NUMBERED})
PICTURES = ROOT / "docs" / "pictures"


@pytest.fixture
def printed(tmp_path, monkeypatch, capsys):
    """Runs an example as a program does and gives what it prints; in this process, since to import
    everything takes longer than most."""

    def run(path: Path) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [str(path)])
        runpy.run_path(str(path), run_name="__main__")
        return capsys.readouterr().out.strip()

    return run


@pytest.mark.parametrize("path", NUMBERED, ids=lambda p: p.stem)
def test_a_numbered_example_is_short_and_leaves_its_picture(path, tmp_path, printed):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40
    assert printed(path)
    assert (tmp_path / f"{path.stem}.png").stat().st_size > 5_000
    shown = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f"pictures/{path.stem}.png" in shown and (PICTURES / f"{path.stem}.png").exists()


@pytest.mark.parametrize("path", OTHERS, ids=lambda p: p.stem)
def test_an_example_runs(path, printed):
    assert printed(path)


def test_the_first_example_runs_as_a_reader_runs_it(tmp_path):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, str(NUMBERED[0])],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0 and done.stdout.strip(), done.stderr[-2000:]


def test_numbered_examples_are_complete():
    assert [path.name[:2] for path in NUMBERED] == [f"{k:02}" for k in range(1, 14)]

"""Every example runs, in an empty folder, as a reader would run it; the numbered ones are short and leave their picture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NUMBERED = sorted((ROOT / "examples").glob("[0-9][0-9]_*.py"))
OTHERS = sorted({*(ROOT / "examples").rglob("*.py")} - {*NUMBERED})
PICTURES = ROOT / "docs" / "pictures"


def run(path: Path, folder: Path) -> str:
    """What the example prints."""
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, str(path)], cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.mark.parametrize("path", NUMBERED, ids=lambda p: p.stem)
def test_a_numbered_example_is_short_and_leaves_its_picture(path, tmp_path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 40
    assert run(path, tmp_path)
    assert (tmp_path / f"{path.stem}.png").stat().st_size > 5_000
    shown = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert f"pictures/{path.stem}.png" in shown and (PICTURES / f"{path.stem}.png").exists()


@pytest.mark.parametrize("path", OTHERS, ids=lambda p: p.stem)
def test_an_example_runs(path, tmp_path):
    assert run(path, tmp_path)


def test_numbered_examples_are_complete():
    assert [path.name[:2] for path in NUMBERED] == [f"{k:02}" for k in range(1, 13)]

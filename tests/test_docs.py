"""Every Python block of the documentation runs, page by page, in an empty folder with the files that a reader would have."""

import re
import shutil
from pathlib import Path

import pytest
from oracles.robot_files import ROOT as ROBOTS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```(?:yaml|csv|xml)\n(?:# |<!-- )(\S+\.\w+).*?\n(.*?)^```", re.MULTILINE | re.DOTALL)  # its first line names it
FILES = {"ur5.urdf": "ur_description/urdf/ur5_robot.urdf", "panda.urdf": "panda_description/urdf/panda.urdf"}


def blocks(page: Path) -> list[str]:
    """The page's blocks, each moved down to its line so that a traceback shows the line of the page."""
    text = page.read_text(encoding="utf-8")
    return ["\n" * text[: found.start(1)].count("\n") + found.group(1) for found in BLOCK.finditer(text)]


WITH_CODE = [page for page in PAGES if blocks(page)]


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda p: str(p.relative_to(ROOT)))
def test_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    for name, path in FILES.items():
        shutil.copy(ROBOTS / path, tmp_path / name)
    for found in FILE.finditer(page.read_text(encoding="utf-8")):
        (tmp_path / found.group(1)).write_text(found.group(2), encoding="utf-8")
    names: dict = {"__name__": "docs"}
    for text in blocks(page):
        exec(compile(text, str(page), "exec"), names)
    assert len(names) > 2, "the page's code defines nothing"


def test_most_pages_have_code():
    assert len(WITH_CODE) >= 12

"""Every Python block of the documentation runs, and every armature command of its `sh` blocks, page
by page, in an empty folder with the files that a reader would have."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from armature.cli.main import run
from oracles.robot_files import ROOT as ROBOTS

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE = re.compile(
    r"^```(?:yaml|csv|xml)\n(?:# |<!-- )(\S+\.\w+).*?\n(.*?)^```", re.MULTILINE | re.DOTALL
)  # its first line names it
FILES = {
    "ur5.urdf": "ur_description/urdf/ur5_robot.urdf",
    "panda.urdf": "panda_description/urdf/panda.urdf",
}


def blocks(page: Path) -> list[tuple[str, str]]:
    """The page's blocks and their languages; code is moved down to its line, so that a traceback
    shows the line of the page."""
    text = page.read_text(encoding="utf-8")
    return [
        (found.group(1), "\n" * text[: found.start(2)].count("\n") + found.group(2))
        for found in BLOCK.finditer(text)
    ]


def check_commands(text: str) -> None:
    """The lines that call armature; they must succeed. In this process: another one takes seconds
    to begin."""
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["armature"]:
            assert run(words[1:]) == 0, line


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
    for language, text in blocks(page):
        if language == "sh":
            check_commands(text)
        else:
            exec(compile(text, str(page), "exec"), names)


SHOWN = [*WITH_CODE, *sorted((ROOT / "examples").rglob("*.py"))]


@pytest.mark.parametrize("page", SHOWN, ids=lambda p: str(p.relative_to(ROOT)))
def test_comments_of_shown_code_stand_beside_or_above_what_they_explain(page):
    codes = [page.read_text(encoding="utf-8")]
    if page.suffix == ".md":
        codes = [text for language, text in blocks(page) if language == "python"]
    lines = [line for code in codes for line in code.splitlines()]
    assert not [line for line in lines if re.match(r"\s*[)\]}]+\s*#", line)]
    assert not [line for line in lines if "#" in line and len(line) > 100]


def test_most_pages_have_code():
    assert len(WITH_CODE) >= 12


def test_the_map_of_the_largest_room_names_every_file_and_no_other():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    map_ = page.split("## The largest room")[1].split("\n## ")[0]
    named = {name.removesuffix(".py") for name in re.findall(r"`([a-z_.]+)`", map_)}
    assert named == {path.stem for path in (ROOT / "src/armature/optimize").rglob("*.py")} - {
        "__init__"
    }

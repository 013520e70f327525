"""A stranger with a URDF and a motor's data sheet: init, drives typed in as printed, a certified
plan and its report."""

import json
import re
import shutil
from importlib.metadata import distribution
from pathlib import Path

import pytest

from armature.cli.main import run

ROBOTS = Path(
    str(
        distribution("example-robot-data").locate_file(
            "cmeel.prefix/share/example-robot-data/robots"
        )
    )
)
SHEET = """{
  nominal voltage: 48 V, no load speed: 4670 rpm, no load current: 302 mA, nominal current: 5.9 A, terminal resistance: 0.491 ohm,
  terminal inductance: 0.966 mH, torque constant: 97.7 mN*m/A, speed constant: 97.7 rpm/V, rotor inertia: 210 g*cm^2,
  thermal resistance housing-ambient: 1.91 K/W, thermal resistance winding-housing: 2.6 K/W, thermal time constant winding: 46 s,
  thermal time constant motor: 283 s, max. winding temperature: 125 degC, peak current: 30 A}"""


@pytest.mark.parametrize(
    ("file", "joints"),
    [
        ("panda_description/urdf/panda.urdf", 7),  # its fingers are held
        ("kinova_description/robots/kinova.urdf", 6),  # joints without ends
    ],
)
def test_from_a_urdf_and_a_data_sheet_to_a_certified_plan_and_its_report(
    file, joints, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROBOTS / file, tmp_path / "mine.urdf")
    assert run(["check", "mine.urdf"]) == 0
    assert run(["init", "work", "--robot", "mine.urdf"]) == 0
    drives = tmp_path / "work" / "drives.yaml"
    typed = re.sub(
        r"name: stand-in, motor: [\w-]+", "motor: " + SHEET.replace("\n", " "), drives.read_text()
    )
    assert typed.count("terminal resistance: 0.491") == joints
    drives.write_text(typed)
    capsys.readouterr()
    assert run(["plan", "work/task.yaml", "--knots", "40", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["ok"] and data["certificate"]["ok"]
    assert (tmp_path / "work" / "plan" / "report.html").stat().st_size > 10_000

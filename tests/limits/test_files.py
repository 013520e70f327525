"""Files of the user are never written over, certificates hold for their own motion only, and names
cannot become code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.cli.main import run
from armature.job.saved import check_plan_target, load_plan, save_plan
from armature.study.store import StudyError, open_store
from armature.write import check_target, csv_text, overwriting

ROBOT = arm.library("planar2")
MOVE = arm.Move([0.0, 0.0], [1.0, 1.0], duration=1.0)
TASK = (
    "robot: robot.yaml\noutput: .\nknots: 10\nmove: {start: [0, 0], goal: [1, 1], duration: 1.0}\n"
)
EVIL = "<!--<script>alert(1)</script>"


@pytest.fixture(scope="module")
def plan():
    return arm.minimize_energy(ROBOT, MOVE, knots=10)


def test_a_plan_is_not_written_over_the_users_robot(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    mine = "# my own robot, see: armature plan task.yaml\n" + ROBOT.to_yaml()
    Path("robot.yaml").write_text(mine)
    Path("task.yaml").write_text(TASK)
    assert run(["plan", "task.yaml", "--quiet"]) == 2
    assert Path("robot.yaml").read_text() == mine and sorted(os.listdir()) == [
        "robot.yaml",
        "task.yaml",
    ]
    assert "did not write" in capsys.readouterr().err
    assert run(["plan", "task.yaml", "--quiet", "--force"]) in (0, 1)
    assert Path("plan.json").exists() and Path("robot.yaml").read_text() != mine


@pytest.mark.parametrize(
    "name", ["m.csv", "m.npz", "m.json", "m.yaml", "m.h5", "m.parquet", "m.mcap"]
)
def test_own_files_are_written_again_and_others_are_not(plan, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    plan.trajectory.save(path)
    plan.trajectory.save(path)
    path.write_bytes(b"somebody else's")
    with pytest.raises(arm.errors.FileError, match="did not write"):
        plan.trajectory.save(path)
    assert path.read_bytes() == b"somebody else's"
    with overwriting():
        plan.trajectory.save(path)
    assert len(arm.motion.load_trajectory(path)) == len(plan.trajectory)


@pytest.mark.parametrize("name", ["plan.html", "plan.pdf", "plan.png", "robot.yaml", "folder"])
def test_reports_robots_and_folders_carry_a_mark(plan, tmp_path: Path, name: str) -> None:
    write = {"robot.yaml": ROBOT.save, "folder": lambda p: save_plan(plan, p)}.get(
        name, plan.report
    )
    write(tmp_path / name)
    (
        check_target(tmp_path / name) if name != "folder" else check_plan_target(tmp_path / name)
    )  # it would be written again
    target = tmp_path / name / "robot.yaml" if name == "folder" else tmp_path / name
    target.write_text("mine")
    with pytest.raises(arm.errors.FileError, match="did not write"):
        write(tmp_path / name)


CHANGES = {
    "the motion": (
        lambda d: d["trajectory"].update(q=(50 * np.array(d["trajectory"]["q"])).tolist())
    ),
    "the robot": lambda d: d.update(robot=d["robot"].replace("mass: 1.", "mass: 9.", 1)),
    "the supply": lambda d: (
        d["supply"].update(efficiency=0.5)
        if "efficiency" in d["supply"]
        else d.update(supply={"kind": "non-regenerative"})
    ),
    "the plan's figures": lambda d: d.update(energy=0.001),
    "the certificate": lambda d: d["certificate"].update(tracking_error=0.0),
    "without hashes": lambda d: d.pop("hashes"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_certificate_holds_for_its_own_motion_only(plan, tmp_path: Path, what: str) -> None:
    path = save_plan(plan, tmp_path / "p.json")
    assert load_plan(path).certificate == plan.certificate
    data = json.loads(path.read_text())
    CHANGES[what](data)
    path.write_text(json.dumps(data))
    with pytest.warns(arm.errors.ArmatureWarning, match="certificate is not valid"):
        back = load_plan(path)
    assert (
        not back.ok
        and not back.certificate.ok
        and what in back.certificate.invalid
        and "NOT valid" in str(back.certificate)
    )
    with pytest.warns(
        arm.errors.ArmatureWarning, match="without hashes"
    ):  # saving it again does not make it valid
        assert not load_plan(back.save(tmp_path / "again.npz")).certificate.ok


@pytest.mark.parametrize("name", ["plan.csv", "baseline.csv", "robot.yaml"])
def test_a_certificate_holds_for_the_files_of_its_folder(plan, tmp_path: Path, name: str) -> None:
    folder = save_plan(plan, tmp_path / "plan")
    assert load_plan(folder).ok and load_plan(folder / "plan.json").ok
    text = (folder / name).read_text()
    (folder / name).write_text(text.replace("1", "2", 1))
    with pytest.warns(arm.errors.ArmatureWarning, match=f"the file {name}"):
        back = load_plan(folder)
    assert not back.ok and not back.certificate.ok
    (folder / name).unlink()
    assert load_plan(folder).ok  # what is not there says nothing wrong
    os.mkfifo(folder / name)
    with pytest.warns(
        arm.errors.ArmatureWarning, match=f"the file {name}"
    ):  # and nothing is waited for
        assert not load_plan(folder).ok


def test_a_store_has_one_driver_by_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to("a.db")
    with open_store(tmp_path / "a.db", write=True) as table:
        table.sync([("x", {})], {})
        with pytest.raises(StudyError, match="another process"):
            open_store(tmp_path / "link.db", write=True)
    os.link(tmp_path / "a.db", tmp_path / "hard.db")
    with pytest.raises(arm.errors.FileError, match="hard links"):
        open_store(tmp_path / "hard.db", write=True)


class Page(HTMLParser):
    """Scripts of a page, and how often its last tag is met."""

    def __init__(self, text: str):
        super().__init__()
        self.scripts: list[str] = []
        self.inside, self.tags = False, []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.inside = tag == "script"

    def handle_data(self, data):
        if self.inside:
            self.scripts.append(data)

    def handle_endtag(self, tag):
        self.inside = False


def test_names_do_not_become_code_in_the_report(plan, tmp_path: Path) -> None:
    first = ROBOT.joint_names[0]
    text = (
        ROBOT.to_yaml()
        .replace(first, json.dumps(EVIL))
        .replace("name: planar2", f"name: {json.dumps(EVIL)}")
    )
    path = tmp_path / "evil.yaml"
    path.write_text(text)
    evil = arm.load(path)
    track = replace(plan.trajectory, joint_names=evil.joint_names)
    plan = replace(plan, problem=None)  # of another robot it would tell no sensitivities
    page = (replace(plan, robot=evil, trajectory=track).report(tmp_path / "r.html")).read_text()
    plain = plan.report(tmp_path / "plain.html").read_text()
    assert EVIL not in page and "<!--" not in page
    assert Page(page).tags == Page(plain).tags  # the page is whole, with not one element more


def test_cells_are_no_formulas() -> None:
    rows = [["=1+1", "+cmd", "-x", "@a", "\t=b"], ["joint", -1.5, "-1.5", 2, "1e-3"]]
    first, second = csv_text(rows).splitlines()
    assert all(cell.startswith("'") for cell in first.split(","))
    assert second == "joint,-1.5,-1.5,2,1e-3"


def test_folders_need_not_be_characters(tmp_path: Path) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"\xff\xfe")
    os.mkdir(folder)
    with open(os.path.join(folder, b"task.yaml"), "w") as file:
        file.write(TASK.replace("robot.yaml", "planar2").replace("output: .", "output: out"))
    command = [
        sys.executable,
        "-m",
        "armature",
        "plan",
        os.path.join(folder, b"task.yaml"),
        "--save",
        os.path.join(folder, b"plan"),
    ]
    done = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "utf-8"}
    )
    assert done.returncode in (0, 1), done.stderr.decode(errors="replace")
    assert b"plan.json" in os.listdir(os.path.join(folder, b"plan"))


@pytest.mark.parametrize(
    "start",
    [
        {"q0": [1e308, 0.0]},
        {"v0": [1e308, 0.0]},
        {"v0": [0.0, 1e7]},
        {"duration": 1e308, "method": "rk4", "step": 1e-3},
    ],
)
def test_absurd_simulations_are_refused(start: dict) -> None:
    with pytest.raises(arm.ArmatureError):
        arm.simulate(ROBOT, None, **start)


def test_the_browser_is_given_no_secret(tmp_path: Path, monkeypatch) -> None:
    import webbrowser

    from armature.web.browser import show

    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    path = show("http://127.0.0.1:1/the-secret/")
    assert (
        opened == [path.as_uri()]
        and "the-secret" not in opened[0]
        and "the-secret" in path.read_text()
    )
    assert path.stat().st_mode & 0o077 == 0

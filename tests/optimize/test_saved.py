"""Plans on disk: what is written comes back bit for bit, says where it comes from, and is whole or
not there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.errors import FileError
from armature.job.provenance import digest, provenance
from armature.job.saved import SavedPlan, load_plan, save_plan
from armature.optimize.certificate.solution import Solution
from armature.write import write_whole

ROBOT = arm.library("burgevin").with_payload(2.0)
MOVE = arm.Move([0.0, 1.0, 0.6], [1.5, 1.4, 0.8], duration=1.0)
KINDS = ("t", "q", "v", "a", "tau", "current", "voltage", "power")
SUPPLIES = ("regenerative", "non-regenerative", arm.Bus(2e-3, 325.0, 400.0, resistance=40.0))


@pytest.fixture(scope="module")
def plan() -> Solution:
    return arm.minimize_energy(ROBOT, MOVE, "non-regenerative", knots=30)


@pytest.fixture(scope="module")
def failed() -> Solution:
    return arm.minimize_energy(ROBOT, replace(MOVE, duration=0.05), knots=30)


def same_motion(a: arm.Trajectory, b: arm.Trajectory) -> bool:
    arrays = all(np.array_equal(getattr(a, k), getattr(b, k), equal_nan=True) for k in KINDS)
    return arrays and a.joint_names == b.joint_names and a.interpolation == b.interpolation


def same_plan(back: SavedPlan, plan: Solution) -> bool:
    numbers = (
        "energy",
        "losses",
        "saving",
        "ok",
        "duration",
        "seconds",
        "status",
        "notes",
        "diagnosis",
        "returns",
        "supply",
        "robot",
    )
    return (
        same_motion(back.trajectory, plan.trajectory)
        and same_motion(back.baseline.trajectory, plan.baseline.trajectory)
        and all(getattr(back, name) == getattr(plan, name) for name in numbers)
        and back.certificate == plan.certificate
        and back.iterations == plan.iterations
        and str(back) == str(plan)
    )


@pytest.mark.parametrize("name", ["folder", "plan.npz", "plan.json"])
def test_a_plan_comes_back_bit_for_bit(plan, failed, tmp_path, name: str):
    for which in (plan, failed):
        place = save_plan(which, tmp_path / name)
        back = load_plan(place)
        assert same_plan(back, which)
        assert back.ledger.energy == pytest.approx(
            plan.ledger.energy if which is plan else failed.ledger.energy, rel=1e-12
        )


@pytest.mark.parametrize("supply", SUPPLIES, ids=["regenerative", "non-regenerative", "bus"])
def test_every_supply_comes_back(plan, tmp_path, supply):
    from armature.drive import as_supply

    other = replace(plan, supply=as_supply(supply))
    assert load_plan(save_plan(other, tmp_path / "p.json")).supply == as_supply(supply)


def test_a_saved_plan_can_be_saved_again_and_keeps_its_origin(plan, tmp_path):
    first = load_plan(save_plan(plan, tmp_path / "a", command="armature plan task.yaml"))
    second = load_plan(first.save(tmp_path / "b.npz"))
    assert same_plan(second, plan) and second.provenance == first.provenance
    assert plan.save(tmp_path / "c.json") == tmp_path / "c.json"


def test_a_folder_holds_files_that_others_read(plan, tmp_path):
    place = save_plan(plan, tmp_path / "deep" / "plan")
    assert same_motion(arm.load_trajectory(place / "plan.csv"), plan.trajectory)
    assert same_motion(arm.load_trajectory(place / "baseline.csv"), plan.baseline.trajectory)
    assert arm.load(place / "robot.yaml") == plan.robot
    rows = [
        line
        for line in (place / "iterations.csv").read_text().splitlines()
        if not line.startswith("#")
    ]
    assert len(rows) == 1 + len(plan.iterations) and rows[0].startswith("number,cost,violation")
    assert float(rows[-1].split(",")[1]) == plan.iterations[-1].cost
    data = json.loads(
        (place / "plan.json").read_text(), parse_constant=lambda x: pytest.fail(f"{x} is not JSON")
    )
    assert data["energy"] == plan.energy and data["units"]["energy"] == "J"


def test_every_file_says_where_it_comes_from_and_names_nobody(plan, tmp_path):
    command = f"armature plan {Path.home()}/secret/task.yaml --out={tmp_path}/x.npz sub/task.yaml"
    place = save_plan(plan, tmp_path / "plan", command, task=MOVE)
    origin = load_plan(place).provenance
    assert origin["command"] == "armature plan task.yaml --out=x.npz sub/task.yaml"
    assert (
        set(origin["packages"]) >= {"numpy", "casadi", "llvmlite", "numba"}
        and origin["packages"]["numpy"] == np.__version__
    )
    assert origin["inputs"] == {
        name: f"sha256:{digest(x)}"
        for name, x in (("robot", plan.robot), ("supply", plan.supply), ("task", MOVE))
    }
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", x) for x in origin["inputs"].values())
    for file in place.iterdir():
        text = file.read_text()
        assert origin["inputs"]["robot"] in text and str(Path.home()) + "/" not in text
        assert not re.search(rf"\b{re.escape(os.uname().nodename)}\b", text)


def test_hashes_tell_inputs_apart(tmp_path):
    assert digest(MOVE) == digest(replace(MOVE)) != digest(replace(MOVE, duration=1.1))
    assert digest(ROBOT) != digest(ROBOT.with_payload(0.1))
    (tmp_path / "task.yaml").write_text("a: 1\n")
    assert digest(tmp_path / "task.yaml") == digest("a: 1\n")
    assert provenance({}, ["armature", "plan", "/a/b c/d.yaml"])["command"].endswith("d.yaml")


def test_bad_plans_are_refused_with_words(plan, tmp_path):
    whole = json.loads(save_plan(plan, tmp_path / "p.json").read_text())
    cases = {
        "no.json": ("[1, 2", "not JSON"),
        "other.json": ("{}", "not an armature plan"),
        "cut.json": (
            json.dumps({k: v for k, v in whole.items() if k != "energy"}),
            "damaged.*energy",
        ),
        "robot.json": (json.dumps({**whole, "robot": "links: 3"}), "links"),
        "status.json": (json.dumps({**whole, "status": "SPLENDID"}), "damaged.*SPLENDID"),
        "supply.json": (json.dumps({**whole, "supply": {"kind": "wind"}}), "wind"),
        "motion.json": (
            json.dumps({**whole, "trajectory": {**whole["trajectory"], "q": [[1.0], [1.0, 2.0]]}}),
            "'q'",
        ),
        "plan.txt": ("", "ends in .npz or .json"),
        "plan.npz": ("PK", "not an NPZ"),
    }
    for name, (text, message) in cases.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(FileError, match=message):
            load_plan(tmp_path / name)
    (tmp_path / "empty").mkdir()
    for path, message in (
        (tmp_path / "empty", "no complete plan"),
        (tmp_path / "missing.npz", "no such file"),
    ):
        with pytest.raises(FileError, match=message):
            load_plan(path)
    with pytest.raises(FileError, match="this is a file"):
        save_plan(plan, tmp_path / "plan.txt")
    with pytest.raises(FileError, match="whole plan"):
        arm.load_trajectory(tmp_path / "p.json")


WRITER = """
import sys
from armature.write import overwriting, write_whole
print("ready", flush=True)
while True:
    for text in ("a" * 3_000_000, "b" * 3_000_000):
        with overwriting():
            write_whole(sys.argv[1], text)
"""


def test_a_kill_never_leaves_half_a_file(tmp_path):
    path = tmp_path / "file.json"
    path.write_text("old")
    for pause in (0.02, 0.05, 0.11, 0.17):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert writer.stdout is not None and writer.stdout.readline() == b"ready\n"
        time.sleep(pause)
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        content = path.read_text()
        assert content == "old" or (len(content) == 3_000_000 and len(set(content)) == 1)
    assert content != "old"  # it did write
    with pytest.raises(FileError, match="cannot be written"):
        write_whole(tmp_path / "no" / "x", "")
    assert not list(tmp_path.glob(".x*"))

"""Every verb that takes a robot takes a task file too; tables are free of rounding; a bare call
shows the help and no error."""

import json
import subprocess
import sys

import pytest

from armature.cli.main import run
from armature.cli.output import tidy


@pytest.fixture
def task(tmp_path):
    """A task of the built-in planar arm with a payload."""
    file = tmp_path / "task.yaml"
    file.write_text(
        "robot: planar2\npayload: 2 kg\nmove: {start: [0, 0], goal: [30 deg, 40 deg], duration: 1.6"
        " s}\n"
    )
    return str(file)


@pytest.mark.parametrize(
    ("verb", "key"), [("linearize", "A"), ("loads", "loads"), ("check", "joints")]
)
def test_a_task_file_stands_for_its_robot_with_payload(verb, key, task, capsys):
    assert run([verb, task, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)[key]
    assert run([verb, "planar2", "--payload", "2kg", "--json"]) == 0
    assert found == json.loads(capsys.readouterr().out)[key]
    assert run([verb, "planar2", "--json"]) == 0
    assert found != json.loads(capsys.readouterr().out)[key]


def test_numbers_below_a_billionth_of_the_largest_are_shown_as_zero():
    assert tidy([-120.8, 2e-12, 1e-6, float("inf")]) == [-120.8, 0.0, 1e-6, float("inf")]
    assert tidy([1e-20, -3e-21]) == [1e-20, -3e-21] and tidy([]) == []


def test_a_bare_call_shows_the_help_and_no_empty_error(capsys):
    assert run([]) == 2
    told = capsys.readouterr()
    assert "Usage: armature" in told.out and "error" not in told.err


def test_notes_of_a_plan_are_told_once_and_ok_means_certified(task, capsys, tmp_path):
    assert run(["plan", task, "--knots", "8"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == len(set(lines))
    sharp = [
        "plan",
        "planar2",
        "--from",
        "0,0",
        "--to",
        "90deg,40deg",
        "--objective",
        "time",
        "--knots",
        "8",
        "--json",
    ]
    code = run(sharp)
    data = json.loads(capsys.readouterr().out)
    assert data["ok"] == data["certificate"]["ok"] == (code == 0)


def test_a_recorded_motion_tells_whether_the_least_is_certified(task, capsys, tmp_path):
    assert run(["plan", task, "--knots", "16", "--save", str(tmp_path / "m.csv")]) == 0
    capsys.readouterr()
    assert run(["plan", task, "--from", str(tmp_path / "m.csv"), "--knots", "16"]) == 0
    assert "certificate: passed" in capsys.readouterr().out


def test_a_motion_that_does_not_reach_its_goal_is_nowhere_called_certified(task, capsys, tmp_path):
    page = tmp_path / "page.html"
    short = ["plan", task, "-T", "0.1", "--knots", "8", "--report", str(page)]
    assert run(short) == 1
    assert "certificate: none" in capsys.readouterr().out
    text = page.read_text()
    assert "certificate: none" in text and "<dd>passed</dd>" not in text
    assert run([*short, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["ok"] is False and data["certificate"]["ok"] is False


@pytest.mark.parametrize("robot", ["planar2", "arm.urdf"])
def test_a_robot_without_a_motion_is_told_how_to_give_one(robot, capsys):
    assert run(["plan", robot]) == 2
    assert "--from and --to" in capsys.readouterr().err


def test_a_reader_that_closes_the_pipe_is_told_from_a_motion_that_does_not_exist():
    call = [
        sys.executable,
        "-c",
        "import sys; from armature.cli.main import run; sys.exit(run(['check', 'six_axis']))",
    ]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141

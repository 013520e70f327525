"""The command line as a user meets it: answers, one-line errors, exit codes; never a traceback."""

import subprocess
import sys

import pytest

PLAN = ["plan", "burgevin", "--from", "0,90deg,0.9", "--to", "90deg,90deg,0.9", "-T", "0.8", "--payload", "2", "--knots", "40"]


def armature(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "armature", *arguments], capture_output=True, text=True)


def test_help_names_the_verbs():
    run = armature("--help")
    assert run.returncode == 0
    assert all(verb in run.stdout for verb in ("info", "library", "plan"))


def test_library_lists_the_papers_robots():
    run = armature("library")
    assert run.returncode == 0
    assert "burgevin" in run.stdout and "valasek" in run.stdout


def test_plan_saves_energy_and_proves_it(tmp_path):
    page = tmp_path / "plan.html"
    run = armature(*PLAN, "--report", str(page))
    assert run.returncode == 0, run.stderr
    assert "saved 45" in run.stdout  # reduction_pct of rot90_R90_T0.8_m2 in burgevin.json: 45.46
    assert "certificate: passed" in run.stdout
    text = page.read_text()
    assert "<svg" in text and "certificate: passed" in text
    assert "http" not in text.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    ).replace("https://matplotlib.org", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["info", "no_such_file.urdf"], "no such file"),
        (["plan", "burgevin", "--from", "0,x,1", "--to", "0,0,0.5", "-T", "1"], "'x' is not a number"),
        (["plan", "burgevin", "--from", "0,0", "--to", "0,0,0.5", "-T", "1"], "expected (3,)"),
        (["plan", "burgevin", "--from", "0,0,0.5", "--to", "0,0,0.6", "-T", "-1"], "positive"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, words):
    run = armature(*arguments)
    assert run.returncode == 2
    assert words in run.stderr
    assert "Traceback" not in run.stderr
    assert run.stderr.startswith("error: ") and run.stderr.count("\n") == 1


def test_goal_outside_its_range_is_told_with_the_range():
    run = armature("plan", "burgevin", "--from", "0,90deg,0.9", "--to", "0,90deg,1.9", "-T", "1", "--knots", "20")
    assert run.returncode == 1
    assert "joint 'r' at 1.9" in run.stdout and "0.16 to 0.91" in run.stdout


@pytest.mark.parametrize("name", ["motion", "graf", "power", "torque-speed", "ledger"])
def test_figures_of_a_saved_motion_are_written(name, tmp_path):
    import numpy as np

    import armature as arm

    robot = arm.library("burgevin")
    q0, q1, T = np.array([0.0, 1.5, 0.5]), np.array([1.0, 1.2, 0.7]), 1.0
    t = np.linspace(0.0, T, 21)
    s = t[:, None] / T
    track = arm.Trajectory(
        t, q0 + (3 * s**2 - 2 * s**3) * (q1 - q0), 6 * s * (1 - s) * (q1 - q0), (6 - 12 * s) * (q1 - q0), robot.joint_names
    )
    track.save(tmp_path / "track.csv")
    run = armature("figure", name, "burgevin", str(tmp_path / "track.csv"), "--save", str(tmp_path / "picture.png"))
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_unknown_figure_is_refused_with_the_names():
    run = armature("figure", "nothing", "burgevin", "none.csv", "--save", "x.png")
    assert run.returncode == 2 and "torque-speed" in run.stderr and run.stderr.count("\n") == 1

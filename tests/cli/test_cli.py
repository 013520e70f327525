"""The command line as a user meets it: every verb; answers, one-line errors, exit codes, never a
traceback."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import armature as arm
from armature.cli import output
from armature.cli.main import run

MOVE = [
    "burgevin",
    "--from",
    "0,90deg,0.9",
    "--to",
    "90deg,90deg,0.9",
    "-T",
    "0.8",
    "--payload",
    "2",
]
PLAN = [
    "plan",
    *MOVE,
    "--knots",
    "40",
    "--smoothness",
    "0",
]  # the least energy alone, as in the thesis
VERBS = (
    "init",
    "check",
    "plan",
    "curve",
    "simulate",
    "linearize",
    "loads",
    "figure",
    "export",
    "library",
    "schema",
    "bench",
)


def armature(*arguments: str, cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "armature", *arguments]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **env},
        encoding="utf-8",
        errors="replace",
    )


def answered(*arguments: str, cwd: Path | None = None, code: int = 0) -> dict:
    """The JSON object that a verb answers with --json: the only thing on stdout. In this process:
    another one takes seconds to begin."""
    with contextlib.chdir(cwd or "."), contextlib.redirect_stdout(io.StringIO()) as out:
        assert run([*arguments, "--json"]) == code
    assert out.getvalue().count("\n") == 1
    return json.loads(out.getvalue())


@pytest.fixture(scope="module")
def motion(tmp_path_factory):
    """A motion of Burgevin's arm, planned on the command line."""
    folder = tmp_path_factory.mktemp("motion")
    done = armature(*PLAN, "--save", "plan.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "saved 45" in done.stdout  # reduction_pct of rot90_R90_T0.8_m2 in burgevin.json: 45.46
    assert "certificate: passed" in done.stdout
    return folder / "plan.csv"


# --- help, version, completion -------------------------------------------------------------------


def test_help_names_the_verbs_and_is_quick():
    before = os.times()
    done = armature("--help")
    after = os.times()
    assert done.returncode == 0 and all(verb in done.stdout for verb in VERBS)
    assert (
        after.children_user + after.children_system - before.children_user - before.children_system
        < 1.0
    )  # 0.2 s here


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_the_common_options(verb, capsys):
    assert run([verb, "--help"]) == 0
    text = capsys.readouterr().out
    assert "--json" in text and "--quiet" in text and "--debug" in text


def test_version():
    assert armature("--version").stdout == f"armature {arm.__version__}\n"


def test_the_shell_completes_robot_names():
    done = armature(
        _ARMATURE_COMPLETE="complete_bash", COMP_WORDS="armature check si", COMP_CWORD="2"
    )
    assert done.stdout.split() == ["six_axis"]


# --- the verbs -----------------------------------------------------------------------------------


def test_check_tells_links_lines_and_physics(tmp_path, capsys):
    (tmp_path / "arm.urdf").write_text(
        '<robot name="a">\n<link name="base"/>\n<link name="l"><inertial><mass value="2"/><origin'
        ' xyz="0.5 0 0"/>\n<inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0"'
        ' iyz="0"/></inertial></link>\n<joint name="j" type="revolute"><parent link="base"/><child'
        ' link="l"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" velocity="2"'
        ' effort="30"/></joint>\n</robot>\n'
    )
    assert run(["check", str(tmp_path / "arm.urdf")]) == 0
    told = capsys.readouterr()
    assert (
        "no drives" in told.out
        and "arm.urdf:" in told.err
        and "no body has this inertia" in told.err
    )
    row = answered("check", "arm.urdf", cwd=tmp_path)["joints"][0]
    assert row["holds"] == pytest.approx(-2 * 9.81 * 0.5) and row["inertia"] == pytest.approx(
        1 + 2 * 0.25
    )


def test_check_counts_what_it_doubts_and_names_a_few_of_many_joints(tmp_path, capsys):
    """Placeholder masses, and torque limits of 0.1 N·m where gravity needs more: as many warnings
    as lines that name one."""
    link = (
        "  - {{joint: j{0}, kind: revolute, axis: y, offset: [0.2, 0, 0], mass: 1, com: [0.1, 0,"
        " 0], "
    )
    link += "inertia: [0.01, 0.01, 0.01], limits: {{torque: 0.1}}}}\n"
    (tmp_path / "arm.yaml").write_text("links:\n" + "".join(link.format(k) for k in range(8)))
    assert run(["check", str(tmp_path / "arm.yaml")]) == 0
    said = capsys.readouterr().out.splitlines()
    doubts = [line for line in said if "placeholders" in line or "is less than the" in line]
    assert len(doubts) == 1 + 8 and said[-1] == f"warnings: {len(doubts)}"
    assert any(line.startswith("no limits of acceleration on any joint") for line in said)


def test_a_saved_plan_s_robot_is_not_warned_of_again(tmp_path, capsys):
    """A link of which no body has the inertia: planning says so, exporting the plan does not."""
    inertia = "inertia: [1, 1, 9]"
    (tmp_path / "arm.yaml").write_text(
        f"links:\n  - {{joint: j, kind: revolute, axis: y, mass: 1, com: [0.1, 0, 0], {inertia}}}\n"
    )
    assert run(["init", str(tmp_path / "new"), "--robot", str(tmp_path / "arm.yaml")]) == 0
    assert run(["plan", str(tmp_path / "new" / "task.yaml"), "--knots", "20"]) == 0
    assert "no body has this inertia" in capsys.readouterr().err
    assert run(["export", str(tmp_path / "new" / "plan"), str(tmp_path / "motion.csv")]) == 0
    assert capsys.readouterr().err == ""


def test_a_motion_that_is_not_certified_is_exported_with_a_warning(tmp_path, capsys):
    """A plan whose motion was changed after it was certified, and the best try of a search that
    failed."""
    move = ["planar2", "--from", "0,0", "--to", "1,1", "--knots", "20"]
    assert run(["plan", *move, "-T", "1", "--save", str(tmp_path / "good")]) == 0
    file = tmp_path / "good" / "plan.json"
    plan = json.loads(file.read_text())
    plan["trajectory"]["q"] = [[50 * x for x in row] for row in plan["trajectory"]["q"]]
    file.write_text(json.dumps(plan))
    assert run(["plan", *move, "-T", "0.02", "--save", str(tmp_path / "bad")]) == 1
    capsys.readouterr()
    for name, words in (
        ("good", "these were changed: the motion"),
        ("bad", "this motion is not certified"),
    ):
        assert run(["export", str(tmp_path / name), str(tmp_path / f"{name}.csv")]) == 0
        assert words in capsys.readouterr().err


def test_check_of_a_task_plans_nothing(tmp_path, capsys):
    assert run(["init", str(tmp_path), "--quiet"]) == 0
    assert run(["check", str(tmp_path / "task.yaml")]) == 0
    assert "a move of least energy" in capsys.readouterr().out and not (tmp_path / "plan").exists()
    (tmp_path / "task.yaml").write_text(
        (tmp_path / "task.yaml").read_text().replace("goal:", "gaol:")
    )
    assert run(["check", str(tmp_path / "task.yaml")]) == 2
    assert "did you mean 'goal'" in capsys.readouterr().err


def test_library_lists_shows_and_saves(tmp_path, capsys):
    assert {"burgevin", "valasek", "six_axis"} <= {r["name"] for r in answered("library")["robots"]}
    assert run(["library", "planar2", "--save", str(tmp_path / "p.yaml")]) == 0
    assert "shoulder" in capsys.readouterr().out and arm.load(tmp_path / "p.yaml") == arm.library(
        "planar2"
    )


def test_plan_writes_a_folder_that_can_be_read_back(tmp_path):
    data = answered(*PLAN, "--save", "kept", cwd=tmp_path)
    assert (
        data["ok"]
        and data["certificate"]["ok"]
        and data["saving"] == pytest.approx(0.4546, abs=2e-3)
    )
    assert (tmp_path / "kept" / "plan.json").exists() and (
        tmp_path / "kept" / "report.html"
    ).exists()
    assert run(["export", str(tmp_path / "kept"), str(tmp_path / "motion.yaml")]) == 0
    assert "joint_names" in (tmp_path / "motion.yaml").read_text()


def test_plan_of_least_time_needs_no_duration():
    move = ["burgevin", "--from", "0,90deg,0.9", "--to", "phi=90deg,theta=90deg,r=0.9"]
    data = answered("plan", *move, "--objective", "time", "--knots", "20")
    assert data["ok"] and 0.1 < data["duration"] < 0.8


def test_plan_tells_what_a_recorded_motion_costs(tmp_path):
    t = np.linspace(0.0, 0.8, 41)
    s = t / 0.8
    rows = zip(t, 90 * (3 * s**2 - 2 * s**3), np.full(41, 90.0), np.full(41, 900.0))
    text = "time,phi [deg],theta [deg],r [mm]\n" + "".join(
        ",".join(f"{x:.9f}" for x in row) + "\n" for row in rows
    )
    (tmp_path / "recorded.csv").write_text(text)
    command = ["plan", "burgevin", "--from", "recorded.csv", "--payload", "2 kg", "--knots", "40"]
    data = answered(*command, "--smoothness", "0", cwd=tmp_path)
    assert data["recorded"]["losses"] == pytest.approx(
        7.45, rel=5e-3
    )  # the joint cubic of the thesis's table
    assert data["losses"] == pytest.approx(4.063, rel=5e-3) and data["saving"] == pytest.approx(
        0.4546, abs=5e-3
    )


def test_goal_outside_its_range_is_told_with_the_range():
    done = armature(
        "plan",
        "burgevin",
        "--from",
        "0,90deg,0.9",
        "--to",
        "0,90deg,1.9",
        "-T",
        "1",
        "--knots",
        "20",
    )
    assert done.returncode == 1
    assert "joint 'r' at 1.9" in done.stdout and "0.16 to 0.91" in done.stdout


def test_curve_writes_its_table_and_its_picture(tmp_path):
    move = ["burgevin", "--from", "0,90deg,0.9", "--to", "90deg,90deg,0.9", "--payload", "2"]
    data = answered(
        "curve",
        *move,
        "--durations",
        "0.7:1.2:3",
        "--knots",
        "20",
        "--save",
        "c.csv",
        "--picture",
        "c.png",
        cwd=tmp_path,
    )
    assert data["energies"][0] > data["energies"][1] > data["energies"][2] > 0
    assert (tmp_path / "c.csv").read_text().startswith("duration [s],energy [J],losses [J]\n0.7")
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_a_curve_takes_passing_times_of_a_task_with_their_part_of_its_duration(tmp_path):
    move = (
        "start: [0, 1, 0.6], goal: [1.5, 1.4, 0.8], duration: 2.4, via: [{configuration: [0.7, 1.2,"
        " 0.7], at: 1.2}]"
    )
    (tmp_path / "task.yaml").write_text(f"robot: burgevin\nmove: {{{move}}}\n")
    data = answered("curve", "task.yaml", "--durations", "1, 2", "--knots", "20", cwd=tmp_path)
    half = arm.Move(
        [0, 1, 0.6], [1.5, 1.4, 0.8], 1.0, via=[arm.optimize.Via([0.7, 1.2, 0.7], at=0.5)]
    )
    assert data["energies"][0] == pytest.approx(
        arm.minimize_energy(arm.library("burgevin"), half, knots=20).energy, rel=1e-3
    )


def test_simulate_falls_holds_and_follows(motion, tmp_path, capsys):
    fall = answered(
        "simulate",
        "burgevin",
        "--from",
        "0,30deg,0.5",
        "-T",
        "200ms",
        "--save",
        str(tmp_path / "fall.csv"),
    )["energy"]
    assert (
        fall["kinetic, at the end"] == pytest.approx(-fall["potential, gained"], rel=1e-6)
        and fall["kinetic, at the end"] > 1
    )
    assert arm.motion.load_trajectory(tmp_path / "fall.csv").duration == pytest.approx(0.2)
    assert (
        run(["simulate", "burgevin", "--from", "0,30deg,0.5", "-T", "200ms", "--stay", "--json"])
        == 0
    )
    held = json.loads(capsys.readouterr().out)
    assert np.allclose(held["end"], [0.0, np.radians(30), 0.5], atol=1e-6)
    assert run(["simulate", "burgevin", "--payload", "2", "--motion", str(motion), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["error"] < 1e-4


def test_linearize_gives_the_pendulum_s_frequency(tmp_path):
    (tmp_path / "rod.yaml").write_text(
        "links:\n  - {joint: j, kind: revolute, axis: y, mass: 2, com: [0, 0, -0.5], name: rod}\n"
    )
    data = answered("linearize", "rod.yaml", "--save", "l.csv", cwd=tmp_path)
    assert data["frequencies"] == pytest.approx([np.sqrt(9.81 / 0.5) / (2 * np.pi)] * 2, rel=1e-9)
    assert (tmp_path / "l.csv").read_text().startswith("state,A Δq j,A Δv j,B Δτ j")


def test_loads_of_a_level_beam_are_its_weight(tmp_path):
    robot = (
        "links:\n  - {joint: j, kind: revolute, axis: y, mass: 2, com: [0.5, 0, 0], name: beam,"
        " inertia: [0, 0.167, 0.167]}\n"
    )
    (tmp_path / "beam.yaml").write_text(robot)
    rows = {
        row["load"]: row["worst"] for row in answered("loads", "beam.yaml", cwd=tmp_path)["loads"]
    }
    assert abs(rows["shear"]) == pytest.approx(2 * 9.81) and abs(rows["bending"]) == pytest.approx(
        2 * 9.81 * 0.5
    )
    assert run(["loads", str(tmp_path / "beam.yaml"), "--save", str(tmp_path / "l.csv")]) == 0
    assert (tmp_path / "l.csv").read_text().count("\n") == 5


@pytest.mark.parametrize("ending", ["csv", "npz", "json", "yaml", "parquet", "h5", "mcap"])
def test_export_to_every_format_gives_the_motion_back(motion, tmp_path, ending, capsys):
    target = tmp_path / f"out.{ending}"
    assert run(["export", str(motion), str(target), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["points"] == 41
    again, before = arm.motion.load_trajectory(target), arm.motion.load_trajectory(motion)
    assert np.allclose(again.q, before.q) and again.joint_names == before.joint_names


def test_export_through_the_program_with_even_times(motion, tmp_path):
    done = armature("export", str(motion), str(tmp_path / "out.csv"), "--step", "10ms", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["points"] == 81


@pytest.mark.parametrize("name", ["motion", "graf", "power", "torque-speed", "ledger"])
def test_figures_of_a_saved_motion_are_written(name, motion, tmp_path):
    picture = tmp_path / "picture.png"
    if name == "graf":
        done = armature("figure", name, "burgevin", str(motion), "--save", str(picture))
        assert done.returncode == 0, done.stderr
    else:
        assert run(["figure", name, "burgevin", str(motion), "--save", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_bench_times_the_dynamics_and_a_plan():
    data = answered("bench", "planar2", "--knots", "20", "--seconds", "0.01")
    assert (
        len(data["functions"]) == 4
        and all(f["state"] > 0 for f in data["functions"])
        and data["plan"]["again"] > 0
    )


# --- how it behaves ------------------------------------------------------------------------------


WAY = ["--from", "0,0", "--to", "1,1"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "no_such_file.urdf"], "no such file"),
        (["check", "six_axes"], "did you mean 'six_axis'"),
        (
            ["plan", "burgevin", "--from", "0,x,1", "--to", "0,0,0.5", "-T", "1"],
            "'x' is not a number",
        ),
        (
            ["plan", "burgevin", "--from", "0,0", "--to", "0,0,0.5", "-T", "1"],
            "2 values for 3 joints",
        ),
        (
            ["plan", "burgevin", "--from", "phy=0", "--to", "0,0,0.5", "-T", "1"],
            "did you mean 'phi'",
        ),
        (["plan", "burgevin", "--from", "0,0,0.5", "--to", "0,0,0.6", "-T", "-1"], "positive"),
        (["plan", "burgevin", "--from", "0,0,0.5", "--to", "0,0,0.6"], "needs its duration"),
        (["plan", "burgevin", "--from", "0,0,0.5"], "give both --from and --to"),
        (["plan", "burgevin", "--from", "none.csv"], "no such file"),
        (["plan", "nothing.yaml"], "no such file"),
        (["plan", "x.yaml", "--knots", "many"], "--knots"),
        (["plan"], "Missing argument"),
        (["simulate", "planar2", "--method", "euler"], "euler"),
        (["simulate", "planar2", "--motion", "none.csv"], "no such file"),
        (
            ["curve", "planar2", "--from", "0,0", "--to", "1,1", "--durations", "1:2"],
            "least:most:count",
        ),
        (["linearize", "planar2", "--save", "x.txt"], ".json or .csv"),
        (["loads", "planar2", "--link", "nothing"], "there is no link"),
        (["export", "none.csv", "x.npz"], "no such file"),
        (["figure", "nothing", "burgevin", "none.csv", "--save", "x.png"], "torque-speed"),
        (["library", "nothing"], "there is no built-in robot"),
        (["schema", "nothing"], "choose one of"),
        (["plan", "planar2", *WAY, "-T", "1s,2s"], "2 numbers, where one time"),
        (["plan", "planar2", *WAY, "-T", "1e9"], "the largest that is taken"),
        (["plan", "planar2", *WAY, "-T", "1", "--objective", "time"], "finds the duration itself"),
        (["plan", "planar2", *WAY, "-T", "1", "--hold", "*"], "no joint is left"),
        (["plan", "planar2", *WAY, "-T", "1", "--price", "0.3"], "--cycles"),
        (["plan", "planar2", "--from", "elbow=1,elbow=2", "--to", "1,1", "-T", "1"], "twice"),
        (["curve", "planar2", *WAY, "--durations", "1,2", "--save", "x.txt"], "--save ends in"),
        (["simulate", "planar2", "-T", "0"], "above 0"),
        (["simulate", "planar2", "--method", "rk4", "--step", "10s"], "longer than the duration"),
        (["linearize", "planar2", "--velocity", "1e200,0"], "the largest that is taken"),
        (["init", "d", "--arg", "a:=b"], "--robot"),
        (["bench", "nothing"], "neither a robot file nor a built-in robot"),
        (["nothing"], "No such command"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    errors = capsys.readouterr().err
    assert words in errors and "Traceback" not in errors
    assert errors.startswith("error: ") and errors.count("\n") == 1


@pytest.mark.parametrize(
    ("verb", "file", "words"),
    [
        (["plan"], "study.yaml", "a study; armature study run study.yaml"),
        (["plan"], "robot.yaml", "a robot; give it as robot:"),
        (["check"], "drives.yaml", "drives; give them with their robot"),
        (["curve"], "line.yaml", "a line; armature line line.yaml"),
        (["ways"], "program.yaml", "a program; armature plan program.yaml"),
        (["cell"], "task.yaml", "a task; armature plan task.yaml"),
        (["line"], "path_task.yaml", "a task; armature plan path_task.yaml"),
        (["study", "run"], "task.yaml", "a task; armature plan task.yaml"),
        (["init", "new", "--robot"], "task.yaml", "a task"),
    ],
)
def test_a_file_of_another_kind_is_named_with_the_verb_for_it(
    verb, file, words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert run(["init", "--quiet"]) == 0
    assert run([*verb, file]) == 2
    assert f"{file}: this is the file of {words}" in capsys.readouterr().err


def test_a_motion_out_of_all_range_is_refused_without_being_simulated(capsys):
    """Neither certified nor counted: its dynamics would take minutes, and mean nothing."""
    assert run(["plan", "planar2", "--from", "0,0", "--to", "1e6,0", "-T", "1", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert "out of range" in data["diagnosis"]
    assert data["energy"] is None and data["certificate"]["ok"] is False


def test_bad_input_through_the_program_and_as_json():
    done = armature("check", "no_such_file.urdf")
    assert (
        done.returncode == 2
        and done.stderr == "error: no_such_file.urdf: there is no such file; check the path\n"
        and not done.stdout
    )
    done = armature("check", "no_such_file.urdf", "--json")
    data = json.loads(done.stdout)
    assert done.returncode == 2 and done.stdout.count("\n") == 1
    assert data["ok"] is False and data["exit_code"] == 2 and "no such file" in data["error"]


def test_quiet_says_nothing():
    done = armature("check", "planar2", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_fault_of_the_program_is_one_line_and_exit_3(monkeypatch, capsys):
    import armature.cli.check as verb

    def broken(robot):
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(verb, "physics", broken)
    assert run(["check", "planar2"]) == 3
    errors = capsys.readouterr().err
    assert (
        errors
        == "internal error: ZeroDivisionError: a fault; run it again with --debug and report what"
        " it prints\n"
    )
    assert run(["check", "planar2", "--debug"]) == 3
    assert "Traceback" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error():
    command = f'"{sys.executable}" -m armature library six_axis --json | head -c 1'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""


def test_a_terminal_that_knows_only_ascii_gets_question_marks():
    done = armature("check", "planar2", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0 and "kg?m?" in done.stdout


def test_a_search_for_the_least_time_tells_how_it_goes(capsys, monkeypatch):
    monkeypatch.setattr("armature.cli.output.PATIENCE", 0.01)  # two seconds for users
    assert (
        run(["plan", "planar2", "--from", "0.3, -1", "--to", "1.4, 0.8", "--objective", "time"])
        == 0
    )
    told = capsys.readouterr()
    assert "planning planar2: iteration" in told.err and "certificate: passed" in told.out


def test_what_is_compiled_before_the_first_iteration_is_told_too(capsys, monkeypatch):
    monkeypatch.setattr("armature.cli.output.PATIENCE", 0.01)
    output.start()
    with output.Progress("planning an arm") as progress:
        time.sleep(0.5)
        progress(SimpleNamespace(number=7, cost=1.0, violation=0.1))
    told = capsys.readouterr().err.splitlines()
    assert ["compiling" in line for line in told] == [True, False] and "iteration 7" in told[1]


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_plan_with_the_best_so_far_and_a_second_one_at_once(times):
    move = [
        "six_axis",
        "--from",
        "lift=-80deg,elbow=140deg",
        "--to",
        "pan=60deg,lift=-10deg,elbow=20deg",
        "-T",
        "1.6",
        "--knots",
        "6000",
    ]
    command = [sys.executable, "-m", "armature", "plan", *move, "--supply", "non-regenerative"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    lines = iter(child.stderr.readline, "")
    assert any(
        "iteration" in line for line in lines
    )  # after two seconds a line tells how it goes, or that it is being compiled
    child.send_signal(signal.SIGINT)
    assert "stopping with the best motion so far" in child.stderr.readline()
    if times == 2:
        child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 130 and "Traceback" not in err and "interrupted" in err
    assert times == 2 or "The search was interrupted; the best motion met so far is given." in out

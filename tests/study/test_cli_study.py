"""Studies and lines through the real command line: run, killed, run on, looked at, exported, drawn;
exit codes and JSON."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import armature as arm
from armature.cli.main import run
from armature.study.store import open_store
from armature.study.summary import load_results

STUDY = """name: tiny
task:
  robot: planar2
  supply: non-regenerative
  move: {start: [0, 0], goal: [1, 1], duration: 1 s}
  knots: 12
vary:
  duration: {from: 0.8 s, to: 2 s, count: 6}
  knots: [10, 12]
certify: false
"""


def armature(*arguments: object) -> subprocess.CompletedProcess:
    """The program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "armature", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
    )


def done(path: Path) -> int:
    """Finished cases."""
    if not path.is_file():
        return 0
    try:
        with open_store(path) as store:
            return store.counts()["done"]
    except arm.errors.FileError:  # it is being made
        return 0


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that was killed in the middle and run on."""
    path = tmp_path_factory.mktemp("study") / "tiny.yaml"
    path.write_text(STUDY)
    store = path.with_suffix(".db")
    process = subprocess.Popen(
        [sys.executable, "-m", "armature", "study", "run", str(path), "-w", "1", "--quiet"]
    )
    end = time.monotonic() + 100
    while done(store) < 3:
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert 3 <= done(store) < 12
    ended = armature("study", "run", path, "-w", 1, "--json")
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)
    assert answer["ok"] and answer["cases"] == answer["done"] == 12 and answer["waiting"] == 0
    return path


def test_a_killed_study_run_on_has_the_table_of_an_undisturbed_one(
    finished: Path, tmp_path: Path
) -> None:
    (tmp_path / "tiny.yaml").write_text(STUDY)
    assert run(["study", "run", str(tmp_path / "tiny.yaml"), "-w", "1", "-q"]) == 0
    same = lambda path: {
        k: v
        for k, v in load_results(path).table().items()
        if k not in ("seconds", "attempts", "reason")
    }
    assert same(finished.with_suffix(".db")) == same(tmp_path / "tiny.db")


def test_status_and_show_tell_what_was_found(finished: Path, capsys: pytest.CaptureFixture) -> None:
    assert run(["study", "status", str(finished)]) == 0
    assert "tiny: 12 cases, 12 done" in capsys.readouterr().out
    assert run(["study", "show", str(finished), "--rows", "3"]) == 0
    out = capsys.readouterr().out
    assert (
        "energy" in out
        and "given_duration" in out
        and "9 more" in out
        and len(out.splitlines()) == 5
    )
    assert run(["study", "show", str(finished), "2", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (
        row["inputs"] == {"duration": 0.8, "knots": 12}
        and row["outcome"]["ok"]
        and row["state"] == "done"
    )
    assert run(["study", "show", str(finished), "--state", "failed", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == []
    assert run(["study", "show", str(finished), "99"]) == 2
    assert "number from 1 to 12" in capsys.readouterr().err


def test_the_plan_of_a_case_can_be_taken_out(finished: Path, tmp_path: Path) -> None:
    from armature.job.saved import load_plan

    assert (
        run(["study", "show", str(finished), "5", "--save", str(tmp_path / "plan.npz"), "-q"]) == 0
    )
    plan, row = load_plan(tmp_path / "plan.npz"), load_results(finished.with_suffix(".db")).rows[4]
    assert plan.energy == row.outcome["energy"] and plan.duration == pytest.approx(
        row.inputs["duration"]
    )
    assert arm.ledger(plan.robot, plan.trajectory, plan.supply).energy == pytest.approx(
        row.outcome["energy"]
    )


def test_tables_are_exported_with_units_and_read_back(finished: Path, tmp_path: Path) -> None:
    import pyarrow.parquet

    results = load_results(finished.with_suffix(".db"))
    for name in ("a.csv", "a.parquet"):
        assert run(["study", "export", str(finished), str(tmp_path / name), "-q"]) == 0
    with open(tmp_path / "a.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(r["energy [J]"]) for r in rows] == results.column("energy").tolist()
    table = pyarrow.parquet.read_table(tmp_path / "a.parquet")
    assert table.column("energy").to_pylist() == results.column("energy").tolist()
    assert (
        table.schema.field("energy").metadata == {b"unit": b"J"}
        and table.column("ok").to_pylist() == [True] * 12
    )
    assert run(["study", "export", str(finished), str(tmp_path / "a.xls")]) == 2


def test_the_summary_picture_shows_every_varied_key(finished: Path, tmp_path: Path) -> None:
    from armature.plot.study import study as draw

    figure = draw(load_results(finished.with_suffix(".db")), save=tmp_path / "a.svg")
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["duration [s]", "knots", "saved against the joint cubic [%]", ""]
    assert run(["study", "plot", str(finished), str(tmp_path / "a.png"), "-q"]) == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_curves_over_many_moves_are_one_row_each_and_one_line_a_duration(tmp_path: Path) -> None:
    text = STUDY.replace(
        "  duration: {from: 0.8 s, to: 2 s, count: 6}\n  knots: [10, 12]",
        "  goal: [[1, 1], [0.5, -1]]",
    )
    (tmp_path / "curves.yaml").write_text(text + "curve: {count: 4, shortest: 1.2, longest: 3}\n")
    assert run(["study", "run", str(tmp_path / "curves.yaml"), "-w", "1", "-q"]) == 0
    results = load_results(tmp_path / "curves.db")
    results.save(tmp_path / "curves.csv")
    with open(tmp_path / "curves.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(results.rows) == 2 and len(rows) == 8
    for row in results.rows:
        energies, durations = row.outcome["curve_energies"], row.outcome["curve_durations"]
        assert durations[0] == pytest.approx(1.2 * row.outcome["least_time"]) and row.outcome[
            "energy"
        ] == min(energies)
    assert [float(r["curve_duration [s]"]) for r in rows[4:]] == results.rows[1].outcome[
        "curve_durations"
    ]
    assert (
        run(["study", "plot", str(tmp_path / "curves.yaml"), str(tmp_path / "curves.png"), "-q"])
        == 0
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "nowhere.yaml"], "no such file"),
        (["status", "nowhere.db"], "no such store"),
        (["retry", "tiny.yaml"], "no such store"),
        (["run", "tiny.yaml", "--workers", "0"], "workers"),
        (["run", "tiny.yaml", "--cluster", "moon"], "local:N"),
        (["show", "tiny.yaml"], "run the study first"),
        (["run", "tiny.yaml", "--store", "tiny.yaml"], "not the store of a study"),
    ],
)
def test_mistakes_end_with_code_2_and_one_line(
    tmp_path: Path, monkeypatch, capsys, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.yaml").write_text(STUDY)
    assert run(["study", *arguments]) == 2
    err = capsys.readouterr().err
    assert words in err and err.startswith("error: ") and "Traceback" not in err


def test_failed_cases_give_code_1_and_retry_runs_them_again(tmp_path: Path, capsys) -> None:
    text = STUDY.replace(
        "  duration: {from: 0.8 s, to: 2 s, count: 6}\n  knots: [10, 12]",
        "  robot: [planar2, scara]",
    )
    (tmp_path / "robots.yaml").write_text(text)
    assert run(["study", "run", str(tmp_path / "robots.yaml"), "-w", "1"]) == 1
    assert "1 failed: move.start: 2 values for 4 joints" in capsys.readouterr().out
    assert run(["study", "retry", str(tmp_path / "robots.yaml"), "-w", "1"]) == 1
    assert "1 cases are tried again" in capsys.readouterr().out


LINE = """name: pair
knots: 16
points: 4
stations:
  - name: a
    robot: planar2
    start: [0, 0]
    steps: [{move: {name: out, goal: [1, 1]}}, {move: {goal: start}}]
  - name: b
    robot: planar2
    start: [0, 0]
    steps: [{move: {name: out, goal: [1, 1]}}, {process: 0.4 s}, {move: {goal: start}}]
"""


def test_a_line_is_balanced_from_the_command_line(tmp_path: Path, capsys) -> None:
    path = tmp_path / "line.yaml"
    path.write_text(LINE)
    assert (
        run(
            [
                "line",
                str(path),
                "--json",
                "--plot",
                str(tmp_path / "line.png"),
                "--save",
                str(tmp_path / "plans"),
            ]
        )
        == 0
    )
    answer = json.loads(capsys.readouterr().out)
    a, b = answer["stations"]
    assert (
        answer["ok"]
        and answer["slowest"] == "b"
        and answer["cycle"] == pytest.approx(b["least_time"])
    )
    assert a["energy_after"] < a["energy_before"] and b["energy_after"] == pytest.approx(
        b["energy_before"]
    )
    assert sum(m["duration"] + m["wait"] for m in a["moves"]) == pytest.approx(
        answer["cycle"], abs=1e-6
    )
    assert (tmp_path / "line.png").read_bytes().startswith(b"\x89PNG") and len(
        list((tmp_path / "plans").iterdir())
    ) == 4
    assert run(["line", str(path), "--cycle", "0.1"]) == 2
    assert "too short" in capsys.readouterr().err

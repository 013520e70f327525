"""Assembly-line balancing: the allocation is that of brute force, and keeps the precedence."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.cell.line.assign import assign_tasks
from armature.cell.line.line_tasks import allocate_line, balance_tasks, load_line_tasks
from armature.cli.main import run


def brute_force(times, stations, after) -> float:
    """The least of all allocations that keep the precedence."""
    names, best = list(times), np.inf
    for places in itertools.product(range(len(stations)), repeat=len(names)):
        at = dict(zip(names, places))
        if any(at[later] < at[earlier] for later, earlier in after):
            continue
        loads = [
            sum(times[a].get(s, np.inf) for a in names if at[a] == k)
            for k, s in enumerate(stations)
        ]
        best = min(best, max(loads))
    return best


@pytest.mark.parametrize("seed", range(12))
def test_the_least_cycle_is_that_of_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stations = ["s1", "s2", "s3"]
    names = [f"t{k}" for k in range(7)]
    times = {
        a: {s: float(rng.uniform(1, 9)) for s in stations if rng.random() < 0.8} or {"s2": 4.0}
        for a in names
    }
    after = [(b, a) for a, b in itertools.combinations(names, 2) if rng.random() < 0.25]
    best = brute_force(times, stations, after)
    if not np.isfinite(best):
        with pytest.raises(arm.ArmatureError, match="keeps the precedence"):
            assign_tasks(times, stations, after)
        return
    found = assign_tasks(times, stations, after)
    assert found.cycle == pytest.approx(best) and found.gap < 1e-6
    place = {a: k for k, s in enumerate(stations) for a in found.stations[s]}
    assert set(place) == set(names) and all(
        place[later] >= place[earlier] for later, earlier in after
    )
    for tasks in found.stations.values():  # and in order at one station
        assert all(
            tasks.index(earlier) < tasks.index(later)
            for later, earlier in after
            if later in tasks and earlier in tasks
        )


def test_a_line_of_thirty_tasks_is_solved_with_its_bound() -> None:
    """Too many for brute force: the bound is the proof, and the mean load a bound that needs no
    solver."""
    rng = np.random.default_rng(1)
    times = {f"t{k}": float(rng.integers(5, 60)) for k in range(30)}
    after = [(f"t{k}", f"t{int(rng.integers(max(0, k - 5), k))}") for k in range(3, 30)]
    found = assign_tasks(times, [f"s{k}" for k in range(5)], after, seconds=3.0)
    assert sum(times.values()) / 5 <= found.cycle <= 1.05 * sum(times.values()) / 5
    assert found.bound <= found.cycle and found.gap < 0.05


@pytest.mark.parametrize(
    ("times", "after", "words"),
    [
        ({"a": 1.0, "b": 1.0}, [("a", "b"), ("b", "a")], "a, b wait for each other"),
        ({"a": 1.0}, [("a", "c")], "no task 'c'"),
        ({"a": {"s9": 1.0}}, [], "no station 's9'"),
        ({"a": -1.0}, [], "no duration"),
        ({}, [], "0 tasks"),
    ],
)
def test_lines_that_contradict_themselves_are_told(times, after, words: str) -> None:
    with pytest.raises(arm.ArmatureError, match=words):
        assign_tasks(times, ["s1", "s2"], after)


LINE = """name: tasks
knots: 20
points: 3
stations:
  - {name: first, robot: planar2, supply: non-regenerative, start: [0.3, 0.2]}
  - {name: second, robot: planar2, supply: non-regenerative, start: [0.3, 0.2]}
tasks:
  - name: drill
    steps: [{move: {goal: [1.1, -0.5]}}, {process: 1 s}, {move: {goal: start}}]
  - name: rivet
    after: [drill]
    steps: [{move: {goal: [1.1, -0.5]}}, {process: 0.5 s}, {move: {goal: start}}]
  - name: look
    stations: [second]
    steps: [{process: 0.7 s}]
"""


def test_a_line_file_with_tasks_is_allocated_then_balanced(tmp_path: Path, capsys) -> None:
    (tmp_path / "line.yaml").write_text(LINE)
    assert run(["line", str(tmp_path / "line.yaml"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["ok"] and facts["allocation"]["stations"] == {
        "first": ["drill"],
        "second": ["rivet", "look"],
    }
    assert facts["cycle"] == pytest.approx(facts["allocation"]["cycle"], rel=1e-6)
    assert facts["energy_after"] <= facts["energy_before"]


def test_a_cycle_too_short_names_the_station_and_the_least_cycle(tmp_path: Path) -> None:
    (tmp_path / "line.yaml").write_text(LINE + "cycle: 1 s\n")
    words = (
        r"cannot do its tasks in 1 s: station 'second' with rivet, look needs .*give that cycle, or"
        r" more stations"
    )
    with pytest.raises(arm.ArmatureError, match=words):
        allocate_line(load_line_tasks(tmp_path / "line.yaml"))


def test_tasks_and_stations_of_one_name_are_refused(tmp_path: Path) -> None:
    for name, other in (("rivet", "drill"), ("second", "first")):
        (tmp_path / "line.yaml").write_text(LINE.replace(name, other))
        with pytest.raises(arm.ArmatureError, match=f"two .* are called '{other}'; rename one"):
            balance_tasks(load_line_tasks(tmp_path / "line.yaml"))


def test_a_station_whose_tasks_move_nothing_stands_ready(tmp_path: Path) -> None:
    swing = "[{move: {goal: [1.1, -0.5]}}, {process: 0.5 s}, {move: {goal: start}}]"
    (tmp_path / "line.yaml").write_text(LINE.replace(swing, "[{process: 0.5 s}]"))
    allocation, found = balance_tasks(load_line_tasks(tmp_path / "line.yaml"))
    assert allocation.stations["second"] == ("rivet", "look")
    assert found.stations[1].moves == () and found.stations[1].waits == pytest.approx(
        found.cycle - 1.2
    )


def test_a_task_that_does_not_return_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "line.yaml").write_text(
        LINE.replace("{process: 1 s}, {move: {goal: start}}", "{process: 1 s}")
    )
    with pytest.raises(arm.errors.FileError, match=r"line.yaml:8.*'drill' does not return"):
        load_line_tasks(tmp_path / "line.yaml")

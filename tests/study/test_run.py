"""A study loses nothing, whoever is killed when: workers, the driver, or both; and the table is
that of an undisturbed run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import study_functions as functions

import armature as arm
from armature.study.pool import LocalPool
from armature.study.run import Driver, Stop, run_study
from armature.study.spec import Study
from armature.study.store import StudyError, open_store

HERE = Path(__file__).parent


def values(results) -> dict[str, list]:
    """The table without what a clock or a disturbance changes."""
    return {
        name: column
        for name, column in results.table().items()
        if name not in ("seconds", "attempts", "reason")
    }


def alive(pid: int) -> bool:
    """Whether a process still runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until(holds, seconds: float = 60.0) -> None:
    """Until something holds; an error after a while."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def stored(path: Path) -> int:
    """Finished cases in a store that may not be there yet."""
    if not path.is_file():
        return 0
    try:
        with open_store(path) as store:
            return store.counts()["done"]
    except arm.errors.FileError:  # it is being made
        return 0


def test_every_case_has_its_row_in_order(tmp_path: Path) -> None:
    results = run_study(
        Study(function=functions.square, vary={"x": range(5, 0, -1), "y": [1, 2]}),
        tmp_path / "a.db",
        workers=1,
    )
    assert [(r.inputs["x"], r.inputs["y"]) for r in results.rows] == [
        (x, y) for x in range(5, 0, -1) for y in (1, 2)
    ]
    assert all(
        r.outcome == {"square": r.inputs["x"] ** 2} and r.state == "done" and r.seconds > 0
        for r in results.rows
    )


def test_what_workers_print_does_not_disturb(tmp_path: Path) -> None:
    results = run_study(
        Study(function=functions.talkative, vary={"x": [1, 2, 3]}), tmp_path / "a.db", workers=1
    )
    assert results.column("square").tolist() == [1, 4, 9]


def test_a_second_run_runs_only_what_is_missing(tmp_path: Path) -> None:
    first = run_study(
        Study(function=functions.square, vary={"x": [1, 2, 3]}), tmp_path / "a.db", workers=1
    )
    seen = []
    longer = Study(function=functions.square, vary={"x": [1, 2, 3, 4]})
    second = run_study(
        longer,
        tmp_path / "a.db",
        workers=1,
        progress=lambda now: seen.append((now.done, now.total)),
    )
    assert seen[0] == (3, 4) and seen[-1] == (4, 4)
    assert [r.seconds for r in second.rows[:3]] == [r.seconds for r in first.rows]


def test_a_poisoned_case_is_set_aside_with_its_reason_and_the_others_finish(tmp_path: Path) -> None:
    study = Study(function=functions.deadly_three, vary={"x": range(1, 8)}, attempts=2)
    results = run_study(study, tmp_path / "a.db", workers=2)
    assert results.counts == {"waiting": 0, "done": 6, "failed": 0, "poisoned": 1}
    bad = results.rows[2]
    assert (bad.state, bad.attempts) == ("poisoned", 2) and "SIGKILL" in bad.reason
    again = run_study(study, tmp_path / "a.db", workers=1)  # it stays aside
    assert again.counts["poisoned"] == 1


def test_a_case_that_lost_its_worker_once_is_tried_again(tmp_path: Path) -> None:
    study = Study(
        function=functions.deadly_once, vary={"x": range(1, 6), "folder": [str(tmp_path)]}
    )
    results = run_study(study, tmp_path / "a.db", workers=1)
    assert results.column("square").tolist() == [1, 4, 9, 16, 25]
    assert results.rows[2].attempts == 1


def test_a_case_that_never_ends_is_stopped_at_its_time(tmp_path: Path) -> None:
    study = Study(function=functions.endless_three, vary={"x": [1, 3, 5]}, timeout=0.5, attempts=1)
    results = run_study(study, tmp_path / "a.db", workers=1)
    assert results.counts == {"waiting": 0, "done": 2, "failed": 0, "poisoned": 1}
    assert "longer than the 0.5 s allowed" in results.rows[1].reason


def test_a_case_that_raises_is_a_failed_row_and_retry_runs_it_again(tmp_path: Path) -> None:
    study = Study(function=functions.wrong_three, vary={"x": [1, 3]})
    results = run_study(study, tmp_path / "a.db", workers=1)
    assert (
        results.rows[1].state == "failed"
        and results.rows[1].reason == "ZeroDivisionError: division by zero"
    )
    with open_store(tmp_path / "a.db", write=True) as store:
        assert store.reset(("failed",)) == 1
    assert run_study(study, tmp_path / "a.db", workers=1).rows[1].state == "failed"


def test_killing_workers_at_random_changes_nothing(tmp_path: Path) -> None:
    study = Study(function=functions.slow_square, vary={"x": range(40)}, attempts=50)
    with open_store(tmp_path / "a.db", write=True) as store:
        driver = Driver(study, store, None, Stop())
        assert driver.prepare() == 40
        pool = LocalPool(2)
        killed = []

        def kill() -> None:
            for k in range(4):
                wait_until(lambda k=k: driver.finished >= 4 + 6 * k)
                killed.append(pool.pids[k % 2])
                os.kill(killed[-1], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        driver.run(pool)
        pool.close()
        killer.join()
        rows = store.rows()
    assert len(set(killed)) == 4 and all(
        r.state == "done" and r.outcome["square"] == r.inputs["x"] ** 2 for r in rows
    )
    assert (
        1 <= sum(r.attempts for r in rows) <= 4
    )  # those that were at work when their worker was killed


DRIVER = """
import sys
sys.path.insert(0, {here!r})
import study_functions
from armature.study.run import run_study
from armature.study.spec import Study
results = run_study(Study(function=study_functions.{function}, vary={{"x": range(60)}}), {path!r}, workers=2)
print("complete" if results.complete else "stopped", flush=True)
"""


def start_driver(path: Path, function: str = "slow_square") -> subprocess.Popen:
    """A driver in a process of its own."""
    program = DRIVER.format(here=str(HERE), path=str(path), function=function)
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def children(pid: int) -> list[int]:
    """Processes started by a process."""
    return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_killing_the_driver_loses_no_stored_case_and_its_workers_end(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for goal in (5, 25):  # two drivers are killed in a row
        driver = start_driver(path)
        wait_until(lambda goal=goal: stored(path) >= goal)
        workers = children(driver.pid)
        driver.kill()
        driver.wait()
        before = stored(path)
        assert goal <= before < 60 and len(workers) == 2
        wait_until(lambda workers=workers: not any(alive(pid) for pid in workers), 10.0)
    study = Study(function=functions.slow_square, vary={"x": range(60)})
    seen = []
    resumed = run_study(study, path, workers=2, progress=lambda now: seen.append(now.done))
    assert seen[0] == before  # nothing that was stored is run again
    assert values(resumed) == values(run_study(study, tmp_path / "b.db", workers=2))


@pytest.mark.parametrize(("signals", "finished"), [(1, (5, 6)), (2, (4,))], ids=["once", "twice"])
def test_interrupted_once_it_finishes_the_cases_at_work_and_twice_it_stops_at_once(
    tmp_path: Path, signals: int, finished
) -> None:
    path = tmp_path / "a.db"
    driver = start_driver(path, "slow_from_four")
    wait_until(lambda: stored(path) >= 4)
    time.sleep(0.2)  # both workers have begun a case of two seconds, and have another one waiting
    workers = children(driver.pid)
    for _ in range(signals):
        driver.send_signal(signal.SIGINT)
        time.sleep(0.05)
    out, _ = driver.communicate(timeout=30)
    assert out.strip() == "stopped" and driver.returncode == 0
    assert stored(path) in finished
    assert not any(alive(pid) for pid in workers)


def test_two_drivers_on_one_store_the_second_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    driver = start_driver(path)
    wait_until(lambda: stored(path) >= 1)
    with pytest.raises(StudyError, match="another process is running this study"):
        run_study(Study(function=functions.square, vary={"x": [1]}), path, workers=1)
    assert driver.wait(60) == 0 and stored(path) == 60


def test_a_stop_from_another_thread_ends_the_run(tmp_path: Path) -> None:
    stop, study = Stop(), Study(function=functions.slow_square, vary={"x": range(500)})

    def ask(now) -> None:
        stop.gently = now.done >= 4

    results = run_study(study, tmp_path / "a.db", workers=1, progress=ask, stop=stop)
    assert results.interrupted and not results.complete and 4 <= results.counts["done"] < 200


def test_workers_that_cannot_start_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(StudyError, match="the workers do not start"):
        run_study(Study(function=functions.square, vary={"x": [1]}), tmp_path / "a.db", workers=1)


def test_one_case_of_a_kind_goes_ahead_to_compile(tmp_path: Path) -> None:
    from armature.study.waiting import Waiting

    waiting = Waiting()
    for id, kernels in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a")):
        waiting.add(id, kernels)
    assert [waiting.take() for _ in range(3)] == ["a1", "b1", None]  # a2 waits for what a1 compiles
    waiting.done("a1")
    assert [waiting.take(), waiting.take(), waiting.take()] == ["a2", "a3", None]
    waiting.again("b1")
    assert waiting.take() == "b1" and len(waiting) == 0


def test_inputs_that_cannot_travel_are_told(tmp_path: Path) -> None:
    study = Study(function=functions.square, vary={"x": [lambda: 3]})
    with pytest.raises(arm.errors.ArgumentError, match="cannot be sent to a worker"):
        run_study(study, tmp_path / "a.db", workers=1)

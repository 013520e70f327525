"""The store keeps what it was given, refuses what is not its own, and has one writer."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import armature as arm
from armature.study.store import FORMAT, StudyError, open_store

CASES = [(f"id{k}", {"x": k}) for k in range(1, 6)]


def test_rows_come_back_as_they_were_stored(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", write=True) as store:
        assert store.sync(CASES, {"name": "a"}) == 0
        found = {"energy": 1.5, "words": "µ"}
        store.finish(
            [
                ("id2", "done", found, "", 0.25, zlib.compress(b"plan")),
                ("id3", "failed", {}, "why", 0.1, None),
            ]
        )
        assert (
            store.count_attempt("id4", "died") == 1
            and store.count_attempt("id4", "died again") == 2
        )
    with open_store(tmp_path / "a.db") as store:
        assert store.counts() == {"waiting": 3, "done": 1, "failed": 1, "poisoned": 0}
        row = store.row(2)
        assert (row.id, row.inputs, row.outcome, row.seconds) == (
            "id2",
            {"x": 2},
            {"energy": 1.5, "words": "µ"},
            0.25,
        )
        assert store.plan("id2") == b"plan" and store.plan("id3") is None
        assert store.row("id3").reason == "why" and store.row(4).attempts == 2
        assert [id for id, _, _ in store.waiting()] == ["id1", "id4", "id5"]


def test_a_changed_study_keeps_finished_cases_and_drops_none(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", write=True) as store:
        store.sync(CASES, {})
        store.finish(
            [("id1", "done", {"y": 1}, "", 0.0, None), ("id2", "done", {"y": 2}, "", 0.0, None)]
        )
        assert store.sync([CASES[1], ("new", {"x": 9}), CASES[1]], {}) == 1  # one is given twice
        assert [(row.id, row.number, row.state) for row in store.rows()] == [
            ("id2", 1, "done"),
            ("new", 2, "waiting"),
        ]
        store.sync(CASES, {})
        assert store.counts()["done"] == 2  # what was found for id1 was kept aside


def test_reset_lets_failed_cases_wait_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", write=True) as store:
        store.sync(CASES, {})
        store.finish(
            (f"id{k}", state, {}, "no", 0.0, None)
            for k, state in ((1, "failed"), (2, "poisoned"), (3, "done"))
        )
        assert store.reset(("failed", "poisoned"), [2]) == 1
        assert store.reset(("failed", "poisoned")) == 1
        assert store.counts() == {"waiting": 4, "done": 1, "failed": 0, "poisoned": 0}


def test_a_second_driver_is_refused_and_readers_are_not(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", write=True) as store:
        store.sync(CASES, {})
        with pytest.raises(StudyError, match="another process is running this study"):
            open_store(tmp_path / "a.db", write=True)
        with open_store(tmp_path / "a.db") as reader:
            assert reader.counts()["waiting"] == 5
            with pytest.raises(StudyError, match="opened to be read"):
                reader.reset(("failed",))
    with open_store(tmp_path / "a.db", write=True) as store:  # the lock is gone with its holder
        assert store.counts()["waiting"] == 5


def test_what_was_stored_survives_a_kill_in_the_middle_of_writing(tmp_path: Path) -> None:
    program = f"""
import os, signal, sys
from armature.study.store import open_store
store = open_store({str(tmp_path / "a.db")!r}, write=True)
store.sync(((f"id{{k}}", {{"x": k}}) for k in range(2000)), {{}})
for k in range(2000):
    store.finish([(f"id{{k}}", "done", {{"y": k}}, "", 0.0, b"x" * 2000)])
    if k == 700:
        print("there", flush=True)
    if k == 900:
        store._db.execute("BEGIN IMMEDIATE")
        store._db.execute("UPDATE cases SET state = 'failed'")
        os.kill(os.getpid(), signal.SIGKILL)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == -9 and "there" in done.stdout
    with open_store(tmp_path / "a.db", write=True) as store:
        assert store.counts() == {"waiting": 1099, "done": 901, "failed": 0, "poisoned": 0}
        assert store._all("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda p: p.write_bytes(
                b"this is no database at all, but long enough to be looked at" * 20
            ),
            "is not the store of a study",
        ),
        (lambda p: p.mkdir(), "is a directory"),
        (lambda p: _foreign(p), "not the store of a study"),
        (lambda p: _newer(p), f"format {FORMAT + 1}"),
        (lambda p: _broken(p), "damaged"),
    ],
    ids=[
        "garbage",
        "folder",
        "another program's",
        "a later version's",
        "overwritten in the middle",
    ],
)
def test_a_file_that_is_no_store_is_told_with_its_path(tmp_path: Path, make, words: str) -> None:
    path = tmp_path / "a.db"
    make(path)
    with (
        pytest.raises(arm.ArmatureError, match=words) as caught,
        open_store(path, write=True) as store,
    ):
        store.rows()
    assert "a.db" in str(caught.value)


def test_a_missing_store_and_a_missing_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(arm.errors.FileError, match="no such store"):
        open_store(tmp_path / "a.db")
    with pytest.raises(arm.errors.FileError, match="check that the folder exists"):
        open_store(tmp_path / "nowhere" / "a.db", write=True)


def test_an_unknown_case_is_told(tmp_path: Path) -> None:
    with open_store(tmp_path / "a.db", write=True) as store:
        store.sync(CASES, {})
        for case in (0, 6, "no", "id"):
            with pytest.raises(arm.errors.ArgumentError, match="number from 1 to 5"):
                store.row(case)


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE songs (name TEXT)")


def _newer(path: Path) -> None:
    open_store(path, write=True).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {FORMAT + 1}")


def _broken(path: Path) -> None:
    with open_store(path, write=True) as store:
        store.sync(((f"id{k}", {"x": "y" * 100}) for k in range(500)), {})
    data = bytearray(path.read_bytes())
    data[4096:-4096] = b"\x5a" * (len(data) - 8192)
    path.write_bytes(data)

"""The table of a study on disk: sqlite with a write-ahead log and one writer. What is stored
survives a kill at any moment.

One row a case, named by the hash of its inputs. Rows are committed as they come: a killed process
loses nothing that was stored. The file must be on a disk of the machine that runs the study; only
the driver writes it, anyone may read while it runs."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from armature.errors import ArgumentError, ArmatureError, FileError
from armature.nested import json_value
from armature.text import check_regular

APPLICATION = 0x41524D53  # "ARMS", in the file's header
FORMAT = 1
STATES = ("waiting", "done", "failed", "poisoned")
SCHEMA = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE cases (
    id TEXT PRIMARY KEY, number INTEGER, wanted INTEGER, inputs TEXT, state TEXT, attempts INTEGER, reason TEXT,
    outcome TEXT, seconds REAL, stored REAL) WITHOUT ROWID;
CREATE TABLE plans (id TEXT PRIMARY KEY, plan BLOB);
CREATE INDEX by_number ON cases (wanted, number);
CREATE INDEX by_state ON cases (wanted, state);
"""
MOST_STORE = 2**40  # bytes of the file
MOST_CELL = 64 * 2**20  # bytes of one value of the table
MOST_PLAN = 128 * 2**20  # bytes of an unpacked plan
# bytes that a row takes in the file: a damaged table that has more rows than fit goes round in
# circles
LEAST_ROW = 8


class StudyError(ArmatureError):
    """A study that cannot go on: its store is in use, its workers do not start, its cluster does
    not answer."""


@dataclass(frozen=True)
class Row:
    """One case of the table.

    id: hash of its inputs.  number: its place in the study, from 1.  state: waiting, done, failed
    or poisoned.
    inputs: what is varied.  outcome: what was found.  attempts: workers that it cost.  reason: why
    it failed.
    seconds: that it took.
    """

    id: str
    number: int
    state: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outcome: Mapping[str, Any] = field(default_factory=dict)
    attempts: int = 0
    reason: str = ""
    seconds: float = 0.0


class Store:
    """The store of a study. Open one by `open_store`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: sqlite3.Connection | None):
        self.path, self._db, self._lock = path, connection, lock

    # writing -------------------------------------------------------------------------------------

    def sync(self, cases: Iterable[tuple[str, Mapping[str, Any]]], about: Mapping[str, str]) -> int:
        """Make the table that of a study: (id, inputs) of its cases, in order. Cases stored before
        keep what was found; those no longer in the study are kept aside. Returns how many cases
        were given more than once."""
        given = repeated = 0
        with self._changing() as db:
            db.execute("UPDATE cases SET wanted = 0")
            for id, inputs in cases:
                found = db.execute("SELECT wanted FROM cases WHERE id = ?", (id,)).fetchone()
                if found and found[0]:
                    repeated += 1
                    continue
                given += 1
                text = json.dumps(inputs, ensure_ascii=False)
                if found:
                    db.execute(
                        "UPDATE cases SET wanted = 1, number = ?, inputs = ? WHERE id = ?",
                        (given, text, id),
                    )
                else:
                    db.execute(
                        "INSERT INTO cases VALUES (?, ?, 1, ?, 'waiting', 0, '', '{}', 0, 0)",
                        (id, given, text),
                    )
            db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", about.items())
        return repeated

    def finish(
        self, results: Iterable[tuple[str, str, Mapping[str, Any], str, float, bytes | None]]
    ) -> None:
        """Store finished cases: (id, state, outcome, reason, seconds, plan, compressed by zlib)."""
        with self._changing() as db:
            for id, state, outcome, reason, seconds, plan in results:
                values = (
                    state,
                    json.dumps(outcome, ensure_ascii=False),
                    reason,
                    seconds,
                    time.time(),
                    id,
                )
                db.execute(
                    "UPDATE cases SET state = ?, outcome = ?, reason = ?, seconds = ?, stored = ?"
                    " WHERE id = ?",
                    values,
                )
                if plan is not None:
                    db.execute("INSERT OR REPLACE INTO plans VALUES (?, ?)", (id, plan))

    def count_attempt(self, id: str, reason: str) -> int:
        """A case cost a worker; returns how many it has cost by now."""
        with self._changing() as db:
            db.execute(
                "UPDATE cases SET attempts = attempts + 1, reason = ? WHERE id = ?", (reason, id)
            )
            return int(db.execute("SELECT attempts FROM cases WHERE id = ?", (id,)).fetchone()[0])

    def reset(self, states: Sequence[str], numbers: Sequence[int] = ()) -> int:
        """Cases of these states (and numbers, if given) wait again, with no attempts counted;
        returns how many."""
        chosen = f"wanted = 1 AND state IN ({','.join('?' * len(states))})"
        if numbers:
            chosen += f" AND number IN ({','.join(str(int(n)) for n in numbers)})"
        with self._changing() as db:
            return db.execute(
                f"UPDATE cases SET state = 'waiting', attempts = 0, reason = '' WHERE {chosen}",
                tuple(states),
            ).rowcount

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        if self._lock is None:
            raise StudyError(f"{self.path} was opened to be read; open it with write=True")
        with _plainly(self.path), self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db

    # reading -------------------------------------------------------------------------------------

    def about(self) -> dict[str, str]:
        """What is written about the study as a whole."""
        return dict(self._all("SELECT name, value FROM about"))

    def counts(self) -> dict[str, int]:
        """How many cases are in each state."""
        found = dict(self._all("SELECT state, COUNT(*) FROM cases WHERE wanted = 1 GROUP BY state"))
        return {state: int(found.get(state, 0)) for state in STATES}

    def waiting(self) -> list[tuple[str, int, dict[str, Any]]]:
        """(id, number, inputs) of the cases that are still to be run."""
        rows = self._all(
            "SELECT id, number, inputs FROM cases WHERE wanted = 1 AND state = 'waiting' ORDER BY"
            " number"
        )
        return [
            (str(id), _whole(number, self.path), _mapping(inputs, self.path))
            for id, number, inputs in rows
        ]

    def rows(self, states: Sequence[str] = STATES) -> list[Row]:
        """All cases of the study in these states, in order."""
        marks = ",".join("?" * len(states))
        return [
            self._row(r)
            for r in self._all(
                f"{SELECT} WHERE wanted = 1 AND state IN ({marks}) ORDER BY number", tuple(states)
            )
        ]

    def row(self, case: int | str) -> Row:
        """A case by its number, or by the first characters of its id."""
        if isinstance(case, int) or str(case).isdigit():
            found = self._all(f"{SELECT} WHERE wanted = 1 AND number = ?", (int(case),))
        else:
            found = self._all(
                f"{SELECT} WHERE wanted = 1 AND substr(id, 1, ?) = ?", (len(case), case)
            )
        if len(found) != 1:
            count = sum(self.counts().values())
            raise ArgumentError(
                f"there is no case {case!r}; the study has {count} cases: give a number from 1 to"
                f" {count}, or an id"
            )
        return self._row(found[0])

    def plan(self, id: str) -> bytes | None:
        """The plan of a case as the bytes of an .npz file; None where it was not kept."""
        found = self._all("SELECT plan FROM plans WHERE id = ?", (id,))
        return _unpacked(found[0][0], self.path) if found else None

    def _all(self, query: str, values: tuple = ()) -> list[tuple]:
        with _plainly(self.path):
            log = Path(f"{self.path}-wal")
            most = (
                1000
                + (self.path.stat().st_size + (log.stat().st_size if log.exists() else 0))
                // LEAST_ROW
            )
            found = list(islice(self._db.execute(query, values), most + 1))
        if len(found) > most:
            raise FileError(
                "the table has more rows than fit into the file: it is damaged; run the study"
                " again",
                self.path,
            )
        return found

    def _row(self, values: tuple) -> Row:
        id, number, state, inputs, outcome, attempts, reason, seconds = values
        given, found = _mapping(inputs, self.path), _mapping(outcome, self.path)
        try:
            return Row(
                str(id),
                _whole(number, self.path),
                str(state),
                given,
                found,
                int(attempts),
                str(reason),
                float(seconds),
            )
        except (TypeError, ValueError):
            raise FileError(
                f"case {number} of the table is damaged; move it away and run the study again",
                self.path,
            ) from None

    def close(self) -> None:
        """Let go of the file; the write-ahead log is folded into it."""
        for connection in (self._db, self._lock):
            if connection is not None:
                connection.close()
        self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


SELECT = "SELECT id, number, state, inputs, outcome, attempts, reason, seconds FROM cases"


def open_store(path: str | os.PathLike[str], write: bool = False) -> Store:
    """The store in a file; with `write` it is made where there is none, and no other driver may
    write to it meanwhile."""
    place = Path(path)
    if not write and not os.path.exists(place):
        raise FileError("there is no such store; run the study first: armature study run …", place)
    if os.path.exists(place):
        check_regular(place, MOST_STORE)
        if write and place.stat().st_nlink > 1:
            raise FileError(
                "the store has several names (hard links), by which two studies could write to it;"
                " remove all but one",
                place,
            )
    place = place.resolve()  # another name of the same file is the same study
    with _plainly(place):
        lock = _locked(place) if write else None
        try:
            db = sqlite3.connect(place, timeout=30.0, isolation_level=None, check_same_thread=False)
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_CELL)
            db.execute("PRAGMA trusted_schema = OFF")
            _prepare(db, place, write)
        except BaseException:
            if lock is not None:
                lock.close()
            raise
    return Store(place, db, lock)


def _prepare(db: sqlite3.Connection, path: Path, write: bool) -> None:
    """Check that the file is ours and of this format; make it where it is empty."""
    db.execute("BEGIN")  # all of it as it is at one moment
    empty = not db.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
    application, version = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    db.execute("COMMIT")
    if empty and application == 0 and not write:
        raise FileError(
            "the store is empty: the study has only just begun; look again in a moment", path
        )
    if empty and application == 0:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(
            f"BEGIN; {SCHEMA} PRAGMA application_id = {APPLICATION}; PRAGMA user_version ="
            f" {FORMAT}; COMMIT;"
        )
    elif application != APPLICATION:
        raise FileError("this is not the store of a study; give another path with --store", path)
    elif version != FORMAT:
        raise FileError(
            f"this store has format {version}, and this Armature reads {FORMAT}; use the version"
            " that wrote it",
            path,
        )
    elif _schema(db) != {
        " ".join(part.split()) for part in SCHEMA.split(";") if part.strip()
    }:  # views and triggers run what they say
        raise FileError(
            "the tables of this store are not those of a study; it was made by another program, or"
            " is damaged",
            path,
        )
    if write:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")


def _schema(db: sqlite3.Connection) -> set[str]:
    """What the file's tables and indices were made by."""
    made = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 20").fetchall()
    return {" ".join(str(text).split()) for (text,) in made}


def _whole(value: Any, path: Path) -> int:
    if not isinstance(value, int):
        raise FileError(f"the number of a case is {value!r:.60}; the table is damaged", path)
    return value


def _mapping(text: Any, path: Path) -> dict[str, Any]:
    """A mapping from JSON in the table."""
    found = json_value(text, path, MOST_CELL) if isinstance(text, str) else None
    if not isinstance(found, dict):
        raise FileError(
            "a cell of the table is no mapping in JSON: it is damaged; move it away and run the"
            " study again",
            path,
        )
    return found


def _unpacked(data: Any, path: Path) -> bytes:
    """A plan as it was before it was packed, if it is no larger than plans are."""
    unpacker = zlib.decompressobj()
    try:
        plan = unpacker.decompress(data, MOST_PLAN)
    except (zlib.error, TypeError) as e:
        raise FileError(
            f"the plan in the store is damaged ({e}); run its case again", path
        ) from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise FileError(
            f"the plan in the store is damaged, or has more than {MOST_PLAN // 2**20} MB; run its"
            " case again",
            path,
        )
    return plan


def _locked(path: Path) -> sqlite3.Connection:
    """The right to write, which the system takes back when the process ends, however it ends: an
    open transaction on a file beside.

    path: resolved, so that every name of the store leads to the same lock.
    """
    if os.path.lexists(f"{path}.lock"):
        check_regular(f"{path}.lock")
    lock = sqlite3.connect(
        f"{path}.lock", timeout=0.0, isolation_level=None, check_same_thread=False
    )
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as e:
        lock.close()
        if "locked" not in str(e):
            raise
        raise StudyError(
            f"{path}: another process is running this study; wait for it, or stop it, or give"
            " another --store"
        ) from None
    return lock


@contextmanager
def _plainly(path: Path) -> Iterator[None]:
    """What sqlite reports, in words with the file's path."""
    try:
        yield
    except sqlite3.OperationalError as e:
        what = str(e)
        todo = {
            "unable to open database file": "check that the folder exists and may be written",
            "database is locked": "another program holds it: close that, and run again",
            "database or disk is full": (
                "make room on the disk, and run again: what is stored is safe"
            ),
            "attempt to write a readonly database": (
                "the file may not be written: change its permissions"
            ),
        }
        raise FileError(
            f"the store cannot be used ({what}); {todo.get(what, 'check the file and its folder')}",
            path,
        ) from None
    except (
        sqlite3.DatabaseError,
        UnicodeDecodeError,
    ) as e:  # sqlite quotes damaged names as they are
        raise FileError(
            f"this is not the store of a study, or it is damaged ({e}); move it away and run the"
            " study again",
            path,
        ) from None

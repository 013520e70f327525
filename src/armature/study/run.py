"""Running a study: cases to a pool, rows to the store, until none is missing. Whatever is stored
stays, whoever is killed when."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from types import FrameType
from typing import Any

from armature.errors import ArgumentError
from armature.study.dask_pool import DaskPool, Tls, local_workers
from armature.study.pool import Event, LocalPool, Pool
from armature.study.spec import Case, Study
from armature.study.store import Store, open_store
from armature.study.summary import Results
from armature.study.waiting import Waiting
from armature.version import __version__

TICK = 0.25  # s between two looks at the clock while nothing happens


@dataclass(frozen=True)
class Progress:
    """How far a study is. done: cases with a row, of `total`; failed, poisoned: among them.
    running: being worked on.
    remaining: s, None before the first result.  message: a sentence for the user, mostly empty."""

    done: int
    total: int
    failed: int
    poisoned: int
    running: int
    remaining: float | None
    message: str = ""


class Stop:
    """Asks a study to stop: `gently` after the cases at work are finished, `at_once` before."""

    def __init__(self) -> None:
        self.gently = self.at_once = False


def run_study(
    study: Study,
    store: str | PathLike[str] | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Stop | None = None,
    tls: Tls | None = None,
) -> Results:
    """Run the cases that are missing from the store, and return the whole table.

    store: the file of the table, `<name>.db` by default; run again after an interruption, it goes
    on where it was.
    workers: processes of this machine, one for each core by default.  cluster: tcp://… or tls://…
    of a Dask scheduler; local:N is N processes of this machine, which listen at no port.  tls:
    certificates for a scheduler, see `Tls`.
    progress: called about four times a second.  stop: to end it from another thread; Ctrl-C does
    the same (once: gently; twice: at once)."""
    if workers is not None and workers < 1:
        raise ArgumentError(f"workers = {workers} must be at least 1")
    with open_store(store or f"{study.name}.db", write=True) as table:
        driver = Driver(study, table, progress, stop or Stop())
        left = driver.prepare()
        if left:
            with (
                _pool(study, min(workers or os.cpu_count() or 1, left), cluster, tls) as pool,
                driver.interrupts(),
            ):
                driver.run(pool)
        driver.tell()
        return Results(study.name, study.keys, tuple(table.rows()), table.path, driver.stop.gently)


def _about(study: Study) -> dict[str, str]:
    return {"name": study.name, "armature": __version__, "keys": "\n".join(study.keys)}


@contextmanager
def _pool(
    study: Study, workers: int, cluster: str | None, tls: Tls | None = None
) -> Iterator[Pool]:
    here = local_workers(cluster) if cluster else workers
    pool = (
        DaskPool(str(cluster), study.timeout, tls)
        if here is None
        else LocalPool(here, study.timeout, study.modules)
    )
    try:
        yield pool
    finally:
        pool.close()


class Driver:
    """One run of a study: it alone writes to the store."""

    def __init__(
        self, study: Study, store: Store, progress: Callable[[Progress], None] | None, stop: Stop
    ):
        self.study, self.store, self.progress, self.stop = study, store, progress, stop
        self.cases: dict[str, Case] = {}
        self.waiting = Waiting()
        self.running: set[str] = set()
        self.counts: dict[str, int] = {}
        self.size = 0
        self.finished, self.first, self.told = 0, 0.0, 0.0

    def prepare(self) -> int:
        """Bring the store up to the study; returns how many cases are to be run. Those that cannot
        be are failed at once."""
        repeated = self.store.sync(self._listed(), _about(self.study))
        missing = [id for id, _, _ in self.store.waiting()]
        broken = [id for id in missing if self.cases[id].error]
        self.store.finish((id, "failed", {}, self.cases[id].error, 0.0, None) for id in broken)
        for id in missing:
            if not self.cases[id].error:
                self.waiting.add(id, self.cases[id].kernels)
        self.counts = self.store.counts()
        if repeated:
            self.tell(f"{repeated} cases stand in the study more than once; each is run once")
        return len(self.waiting)

    def _listed(self) -> Iterator[tuple[str, Any]]:
        for case in self.study.all_cases():
            self.cases[case.id] = case
            yield case.id, case.shown

    def run(self, pool: Pool) -> None:
        """Keep the pool busy until nothing is left, or until it is asked to stop."""
        recalled, self.size = False, pool.size
        while (self.running or (self.waiting and not self.stop.gently)) and not self.stop.at_once:
            if self.stop.gently and not recalled:
                pool.recall()
                recalled = True
                self.tell(
                    f"finishing the {min(len(self.running), self.size)} cases at work; Ctrl-C once"
                    " more stops at once"
                )
            while (
                not self.stop.gently and pool.free > 0 and (id := self.waiting.take()) is not None
            ):
                self.running.add(id)
                pool.submit(id, self.study.packed(self.cases[id].inputs))
            self.take_in(pool.wait(TICK))

    def take_in(self, events: list[Event]) -> None:
        """Store what has come back, in one transaction; cases that lost their worker wait again or
        are set aside."""
        rows = []
        for event in events:
            self.running.discard(event.id)
            if event.outcome is not None:
                o = event.outcome
                rows.append(
                    (
                        event.id,
                        "failed" if o.error else "done",
                        o.values,
                        o.error,
                        o.seconds,
                        o.plan,
                    )
                )
            elif event.died:
                self.lost(event.id, event.died)
            else:
                self.waiting.again(event.id)
        if rows:
            self.store.finish(rows)
        for id, state, *_ in rows:
            self.waiting.done(id)
            self.count(state)
        self.tell(often=False)

    def lost(self, id: str, reason: str) -> None:
        """A case cost a worker."""
        attempts = self.store.count_attempt(id, f"its worker {reason}")
        if attempts >= self.study.attempts:
            words = f"{attempts} workers" if attempts > 1 else "a worker"
            self.store.finish(
                [(id, "poisoned", {}, f"it cost {words}; the last one {reason}", 0.0, None)]
            )
            self.waiting.drop(id)
            self.count("poisoned")
        else:
            self.waiting.again(id)

    def count(self, state: str) -> None:
        """One more case has its row."""
        self.counts[state] += 1
        self.counts["waiting"] -= 1
        self.first = self.first or time.monotonic()  # before it, kernels were compiled
        self.finished += 1

    def tell(self, message: str = "", often: bool = True) -> None:
        """Report progress, about four times a second unless there is something to say."""
        now = time.monotonic()
        if self.progress is None or not (often or message or now - self.told > TICK):
            return
        self.told = now
        c, total = self.counts, sum(self.counts.values())
        left = (
            c["waiting"] * (now - self.first) / (self.finished - 1) if self.finished > 1 else None
        )
        running = min(len(self.running), self.size)
        self.progress(
            Progress(
                total - c["waiting"], total, c["failed"], c["poisoned"], running, left, message
            )
        )

    @contextmanager
    def interrupts(self) -> Iterator[None]:
        """Ctrl-C once: the cases at work are finished; twice, or a polite kill: the end at once,
        with the store as it is."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def asked(number: int, _: FrameType | None) -> None:
            self.stop.at_once = self.stop.gently or number == signal.SIGTERM
            self.stop.gently = True

        old = {number: signal.signal(number, asked) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

"""Cases of a design search: run here, by processes of this machine or on a Dask cluster; kept in
the store of a study, so that a search that was killed goes on where it was."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, NamedTuple

from armature.study.dask_pool import DaskPool, Tls, local_workers
from armature.study.outcome import Outcome, execute
from armature.study.pool import LocalPool, Pool
from armature.study.store import Store, open_store
from armature.version import __version__

TICK = 0.25  # s between two looks at the clock
ATTEMPTS = 2  # workers that a case may cost


class Case(NamedTuple):
    """id: hash of all that its values depend on.  packed: by `study.outcome.packed`.  shown: what
    stands in the table."""

    id: str
    packed: bytes
    shown: Mapping[str, Any]


@dataclass(eq=False)
class Runner:
    """Runs cases. ends: of time.perf_counter, s.  modules: what workers import at first."""

    name: str
    ends: float | None = None
    modules: tuple[str, ...] = ()
    store: Store | None = None
    pool: Pool | None = None
    stack: ExitStack = field(default_factory=ExitStack)

    def open(
        self,
        store: str | PathLike[str] | None,
        workers: int | None,
        cluster: str | None,
        tls: Tls | None,
    ) -> None:
        """Take a store, and workers where there are several: None is one for each core."""
        if store is not None:
            self.store = self.stack.enter_context(open_store(store, write=True))
        count = os.cpu_count() or 1 if workers is None else workers
        here = count if cluster is None else local_workers(cluster)
        if here is None:
            self.pool = DaskPool(str(cluster), None, tls)
        elif here > 1:
            self.pool = LocalPool(here, None, self.modules)
        if self.pool is not None:
            self.stack.callback(self.pool.close)

    @property
    def late(self) -> bool:
        """Whether the time is used up."""
        return self.ends is not None and time.perf_counter() > self.ends

    def run(
        self, cases: Sequence[Case], take: Callable[[str, Mapping[str, Any], str], None]
    ) -> None:
        """Run the cases that are not in the store. take: called with (id, values, error) of each,
        stored ones first; those that time does not suffice for are left out."""
        missing = self._stored(cases, take)
        run = self._shared if self.pool is not None else self._here
        run(missing, take)

    def _here(self, cases: Sequence[Case], take: Callable) -> None:
        for case in cases:
            if self.late:
                return
            self._done(case.id, execute(case.packed), take)

    def _shared(self, cases: Sequence[Case], take: Callable) -> None:
        pool: Any = self.pool
        by_id = {case.id: case for case in cases}
        waiting, running, attempts = list(by_id), set(), dict.fromkeys(by_id, 0)
        while running or (waiting and not self.late):
            while waiting and pool.free > 0 and not self.late:
                running.add(id := waiting.pop(0))
                pool.submit(id, by_id[id].packed)
            for event in pool.wait(TICK):
                running.discard(event.id)
                attempts[event.id] += 1
                if event.outcome is not None:
                    self._done(event.id, event.outcome, take)
                elif event.died and attempts[event.id] >= ATTEMPTS:
                    self._done(event.id, Outcome({}, None, event.died), take)
                else:
                    waiting.insert(0, event.id)

    def _done(self, id: str, outcome: Outcome, take: Callable) -> None:
        if self.store is not None:
            state = "failed" if outcome.error else "done"
            row = (id, state, dict(outcome.values), outcome.error, outcome.seconds, None)
            self.store.finish([row])
        take(id, outcome.values, outcome.error)

    def _stored(self, cases: Sequence[Case], take: Callable) -> list[Case]:
        """Take cases from the store; returns the others, which are put there as waiting."""
        if self.store is None or not cases:
            return list(cases)
        rows = {row.id: row for row in self.store.rows()}
        listed = [(row.id, row.inputs) for row in rows.values()]
        listed += [(case.id, case.shown) for case in cases if case.id not in rows]
        keys = "\n".join(cases[0].shown)
        self.store.sync(listed, {"name": self.name, "armature": __version__, "keys": keys})
        missing = []
        for case in cases:
            row = rows.get(case.id)
            if row is None or row.state == "waiting":
                missing.append(case)
            else:
                take(case.id, row.outcome, row.reason)
        return missing

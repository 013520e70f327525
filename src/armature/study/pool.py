"""A pool of worker processes that outlives its workers: one that dies is replaced, and its case is
told with the reason.

Where cases are quick, each worker has the one that it works on and one more waiting, so that it is
never idle while the driver writes. A thread for every worker waits for its answers.
"""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from armature.study import worker as worker_program
from armature.study.outcome import Outcome
from armature.study.store import StudyError
from armature.study.worker import THREADS, receive, send

AHEAD = 2  # quick cases that a worker has at a time: one at work, one waiting
QUICK = 1.0  # s
STARTS = 3  # workers that may die in a row before they were ready


class Event(NamedTuple):
    """What happened to a case: its outcome, or why its worker died. Neither: it was given back
    untouched."""

    id: str
    outcome: Outcome | None = None
    died: str = ""


class Pool(Protocol):
    """Where cases are run."""

    @property
    def free(self) -> int:
        """How many more cases it takes."""
        ...

    @property
    def size(self) -> int:
        """How many cases are worked on at a time."""
        ...

    def submit(self, id: str, case: bytes) -> None:
        """Hand over a case, packed by `work.packed`."""
        ...

    def wait(self, seconds: float) -> list[Event]:
        """What happened meanwhile; waits for it at most so long."""
        ...

    def recall(self) -> None:
        """Ask for the cases that nobody works on yet; they come back as events without an
        outcome."""
        ...

    def close(self) -> None:
        """End all workers, at once."""
        ...


@dataclass(eq=False)
class Worker:
    """One process. cases: (id, bytes) in the order in which they were sent; the first is being
    worked on.  begun: when that began, s."""

    process: subprocess.Popen
    log: Any
    cases: deque[tuple[str, bytes]] = field(default_factory=deque)
    ready: bool = False
    begun: float = 0.0


class LocalPool:
    """Workers on this machine. workers: how many.  timeout: s that one case may take, None for no
    limit.
    modules: what a worker imports before its first case, all workers at the same time."""

    def __init__(self, workers: int, timeout: float | None = None, modules: tuple[str, ...] = ()):
        self.timeout, self.modules = timeout, modules
        self._seconds = QUICK  # of a case, a running mean
        self._answers: queue.SimpleQueue[tuple[Worker, Any]] = queue.SimpleQueue()
        self._failed_starts = 0
        self._workers = [self._start() for _ in range(workers)]

    @property
    def size(self) -> int:
        """Number of workers."""
        return len(self._workers)

    @property
    def free(self) -> int:
        """How many more cases it takes."""
        depth = AHEAD if self._seconds < QUICK else 1
        return sum(max(0, depth - len(w.cases)) for w in self._workers)

    def submit(self, id: str, case: bytes) -> None:
        """Send a case to the worker with the least to do."""
        worker = min(self._workers, key=lambda w: len(w.cases))
        worker.cases.append((id, case))
        if len(worker.cases) == 1:
            worker.begun = time.monotonic()
        self._send(worker, (id, case, self.timeout))

    def wait(self, seconds: float) -> list[Event]:
        """What the workers answered, and which cases lost their worker."""
        events: list[Event] = []
        try:
            while True:
                worker, message = self._answers.get(timeout=seconds)
                seconds = 0.0
                events += (
                    self._gone(worker) if message is None else self._answered(worker, *message)
                )
        except queue.Empty:
            return events

    def recall(self) -> None:
        """Ask the workers for what they have not begun."""
        for worker in self._workers:
            self._send(worker, None)

    def close(self) -> None:
        """Kill all workers and wait for their ends."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.wait()
            _close(worker)
        self._workers = []

    @property
    def pids(self) -> list[int]:
        """The workers' process ids."""
        return [w.process.pid for w in self._workers]

    def _answered(self, worker: Worker, id: str, outcome: Outcome | None) -> list[Event]:
        if id == "ready":
            worker.ready, self._failed_starts = True, 0
            worker.begun = time.monotonic()
            return []
        if outcome is not None:
            self._seconds += 0.2 * (outcome.seconds - self._seconds)
        if worker.cases[0][0] == id:
            worker.begun = time.monotonic()
        worker.cases = deque(c for c in worker.cases if c[0] != id)
        return [Event(id, outcome)]

    def _gone(self, worker: Worker) -> list[Event]:
        """A worker died: another takes its place; the case that it worked on is told, what waited
        behind is sent again."""
        if worker not in self._workers:
            return []
        reason, elapsed = _reason(worker), time.monotonic() - worker.begun
        if worker.ready and self.timeout is not None and elapsed >= 0.98 * self.timeout:
            reason = f"it took longer than the {self.timeout:g} s allowed"
        self._failed_starts += not worker.ready
        if self._failed_starts > STARTS * len(self._workers):
            raise StudyError(
                f"the workers do not start: the last one {reason}; try: {sys.executable} -c 'import"
                " armature.study.work'"
            )
        _close(worker)
        new = self._start()
        self._workers[self._workers.index(worker)] = new
        culprit = [worker.cases.popleft()] if worker.ready and worker.cases else []
        for id, case in worker.cases:
            new.cases.append((id, case))
            self._send(new, (id, case, self.timeout))
        return [Event(id, died=reason) for id, _ in culprit]

    def _start(self) -> Worker:
        log = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the worker)
        process = subprocess.Popen(
            [sys.executable, worker_program.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
            process_group=0 if os.name == "posix" else None,  # Ctrl-C is for the driver
        )
        worker = Worker(process, log, begun=time.monotonic())
        threading.Thread(target=self._listen, args=(worker,), daemon=True).start()
        self._send(worker, (list(sys.path), self.modules))
        return worker

    def _send(self, worker: Worker, message: Any) -> None:
        with suppress(OSError):  # where it died, its listener tells
            send(worker.process.stdin, message)  # type: ignore[arg-type]  (a pipe)

    def _listen(self, worker: Worker) -> None:
        try:
            while True:
                self._answers.put((worker, receive(worker.process.stdout)))  # type: ignore[arg-type]  (a pipe)
        except (EOFError, OSError, ValueError):
            self._answers.put((worker, None))


def _reason(worker: Worker) -> str:
    """How a worker ended, and the last line that it wrote."""
    code = worker.process.wait()
    words = f"ended with exit code {code}"
    if code < 0:
        words = f"was killed by signal {-code} ({signal.Signals(-code).name})"
    worker.log.seek(0)
    lines = [
        line for line in worker.log.read().decode(errors="replace").splitlines() if line.strip()
    ]
    fatal = next((line for line in lines if line.startswith("Fatal")), lines[-1] if lines else "")
    return f"{words}: {fatal[:200]}" if fatal else words


def _close(worker: Worker) -> None:
    for stream in (worker.process.stdin, worker.process.stdout, worker.log):
        with suppress(OSError):  # what was still to be flushed went to a dead process
            stream.close()  # type: ignore[union-attr]

"""Cases on a Dask cluster: the same work, the same values. Dask may run a case twice; the store
keeps one row of each.

Whoever reaches a scheduler without TLS runs code as its user: give certificates (`Tls`) on networks
that others use.

A scheduler needs milliseconds for a task, so that quick cases travel in bundles of about a second
of work. Where a bundle loses its worker, its cases are sent again one by one: only the one that is
to blame is counted."""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from os import PathLike
from typing import Any, NamedTuple

from armature.errors import ArgumentError, MissingExtraError
from armature.kernel.kernel import set_threads
from armature.study.outcome import Outcome, execute
from armature.study.pool import Event
from armature.study.store import StudyError
from armature.study.worker import timed
from armature.text import check_regular
from armature.version import __version__

# bundles for each thread of the cluster; those that are not at work wait at the scheduler
AHEAD = 3
BUNDLE = 1.0  # s of work that travel together
MOST = 64  # cases in a bundle
FRESH = 1.0  # s for which the number of threads is believed
SETTINGS = {"distributed.logging.distributed": "critical"}
MOST_WORKERS = 1024  # of local:N
PATIENCE = 30.0  # s to wait for a cluster to answer


class Tls(NamedTuple):
    """Certificates for a cluster, PEM files: of the authority that signed all of them, of this
    client, and its key."""

    ca: str | PathLike[str]
    cert: str | PathLike[str]
    key: str | PathLike[str]


class DaskPool:
    """Workers of a Dask cluster. address: tcp://… or tls://… of a scheduler.  timeout: s that one
    case may take.
    tls: certificates; a scheduler that has none of the same authority is then refused."""

    def __init__(self, address: str, timeout: float | None = None, tls: Tls | None = None):
        distributed = _distributed()
        security = _security(distributed, tls, address)
        self.address, self.timeout = address, timeout
        self._futures: dict[str, tuple[Any, list[tuple[str, bytes]]]] = {}
        self._loose: list[tuple[str, bytes]] = []
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._seconds = BUNDLE  # of a case, a running mean
        self._submitted = self._size = 0
        self._asked = -FRESH
        self._log = logging.getLogger(
            "distributed.client"
        )  # what it would tell by tracebacks is told in words
        self._level = self._log.level
        self._log.setLevel(logging.CRITICAL + 1)
        with _config(SETTINGS):
            try:
                given = {} if security is None else {"security": security}
                self._client = distributed.Client(address, timeout=PATIENCE, **given)
                self._client.wait_for_workers(1, timeout=PATIENCE)
            except (OSError, TimeoutError, ValueError, RuntimeError, TypeError) as e:
                self.close()
                raise StudyError(
                    f"the cluster {address} does not answer ({e}); check its address, and that it"
                    " has workers"
                ) from None
        self._check_versions(address)

    @property
    def size(self) -> int:
        """Threads of the cluster; workers may come and go, and asking takes time."""
        if time.monotonic() - self._asked > FRESH:
            with self._reached():
                self._size, self._asked = (
                    max(1, sum(self._client.nthreads().values())),
                    time.monotonic(),
                )
        return self._size

    @property
    def free(self) -> int:
        """How many more cases it takes."""
        return (
            AHEAD * self.size * self._bundle
            - len(self._loose)
            - sum(len(cases) for _, cases in self._futures.values())
        )

    @property
    def _bundle(self) -> int:
        """How many cases make a second of work."""
        return max(1, min(MOST, int(BUNDLE / max(self._seconds, 1e-6))))

    def submit(self, id: str, case: bytes) -> None:
        """Hand a case to the scheduler, in a bundle where cases are quick."""
        self._loose.append((id, case))
        if len(self._loose) >= self._bundle:
            self._send(self._loose)
            self._loose = []

    def _send(self, cases: list[tuple[str, bytes]]) -> None:
        self._submitted += 1
        key = f"armature-{self._submitted}-{cases[0][0]}"
        with self._reached():
            future = self._client.submit(
                run_cases, [case for _, case in cases], self.timeout, key=key, pure=False
            )
        self._futures[key] = future, cases
        future.add_done_callback(lambda _: self._done.put(key))

    def wait(self, seconds: float) -> list[Event]:
        """Outcomes that arrived; their futures are released, so that the cluster forgets them."""
        if self._loose:
            self._send(self._loose)
            self._loose = []
        events: list[Event] = []
        with self._reached(), suppress(queue.Empty):
            while True:
                key = self._done.get(timeout=seconds)
                seconds = 0.0
                if key in self._futures:
                    future, cases = self._futures.pop(key)
                    events += self._events(future, cases)
                    future.release()
        return events

    @contextmanager
    def _reached(self) -> Iterator[None]:
        """The end of the cluster, in words."""
        try:
            if self._client.status != "running":
                raise OSError
            yield
        except (OSError, CancelledError):
            raise StudyError(
                f"the cluster {self.address} is gone; what is stored is safe: start it, and run the"
                " study again"
            ) from None

    def _events(self, future: Any, cases: list[tuple[str, bytes]]) -> list[Event]:
        """What came of a bundle."""
        if future.status == "finished":
            outcomes = future.result()
            self._seconds += 0.2 * (
                sum(o.seconds for o in outcomes) / len(outcomes) - self._seconds
            )
            return [Event(id, outcome) for (id, _), outcome in zip(cases, outcomes)]
        if future.cancelled():
            return [Event(id) for id, _ in cases]
        error = future.exception()
        if type(error).__name__ != "KilledWorker":
            return [
                Event(id, Outcome({}, None, f"{type(error).__name__}: {error}")) for id, _ in cases
            ]
        if len(cases) == 1:
            return [Event(cases[0][0], died="of the cluster died while it worked on it")]
        for case in cases:
            self._send([case])
        return []

    def recall(self) -> None:
        """Nothing: at most one case a thread waits at the cluster."""

    def close(self) -> None:
        """Let go of the cluster."""
        for future, _ in self._futures.values():
            future.release()
        self._futures = {}
        if (client := getattr(self, "_client", None)) is not None:
            client.close()
        self._log.setLevel(self._level)

    def _check_versions(self, address: str) -> None:
        """The cluster must run this Armature, else rows would not be comparable."""
        found = set(self._client.run(version).values())
        if found != {__version__}:
            self.close()
            words = (
                f"the cluster {address} runs Armature {', '.join(sorted(map(str, found)))}, this is"
                f" {__version__}"
            )
            raise StudyError(f"{words}; install the same version there")


def version() -> str:
    """The version of Armature where this runs."""
    return __version__


def run_cases(cases: list[bytes], allowed: float | None) -> list[Outcome]:
    """What a worker of the cluster does: one case after the other in one thread, each within the
    time allowed."""
    set_threads(1)
    return [timed(execute, case, allowed) for case in cases]


def local_workers(address: str) -> int | None:
    """N for local:N; None for the address of a scheduler; an ArgumentError for anything else."""
    kind, _, rest = address.partition(":")
    if kind != "local" or rest.startswith("//"):
        if "://" not in address:
            raise ArgumentError(
                f"cluster = {address!r}; give the address of a Dask scheduler (tcp://host:8786,"
                " tls://…), or local:N"
            )
        return None
    if not (rest.isascii() and rest.isdigit()) or not 1 <= int(rest[:9]) <= MOST_WORKERS:
        raise ArgumentError(
            f"cluster = {address!r}; give local:N with 1 ≤ N ≤ {MOST_WORKERS} processes, e.g."
            " local:4"
        )
    return int(rest)


def _security(distributed: Any, tls: Tls | None, address: str) -> Any:
    """What the client proves itself by, and asks of the scheduler; None without certificates."""
    if tls is None:
        if address.startswith("tls://"):
            raise ArgumentError(
                f"cluster = {address!r} needs certificates; give tls=Tls(…), or --tls-ca,"
                " --tls-cert and --tls-key"
            )
        return None
    for path in (tls.ca, tls.cert, tls.key):
        check_regular(path, 2**20)
    files = {
        "tls_ca_file": str(tls.ca),
        "tls_client_cert": str(tls.cert),
        "tls_client_key": str(tls.key),
    }
    try:
        return distributed.Security(**files, require_encryption=True)
    except (OSError, ValueError) as e:
        raise StudyError(f"the certificates cannot be used ({e}); give PEM files") from None


def _config(settings: dict[str, Any]) -> Any:
    from dask import config

    return config.set(settings)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("a study on a cluster", "distributed", "cluster") from None
    return distributed

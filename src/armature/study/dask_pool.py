"""Cases on a Dask cluster: the same work, the same values. Dask may run a case twice; the store keeps one row of each."""

from __future__ import annotations

import queue
from typing import Any

import armature
from armature.errors import ArgumentError, MissingExtraError
from armature.study.outcome import Outcome, execute
from armature.study.pool import Event
from armature.study.store import StudyError
from armature.study.worker import timed

AHEAD = 2  # cases a thread of the cluster
# for a cluster of our own: every death of a worker is told, and only the case that it worked on is blamed
SETTINGS = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.worker-saturation": 1.0,
    "distributed.logging.distributed": "critical",
}
PATIENCE = 30.0  # s to wait for a cluster to answer


class DaskPool:
    """Workers of a Dask cluster. address: tcp://… of a scheduler, or local:N for N processes of this machine.
    timeout: s that one case may take."""

    def __init__(self, address: str, timeout: float | None = None):
        distributed = _distributed()
        self.timeout = timeout
        self._futures: dict[str, Any] = {}
        self._submitted = 0
        self._done: queue.SimpleQueue[str] = queue.SimpleQueue()
        with _config(SETTINGS):
            self._cluster = _local(distributed, address)
            try:
                self._client = distributed.Client(self._cluster or address, timeout=PATIENCE)
                self._client.wait_for_workers(1, timeout=PATIENCE)
            except (OSError, TimeoutError, ValueError) as e:
                self.close()
                raise StudyError(f"the cluster {address} does not answer ({e}); check its address, and that it has workers") from None
        self._check_versions(address)

    @property
    def size(self) -> int:
        """Threads of the cluster."""
        return max(1, sum(self._client.nthreads().values()))

    @property
    def free(self) -> int:
        """How many more cases it takes."""
        return AHEAD * self.size - len(self._futures)

    def submit(self, id: str, case: bytes) -> None:
        """Hand a case to the scheduler."""
        self._submitted += 1
        future = self._client.submit(run_case, case, self.timeout, key=f"armature-{id}-{self._submitted}", pure=False)
        self._futures[id] = future
        future.add_done_callback(lambda _: self._done.put(id))

    def wait(self, seconds: float) -> list[Event]:
        """Outcomes that arrived; their futures are released, so that the cluster forgets them."""
        events: list[Event] = []
        try:
            while True:
                id = self._done.get(timeout=seconds)
                seconds = 0.0
                if (future := self._futures.pop(id, None)) is not None:
                    events.append(self._event(id, future))
                    future.release()
        except queue.Empty:
            return events

    def _event(self, id: str, future: Any) -> Event:
        if future.status == "finished":
            return Event(id, future.result())
        if future.cancelled():
            return Event(id)
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            return Event(id, died="of the cluster died while it worked on it")
        return Event(id, Outcome({}, None, f"{type(error).__name__}: {error}"))

    def recall(self) -> None:
        """Nothing: at most one case a thread waits at the cluster."""

    def close(self) -> None:
        """Let go of the cluster; a local one ends."""
        for future in self._futures.values():
            future.release()
        self._futures = {}
        for part in (getattr(self, "_client", None), self._cluster):
            if part is not None:
                part.close()

    def _check_versions(self, address: str) -> None:
        """The cluster must run this Armature, else rows would not be comparable."""
        found = set(self._client.run(version).values())
        if found != {armature.__version__}:
            self.close()
            words = f"the cluster {address} runs Armature {', '.join(sorted(map(str, found)))}, this is {armature.__version__}"
            raise StudyError(f"{words}; install the same version there")


def version() -> str:
    """The version of Armature where this runs."""
    return armature.__version__


def run_case(case: bytes, allowed: float | None) -> Outcome:
    """What a worker of the cluster does: one case in one thread, within the time allowed."""
    armature.set_threads(1)
    return timed(execute, case, allowed)


def _local(distributed: Any, address: str) -> Any:
    """A cluster of N processes for local:N; None for an address."""
    kind, _, rest = address.partition(":")
    if kind != "local" or rest.startswith("//"):
        if "://" not in address:
            raise ArgumentError(f"cluster = {address!r}; give the address of a Dask scheduler (tcp://host:8786), or local:N")
        return None
    if not rest.isdigit() or int(rest) < 1:
        raise ArgumentError(f"cluster = {address!r}; give local:N with N ≥ 1 processes, e.g. local:4")
    return distributed.LocalCluster(
        n_workers=int(rest), threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", host="127.0.0.1", silence_logs=50
    )


def _config(settings: dict[str, Any]) -> Any:
    from dask import config

    return config.set(settings)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingExtraError("a study on a cluster", "distributed", "cluster") from None
    return distributed

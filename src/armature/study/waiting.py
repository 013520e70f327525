"""Cases that wait to be run, in order; of those that need machine code which nobody has compiled
yet, one goes ahead alone."""

from __future__ import annotations

from collections import OrderedDict, deque


class Waiting:
    """Cases by the kernels that they need. The first case of a kind compiles and stores them on
    disk; the others wait for it and then load what is there, instead of compiling the same in every
    worker."""

    def __init__(self) -> None:
        self._kinds: OrderedDict[str, deque[str]] = OrderedDict()
        self._kernels: dict[str, str] = {}
        self._warm: set[str] = set()
        self._warming: set[str] = set()

    def add(self, id: str, kernels: str) -> None:
        """One more case."""
        self._kernels[id] = kernels
        self._kinds.setdefault(kernels, deque()).append(id)

    def take(self) -> str | None:
        """The next case that may be begun; None where all have to wait or none is left."""
        kind = next((k for k in self._kinds if k not in self._warming), None)
        if kind is None:
            return None
        waiting = self._kinds[kind]
        id = waiting.popleft()
        if not waiting:
            del self._kinds[kind]
        if kind not in self._warm:
            self._warming.add(kind)
        return id

    def done(self, id: str) -> None:
        """A case has an outcome: its kernels are there."""
        self._warm.add(self._kernels.pop(id))
        self._warming -= self._warm

    def again(self, id: str) -> None:
        """A case lost its worker and waits again; another one may compile in its place."""
        kind = self._kernels[id]
        self._warming.discard(kind)
        self.add(id, kind)

    def drop(self, id: str) -> None:
        """A case is given up."""
        self._warming.discard(self._kernels.pop(id))

    def __len__(self) -> int:
        return sum(len(ids) for ids in self._kinds.values())

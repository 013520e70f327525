"""One thread that does one thing after the other; a newer message under the same name takes the
place of an older one that still waits."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger("armature.web")


class Mailbox:
    """What one browser asks for, in order. A hundred quick changes of one slider are one change:
    the last.

    tick: called about `rate` times a second while `ticking` is true.  failed: told about whatever
    went wrong; the thread goes on."""

    def __init__(
        self, tick: Callable[[], None], failed: Callable[[Exception], None], rate: float = 30.0
    ):
        self.ticking = False
        self._tick, self._failed, self._pause = tick, failed, 1.0 / rate
        self._letters: dict[str, Callable[[], None]] = {}
        self._changed = threading.Condition()
        self._open = True
        self._thread = threading.Thread(target=self._run, name="armature desk", daemon=True)
        self._thread.start()

    def post(self, name: str, action: Callable[[], None]) -> None:
        """Have an action done; one of the same name that has not begun is dropped."""
        with self._changed:
            self._letters.pop(name, None)  # the newest stands last, where it belongs in time
            self._letters[name] = action
            self._changed.notify()

    def close(self) -> None:
        """Nothing more is done; what is being done ends by itself."""
        with self._changed:
            self._open = False
            self._letters.clear()
            self._changed.notify()

    def join(self, seconds: float) -> None:
        """Wait until it has ended."""
        self._thread.join(seconds)

    def _next(self) -> Callable[[], None] | None:
        """The oldest letter, a tick when time has come, None when closed."""
        with self._changed:
            if self._open and not self._letters:
                self._changed.wait(self._pause if self.ticking else None)
            if not self._open:
                return None
            if self._letters:
                return self._letters.pop(next(iter(self._letters)))
            return self._tick if self.ticking else _nothing

    def _run(self) -> None:
        while (action := self._next()) is not None:
            try:
                action()
            except (
                Exception
            ) as error:  # one browser's failure must end neither its desk nor the server
                log.debug("an action of the page failed", exc_info=True)
                self._failed(error)


def _nothing() -> None:
    """Woken without a reason."""

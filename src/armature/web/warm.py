"""A process beside the server that compiles what may be asked for next, into the cache on disk:
another supply, another objective.

It runs at low priority, so that it slows neither the plan on the page nor the page, and ends when
the server does, however that ends."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO, cast

from armature.errors import ArmatureError
from armature.robot.model import Robot
from armature.study.worker import THREADS, receive, send
from armature.web.planner import curve, draft
from armature.web.wish import Wish

log = logging.getLogger("armature.web")
SUPPLIES = ("non-regenerative", "regenerative")
LOW = 15  # added to the niceness of the process


class Warmer:
    """Compiles ahead for the robots of all browsers, one after the other and each once; see
    `next_wishes` for what."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: set[Robot] = set()
        self._waiting: list[Wish] = []
        self._process: subprocess.Popen | None = None
        self._thread: threading.Thread | None = None
        self._open = True

    def ask(self, wish: Wish) -> None:
        """A plan of this robot is on the page: compile in the background what its user may want
        next."""
        with self._lock:
            if wish.robot in self._seen or not self._open:
                return
            self._seen.add(wish.robot)
            self._waiting.append(wish)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="armature warmer", daemon=True
                )
                self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether something is being compiled ahead."""
        with self._lock:
            return self._thread is not None

    def close(self) -> None:
        """End the process, at once, and wait until it is gone."""
        with self._lock:
            self._open = False
            thread = self._thread
            if self._process is not None:
                self._process.kill()
        if thread is not None:
            thread.join(10.0)

    def _run(self) -> None:
        while (wish := self._next()) is not None and (process := self._process) is not None:
            with process, contextlib.suppress(OSError):  # it may have been ended before it read
                send(cast(BinaryIO, process.stdin), wish)
                # the pipe stays open meanwhile: its end tells the process that the server is gone
                process.wait()

    def _next(self) -> Wish | None:
        """The next wish that waits, its process started; None where none does."""
        with self._lock:
            self._process = None
            if self._waiting and self._open:
                try:
                    self._process = _started()
                    return self._waiting.pop(0)
                except (
                    OSError
                ):  # no room for another process: then things are compiled when they are asked for
                    log.debug("nothing can be compiled ahead", exc_info=True)
            self._thread = None
            return None


def _started() -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "armature.web.warm"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **dict.fromkeys(THREADS, "1")},
        process_group=0 if os.name == "posix" else None,  # Ctrl-C is for the server
    )


def next_wishes(wish: Wish) -> Iterator[Callable[[], Any]]:
    """What may be asked for after a wish, as calls that make it: other supplies, the least time, a
    straight line, the curve."""
    none = lambda iteration: None
    for supply in (wish.supply, *SUPPLIES):
        if supply != wish.supply:
            yield lambda supply=supply: draft(replace(wish, supply=supply), None, none)
    fastest: list[Any] = []
    yield lambda: fastest.append(draft(replace(wish, objective="time"), None, none))
    yield lambda: fastest[0].certificate
    yield lambda: draft(replace(wish, way="line"), None, none)
    for supply in SUPPLIES:
        yield lambda supply=supply: curve(
            replace(wish, supply=supply), fastest[0].duration, points=2
        )


def main() -> None:
    """Read a wish from the input, make what may be wished next, and end; or end at once when the
    input does."""
    if hasattr(os, "nice"):
        os.nice(LOW)
    wish = receive(sys.stdin.buffer)
    threading.Thread(target=_until_alone, daemon=True).start()
    for make in next_wishes(wish):
        with contextlib.suppress(
            ArmatureError, IndexError
        ):  # what cannot be planned need not be compiled
            make()
    os._exit(0)  # the other thread still reads


def _until_alone() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()

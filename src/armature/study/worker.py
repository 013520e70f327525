"""A worker: a process that takes cases from its input and writes what came of them to its output,
until its input ends.

The pool runs this file as a program; what it imports at first is the standard library alone, until
the driver tells where to look. Messages are pickled and preceded by their length. A thread reads
ahead and ends the process at once when the driver is gone, however that died; printing goes to the
log, not into the messages. One thread each for linear algebra and kernels."""

from __future__ import annotations

import faulthandler
import importlib
import os
import pickle
import queue
import struct
import sys
import threading
from typing import Any, BinaryIO

LENGTH = struct.Struct("<Q")
THREADS = (
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "ARMATURE_THREADS",
)


def send(stream: BinaryIO, message: Any) -> None:
    """Write one message."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read one message; EOFError when the other side is gone."""
    head = stream.read(LENGTH.size)
    data = stream.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else b""
    if not data:
        raise EOFError
    return pickle.loads(data)


class Mailbox:
    """Cases that wait, and answers: both are used by the thread that works and by the one that
    reads."""

    def __init__(self, requests: BinaryIO, answers: BinaryIO):
        self.requests, self.answers = requests, answers
        self.waiting: queue.SimpleQueue = queue.SimpleQueue()
        self._lock = threading.Lock()

    def read_ahead(self) -> None:
        """Take what comes; None asks for the cases that wait. The end of the driver is the end of
        this process."""
        try:
            while True:
                message = receive(self.requests)
                if message is None:
                    self.give_back()
                else:
                    self.waiting.put(message)
        except (EOFError, OSError, pickle.UnpicklingError):
            os._exit(0)

    def give_back(self) -> None:
        """Answer every case that was not begun by None."""
        while True:
            try:
                self.answer(self.waiting.get_nowait()[0], None)
            except queue.Empty:
                return

    def answer(self, id: str, outcome: Any) -> None:
        """Tell what came of a case; where nobody listens any more, the process ends."""
        try:
            with self._lock:
                send(self.answers, (id, outcome))
        except OSError:
            os._exit(0)


def main() -> None:
    """Take (id, case, seconds allowed) and answer (id, outcome); first of all answer "ready"."""
    box = Mailbox(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # what libraries print must not get between the messages
    faulthandler.enable()
    sys.path[:], modules = receive(box.requests)
    threading.Thread(target=box.read_ahead, daemon=True).start()
    from armature.study.outcome import execute

    for module in modules:
        importlib.import_module(module)

    box.answer("ready", None)
    while True:
        id, case, allowed = box.waiting.get()
        box.answer(id, timed(execute, case, allowed))


def timed(execute: Any, case: bytes, allowed: float | None) -> Any:
    """Run a case; where it takes longer than allowed (s), the process ends, whatever it is doing:
    the watch needs no interpreter."""
    if allowed is None:
        return execute(case)
    faulthandler.dump_traceback_later(allowed, exit=True)
    try:
        return execute(case)
    finally:
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()

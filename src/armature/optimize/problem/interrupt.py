"""One Ctrl-C ends a plan with the best motion so far; a second one leaves at once.

A planner runs inside `interruptible`. There Ctrl-C raises nothing: it sets a flag, at which the
search that runs ends (`interior.py`) and no time is left for others (`Planner.left`), wherever in a
plan it comes. Only the main thread gets signals; planners in other threads are ended by their
callbacks."""

from __future__ import annotations

import functools
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

from armature.optimize.problem.result import Status

Planning = TypeVar("Planning", bound=Callable)


class Flag(threading.local):
    """depth: planners that run inside one another in this thread.  stopped: whether they are to
    end."""

    depth: int = 0
    stopped: bool = False


FLAG = Flag()


def interrupted() -> bool:
    """Whether the plan that runs in this thread is to end with the best motion so far."""
    return FLAG.stopped


def request_stop() -> None:
    """End the plan that runs in this thread, if there is one; asked again, leave at once."""
    if FLAG.stopped or not FLAG.depth:
        raise KeyboardInterrupt
    FLAG.stopped = True


@contextmanager
def planning() -> Iterator[bool]:
    """Within, Ctrl-C asks the planner to stop. Gives whether this is the outermost planner."""
    outermost = FLAG.depth == 0
    before = take_signal() if outermost else None
    FLAG.depth += 1
    try:
        yield outermost
    finally:
        FLAG.depth -= 1
        if outermost:
            FLAG.stopped = False
        if before is not None:
            signal.signal(signal.SIGINT, before)


def take_signal() -> Any:
    """Ask for Ctrl-C where it would raise KeyboardInterrupt; gives what to put back, None where it
    is not ours."""
    if threading.current_thread() is not threading.main_thread():
        return None
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return None
    return signal.signal(signal.SIGINT, lambda *_: request_stop())


def interruptible(function: Planning) -> Planning:
    """A planner that one Ctrl-C ends with the best motion so far, whose status then says so."""

    @functools.wraps(function)
    def plan(*args: Any, **kwargs: Any) -> Any:
        with planning() as outermost:
            try:
                found = function(*args, **kwargs)
            except Exception as error:
                if outermost and FLAG.stopped:  # nothing that could be given
                    raise KeyboardInterrupt from error
                raise
            return marked(found) if outermost and FLAG.stopped else found

    return plan  # type: ignore[return-value]


def marked(found: Any) -> Any:
    """A solution whose search was interrupted: no verdict on the task follows from it."""
    if isinstance(getattr(found, "status", None), Status):
        return replace(found, status=Status.INTERRUPTED, diagnosis=None)
    return found

"""What the tests let workers do: functions of a case's inputs, importable by name."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def square(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """x²."""
    return {"square": inputs["x"] ** 2}


def slow_square(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """x², after a while."""
    time.sleep(inputs.get("pause", 0.05))
    return square(inputs)


def slow_from_four(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """x², at once below 4, then after two seconds."""
    time.sleep(2.0 if inputs["x"] >= 4 else 0.0)
    return square(inputs)


def deadly_three(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """x², but 3 kills its process."""
    if inputs["x"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return square(inputs)


def deadly_once(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """x², but the first process that meets 3 dies: what a machine short of memory does."""
    mark = Path(inputs["folder"]) / "died"
    if inputs["x"] == 3 and not mark.exists():
        mark.write_text("once")
        os.kill(os.getpid(), signal.SIGKILL)
    return square(inputs)


def endless_three(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """x², but 3 never ends."""
    while inputs["x"] == 3:
        pass
    return square(inputs)


def wrong_three(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """x², but 3 raises."""
    return {"square": 1 / (inputs["x"] - 3)}


def talkative(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """x², with words on both outputs, from Python and from below."""
    print("a library says hello")
    os.write(1, b"so does another one\n")
    return square(inputs)


def listening(x: float) -> dict:
    """How many sockets this process and the one that started it listen at."""
    import os
    from pathlib import Path

    count = 0
    for pid in (os.getpid(), os.getppid()):
        links = [os.path.join(f"/proc/{pid}/fd", n) for n in os.listdir(f"/proc/{pid}/fd")]
        sockets = {os.readlink(link) for link in links if os.path.islink(link)}
        tables = [Path(f"/proc/{pid}/net/{name}").read_text() for name in ("tcp", "tcp6")]
        rows = [line.split() for table in tables for line in table.splitlines()[1:]]
        count += sum(row[3] == "0A" and f"socket:[{row[9]}]" in sockets for row in rows)
    return {"ports": count, "x": x}

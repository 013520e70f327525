"""Where a result comes from: versions, machine, inputs and command, without the names of people,
hosts or folders."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from armature.motion.columns import VERSION
from armature.robot.model import Robot
from armature.text import read_bytes

# folders of absolute paths, up to the last part
FOLDERS = re.compile(r"""(?<![^\s='",:])(?:~[^\s/]*/|/|[A-Za-z]:\\)(?:[^\s'"/\\]*[/\\])*""")
PACKAGES = ("numpy", "scipy", "casadi", "llvmlite", "numba")


def provenance(
    inputs: Mapping[str, Any], command: str | Sequence[str] | None = None
) -> dict[str, Any]:
    """What made a result: {"armature", "python", "packages", "machine", "date", "command",
    "inputs": {name: sha256}}.

    inputs: {name: a robot, a task, a text, or the Path of a file}.  command: as typed; of absolute
    paths only the last part is kept."""
    return {
        "armature": VERSION,
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in PACKAGES},
        "machine": (
            f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"
        ),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": _anonymous(command),
        "inputs": {
            name: f"sha256:{digest(value)}" for name, value in inputs.items() if value is not None
        },
    }


def digest(value: Any) -> str:
    """SHA-256 of an input, hexadecimal: of a file's bytes, of a robot's YAML, else of its numbers
    and names in a fixed order."""
    if isinstance(value, Path):
        data = read_bytes(value)
    elif isinstance(value, Robot):
        data = value.to_yaml().encode("utf-8", "replace")
    elif isinstance(value, str):
        data = value.encode("utf-8", "replace")
    else:
        data = json.dumps(plain(value), sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()


def plain(value: Any) -> Any:
    """Anything as mappings, lists, numbers and words: dataclasses by their fields, functions by
    their names."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            "kind": type(value).__name__,
            **{f.name: plain(getattr(value, f.name)) for f in fields(value) if f.compare},
        }
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return repr(value)  # strict JSON knows no infinity; float() reads it back
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return getattr(value, "__qualname__", type(value).__qualname__)


def _processor() -> str:
    """The CPU's own name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or "unknown processor"


def _anonymous(command: str | Sequence[str] | None) -> str:
    """The command with absolute paths cut to their last part."""
    text = command if isinstance(command, str) else " ".join(command or ())
    text = text.encode("utf-8", "replace").decode()  # names of files need not be characters
    return FOLDERS.sub("", text)

"""Hashes that bind a certificate to what it was made for: the motion, the robot, the supply and the
figures of the plan, and the files beside it in the folder of a saved plan that repeat them for
people and other programs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import FileError
from armature.job.provenance import plain
from armature.motion.columns import KINDS
from armature.text import read_bytes

FIGURES = ("ok", "status", "duration", "energy", "losses", "saving")
MOST_FILE = 2**28  # bytes of a file beside the plan
PARTS = {
    "motion": "the motion",
    "robot": "the robot",
    "supply": "the supply",
    "figures": "the plan's figures",
    "certificate": "the certificate",
}


def sealed(document: Mapping[str, Any]) -> dict[str, str]:
    """{part: SHA-256} of a plan's document: its motion's arrays, robot, supply and figures, and the
    certificate with all of them."""
    scene = document.get("scene")
    around = [] if scene is None else [scene]
    found = {
        "motion": _motion(document["trajectory"]),
        "robot": _digest([document["robot"], document.get("floor"), *around]),
        "supply": _digest(document["supply"]),
        "figures": _digest({name: document[name] for name in FIGURES}),
    }
    return {**found, "certificate": _digest({"certificate": document["certificate"], "of": found})}


def file_hashes(folder: Path, names: Sequence[str]) -> dict[str, str]:
    """{name: SHA-256} of those files of a folder that are there; empty text for what is no regular
    file of a readable size."""
    return {name: _file_hash(folder / name) for name in names if os.path.lexists(folder / name)}


def _file_hash(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path, MOST_FILE)).hexdigest()
    except FileError:
        return ""


def broken_seal(
    document: Mapping[str, Any], folder: Path | None = None, names: Sequence[str] = ()
) -> str:
    """Why the certificate of a document does not hold for what stands beside it; empty where it
    does.

    folder, names: where the plan was read from, and the files there that must be as they were
    saved; one that is gone does no harm."""
    kept = document.get("hashes")
    if not isinstance(kept, Mapping) or set(kept) != set(PARTS):
        return (
            "the plan was saved without hashes, by an older version or from a changed plan; plan or"
            " certify it again"
        )
    now = sealed(document)
    changed = [words for part, words in PARTS.items() if kept[part] != now[part]]
    if len(changed) > 1:
        changed.remove(PARTS["certificate"])  # its hash holds the others
    changed += _changed_files(document.get("files"), folder, names)
    return (
        f"since it was made, these were changed: {', '.join(changed)}; plan or certify it again"
        if changed
        else ""
    )


def _changed_files(kept: Any, folder: Path | None, names: Sequence[str]) -> list[str]:
    """Files of a saved plan's folder that are not those that were saved; plans of older versions
    name none."""
    if folder is None or not isinstance(kept, Mapping):
        return []
    now = file_hashes(folder, [name for name in names if name in kept])
    return [f"the file {name}" for name, found in now.items() if found != kept[name]]


def _motion(track: Mapping[str, Any]) -> str:
    """Of a motion's numbers, bit for bit, its joints and how it runs between its knots."""
    found = hashlib.sha256(
        _digest({name: track[name] for name in ("interpolation", "joint_names")}).encode()
    )
    for name in ("t", *KINDS):
        if name in track:
            x = np.ascontiguousarray(_numbers(track[name]), dtype="<f8")
            found.update(f"{name}{x.shape}".encode() + x.tobytes())
    return found.hexdigest()


def _numbers(values: Any) -> np.ndarray:
    """An array; numbers that are not finite stand as words in JSON, which NumPy reads as well."""
    return np.asarray(values, dtype=float)


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(plain(value), sort_keys=True).encode()).hexdigest()

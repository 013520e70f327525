"""Hashes that bind a certificate to what it was made for: the motion, the robot, the supply and the figures of the plan."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from armature.motion.columns import KINDS
from armature.optimize.provenance import plain

FIGURES = ("ok", "status", "duration", "energy", "losses", "saving")
PARTS = {
    "motion": "the motion",
    "robot": "the robot",
    "supply": "the supply",
    "figures": "the plan's figures",
    "certificate": "the certificate",
}


def sealed(document: Mapping[str, Any]) -> dict[str, str]:
    """{part: SHA-256} of a plan's document: its motion's arrays, robot, supply and figures, and the certificate with all of them."""
    found = {
        "motion": _motion(document["trajectory"]),
        "robot": _digest([document["robot"], document.get("floor")]),
        "supply": _digest(document["supply"]),
        "figures": _digest({name: document[name] for name in FIGURES}),
    }
    return {**found, "certificate": _digest({"certificate": document["certificate"], "of": found})}


def broken_seal(document: Mapping[str, Any]) -> str:
    """Why the certificate of a document does not hold for what stands beside it; empty where it does."""
    kept = document.get("hashes")
    if not isinstance(kept, Mapping) or set(kept) != set(PARTS):
        return "the plan was saved without hashes, by an older version or from a changed plan; plan or certify it again"
    now = sealed(document)
    changed = [words for part, words in PARTS.items() if kept[part] != now[part]]
    if len(changed) > 1:
        changed.remove(PARTS["certificate"])  # its hash holds the others
    return f"since it was made, these were changed: {', '.join(changed)}; plan or certify it again" if changed else ""


def _motion(track: Mapping[str, Any]) -> str:
    """Of a motion's numbers, bit for bit, its joints and how it runs between its knots."""
    found = hashlib.sha256(_digest({name: track[name] for name in ("interpolation", "joint_names")}).encode())
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

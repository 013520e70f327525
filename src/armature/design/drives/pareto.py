"""The front of two terms: choices of which none is better in both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.design.drives.evaluations import Evaluations


@dataclass(frozen=True, eq=False)
class Front:
    """terms: the two that are compared.  values: (K, 2), the first rising.  names: the drives of
    each choice, {joint: motor + gear}.  all: (M, 2) of all choices planned."""

    terms: tuple[str, str]
    values: np.ndarray
    names: tuple[dict[str, str], ...]
    all: np.ndarray


def pareto_front(table: Evaluations, first: str, second: str) -> Front:
    """Of all choices that were planned."""
    done = [e for e in table.found.values() if e.ok]
    points = np.array([[getattr(e, first), getattr(e, second)] for e in done]).reshape(-1, 2)
    order = np.lexsort((points[:, 1], points[:, 0]))
    kept, least = [], np.inf
    for k in order:
        if points[k, 1] < least:
            kept.append(k)
            least = points[k, 1]
    names = tuple(table.names(done[k].choice) for k in kept)
    return Front((first, second), points[kept], names, points)

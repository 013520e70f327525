"""Spheres that cover a convex shape, fitted once: every point of the shape is inside one, and none
sticks out by more than `overshoot`.

A ball about x inside the shape, as large as its depth −d(x) and `overshoot` more, reaches no
farther than `overshoot` out of it. The
shape is cut into pieces (an octree), small at its surface and larger inside; as long as a piece is
not inside one ball, a ball is added,
each time the one with the most new pieces inside. So containment is no matter of samples.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from armature.scene.loops import Matrix, Vector, loop

WALKS, STEPS = (
    300,
    14,
    # from random pieces at the surface towards the middle of the shape; every place on the way is a
    # centre
)
FINE, DEEP = (
    0.3,
    0.4,
)  # half diagonals of pieces: of the overshoot at the surface, of the depth inside
ROUNDING = 1e-9  # m

Distance = Callable[[np.ndarray], np.ndarray]  # signed distances of points (k, 3), m


def fit_spheres(distance: Distance, corners: np.ndarray, overshoot: float) -> np.ndarray:
    """(k, 4) centres and radii, m. corners: (m, 3), whose bounding box contains the shape."""
    pieces, size = _pieces(distance, corners, overshoot)
    centres = np.vstack([_centres(distance, corners, pieces, overshoot), pieces])
    radii = overshoot - distance(centres)
    chosen = _choose(centres, radii, pieces, size)
    return np.column_stack([centres[chosen], radii[chosen]])


def _pieces(
    distance: Distance, corners: np.ndarray, overshoot: float
) -> tuple[np.ndarray, np.ndarray]:
    """Balls (k, 3), (k,) that together contain the shape: around pieces, or around what a cube has
    of the shape inside.

    Of a ball whose centre is outside by f, the shape has at most a cap inside: that of a ball of
    radius √(h² − f²) on the surface.
    """
    low, high = corners.min(0), corners.max(0)
    edge = float((high - low).max()) / 2 + overshoot
    level, found = ((low + high) / 2)[None], []
    eight = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=float)
    while len(level):
        half = edge * np.sqrt(3.0)
        f = distance(level)
        level, f = level[f < half], f[f < half]  # the others have nothing of the shape inside
        small = half <= np.maximum(FINE * overshoot, -DEEP * f)
        outside = np.maximum(f[small], 0.0)
        moved = level[small] - outside[:, None] * _slope(distance, level[small])
        found.append((moved, np.sqrt(np.maximum(half**2 - outside**2, 0.0)) + ROUNDING))
        edge /= 2
        level = (level[~small, None] + edge * eight).reshape(-1, 3)
    return np.vstack([c for c, _ in found]), np.concatenate([h for _, h in found])


def _slope(distance: Distance, x: np.ndarray) -> np.ndarray:
    """(k, 3) unit vectors away from the shape."""
    found = np.stack([distance(x + h) - distance(x - h) for h in 1e-6 * np.eye(3)], axis=1)
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


def _centres(
    distance: Distance, corners: np.ndarray, pieces: np.ndarray, overshoot: float
) -> np.ndarray:
    """Places inside the shape: on ways from its surface towards its middle."""
    rng = np.random.default_rng(1)
    x = pieces[rng.permutation(len(pieces))[:WALKS]]
    x, every = np.vstack([(corners.min(0) + corners.max(0)) / 2, x]), []
    step = overshoot / 2
    for _ in range(STEPS):
        moved = x - step * _slope(distance, x)
        x = np.where((distance(moved) < distance(x))[:, None], moved, x)
        every.append(x)
        step *= 1.2
    found = np.vstack(every)
    return found[distance(found) < 0.0]


def _choose(
    centres: np.ndarray, radii: np.ndarray, pieces: np.ndarray, size: np.ndarray
) -> list[int]:
    """Balls that have all pieces inside, the one with the most new ones first."""
    first = len(centres) - len(
        pieces
    )  # before the pieces' own centres, which are taken only where nothing else is left
    left = np.ascontiguousarray(np.column_stack([pieces, size]))
    own = np.arange(first, len(centres))
    inside = np.zeros(len(left))
    heap = [(-count_inside(*centres[k], radii[k], left, inside), k) for k in range(first)]
    heapq.heapify(heap)
    chosen: list[int] = []
    while len(left):
        k = heapq.heappop(heap)[1] if heap else int(own[0])
        new = count_inside(*centres[k], radii[k], left, inside)
        if heap and new < -heap[0][0]:
            heapq.heappush(heap, (-new, k))
        elif new:
            chosen.append(k)
            still = inside[: len(left)] == 0.0
            left, own = np.ascontiguousarray(left[still]), own[still]
    return chosen


@loop
def count_inside(
    x: float, y: float, z: float, radius: float, balls: Matrix, inside: Vector
) -> float:
    """How many balls (k, 4) are wholly inside another; `inside` is 1 for these and 0 for the
    others."""
    found = 0.0
    for i in range(balls.shape[0]):
        u, v, w = balls[i, 0] - x, balls[i, 1] - y, balls[i, 2] - z
        room = radius - balls[i, 3]
        fits = 1.0 if u * u + v * v + w * w <= room * abs(room) else 0.0
        inside[i] = fits
        found += fits
    return found

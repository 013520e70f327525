"""Spheres that cover a mesh, which need not be convex: fitted behind its surface.

A ball about a place inside, as large as its depth and `overshoot` more, reaches no farther than
`overshoot` out of the mesh. Balls are tried behind patches of the surface that none contains yet,
each time the one with the most new patches inside first. A triangle is inside a ball where its
corners are: so containment is no matter of samples.
"""

from __future__ import annotations

import heapq

import numpy as np

from armature.scene.solid import Solid, fine_triangles

ROUNDS, PATCHES = 6, 300  # how often, and behind how many patches, centres are tried
SEVERAL = 4  # patches that a ball must contain beyond those that are inside others
DEPTHS = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0])  # of the overshoot: how far behind
ROUNDING = 1e-9  # m


def fit_mesh(points: np.ndarray, faces: np.ndarray, overshoot: float, filled: float) -> np.ndarray:
    """(k, 4) centres and radii, m, of spheres that contain a mesh (m, 3), (k, 3): its exposed
    surface, and inside it all that is deeper than three overshoots.

    None sticks out by more than `overshoot` of the mesh with slots narrower than twice `filled`
    filled, m. A triangle is inside a ball where its corners are: no matter of samples either."""
    solid = Solid(points, faces, overshoot / 2, filled)
    patches = fine_triangles(points[faces], overshoot)
    patches = patches[solid.exposed(patches.reshape(-1, 3)).reshape(-1, 3).any(1)]
    surface = np.column_stack([patches.reshape(-1, 9), np.full(len(patches), ROUNDING)])
    inner = _inner_pieces(solid, points.min(0), points.max(0), overshoot)
    left = np.ascontiguousarray(np.vstack([surface, _balls(inner[:, :3], inner[:, 3])]))
    rng, found = np.random.default_rng(1), []
    for _ in range(ROUNDS):
        centres = _behind(solid, left, overshoot, rng)
        radii = solid.depth(centres) + overshoot
        chosen, left = _cover(centres, radii, left, SEVERAL)
        found.append(chosen)
    middles = left[:, :9].reshape(-1, 3, 3).mean(1)
    rest, left = _cover(middles, solid.depth(middles) + overshoot, left, 1)
    assert not len(left)
    return np.vstack([*found, rest])


def _behind(
    solid: Solid, pieces: np.ndarray, overshoot: float, rng: np.random.Generator
) -> np.ndarray:
    """Places inside a solid, behind pieces (k, 10) of its surface."""
    chosen = pieces[rng.permutation(len(pieces))[:PATCHES]][:, :9].reshape(-1, 3, 3)
    normal = np.cross(chosen[:, 1] - chosen[:, 0], chosen[:, 2] - chosen[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    deep = overshoot * np.concatenate([-DEPTHS, DEPTHS])
    behind = (chosen.mean(1)[:, None] + deep[:, None] * normal[:, None]).reshape(-1, 3)
    return behind[solid.depth(behind) > 0.0]


def _inner_pieces(solid: Solid, low: np.ndarray, high: np.ndarray, overshoot: float) -> np.ndarray:
    """(k, 4) balls around cubes inside a solid, which contain all that is deeper than three
    overshoots."""
    edge = 1.2 * overshoot
    axes = [np.arange(a, b, edge) for a, b in zip(low, high)]
    cubes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    half = edge * np.sqrt(0.75)
    inside = cubes[solid.depth(cubes) > half]
    return np.column_stack([inside, np.full(len(inside), half)])


def _cover(
    centres: np.ndarray, radii: np.ndarray, pieces: np.ndarray, least: int
) -> tuple[np.ndarray, np.ndarray]:
    """(k, 4) balls chosen by `_choose`, and the pieces that none of them contains."""
    inside = _inside(centres, radii, pieces)
    chosen = _choose(inside, len(pieces), least)
    left = np.ones(len(pieces), dtype=bool)
    for k in chosen:
        left[inside[k]] = False
    return np.column_stack([centres[chosen], radii[chosen]]), pieces[left]


def _choose(inside: list[np.ndarray], pieces: int, least: int) -> list[int]:
    """Balls with the most new pieces inside first, as long as these are `least` or more."""
    heap = [(-len(rows), k) for k, rows in enumerate(inside)]
    heapq.heapify(heap)
    left, chosen = np.ones(pieces, dtype=bool), []
    while heap:
        k = heapq.heappop(heap)[1]
        new = int(np.count_nonzero(left[inside[k]]))
        if new < least:
            continue
        if heap and new < -heap[0][0]:
            heapq.heappush(heap, (-new, k))
            continue
        chosen.append(k)
        left[inside[k]] = False
    return chosen


def _inside(centres: np.ndarray, radii: np.ndarray, pieces: np.ndarray) -> list[np.ndarray]:
    """For each ball the indices of the pieces (k, 10) that are wholly inside: the hulls of three
    points, swept by a ball."""
    from scipy.spatial import KDTree

    near = KDTree(pieces[:, :3]).query_ball_point(centres, np.maximum(radii, 0.0))
    found = []
    for x, radius, some in zip(centres, radii, near):
        rows = np.array(some, dtype=np.int64)
        far = np.linalg.norm(pieces[rows, :9].reshape(-1, 3, 3) - x, axis=2).max(1, initial=0.0)
        found.append(rows[far + pieces[rows, 9] <= radius])
    return found


def _balls(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """(k, 10) pieces: balls."""
    return np.column_stack([centres, centres, centres, radii])

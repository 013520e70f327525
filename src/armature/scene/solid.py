"""A mesh as a solid: what lies inside it, which of its surface is exposed, and how deep a point is.

What a ball of some size can sweep from outside is outside; all the rest is inside. So meshes with
small holes, with surfaces inside, with overlapping parts or with normals the wrong way round are
solids too, and slots narrower than the ball count as filled. Which is which is decided on a grid,
whose cells err towards the inside.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CELLS = 600_000  # of a grid, at most
EXPOSED = 2  # cells: a surface that is nearer to the outside is exposed


class Solid:
    """The solid of a mesh (m, 3), (k, 3). step: m, of samples and grid.  ball: m, radius."""

    def __init__(self, points: np.ndarray, faces: np.ndarray, step: float, ball: float):
        from scipy.spatial import KDTree

        samples = corners(fine_triangles(points[faces], step))
        low, high = points.min(0) - 2 * ball, points.max(0) + 2 * ball
        self._cell = max(step, float(np.prod(high - low) / CELLS) ** (1 / 3))
        self._low = low - 2 * self._cell
        self._shape = (np.ceil((high - low) / self._cell) + 4).astype(np.int64)
        reached = self._reached(KDTree(samples), ball, step / np.sqrt(3.0))
        self._to_outside = self._cell * _distance_to(reached)
        edge = reached & (_distance_to(~reached) < 1.5)
        mouths = self._middle(np.argwhere(edge))
        self._boundary = KDTree(np.vstack([samples[self.exposed(samples)], mouths]))
        self._error = step / np.sqrt(3.0)  # m: a point of a triangle is as near to a sample

    def _reached(self, surface: Any, ball: float, error: float) -> np.ndarray:
        """Cells that a ball sweeps from outside, as truth values on the grid."""
        from scipy.ndimage import label

        middles = self._middle(np.indices(self._shape).reshape(3, -1).T)
        far = surface.query(middles, distance_upper_bound=ball + error)[0]
        found: Any = label(~np.isfinite(far).reshape(self._shape))
        parts = found[0]
        outside = parts == parts[0, 0, 0]
        return self._cell * (_distance_to(outside) + np.sqrt(0.75)) <= ball

    def _middle(self, cells: np.ndarray) -> np.ndarray:
        return self._low + (cells + 0.5) * self._cell

    def _at(self, x: np.ndarray) -> np.ndarray:
        """(k,) distances of the cells of points (k, 3) from the outside, m."""
        cell = np.floor((x - self._low) / self._cell).astype(np.int64)
        within = np.all((cell >= 0) & (cell < self._shape), axis=1)
        cell = np.clip(cell, 0, self._shape - 1)
        return np.where(within, self._to_outside[tuple(cell.T)], 0.0)

    def exposed(self, x: np.ndarray) -> np.ndarray:
        """(k,) whether points (k, 3) of the surface are near the outside."""
        return self._at(x) <= EXPOSED * self._cell

    def depth(self, x: np.ndarray) -> np.ndarray:
        """(k,) how deep points (k, 3) are inside, at least, m; 0 for others."""
        inside = self._at(x) > 0.0
        far = np.zeros(len(x))
        far[inside] = self._boundary.query(x[inside])[0] - self._error
        return np.maximum(far, 0.0)

    def middles(self) -> np.ndarray:
        """(k, 3) middles of the cells inside, m."""
        return self._middle(np.argwhere(self._to_outside > 0.0))


def _distance_to(cells: np.ndarray) -> np.ndarray:
    """Distances of the cells of a grid from the nearest that is true, in cells."""
    from scipy.ndimage import distance_transform_edt

    return np.asarray(distance_transform_edt(~cells))


def fine_triangles(triangles: np.ndarray, longest: float) -> np.ndarray:
    """(k, 3, 3) triangles with edges of at most `longest`, m: the longest edge is halved until it
    is."""
    done, left = [], np.asarray(triangles, dtype=float)
    while len(left):
        edges = np.sum((left - np.roll(left, -1, axis=1)) ** 2, axis=2)
        long = edges.max(1) > longest**2
        done.append(left[~long])
        left, k = left[long], edges[long].argmax(1)
        rows = np.arange(len(left))
        a, b, c = left[rows, k], left[rows, (k + 1) % 3], left[rows, (k + 2) % 3]
        m = (a + b) / 2
        left = np.concatenate([np.stack([a, m, c], axis=1), np.stack([m, b, c], axis=1)])
    return np.concatenate(done)


def corners(triangles: np.ndarray) -> np.ndarray:
    """(k, 3) corners of triangles, each once."""
    return np.unique(triangles.reshape(-1, 3).round(9), axis=0)

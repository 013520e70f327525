"""Signed distances from a point to shapes, in the shape's own frame: plain formulas on any number
type, which loops compile too.

Positive outside, negative inside. Each changes by at most the way that the point moves, so that
the distance of a ball, minus its radius, and of whatever a ball contains, is bounded by that of its
centre:

    (D1)  box        u = |x| − a, …      d = |max(u, 0)| + min(max(u₁, u₂, u₃), 0)
    (D2)  cylinder   u = (√(x² + y²) − r, |z| − l),   the same in two dimensions
    (D3)  half-space d = z
    (D4)  hull       d = max (n·x − b) over planes that hold it: exact inside and before faces,
    never more than the distance else

A sphere is a box without edges, a capsule one with a single edge; both are swept by a ball, whose
radius is subtracted.
"""

from __future__ import annotations

from armature.kernel.loop_library import Inner
from armature.spatial.numbers import maximum, minimum, sqrt


@Inner
def box_distance(x: float, y: float, z: float, a: float, b: float, c: float) -> float:
    """(D1): from a point to a box with half edges a, b, c about the origin, m."""
    u, v, w = abs(x) - a, abs(y) - b, abs(z) - c
    p, q, r = maximum(u, 0.0), maximum(v, 0.0), maximum(w, 0.0)
    return sqrt(p * p + q * q + r * r) + minimum(maximum(maximum(u, v), w), 0.0)


@Inner
def cylinder_distance(x: float, y: float, z: float, radius: float, half: float) -> float:
    """(D2): from a point to a cylinder about the z axis, half its length to each side, m."""
    u, v = sqrt(x * x + y * y) - radius, abs(z) - half
    p, q = maximum(u, 0.0), maximum(v, 0.0)
    return sqrt(p * p + q * q) + minimum(maximum(u, v), 0.0)

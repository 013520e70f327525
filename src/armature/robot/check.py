"""What is suspicious about a robot that can be computed with.

What is impossible is refused when a Link, Joint or Robot is made (RobotError: see guard.py and structure.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from armature.robot.structure import Problem

if TYPE_CHECKING:
    from armature.robot.model import Robot

ROUNDING = 1e-6  # relative to the largest principal moment; files print about six digits
TRIANGLE_ROUNDING = 1e-4
NEGLIGIBLE = 1e-15  # kg·m²: what exporters leave where they mean 0


def principal_moments(inertia: Sequence[float]) -> list[float]:
    """The three principal moments (kg·m²), ascending, of (xx, yy, zz, xy, xz, yz)."""
    size = max(abs(x) for x in inertia)
    if size == 0.0:
        return [0.0, 0.0, 0.0]
    xx, yy, zz, xy, xz, yz = (x / size for x in inertia)
    return [float(x) * size for x in np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])]


def inertia_doubt(inertia: Sequence[float]) -> str | None:
    """What is unphysical about an inertia, or None. A body has moments a ≤ b ≤ c with a ≥ 0 and a + b ≥ c."""
    a, b, c = principal_moments(inertia)
    if max(abs(a), abs(c)) < NEGLIGIBLE:
        return None
    shown = f"its principal moments are {a:.4g}, {b:.4g}, {c:.4g} kg·m²"
    if a < -ROUNDING * max(abs(a), abs(c)):
        return f"no body has this inertia: {shown}, and none can be negative; the numbers are used as given, correct them"
    if c - (a + b) > TRIANGLE_ROUNDING * c:
        return f"no body has this inertia: {shown}, and none can exceed the sum of the others; the numbers are used as given, correct them"
    return None


def check(robot: Robot) -> list[Problem]:
    """What is suspicious about a robot that can be computed with: inertias of no body, limits that allow no motion."""
    problems = []
    for i, link in enumerate(robot.links):
        if doubt := inertia_doubt(link.inertia):
            problems.append(Problem("link", i, link.name, doubt))
    for i, joint in enumerate(robot.joints):
        if joint.kind != "fixed" and joint.mimic is None and (joint.limits.velocity == 0.0 or joint.limits.torque == 0.0):
            which = "velocity" if joint.limits.velocity == 0.0 else "effort"
            message = f"its limit of {which} is 0: no motion can be planned unless it is set, among the task's limits or by with_limits"
            problems.append(Problem("joint", i, joint.name, message))
    return problems

"""What is suspicious about a robot that can be computed with.

What is impossible is refused when a Link, Joint or Robot is made (RobotError: see guard.py and
structure.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armature.errors import several
from armature.robot.description import RobotDescription
from armature.robot.parts import Joint
from armature.robot.structure import Problem

ROUNDING = 1e-6  # relative to the largest principal moment; files print about six digits
TRIANGLE_ROUNDING = 1e-4
MASSLESS = 1e-6  # kg
FEWEST, ALIKE = (
    3,
    0.75,
    # links of one and the same inertia, and their part of all, from which on they look like
    # placeholders
)
NEGLIGIBLE = 1e-15  # kg·m²: what exporters leave where they mean 0


def principal_moments(inertia: Sequence[float]) -> list[float]:
    """The three principal moments (kg·m²), ascending, of (xx, yy, zz, xy, xz, yz)."""
    size = max(abs(x) for x in inertia)
    if size == 0.0:
        return [0.0, 0.0, 0.0]
    xx, yy, zz, xy, xz, yz = (x / size for x in inertia)
    return [float(x) * size for x in np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])]


def inertia_doubt(inertia: Sequence[float]) -> str | None:
    """What is unphysical about an inertia, or None. A body has moments a ≤ b ≤ c with a ≥ 0 and a +
    b ≥ c."""
    a, b, c = principal_moments(inertia)
    if max(abs(a), abs(c)) < NEGLIGIBLE:
        return None
    shown = f"its principal moments are {a:.4g}, {b:.4g}, {c:.4g} kg·m²"
    if a < -ROUNDING * max(abs(a), abs(c)):
        return (
            f"no body has this inertia: {shown}, and none can be negative; the numbers are used as"
            " given, correct them"
        )
    if c - (a + b) > TRIANGLE_ROUNDING * c:
        return (
            f"no body has this inertia: {shown}, and none can exceed the sum of the others; the"
            " numbers are used as given, correct them"
        )
    return None


def mass_doubt(robot: RobotDescription) -> str:
    """One sentence where the masses of the links are no real ones, so that energies mean nothing;
    else nothing.

    Placeholders: three quarters of the moving links with a mass, at least three, have one and the
    same inertia about all axes."""
    moving = [link for link in robot.links if robot.tree.frames[link.name].body >= 0]
    heavy = [
        link for link in moving if link.mass - (link.payload[0] if link.payload else 0.0) > MASSLESS
    ]
    if moving and not heavy:
        return (
            "the links that move have no masses: energies and torques mean nothing; give every link"
            " its own"
        )
    round_ones = [link for link in heavy if _is_ball(link.inertia)]
    same = max(
        (sum(np.allclose(a.inertia, b.inertia, rtol=1e-6) for b in round_ones) for a in round_ones),
        default=0,
    )
    if same < max(FEWEST, ALIKE * len(heavy)):
        return ""
    masses = {f"{link.mass:.3g}" for link in round_ones}
    what = f"{same} links of {masses.pop()} kg" if len(masses) == 1 else f"{same} links"
    return (
        f"link masses look like placeholders ({what} with one and the same inertia): energies mean"
        " nothing; give the links their own"
    )


def _is_ball(inertia: Sequence[float]) -> bool:
    """Whether a body turns equally hard about all axes."""
    xx, yy, zz, *products = inertia
    return xx > 0.0 and xx == yy == zz and not any(products)


def check(robot: RobotDescription) -> list[Problem]:
    """What is suspicious about a robot that can be computed with: inertias of no body."""
    links = enumerate(robot.links)
    doubts = [(i, link.name, inertia_doubt(link.inertia)) for i, link in links]
    return [Problem("link", i, name, doubt) for i, name, doubt in doubts if doubt]


def zero_limits(robot: RobotDescription) -> list[str]:
    """One sentence for each kind of limit that is 0, which means "not known" in many files."""
    moving = [j for j in robot.joints if j.kind != "fixed" and j.mimic is None]
    zeros = {
        f"limits of {kind}": [j.name for j in moving if getattr(j.limits, kind) == 0.0]
        for kind in ("velocity", "torque")
    }
    zeros["ranges"] = [j.name for j in moving if has_unset_range(j)]
    otherwise = (
        "no motion can be planned unless they are set among the task's limits (armature init writes"
        " them)"
    )
    return [
        f"{what} that are 0: {several(names, 12)}; {otherwise}"
        for what, names in zeros.items()
        if names
    ]


def has_unset_range(joint: Joint) -> bool:
    """Whether a joint that turns has the range 0 … 0, which exporters write where none is known."""
    return joint.kind == "revolute" and joint.limits.lower == joint.limits.upper == 0.0

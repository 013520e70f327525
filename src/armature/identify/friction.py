"""What moves with an axis besides rigid bodies, as features that enter its torque linearly.

rotor          J q̈
viscous        c q̇
offset         constant
coulomb        f tanh(q̇/w), as narrow as the noise of the speeds allows: a step
hysteresis     Σ f z_δ: Dahl's elements, z' = (q̇/δ)(1 − z sign q̇): friction turns over within the
displacement δ and, at
               standstill, stays what it was (a Maxwell-slip model)
speeds         Σ f tanh(q̇/w) with wider w: friction that is not linear in speed
load           μ |τ| z: friction in proportion to the torque carried
spring         sin, cos of the joint's angle and of twice it: counterbalances; only of joints that
are named"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

PRESLIDING = (3e-4, 1.5e-3, 1e-2)  # rad or m, of the elements
WIDTHS = (0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)  # of the typical speed
NARROW = 1e-3
ABOVE = 3.0  # times the noise of the speeds: narrower steps would be drawn from it
GROUPS = ("rotor", "viscous", "offset", "coulomb", "hysteresis", "speeds", "load", "spring")
ALWAYS = ("rotor", "viscous", "offset", "coulomb")
CHOSEN = ("hysteresis", "speeds", "load")  # taken where they predict better
DRY = ("coulomb", "hysteresis", "speeds")


@dataclass(frozen=True)
class Feature:
    """One column of an axis. group: of GROUPS.  scale: width (rad/s or m/s), presliding distance
    (rad or m) or number of the harmonic."""

    group: str
    scale: float = 0.0

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.group if not self.scale else f"{self.group} {self.scale:.3g}"


def features(groups: tuple[str, ...], speed: float, noise: float) -> tuple[Feature, ...]:
    """The columns of an axis with a typical speed and noise of its speeds (rad/s or m/s)."""
    step = max(NARROW * speed, ABOVE * noise)
    scales = {
        "coulomb": (step,),
        "hysteresis": PRESLIDING,
        "speeds": tuple(w * speed for w in WIDTHS if w * speed > 2 * step),
        "spring": (1.0, -1.0, 2.0, -2.0),  # negative: the cosine
    }
    return tuple(Feature(g, x) for g in GROUPS if g in groups for x in scales.get(g, (0.0,)))


def column(
    feature: Feature, q: np.ndarray, v: np.ndarray, a: np.ndarray, load: np.ndarray
) -> np.ndarray:
    """(N,) the feature along a motion of the axis; load: torque that it carries, N·m."""
    group, scale = feature.group, feature.scale
    if group == "rotor":
        return a
    if group == "viscous":
        return v
    if group == "offset":
        return np.ones_like(v)
    if group in ("coulomb", "speeds"):
        return np.tanh(v / scale)
    if group == "hysteresis":
        return dahl(q, scale)
    if group == "load":
        return np.abs(load) * dahl(q, PRESLIDING[0])
    return np.sin(scale * q) if scale > 0 else np.cos(scale * q)


def dahl(q: np.ndarray, distance: float) -> np.ndarray:
    """z (N,) of Dahl's element along positions q (N,): z → sign q̇ over `distance`; 0 at first.

    Between two reversals z = s + (z₀ − s) exp(−path/distance), s the direction.
    """
    steps = np.diff(q)
    sign = np.sign(steps)
    turns = np.flatnonzero(np.diff(sign)) + 1
    z = np.zeros_like(q)
    last = 0.0
    for first, end in zip([0, *turns], [*turns, len(steps)]):
        path = np.cumsum(np.abs(steps[first:end]))
        s = sign[first] if end > first else 0.0
        z[first + 1 : end + 1] = s + (last - s) * np.exp(-path / distance) if s else last
        last = float(z[end])
    return z

"""What is known before the recordings: the description's inertias and friction, with how far they
are trusted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armature.dynamics.recursion.regressor import INERTIAL
from armature.identify import pseudo_inertia
from armature.identify.layout import Layout
from armature.identify.regressor import prior_parameters
from armature.identify.rows import Data

WIDE = 3.0  # standard deviation of friction and rotors: times what would explain all of the torque
NARROW = 0.3  # the same for offsets (gravity is no offset), hysteresis, wider speeds, springs
NARROWED = ("offset", "hysteresis", "speeds", "spring", "load")
LOAD = 0.2  # standard deviation of load-dependent friction μ
UNSEEN = 1e-3  # of the largest of its group: a feature below has never moved
LEAST = 0.01  # of a signal's r.m.s.: its spread, where it hardly changes


@dataclass(frozen=True, eq=False)
class Prior:
    """φ₀ and its precision for a trust of 1: Λ(ρ) = inertial/ρ² + rest.

    mean: (p,).  inertial, rest: (p, p).  gains: (n,) N·m/A.  gain_spread: (n,) of log gains, 0
    where they are known.
    """

    mean: np.ndarray
    inertial: np.ndarray
    rest: np.ndarray
    gains: np.ndarray
    gain_spread: np.ndarray

    def precision(self, trust: float) -> np.ndarray:
        """(p, p). trust: ρ, relative standard deviation of the description's inertias."""
        return self.inertial / trust**2 + self.rest


def lifted_parameters(layout: Layout) -> np.ndarray:
    """(10 nb,) the description's inertias, made strictly consistent."""
    own = prior_parameters(layout.robot).reshape(-1, INERTIAL)
    return np.concatenate([pseudo_inertia.lifted(x, layout.robot.mass) for x in own])


def prior(layout: Layout, data: Data, gains: np.ndarray, gain_spread: np.ndarray) -> Prior:
    """The prior of a robot, scaled by what the recordings measured."""
    p, inertial = layout.size, layout.inertial
    mean, tight, rest = np.zeros(p), np.zeros((p, p)), np.zeros((p, p))
    mean[:inertial] = lifted_parameters(layout)
    for k in range(0, inertial, INERTIAL):
        own = slice(k, k + INERTIAL)
        tight[own, own] = pseudo_inertia.metric(mean[own])
    seen = _sizes(layout, data)
    largest = {g: max(x for x, group in seen.values() if group == g) for _, g in seen.values()}
    for joint, rows in enumerate(data.joints):
        size = float(np.sqrt(np.mean(rows.y**2)))
        spread = max(max(float(np.std(rows.y)), LEAST * size) * gains[joint], 1e-9)
        for axis in np.flatnonzero(layout.axes[:, joint]):
            for k in range(len(layout.columns[axis])):
                place = int(layout.starts[axis]) + k
                size, group = seen[joint, place]
                if size < UNSEEN * largest[group]:  # nothing is known: as if it moved like others
                    size = largest[group]
                times = NARROW if group in NARROWED else WIDE
                rest[place, place] += (size / (times * spread)) ** 2 + 1e-12
                if group == "load":
                    rest[place, place] += 1.0 / LOAD**2
    _own_friction(layout, mean)
    return Prior(mean, tight, rest, gains, gain_spread)


def _sizes(layout: Layout, data: Data) -> dict[tuple[int, int], tuple[float, str]]:
    """(joint, place in φ) → r.m.s. of an axis's feature in the joint's rows, and its group."""
    found = {}
    for joint, rows in enumerate(data.joints):
        sizes = np.sqrt(np.mean(rows.X**2, axis=0))
        for axis in np.flatnonzero(layout.axes[:, joint]):
            for k, feature in enumerate(layout.columns[axis]):
                place = int(layout.starts[axis]) + k
                size = float(sizes[np.searchsorted(rows.columns, place)])
                found[joint, place] = (size, feature.group)
    return found


def _own_friction(layout: Layout, mean: np.ndarray) -> None:
    """What the description says of friction and rotors, put into φ₀."""
    for k, body in enumerate(b for b in layout.robot.tree.bodies if not b.mimic):
        friction = layout.robot.joint(body.name).friction
        values = {
            "viscous": friction.viscous,
            "coulomb": friction.coulomb,
            "rotor": body.rotor * body.ratio**2,
        }
        for group, value in values.items():
            mean[layout.of(k, group)] = value

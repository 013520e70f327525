"""The dynamic programme to convergence: steps are doubled until its answer stands still, which is
then extrapolated to infinitely many.

p̈ is constant in a step, so that a profile of N steps costs C N⁻ʳ more than the best motion, r = 2
where the cost is smooth and 1 where a
supply takes nothing back: three of them tell C and r. The energy is that of the profile's motion
along the path itself (`energy_along`), as for the answers of the other solvers, not the programme's
own sum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.optimize.path.along_path import (
    Curve,
    energy_along,
    knots_along,
    losses_along,
    spread,
    steps_along,
)
from armature.optimize.path.fastest import fastest, straight_rows
from armature.optimize.path.path import path_model
from armature.optimize.path.phase_plane import Profile, best_profile
from armature.optimize.transcription.instant import Instants, instants

FIRST, FINEST = 60, 960  # steps
STANDS = 1e-3  # of the losses: a change by a doubling that is none
SMOOTH, RATIOS = (
    0.25,
    (0.1, 0.7),
)  # of the changes by two doublings: for a smooth cost, and what is believed
BEYOND = 1.5  # how far beyond the straight limits speeds are looked at
QUICKEST = 12.0  # highest speed looked at, times the mean one


@dataclass(frozen=True, eq=False)
class Programme:
    """profile: on the finest steps.  energy: of its motion, J.  losses: J.
    bound: no motion of the duration asked for takes less, as far as these steps tell, J: energy + λ
    (its duration − the one asked for).
    change: of the bound by the last doubling, J.  ratio: of the last two changes.  limit: the bound
    for infinitely many steps, J.
    stands: whether the last doubling changed next to nothing, or not the limit."""

    profile: Profile
    energy: float
    losses: float
    bound: float
    change: float
    ratio: float
    stands: bool

    @property
    def limit(self) -> float:
        """Σ of all changes to come: change · (r + r² + …), J."""
        return self.bound + (
            self.change * self.ratio / (1.0 - self.ratio) if np.isfinite(self.change) else 0.0
        )


def programme(
    curve: Curve, duration: float, supply: Any = None, ends: tuple[float, float] = (0.0, 0.0)
) -> Programme | None:
    """The least energy along a path without corners at a duration, s, by dynamic programming; None
    where no profile is as quick.

    The duration is met by a price: where the hull of energy against time has a gap there,
    `profile.duration` is the nearer side of it, and
    `energy` that of this side."""
    at, last, steps = instants(curve.robot, supply), None, FIRST
    while True:
        profile = refined(curve, at, duration, steps, ends, None if last is None else last.profile)
        if profile is None or not np.isfinite(profile.price):
            return None
        found = counted(curve, at, duration, profile, last)
        if found.stands or 2 * steps > FINEST:
            return found
        last, steps = found, 2 * steps


def counted(
    curve: Curve, at: Instants, duration: float, profile: Profile, last: Programme | None
) -> Programme:
    """A profile with its energy, against the one on half the steps."""
    losses = losses_along(at, curve, profile)
    energy = energy_along(at, curve, profile)
    bound = energy + profile.price * (profile.duration - duration)
    if last is None:
        return Programme(profile, energy, losses, bound, np.nan, SMOOTH, False)
    change = bound - last.bound
    ratio = (
        float(np.clip(change / last.change, *RATIOS))
        if np.isfinite(last.change) and last.change
        else SMOOTH
    )
    found = Programme(profile, energy, losses, bound, change, ratio, False)
    return replace(
        found, stands=bool(min(abs(change), abs(found.limit - last.limit)) <= STANDS * abs(losses))
    )


def refined(
    curve: Curve,
    at: Instants,
    duration: float,
    steps: int,
    ends: tuple[float, float],
    near: Profile | None,
) -> Profile | None:
    """The best profile on so many steps, near one on fewer."""
    step, cap = path_model(at).step, QUICKEST / duration
    density = None if near is None else density_of(curve, near)
    cut = steps_along(curve, knots_along(curve, steps, density), ends)
    quick = fastest(cut, straight_rows(step, cut, BEYOND), cap)
    top = np.full(cut.N + 1, cap) if quick.blocked >= 0 else np.maximum(quick.s, 1e-4 * cap)
    return best_profile(step, cut, top, duration, near=near)


def density_of(curve: Curve, profile: Profile) -> np.ndarray:
    """How many knots belong where, on equal parts of the path: by the profile's time, the way of
    the joints, and what p̈ costs."""
    fine = np.linspace(0.0, 1.0, 4001)
    t = np.interp(fine, profile.steps.p, np.concatenate([[0.0], np.cumsum(profile.times)]))
    return spread(np.maximum(np.diff(t), 1e-12), curve, (fine[1:] + fine[:-1]) / 2)

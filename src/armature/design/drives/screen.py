"""Screening of thousands of pairs at once, by bounds that never drop a possible pair, and the least
that a pair costs whatever the motion. Names as in duty.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armature.design.drives.duty import Duty
from armature.design.drives.mounting import drive_mass
from armature.design.drives.pairs import Pairs
from armature.drive.brake import Brake
from armature.drive.friction import Friction


@dataclass(frozen=True)
class Screened:
    """What the bounds left of a joint's pairs. dropped: {reason: how many}."""

    pairs: Pairs
    dropped: dict[str, int]


def screen(
    pairs: Sequence[Pairs],
    duties: Sequence[Duty],
    frictions: Sequence[Friction],
    hold: bool,
) -> list[Screened]:
    """The pairs that may do their duties, joint by joint. frictions: of the joints.  hold: the
    motors hold the arm at starts and goals by their continuous current, where there is no brake."""
    # masses beside the present drives', of the lightest and heaviest pair of every joint
    present = np.array([drive_mass(p.template) for p in pairs])
    lightest = np.array([p.mass.min() for p in pairs]) - present
    heaviest = np.array([p.mass.max() for p in pairs]) - present
    found = []
    for own, duty, friction in zip(pairs, duties, frictions):
        brake = own.template.brake if own.template is not None else None
        weights = duty.least_hold(lightest, heaviest)
        tests = {
            "motor or gear turns too slowly": fast_enough(own, duty),
            "voltage too low for the speed": volts_enough(own, duty),
            "cannot hold the arm": holds(own, weights, friction, hold, brake),
        }
        kept, dropped = np.ones(len(own), bool), {}
        for reason, passed in tests.items():
            dropped[reason] = int(np.sum(kept & ~passed))
            kept &= passed
        found.append(Screened(own.chosen(kept), dropped))
    return found


def fast_enough(pairs: Pairs, duty: Duty) -> np.ndarray:
    """N V ≤ ω_max, V the speed that the joint reaches in every motion (D2)."""
    return pairs.ratio * duty.speed <= pairs.speed * (1 + 1e-12)


def volts_enough(pairs: Pairs, duty: Duty) -> np.ndarray:
    """|R i + k_e N V| ≤ U with |i| ≤ i_peak gives k_e N V ≤ U + R i_peak: a motor that brakes may
    turn faster than its voltage drives it. Without a limit of the current nothing is certain.

    The instant that (D2) speaks of exists in every motion."""
    braking = pairs.resistance * np.minimum(
        pairs.peak_current, np.sqrt(pairs.peak_heat / pairs.resistance)
    )
    return pairs.back_emf * pairs.ratio * duty.speed <= (pairs.voltage + braking) * (1 + 1e-12)


def holds(
    pairs: Pairs, weights: np.ndarray, friction: Friction, hold: bool, brake: Brake | None
) -> np.ndarray:
    """(D3): η_b max(0, w − f)/N − iron ≤ K i_cont, and w − f within the gear's torque; w (K,) least
    weight over all masses of the other drives, f what friction holds."""
    passed = np.ones(len(pairs), bool)
    if not hold:
        return passed
    for w in weights:
        own = 0.0 if pairs.template is None else pairs.template.friction.holding(w)
        carried = max(0.0, w - friction.holding(w) - own)
        passed &= carried <= pairs.gear_torque
        if brake is None or not brake.can_hold(w):
            shaft = np.maximum(0.0, pairs.holding_efficiency * carried / pairs.ratio - pairs.iron)
            passed &= shaft <= pairs.constant * pairs.continuous_current
    return passed


def least_losses(pairs: Pairs, duty: Duty) -> np.ndarray:
    """(pairs,) J: what iron and bearings of the motor lose in every motion, by (D1), and what its
    amplifier takes: Σ over the tasks of iron N S + viscous N² S²/T + standby T."""
    found = np.zeros(len(pairs))
    standby = 0.0 if pairs.template is None else pairs.template.amplifier.standby
    for S, T in duty.ways:
        found += pairs.iron * pairs.ratio * S + pairs.viscous * pairs.ratio**2 * S * S / T
        found += standby * T
    return found


def least_energy(pairs: Pairs, duty: Duty) -> np.ndarray:
    """(pairs,) J: the same, beside what every choice costs (`duty.certain_energy`).

    The supply gives Σ∫P dt = ΔV + friction + gears + iron + copper + amplifiers from rest to rest
    (energy ledger), of which all terms but ΔV are ≥ 0; a supply that burns what comes back gives
    more. What the drives' own masses give by ending lower is not counted (`Evaluations.counted`),
    so that ΔV is at least that of the robot with its present drives."""
    return least_losses(pairs, duty)

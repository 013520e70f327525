"""Energy-time curves of 50 durations on all arms, against the median of single plans at durations of the same curve."""

from __future__ import annotations

import time
import warnings

import numpy as np

import armature as arm
from benchmarks.arms import arms, configuration
from benchmarks.measure import table

SUPPLIES = ("regenerative", "non-regenerative")
EVERY = 7  # of the durations is planned alone
MOST = 20.0  # plans' time that a curve may take


def ratio(robot: arm.Robot, ends: tuple[np.ndarray, np.ndarray], supply: str) -> tuple[float, float, float]:
    """(median plan, s; curve, s; their ratio) of one move, once compiled."""
    durations = arm.energy_time_curve(robot, arm.Move(*ends), supply=supply).durations
    plans = [seconds(lambda T=T: arm.minimize_energy(robot, arm.Move(*ends, float(T)), supply)) for T in durations[EVERY // 2 :: EVERY]]
    curve = seconds(lambda: arm.energy_time_curve(robot, arm.Move(*ends), supply=supply))
    return float(np.median(plans)), curve, curve / float(np.median(plans))


def seconds(function) -> float:
    """Of one call, by the clock."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def run() -> str:
    """Markdown."""
    rows, ratios = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, one in arms().items():
            rng = np.random.default_rng(sum(map(ord, name)))
            robot = one.loaded(float(rng.uniform(0.0, one.payload)))
            ends = configuration(one.robot, rng), configuration(one.robot, rng)
            found = [ratio(robot, ends, supply) for supply in SUPPLIES]
            ratios += [r for *_, r in found]
            rows.append([name, *(f"{1e3 * plan:.0f} ms, {curve:.2f} s: {r:.0f}×" for plan, curve, r in found)])
    kept = sum(r <= MOST for r in ratios)
    words = f"One random move and payload of each arm. {kept} of {len(ratios)} curves took at most {MOST:.0f} plans' time."
    header = ["arm", *(f"{supply}: plan, curve, ratio" for supply in SUPPLIES)]
    return f"## Energy-time curves of 50 durations, once compiled\n\n{words}\n\n" + table(header, rows)

"""How long plans of the built-in six-axis arm take, 100 knots, all limits: single ones, curves of 50 durations, impossible tasks."""

from __future__ import annotations

import warnings

import numpy as np

import armature as arm
from benchmarks.curves import SUPPLIES, ratio
from benchmarks.measure import table, timed

MOVES, CURVES, DURATION = 16, 4, 1.2


def row(robot: arm.Robot, supply: str) -> list[str]:
    """Median and worst of plans, curves as multiples of plans at their own durations and in 1.2 s, impossible tasks, for random moves."""
    rng = np.random.default_rng(0)
    ends = [(rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, robot.n)) for _ in range(MOVES)]
    arm.minimize_energy(robot, arm.Move(*ends[0], DURATION), supply)  # compiles
    plans = [timed(lambda a=a, b=b: arm.minimize_energy(robot, arm.Move(a, b, DURATION), supply), 3, 0.0).median for a, b in ends]
    curves, told = [], []
    for (a, b), one in list(zip(ends, plans))[:CURVES]:
        _, curve, times = ratio(robot, (a, b), supply)
        curves.append((times, curve / one))
        told.append(timed(lambda a=a, b=b: str(arm.minimize_energy(robot, arm.Move(a, b, 0.3), supply).diagnosis), 1, 0.0).median)
    times = [f"{1e3 * np.median(plans):.0f} ms ({1e3 * min(plans):.0f} to {1e3 * max(plans):.0f})"]
    times += [
        ", ".join(f"{own:.0f}× ({quick:.0f}×)" for own, quick in sorted(curves)),
        f"{np.median(told):.2f} s (at most {max(told):.2f})",
    ]
    return [supply, *times]


def run() -> str:
    """Markdown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [row(arm.library("six_axis"), supply) for supply in SUPPLIES]
    header = [
        "supply",
        f"plan, {MOVES} random moves",
        f"curve of 50 durations, of the median plan at its durations (of that in {DURATION} s)",
        "impossible task told in",
    ]
    return "## Plans of the built-in six-axis arm, 100 knots, all limits, once compiled\n\n" + table(header, rows)

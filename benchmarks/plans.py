"""How long plans of the built-in six-axis arm take, 100 knots, all limits: single ones, curves of 50 durations, impossible tasks."""

from __future__ import annotations

import warnings

import numpy as np

import armature as arm
from benchmarks.curves import SUPPLIES, times
from benchmarks.measure import table, timed

MOVES, CURVES, DURATION = 16, 4, 1.2


def row(robot: arm.Robot, supply: str) -> list[str]:
    """Median and range of plans, curves as multiples of plans at their own durations, impossible tasks, for random moves."""
    rng = np.random.default_rng(0)
    ends = [(rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, robot.n)) for _ in range(MOVES)]
    arm.minimize_energy(robot, arm.Move(*ends[0], DURATION), supply)  # compiles
    plans = [timed(lambda a=a, b=b: arm.minimize_energy(robot, arm.Move(a, b, DURATION), supply), 3, 0.0).median for a, b in ends]
    curves, told = [], []
    for a, b in ends[:CURVES]:
        curves.append(times(robot, (a, b), supply))
        told.append(timed(lambda a=a, b=b: str(arm.minimize_energy(robot, arm.Move(a, b, 0.3), supply).diagnosis), 1, 0.0).median)
    return [
        supply,
        f"{1e3 * np.median(plans):.0f} ms ({1e3 * min(plans):.0f} to {1e3 * max(plans):.0f})",
        ", ".join(f"{c.curve / c.median:.0f} / {c.curve / c.mean:.0f}×" for c in curves),
        f"{np.median(told):.2f} s (at most {max(told):.2f})",
    ]


def run() -> str:
    """Markdown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [row(arm.library("six_axis"), supply) for supply in SUPPLIES]
    header = [
        "supply",
        f"plan, {MOVES} random moves",
        "curve of 50 durations, of the median / mean plan at its durations",
        "impossible task told in",
    ]
    return "## Plans of the built-in six-axis arm, 100 knots, all limits, once compiled\n\n" + table(header, rows)

"""How long plans of the built-in six-axis arm take, 100 knots, all limits: single ones, curves of 50 durations, impossible tasks."""

from __future__ import annotations

import time
import warnings

import numpy as np

import armature as arm
from benchmarks.measure import table, timed

SUPPLIES = ("regenerative", "non-regenerative")
MOVES, CURVES, DURATION = 16, 4, 1.2


def row(robot: arm.Robot, supply: str) -> list[str]:
    """Median and worst of plans, of curves as multiples of the plan, and of impossible tasks, for random moves."""
    rng = np.random.default_rng(0)
    ends = [(rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, robot.n)) for _ in range(MOVES)]
    arm.minimize_energy(robot, arm.Move(*ends[0], DURATION), supply)  # compiles
    plans = [timed(lambda a=a, b=b: arm.minimize_energy(robot, arm.Move(a, b, DURATION), supply), 3, 0.0).median for a, b in ends]
    arm.energy_time_curve(robot, arm.Move(*ends[0]), supply=supply)
    curves, told = [], []
    for (a, b), one in list(zip(ends, plans))[:CURVES]:
        begin = time.perf_counter()
        arm.energy_time_curve(robot, arm.Move(a, b), supply=supply)
        curves.append((time.perf_counter() - begin) / one)
        told.append(timed(lambda a=a, b=b: str(arm.minimize_energy(robot, arm.Move(a, b, 0.3), supply).diagnosis), 1, 0.0).median)
    times = [f"{1e3 * np.median(plans):.0f} ms ({1e3 * min(plans):.0f} to {1e3 * max(plans):.0f})"]
    times += [", ".join(f"{ratio:.0f}×" for ratio in sorted(curves)), f"{np.median(told):.2f} s (at most {max(told):.2f})"]
    return [supply, *times]


def run() -> str:
    """Markdown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [row(arm.library("six_axis"), supply) for supply in SUPPLIES]
    header = ["supply", f"plan, {MOVES} random moves", "curve of 50 durations, of one plan's time", "impossible task told in"]
    return "## Plans of the built-in six-axis arm, 100 knots, all limits, once compiled\n\n" + table(header, rows)

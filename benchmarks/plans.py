"""How long plans take, 100 knots, all limits: of real arms with catalogue drives, and of a built-in
arm.

Of the built-in one also curves of 50 durations and impossible tasks.
"""

from __future__ import annotations

import time
import warnings

import numpy as np

import armature as arm
from armature.robot.model import Robot
from benchmarks.arms import arms, configuration
from benchmarks.curves import SUPPLIES, times
from benchmarks.measure import table, timed

MOVES, CURVES, DURATION = 16, 4, 1.2
REAL, REAL_DURATION = ("ur5", "panda"), 2.0


def row(robot: arm.Robot, supply: str) -> list[str]:
    """Median and range of plans, curves as multiples of plans at their own durations, impossible
    tasks, for random moves."""
    rng = np.random.default_rng(0)
    ends = [(rng.uniform(-1, 1, robot.n), rng.uniform(-1, 1, robot.n)) for _ in range(MOVES)]
    arm.minimize_energy(robot, arm.Move(*ends[0], DURATION), supply)  # compiles
    plans = [
        timed(
            lambda a=a, b=b: arm.minimize_energy(robot, arm.Move(a, b, DURATION), supply), 3, 0.0
        ).median
        for a, b in ends
    ]
    curves, told = [], []
    for a, b in ends[:CURVES]:
        curves.append(times(robot, (a, b), supply))
        told.append(
            timed(
                lambda a=a, b=b: str(
                    arm.minimize_energy(robot, arm.Move(a, b, 0.3), supply).diagnosis
                ),
                1,
                0.0,
            ).median
        )
    return [
        supply,
        f"{1e3 * np.median(plans):.0f} ms ({1e3 * min(plans):.0f} to {1e3 * max(plans):.0f})",
        ", ".join(f"{c.curve / c.median:.0f} / {c.curve / c.mean:.0f}×" for c in curves),
        f"{np.median(told):.2f} s (at most {max(told):.2f})",
    ]


def real_moves(robot: Robot, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Moves of up to 1 rad (or m) a joint between configurations inside the joints' ranges."""
    rng = np.random.default_rng(1)
    ends = ((configuration(robot, rng), configuration(robot, rng)) for _ in range(count))
    return [(a, a + np.clip(b - a, -1.0, 1.0)) for a, b in ends]


def real_row(name: str, supply: str) -> list[str]:
    """Certified plans of a real arm with half its payload, and the CPU time that they take."""
    chosen = arms()[name]
    robot = chosen.loaded(0.5 * chosen.payload)
    moves = [arm.Move(a, b, REAL_DURATION) for a, b in real_moves(robot, MOVES)]
    arm.minimize_energy(robot, moves[0], supply)  # compiles
    seconds, certified = [], 0
    for move in moves:
        start = time.process_time()
        plan = arm.minimize_energy(robot, move, supply)
        seconds.append(time.process_time() - start)
        certified += plan.ok and plan.certificate.ok
    low, middle, high = (1e3 * np.quantile(seconds, part) for part in (0.0, 0.5, 1.0))
    return [name, supply, f"{certified} of {MOVES}", f"{middle:.0f} ms ({low:.0f} to {high:.0f})"]


def run_real() -> str:
    """Markdown."""
    rows = [real_row(name, supply) for name in REAL for supply in SUPPLIES]
    header = ["arm", "supply", "certified", f"plan, CPU time, {MOVES} random moves"]
    title = f"## Plans of real arms with catalogue drives, half their payload, {REAL_DURATION} s"
    return f"{title}, once compiled\n\n" + table(header, rows)


def run() -> str:
    """Markdown."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run_real() + "\n\n" + run_built_in()


def run_built_in() -> str:
    """Markdown."""
    rows = [row(arm.library("six_axis"), supply) for supply in SUPPLIES]
    header = [
        "supply",
        f"plan, {MOVES} random moves",
        "curve of 50 durations, of the median / mean plan at its durations",
        "impossible task told in",
    ]
    return (
        "## Plans of the built-in six-axis arm, 100 knots, all limits, once compiled\n\n"
        + table(header, rows)
    )

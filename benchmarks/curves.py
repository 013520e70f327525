"""Energy-time curves of 50 durations on all arms, against single plans at durations of the same
curve: their median, and their mean.

The mean tells what the points would cost one by one. Both are told: where some plans are searched
thoroughly, they differ much."""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np

import armature as arm
from benchmarks.arms import arms, configuration
from benchmarks.measure import table

SUPPLIES = ("regenerative", "non-regenerative")
EVERY = 7  # of the durations is planned alone
MOST = 20.0  # plans' time that a curve may take


class Times(NamedTuple):
    """Of one move, s: the median and the mean of its plans, and its curve."""

    median: float
    mean: float
    curve: float

    def __str__(self) -> str:
        plans = f"{1e3 * self.median:.0f} / {1e3 * self.mean:.0f} ms"
        return (
            f"{plans}, {self.curve:.2f} s: {self.curve / self.median:.0f} /"
            f" {self.curve / self.mean:.0f}×"
        )


def times(robot: arm.Robot, ends: tuple[np.ndarray, np.ndarray], supply: str) -> Times:
    """Of one move, once compiled."""
    durations = arm.energy_time_curve(robot, arm.Move(*ends), supply=supply).durations
    plans = [
        seconds(lambda T=T: arm.minimize_energy(robot, arm.Move(*ends, float(T)), supply))
        for T in durations[EVERY // 2 :: EVERY]
    ]
    curve = seconds(lambda: arm.energy_time_curve(robot, arm.Move(*ends), supply=supply))
    return Times(float(np.median(plans)), float(np.mean(plans)), curve)


def seconds(function) -> float:
    """Of one call, by the clock."""
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin


def run() -> str:
    """Markdown."""
    rows, all_times = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, one in arms().items():
            rng = np.random.default_rng(sum(map(ord, name)))
            robot = one.loaded(float(rng.uniform(0.0, one.payload)))
            ends = configuration(one.robot, rng), configuration(one.robot, rng)
            found = [times(robot, ends, supply) for supply in SUPPLIES]
            all_times += found
            rows.append([name, *map(str, found)])
    median, mean = (
        sum(t.curve <= MOST * getattr(t, name) for t in all_times) for name in ("median", "mean")
    )
    words = (
        f"One random move and payload of each arm. Of {len(all_times)} curves {median} took at most"
        f" {MOST:.0f} times the median plan at durations of the same curve, {mean} at most"
        f" {MOST:.0f} times the mean plan."
    )
    header = ["arm", *(f"{supply}: plan (median / mean), curve: ratios" for supply in SUPPLIES)]
    return f"## Energy-time curves of 50 durations, once compiled\n\n{words}\n\n" + table(
        header, rows
    )

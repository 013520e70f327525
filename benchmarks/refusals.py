"""Impossible tasks on all arms: how long it takes to tell why, and whether the duration told can be
planned.

Of one random move each: too short, with a payload too heavy to be held, and with a start or a goal
out of range."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

import armature as arm
from armature.optimize.diagnosis.holding import at_rest, holding
from benchmarks.arms import Arm, arms
from benchmarks.curves import SUPPLIES
from benchmarks.measure import table
from benchmarks.moves import standing
from benchmarks.others import others

SHORT = 0.5, 0.9, 0.97  # of the least time
HEAVY = 1.1, 2.0  # of what can be held at the goal
BEYOND = 0.2  # rad or m, out of range


class Refusal(NamedTuple):
    """What became of one impossible task: CPU seconds; right: whether the duration told can be
    planned, None where none was told."""

    kind: str
    seconds: float
    refused: bool
    right: bool | None


def impossible(
    one: Arm, robot: arm.Robot, start: np.ndarray, goal: np.ndarray, least: float
) -> Iterator[tuple[str, arm.Robot, arm.Move]]:
    """Tasks that cannot be done, by what is wrong with them. least: the least time of the move,
    s."""
    for part in SHORT:
        yield "short", robot, arm.Move(start, goal, part * least)
    for part in HEAVY:
        yield "heavy", one.loaded(part * heaviest(one, goal)), arm.Move(start, goal, 2 * least)
    uppers = np.array([robot.joint(name).limits.upper for name in robot.joint_names])
    if np.isfinite(uppers).any():
        j = int(np.flatnonzero(np.isfinite(uppers))[0])
        outside = np.where(np.arange(robot.n) == j, uppers + BEYOND, goal)
        yield "out of range", robot, arm.Move(start, outside, 2 * least)
        yield "out of range", robot, arm.Move(outside, goal, 2 * least)


def heaviest(one: Arm, q: np.ndarray) -> float:
    """The payload that can just be held there, kg, by halving."""
    held = lambda mass: all(
        load.value <= load.bound for load in holding(one.loaded(mass), at_rest(one.loaded(mass), q))
    )
    low, high = 0.0, 1.0
    while held(high):
        low, high = high, 2 * high
    for _ in range(30):
        low, high = (middle, high) if held(middle := (low + high) / 2) else (low, middle)
    return high


def refusals(one: Arm, seed: int) -> list[Refusal]:
    """Of one random move and payload of an arm, once compiled."""
    rng = np.random.default_rng(seed)
    robot, supply = (
        one.loaded(float(rng.uniform(0.0, one.payload))),
        SUPPLIES[int(rng.integers(len(SUPPLIES)))],
    )
    start, goal = standing(robot, rng), standing(robot, rng)
    least = arm.minimize_time(robot, arm.Move(start, goal)).duration
    for part in (1.5, 0.6):  # compiles
        arm.minimize_energy(robot, arm.Move(start, goal, part * least), supply)
    found = []
    for kind, loaded, move in impossible(one, robot, start, goal, least):
        begin = time.process_time()
        plan = arm.minimize_energy(loaded, move, supply)
        told = plan.diagnosis.shortest_duration if plan.diagnosis else None
        seconds, right = time.process_time() - begin, None
        if told is not None and kind == "short":
            again = arm.minimize_energy(loaded, arm.Move(start, goal, told), supply)
            right = again.ok and again.certificate.ok
        found.append(Refusal(kind, seconds, not plan.ok, right))
    return found


def run() -> str:
    """Markdown."""
    rows, everything = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, one in {**arms(), **others()}.items():
            found = refusals(one, sum(map(ord, name)))
            everything += found
            slowest = {
                kind: f"{max(r.seconds for r in found if r.kind == kind):.2f} s"
                for kind in dict.fromkeys(r.kind for r in found)
            }
            checked = [r.right for r in found if r.right is not None]
            rows.append([name, *slowest.values(), f"{sum(checked)} of {len(checked)}"])
    checked, seconds = (
        [r.right for r in everything if r.right is not None],
        [r.seconds for r in everything],
    )
    words = (
        f"One random move and payload of each arm: {', '.join(f'{part:g}' for part in SHORT)} of"
        f" the least time, {' and '.join(f'{part:g}' for part in HEAVY)} times the payload that can"
        f" be held, start and goal out of range. Of {len(everything)} impossible tasks"
        f" {sum(r.refused for r in everything)} were refused, in {max(seconds):.2f} s at most and"
        f" {np.median(seconds):.2f} s in the median; of {len(checked)} durations told"
        f" {sum(checked)} were planned and certified then."
    )
    header = [
        "arm",
        "too short, slowest",
        "too heavy, slowest",
        "out of range, slowest",
        "durations told that can be planned",
    ]
    return f"## Impossible tasks, once compiled (CPU time)\n\n{words}\n\n" + table(header, rows)

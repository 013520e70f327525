"""Random least-energy moves over the built-in arms: how many are certified, how long they take, and what the others were told."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from armature.optimize.least_energy import minimize_energy
from armature.optimize.min_time import shortest
from armature.optimize.move import MoveProblem
from armature.optimize.solution import Solution
from armature.optimize.task import Move
from armature.robot.library import library
from armature.robot.model import Robot

ARMS = {"burgevin": 3.0, "six_axis": 3.0, "seven_axis": 4.0, "scara": 2.0, "planar2": 1.0}  # greatest payload, kg
PAYLOADS = 4  # different ones for each arm; every one is another mechanism, compiled once


class Trial(NamedTuple):
    """One move: the arm, its duration as a multiple of the least time, the plan, whether it is certified, and seconds."""

    arm: str
    factor: float
    plan: Solution
    certified: bool
    seconds: float


def random_configuration(robot: Robot, rng: np.random.Generator) -> np.ndarray:
    """Inside the joints' ranges, at most ±2.5 rad for turning joints."""
    limits = [robot.joint(name).limits for name in robot.joint_names]
    low = np.array([max(x.lower, -2.5) for x in limits])
    high = np.array([min(x.upper, 2.5) for x in limits])
    return rng.uniform(low, high)


def held(robot: Robot, q: np.ndarray) -> bool:
    """Whether the drives hold the arm there with something to spare."""
    from armature.optimize.diagnose import at_rest, holding

    return all(load.value <= 0.9 * load.bound for load in holding(robot, at_rest(robot, q)))


def trials(count: int, seed: int = 0, payloads: int = PAYLOADS) -> Iterator[Trial]:
    """Random moves, one arm after the other. payloads: different ones for each arm."""
    rng = np.random.default_rng(seed)
    names = list(ARMS)
    loaded = {name: [library(name).with_payload(float(m)) for m in rng.uniform(0.0, most, payloads)] for name, most in ARMS.items()}
    warm: set[Robot] = set()
    for k in range(count):
        name = names[k % len(names)]
        robot = loaded[name][int(rng.integers(payloads))]
        while True:
            start, goal = random_configuration(robot, rng), random_configuration(robot, rng)
            if held(robot, start) and held(robot, goal):
                break
        factor = float(rng.uniform(1.0, 5.0))
        fastest = shortest(MoveProblem(robot, Move(start, goal), None, 50), 5.0)
        least = fastest.motion.duration if fastest.ok else 2.0
        if robot not in warm:
            minimize_energy(robot, Move(start, goal, factor * least))  # compiles; not counted
            warm.add(robot)
        begin = time.perf_counter()
        plan = minimize_energy(robot, Move(start, goal, factor * least))
        seconds = time.perf_counter() - begin
        yield Trial(name, factor, plan, plan.ok and plan.certificate.ok, seconds)


def run(count: int = 100) -> str:
    """Markdown: success rate, median and 95 % time for each arm, and the failures in words."""
    found = list(trials(count))
    lines = ["## Random least-energy moves, 1 to 5 times the least time", ""]
    lines += ["| arm | moves | certified | median | 95 % |", "|---|---|---|---|---|"]
    for name in (*ARMS, "all"):
        mine = [t for t in found if name in (t.arm, "all")]
        times = [1e3 * t.seconds for t in mine]
        rate = 100 * sum(t.certified for t in mine) / max(1, len(mine))
        lines.append(f"| {name} | {len(mine)} | {rate:.1f} % | {np.median(times):.0f} ms | {np.percentile(times, 95):.0f} ms |")
    for t in found:
        if not t.certified:
            why = str(t.plan.diagnosis) if t.plan.diagnosis else str(t.plan.certificate)
            lines.append(f"\n{t.arm} at {t.factor:.2f} times the least time: {why}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(run(int(sys.argv[1]) if len(sys.argv) > 1 else 60))

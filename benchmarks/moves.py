"""Random least-energy moves over many arms: how many are certified, how long they take, and what
the others were told.

`python -m benchmarks moves --count 1000`, or ARMATURE_MOVES=1000; 200 by default; `--others`: arms
of others.py. Every move is drawn from its own number, so that `trial(number)` repeats a single one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armature.optimize.certificate.solution import Solution
from armature.optimize.diagnosis.holding import at_rest, holding
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time, shortest_motion
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.task import Move, Via
from armature.robot.model import Robot
from benchmarks.arms import Arm, arms, configuration
from benchmarks.others import KINDS as OTHER_KINDS
from benchmarks.others import NAMES as OTHERS
from benchmarks.others import SUPPLIES as OTHER_SUPPLIES
from benchmarks.others import bus, others

KINDS = ("plain", "plain", "plain", "near", "via", "timed via", "moving", "rates")
SUPPLIES = ("regenerative", "non-regenerative")


class Draw(NamedTuple):
    """One move to be planned: the arm's name, what is special about it, its duration as a multiple
    of the least time."""

    number: int
    arm: str
    kind: str
    supply: str
    factor: float
    robot: Robot
    move: Move


class Trial(NamedTuple):
    """One planned move: whether it is certified, and CPU seconds of planning."""

    draw: Draw
    plan: Solution
    certified: bool
    seconds: float

    @property
    def told(self) -> str:
        """Why it is not certified."""
        d = self.draw
        why = str(self.plan.diagnosis) if self.plan.diagnosis else str(self.plan.certificate)
        return (
            f"{d.number}: {d.arm}, {d.kind}, {d.supply}, {d.factor:.2f} times the least time: {why}"
        )


def held(robot: Robot, q: np.ndarray, part: float = 0.9) -> bool:
    """Whether the drives hold the arm there with something to spare."""
    return all(load.value <= part * load.bound for load in holding(robot, at_rest(robot, q)))


def standing(robot: Robot, rng: np.random.Generator, near: bool = False) -> np.ndarray:
    """A configuration that can be held; near: some joints at the ends of their ranges."""
    for _ in range(1000):
        q = configuration(robot, rng)
        if near:
            limits = [robot.joint(name).limits for name in robot.joint_names]
            ends = np.array([(x.lower, x.upper)[int(rng.integers(2))] for x in limits])
            q = np.where((rng.random(robot.n) < 0.4) & np.isfinite(ends), ends, q)
        if held(robot, q):
            return q
    raise RuntimeError(f"{robot.name} holds itself nowhere")


def draw(
    number: int,
    names: tuple[str, ...] = (),
    kinds: tuple[str, ...] = KINDS,
    supplies: tuple[str, ...] = SUPPLIES,
) -> Draw:
    """The move of this number, with a payload of its own. names: of the arms to take in turn, all
    of `arms` if empty."""
    shelf = others() if names and set(names) <= set(OTHERS) else arms()
    names = names or tuple(shelf)
    name = names[number % len(names)]
    return draw_for(number, name, shelf[name], kinds, supplies)


def draw_for(
    number: int,
    name: str,
    arm: Arm,
    kinds: tuple[str, ...] = KINDS,
    supplies: tuple[str, ...] = SUPPLIES,
) -> Draw:
    """The move of this number for an arm."""
    rng = np.random.default_rng(number)
    kind, supply = kinds[int(rng.integers(len(kinds)))], supplies[int(rng.integers(len(supplies)))]
    robot = arm.loaded(arm.payload * float(rng.uniform()))
    start, goal = standing(robot, rng, kind == "near"), standing(robot, rng, kind == "near")
    move = Move(start, goal)
    if kind == "cycle":
        move = Move(start, start, via=(goal,))
    if kind.endswith(("via", "stop")):
        move = replace(move, via=(0.5 * (start + goal) + 0.2 * (standing(robot, rng) - start),))
    if kind == "stop":
        move = replace(move, via=(replace(move.via[0], velocity=0.0),))
    if kind == "rates":
        robot = robot.with_limits({name: rates(robot, name) for name in robot.joint_names})
    least, passing = least_time(robot, move)
    factor = float(rng.uniform(1.0, 5.0))
    move = replace(move, duration=factor * least)
    if kind == "timed via":
        # not so early or so late that a leg has less time than the shortest motion takes for it
        spare = (factor - 1.0) * least
        at = float(
            np.clip(
                rng.uniform(0.4, 0.6) * factor * least,
                passing + 0.25 * spare,
                passing + 0.75 * spare,
            )
        )
        move = replace(move, via=(Via(move.via[0].configuration, at),))
    if kind == "moving":
        speeds = 0.3 * (goal - start) / (factor * least)
        move = replace(
            move,
            start_velocity=speeds * rng.uniform(0, 1, robot.n),
            goal_velocity=speeds * rng.uniform(0, 1, robot.n),
        )
    return Draw(number, name, kind, supply, factor, robot, move)


def least_time(robot: Robot, move: Move) -> tuple[float, float]:
    """The least duration and when it passes the first via point, s; by the full search where limits
    forbid what the quick one found."""
    fastest = shortest_motion(Pipeline(Weights(time=1.0)), posed(robot, move, None, 50))
    motion, knots = fastest.motion, fastest.problem.knots
    if not fastest.ok or (fastest.worst is not None and fastest.worst.fraction < -0.02):
        found = minimize_time(robot, move)
        motion = found.trajectory if found.ok else motion
    return motion.duration, float(motion.t[(len(motion) - 1) * knots[0] // knots[-1]])


def rates(robot: Robot, name: str) -> dict[str, float]:
    """A limit of jerk or of torque rate that a motion of about half a second meets."""
    limits = robot.joint(name).limits
    sliding = robot.joint(name).kind == "prismatic"
    if len(name) % 2:
        return {"jerk": min(limits.jerk, 20.0 if sliding else 150.0)}
    k = robot.joint_names.index(name)
    size = float(np.asarray(at_rest(robot, np.full(robot.n, 0.3)))[k])
    return {"torque_rate": 20.0 * abs(size) + (2000.0 if sliding else 200.0)}


def trial(number: int, *how: Any) -> Trial:
    """Plan and certify the move of this number. how: as in `draw`."""
    d = draw(number, *how)
    begin = time.process_time()
    plan = planned(d)
    seconds = time.process_time() - begin
    return Trial(d, plan, plan.ok and plan.certificate.ok, seconds)


def planned(d: Draw) -> Solution:
    """The plan of a draw."""
    return minimize_energy(d.robot, d.move, bus(d.robot) if d.supply == "bus" else d.supply)


def trials(count: int, first: int = 0, *how: Any) -> Iterator[Trial]:
    """Random moves, one arm after the other; the first plan of every kind with an arm compiles and
    is made twice. how: as in `draw`."""
    warm: set[tuple[str, str, str, int]] = set()
    for number in range(first, first + count):
        found = trial(number, *how)
        key = found.draw.arm, found.draw.kind, found.draw.supply, len(found.draw.move.via)
        if key not in warm:
            warm.add(key)
            begin = time.process_time()
            planned(found.draw)
            found = found._replace(seconds=time.process_time() - begin)
        yield found


def count_asked() -> int:
    """How many moves: `--count N` on the command line, or the environment's ARMATURE_MOVES."""
    if "--count" in sys.argv[:-1]:
        return int(sys.argv[sys.argv.index("--count") + 1])
    return int(os.environ.get("ARMATURE_MOVES", "200"))


def run(count: int | None = None) -> str:
    """Markdown: success rate, median and 95 % time for each arm, and the failures in words."""
    how = (OTHERS, OTHER_KINDS, OTHER_SUPPLIES) if "--others" in sys.argv else ()
    found = list(trials(count or count_asked(), 0, *how))
    lines = [
        (
            "## Random least-energy moves, 1 to 5 times the least time (CPU time of the plan,"
            " without the certificate)"
        ),
        "",
    ]
    lines += ["| arm | moves | certified | median | 95 % |", "|---|---|---|---|---|"]
    for name in (*dict.fromkeys(t.draw.arm for t in found), "all"):
        mine = [t for t in found if name in (t.draw.arm, "all")]
        if mine:
            times = [1e3 * t.seconds for t in mine]
            rate = 100 * sum(t.certified for t in mine) / len(mine)
            lines.append(
                f"| {name} | {len(mine)} | {rate:.1f} % | {np.median(times):.0f} ms |"
                f" {np.percentile(times, 95):.0f} ms |"
            )
    return "\n".join([*lines, *(f"\n{t.told}" for t in found if not t.certified)])


if __name__ == "__main__":
    print(run())

"""The solver against Ipopt, fatrop and Crocoddyl on the same discrete problems; time against knots
and joints; first answers."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from math import pi, radians
from pathlib import Path
from typing import Any

import numpy as np

import armature as arm
from armature.drive import Amplifier, Drive, Gear, Motor, Regenerative
from armature.optimize.problem.nlp import Answer, as_nlp
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.solver.interior import solve
from armature.optimize.transcription.driven import Driven, Weights
from armature.robot.model import Joint, Link, Robot
from benchmarks.crocoddyl_peer import against_crocoddyl
from benchmarks.measure import compared, table, timed, ur5


@dataclass(frozen=True)
class Task:
    """A move with its problem and starting motion."""

    name: str
    driven: Driven
    problem: Problem
    guess: Guess


def cubic(
    start: np.ndarray, goal: np.ndarray, T: float, N: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[52]: q, v, a at the knots."""
    s, d = np.linspace(0, 1, N + 1)[:, None], goal - start
    return start + d * (3 * s**2 - 2 * s**3), d * (6 * s - 6 * s**2) / T, d * (6 - 12 * s) / T**2


def move(name: str, robot: Robot, start: Any, goal: Any, T: float, N: int = 100) -> Task:
    """A least-heat move from rest to rest."""
    driven = Driven(robot, Regenerative())
    start, goal = np.asarray(start, dtype=float), np.asarray(goal, dtype=float)
    problem = driven.problem(N, start, goal, Weights(heat=1.0), T)
    return Task(name, driven, problem, driven.guess(*cubic(start, goal, T, N), T))


def ur5_move(N: int = 100) -> Task:
    """A fast move of the UR5 under current, voltage, velocity and joint limits, several of them
    active."""
    robot, _ = ur5()
    drives = [Drive(Motor(0.5, 0.08, peak_current=9.0), Gear(100.0), Amplifier(voltage=30.0))] * 3
    drives += [Drive(Motor(1.0, 0.03, peak_current=4.0), Gear(100.0), Amplifier(voltage=30.0))] * 3
    names = robot.joint_names
    robot = robot.with_friction({name: {"viscous": 0.0, "coulomb": 0.0} for name in names})
    robot = robot.with_limits(
        {name: {"lower": -2.5, "upper": 2.5, "velocity": 2.6} for name in names}
    )
    robot = robot.with_drives(dict(zip(names, drives)))
    return move(
        "UR5, current, voltage, speed and joint limits",
        robot,
        (0, -1.2, 1.0, -0.5, 0.3, 0),
        (2, -0.6, 0.4, 0.5, -0.8, 1),
        1.2,
        N,
    )


def thesis_move(N: int = 100) -> Task:
    """Half a turn of Burgevin's robot with 2 kg."""
    robot = arm.library("burgevin").with_payload(2.0)
    return move(
        "Burgevin's robot, half a turn",
        robot,
        (0, radians(90), 0.9),
        (pi, radians(90), 0.9),
        1.0,
        N,
    )


def chain(n: int) -> Robot:
    """n equal links on turning joints with alternating axes."""
    links = [
        Link("base"),
        *(
            Link(f"link{i}", 2.0 / n, (0.2 / n, 0, 0), (1e-3, 1e-2 / n, 1e-2 / n, 0, 0, 0))
            for i in range(n)
        ),
    ]
    axes = [(0, 0, 1), (0, 1, 0)]
    names = [link.name for link in links]
    joints = [
        Joint(
            f"j{i}",
            "continuous",
            names[i],
            names[i + 1],
            (0.4 / n if i else 0, 0, 0),
            axis=axes[i % 2],
        )
        for i in range(n)
    ]
    drive = Drive(Motor(0.5, 0.05, peak_current=30.0), Gear(80.0), Amplifier(voltage=48.0))
    return Robot(f"chain{n}", tuple(links), tuple(joints), "base").with_drives(
        {f"j{i}": drive for i in range(n)}
    )


def against_peers(task: Task) -> list[list[str]]:
    """Rows: Armature, Ipopt, fatrop on one problem."""
    result = solve(task.problem, task.guess)
    started = time.perf_counter()
    peer = as_nlp(task.problem)
    peer.solve(task.guess)
    built = time.perf_counter() - started
    answer = peer.solve(task.guess)
    mine, theirs = compared(
        [lambda: solve(task.problem, task.guess), lambda: peer.solve(task.guess)], repeats=5
    )
    ratio = f"**{theirs.median / mine.median:.0f}×**, with building {built / mine.median:.0f}×"
    mine_row = [
        result.status.name.lower(),
        f"{result.cost:.7f}",
        len(result.iterations) - 1,
        f"{mine.median * 1e3:.1f}",
        ratio,
    ]
    peer_row = [
        ending(answer),
        f"{answer.cost:.7f}",
        answer.iterations,
        f"{theirs.median * 1e3:.0f}",
        "",
    ]
    rows = [[task.name, "Armature", *mine_row], ["", "Ipopt", *peer_row]]
    return rows if task.problem.model.total_names else [*rows, fatrop_row(task)]


def ending(answer: Answer) -> str:
    """How a peer ended."""
    return "converged" if answer.converged else "failed"


def fatrop_row(task: Task) -> list[Any]:
    """fatrop, which finds the structure itself; it knows no totals over the motion."""
    m, N = task.problem.model, task.problem.N
    equations = ([True] * m.nx + [False] * len(m.constraint_names)) * N
    options = {
        "structure_detection": "auto",
        "equality": equations,
        "fatrop.print_level": 0,
        "print_time": False,
    }
    peer = as_nlp(task.problem, "fatrop", options)
    answer = peer.solve(task.guess)
    quick = timed(lambda: peer.solve(task.guess), repeats=3)
    return [
        "",
        "fatrop",
        ending(answer),
        f"{answer.cost:.7f}",
        answer.iterations,
        f"{quick.median * 1e3:.0f}",
        "",
    ]


def scaling() -> tuple[str, str]:
    """Time of an iteration against knots and against joints."""
    knots, joints = [], []
    for N in (25, 50, 100, 200, 400, 800, 1600, 3200):
        task = thesis_move(N)
        result = solve(task.problem, task.guess)
        each = timed(lambda task=task: solve(task.problem, task.guess), repeats=5).best / len(
            result.iterations
        )
        knots.append([N, len(result.iterations) - 1, f"{each * 1e3:.3f}", f"{each / N * 1e6:.2f}"])
    for n in (2, 4, 6, 8, 10, 12):
        task = move("", chain(n), np.full(n, 0.1), np.full(n, 0.5), 1.0)
        result = solve(task.problem, task.guess)
        each = timed(lambda task=task: solve(task.problem, task.guess), repeats=5).best / len(
            result.iterations
        )
        joints.append(
            [n, len(result.iterations) - 1, result.status.name.lower(), f"{each * 1e3:.2f}"]
        )
    first = table(
        ["knots (Burgevin's robot)", "iterations", "ms an iteration", "µs a knot and iteration"],
        knots,
    )
    return first, table(["joints (100 knots)", "iterations", "status", "ms an iteration"], joints)


CODE = """
import time, warnings
warnings.simplefilter("ignore")
# third-party imports are not counted, Numba's own, which it puts off until the first compiled function, among them
import casadi, numba, llvmlite.binding, lxml.etree, numpy, platformdirs, scipy.linalg, pydantic, ruamel.yaml, matplotlib
import numba.np.arraymath, numba.np.linalg
from numba.core.registry import cpu_target
cpu_target.target_context.refresh()
cpu_target.typing_context.refresh()
start = time.perf_counter()
from benchmarks.solver import {task}
task = {task}()
from armature.optimize.solver.interior import solve
solve(task.problem, task.guess)
print(time.perf_counter() - start)
"""


def new_process(task: str) -> float:
    """Seconds to the first answer of a new process, everything in the caches, Python's own of
    compiled modules among them."""
    root, command = (
        str(Path(__file__).parent.parent),
        [sys.executable, "-c", CODE.format(task=task)],
    )
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as folder:
        env = {**kept, "PYTHONPYCACHEPREFIX": folder}
        runs = [
            subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=True)
            for _ in range(4)
        ]
    return min(float(done.stdout) for done in runs)


def run() -> str:
    """All tables."""
    rows = [row for task in (ur5_move(), thesis_move()) for row in against_peers(task)]
    header = [
        "problem, 100 knots",
        "solver",
        "status",
        "optimum, J",
        "iterations",
        "solve, ms",
        "Ipopt's time against ours",
    ]
    first = [[name, f"{new_process(name):.2f}"] for name in ("thesis_move", "ur5_move")]
    knots, joints = scaling()
    parts = [
        "## The solver, one thread",
        table(header, rows),
        against_crocoddyl(),
        knots,
        joints,
        "First answer of a new process with warm caches, third-party imports not counted:",
        table(["task", "s"], first),
    ]
    return "\n\n".join(parts)

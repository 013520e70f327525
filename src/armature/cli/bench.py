"""`armature bench`: how quick the dynamics and a plan are on this machine, for your robot."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from armature.cli.inputs import ARG, DRIVES, HOLD, LIMITS, PAYLOAD, complete_robot, find_robot
from armature.cli.output import answer, say, table

BATCH = 1024


def bench(
    robot: str = typer.Argument(
        "six_axis",
        help="a robot file, or the name of a built-in robot",
        autocompletion=complete_robot,
    ),
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
    knots: int = typer.Option(60, help="steps in time of the plan", min=4, max=20000),
    seconds: float = typer.Option(
        0.2, help="about how long each function is measured", min=0.001, max=60.0
    ),
) -> None:
    """Time the dynamics of a robot (one thread, a batch of 1,024 states) and, if it has drives, a
    least-energy plan. Processor time."""
    import numpy as np

    import armature as arm

    machine = find_robot(robot, drives, payload, limits, hold, arg)
    arm.kernel.set_threads(1)
    rng = np.random.default_rng(0)
    q = np.tile(_neutral(machine), (BATCH, 1))
    v, a = rng.normal(size=(2, BATCH, machine.nv))
    functions: dict[str, Callable[[], Any]] = {
        "inverse dynamics": lambda: arm.inverse_dynamics(machine, q, v, a),
        "forward dynamics": lambda: arm.forward_dynamics(machine, q, v, a),
        "mass matrix": lambda: arm.mass_matrix(machine, q),
        "derivatives of forward dynamics": lambda: arm.forward_dynamics_derivatives(
            machine, q, v, a
        ),
    }
    rows = [(name, *_timed(function, seconds)) for name, function in functions.items()]
    say(
        f"{machine.name}: {machine.n} joints",
        table(("function", "first call [s]", "one state [µs]"), rows),
    )
    planned = _planned(machine, knots)
    if planned:
        first, again, iterations = planned
        say(
            f"a least-energy move, {knots} knots: {first:.3g} s the first time, {again:.3g} s again"
            f" ({iterations} iterations)"
        )
    times = [dict(zip(("function", "first", "state"), row)) for row in rows]
    answer(
        {
            "robot": machine.name,
            "functions": times,
            "plan": planned and dict(zip(("first", "again", "iterations"), planned)),
        }
    )


def _neutral(robot: Any) -> Any:
    from armature.simulate.rollout import neutral

    return neutral(robot)


def _timed(function: Callable[[], Any], seconds: float) -> tuple[float, float]:
    """Seconds of the first call (compiling included), and microseconds of processor time for one
    state afterwards."""
    begin = time.process_time()
    function()
    first, count = time.process_time() - begin, 0
    begin = time.process_time()
    while (spent := time.process_time() - begin) < seconds or not count:
        function()
        count += 1
    return first, 1e6 * spent / count / BATCH


def _planned(robot: Any, knots: int) -> tuple[float, float, int] | None:
    """Seconds of a plan from one side of the middle of the joints' ranges to the other, twice; None
    without drives."""
    import numpy as np

    import armature as arm
    from armature.cli.starter import ends

    if not robot.drives or robot.nq != robot.nv:
        return None
    start, goal = ends(robot)
    task = arm.Move(np.array(start), np.array(goal), 2.0)
    spent = []
    solution = None
    for _ in range(2):
        begin = time.process_time()
        solution = arm.minimize_energy(robot, task, knots=knots)
        spent.append(time.process_time() - begin)
    return (*spent, len(solution.iterations)) if solution is not None else None

"""What planning saves against the joint cubic of the same duration: ten everyday moves of the
built-in arms."""

from __future__ import annotations

import time

import numpy as np

import armature as arm
from armature.optimize.planner.posture import in_posture
from benchmarks.measure import table

# name, robot, payload kg, start, goal, duration s. Six axes: places of the tool, which points down,
# m, above the table on which the arm stands; other arms: joint coordinates, degrees, metres for
# sliding joints.
MOVES = (
    (
        "pick from a conveyor, place in a box",
        "six_axis",
        3.0,
        (0.45, -0.35, 0.15),
        (0.30, 0.50, 0.10),
        1.2,
    ),
    ("the same, slower", "six_axis", 3.0, (0.45, -0.35, 0.15), (0.30, 0.50, 0.10), 1.8),
    ("reach out to the side", "six_axis", 3.0, (0.30, -0.25, 0.20), (0.15, 0.65, 0.35), 1.6),
    ("from the table to a shelf", "six_axis", 5.0, (0.50, 0.00, 0.10), (0.45, 0.10, 0.50), 1.4),
    ("from a shelf to the table", "six_axis", 5.0, (0.45, 0.10, 0.50), (0.50, 0.00, 0.10), 1.4),
    ("turn round", "six_axis", 1.0, (0.05, -0.60, 0.30), (0.05, 0.60, 0.30), 1.8),
    (
        "SCARA: across the table and down",
        "scara",
        1.0,
        (-60, 80, 0.02, 0),
        (70, -60, 0.15, 90),
        0.9,
    ),
    ("SCARA: short hop", "scara", 1.0, (10, 60, 0.1, 0), (35, 40, 0.1, 0), 0.32),
    ("thesis: half a turn, stretched", "burgevin", 2.0, (0, 90, 0.9), (180, 90, 0.9), 1.0),
    ("thesis: extend", "burgevin", 2.0, (0, 90, 0.3), (0, 90, 0.8), 1.0),
)
# The tool (its y axis) points down.
DOWN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
HOME = np.radians([0, -90, 90, -90, 90, 0])  # elbow up, tool down in front of the arm
AGAIN = 5  # plans that are timed, once all is compiled


def move(
    robot: arm.Robot, start: tuple[float, ...], goal: tuple[float, ...], duration: float
) -> arm.Move:
    """From place to place, or from configuration to configuration."""
    if robot.name == "six_axis":
        begin = in_posture(robot, (DOWN, np.array(start)), "tool", HOME, floor=0.0)
        return arm.Move(begin, (DOWN, np.array(goal)), duration, posture="as the start")
    return arm.Move(configuration(robot, start), configuration(robot, goal), duration)


def configuration(robot: arm.Robot, values: tuple[float, ...]) -> np.ndarray:
    """Degrees as radians; metres of sliding joints as they are."""
    sliding = {j.name for j in robot.joints if j.kind == "prismatic"}
    return np.array(
        [x if name in sliding else np.radians(x) for name, x in zip(robot.joint_names, values)]
    )


def timed(robot: arm.Robot, task: arm.Move, supply: str) -> tuple[arm.Solution, float]:
    """A plan and its CPU time, s."""
    begin = time.process_time()
    plan = arm.minimize_energy(robot, task, supply)
    return plan, time.process_time() - begin


def run() -> str:
    """Savings with both kinds of supply; of losses where energy comes back, of the energy drawn
    where it is burnt."""
    rows = []
    for what, name, payload, start, goal, duration in MOVES:
        robot = arm.library(name).with_payload(payload)
        task = move(robot, start, goal, duration)
        row: list[object] = [what, name, f"{duration:g}"]
        for supply in ("regenerative", "non-regenerative"):
            plan, _ = timed(robot, task, supply)
            again = [timed(robot, task, supply)[1] for _ in range(AGAIN)]
            if not plan.ok or plan.saving is None or plan.baseline is None:
                row += ["no plan", "", "", ""]
                continue
            mine, other = (
                (plan.losses, plan.baseline.ledger.losses)
                if supply == "regenerative"
                else (plan.energy, plan.baseline.ledger.energy)
            )
            star = "*" if plan.baseline.note else ""
            row += [
                f"{other:.3g}{star}",
                f"{mine:.3g}",
                f"**{100 * plan.saving:.0f} %**"
                + ("" if plan.certificate.ok else " (not certified)"),
                f"{1e3 * np.median(again):.0f}",
            ]
        rows.append(row)
    header = ["move", "robot", "s", "losses, cubic J", "planned J", "saved", "CPU ms"]
    header += ["drawn without return, cubic J", "planned J", "saved", "CPU ms"]
    starred = any("*" in str(cell).replace("**", "") for row in rows for cell in row)
    why = (
        "the cubic of this duration breaks limits: the shortest one that keeps them, or, where only"
        " jerk is too much, the cubic itself."
    )
    note = f"\n\n\\* {why}" if starred else ""
    return "## Ten everyday moves against the joint cubic\n\n" + table(header, rows) + note

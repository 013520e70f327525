"""The main job: an industrial six-axis arm takes a part of 3 kg from a shelf and puts it into a
box, with the least energy, and proves it.

Run by `make demo`. Writes demo/report.html (the moving robot, charts, the energy ledger), and the plan with
its robot for other programs."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import armature as arm

OUT = Path("demo")
# The tool (its y axis) points down. Places in m.
DOWN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
SHELF = np.array([0.45, -0.20, 0.55])
BOX = np.array([0.25, 0.50, 0.12])
CLEAR = np.array([0.0, 0.0, 0.10])
DURATION, LIFT = 1.6, 0.35  # s


def task(robot: arm.Robot) -> arm.Move:
    """Pick, lift, carry, place: the place above the shelf is passed without stopping."""
    above = configuration(robot, SHELF + CLEAR, np.radians([-40, -90, 80, -80, 90, 20]))
    pick = configuration(robot, SHELF, above)
    place = configuration(robot, BOX, above + np.radians([90, 0, 0, 0, 0, 0]))
    return arm.Move(pick, place, DURATION, via=[arm.optimize.Via(above, at=LIFT)])


def configuration(robot: arm.Robot, place: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The joints that hold the tool down at a place, turned with the arm about the vertical; near
    other ones."""
    c, s = place[:2] / np.hypot(*place[:2])
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return arm.inverse_kinematics(robot, (turn @ DOWN, place), "tool", seed=near).best


def main() -> None:
    console, begin = Console(width=100), time.perf_counter()
    robot = arm.library("six_axis").with_payload(3.0)
    console.print(
        f"[bold]{robot.name}[/], {robot.mass:.1f} kg with a part of 3 kg: from a shelf into a box"
        f" in {DURATION} s."
    )
    console.print("Each amplifier burns what its axis gives back, as most do.")
    console.print(
        "The first time, the robot's equations are compiled; they are kept for the next.\n"
    )
    move = task(robot)
    plan = arm.minimize_energy(robot, move, "non-regenerative")
    whenever = [arm.optimize.Via(stop.configuration) for stop in move.via]  # passed at any time
    hurry = replace(move, duration=None, via=whenever)
    fast = arm.minimize_time(robot, hurry, supply="non-regenerative", knots=50, starts=1)
    console.print(comparison(plan, fast))
    console.print(
        f"[green]{100 * plan.saving:.0f} % less energy[/] than the {plan.baseline.name} of the same"
        " duration."
    )
    console.print(str(plan.certificate), highlight=False)
    folder = plan.save(OUT, command="make demo", task=move, report=True)
    console.print(
        f"\n{time.perf_counter() - begin:.1f} s. Open [bold]{folder / 'report.html'}[/] in a"
        " browser: the moving robot, every"
    )
    console.print(
        f"signal against its limit, and the energy ledger. For other programs: {folder / 'plan.csv'},"
        f" {folder / 'plan.json'}."
    )


def comparison(plan: arm.Solution, fast: arm.Solution) -> Table:
    """Baseline, least energy and least time side by side."""
    table = Table("", "duration", "energy drawn", "heat", "saved", "certificate")
    base = plan.baseline
    verdict = lambda solution: (
        "[green]passed[/]" if solution.certificate.ok else "[red]not passed[/]"
    )
    table.add_row(
        base.name,
        f"{base.trajectory.duration:.3f} s",
        f"{base.ledger.energy:.1f} J",
        f"{base.ledger.losses:.1f} J",
        "",
        "",
    )
    saved = f"[green]{100 * plan.saving:.1f} %[/]"
    table.add_row(
        "least energy",
        f"{plan.duration:.3f} s",
        f"{plan.energy:.1f} J",
        f"{plan.losses:.1f} J",
        saved,
        verdict(plan),
    )
    table.add_row(
        "least time",
        f"{fast.duration:.3f} s",
        f"{fast.energy:.1f} J",
        f"{fast.losses:.1f} J",
        "",
        verdict(fast),
    )
    return table


if __name__ == "__main__":
    main()

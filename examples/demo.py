"""The main job: an industrial six-axis arm carries a part from one place to another with the least energy, and proves it.

Run by `make demo`. Writes demo/plan.html (figures and the moving robot), demo/plan.csv and demo/plan.png.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import armature as arm
from armature.plot import motion


def main() -> None:
    out = Path("demo")
    out.mkdir(exist_ok=True)
    robot = arm.library("six_axis").with_payload(3.0)
    print(robot.summary())

    # a part from close to the column to the far side, in 1.6 s; each amplifier burns what its axis gives back, as most of them do
    start = np.radians([-40.0, -80.0, 140.0, -60.0, -90.0, 0.0])
    goal = np.radians([60.0, -10.0, 20.0, -10.0, -90.0, 90.0])
    task, supply = arm.Move(start, goal, duration=1.6), "non-regenerative"

    print("\nplanning (the first plan for a robot traces and compiles its equations; they are kept for the next time) ...")
    begin = time.perf_counter()
    plan = arm.minimize_energy(robot, task, supply)
    first = time.perf_counter() - begin
    begin = time.perf_counter()
    plan = arm.minimize_energy(robot, task, supply)
    again = time.perf_counter() - begin
    print(f"first plan {first:.2f} s, again {1e3 * again:.0f} ms (solver {1e3 * plan.result.seconds:.0f} ms)\n")
    print(plan)
    print(plan.certificate)
    print(f"\n{plan.ledger}")

    plan.trajectory.save(out / "plan.csv")
    motion(robot, plan.trajectory, save=out / "plan.png")
    plan.report(out / "plan.html")
    print(f"\nopen {out / 'plan.html'} in a browser: the moving robot, the currents inside the drives' limits, and the books")


if __name__ == "__main__":
    main()

"""A closed loop: a parallelogram with one motor, simulated from rest; its loops stay closed and its
energy is conserved."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import armature as arm

Path("parallelogram.yaml").write_text("""
name: parallelogram
links:
  - {name: arm, joint: arm, kind: continuous, axis: y, mass: 2, com: [0, 0, 0.5], shape: {kind: rod, length: 1}}
  - {name: coupler, joint: coupler, kind: continuous, axis: y, offset: [0, 0, 1], mass: 1, com: [0.15, 0, 0],
     shape: {kind: rod, length: 0.3, along: x}, passive: true}
  - {name: bar, joint: bar, parent: base, kind: continuous, axis: y, offset: [0.3, 0, 0], mass: 0.5, com: [0, 0, 0.5],
     shape: {kind: rod, length: 1}, passive: true}
loops:
  - {name: pin, kind: revolute, a: coupler, b: bar, at_a: [0.3, 0, 0], axis: y}
""")
robot = arm.load("parallelogram.yaml")
start = arm.close_loops(robot, [0.5, 0.0, 0.0])  # passive joints move until the loop closes
print("closed at", dict(zip(robot.joint_names, start.round(6))))

run = arm.simulate(robot, lambda t, q, v: [7.0 * np.sin(2 * t), 0.0, 0.0], start, np.zeros(3), 3.0)
print(run)
print(
    f"the coupler stays level within {np.abs(run.q[:, 0] + run.q[:, 1]).max():.1e} rad; loops open"
    f" by {run.loop_drift:.1e} m at most"
)

page = Figure(figsize=(7, 4), layout="constrained")
axes = page.subplots()
axes.plot(run.t, run.q, label=robot.joint_names)
axes.set(xlabel="t, s", ylabel="angle, rad", title="One motor, one loop, two passive joints")
axes.legend()
page.savefig("09_closed_loop.png", dpi=120)

"""A first plan: a six-axis arm carries 3 kg to the other side with the least energy, and proves that its motors can do it."""

import numpy as np

import armature as arm
from armature.plot import motion

robot = arm.library("six_axis").with_payload(3.0)
start = np.radians([-40, -80, 140, -60, -90, 0])
goal = np.radians([60, -10, 20, -10, -90, 90])

plan = arm.minimize_energy(robot, arm.Move(start, goal, duration=1.6), supply="non-regenerative")
print(plan)
print(plan.certificate)
print(plan.ledger)

plan.trajectory.save("01_first_plan.csv")
motion(robot, plan.trajectory, save="01_first_plan.png")

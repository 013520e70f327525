"""A first plan: a six-axis arm carries 3 kg to the other side with the least energy, and proves
that its motors can do it."""

import numpy as np

import armature as arm
from armature.plot import motion

robot = arm.library("six_axis").with_payload(3.0)
start = np.radians([-37, -88, 71, -73, 90, 53])
goal = np.radians([52, -65, 110, -135, 90, 142])

plan = arm.minimize_energy(robot, arm.Move(start, goal, duration=1.6), supply="non-regenerative")
print(plan)
print(plan.certificate)
print(plan.ledger)

plan.trajectory.save("01_first_plan.csv")
motion(robot, plan.trajectory, save="01_first_plan.png")

"""As fast as the drives allow: current against velocity runs along the edge of what voltage and
heat leave."""

import numpy as np

import armature as arm
from armature.plot import graf

robot = arm.library("burgevin").with_payload(2.0)
start, goal = np.array([0.0, np.pi / 2, 0.9]), np.array([np.pi, np.pi / 2, 0.9])

plan = arm.minimize_time(robot, arm.Move(start, goal))
print(plan)
print(plan.certificate)

late = arm.minimize_energy(robot, arm.Move(start, goal, duration=0.8 * plan.duration))
print("in 80 % of that time:", late.diagnosis)
twice = arm.minimize_energy(robot, arm.Move(start, goal, duration=2 * plan.duration))
print(f"in twice that time: {twice.losses:.2f} J of heat instead of {plan.losses:.2f} J")
graf(robot, plan.trajectory, save="04_least_time.png")

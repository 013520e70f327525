"""Compile and keep loops that every worker of pytest would compile anew; `make test` does it beside
the linters."""

import armature as arm

robot = arm.library("planar2")
start, goal = [0.0, 0.0], [1.0, 1.0]
plan = arm.minimize_energy(robot, arm.Move(start, goal, 1.0), knots=20)  # the solver
print(plan.certificate)  # simulation
arm.rehearse(robot, plan, runs=2)
path = arm.FollowPath(arm.motion.joint_path([start, goal]))
arm.minimize_time(robot, path, knots=20)  # the phase plane

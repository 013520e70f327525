"""Your own robot: a few numbers per link, written to a file that can be edited, checked, loaded
again and planned with."""

from pathlib import Path

import armature as arm
from armature.plot import motion

Path("my_arm.yaml").write_text("""
name: my_arm
links:
  - {name: column, joint: turn, kind: continuous, axis: z, mass: 6, shape: {kind: rod, length: 0.4, along: z},
     limits: {velocity: 3, torque: 60}}
  - {name: upper, joint: shoulder, kind: revolute, axis: y, offset: [0, 0, 0.4], mass: 4.0, com: [0, 0, 0.25],
     shape: {kind: rod, length: 0.5}, limits: {lower: -100 deg, upper: 100 deg, velocity: 3, torque: 90}}
  - {name: lower, joint: elbow, kind: revolute, axis: y, offset: [0, 0, 0.5], mass: 2.5, com: [0, 0, 0.2],
     shape: {kind: rod, length: 0.4}, limits: {lower: -140 deg, upper: 140 deg, velocity: 4, torque: 40}}
drives:
  turn: {motor: dc-48v-150w, gear: planetary-100}
  shoulder: {motor: dc-48v-250w, gear: planetary-100}
  elbow: {motor: dc-48v-150w, gear: planetary-100}
""")

# Or arm.load("your.urdf").with_drives("drives.yaml").
robot = arm.load("my_arm.yaml").with_payload(1.0, at=(0, 0, 0.4), link="lower")
print(robot.summary())

move = arm.Move(
    {"turn": 0.0, "shoulder": 0.3, "elbow": 1.2},
    {"turn": 1.5, "shoulder": 0.9, "elbow": 0.4},
    duration=1.2,
)
plan = arm.minimize_energy(robot, move)
print(plan)
motion(robot, plan.trajectory, save="02_my_own_robot.png")

"""Your own motors, typed in from a data sheet: what each axis can do, and what a plan asks of
it."""

from pathlib import Path

import armature as arm
from armature.plot import torque_speed

Path("drives.yaml").write_text("""
drives:
  shoulder:
    motor:
      terminal resistance: 0.299 ohm
      torque constant: 54.6 mN*m/A
      speed constant: 175 rpm/V
      rotor inertia: 102 g*cm^2
      no-load current: 90 mA
      nominal current (max. continuous current): 6 A
    gear: {ratio: 100, efficiency: 80 %}
    amplifier: {voltage: 48 V, peak_current: 25 A}
  elbow: {motor: dc-48v-250w, gear: planetary-100, amplifier: {voltage: 48 V, peak_current: 20 A}}
supply: {kind: non-regenerative}
""")

robot = arm.library("planar2").with_drives("drives.yaml")
fast = arm.minimize_time(robot, arm.Move([0.0, 0.5], [1.2, -0.6]))
print(fast)
calm = arm.minimize_energy(robot, arm.Move([0.0, 0.5], [1.2, -0.6], duration=1.5 * fast.duration))
print(calm)
print(calm.certificate)
torque_speed(robot, fast.trajectory, save="03_my_own_motors.png")

"""How much time is best? Least energy over durations, its minima, and whether to move faster and
wait on the brake."""

import numpy as np
from matplotlib.figure import Figure

import armature as arm

robot = arm.library("burgevin").with_payload(2.0)
# Stay there, stretched out: holding costs, swinging less.
move = arm.Move([0.0, np.pi / 2, 0.9], [0.0, np.pi / 2, 0.9])

curve = arm.energy_time_curve(robot, move, np.linspace(0.2, 4.7, 45))
for T, E in curve.minima:
    print(f"a minimum at {T:.3f} s: {E:.3f} J")
print(curve.advice)

page = Figure(figsize=(7, 4), layout="constrained")
axes = page.subplots()
axes.plot(curve.durations, curve.energies, label="least energy")
axes.plot(*np.array(curve.minima).T, "o", label="minima")
axes.set(xlabel="duration, s", ylabel="energy, J", title="The arm's own rhythm")
axes.legend()
page.savefig("06_energy_against_time.png", dpi=120)

"""Your own equations: a cart-pole is swung up with the least ∫u², then with at most 9 N."""

import matplotlib
import numpy as np

from armature import optimal_control as oc

matplotlib.use("Agg")
from matplotlib import pyplot as plt

m1, m2, l, g = 1.0, 0.3, 0.5, 9.81


def rates(x, u):
    """Of (place, angle, and their velocities); the angle is 0 where the pole hangs."""
    s, c, w = np.sin(x[1]), np.cos(x[1]), x[3] ** 2
    mass = m1 + m2 * s**2
    along = (l * m2 * s * w + u[0] + m2 * g * c * s) / mass
    return [x[2], x[3], along, -(l * m2 * c * s * w + u[0] * c + (m1 + m2) * g * s) / (l * mass)]


ends = {"start": [0, 0, 0, 0], "end": [1, np.pi, 0, 0]}
task = {"minimize": "control effort", "duration": 2.0, **ends}
free = oc.solve(oc.ControlProblem(4, 1, rates, **task, u=(-20, 20)))
weak = oc.solve(oc.ControlProblem(4, 1, rates, **task, u=(-9, 9)), guess=free)
print(free)  # 58.807667
print(weak)

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2))
for motion, name in ((free, "least ∫u²"), (weak, "at most 9 N")):
    t = np.linspace(0, motion.duration, 400)
    axes[0].plot(t, motion(t).x[:, 1], label=name)
    axes[1].plot(t, motion(t).u[:, 0], label=name)
axes[0].set(xlabel="time [s]", ylabel="angle of the pole [rad]")
axes[1].set(xlabel="time [s]", ylabel="force [N]")
axes[0].legend()
figure.savefig("13_optimal_control.png", bbox_inches="tight", dpi=110)

"""Planning against the clock: every approximation keeps the ends and all limits, so the newest can
be run at any moment."""

import numpy as np
from matplotlib.figure import Figure

import armature as arm

robot = arm.library("valasek").with_limits(
    {"r": {"lower": 0.3, "upper": 2.5}, "theta": {"lower": -1.2, "upper": 1.2}}
)
start, goal = np.array([0.0, 1.0, 0.5]), np.array([3.0, -1.0, 2.0])
t = np.linspace(0.0, 2.0, 201)
s = (t / 2.0)[:, None]
cubic = arm.Trajectory(
    t,
    start + (goal - start) * (3 * s**2 - 2 * s**3),
    (goal - start) * (3 * s - 3 * s**2),
    (goal - start) * (1.5 - 3 * s),
    robot.joint_names,
    interpolation="linear",
)

iterates = list(arm.improve(robot, cubic, deadline=2.0))
for k in (0, 1, 2, len(iterates) - 1):
    ok = arm.optimize.certify(robot, iterates[k]).ok
    print(f"iterate {k}: {iterates[k].energy:.4f} J, {'can be run' if ok else 'cannot be run'}")
best = arm.minimize_energy(robot, arm.Move(start, goal, duration=2.0))
print(f"the optimum: {best.energy:.4f} J")

page = Figure(figsize=(7, 4), layout="constrained")
axes = page.subplots()
axes.plot([it.energy for it in iterates], "o-", label="suboptimal approximations")
axes.axhline(best.energy, color="C1", label="optimum")
axes.set(xlabel="iterate", ylabel="energy, J", title="Every one of these can be run")
axes.legend()
page.savefig("10_any_iterate_can_be_run.png", dpi=120)

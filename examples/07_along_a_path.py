"""The tool of a six-axis arm along a line: as fast as its drives allow, with the least energy at
1.4 times that, and too fast."""

import numpy as np
from matplotlib.figure import Figure

import armature as arm

robot = arm.library("six_axis")
seed = np.array([0.2, -0.6, 1.2, 0.3, 0.4, 0.0])
hand = arm.pose(robot, seed, "tool")
path = arm.line(hand, (hand.R, hand.p + [0.1, 0.2, 0.15]))

fast = arm.minimize_time(robot, arm.FollowPath(path, link="tool", seed=seed))
print(fast)
calm = arm.minimize_energy(
    robot, arm.FollowPath(path, duration=1.4 * fast.duration, link="tool", seed=seed)
)
print(calm)
print(calm.certificate)
hasty = arm.minimize_energy(
    robot, arm.FollowPath(path, duration=0.5 * fast.duration, link="tool", seed=seed)
)
print(hasty.diagnosis)

page = Figure(figsize=(7, 4), layout="constrained")
axes = page.subplots()
for plan, words in ((fast, "least time"), (calm, "least energy")):
    p = arm.pose(robot, plan.trajectory.q, "tool").p
    speed = np.linalg.norm(np.gradient(p, plan.trajectory.t, axis=0), axis=1)
    axes.plot(
        plan.trajectory.t, speed, label=f"{words}: {plan.duration:.3f} s, {plan.losses:.1f} J lost"
    )
axes.set(xlabel="t, s", ylabel="speed of the tool, m/s", title="Along one line")
axes.legend()
page.savefig("07_along_a_path.png", dpi=120)

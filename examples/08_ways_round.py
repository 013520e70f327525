"""Several ways round: over the top, by the side, with a full turn; each a local optimum, ranked by
what it costs."""

import numpy as np
from matplotlib.figure import Figure

import armature as arm

robot = arm.library("burgevin").with_payload(2.0)
ways = arm.ways_round(
    robot, arm.Move([0.0, np.pi / 2, 0.5], [-0.5, 0.0, 0.0], 1.0), "regenerative", link="slider"
)

page = Figure(figsize=(7, 5), layout="constrained")
axes = page.add_subplot(projection="3d")
for way in ways:
    hand = arm.pose(robot, way.solution.trajectory.q, "slider").p
    print(f"{way.solution.losses:.4f} J  {way.description}")
    axes.plot(*hand.T, label=f"{way.solution.losses:.3f} J")
axes.set(xlabel="x, m", ylabel="y, m", zlabel="z, m", title="Ways to the opposite point")
axes.legend()
page.savefig("08_ways_round.png", dpi=120)

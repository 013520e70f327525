"""Before the real robot: the plan run on a hundred robots that differ from the model, under a servo
and under control (3.1)."""

import numpy as np
from matplotlib.figure import Figure

import armature as arm

robot = arm.library("six_axis").with_payload(2.0)
move = arm.Move([0.0, -0.8, 1.4, 0.0, 0.8, 0.0], [1.2, -0.4, 0.9, 0.3, 0.6, 0.5], duration=1.5)
plan = arm.minimize_energy(robot, move)
unlike = arm.simulation.Perturbations(mass=0.2, friction=0.5, delay=0.001, noise=1e-5)

page = Figure(figsize=(9, 4), layout="constrained")
panels = page.subplots(1, 2, sharey=True)
for axes, controller in zip(panels, ("servo", "constraint")):
    found = arm.rehearse(robot, plan, perturbations=unlike, runs=100, controller=controller)
    print(controller, found, sep="\n")
    axes.boxplot(1e3 * np.asarray(found.error).reshape(100, -1), tick_labels=robot.joint_names)
    axes.set(title=controller, ylabel="tracking error, mrad")
    axes.tick_params(axis="x", rotation=30)
page.savefig("11_rehearsal.png", dpi=120)

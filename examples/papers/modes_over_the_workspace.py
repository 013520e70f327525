"""Linearised modes of an arm whose joints are held by springs (servos), over its workspace: where
is it slow, where stiff?

Every configuration is one state of a batch; `linearize` gives the state matrices (4.1) of all of
them in one call.

Run: python examples/papers/modes_over_the_workspace.py [figure.png]
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import armature as arm
from armature.dynamics.bodies.elements import TorsionSpring
from armature.dynamics.holonomic.linear import linearize

# N·m/rad
STIFFNESS = {
    "pan": 9000.0,
    "lift": 9000.0,
    "elbow": 6000.0,
    "wrist_1": 1500.0,
    "wrist_2": 1500.0,
    "wrist_3": 800.0,
}
PAYLOAD, COUNT = 5.0, 41  # kg; configurations along each axis of the map


def main(figure: str = "modes.png") -> np.ndarray:
    """The lowest natural frequency over lift and elbow angles, Hz, (COUNT, COUNT)."""
    robot = arm.library("six_axis").with_payload(PAYLOAD)
    lift, elbow = np.meshgrid(
        np.linspace(-np.pi, 0.0, COUNT), np.linspace(-2.6, 2.6, COUNT), indexing="ij"
    )
    q = np.zeros((COUNT, COUNT, robot.n))
    q[..., 1], q[..., 2], q[..., 4] = lift, elbow, np.pi / 2
    # the drives carry the weight, the springs hold the joints where they are: their torque is zero
    # at q, their stiffness acts
    weight = arm.bias_forces(robot, q, np.zeros(robot.n))
    springs = [TorsionSpring(name, k) for name, k in STIFFNESS.items()]
    hold = np.array([STIFFNESS[name] for name in robot.joint_names]) * q
    linear = linearize(robot, q, np.zeros(robot.n), weight + hold, elements=springs)
    frequencies = np.sort(linear.frequencies, axis=-1)[..., ::2]
    lowest = frequencies[..., 0]
    at = np.unravel_index(np.argmin(lowest), lowest.shape)
    print(
        f"the first mode has {lowest.min():.2f} Hz (at lift {lift[at]:.2f}, elbow {elbow[at]:.2f}"
        f" rad) to {lowest.max():.2f} Hz"
    )
    print(f"the six modes there: {', '.join(f'{f:.1f}' for f in frequencies[at])} Hz")
    draw(lift, elbow, frequencies, figure)
    return lowest


def draw(lift, elbow, frequencies, figure: str) -> None:
    """The first mode over the workspace, and all six along a fold of the elbow."""
    page = Figure(figsize=(11, 4.5), layout="constrained")
    chart, lines = page.subplots(1, 2)
    filled = chart.contourf(lift, elbow, frequencies[..., 0], levels=20)
    page.colorbar(filled, ax=chart, label="first mode, Hz")
    chart.set(xlabel="lift, rad", ylabel="elbow, rad", title=f"{PAYLOAD:g} kg at the tool")
    middle = len(lift) // 2
    lines.semilogy(elbow[middle], frequencies[middle], label=[f"mode {k + 1}" for k in range(6)])
    lines.set(xlabel="elbow, rad", ylabel="Hz", title=f"lift = {lift[middle, 0]:.2f} rad")
    lines.legend()
    page.savefig(figure, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:2])

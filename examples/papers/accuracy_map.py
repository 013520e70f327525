"""Accuracy map: how well does the hand find its place over the workspace, with encoders, play in
the gears, servo errors and elasticity?

Run: python examples/papers/accuracy_map.py [figure.png]
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import armature as arm
from armature.dynamics.positioning.accuracy import JointErrors, hand_accuracy

ERRORS = JointErrors(
    resolution=2 * np.pi / 2**17,
    backlash={
        "pan": 2e-4,
        "lift": 2e-4,
        "elbow": 2e-4,
        "wrist_1": 4e-4,
        "wrist_2": 4e-4,
        "wrist_3": 4e-4,
    },
    servo=5e-5,
    stiffness={
        "pan": 4e4,
        "lift": 4e4,
        "elbow": 3e4,
        "wrist_1": 8e3,
        "wrist_2": 8e3,
        "wrist_3": 5e3,
    },
)


def main(figure: str = "accuracy_map.png") -> float:
    """Print the best and the worst place, draw; returns the largest scatter, mm."""
    robot = arm.library("six_axis").with_payload(3.0)
    count = 61
    lift, elbow = np.meshgrid(
        np.linspace(-2.6, -0.2, count), np.linspace(0.15, 2.6, count), indexing="ij"
    )
    q = np.zeros((count, count, robot.n))
    q[..., 1], q[..., 2], q[..., 3], q[..., 4] = lift, elbow, -lift - elbow - np.pi / 2, -np.pi / 2
    found = hand_accuracy(robot, q, "tool", ERRORS)
    hand = arm.pose(robot, q, "tool").p
    reach, height = np.hypot(hand[..., 0], hand[..., 1]), hand[..., 2]
    scatter, sag = 1e3 * found.radius, -1e3 * found.shift[..., 2]
    for name, at in (("best", np.argmin(scatter)), ("worst", np.argmax(scatter))):
        k = np.unravel_index(at, scatter.shape)
        axes, box = (
            " × ".join(f"{1e3 * x:.3f}" for x in lengths)
            for lengths in (found.ellipsoid(0.95)[0][k], found.box[k][:3])
        )
        print(
            f"{name} scatter {scatter[k]:.3f} mm rms at reach {reach[k]:.2f} m, height"
            f" {height[k]:.2f} m; it sags by {sag[k]:.2f} mm"
        )
        print(
            f"    half-axes of the ellipsoid for 95 %: {axes} mm; half-widths of the worst case:"
            f" {box} mm"
        )
    draw(reach, height, scatter, sag, figure)
    return float(scatter.max())


def draw(reach, height, scatter, sag, figure: str) -> None:
    """Scatter and sag over reach and height."""
    page = Figure(figsize=(11, 4.5), layout="constrained")
    for axes, value, title in zip(
        page.subplots(1, 2), (scatter, sag), ("scatter, mm rms", "sag under 3 kg, mm")
    ):
        dots = axes.scatter(reach, height, c=value, s=6)
        page.colorbar(dots, ax=axes, label=title)
        axes.set(xlabel="reach, m", ylabel="height, m", title=title, aspect="equal")
    page.savefig(figure, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:2])

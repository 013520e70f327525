"""IFToMM A05: a stiff flyball governor: a spinning shaft, a slider, two arms with balls, springs of
800 kN/m with dampers.

Eigenvalues down to −8100 1/s call for an implicit integrator. It is a tree: the same numbers as a
Robot with force elements."""

from math import pi, radians

import numpy as np

import armature as arm
from armature import mechanisms as mech

AXIAL, ACROSS = 5e-06, 0.025002499999999997  # rods and shaft: 0.3 kg, 1 m, 0.01 m square, kg·m²
BALL, ROD = 5.0, 0.3


def build() -> arm.Robot:
    """Shaft (spin), slider (s), two arms (alpha: below the horizontal, outwards)."""
    links = (
        arm.robot.Link("base"),
        arm.robot.Link("shaft", ROD, (0, 0, 0.5), (ACROSS, ACROSS, AXIAL, 0, 0, 0)),
        arm.robot.Link("slider", 3.0, (0, 0, 0), (0.005, 0.005, 0.005, 0, 0, 0)),
        *(arm.robot.Link(name, *arm_inertia()) for name in ("arm +", "arm -")),
    )
    flipped = ((-1.0, 0.0, 0.0), (0.0, -1.0, 0.0), (0.0, 0.0, 1.0))
    joints = (
        arm.robot.Joint("spin", "continuous", "base", "shaft", axis=(0, 0, 1)),
        arm.robot.Joint("s", "prismatic", "shaft", "slider", axis=(0, 0, 1)),
        arm.robot.Joint("alpha +", "continuous", "shaft", "arm +", (0.05, 0, 1), axis=(0, 1, 0)),
        arm.robot.Joint(
            "alpha -", "continuous", "shaft", "arm -", (-0.05, 0, 1), flipped, axis=(0, 1, 0)
        ),
    )
    return arm.Robot("flyball governor", links, joints, "base")


def arm_inertia() -> tuple:
    """A rod along x with a point mass at its end, as one body: mass, centre, moments about the
    centre."""
    mass = ROD + BALL
    centre = (ROD * 0.5 + BALL * 1.0) / mass
    across = ACROSS + ROD * (centre - 0.5) ** 2 + BALL * (1.0 - centre) ** 2
    return mass, (centre, 0.0, 0.0), (AXIAL, across, across, 0.0, 0.0, 0.0)


def springs() -> list:
    """From the middle of each arm to the slider's side."""
    common = {"stiffness": 8e5, "rest_length": 0.5, "damping": 4e4}
    sides = (("arm +", 0.05), ("arm -", -0.05))
    return [
        mech.Spring(name, "slider", (0.5, 0.0, 0.0), (side, 0.0, 0.0), **common)
        for name, side in sides
    ]


def main(duration: float = 10.0, rtol: float = 1e-8) -> arm.Trajectory:
    start = [0.0, 0.5, radians(30), radians(30)]
    times = np.linspace(0.0, duration, round(2 * duration) + 1)
    motion = arm.simulate(
        build(),
        None,
        start,
        [2 * pi, 0, 0, 0],
        duration,
        "radau",
        times=times,
        rtol=rtol,
        atol=rtol / 100,
        elements=springs(),
    )
    print(motion)
    for t, q, v in zip(motion.t, motion.q, motion.v):
        print(f"{t:4.1f} s: s = {q[1]:.9f} m, alpha = {q[2]:.9f} rad, omega = {v[0]:.7f} rad/s")
    return motion


if __name__ == "__main__":
    main()

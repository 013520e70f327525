"""Valášek 1986: every approximation can be run. Both examples of the paper: between two positions,
and along a straight line.

The servos' |u| ≤ 1, and r ≥ 0.3 m keeps the mass away from r = 0, where turning costs nothing and
the paper's own problem has no minimum."""

import itertools

import numpy as np

import armature as arm


def main() -> tuple[list[float], list[float]]:
    robot = arm.library("valasek").with_limits(
        {"r": {"lower": 0.3, "upper": 2.5}, "theta": {"lower": -1.2, "upper": 1.2}}
    )
    start, goal = np.array([0.0, 1.0, 0.5]), np.array([3.0, -1.0, 2.0])  # phi, theta, r
    rise = float(np.diff(arm.dynamics.potential_energy(robot, np.array([start, goal])))[0])

    t = np.linspace(0.0, 2.0, 201)
    x = (t / 2.0)[:, None]
    cubic = arm.Trajectory(
        t,
        start + (goal - start) * (3 * x**2 - 2 * x**3),
        (goal - start) * (3 * x - 3 * x**2),
        (goal - start) * (1.5 - 3 * x),
        robot.joint_names,
        interpolation="linear",
    )
    positional = [
        it.energy - rise for it in itertools.islice(arm.improve(robot, cubic, decrease=1e-5), 12)
    ]
    print(
        "from one position to the other, ∫ Σ u² dt:",
        " ".join(f"{value:.4f}" for value in positional),
    )
    best = arm.minimize_energy(robot, arm.Move(start, goal, duration=2.0))
    print(f"the interior solver's optimum: {best.losses:.4f}")

    a, b = (arm.pose(robot, q, "mass").p for q in (start, goal))
    path = [it.energy - rise for it in itertools.islice(along_the_line(a, b, start), 5)]
    print("along the straight line of the hand:", " ".join(f"{value:.4f}" for value in path))
    return positional, path


def along_the_line(a: np.ndarray, b: np.ndarray, start: np.ndarray):
    """The paper's path passes 3 cm from the origin, out of the range above: the arm without it."""
    task = arm.FollowPath(arm.line(a, b), duration=2.0, link="mass", start=start)
    return arm.improve(arm.library("valasek"), task, knots=1000, limited=False, decrease=0.0)


if __name__ == "__main__":
    main()

"""The hand follows a circle under the stabilising control (3.1), from a start that is off by
centimetres.

The task is three equations for six joints, f(q, t) = hand − circle(t) = 0; the control makes the
error obey f̈ + Γ₁ḟ + Γ₀f = 0, which has an exact solution to compare with. What is left of the
arm's freedom comes to rest.

Run: python examples/papers/hand_on_a_circle.py [figure.png]
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import armature as arm
from armature.dynamics.holonomic.constraints import follow_point
from armature.simulate.constraint_controller import ConstraintController

RADIUS, PERIOD, GAMMA = 0.12, 2.0, 6.0  # m, s, 1/s: both roots of the error's equation are −GAMMA


def main(figure: str = "hand_on_a_circle.png") -> float:
    """Simulate, compare the error with its exact solution, draw; returns the largest difference,
    m."""
    robot = arm.library("six_axis")
    robot = robot.with_friction(
        {name: {"viscous": 0.0, "coulomb": 0.0} for name in robot.joint_names}
    )
    home = np.array([0.4, -1.2, 1.6, -0.5, 1.2, 0.0])
    centre = arm.pose(robot, home, "tool").p - np.array([RADIUS, 0.0, 0.0])
    turn = 2 * np.pi / PERIOD

    def circle(t):
        return centre + np.array([RADIUS * np.cos(turn * t), RADIUS * np.sin(turn * t), 0.0 * t])

    control = ConstraintController(
        robot, follow_point("tool", circle), gamma0=GAMMA**2, gamma1=2 * GAMMA
    )
    start = home + np.array([0.1, -0.08, 0.06, 0.1, 0.0, 0.0])
    run = arm.simulate(
        robot,
        control,
        start,
        np.zeros(6),
        2 * PERIOD,
        times=np.linspace(0, 2 * PERIOD, 401),
        rtol=1e-9,
        atol=1e-11,
    )

    # f = e^(−Γt)(f₀ + (ḟ₀ + Γ f₀) t)
    error = control.error(run.t, run.q, run.v)
    t = run.t[:, None]
    exact = np.exp(-GAMMA * t) * (error.f[0] + (error.rate[0] + GAMMA * error.f[0]) * t)
    difference = float(np.abs(error.f - exact).max())
    print(control.report)
    print(
        f"the start is off by {1e3 * np.linalg.norm(error.f[0]):.1f} mm, the end by"
        f" {1e3 * np.linalg.norm(error.f[-1]):.2e} mm"
    )
    print(f"largest difference from the exact solution of (3.5): {difference:.1e} m")
    draw(
        run,
        arm.pose(robot, run.q, "tool").p,
        np.array([circle(x) for x in run.t]),
        error.f,
        exact,
        figure,
    )
    return difference


def draw(run, hand, wanted, error, exact, figure: str) -> None:
    """The hand's path from above, the error against its exact solution, the joints."""
    page = Figure(figsize=(12, 4), layout="constrained")
    path, errors, joints = page.subplots(1, 3)
    path.plot(wanted[:, 0], wanted[:, 1], "k:", label="circle")
    path.plot(hand[:, 0], hand[:, 1], label="hand")
    path.plot(*hand[0, :2], "o", color="C3", label="start")
    path.set(xlabel="x, m", ylabel="y, m", title="hand from above", aspect="equal")
    path.legend()
    for k, name in enumerate("xyz"):
        errors.plot(run.t, 1e3 * error[:, k], f"C{k}", label=f"{name}, simulated")
        errors.plot(run.t[::10], 1e3 * exact[::10, k], f"C{k}.", label=f"{name}, exact")
    errors.set(xlabel="t, s", ylabel="error, mm", title="f̈ + Γ₁ḟ + Γ₀f = 0", xlim=(0, 2))
    errors.legend()
    joints.plot(run.t, run.q, label=run.joint_names)
    joints.set(xlabel="t, s", ylabel="q, rad", title="joints")
    joints.legend()
    page.savefig(figure, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:2])

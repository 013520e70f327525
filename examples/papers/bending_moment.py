"""Bending moment along the forearm during a fast move: where and when is it largest, and how much
of it is dynamic?

Run: python examples/papers/bending_moment.py [figure.png]
"""

import sys

import numpy as np
from matplotlib.figure import Figure

import armature as arm
from armature.dynamics.forces.loads import drive_effort, section_loads, worst_section_loads

LINK, PAYLOAD, DURATION = "forearm", 3.0, 0.6


def fast_move(robot: arm.Robot) -> arm.Trajectory:
    """Half a turn of the base with the arm stretching: a polynomial of fifth degree, rest to
    rest."""
    start, goal = (
        np.array([0.0, -1.9, 2.0, -1.6, -1.5, 0.0]),
        np.array([2.2, -0.6, 0.6, -1.5, -1.5, 0.0]),
    )
    t = np.linspace(0.0, DURATION, 121)
    s, way = (t / DURATION)[:, None], goal - start
    q = start + way * (10 * s**3 - 15 * s**4 + 6 * s**5)
    v = way * (30 * s**2 - 60 * s**3 + 30 * s**4) / DURATION
    return arm.Trajectory(
        t, q, v, way * (60 * s - 180 * s**2 + 120 * s**3) / DURATION**2, robot.joint_names
    )


def main(figure: str = "bending_moment.png") -> float:
    """Print the worst loads and the drives' effort, draw; returns the largest bending moment,
    N·m."""
    robot = arm.library("six_axis").with_payload(PAYLOAD)
    move, along = fast_move(robot), np.linspace(0.0, 1.0, 41)
    moving = section_loads(robot, move.q, move.v, move.a, LINK, along=along)
    static = section_loads(robot, move.q, None, None, LINK, along=along)
    worst = worst_section_loads(robot, move, LINK, along)
    for name, load in worst.items():
        unit = "N" if name in ("axial", "shear") else "N·m"
        print(
            f"{name:8s} {load.value:9.1f} {unit:4s} at t = {load.time:.3f} s,"
            f" {100 * load.along:3.0f} % along the {LINK}"
        )
    effort = drive_effort(robot, move)
    for name, peak, rms, power in zip(effort.joints, effort.peak, effort.rms, effort.peak_power):
        print(f"{name:8s} peak {peak:7.1f} N·m, rms {rms:7.1f} N·m, peak power {power:7.0f} W")
    draw(move.t, along, moving.bending, static.bending, figure)
    return worst["bending"].value


def draw(t, along, moving, static, figure: str) -> None:
    """The moment over time and length, and its envelopes."""
    page = Figure(figsize=(11, 4.5), layout="constrained")
    chart, envelope = page.subplots(1, 2)
    filled = chart.contourf(t, 100 * along, moving.T, levels=20)
    page.colorbar(filled, ax=chart, label="bending moment, N·m")
    chart.set(xlabel="t, s", ylabel=f"along the {LINK}, %", title=f"{PAYLOAD:g} kg, {DURATION:g} s")
    envelope.plot(100 * along, moving.max(axis=0), label="worst in motion")
    envelope.plot(100 * along, static.max(axis=0), "--", label="worst of the same postures at rest")
    envelope.set(
        xlabel=f"along the {LINK}, %", ylabel="N·m", ylim=(0, None), title="largest bending moment"
    )
    envelope.legend()
    page.savefig(figure, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""Time per link of a chain of 10 to 1,000 links: the loop kernel."""

from __future__ import annotations

import numpy as np

import armature as arm
from armature.dynamics import linked
from benchmarks.measure import table, timed


def chain(n: int) -> arm.Robot:
    """A chain of n revolute joints about turning axes, with links of one kilogram."""
    links = [arm.robot.Link("base")]
    joints = []
    for i in range(n):
        links.append(
            arm.robot.Link(
                f"link{i}", 1.0, (0.05, 0.01, 0.02), (0.01, 0.012, 0.008, 0.0005, 0.0003, 0.0002)
            )
        )
        axis = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))[i % 3]
        joints.append(
            arm.robot.Joint(
                f"joint{i}", "revolute", links[i].name, f"link{i}", (0.1, 0.0, 0.02), axis=axis
            )
        )
    return arm.Robot("chain", tuple(links), tuple(joints), "base")


def run() -> str:
    """Forward and inverse dynamics, one thread; batches of 256 states."""
    rows, first = [], {}
    usual = linked.MANY
    linked.MANY = (
        5  # the loop also for the short chains, so that one method is compared with itself
    )
    try:
        for n in (10, 30, 100, 300, 1000):
            robot = chain(n)
            q, v, x = np.random.default_rng(0).uniform(-0.5, 0.5, (3, 256, n))
            row: list[object] = [n]
            for function in (arm.forward_dynamics, arm.inverse_dynamics):
                t = timed(
                    lambda f=function, r=robot, q=q, v=v, x=x: f(r, q, v, x), repeats=7
                ).median / (256 * n)
                first.setdefault(function, t)
                row += [f"{t * 1e9:.1f}", f"{t / first[function]:.2f}"]
            rows.append(row)
    finally:
        linked.MANY = usual
    header = [
        "links",
        "forward dynamics, ns per link and state",
        "against 10 links",
        "inverse dynamics, ns per link and state",
        "against 10 links",
    ]
    return "## Long chains, loop kernel\n\n" + table(header, rows)

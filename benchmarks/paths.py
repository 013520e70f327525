"""Path tracking: against TOPP-RA on the same grid, and random paths on the built-in robots with every limit checked between knots."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

import armature as arm
from armature.motion.path import JointPath
from armature.motion.shapes import joint_path
from armature.optimize.along_path import steps_along
from armature.optimize.certify import margins
from armature.optimize.fastest import duration_of, fastest, straight_rows
from armature.optimize.follow_path import FollowPath
from armature.optimize.instant import instants
from armature.optimize.path import path_model
from armature.robot.bounds import bounds
from armature.robot.model import Robot

ROBOTS = ("planar2", "scara", "valasek", "burgevin", "six_axis")
REPEATS = 20


def random_path(robot: Robot, seed: int, points: int = 4) -> JointPath:
    """A smooth path of the joints through random configurations within their ranges."""
    b, rng = bounds(robot), np.random.default_rng(seed)
    low, high = np.maximum(b.lower, -1.2), np.minimum(b.upper, 1.2)
    q = low + (high - low) * rng.uniform(0.3, 0.7, (points, robot.n))  # a spline swings beyond its points
    if robot.name == "valasek":  # its r has no range; the mass must stay away from r = 0
        q[:, 2] = 0.6 + 0.2 * rng.uniform(-1, 1, points)
    return joint_path(q)


def frictionless(name: str) -> Robot:
    """A robot with the limits that TOPP-RA takes: joint velocities and torques."""
    robot = arm.library(name)
    robot = robot.with_friction({joint: {"viscous": 0.0, "coulomb": 0.0} for joint in robot.joint_names})
    strong = {}
    for c in robot.drives:
        d, inf = c.drives[0], np.inf
        motor = replace(d.motor, peak_current=inf, continuous_current=inf, maximum_speed=inf, peak_heat=inf, average_heat=inf)
        amplifier = replace(d.amplifier, voltage=inf, peak_current=inf, continuous_current=inf)
        strong[c.joints[0]] = replace(d, motor=motor, amplifier=amplifier, gear=replace(d.gear, maximum_speed=inf, maximum_torque=inf))
    return robot.with_drives(strong)


def against_toppra(seeds: int = 5, grid: int = 100) -> list[str]:
    """Least time with torque and velocity limits, same grid, both from the path to the speeds."""
    import toppra as ta

    ta.setup_logging("ERROR")
    robot = frictionless("six_axis")
    step, b, p = path_model(instants(robot)).step, bounds(robot), np.linspace(0.0, 1.0, grid + 1)
    inverse = lambda q, v, a: arm.inverse_dynamics(robot, q, v, a)
    lines = ["| path | Armature | TOPP-RA | difference | Armature | TOPP-RA | ratio |", "|---|---|---|---|---|---|---|"]
    for seed in range(seeds):
        path = random_path(robot, seed)
        curve = FollowPath(path).curve(robot)

        def mine(curve=curve) -> float:
            steps = steps_along(curve, p, (0.0, 0.0))
            rows = straight_rows(step, steps).chosen(lambda name: name.startswith(("velocity", "torque")))
            return duration_of(steps, fastest(steps, rows).s)

        their_path = ta.SplineInterpolator(path.breaks, path(path.breaks).q, bc_type="not-a-knot")

        def theirs(their_path=their_path) -> float:
            speed = ta.constraint.JointVelocityConstraint(np.column_stack([-b.velocity, b.velocity]))
            scheme = ta.constraint.DiscretizationType.Interpolation
            limit = np.column_stack([-b.torque, b.torque])
            torque = ta.constraint.JointTorqueConstraint(inverse, limit, np.zeros(robot.n), discretization_scheme=scheme)
            found = ta.algorithm.TOPPRA([speed, torque], their_path, gridpoints=p, solver_wrapper="seidel").compute_parameterization(0, 0)
            s = np.asarray(found[1])  # pyright: ignore[reportOptionalSubscript]
            return float(np.sum(2 * np.diff(p) / (s[1:] + s[:-1])))

        (T, t), (T2, t2) = best_of(mine), best_of(theirs)
        lines.append(f"| {seed} | {T:.6f} s | {T2:.6f} s | {abs(T / T2 - 1):.1e} | {1e3 * t:.2f} ms | {1e3 * t2:.2f} ms | {t2 / t:.1f} × |")
    return lines


def best_of(function) -> tuple[float, float]:
    """A result and the shortest time of several runs, s."""
    result, least = function(), np.inf
    for _ in range(REPEATS):
        begin = time.perf_counter()
        result = function()
        least = min(least, time.perf_counter() - begin)
    return result, least


def random_paths(count: int = 20) -> list[str]:
    """`count` random paths on each robot: least time, then least energy at 1.4 times that; plans found and the worst margin of all."""
    lines = ["| robot | plans | found | limits exceeded | nearest limit | seconds for each |", "|---|---|---|---|---|---|"]
    for name in ROBOTS:
        robot, found, beyond, nearest, seconds = arm.library(name), 0, 0, np.inf, []
        for seed in range(count):
            path = random_path(robot, seed)
            fast = arm.minimize_time(robot, FollowPath(path))
            for plan in (fast, arm.minimize_energy(robot, FollowPath(path, duration=1.4 * fast.duration))):
                found += plan.ok
                seconds.append(plan.seconds)
                fraction = min((m.fraction for row in margins(robot, plan.trajectory).values() for m in row.values()), default=1.0)
                beyond += plan.ok and fraction < -1e-9
                nearest = min(nearest, fraction) if plan.ok else nearest
        lines.append(f"| {name} | {2 * count} | {found} | {beyond} | {100 * nearest:.3f} % left | {np.median(seconds):.2f} |")
    return lines


def run(count: int = 20) -> str:
    """The tables as Markdown."""
    parts = ["## Least time along a path, six-axis arm, torque and velocity limits, 100 steps", "", *against_toppra(), ""]
    parts += ["## Random paths, all limits checked between knots", "", *random_paths(count)]
    return "\n".join(parts)


if __name__ == "__main__":
    print(run())

"""Path tracking: against TOPP-RA on the same grid, and random paths on the built-in robots with every limit checked between knots."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace

import numpy as np

import armature as arm
from armature.optimize.along_path import knots_along, steps_along
from armature.optimize.certify import margins
from armature.optimize.fastest import duration_of, fastest, straight_rows
from armature.optimize.follow_path import FollowPath
from armature.optimize.instant import instants
from armature.optimize.path import path_model
from armature.optimize.phase_plane import Profile, best_profile
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from benchmarks.random_paths import ROBOTS, Case, case, random_joints

REPEATS = 20


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
        path = random_joints(robot, np.random.default_rng(seed))
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


@dataclass(frozen=True)
class Trial:
    """What came of one path. found: plans of two (least time, least energy at 1.4 times it).  excess: worst of all limits between knots,
    as a fraction of the limit, negative inside.  apart: by how much the interior solver's energy and the dynamic programme's differ, and
    below: by how much the literal method is below the interior solver, as fractions of the losses.  refused: reasons of the paths
    drawn before that cannot be followed.  seconds: of processor time for the two plans."""

    words: str
    found: int
    excess: float
    apart: float
    below: float
    refused: tuple[str, ...]
    seconds: float


def trial(name: str, seed: int, compared: bool = True) -> Trial:
    """Plans of one random path; compared: whether the three solvers are compared, where there are no corners."""
    c, begin = case(name, seed), time.process_time()
    fast = arm.minimize_time(c.robot, c.task)
    calm = arm.minimize_energy(c.robot, replace(c.task, duration=1.4 * fast.duration))
    seconds = time.process_time() - begin
    plans = [plan for plan in (fast, calm) if plan.ok]
    every = [m.fraction for plan in plans for row in margins(c.robot, plan.trajectory).values() for m in row.values()]
    apart, below = three_solvers(c, fast.duration) if compared and fast.ok and not c.task.path.corners else (0.0, 0.0)
    return Trial(c.words, len(plans), -min(every, default=1.0), apart, below, c.refused, seconds)


def three_solvers(c: Case, shortest: float) -> tuple[float, float]:
    """(apart, below) of a Trial: without limits of jerk and torque rate, which the programme does not know; the literal method from the
    cubic at 2.8 times the shortest duration, where that keeps the limits."""
    free = c.robot.with_limits({name: {"jerk": np.inf, "torque_rate": np.inf} for name in c.robot.joint_names})
    task = replace(c.task, path=replace(c.task.path, robot=free), duration=1.4 * shortest)
    plan = arm.minimize_energy(free, task)
    profile = programme(task)
    apart = abs(plan.energy - profile.bound) / plan.losses if plan.ok and profile is not None else np.inf
    slow = replace(task, duration=2.8 * shortest)
    try:
        last = list(itertools.islice(arm.improve(free, slow, knots=100), 6))[-1]
    except arm.ArgumentError:
        return apart, 0.0
    best = arm.minimize_energy(free, slow)
    return apart, (best.energy - last.energy) / best.losses if best.ok else 0.0


def programme(task: FollowPath) -> Profile | None:
    """The dynamic programme's least energy at the task's duration, globally on 60 steps, then on 240."""
    curve, found, T = task.path, None, float(task.duration or 1.0)
    step = path_model(instants(curve.robot)).step
    for knots in (60, 240):
        steps = steps_along(curve, knots_along(curve, knots), task.ends)
        cap = 12.0 / T
        quick = fastest(steps, straight_rows(step, steps, 1.5), cap)
        top = np.full(steps.N + 1, cap) if quick.blocked >= 0 else np.maximum(quick.s, 1e-4 * cap)
        found = best_profile(step, steps, top, T, near=found)
    return found


def random_paths(count: int = 20) -> list[str]:
    """`count` random paths on each robot: least time, then least energy at 1.4 times that; plans found and the worst margin of all."""
    lines = [
        "| robot | plans | found | limits exceeded | nearest limit | solvers apart | literal method below | refused before | CPU s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in ROBOTS:
        tried = [trial(name, seed) for seed in range(count)]
        found, beyond = sum(t.found for t in tried), sum(t.excess > 1e-9 for t in tried)
        refused = [reason for t in tried for reason in t.refused]
        placed = sum("p = " in reason for reason in refused)
        lines.append(
            f"| {name} | {2 * count} | {found} | {beyond} | {-100 * max(t.excess for t in tried):.4f} % left | "
            f"{100 * max(t.apart for t in tried):.2f} % | {100 * max(t.below for t in tried):.2f} % | "
            f"{len(refused)}, {placed} with the place | {np.median([t.seconds for t in tried]):.2f} |"
        )
    return lines


def run(count: int = 20) -> str:
    """The tables as Markdown."""
    parts = ["## Least time along a path, six-axis arm, torque and velocity limits, 100 steps", "", *against_toppra(), ""]
    parts += [f"## {count * len(ROBOTS)} random paths of joints and hand, all limits checked between knots", "", *random_paths(count)]
    return "\n".join(parts)


if __name__ == "__main__":
    print(run())

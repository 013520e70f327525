"""Path tracking: against TOPP-RA, and random paths on the built-in robots with every limit checked
between knots."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, replace

import numpy as np

import armature as arm
from armature.optimize.certificate.certify import margins
from armature.optimize.path.along_path import Timing, energy_along
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.path.programme import programme
from armature.optimize.transcription.instant import instants
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from benchmarks.random_paths import ROBOTS, Case, case, random_joints

REPEATS = 5
SUPPLIES = ("regenerative", "non-regenerative")
GAP = 1e-4  # of a duration: the programme's is another one
ITERATES = 4  # of the literal method


def plain(name: str) -> Robot:
    """A robot with the limits that TOPP-RA takes, joint velocities, accelerations and torques, and
    no drives."""
    robot = replace(arm.library(name), drives=())
    robot = robot.with_friction(
        {joint: {"viscous": 0.0, "coulomb": 0.0} for joint in robot.joint_names}
    )
    return robot.with_limits(
        {joint: {"jerk": np.inf, "torque_rate": np.inf} for joint in robot.joint_names}
    )


def toppra_time(robot: Robot, path: arm.motion.JointPath, grid: int) -> float:
    """The least time by TOPP-RA on `grid` equal steps, s."""
    import toppra as ta

    ta.setup_logging("ERROR")
    b, p, scheme = (
        bounds(robot),
        np.linspace(0.0, 1.0, grid + 1),
        ta.constraint.DiscretizationType.Interpolation,
    )
    inverse = lambda q, v, a: arm.inverse_dynamics(robot, q, v, a)
    both = lambda x: np.column_stack([-x, x])
    limits = [
        ta.constraint.JointVelocityConstraint(both(b.velocity)),
        ta.constraint.JointAccelerationConstraint(
            both(b.acceleration), discretization_scheme=scheme
        ),
        ta.constraint.JointTorqueConstraint(
            inverse, both(b.torque), np.zeros(robot.n), discretization_scheme=scheme
        ),
    ]
    theirs = ta.SplineInterpolator(path.breaks, path(path.breaks).q, bc_type="not-a-knot")
    found = ta.algorithm.TOPPRA(
        limits, theirs, gridpoints=p, solver_wrapper="seidel"
    ).compute_parameterization(0, 0)
    s = np.asarray(found[1])  # pyright: ignore[reportOptionalSubscript]
    return float(np.sum(2 * np.diff(p) / (s[1:] + s[:-1])))


def against_toppra(seeds: int = 6) -> list[str]:
    """Least time by `arm.minimize_time` as it is called by default, limits checked between knots,
    against TOPP-RA with 2,000 and 100 steps (which returns speeds at its knots only); CPU seconds,
    best of several runs."""
    lines = [
        (
            "| robot, path | `arm.minimize_time` | TOPP-RA, 2,000 steps | difference | CPU |"
            " TOPP-RA's CPU | TOPP-RA, 100 steps |"
        ),
        "|---|---|---|---|---|---|---|",
    ]
    for name, seed in itertools.product(("six_axis", "scara", "seven_axis"), range(seeds)):
        robot = plain(name)
        path = random_joints(robot, np.random.default_rng(seed))
        T, t = best_of(
            lambda r=robot, p=path: arm.minimize_time(r, FollowPath(p, floor="none")).duration
        )
        T2, t2 = best_of(lambda r=robot, p=path: toppra_time(r, p, 2000))
        T3, t3 = best_of(lambda r=robot, p=path: toppra_time(r, p, 100))
        lines.append(
            f"| {name} {seed} | {T:.6f} s | {T2:.6f} s | {100 * (T / T2 - 1):+.3f} % |"
            f" {1e3 * t:.0f} ms | {1e3 * t2:.0f} ms | {100 * (T3 / T2 - 1):+.2f} %, {1e3 * t3:.0f}"
            " ms |"
        )
    return lines


def best_of(function) -> tuple[float, float]:
    """A result and the least CPU time of several runs, s."""
    result, least = function(), np.inf
    for _ in range(REPEATS):
        begin = time.process_time()
        result = function()
        least = min(least, time.process_time() - begin)
    return result, least


@dataclass(frozen=True)
class Trial:
    """What came of one path. found: plans of two (least time, least energy at 1.4 times it).
    excess: worst of all limits between knots, as a fraction of the limit, negative inside.  apart:
    by how much the interior solver's energy and the dynamic programme's differ,
    below: by how much the literal method is below the lower of them, as fractions of the losses,
    all three counted by one quadrature along the path itself; NaN where there is nothing to
    compare.  gap: whether the programme's price had to take a duration beside the one asked
    for.  refused: reasons of the paths drawn before that cannot be followed.  seconds: of processor
    time for the two plans."""

    words: str
    found: int
    excess: float
    apart: float
    below: float
    gap: bool
    refused: tuple[str, ...]
    seconds: float


def trial(name: str, seed: int, compared: bool = True) -> Trial:
    """Plans of one random path, both supplies in turn; compared: whether the three solvers are
    compared, where there are no corners."""
    return tried(case(name, seed), SUPPLIES[(seed // 2) % 2], compared)


def tried(c: Case, supply: str, compared: bool = True) -> Trial:
    """Plans of one path."""
    begin = time.process_time()
    fast = arm.minimize_time(c.robot, c.task, supply=supply)
    calm = arm.minimize_energy(c.robot, replace(c.task, duration=1.4 * fast.duration), supply)
    seconds = time.process_time() - begin
    plans = [plan for plan in (fast, calm) if plan.ok]
    every = [
        m.fraction
        for plan in plans
        for row in margins(c.robot, plan.trajectory).values()
        for m in row.values()
    ]
    together = compared and calm.ok and not c.task.path.corners
    apart, below, gap = three_solvers(c, calm, supply) if together else (np.nan, np.nan, False)
    return Trial(
        c.words, len(plans), -min(every, default=1.0), apart, below, gap, c.refused, seconds
    )


def three_solvers(c: Case, calm: arm.Solution, supply: str) -> tuple[float, float, bool]:
    """(apart, below, gap) of a Trial: without limits of jerk and torque rate, which the programme
    does not know."""
    robot, T, b = c.robot, calm.duration, bounds(c.robot)
    if np.isfinite([b.jerk, b.torque_rate]).any():
        robot = robot.with_limits(
            {name: {"jerk": np.inf, "torque_rate": np.inf} for name in robot.joint_names}
        )
    curve = replace(c.task.path, robot=robot)
    at = lambda duration: arm.minimize_energy(robot, FollowPath(curve, duration=duration), supply)
    plan, best = calm if robot is c.robot else at(T), programme(curve, T, supply)
    if best is None or not plan.ok:
        return np.inf, np.nan, False
    gap = abs(best.profile.duration / T - 1) > GAP
    beside = at(best.profile.duration) if gap else plan
    apart = (
        abs(beside.energy - (best.energy if gap else best.limit)) / beside.losses
        if beside.ok
        else np.inf
    )
    try:
        last = list(
            itertools.islice(
                arm.improve(robot, FollowPath(curve, duration=T), supply, knots=100), ITERATES
            )
        )[-1]
    except arm.errors.ArgumentError:
        return apart, np.nan, gap
    t, p, s, a = last.place.T  # pyright: ignore[reportOptionalMemberAccess]
    literal = energy_along(instants(robot, supply), curve, Timing(p, s, a, np.diff(t)))
    return apart, (min(plan.energy, np.inf if gap else best.limit) - literal) / plan.losses, gap


def random_paths(count: int = 17) -> list[str]:
    """`count` random paths on each robot: least time, then least energy at 1.4 times that; plans
    found, the worst margin of all, and how the three solvers agree."""
    lines = [
        (
            "| robot | plans | found | limits exceeded | nearest limit | solvers compared | at most"
            " apart | literal method at most below | gaps of the hull | refused before | CPU s for"
            " two plans |"
        ),
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in ROBOTS:
        rows = [trial(name, seed) for seed in range(count)]
        found, beyond = sum(t.found for t in rows), sum(t.excess > 1e-9 for t in rows)
        refused = [reason for t in rows for reason in t.refused]
        placed, compared = (
            sum("p = " in reason for reason in refused),
            [t for t in rows if not np.isnan(t.apart)],
        )
        below = [t.below for t in rows if not np.isnan(t.below)]
        nearest = -100 * max(t.excess for t in rows)
        lines.append(
            f"| {name} | {2 * count} | {found} | {beyond} | {nearest:.4f} % left | {len(compared)},"
            f" {len(below)} | {100 * max((t.apart for t in compared), default=0.0):.3f} % |"
            f" {100 * max(below, default=-1.0):.4f} % | {sum(t.gap for t in rows)} |"
            f" {len(refused)}, {placed} with the place |"
            f" {np.median([t.seconds for t in rows]):.2f} |"
        )
    return lines


def run(count: int = 17) -> str:
    """The tables as Markdown."""
    parts = [
        "## Least time along a path without drives: velocity, acceleration and torque limits",
        "",
        *against_toppra(),
        "",
    ]
    title = (
        f"## {count * len(ROBOTS)} random paths of joints and hand, both supplies, all limits"
        " checked between knots"
    )
    return "\n".join([*parts, title, "", *random_paths(count)])


if __name__ == "__main__":
    print(run())

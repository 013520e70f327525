"""Sensitivities of plans of random arms against re-solved differences: 10 kinds of parameters of 20
arms, a third of them least times.

Two witnesses: the same discrete problem solved again for the changed robots (exact to the solver's
digits), and the planner asked again from nothing (with its own starts, modes and tolerances).
`python -m benchmarks sensitivity`; `--count N`: arms."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import armature as arm
from armature.design.free import EXACT, as_flexible
from armature.design.parameters import Parameter, parameter, parameters
from armature.design.places import move_of
from armature.design.sensitivity import optimum_of, row
from benchmarks.arms import chain, configuration, driven

KINDS = (
    "payload",
    "length",
    "mass",
    "centre",
    "inertia",
    "gear ratio",
    "resistance",
    "torque constant",
    "friction",
    "limit",
    "rotor inertia",
    "gear efficiency",
)
LIMITS = ("limit", "voltage", "current", "heat", "motor speed", "gear torque")
COUNT = 20
AGAIN = 1, 2  # arms of which the planner is asked again, both least energies
STEPS = 5e-4, 1e-4  # of a parameter, to both sides
AGREE = 0.2  # relative difference of both sides
COARSE = 2e-2  # the same where the planner is asked again
GRID = 5e-3  # of the best numbers of the thesis's robot
SMALL = 2e-3  # elasticity below which a difference tells nothing to 1 %


class Compared(NamedTuple):
    """One parameter of one arm: what the plan says, and what solving again does, each as % per %.
    replanned: by the planner, NaN where not asked."""

    arm: str
    of: str
    kind: str
    parameter: str
    told: float
    resolved: float
    replanned: float


def run() -> str:
    """The section of the results."""
    count = int(sys.argv[sys.argv.index("--count") + 1]) if "--count" in sys.argv else COUNT
    begin = time.process_time()
    exact, approximate, found = 0, [], []
    while exact < count:
        number = exact + len(approximate)
        plan = quiet_plan(number)
        if optimum_of(plan).exact:
            exact += 1
            found += compared_plan(plan, number in AGAIN)
        else:
            approximate.append(plan.robot.name)
    lines = ["## Sensitivities against re-solved differences", ""]
    lines += [
        f"{count} random arms of 2 and 3 axes, {len(found)} parameters of {len(KINDS)} kinds. Left"
        f" out: {len(approximate)} plans whose sensitivities say that they are approximate"
        f" ({', '.join(approximate) or 'none'})."
    ]
    lines += [
        "",
        "| kind | parameters | largest error | planned again: median, 90 % |",
        "|---|--:|--:|--:|",
    ]
    for kind in KINDS:
        rows = [x for x in found if x.kind == kind]
        if rows:
            again = [error(x.told, x.replanned) for x in rows if np.isfinite(x.replanned)]
            shown = (
                f"{100 * np.median(again):.2f} %, {100 * np.quantile(again, 0.9):.1f} %"
                if again
                else ""
            )
            worst = max(error(x.told, x.resolved) for x in rows)
            lines.append(f"| {kind} | {len(rows)} | {100 * worst:.2g} % | {shown} |")
    lines += ["", *thesis()]
    lines += ["", f"CPU {time.process_time() - begin:.0f} s."]
    return "\n".join(lines)


def error(told: float, found: float) -> float:
    """Relative difference; of elasticities that are nearly nothing, a part of SMALL."""
    return abs(told - found) / max(abs(found), SMALL)


def random_plan(number: int) -> Any:
    """The plan of a random move of a random arm: the shortest of every third."""
    rng = np.random.default_rng([28, number])
    robot = chain(f"arm{number}", int(rng.integers(2, 4)), rng)
    robot = driven(robot, robot.tips[0], 0.15 * robot.mass, rng)
    # drives and masses as parameters of the kernels: changed robots need no compiling
    robot = as_flexible(robot.with_payload(float(rng.uniform(0.0, 0.1)) * robot.mass))
    for _ in range(20):
        start, goal = (configuration(robot, rng) for _ in range(2))
        move = arm.Move(start, goal, smoothness=0.0, floor=None, acceleration_limits="none")
        fast = arm.minimize_time(robot, move)
        if not fast.ok:
            continue
        if number % 3 == 0:
            return fast
        supply = "regenerative" if number % 2 else "non-regenerative"
        duration = float(rng.uniform(1.1, 2.0)) * fast.duration
        plan = arm.minimize_energy(robot, replace(move, duration=duration), supply)
        if plan.ok:
            return plan
    raise RuntimeError(f"arm {number} has no plan")


def quiet_plan(number: int) -> Any:
    """A random plan, without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", arm.errors.ArmatureWarning)
        return random_plan(number)


def compared_plan(
    plan: Any, again: bool = False, without: Collection[str] = ()
) -> Iterator[Compared]:
    """The largest sensitivity of every kind of one arm. again: ask the planner too.  without: kinds
    that are left out."""
    optimum = optimum_of(plan)
    of = "time" if optimum.timed else "losses"
    for kind in (kind for kind in KINDS if kind not in without):
        known = [p for p in parameters(plan.robot) if is_of(kind, p.name)]
        rows = [row(plan, optimum, p, of) for p in known]
        best = max(rows, key=lambda r: abs(r.elasticity), default=None)
        if best is None or abs(best.elasticity) < SMALL:
            continue
        p = parameter(plan.robot, best.parameter)
        scale = p.value / optimum.result.cost
        found = scale * resolved(plan, optimum, p)
        wide = scale * replanned(plan, p, of) if again else np.nan
        yield Compared(plan.robot.name, of, kind, p.name, best.derivative * scale, found, wide)


def is_of(kind: str, name: str) -> bool:
    """Whether a parameter is of a kind."""
    first = name.partition(" of ")[0]
    if kind == "limit":
        return any(word in first for word in LIMITS)
    return first.startswith(kind) or (kind == "friction" and first.endswith(kind))


def resolved(plan: Any, optimum: Any, p: Parameter) -> float:
    """The difference quotient of the same discrete problem, solved again on both sides. Where both
    sides disagree a search has left for another optimum, and the step is made smaller."""
    mean = np.nan
    for step in STEPS:
        slopes = []
        for side in (-step, step):
            robot = p.change(plan.robot, p.value * (1.0 + side))
            found = optimum.solved(robot, move_of(robot, plan.task, optimum.problem.move))
            cost = np.nan if found is None else found.result.cost
            slopes.append((cost - optimum.result.cost) / (side * p.value))
        mean = sum(slopes) / 2.0
        if abs(slopes[1] - slopes[0]) < AGREE * abs(mean):
            break
    return mean


def replanned(plan: Any, p: Parameter, of: str) -> float:
    """The difference quotient of plans made from nothing on both sides."""
    costs = []
    for side in (-1.0, 1.0):
        robot = p.change(plan.robot, p.value * (1.0 + side * COARSE))
        new = (
            arm.minimize_time(robot, plan.task)
            if of == "time"
            else arm.minimize_energy(robot, plan.task, plan.supply, options=EXACT)
        )
        costs.append(new.duration if of == "time" else new.losses)
    return (costs[1] - costs[0]) / (2.0 * COARSE * p.value)


def thesis() -> Iterator[str]:
    """The best reductions and housing of the thesis's robot, and where a grid of plans made again
    around them has its least (a paraboloid through it)."""
    robot = arm.library("burgevin").with_payload(2.0)
    places = [0.0, np.pi / 3, 0.3], [np.pi / 2, 2 * np.pi / 3, 0.8]
    move = arm.Move(*places, 0.8, smoothness=0.0, floor=None, acceleration_limits="none")
    ratios = {"gear ratio of phi": (3, 60), "gear ratio of theta": (3, 60)}
    for free in (ratios | {"gear ratio of r": (5, 200)}, {"centre z of head": (-0.5, 0.3)}):
        design = arm.design.optimize_parameters(robot, move, free)
        best = np.array([*design.values.values()])
        numbers = [parameter(robot, name) for name in free]
        steps = GRID * np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * len(best)), -1)
        steps = steps.reshape(-1, len(best))
        costs = []
        for step in steps:
            other = robot
            for number, value in zip(numbers, best * (1.0 + step)):
                other = number.change(other, float(value))
            plan = arm.minimize_energy(
                as_flexible(other), move, guess=design.plans[0].trajectory, options=EXACT
            )
            costs.append(plan.losses)
        off = vertex(steps, np.array(costs))
        yield (
            f"{design.before:.5g} → {design.after:.5g} J by "
            + ", ".join(f"{k} {v:.5g}" for k, v in design.values.items())
            + f" in {design.evaluations} evaluations, CPU {design.seconds:.1f} s; of"
            f" {len(costs)} plans around it the cheapest costs"
            f" {100 * (min(costs) / design.after - 1):+.4f} %, and the least of a paraboloid is off"
            f" by {100 * np.abs(off).max():.3f} %."
        )


def vertex(x: np.ndarray, costs: np.ndarray) -> np.ndarray:
    """Where a paraboloid through costs (K,) at x (K, n) has its least."""
    n = x.shape[1]
    pairs = [(i, j) for i in range(n) for j in range(i, n)]
    columns = [np.ones(len(x)), *x.T, *(x[:, i] * x[:, j] for i, j in pairs)]
    found = np.linalg.lstsq(np.stack(columns, 1), costs / costs.min(), rcond=None)[0]
    H = np.zeros((n, n))
    for (i, j), value in zip(pairs, found[1 + n :]):
        H[i, j] += value
        H[j, i] += value
    return -np.linalg.solve(H, found[1 : 1 + n])

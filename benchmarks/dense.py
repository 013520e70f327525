"""Certified plans checked on 400,000 instants each by plain formulas: `python -m benchmarks dense`.

`--count N`: so many moves (30 by default), of the arms of arms.py and others.py in turn. Torques come from inverse dynamics
on evenly spaced instants, the drives' laws from `Drive.flow` on arrays; no break points, no polynomials, no bounds.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import armature as arm
from armature.drive import as_supply, stack
from armature.motion.trajectory import Trajectory
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from benchmarks import moves
from benchmarks.others import KINDS, NAMES, SUPPLIES

INSTANTS = 400_000
BLOCK = 20_000
FIRST = 90_000  # numbers of the draws: no other section uses them
QUICK = ("burgevin", "six_axis", "scara", "planar2", "seven_axis", "chain0", "chain1", "chain2", "chain3")


def exceeded(robot: Robot, motion: Trajectory, instants: int = INSTANTS) -> dict[str, float]:
    """By which part of itself each limit is exceeded at most, on evenly spaced instants; limits over the whole motion by their mean."""
    t = motion.t[0] + motion.duration * (np.arange(instants) + 0.5) / instants
    worst: dict[str, float] = {}
    means: dict[str, float] = {}
    for block in np.array_split(t, max(1, instants // BLOCK)):
        for name, value, bound, mean in values(robot, motion, block):
            if mean:
                means[name] = means.get(name, 0.0) + float(np.sum(value)) / instants / bound
            else:
                scale = bound if bound > 0.0 else 1.0
                worst[name] = max(worst.get(name, -np.inf), float(np.max(value) - bound) / scale)
    return worst | {name: part - 1.0 for name, part in means.items()}


def values(robot: Robot, motion: Trajectory, t: np.ndarray) -> Iterator[tuple[str, np.ndarray, float, bool]]:
    """(name, values at times t, bound, whether the mean is limited) of every finite limit."""
    q, v, a = motion(t)
    b, train = bounds(robot), robot.drivetrain
    tau = np.asarray(arm.inverse_dynamics(robot, q, v, a))
    torque = np.stack(np.broadcast_arrays(*train.delivered_torque(tau, v)), axis=-1)
    for j, name in enumerate(robot.joint_names):
        kinds = (("upper", q, b.upper), ("lower", -q, -b.lower), ("velocity", np.abs(v), b.velocity))
        for what, x, bound in (*kinds, ("acceleration", np.abs(a), b.acceleration), ("torque", np.abs(torque), b.torque)):
            if np.isfinite(bound[j]):
                yield f"{what} of {name}", x[:, j], float(bound[j]), False
    flows = train.flow(tau, v, a)
    for axis, name, limit in train.limits():
        value = limit.sign * np.broadcast_to(getattr(flows[axis], limit.quantity), t.shape)
        yield f"{limit.name} ({limit.sign:+g}) of {name}", value, limit.bound, limit.mean


def energy(robot: Robot, motion: Trajectory, supply: Any, instants: int = INSTANTS) -> float:
    """Net energy drawn by the midpoint rule, J."""
    t = motion.t[0] + motion.duration * (np.arange(instants) + 0.5) / instants
    powers = []
    for block in np.array_split(t, max(1, instants // BLOCK)):
        q, v, a = motion(block)
        powers.append(stack(robot.drivetrain.flow(np.asarray(arm.inverse_dynamics(robot, q, v, a)), v, a), "power"))
    account = as_supply(supply).account(np.full(instants, motion.duration / instants), np.concatenate(powers))
    return float(np.sum(account.drawn) - np.sum(account.returned))


def draws(count: int) -> Iterator[moves.Draw]:
    """Moves of the quick arms and of arms for which nothing was tuned, in turn."""
    for number in range(FIRST, FIRST + count):
        yield moves.draw(number, NAMES, KINDS, SUPPLIES) if number % 3 == 0 else moves.draw(number, QUICK)


def run() -> str:
    """The table."""
    count = int(sys.argv[sys.argv.index("--count") + 1]) if "--count" in sys.argv else 30
    plans = certified = proved = 0
    beyond: list[tuple[float, str]] = []
    off: list[float] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for d in draws(count):
            plan = moves.planned(d)
            plans += plan.ok
            if not (plan.ok and plan.certificate.ok):
                print(f"  {d.number}: {d.arm}, {d.kind}: {plan.diagnosis or plan.certificate.worst}", flush=True)
                continue
            certified, proved = certified + 1, proved + plan.certificate.proved
            worst = exceeded(d.robot, plan.trajectory)
            name = max(worst, key=lambda key: worst[key])
            beyond.append((worst[name], f"{d.number}: {d.arm}, {d.kind}: {name}"))
            exact = energy(d.robot, plan.trajectory, plan.supply) if d.supply != "bus" else plan.energy
            off.append(abs(plan.energy - exact) / max(plan.ledger.throughput, 1e-12))
            print(f"  {d.number}: {d.arm}, {d.kind}: {worst[name]:+.1e} {name}; energy off by {off[-1]:.1e}", flush=True)
    largest = max(beyond, default=(0.0, "none"))
    return "\n".join([
        "## Certified plans on a dense grid",
        f"{count} moves, {plans} plans, {certified} certified, {proved} of them proved at every instant; {INSTANTS} instants each.",
        f"Most that a limit is exceeded by: {largest[0]:+.2e} of itself ({largest[1]}); over 1e-3: {sum(x > 1e-3 for x, _ in beyond)}.",
        f"Energy of the ledger against the dense sum: off by at most {max(off, default=0.0):.1e} of what went through.",
    ])  # fmt: skip

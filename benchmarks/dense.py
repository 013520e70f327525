"""Certified plans of fresh random arms, checked on 400,000 instants each by plain formulas: `python
-m benchmarks dense`.

`--count N`: so many moves (300 by default); `--first N`: number of the first one, from which all
of it is drawn; `--minutes M`: no move is begun after that. An arm makes twelve moves, so that its
equations are compiled once for them; durations are multiples of the shortest joint cubic's, and
plans have few knots: what is checked is the certificate, which few knots try hardest. Torques come
from inverse dynamics on evenly spaced instants, the drives' laws from `Drive.flow` on arrays; no
break points, no polynomials, no bounds. Jerk and torque rate are differences of neighbouring
instants of a step.
"""

from __future__ import annotations

import functools
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import armature as arm
from armature.drive import as_supply, stack
from armature.motion.trajectory import Trajectory
from armature.optimize.transcription.guess import joint_cubic
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from benchmarks import arms, moves, others

INSTANTS = 400_000
BLOCK = 20_000
FIRST = 90_000  # numbers of the draws: no other section uses them
EACH = 12  # moves of an arm
KNOTS = 30
FACTORS = 0.95, 2.5  # of the shortest joint cubic's duration
AXES = 2, 3, 6, 4, 7, 5, 1  # of one arm after the other
KINDS = "plain", "plain", "near", "via", "moving", "rates"
OVER = 1e-3  # part of a limit that a certified plan may exceed it by


def exceeded(robot: Robot, motion: Trajectory, instants: int = INSTANTS) -> dict[str, float]:
    """By which part of itself each limit is exceeded at most, on evenly spaced instants; limits
    over the whole motion by their mean."""
    t = motion.t[0] + motion.duration * (np.arange(instants) + 0.5) / instants
    worst: dict[str, float] = {}
    means: dict[str, float] = {}
    for block in np.array_split(t, max(1, instants // BLOCK)):
        for name, value, bound, scale, mean in values(robot, motion, block):
            if mean:
                means[name] = means.get(name, 0.0) + float(np.sum(value)) / instants / bound
            else:
                worst[name] = max(worst.get(name, -np.inf), float(np.max(value) - bound) / scale)
    return worst | {name: part - 1.0 for name, part in means.items()}


def values(
    robot: Robot, motion: Trajectory, t: np.ndarray
) -> Iterator[tuple[str, np.ndarray, float, float, bool]]:
    """(name, values at times t, bound, scale, whether the mean is limited) of every finite limit.

    An excess is counted in parts of the scale: the range's width for its ends, which have no size
    of their own, the limit itself for the others.
    """
    q, v, a = motion(t)
    b, train = bounds(robot), robot.drivetrain
    tau = np.asarray(arm.inverse_dynamics(robot, q, v, a))
    torque = np.stack(np.broadcast_arrays(*train.delivered_torque(tau, v)), axis=-1)
    for j, name in enumerate(robot.joint_names):
        kinds = (
            ("upper", q, b.upper),
            ("lower", -q, -b.lower),
            ("velocity", np.abs(v), b.velocity),
        )
        for what, x, bound in (
            *kinds,
            ("acceleration", np.abs(a), b.acceleration),
            ("torque", np.abs(torque), b.torque),
        ):
            if np.isfinite(bound[j]):
                ends = what in ("upper", "lower") or not bound[j]
                scale = b.upper[j] - b.lower[j] if ends else bound[j]
                scale = float(scale) if np.isfinite(scale) else 1.0
                yield f"{what} of {name}", x[:, j], float(bound[j]), scale, False
    step = np.searchsorted(motion.t, t)
    dt = np.where(
        np.diff(step) == 0, np.diff(t), np.inf
    )  # a jump at a knot counts over a step, which the certificate does
    for what, x, bound in (("jerk", a, b.jerk), ("torque rate", tau, b.torque_rate)):
        for j in np.flatnonzero(np.isfinite(bound)):
            yield (
                f"{what} of {robot.joint_names[j]}",
                np.abs(np.diff(x[:, j]) / dt),
                float(bound[j]),
                float(bound[j]),
                False,
            )
    flows = train.flow(tau, v, a)
    for axis, name, limit in train.limits():
        value = limit.sign * np.broadcast_to(getattr(flows[axis], limit.quantity), t.shape)
        yield (
            f"{limit.name} ({limit.sign:+g}) of {name}",
            value,
            limit.bound,
            limit.bound or 1.0,
            limit.mean,
        )


def energy(robot: Robot, motion: Trajectory, supply: Any, instants: int = INSTANTS) -> float:
    """Net energy drawn by the midpoint rule, J."""
    t = motion.t[0] + motion.duration * (np.arange(instants) + 0.5) / instants
    powers = []
    for block in np.array_split(t, max(1, instants // BLOCK)):
        q, v, a = motion(block)
        powers.append(
            stack(
                robot.drivetrain.flow(np.asarray(arm.inverse_dynamics(robot, q, v, a)), v, a),
                "power",
            )
        )
    account = as_supply(supply).account(
        np.full(instants, motion.duration / instants), np.concatenate(powers)
    )
    return float(np.sum(account.drawn) - np.sum(account.returned))


class Check(NamedTuple):
    """What was found of one plan: whether proved at every instant, the greatest excess as a part of
    its limit, that limit's name, the difference of the energies as a part of what went through."""

    draw: moves.Draw
    proved: bool
    excess: float
    limit: str
    energy: float


@functools.lru_cache(maxsize=1)
def fresh(number: int) -> arms.Arm:
    """A random chain of 1 to 7 axes, every other one with drives of the catalogue; the others with
    made-up drives and lossy gears."""
    rng = np.random.default_rng(number)
    robot = arms.chain(f"fresh{number}", AXES[number % len(AXES)], rng)
    link, payload = robot.tips[0], 0.1 * robot.mass
    made = arms.driven(robot, link, payload, rng) if number % 2 else others.driven(robot, rng)
    return arms.Arm(made, link, payload)


def draw(number: int) -> moves.Draw:
    """The move of this number: ends that the drives hold, a payload, a supply, a duration."""
    rng = np.random.default_rng(number)
    source = fresh(number // EACH)
    kind, supply = str(rng.choice(KINDS)), str(rng.choice(others.SUPPLIES))
    robot = source.loaded(source.payload * float(rng.uniform()))
    if kind == "rates":
        robot = robot.with_limits({name: moves.rates(robot, name) for name in robot.joint_names})
    start, goal = (moves.standing(robot, rng, kind == "near") for _ in range(2))
    least = arm.time_scaling(robot, joint_cubic(start, goal, 1.0)).shortest
    factor = float(rng.uniform(*FACTORS))
    duration = factor * (least if np.isfinite(least) else 2.0)
    middle = 0.5 * (start + goal)
    via = (middle + 0.2 * (moves.standing(robot, rng) - start),) if kind == "via" else ()
    speed = 0.3 * (goal - start) / duration if kind == "moving" else np.zeros(robot.n)
    ends = {"start_velocity": speed * rng.uniform(0, 1), "goal_velocity": speed * rng.uniform(0, 1)}
    move = arm.Move(start, goal, duration, via=via, smoothness=0.0, floor=None, **ends)
    return moves.Draw(number, source.robot.name, kind, supply, factor, robot, move)


def check(number: int) -> Check | str:
    """The move of this number, planned and checked; why not, where it was refused or is not
    certified."""
    d = draw(number)
    supply = others.bus(d.robot) if d.supply == "bus" else d.supply
    plan = arm.minimize_energy(d.robot, d.move, supply, knots=KNOTS)
    if not (plan.ok and plan.certificate.ok):
        return (
            f"not certified: {d.arm}, {d.robot.n} axes, {d.kind}:"
            f" {plan.diagnosis or plan.certificate.worst}"
        )
    worst = exceeded(d.robot, plan.trajectory)
    limit = max(worst, key=lambda key: worst[key])
    exact = energy(d.robot, plan.trajectory, plan.supply) if d.supply != "bus" else plan.energy
    off = abs(plan.energy - exact) / max(plan.ledger.throughput, 1e-12)
    return Check(d, plan.certificate.proved, worst[limit], limit, off)


def checks(first: int, count: int, minutes: float) -> Iterator[Check | str]:
    """One after the other, a line each; what fails is told, and the next one comes."""
    begin = time.monotonic()
    for number in range(first, first + count):
        if time.monotonic() - begin > 60.0 * minutes:
            return
        try:
            found = check(number)
        except (
            Exception
        ) as e:  # a refusal, or a mistake of the program: the others shall be checked all the same
            found = (
                f"{'refused' if isinstance(e, arm.ArmatureError) else 'FAILED'}:"
                f" {type(e).__name__}: {e}"
            )
        words = " ".join(found.split()) if isinstance(found, str) else _words(found)
        print(f"  {number}: {words}", flush=True)
        yield found


def _words(c: Check) -> str:
    d, mark = c.draw, " EXCEEDED" if c.excess > OVER else ""
    return (
        f"{d.arm}, {d.robot.n} axes, {d.kind}, {d.supply}: {c.excess:+.1e} {c.limit}{mark}; energy"
        f" off by {c.energy:.1e}"
    )


def _option(name: str, default: float) -> float:
    return float(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv[:-1] else default


def run() -> str:
    """The figures."""
    first, count = int(_option("--first", FIRST)), int(_option("--count", 300))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(checks(first, count, _option("--minutes", np.inf)))
    good = [c for c in found if not isinstance(c, str)]
    words = lambda c: (
        f"{c.excess:+.2e} of itself ({c.draw.number}: {c.draw.arm}, {c.draw.kind}: {c.limit})"
    )
    worst = max(good, key=lambda c: c.excess, default=None)
    off, proved = max((c.energy for c in good), default=0.0), sum(c.proved for c in good)
    return "\n".join(
        [
            "## Certified plans of fresh random arms on a dense grid",
            (
                f"{len(found)} moves, {len(good)} certified plans, {proved} of them proved at every"
                f" instant; {INSTANTS} instants each."
            ),
            (
                f"Plans that exceed a limit by more than {OVER:g} of itself:"
                f" {sum(c.excess > OVER for c in good)}."
            ),
            (
                "Most that a limit is exceeded by:"
                f" {'none was checked' if worst is None else words(worst)}."
            ),
            (
                f"Energy of the ledger against the dense sum: off by at most {off:.1e} of what went"
                " through."
            ),
        ]
    )

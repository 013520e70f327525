"""Why there is no plan, and what would make one possible (X5): a sentence with the number that helps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.errors import ArgumentError
from armature.optimize.plan import Attempt
from armature.optimize.solution import Diagnosis
from armature.optimize.task import Ends
from armature.robot.model import Limits, Robot


def forbidden(robot: Robot, ends: Ends) -> Diagnosis | None:
    """What is wrong with the ends of a move by themselves: outside a range, too fast, or too heavy to hold."""
    checks = ((what, q, v) for what, q, v in (("start", ends.q0, ends.v0), ("goal", ends.q1, ends.v1)))
    for what, q, v in checks:
        found = outside(robot, what, q, v) or (unheld(robot, what, q) if not np.any(v) else None)
        if found is not None:
            return found
    return None


def outside(robot: Robot, what: str, q: np.ndarray, v: np.ndarray) -> Diagnosis | None:
    """An end beyond a joint's range or velocity limit."""
    for j, name in enumerate(robot.joint_names):
        limits = joint_limits(robot, name)
        if not limits.lower <= q[j] <= limits.upper:
            near = limits.lower if q[j] < limits.lower else limits.upper
            sentence = (
                f"The {what} is out of range: joint {name!r} at {q[j]:.6g} may move from {limits.lower:.6g} to {limits.upper:.6g} rad or m."
            )
            remedy = f"Its nearest value in range is {near:.6g}."
            return Diagnosis(sentence, f"range of {name}", name, amount=float(abs(q[j] - near)), remedy=remedy)
        if abs(v[j]) > limits.velocity:
            sentence = f"The {what} is too fast: joint {name!r} at {v[j]:.6g}, its velocity limit is {limits.velocity:.6g} rad/s or m/s."
            excess = float(abs(v[j]) - limits.velocity)
            return Diagnosis(sentence, f"velocity of {name}", name, amount=excess, remedy=f"Take at most {limits.velocity:.6g}.")
    return None


def joint_limits(robot: Robot, name: str) -> Limits:
    """The limits of a joint; none for one coordinate of a joint with several."""
    try:
        return robot.joint(name).limits
    except ArgumentError:
        return Limits()


class Load(NamedTuple):
    """What holding asks of a limit: its name, the joint or axis, value and bound, and the unit."""

    limit: str
    joint: str
    value: float
    bound: float
    unit: str


def at_rest(robot: Robot, q: np.ndarray) -> np.ndarray:
    """(n,) torques that gravity asks for at rest."""
    zero = np.zeros(robot.n)
    return np.asarray(inverse_dynamics(robot, q, zero, zero))


def holding(robot: Robot, tau: np.ndarray) -> Iterator[Load]:
    """What holding still against the torques tau (n,) asks of every limit of torque, current and heat; friction and gears help."""
    train = robot.drivetrain
    for j, name in enumerate(robot.joint_names):
        helped = max(0.0, abs(tau[j]) - train.frictions[j].holding(tau[j]))
        yield Load("torque", name, helped, joint_limits(robot, name).torque, "N·m or N")
    needed = np.sign(tau) * [max(0.0, abs(t) - f.holding(t)) for t, f in zip(tau, train.frictions)]
    for drive, name, torque in zip(train.drives, train.axis_names, train.axis_torque(needed)):
        current = abs(drive.holding_current(float(torque)))
        yield Load("peak current", name, current, min(drive.motor.peak_current, drive.amplifier.peak_current), "A")
        yield Load("peak heat", name, drive.motor.resistance * current**2, drive.motor.peak_heat, "W")
        yield Load("gear torque", name, abs(float(torque)), drive.gear.maximum_torque, "N·m or N")


def unheld(robot: Robot, what: str, q: np.ndarray) -> Diagnosis | None:
    """A rest position that the drives cannot hold, with the mass that must come off the tip."""
    over = [load for load in holding(robot, at_rest(robot, q)) if load.value > load.bound * (1 + 1e-9)]
    if not over:
        return None
    worst = max(over, key=lambda load: load.value / load.bound if load.bound else np.inf)
    sentence = (
        f"The {what} cannot be held: {worst.limit} of {worst.joint} would be {worst.value:.4g} {worst.unit}, "
        f"its limit is {worst.bound:.4g} {worst.unit}."
    )
    excess = excess_mass(robot, q)
    if excess is None:
        remedy = "No lighter payload would do: choose another position or stronger drives."
    else:
        tip = robot.tips[0]
        remedy = f"With {excess:.4g} kg less at {tip!r} (now {robot.link(tip).mass:.4g} kg with its payload) it could."
    return Diagnosis(sentence, worst.limit, worst.joint, amount=worst.value - worst.bound, remedy=remedy, excess_payload=excess)


def excess_mass(robot: Robot, q: np.ndarray) -> float | None:
    """The least mass, kg, taken off at the tip's origin with which q can be held; None where no mass of the tip's link suffices."""
    if len(robot.tips) != 1:
        return None
    carrier = robot.tips[0]
    tau = at_rest(robot, q)
    slope = at_rest(robot.with_payload(1.0), q) - tau  # torque per kilogram

    def held(less: float) -> bool:
        return all(load.value <= load.bound * (1 + 1e-9) for load in holding(robot, tau - less * slope))

    most = max(robot.link(carrier).mass, 100.0)
    tries = np.linspace(0.0, most, 401)
    good = next((m for m in tries if held(m)), None)
    if good is None:
        return None
    low, high = max(0.0, good - tries[1]), float(good)
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if held(middle) else (middle, high)
    return high


def diagnose(best: Attempt, fastest: Attempt | None) -> Diagnosis:
    """Which limit stands in the way of a search that failed, by how much, and what would help. fastest: the shortest motion known."""
    problem, result = best.problem, best.result
    worst = result.violations[0] if result.violations else None
    joint = worst.name.rpartition(" of ")[2] if worst else ""
    at = None if worst is None or worst.knot is None else float(best.motion.t[min(worst.knot, problem.N)])
    if fastest is not None and fastest.ok and fastest.motion.duration > problem.duration:
        T = fastest.motion.duration
        sentence = f"{problem.duration:.4g} s is too short: the shortest motion found takes {T:.4g} s."
        limit = f"{worst.name} is in the way" + ("" if at is None else f" at t = {at:.3g} s") + "." if worst else ""
        return Diagnosis(
            sentence, worst.name if worst else "", joint, at, worst.amount if worst else 0.0,
            f"Allow at least {T:.4g} s. {limit}".strip(), shortest_duration=T,
        )  # fmt: skip
    if worst is None:
        return Diagnosis(result.status.value, remedy="Try another starting motion (guess=…), more knots or more time.")
    when = "" if at is None else f" at t = {at:.4g} s"
    sentence = f"No motion was found: {worst.name} is exceeded by {worst.amount:.3g}{when} at best."
    return Diagnosis(sentence, worst.name, joint, at, worst.amount, "Relax this limit, or choose other end points.")

"""What is wrong with a task by itself, before any search: places out of range, ends too fast,
positions that cannot be held."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from armature.dynamics.recursion.mass import mass_matrix
from armature.optimize.certificate.certify import MEANS, Margin, torque_margins
from armature.optimize.certificate.solution import Diagnosis
from armature.optimize.diagnosis.holding import (
    Load,
    at_rest,
    carrier,
    excess_mass,
    joint_limits,
    too_heavy,
)
from armature.optimize.diagnosis.lighter import greatest_payload
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move, configuration, velocity
from armature.robot.check import principal_moments
from armature.robot.model import Robot
from armature.robot.unit import unit_of

ROUNDING = 1e-9
KNOTS = 50  # of the search for the greatest payload
SAME = 0.99  # of a payload that can be held: one so near that can be moved is not told beside it
# of the payload that a motion with few knots moves: what is told, so that plans with all knots do
# too
SPARE = 0.975
# times the limit of a mean: what the joint cubic exceeds by less, quick motions may not
FAR_OVER_MEAN = 5.0
# of the joint cubic's speed: dry friction knows its direction, and nothing else matters
CREEPING = 1e-3


def forbidden(robot: Robot, move: Move, search: bool = True) -> Diagnosis | None:
    """Why a move cannot be made: an end or a via point out of range or too fast, or an end too
    heavy to hold.

    search: whether to look, for about a second, for the greatest payload that can be moved in the
    duration."""
    ends = move.vectors(robot)
    places = [("start", ends.q0, ends.v0), *vias(robot, move), ("goal", ends.q1, ends.v1)]
    at = np.array([q for _, q, _ in places])
    stuck = runs_away(robot, at) or (immovable(robot, at) if not np.any(ends.v0) else None)
    if stuck is not None:
        return stuck
    for what, q, v in places:
        found = (
            out_of_range(robot, what, q)
            or too_fast(robot, what, v)
            or running_out(robot, what, q, v)
        )
        if found is not None:
            return found
    held = {what: q for what, q, v in (places[0], places[-1]) if not np.any(v)}
    found = next((found for what in held if (found := unheld(robot, what, held)) is not None), None)
    able = (
        search
        and move.duration is not None
        and not robot.loops
        and found is not None
        and found.greatest_payload is not None
    )
    return lighter_still(robot, move, found) if able and found is not None else found


def vias(robot: Robot, move: Move) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Via points by name, with their velocities (zero where free)."""
    found = []
    for k, via in enumerate(move.via, start=1):
        q = configuration(robot, via.configuration, f"via configuration {k}")
        v = (
            np.zeros(robot.n)
            if via.velocity is None
            else velocity(robot, via.velocity, f"velocity of via {k}")
        )
        found.append(("via point" if len(move.via) == 1 else f"via point {k}", q, v))
    return found


def runs_away(robot: Robot, places: np.ndarray) -> Diagnosis | None:
    """A link whose inertia is negative, where that makes the kinetic energy of the whole arm
    negative at a place (k, n): no simulation of it ends."""
    wrong = [x for x in robot.links if principal_moments(x.inertia)[0] < 0.0]
    if not wrong or robot.loops:
        return None
    least = min(float(np.linalg.eigvalsh(mass_matrix(robot.tree, q))[0]) for q in places)
    if least >= 0.0:
        return None
    link = min(wrong, key=lambda x: principal_moments(x.inertia)[0])
    moments = ", ".join(f"{x:.4g}" for x in principal_moments(link.inertia))
    return Diagnosis(
        f"The arm cannot move as a body does: link {link.name!r} has principal moments of inertia"
        f" {moments} kg·m², and the kinetic energy of the whole arm is negative.",
        f"inertia of {link.name}",
        amount=-least,
        remedy="Correct the link's inertia in the robot's file: no moment can be negative.",
    )


def immovable(robot: Robot, places: np.ndarray) -> Diagnosis | None:
    """A joint at rest that must move from place to place (k, n), and has a limit of 0: in many
    files that means "not known"."""
    for j in np.flatnonzero(np.ptp(places, axis=0) > ROUNDING):
        name = robot.joint_names[j]
        for quantity in ("velocity", "acceleration", "jerk", "torque"):
            if getattr(joint_limits(robot, name), quantity) == 0.0:
                sentence = f"Joint {name!r} cannot move: its limit of {quantity} is 0."
                remedy = (
                    f"Set it among the task's limits, or by with_limits: {{{name!r}:"
                    f" {{{quantity!r}: …}}}}; .inf (np.inf) is none."
                )
                return Diagnosis(
                    sentence,
                    f"{quantity} of {name}",
                    name,
                    amount=float(np.ptp(places[:, j])),
                    remedy=remedy,
                )
    return None


def out_of_range(robot: Robot, what: str, q: np.ndarray) -> Diagnosis | None:
    """A place beyond a joint's range."""
    for j, name in enumerate(robot.joint_names):
        limits = joint_limits(robot, name)
        if not limits.lower - ROUNDING <= q[j] <= limits.upper + ROUNDING:
            near = limits.lower if q[j] < limits.lower else limits.upper
            may = (
                f"may move from {limits.lower:.6g} to {limits.upper:.6g}"
                f" {unit_of(robot, name, 'rad or m')}"
            )
            sentence = f"The {what} is out of range: joint {name!r} at {q[j]:.6g} {may}."
            remedy = f"Its nearest value in range is {near:.6g}."
            return Diagnosis(
                sentence, f"range of {name}", name, amount=float(abs(q[j] - near)), remedy=remedy
            )
    return None


def too_fast(robot: Robot, what: str, v: np.ndarray) -> Diagnosis | None:
    """A velocity above what a joint, its motor or its voltage allows."""
    for j, name in enumerate(robot.joint_names):
        most, why = fastest(robot, j)
        if abs(v[j]) > most * (1 + ROUNDING):
            sentence = (
                f"The {what} is too fast: joint {name!r} at {v[j]:.6g}, {why} {most:.6g}"
                f" {unit_of(robot, name, 'rad/s or m/s')}."
            )
            return Diagnosis(
                sentence,
                f"velocity of {name}",
                name,
                amount=float(abs(v[j]) - most),
                remedy=f"Take at most {most:.6g}.",
            )
    return None


def fastest(robot: Robot, j: int) -> tuple[float, str]:
    """The greatest velocity of joint j, rad/s or m/s, and what sets it; of drives only those that
    move this joint alone."""
    found = [(joint_limits(robot, robot.joint_names[j]).velocity, "its velocity limit is")]
    train = robot.drivetrain
    for row, drive in zip(train.matrix, train.drives):
        if row[j] and sum(x != 0.0 for x in row) == 1:
            motor, ratio = drive.motor, abs(drive.gear.ratio * row[j])
            current = min(
                motor.peak_current,
                drive.amplifier.peak_current,
                math.sqrt(motor.peak_heat / motor.resistance),
            )
            found.append(
                (
                    min(motor.maximum_speed, drive.gear.maximum_speed) / ratio,
                    "its motor or gear allows",
                )
            )
            found.append(
                (
                    (drive.amplifier.voltage + motor.resistance * current) / (motor.k_e * ratio),
                    "its voltage allows",
                )
            )
    return min(found, key=lambda pair: pair[0])


def running_out(robot: Robot, what: str, q: np.ndarray, v: np.ndarray) -> Diagnosis | None:
    """A place whose velocity leads out of the range, or comes from outside, faster than the
    acceleration limit can stop."""
    leads, comes = ("leads", "stop", 1.0), ("comes from", "have set out", -1.0)
    for j, name in enumerate(robot.joint_names):
        limits = joint_limits(robot, name)
        for way, does, sign in {"start": (leads,), "goal": (comes,)}.get(what, (leads, comes)):
            ahead = sign * v[j]
            edge = limits.upper if ahead > 0 else limits.lower
            room = max(0.0, edge - q[j] if ahead > 0 else q[j] - edge)
            most = (
                math.sqrt(2 * limits.acceleration * room)
                if room and limits.acceleration
                else 0.0
                if not room
                else math.inf
            )
            if abs(ahead) > most * (1 + 1e-6):
                fast = (
                    f"joint {name!r} at {q[j]:.6g} with {v[j]:.6g}"
                    f" {unit_of(robot, name, 'rad/s or m/s')}"
                )
                sentence = (
                    f"The {what} {way} out of range: {fast} cannot {does} within {room:.4g} of"
                    f" {edge:.6g}; {most:.4g} could."
                )
                remedy = f"Take at most {most:.4g} there."
                return Diagnosis(
                    sentence,
                    f"range of {name}",
                    name,
                    amount=float(abs(ahead) - most),
                    remedy=remedy,
                )
    return None


def unheld(robot: Robot, what: str, held: Mapping[str, np.ndarray]) -> Diagnosis | None:
    """A rest position that the drives cannot hold, with the greatest payload that they could, at
    the other end too. held: both, by name."""
    worst = too_heavy(robot, at_rest(robot, held[what]))
    where = "at both ends" if len(held) > 1 else "there"
    return (
        None
        if worst is None
        else heavy(
            robot, f"The {what} cannot be held", worst, np.array(list(held.values())), where=where
        )
    )


def lighter_still(robot: Robot, move: Move, told: Diagnosis) -> Diagnosis:
    """What was told of a payload that cannot be held, with the one that can be moved in the
    duration, where that is less."""
    pipeline = Pipeline(Weights(heat=1.0))
    moved = greatest_payload(
        pipeline, posed(robot, move, None, KNOTS), told.greatest_payload or 0.0
    )
    load = carrier(robot)
    if (
        moved is None
        or load is None
        or not 0.0 < moved.mass < SAME * (told.greatest_payload or 0.0)
    ):
        return told
    mass = SPARE * moved.mass
    sentence = (
        f"{told.sentence[:-1]}; the greatest found that can be moved in {move.duration:.4g} s is"
        f" {mass:.4g} kg."
    )
    return replace(told, sentence=sentence, greatest_payload=mass, excess_payload=load.mass - mass)


def weighed(pipeline: Pipeline, problem: MoveProblem) -> Diagnosis | None:
    """Whether the payload is too heavy to be moved in the duration, not even slowly by the joint
    cubic; None where it is not in the way, or nothing was found that helps."""
    load = carrier(problem.robot)
    worst = creeping_excess(problem) if load is not None and load.mass > 0.0 else None
    if load is None or worst is None:
        return None
    moved = greatest_payload(pipeline, problem, load.mass)
    if moved is None or moved.mass >= load.mass:
        return None
    when = "over the cycle" if worst.limit in MEANS else f"at t = {worst.time:.3g} s"
    needs = f"{worst.limit} of {worst.joint} would be {worst.value:.4g} {worst.unit} {when}"
    limit = f"the limit is {worst.bound:.4g} {worst.unit}"
    mass = SPARE * moved.mass
    helps = (
        f"the greatest payload found that can be moved in {problem.duration:.4g} s is {mass:.4g} kg"
    )
    sentence = (
        "No motion was found with this payload, and the joint cubic cannot carry it, not even"
        f" slowly: {needs}, {limit}; {helps} at {load.link!r} (now {load.mass:.4g} kg)."
    )
    over, less = worst.value - worst.bound, load.mass - mass
    return Diagnosis(
        sentence,
        worst.limit,
        worst.joint,
        worst.time,
        over,
        excess_payload=less,
        greatest_payload=mass,
    )


def creeping_excess(problem: MoveProblem) -> Margin | None:
    """The limit that the joint cubic exceeds most however slowly it is run, by gravity and dry
    friction, at some time, or by far in the mean; None where there is none."""
    t = np.linspace(0.0, problem.duration, 41)
    q, v, _ = problem.cubic(t)
    margins = torque_margins(
        problem.robot, t, at_rest(problem.robot, q), CREEPING * v, np.zeros_like(v)
    )
    means = [m for m in margins if m.limit in MEANS and m.fraction < -FAR_OVER_MEAN]
    over = [m for m in margins if m.limit not in MEANS and m.fraction < 0.0]
    return min(over or means, key=lambda m: m.fraction, default=None)


def heavy(
    robot: Robot,
    what: str,
    worst: Load,
    q: np.ndarray,
    time: float | None = None,
    where: str = "there",
) -> Diagnosis:
    """What cannot be held, and the payload with which q (n,) or (K, n) could be. what: the
    beginning of the sentence; where: q in words."""
    needs = (
        f"{worst.limit} of {worst.joint} would be {worst.value:.4g} {worst.unit}, its limit is"
        f" {worst.bound:.4g} {worst.unit}"
    )
    excess, load = excess_mass(robot, q), carrier(robot)
    greatest, remedy = None, ""
    if excess is None or load is None:
        helps, remedy = (
            "no lighter payload is feasible",
            "Choose another position or stronger drives.",
        )
    elif load.mass > 0.0:
        greatest = max(0.0, load.mass - excess)
        helps = (
            f"the greatest payload that can be held {where} is {greatest:.4g} kg at {load.link!r}"
            f" (now {load.mass:.4g} kg)"
        )
    else:
        mass = robot.link(load.link).mass
        helps = f"with {excess:.4g} kg less at {load.link!r} (a link of {mass:.4g} kg) it could"
    return Diagnosis(
        f"{what}: {needs}; {helps}.",
        worst.limit,
        worst.joint,
        time,
        worst.value - worst.bound,
        remedy,
        excess_payload=excess,
        greatest_payload=greatest,
    )

"""Why a search found no plan, and what would make one possible (X5): a sentence with the number
that helps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ALLOWED, MEANS, Margin, fine_times, margins
from armature.optimize.certificate.solution import Diagnosis
from armature.optimize.diagnosis.earlier import shown
from armature.optimize.diagnosis.forbidden import heavy
from armature.optimize.diagnosis.holding import at_rest, carrier, reloaded, too_heavy
from armature.optimize.diagnosis.lighter import carried_by
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.back_off import run_slower
from armature.optimize.planner.baseline import stretched as slowed
from armature.optimize.scaling.time_scaling import time_scaling
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem
from armature.robot.model import Robot

FAR = 3.0  # times the duration asked for: a motion so slow is no answer where a lighter payload is
# of a limit: what the motion of least copper loss, of few knots, may exceed between them
BETWEEN = 0.05
SLOWER = 1.0, 1.5, 2.5, 5.0  # times the duration asked for, in which a lighter payload may be moved
SLOWEST = 3.0  # times its duration: up to which a motion that exceeds a limit is run slower
BORDER = 0.98  # of the shortest duration: less is called too short
ROUND_UP = 1.001  # on durations reported, so that they are feasible as printed
# of the limit of a mean: up to which a pause or a payload that is told uses it, so that plans are
# found
MEAN_USE = 0.98


def passing_times(problem: MoveProblem, fastest: Attempt, motion: Trajectory) -> tuple[float, ...]:
    """When the shortest motion, which chooses them, passes the via points, s; empty where the task
    gives no passing times.

    motion: its own, or the same run slower."""
    if all(via.at is None for via in problem.move.via):
        return ()
    return tuple(float(motion.t[knot] - motion.t[0]) for knot in fastest.problem.knots[:-1])


def by_way(passing: tuple[float, ...]) -> str:
    """When via points are passed, where that matters."""
    return (
        f", passing the via point{'s' if len(passing) > 1 else ''} at {shown(passing)}"
        if passing
        else ""
    )


def between_knots(best: Attempt) -> Diagnosis | None:
    """A limit that an optimal motion exceeds between its knots; None where it keeps all, or did not
    end at an optimum."""
    worst = best.worst
    if worst is None or worst.fraction >= -ALLOWED or not best.ok:
        return None
    if worst.limit in MEANS and (found := over_mean_limit(best, None)) is not None:
        return found
    sentence = (
        "No motion was found: between knots a limit is exceeded, and neither a tightened limit"
        f" nor more knots help: {needed(worst)}"
    )
    remedy = (
        f"Raise this limit by {-100 * worst.fraction:.2g} %, or begin with another motion"
        " (guess=…)."
    )
    slower = (
        None
        if best.problem.moving
        else run_slower(best.problem.robot, best.motion, ALLOWED / 2, SLOWEST)
    )
    over = worst.value - worst.bound
    if slower is None or slower.duration <= best.motion.duration:
        return Diagnosis(f"{sentence}.", worst.limit, worst.joint, worst.time, over, remedy)
    longer, passing = slower.duration, passing_times(best.problem, best, slower)
    helps = f"the same motion run in {longer:.4g} s{by_way(passing)} is feasible"
    return Diagnosis(
        f"{sentence}; {helps}.",
        worst.limit,
        worst.joint,
        worst.time,
        over,
        remedy,
        longer,
        passing=passing,
    )


def too_short(
    robot: Robot, duration: float, fastest: Trajectory, passing: tuple[float, ...] = ()
) -> Diagnosis:
    """The shortest motion known run in the duration asked for: what it would ask of the limits.
    passing: of via points, s."""
    T = ROUND_UP * fastest.duration
    what = (
        f"{duration:.4g} s is too short"
        if duration < BORDER * T
        else f"No motion was found in {duration:.4g} s"
    )
    sentence = f"{what}: the shortest motion found takes {T:.4g} s{by_way(passing)}."
    remedy = f"Allow at least {T:.4g} s."
    worst = worst_excess(robot, stretched(fastest, duration))
    if worst is None:
        return Diagnosis(sentence, remedy=remedy, shortest_duration=T, passing=passing)
    return Diagnosis(
        sentence,
        worst.limit,
        worst.joint,
        worst.time,
        worst.value - worst.bound,
        f"{remedy} That motion run in {duration:.4g} s: {needed(worst)}.",
        shortest_duration=T,
        passing=passing,
    )


def needed(worst: Margin) -> str:
    """What a limit would be asked for."""
    when = (
        f"at t = {max(0.0, round(worst.time, 6)):.3g} s"
        if worst.limit not in MEANS
        else "over the cycle"
    )
    return (
        f"{worst.limit} of {worst.joint} would be {worst.value:.4g} {worst.unit} {when}, the limit"
        f" is {worst.bound:.4g} {worst.unit}"
    )


def worst_excess(robot: Robot, motion: Trajectory) -> Margin | None:
    """The limit that a motion exceeds most, as a fraction of itself; None where it keeps all."""
    return min(excesses(robot, motion), key=lambda m: m.fraction, default=None)


def excesses(robot: Robot, motion: Trajectory) -> list[Margin]:
    """All limits that a motion exceeds."""
    return [
        m
        for row in margins(robot, motion, 4).values()
        for m in row.values()
        if m.fraction < -ALLOWED
    ]


def over_mean_limit(
    least: Attempt, fastest: Trajectory | None, passing: tuple[float, ...] = ()
) -> Diagnosis | None:
    """A cycle that exceeds a mean (thermal) limit and else is possible: the pause, the payload or
    the duration that brings it within the limit.

    least: the motion of least copper loss, whose limits of means are left out.  passing: when the
    shortest motion passes via points, s."""
    over = excesses(least.problem.robot, least.motion)
    means = [m for m in over if m.limit in MEANS]
    if not means or any(m.limit not in MEANS and m.fraction < -BETWEEN for m in over):
        return None
    worst, T = min(means, key=lambda m: m.fraction), least.motion.duration
    pause = T * ((1.0 - worst.fraction) / MEAN_USE - 1.0)
    longer = fastest.duration if fastest is not None and fastest.duration > T else None
    less = payload_over_mean_limits(least.problem.robot, least.motion)
    load = carrier(least.problem.robot)
    lightest = load.mass - less if load is not None and less is not None else None
    helps = [f"a pause of {pause:.4g} s on the brake after every cycle"]
    helps += [f"a motion of {longer:.4g} s{by_way(passing)}"] if longer else []
    helps += [f"a payload of {lightest:.4g} kg"] if lightest else []
    sentence = (
        "The cycle exceeds its mean (thermal) limit: in the motion of least copper loss that was"
        f" found, {needed(worst)}; {' or '.join(helps)} is feasible."
    )
    return Diagnosis(
        sentence,
        worst.limit,
        worst.joint,
        None,
        worst.value - worst.bound,
        "",
        longer,
        less,
        lightest,
        pause,
        passing if longer else (),
    )


def payload_over_mean_limits(robot: Robot, motion: Trajectory) -> float | None:
    """The mass, kg, to take off the payload so that this motion keeps all limits of means; None
    where all is too little."""
    load = carrier(robot)
    if load is None or load.mass <= 0.0:
        return None
    t = fine_times(motion, 4)
    q, v, a = motion(t)
    tau = np.asarray(inverse_dynamics(robot, q, v, a))
    slope = (
        np.asarray(
            inverse_dynamics(robot.with_payload(1.0, at=load.point, link=load.link), q, v, a)
        )
        - tau
    )  # torque per kilogram
    means = [(axis, limit) for axis, _, limit in robot.drivetrain.limits() if limit.name in MEANS]

    def keeps_means(less: float) -> bool:
        flows = robot.drivetrain.flow(tau - less * slope, v, a)
        return all(
            limit.worst(t, flows[axis])[0] <= (MEAN_USE - 1.0) * limit.bound
            for axis, limit in means
        )

    low, high = 0.0, load.mass
    for _ in range(20 if keeps_means(high) else 0):
        middle = (low + high) / 2
        low, high = (low, middle) if keeps_means(middle) else (middle, high)
    return float(high) if high < load.mass else None


def load_within_means(best: Attempt) -> tuple[float, float, float] | None:
    """(payload, kg, duration, s, what comes off, kg) with which the joint cubic keeps all limits of
    means; None where none is found."""
    problem, load = best.problem, carrier(best.problem.robot)
    found = []
    for T in problem.duration * np.array(SLOWER):
        slow = replace(problem, move=slowed(problem.move, float(T), problem.duration))
        t = np.concatenate([[0.0], np.cumsum(slow.steps(float(T)))])
        less = payload_over_mean_limits(
            problem.robot, Trajectory(t, *slow.cubic(t), problem.robot.joint_names)
        )
        if less is not None and load is not None:
            found.append((load.mass - less, float(T), less))
    return max(found, default=None)


def unheld_on_the_way(best: Attempt) -> Diagnosis | None:
    """A payload that cannot be held somewhere on the joint cubic."""
    problem = best.problem
    t = np.linspace(0.0, problem.duration, 41)
    q = np.asarray(problem.cubic(t)[0])
    found = [
        (load, k)
        for k, tau in enumerate(at_rest(problem.robot, q))
        if (load := too_heavy(problem.robot, tau)) is not None
    ]
    if not found:
        return None
    worst, k = max(found, key=lambda pair: pair[0].ratio)
    what = f"No motion was found, and on the joint cubic the arm cannot be held at t = {t[k]:.3g} s"
    told, load, carries = (
        heavy(problem.robot, what, worst, q, float(t[k])),
        carrier(problem.robot),
        None,
    )
    if load is not None and told.greatest_payload and not problem.robot.loops:
        carries = carried_by(reloaded(problem.robot, load, told.greatest_payload), problem.straight)
    if not carries or load is None:
        return told
    sentence = (
        f"{told.sentence[:-1]}; it can be run in {problem.duration:.4g} s with {carries:.4g} kg."
    )
    return replace(
        told, sentence=sentence, greatest_payload=carries, excess_payload=load.mass - carries
    )


def unbounded_speed(best: Attempt) -> Diagnosis | None:
    """A search that gains by ever faster turns of a joint whose speed nothing limits: a least
    energy that no motion attains."""
    problem, motion = best.problem, best.motion
    slow = np.abs(problem.cubic(np.linspace(0.0, problem.duration, 101))[1]).max(0)
    fast = np.abs(motion.v).max(0)
    if not best.unbounded:
        return None
    j = int(np.argmax(best.speed_ratios))
    name, at = problem.robot.joint_names[j], float(motion.t[np.abs(motion.v[:, j]).argmax()])
    sentence = (
        f"The search gained by ever faster turns of {name} ({fast[j]:.3g} at t = {at:.3g} s; the"
        f" joint cubic needs {slow[j]:.3g})"
    )
    free = [
        n
        for n in problem.robot.joint_names
        if not np.isfinite(problem.driven.joint_limit(n, "upper"))
    ]
    remedy = (
        f"Give {name} a velocity limit"
        + (f", or position limits to {', '.join(free)}" if free else "")
        + ": with_limits({…})."
    )
    return Diagnosis(
        f"{sentence}: without more limits there may be no best motion.",
        "velocity",
        name,
        at,
        remedy=remedy,
    )


def relaxed(best: Attempt, fastest: Trajectory | None) -> Diagnosis:
    """What the motion of least violation exceeds. fastest: a motion that keeps all limits in a
    shorter time, if there is one."""
    robot, motion = best.problem.robot, best.motion
    worst = worst_excess(robot, motion) if np.all(np.isfinite(motion.q)) else None
    longer = (
        "" if best.problem.free else "Give it more time (minimize_time searches for the least), or "
    )
    otherwise = f"{longer}{'relax' if longer else 'Relax'} this limit, or choose other end points."
    remedy = durations_of(robot, fastest) if fastest is not None else otherwise
    if (
        worst is not None
        and worst.limit in MEANS
        and fastest is None
        and (lighter := load_within_means(best)) is not None
    ):
        mass, T, less = lighter
        helps = f"a payload of {mass:.4g} kg moved in {T:.4g} s is feasible"
        return Diagnosis(
            f"No motion was found: at best, {needed(worst)}; {helps}.",
            worst.limit,
            worst.joint,
            None,
            worst.value - worst.bound,
            shortest_duration=T if best.problem.duration < T else None,
            excess_payload=less,
            greatest_payload=mass,
        )
    if worst is not None:
        return Diagnosis(
            f"No motion was found: at best, {needed(worst)}.",
            worst.limit,
            worst.joint,
            worst.time,
            worst.value - worst.bound,
            remedy,
        )
    left = best.result.violations[0] if best.result.violations else None
    if left is None:
        return Diagnosis(
            best.result.status.value,
            remedy="Try another starting motion (guess=…), more knots or more time.",
        )
    at = None if left.knot is None else float(motion.t[min(left.knot, best.problem.N)])
    when = "" if at is None else f" at t = {at:.4g} s"
    sentence = f"No motion was found: {left.name} is off by {left.amount:.3g}{when} at best."
    return Diagnosis(sentence, left.name, left.name.rpartition(" of ")[2], at, left.amount, remedy)


def durations_of(robot: Robot, fastest: Trajectory) -> str:
    """In which durations the shortest motion known can be run."""
    found = time_scaling(robot, fastest)
    if not found.ok:
        return f"The shortest motion found takes {fastest.duration:.4g} s: try it as a guess."
    shown = ", ".join(
        f"{a:.4g} to {b:.4g} s" if np.isfinite(b) else f"{a:.4g} s and more"
        for a, b in found.intervals
    )
    return f"The shortest motion found can be run in {shown}."

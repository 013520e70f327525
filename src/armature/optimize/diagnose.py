"""Why a search found no plan, and what would make one possible (X5): a sentence with the number that helps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from armature.motion.trajectory import Trajectory
from armature.optimize.certify import ALLOWED, MEANS, Margin, margins
from armature.optimize.driven import Weights
from armature.optimize.forbidden import heavy
from armature.optimize.guess import stretched
from armature.optimize.holding import at_rest, too_heavy
from armature.optimize.interior import Options
from armature.optimize.move import MoveProblem
from armature.optimize.plan import Attempt, Planner, greatest_power
from armature.optimize.result import Status
from armature.optimize.solution import Diagnosis
from armature.optimize.time_scaling import time_scaling
from armature.robot.model import Robot

FAR = 3.0  # times the duration asked for: a motion so slow is no answer where a lighter payload is
BETWEEN = 0.05  # of a limit: what the few knots of the coolest motion may exceed between them
LOOSE = 1e6  # factor on limits that are left out
WHIRLS = 30.0  # times the joint cubic's greatest speed: a search that runs away


def diagnose(best: Attempt, fastest: Attempt | None, cool: Attempt | None = None) -> Diagnosis:
    """Which limit stands in the way of a search that failed, by how much, and what would help.

    fastest: the shortest motion known.  cool: the motion of least heat without the limits of means, where there are such limits."""
    problem, known = best.problem, fastest.motion if fastest is not None and fastest.ok else None
    if cool is not None and (hot := too_hot(cool, known)) is not None:
        return hot
    far = known is None or (not problem.free and known.duration > FAR * problem.duration)
    if far and (unheld := unheld_on_the_way(best)) is not None:
        return unheld
    if known is not None and not problem.free and known.duration > problem.duration:
        return too_short(problem.robot, problem.duration, known)
    return whirling(best) or relaxed(best, known)


def between_knots(best: Attempt) -> Diagnosis | None:
    """A limit that an optimal motion exceeds between its knots; None where it keeps all."""
    worst = best.worst
    if worst is None or worst.fraction >= -ALLOWED:
        return None
    if worst.limit in MEANS:
        hot = [told for motion in (coolest(best.problem), best) if (told := too_hot(motion, None)) is not None]
        if hot:
            return min(hot, key=lambda told: told.pause or 0.0)
    sentence = f"A limit is exceeded between the knots and refining did not help: {needed(worst)}."
    remedy = f"Ask for more knots than {best.problem.N}, a little more time, or draw the limit in by {-100 * worst.fraction:.2g} %."
    return Diagnosis(sentence, worst.limit, worst.joint, worst.time, worst.value - worst.bound, remedy)


def too_short(robot: Robot, duration: float, fastest: Trajectory) -> Diagnosis:
    """The shortest motion known run in the duration asked for: what it would ask of the limits."""
    T = fastest.duration
    sentence = f"{duration:.4g} s is too short: the shortest motion found takes {T:.4g} s."
    remedy = f"Allow at least {T:.4g} s."
    worst = worst_excess(robot, stretched(fastest, duration))
    if worst is None:
        return Diagnosis(sentence, remedy=remedy, shortest_duration=T)
    return Diagnosis(
        sentence, worst.limit, worst.joint, worst.time, worst.value - worst.bound,
        f"{remedy} That motion run in {duration:.4g} s: {needed(worst)}.", shortest_duration=T,
    )  # fmt: skip


def needed(worst: Margin) -> str:
    """What a limit would be asked for."""
    when = f"at t = {worst.time:.3g} s" if worst.limit not in MEANS else "over the cycle"
    return f"{worst.limit} of {worst.joint} would be {worst.value:.4g} {worst.unit} {when}, the limit is {worst.bound:.4g} {worst.unit}"


def worst_excess(robot: Robot, motion: Trajectory) -> Margin | None:
    """The limit that a motion exceeds most, as a fraction of itself; None where it keeps all."""
    return min(excesses(robot, motion), key=lambda m: m.fraction, default=None)


def excesses(robot: Robot, motion: Trajectory) -> list[Margin]:
    """All limits that a motion exceeds."""
    return [m for row in margins(robot, motion, 4).values() for m in row.values() if m.fraction < -ALLOWED]


def coolest(problem: MoveProblem, motion: Trajectory | None = None) -> Attempt:
    """The motion of least copper heat in the task's duration, within all limits but those of means. motion: a start besides the cubic.

    A search whose rows begin to stretch is ended: heat is not what is in the way then."""
    loose = {name: LOOSE for _, _, name, _ in problem.driven.means}
    planner = Planner(Weights(heat=1.0), Options(tolerance=1e-5, iterations=80))
    task = replace(problem, N=min(problem.N, 50), tighter=loose)
    smooth = problem.driven.smooth
    rounded = replace(task, smooth=replace(smooth, power=0.5 * greatest_power(task) if smooth.power else 0.0), directions=None)
    for start in (motion, None) if motion is not None else (None,):
        found = planner.attempt(rounded, rounded.guess(start), rigid=True)
        if found.ok:
            return planner.best(task, found.motion)
    return found


def too_hot(cool: Attempt, fastest: Trajectory | None) -> Diagnosis | None:
    """A cycle that is too hot in the mean and else possible: the pause without current that cools it, or the shortest cool motion.

    cool: the motion of least heat, whose limits of means are left out."""
    over = excesses(cool.problem.robot, cool.motion) if cool.ok else []
    hot = [m for m in over if m.limit in MEANS]
    if not hot or any(m.limit not in MEANS and m.fraction < -BETWEEN for m in over):
        return None
    worst, T = min(hot, key=lambda m: m.fraction), cool.motion.duration
    pause = T * (worst.value / worst.bound - 1.0)
    longer = fastest.duration if fastest is not None and fastest.duration > T else None
    remedy = f"A pause of {pause:.4g} s on the brake after every cycle would do" + (f", or a motion of {longer:.4g} s." if longer else ".")
    return Diagnosis(
        f"The cycle is too hot: in the coolest motion found, {needed(worst)}.", worst.limit, worst.joint, None,
        worst.value - worst.bound, remedy, shortest_duration=longer, pause=pause,
    )  # fmt: skip


def unheld_on_the_way(best: Attempt) -> Diagnosis | None:
    """A payload that cannot be held somewhere on the joint cubic."""
    problem = best.problem
    t = np.linspace(0.0, problem.duration, 41)
    q = np.asarray(problem.cubic(t)[0])
    found = [(load, k) for k, tau in enumerate(at_rest(problem.robot, q)) if (load := too_heavy(problem.robot, tau)) is not None]
    if not found:
        return None
    worst, k = max(found, key=lambda pair: pair[0].ratio)
    what = f"No motion was found, and on the joint cubic the arm cannot be held at t = {t[k]:.3g} s"
    return heavy(problem.robot, what, worst, q, float(t[k]))


def whirling(best: Attempt) -> Diagnosis | None:
    """A search that gains by ever faster turns of a joint whose speed nothing limits: a least energy that no motion attains."""
    problem, motion = best.problem, best.motion
    slow = np.abs(problem.cubic(np.linspace(0.0, problem.duration, 101))[1]).max(0)
    fast = np.abs(motion.v).max(0)
    loose = np.array([not np.isfinite(problem.driven.joint_limit(name, "velocity")) for name in problem.robot.joint_names])
    ratio = np.where(loose, fast / np.maximum(slow, 1e-3 + 0.1 * slow.max()), 0.0)
    j = int(np.argmax(ratio))
    if best.result.status is Status.INFEASIBLE or not WHIRLS < ratio[j] < np.inf:
        return None
    name, at = problem.robot.joint_names[j], float(motion.t[np.abs(motion.v[:, j]).argmax()])
    sentence = f"The search gained by ever faster turns of {name} ({fast[j]:.3g} at t = {at:.3g} s; the joint cubic needs {slow[j]:.3g})"
    free = [n for n in problem.robot.joint_names if not np.isfinite(problem.driven.joint_limit(n, "upper"))]
    remedy = f"Give {name} a velocity limit" + (f", or position limits to {', '.join(free)}" if free else "") + ": with_limits({…})."
    return Diagnosis(f"{sentence}: without more limits there may be no best motion.", "velocity", name, at, remedy=remedy)


def relaxed(best: Attempt, fastest: Trajectory | None) -> Diagnosis:
    """What the motion of least violation exceeds. fastest: a motion that keeps all limits in a shorter time, if there is one."""
    robot, motion = best.problem.robot, best.motion
    worst = worst_excess(robot, motion) if np.all(np.isfinite(motion.q)) else None
    remedy = durations_of(robot, fastest) if fastest is not None else "Relax this limit, or choose other end points."
    if worst is not None:
        return Diagnosis(
            f"No motion was found: at best, {needed(worst)}.", worst.limit, worst.joint, worst.time, worst.value - worst.bound, remedy
        )
    left = best.result.violations[0] if best.result.violations else None
    if left is None:
        return Diagnosis(best.result.status.value, remedy="Try another starting motion (guess=…), more knots or more time.")
    at = None if left.knot is None else float(motion.t[min(left.knot, best.problem.N)])
    when = "" if at is None else f" at t = {at:.4g} s"
    sentence = f"No motion was found: {left.name} is off by {left.amount:.3g}{when} at best."
    return Diagnosis(sentence, left.name, left.name.rpartition(" of ")[2], at, left.amount, remedy)


def durations_of(robot: Robot, fastest: Trajectory) -> str:
    """In which durations the shortest motion known can be run."""
    found = time_scaling(robot, fastest)
    if not found.ok:
        return f"The shortest motion found takes {fastest.duration:.4g} s: try it as a guess."
    shown = ", ".join(f"{a:.4g} to {b:.4g} s" if np.isfinite(b) else f"{a:.4g} s and more" for a, b in found.intervals)
    return f"The shortest motion found can be run in {shown}."

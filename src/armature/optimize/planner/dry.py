"""Dry friction made exact: from wide corners to narrow ones, and then with the directions of motion kept.

A joint may stand, and friction then holds it. The law knows this as a joint that creeps, slower than matters, to the side on which friction
helps to hold its load. A corner wider than such creeping takes friction for something viscous and cannot see it, and a narrow one does not
converge from afar: where it might pay, the corners are narrowed step by step, roughly. Then every step's direction is kept where the joint
clearly moves: friction has no corner there. What is left creeps in the narrow corner.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.transcription.move import STANDS
from armature.simulate.flows import drives_at

if TYPE_CHECKING:
    from armature.optimize.planner.plan import Attempt, Planner
    from armature.optimize.transcription.driven import Weights
    from armature.optimize.transcription.move import MoveProblem

NARROWING = (1 / 3, 0.1, 1 / 30, 0.01)  # widths of rough solves, of the first one
KEPT = 1 / 3, 1 / 3  # below which speed a joint creeps, and the width of the corner then, of the first width
NARROW = 1 / 30, 0.01  # the same for motions that were found in narrow corners
ROUGH = 3e-3  # tolerance of a solve that only has to find the directions
STEADY = 3e-3  # barrier to start with in a narrower corner
DIRECTED = 3e-4  # barrier to start with when directions are kept
LOOSER = 10.0  # times the tolerance, for a search that has not ended
LONGEST = 60  # iterations in a narrow corner
MUCH = 0.02  # of a motion's cost: above this, joints that creep all the way are tried standing
SQUEEZED = 0.3  # of the duration, in which they move then
BETTER = 1.5e-3  # of a motion's cost
WORTH = 1.5e-3  # of a motion's cost: what friction might hold for less is sought above this
TOLD = 0.01  # of a motion's cost: above this a plan says that it might pay to search on
PAYS = 0.02  # of a motion's cost: above this a plan without a guess searches on by itself


def exact_friction(planner: Planner, first: Attempt, narrow: bool | None) -> list[Attempt]:
    """Motions with exact friction, from one found in wide corners; none where that fails. narrow: whether narrow corners are tried too;
    None: where that may save much."""
    exact = directed(planner, first, *KEPT)
    if not exact.ok and not planner.late:  # a flat cost: the search goes on from where it ended, and ends sooner, or is left at that
        looser = replace(planner, options=replace(planner.precise, tolerance=LOOSER * planner.precise.tolerance))
        exact = directed(looser, exact, *KEPT).anyhow()
    found = [exact] if exact.ok else []
    narrow = bool(found) and saving(found[0]) > PAYS if narrow is None else narrow
    if planner.late or not narrow or (found and prospect(found[0]) < WORTH * abs(found[0].value)):
        return found
    found += sharpened(planner, *narrower(planner, first))
    best = min(found, key=lambda a: a.value, default=first)
    if prospect(best) > MUCH * abs(best.value):
        for late in (False, True):
            start = None if planner.late else squeezed(planner, best, late)
            found += sharpened(planner, start, NARROWING[-1]) if start is not None and start.ok else []
    return found


def sharpened(planner: Planner, start: Attempt, f: float) -> list[Attempt]:
    """From a rough motion in corners of the width f (of the first width) to motions with directions kept."""
    found: list[Attempt] = []
    sharp = start
    for slow, width in ((f / 0.3, f), (f, f / 3)):
        exact = None if planner.late else directed(planner, sharp, slow, width).anyhow()
        if exact is not None and exact.ok:
            found.append(exact)
            sharp = exact
    # turns that are kept may be in the wrong place
    if f < 1.0 and not planner.late and all(start.value < a.value - BETTER * abs(a.value) for a in found):
        whole = planner.attempt(start.problem, start.result, replace(planner.precise, iterations=2 * LONGEST)).anyhow()
        found += [whole] if whole.ok else []
    return found


def squeezed(planner: Planner, best: Attempt, late: bool) -> Attempt | None:
    """Joints that creep all the way do it in a part of the time instead, and stand for the rest; None where there are none."""
    motion, T = best.motion, best.motion.duration
    slow = np.abs(motion.v) < KEPT[0] * best.problem.driven.smooth.velocity
    rest = np.abs(motion.v[[0, -1]]).max(0) < STANDS
    joints = [j for j in best.problem.driven.dry if slow[:, j].all() and rest[j] and not best.problem.move.via]
    if not joints:
        return None
    begin = (1 - SQUEEZED) * T if late else 0.0
    s = np.clip((motion.t - motion.t[0] - begin) / (SQUEEZED * T), 0.0, 1.0)[:, None]
    way = motion.q[-1] - motion.q[0]
    q, v, a = np.array(motion.q), np.array(motion.v), np.array(motion.a)
    shape = (s * s * (3 - 2 * s), 6 * s * (1 - s) / (SQUEEZED * T), 6 * (1 - 2 * s) * ((s > 0) & (s < 1)) / (SQUEEZED * T) ** 2)
    for x, f, base in zip((q, v, a), shape, (motion.q[0], 0.0, 0.0)):
        x[:, joints] = (base + f * way)[:, joints]
    widest = best.problem.driven.smooth
    smooth = replace(best.problem.smooth or widest, velocity=NARROWING[-1] * widest.velocity)
    problem = replace(best.problem, directions=None, smooth=smooth)
    start = problem.guess(replace(motion, q=q, v=v, a=a))
    return planner.attempt(problem, start, replace(planner.precise, tolerance=ROUGH, iterations=2 * LONGEST))


def narrow_corners(attempt: Attempt) -> bool:
    """Whether a motion was found in narrow corners of dry friction."""
    widest, own = attempt.problem.driven.smooth.velocity, (attempt.problem.smooth or attempt.problem.driven.smooth).velocity
    return own < 0.99 * KEPT[1] * widest


def advice(attempt: Attempt, searched: bool | None) -> str:
    """What a longer search might save, where that is worth telling; empty where it is not, or has been made. searched: as `narrow` of
    `exact_friction`."""
    part = 0.0 if searched or narrow_corners(attempt) else saving(attempt)
    if part < TOLD or (searched is None and part > PAYS):
        return ""
    saved = prospect(attempt)
    return f"dry friction might hold joints that hardly move, {saved:.3g} J cheaper at best: a thorough search looks for it"


def saving(attempt: Attempt) -> float:
    """What a thorough search may save at best, as a part of the motion's cost or of its losses, whichever is more; with lossy gears all has
    been tried (gears.py)."""
    smooth = attempt.problem.driven.smooth
    if not smooth.velocity or smooth.power:
        return 0.0
    return prospect(attempt) / max(abs(attempt.value), abs(attempt.losses), 1e-9)


def prospect(attempt: Attempt) -> float:
    """Copper heat that would be saved if friction helped to hold every joint that creeps, J; more where that hardly matters."""
    robot, motion = attempt.problem.robot, attempt.motion
    q, v, a = motion((motion.t[1:] + motion.t[:-1]) / 2)
    train = robot.drivetrain
    axes = (np.abs(v) < KEPT[0] * attempt.problem.driven.smooth.velocity) @ np.abs(np.asarray(train.matrix)).T > 0
    at = axes.any(1)
    if not at.any():
        return 0.0
    q, v, a = q[at], v[at], a[at]
    tau = np.asarray(inverse_dynamics(robot, q, v, a))
    copper = lambda m: axes[at] * drives_at(robot, tau, v, a, m).together.copper
    dt, now = np.diff(motion.t)[at], copper(0.0)
    whole = float(dt @ now.sum(1))
    if whole < WORTH * abs(attempt.value):
        return whole  # not even all of it would matter
    return float(dt @ np.maximum(0.0, now - np.minimum(copper(1.0), copper(-1.0))).sum(1))


def narrower(planner: Planner, start: Attempt) -> tuple[Attempt, float]:
    """The same in ever narrower corners, roughly, as far as that succeeds; and the last width, of the first one."""
    widest, last = start.problem.smooth or start.problem.driven.smooth, 1.0
    options = replace(planner.precise, tolerance=ROUGH, iterations=LONGEST, warm_barrier=STEADY)
    for f in NARROWING:
        problem = replace(start.problem, smooth=replace(widest, velocity=f * widest.velocity))
        found = planner.attempt(problem, start.result, options)
        if not found.ok or planner.late:
            break
        start, last = found, f
    return start, last


def directed(planner: Planner, attempt: Attempt, slow: float, width: float, weights: Weights | None = None) -> Attempt:
    """The same with the directions of motion kept but for joints that creep. slow, width: of the first width of the corners."""
    widest = attempt.problem.driven.smooth
    known = kept_directions(attempt.problem, attempt.motion, slow * widest.velocity)
    smooth = replace(attempt.problem.smooth or widest, velocity=width * widest.velocity)
    options = replace(planner.precise, warm_barrier=DIRECTED)
    return planner.attempt(replace(attempt.problem, directions=known, smooth=smooth), attempt.result, options, weights)


def directions(motion: Trajectory, slow: float = 0.0) -> np.ndarray:
    """(N, n): which way each joint moves in each step; 0 where it turns, stands or, inside the motion, is slower than told (rad/s, m/s)."""
    mean = np.diff(motion.q, axis=0) / np.diff(motion.t)[:, None]
    turns = motion.v[1:] * motion.v[:-1] < 0
    creep = (np.abs(mean) < slow) & ~setting_out(np.abs(mean) < slow)
    return np.where(turns | creep | (np.abs(mean) < STANDS), 0.0, np.sign(mean))


def kept_directions(problem: MoveProblem, motion: Trajectory, slow: float) -> np.ndarray:
    """(N, n): the directions of a motion that its problem keeps; where joints set out, arrive or stop slowly too, if it says so."""
    known = directions(motion, slow)
    return np.where(known == 0.0, next_to_rest(problem, motion), known)


def keeps_directions(problem: MoveProblem) -> bool:
    """Whether directions are kept, and not only where joints set out, arrive or stop."""
    if problem.directions is None:
        return False
    near = {step for knot in (0, *problem.knots) for step in (max(knot - 1, 0), min(knot, problem.N - 1))}
    return not problem.outset or bool(np.delete(problem.directions, list(near), axis=0).any())


def next_to_rest(problem: MoveProblem, motion: Trajectory) -> np.ndarray:
    """(N, n): which way the joints of `outset` move in the steps before and after ends and via points at which they stand; else 0."""
    known, kept = directions(motion), np.zeros((len(motion) - 1, motion.q.shape[1]))
    for knot in (0, *problem.knots):
        for j in problem.outset:
            if abs(motion.v[knot, j]) < STANDS:
                steps = [max(knot - 1, 0), min(knot, len(kept) - 1)]
                kept[steps, j] = known[steps, j]
    return kept


def setting_out(slow: np.ndarray) -> np.ndarray:
    """(N, n): slow steps that belong to setting out or to arriving, a few at either end."""
    begins = np.cumprod(slow, axis=0, dtype=bool)
    ends = np.cumprod(slow[::-1], axis=0, dtype=bool)[::-1]
    return (begins & (begins.sum(0) <= few(len(slow)))) | (ends & (ends.sum(0) <= few(len(slow))))


def few(steps: int) -> int:
    """Steps that setting out, arriving or turning takes."""
    return max(1, steps // 20)

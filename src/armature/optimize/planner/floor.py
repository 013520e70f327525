"""Moves above a floor: which floor a task has, why its ends may lie below it, and plans that keep
it.

A plan is first made without the floor. Only where it comes too low is it made again, with rows for
the links' parts in the optimiser
(floor_rows.py): a task whose motion stays above the floor costs one check more than before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.dynamics.positioning.heights import levers, part_heights
from armature.dynamics.positioning.inverse_kinematics import even_points
from armature.dynamics.recursion import energy
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.clearance import Height, sampled_heights
from armature.optimize.certificate.solution import Diagnosis, Solution
from armature.optimize.transcription.task import Move, configuration
from armature.robot.bounds import bounds
from armature.robot.cover import cover, with_floor
from armature.robot.model import Robot
from armature.scene.floor import LIMIT, SMOOTH, Floor, Watched, watched

AUTO = "auto"
MARGINS = (
    0.005,
    0.015,
    0.04,
)  # m above the floor at knots; the next one where a motion dips lower between them
TOUCH = 1e-4  # m: what a link may be below the floor, by rounding
# of the reach: how far below its foot the places of a task may lead an arm that is still taken to
# stand on a floor
SINK = 0.1
SHOULDER = 0.03  # of the reach: the least height of the shoulder of an arm that stands
# configurations by which links are found that are below the floor whatever the joints do
SAMPLES = 64


def as_floor(value: Any) -> float | str | None:
    """A task's floor: a height, m, "auto", or None for no floor."""
    if value is None or (isinstance(value, str) and value.lower() in ("none", "off")):
        return None
    if isinstance(value, str) and value.lower() == AUTO:
        return AUTO
    try:
        height = float(value)
    except (TypeError, ValueError):
        height = np.nan
    if isinstance(value, bool) or not np.isfinite(height):
        raise ArgumentError(
            f'floor = {value!r} must be a height in m, "auto" (under the base of a fixed arm), or'
            " None for no floor"
        )
    return height


@dataclass(frozen=True, eq=False)
class Ground:
    """The floor of a task. floor: None without one.  below: why an end or a via point cannot be,
    None where all are above it.
    note: what the user should know about it."""

    floor: Floor | None = None
    below: Diagnosis | None = None
    note: str = ""


def ground(robot: Robot, setting: Any, places: Sequence[tuple[str, np.ndarray]]) -> Ground:
    """The floor of a task whose places are given by name, each q (n,) or (K, n)."""
    height = as_floor(setting)
    if height is None or not places or robot.nq != robot.n:
        return Ground()
    if not isinstance(height, str):
        return ground_at(robot, height, places)
    foot = standing_height(robot)
    if foot is None:
        return Ground()
    floor = floor_at(robot, foot)
    deepest = (
        min((lowest(robot, floor, q)[1] for _, q in places), default=0.0) if floor.parts else 0.0
    )
    sunk = deepest if -SINK * reach(robot) < deepest < -TOUCH else 0.0
    return ground_at(robot, foot + sunk, places, assumed=True)


def floor_under(robot: Robot, setting: Any, start: np.ndarray | None = None) -> Floor | None:
    """The floor that postures keep: the one given, or that at the foot of an arm, unless it starts
    below it; None without one."""
    height = as_floor(setting)
    z = standing_height(robot) if isinstance(height, str) else height
    if z is None or robot.nq != robot.n:
        return None
    floor = floor_at(robot, z, isinstance(height, str))
    sunk = (
        floor.assumed
        and start is not None
        and bool(floor.parts)
        and lowest(robot, floor, start)[1] < -TOUCH
    )
    return floor if floor.parts and not sunk else None


def ground_at(
    robot: Robot, z: float, places: Sequence[tuple[str, np.ndarray]], assumed: bool = False
) -> Ground:
    """The same at height z, m. assumed: nobody gave it, so that places below it show that there is
    none."""
    floor = floor_at(robot, z, assumed)
    if not floor.parts:
        return Ground() if assumed else _all_below(robot, z, places)
    low: list[tuple[str, str, float]] = [
        (what, link, h) for what, q in places for link, h in [lowest(robot, floor, q)] if h < -TOUCH
    ]
    if low:
        what, link, h = min(low, key=lambda item: item[2])
        if assumed:
            words = (
                f"at the {what} {link} is {-h:.3g} m below the foot of the robot (z = {z:.4g} m):"
                " no floor was assumed there"
            )
            return Ground(note=f"{words}; floor: … in the task (floor=…) gives one")
        return Ground(floor, _below(what, link, -h, z))
    heights = [
        part_heights(robot, q, floor.parts, SMOOTH).reshape(-1, len(floor.parts)).min(0) - z
        for _, q in places
    ]
    return Ground(replace(floor, least=tuple(float(h) for h in np.min(heights, axis=0))))


def _all_below(robot: Robot, z: float, places: Sequence[tuple[str, np.ndarray]]) -> Ground:
    """A floor that no link ever gets above; no floor for a robot that has no link to keep above
    one."""
    every = replace(floor_at(robot, -np.inf), height=z)
    if not every.parts:
        return Ground()
    what, q = places[0]
    link, h = lowest(robot, every, q)
    return Ground(every, _below(what, link, -h, z))


def _below(what: str, link: str, depth: float, z: float) -> Diagnosis:
    """Why a place cannot be reached above the floor."""
    sentence = f"The {what} is below the floor: {link} is {depth:.3g} m below z = {z:.4g} m."
    remedy = (
        f"Raise it by {depth:.3g} m, choose another posture, or give the floor's true height"
        " (floor: none for no floor)."
    )
    return Diagnosis(sentence, LIMIT, link, amount=depth, remedy=remedy)


def standing_height(robot: Robot) -> float | None:
    """Where the floor under a fixed arm is, m: at its foot; None for what does not stand on a
    floor.

    An arm stands where gravity pulls along −z, its first joint turns about a vertical axis or
    slides, and its shoulder, the first joint that raises anything, is clearly above its foot."""
    gravity = np.array(robot.gravity)
    if (
        robot.loops
        or gravity[2] >= 0.0
        or np.abs(gravity[:2]).max() > 1e-9
        or not robot.tree.bodies
    ):
        return None
    roots = [body for body in robot.tree.bodies if body.parent < 0]
    upright = [
        body.kind == "prismatic" or abs((body.R @ body.axis)[2]) > 0.999
        for body in roots
        if body.kind != "free"
    ]
    if not upright or not all(upright) or len(upright) != len(roots):
        return None
    fixed = [
        watched(robot.tree, part)
        for part in cover(robot)
        if robot.tree.frames[part.link].body < 0 and part.measured
    ]
    foot = min([0.0, *(world_height(part) for part in fixed)])
    return foot if shoulder_height(robot) - foot > SHOULDER * reach(robot) else None


def shoulder_height(robot: Robot) -> float:
    """Height of the first joint that can raise anything, m; of the base where none can."""
    poses = energy.body_poses(robot.tree, np.zeros(robot.n))
    for body, pose in zip(robot.tree.bodies, poses):
        up = abs(float((pose.R @ body.axis)[2]))
        if (body.kind == "prismatic" and up > 1e-3) or (body.kind == "revolute" and up < 0.999):
            return float(pose.p[2])
    return 0.0


def reach(robot: Robot) -> float:
    """About how far the farthest part of a robot is from a joint, at most, m."""
    moved = [
        watched(robot.tree, part) for part in cover(robot) if robot.tree.frames[part.link].body >= 0
    ]
    found = levers(robot, moved)
    return float(found[np.isfinite(found)].max(initial=0.0))


def world_height(part: Watched) -> float:
    """The height of a part that stands in the world, m."""
    up = np.array([0.0, 0.0, 1.0])
    along = np.array(part.axes) @ up
    flat = part.disc * np.sqrt(max(1.0 - along[2] ** 2, 0.0))
    return float(part.centre[2] - part.ball - np.abs(along) @ np.array(part.half) - flat)


def floor_at(robot: Robot, z: float, assumed: bool = False) -> Floor:
    """The floor at height z, with all parts that can keep above it. Left out: what stands in the
    world, what no joint raises, and what is below it in every configuration."""
    parts = [watched(robot.tree, part) for part in cover(robot)]
    moved = [part for part in parts if part.body >= 0]
    can = levers(robot, moved).any(1) & (part_heights(robot, spread(robot), moved).max(0) > z)
    kept = tuple(part for part, ok in zip(moved, can) if ok)
    left = dict.fromkeys(part.link for part in parts if part not in kept)
    return Floor(float(z), kept, (0.0,) * len(kept), 0.0, tuple(left), assumed)


def spread(robot: Robot) -> np.ndarray:
    """(SAMPLES, n) configurations spread over the joints' ranges; half a turn or a metre to both
    sides where there are none."""
    limits = bounds(robot)
    reach = np.full(robot.n, np.pi)
    low = np.where(
        np.isfinite(limits.lower),
        limits.lower,
        np.where(np.isfinite(limits.upper), limits.upper, 0.0) - reach,
    )
    high = np.where(np.isfinite(limits.upper), limits.upper, low + 2 * reach)
    return low + (high - low) * even_points(0, SAMPLES, robot.n)


def lowest(robot: Robot, floor: Floor, q: np.ndarray) -> tuple[str, float]:
    """The link that comes lowest at q (n,) or (K, n), and its height above the floor, m."""
    heights = (
        part_heights(robot, q, floor.parts).reshape(-1, len(floor.parts)).min(0) - floor.height
    )
    k = int(heights.argmin())
    return floor.parts[k].link, float(heights[k])


def move_ground(robot: Robot, move: Move) -> Ground:
    """The floor of a move, kept by its start, goal and via points."""
    ends = move.vectors(robot)
    vias = [
        (f"via point {k}", configuration(robot, via.configuration, "via"))
        for k, via in enumerate(move.via, start=1)
    ]
    return ground(robot, move.floor, [("start", ends.q0), *vias, ("goal", ends.q1)])


def through(robot: Robot, motion: Trajectory) -> Height | None:
    """Where a motion goes lowest through the robot's floor, between knots too; None where it does
    not."""
    t = np.unique(
        np.concatenate([motion.t, np.linspace(motion.t[0], motion.t[-1], 20 * len(motion))])
    )
    low = min(sampled_heights(robot, t, motion(t).q), key=lambda h: h.height, default=None)
    return low if low is not None and low.height < -TOUCH else None


def planned_above(
    robot: Robot,
    found: Ground,
    plan: Callable[[Robot, float | None], Solution],
    deadline: float | None,
) -> Solution:
    """A plan that keeps the floor: the plain one where that does, else one with the floor's rows,
    with wider margins if need be.

    plan: called with a robot and the seconds that are left.  deadline: seconds for all of it."""
    floor, begin = found.floor, time.perf_counter()
    left = lambda: None if deadline is None else max(begin + deadline - time.perf_counter(), 0.0)
    first = plan(robot, deadline)
    if floor is None:
        return _noted(first, found.note)
    guarded = with_floor(robot, floor)
    low = through(guarded, first.trajectory) if first.ok else None
    if low is None:
        return replace(first, robot=guarded)
    best = None
    for margin in MARGINS:
        again = plan(with_floor(robot, floor.keeping(margin)), left())
        again = replace(again, seconds=time.perf_counter() - begin)
        best = again if best is None else best
        if again.ok and through(guarded, again.trajectory) is None:
            note = (
                f"kept above the floor (z = {floor.height:.4g} m): without it {low.link} would go"
                f" {-low.height:.3g} m below"
            )
            return _noted(again, note)
    assert best is not None
    return best if best.diagnosis is not None else replace(best, diagnosis=no_way(low, floor))


def no_way(low: Height, floor: Floor) -> Diagnosis:
    """Why there is no plan above the floor."""
    sentence = (
        f"No motion was found above the floor: {low.link} goes {-low.height:.3g} m below z ="
        f" {floor.height:.4g} m."
    )
    remedy = (
        "Give a via point above it, more time, another posture, or the floor's true height (floor:"
        " none for no floor)."
    )
    return Diagnosis(sentence, LIMIT, low.link, low.time, -low.height, remedy)


def _noted(plan: Solution, note: str) -> Solution:
    return replace(plan, notes=(*plan.notes, note)) if note else plan

"""The motions of a robot whose base stands at a place: postures of its poses, and plans."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from armature.design.layout import Layout
from armature.drive.catalogue import as_supply
from armature.dynamics.compiled import inverse_dynamics
from armature.dynamics.positioning.inverse_kinematics import reaching
from armature.errors import ArgumentError, ArmatureError
from armature.motion.goal import Goal
from armature.optimize.around.around import plan_around
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.least_energy import Asked, least_energy_move, minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.planner.floor import TOUCH, floor_under, lowest
from armature.optimize.transcription.move import hermite
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.robot.parts import Joint, Link
from armature.scene.measure import distance
from armature.scene.scene import Scene
from armature.simulate.flows import drives_at

WORLD, MOUNT = "world", "base_mount"
INSTANTS = 17  # of a cubic whose energy is estimated
TRIED = 2  # angles whose motions are planned at a place
POSTURES = 16  # of a pose


class Cell(NamedTuple):
    """A place of the base: x, y, m, and the angles that are tried, rad."""

    x: float
    y: float
    turns: tuple[float, ...]


# a place -----------------------------------------------------------------------------------------


def turned(yaw: float) -> np.ndarray:
    """Rotation about the vertical."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def placed_robot(robot: Robot, x: float, y: float, z: float, yaw: float) -> Robot:
    """The robot on a fixed joint of a link `world`."""
    names = {WORLD, MOUNT} & {*robot.link_names, *(j.name for j in robot.joints)}
    if names:
        raise ArgumentError(f"the robot has a link or joint {names.pop()!r} already; rename it")
    rotation: Any = tuple(tuple(float(v) for v in row) for row in turned(yaw))
    mount = Joint(MOUNT, "fixed", WORLD, robot.base, (x, y, z), rotation)
    return replace(
        robot, links=(Link(WORLD), *robot.links), joints=(mount, *robot.joints), base=WORLD
    )


def local_scene(scene: Scene | None, p: np.ndarray, R: np.ndarray) -> Scene | None:
    """The world's obstacles in the frame of a base at p, R."""
    if scene is None:
        return None
    moved = []
    for o in scene.obstacles:
        if o.link is not None:
            moved.append(o)
            continue
        position: Any = tuple(float(v) for v in R.T @ (np.array(o.position) - p))
        rotation: Any = tuple(tuple(float(v) for v in row) for row in R.T @ np.array(o.rotation))
        moved.append(replace(o, position=position, rotation=rotation))
    return replace(scene, obstacles=tuple(moved))


def evaluate_cell(argument: tuple[Layout, Cell]) -> dict[str, Any]:
    """Plain values of a place: cost and best angle, or why the tasks cannot be done there."""
    layout, cell = argument
    chains, reason = [], "a pose is out of reach"
    for yaw in cell.turns:
        stations, why = postures(layout, cell, yaw)
        if why:
            reason = why
            continue
        cost, chain = cheapest_chain(layout, stations)
        chains.append((cost, yaw, chain))
    chains.sort(key=lambda entry: entry[0])
    best: dict[str, Any] = {"ok": False, "reason": reason}
    for _, yaw, chain in chains[:TRIED]:
        try:
            plans = plan_chain(layout, cell, yaw, chain, smooth=False)
        except ArmatureError as e:
            best = best if best["ok"] else {"ok": False, "reason": str(e)[:120]}
            continue
        if not all(plan.ok for plan in plans):
            best = best if best["ok"] else {"ok": False, "reason": "no motion within the limits"}
            continue
        cost = float(
            sum(plan.energy if layout.objective == "energy" else plan.duration for plan in plans)
        )
        if not best["ok"] or cost < best["cost"]:
            best = {"ok": True, "cost": cost, "yaw": float(yaw), "reason": ""}
    return best


def postures(layout: Layout, cell: Cell, yaw: float) -> tuple[list[np.ndarray], str]:
    """(k, n) configurations of every stop that are within ranges, clear of scene and floor; or why
    there are none."""
    robot, R = layout.robot, turned(yaw)
    p = np.array([cell.x, cell.y, layout.z])
    scenes = [local_scene(scene, p, R) for scene in layout.scenes]
    ground = floor_under(robot, _local_floor(layout))
    found = []
    for stop, scene in zip(layout.stops, [scenes[0], *scenes]):
        if not isinstance(stop, Goal):
            found.append(stop[None])
            continue
        at = R.T @ (stop.p - p)
        pose = at if stop.R is None else (R.T @ stop.R, at)
        q = reaching(robot, pose, layout.link, most=POSTURES)
        if not len(q):
            return [], "a pose is out of reach"
        if ground is not None:
            q = q[[lowest(robot, ground, one)[1] >= -TOUCH for one in q]]
            if not len(q):
                return [], "a pose brings the arm below the floor"
        if scene is not None:
            q = q[distance(robot, scene, q).least >= 0.0]
            if not len(q):
                return [], "a pose brings the arm into an obstacle"
        found.append(q)
    return found, ""


def _local_floor(layout: Layout) -> Any:
    """The floor's height in the base's frame."""
    given = layout.floor
    return given if given is None or isinstance(given, str) else float(given) - layout.z


def cheapest_chain(layout: Layout, stations: Sequence[np.ndarray]) -> tuple[float, list]:
    """The postures of all stops whose motions seem cheapest, by dynamic programming: Bellman's
    recursion over the stops, with joint cubics for the motions."""
    cost, back = np.zeros(len(stations[0])), []
    for move, robot, (a, b) in zip(layout.moves, layout.robots, itertools.pairwise(stations)):
        none = np.zeros((len(a), len(b)))
        edges = none if move is None else cubic_costs(layout, robot, move, a, b)
        total = cost[:, None] + edges
        back.append(total.argmin(0))
        cost = total.min(0)
    last = int(np.argmin(cost))
    chain = [last]
    for step in reversed(back):
        chain.append(int(step[chain[-1]]))
    return float(cost.min()), [q[k] for q, k in zip(stations, reversed(chain))]


def cubic_costs(
    layout: Layout, robot: Robot, move: Move, a: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """(A, B) estimated cost of motions from a (A, n) to b (B, n): energy of the joint cubic, J; or
    the time that the joints' velocity limits take, s."""
    n = robot.n
    start, goal = np.repeat(a, len(b), axis=0), np.tile(b, (len(a), 1))
    if layout.objective == "time":
        most = np.array([robot.joint(name).limits.velocity for name in robot.joint_names])
        slowest = np.abs(goal - start) / np.where(np.isfinite(most), most, np.pi)
        return slowest.max(1).reshape(len(a), len(b))
    T = float(move.duration or 1.0)
    t = np.linspace(0.0, T, INSTANTS)
    zero = np.zeros(n)
    rows = [hermite(t, T, q0, q1, zero, zero) for q0, q1 in zip(start, goal)]
    q, v, acc = (np.concatenate([row[k] for row in rows]) for k in range(3))
    tau = np.asarray(inverse_dynamics(robot, q, v, acc))
    power = drives_at(robot, tau, v, acc).together.power
    supply = as_supply(layout.supply if layout.supply is not None else robot.supply)
    burnt = supply.slacks(power.shape[1]) > 0
    drawn = (np.maximum(power, 0.0) if burnt else power).sum(1).reshape(len(rows), -1)
    return (drawn.mean(1) * T).reshape(len(a), len(b))


def plan_chain(
    layout: Layout,
    cell: Cell,
    yaw: float,
    chain: Sequence[np.ndarray],
    smooth: bool,
    in_world: bool = False,
) -> list[Solution]:
    """The motions of all legs. in_world: of the robot that stands there, with the world's own
    obstacles; else the world is moved."""
    p, R = np.array([cell.x, cell.y, layout.z]), turned(yaw)
    floor = layout.floor if in_world else _local_floor(layout)
    found = []
    legs = zip(layout.moves, layout.robots, layout.scenes, itertools.pairwise(chain))
    for move, own, around, (a, b) in legs:
        if move is None:
            continue
        robot = placed_robot(own, cell.x, cell.y, layout.z, yaw) if in_world else own
        scene = around if in_world else local_scene(around, p, R)
        made = replace(
            move,
            start=a,
            goal=b,
            posture=None,
            link=None,
            floor=floor,
            smoothness=move.smoothness if smooth else 0.0,
        )
        found.append(_planned(layout, robot, made, scene))
        if not found[-1].ok:
            break
    return found


def _planned(layout: Layout, robot: Robot, move: Move, scene: Scene | None) -> Solution:
    """One motion; around the obstacles only where the straight one meets them."""
    if layout.objective == "time":
        plan = minimize_time(robot, move, supply=layout.supply, knots=layout.knots)
    elif move.smoothness:
        plan = minimize_energy(robot, move, layout.supply, knots=layout.knots)
    else:
        asked = Asked(layout.supply, layout.knots, explained=False)
        plan = least_energy_move(robot, move, asked)
    if scene is None or not plan.ok:
        return plan
    if np.all(distance(robot, scene, plan.trajectory.q).least >= 0.0) and not move.smoothness:
        return plan
    return plan_around(robot, move, scene, layout.objective, layout.supply, knots=layout.knots)


def plan_at(layout: Layout, cell: Cell, in_world: bool) -> list[Solution]:
    """The plans at a place with one angle, in the smoothness asked for."""
    yaw = cell.turns[0]
    stations, why = postures(layout, cell, yaw)
    if why:
        raise ArmatureError(why)
    _, chain = cheapest_chain(layout, stations)
    return plan_chain(layout, cell, yaw, chain, smooth=True, in_world=in_world)

"""Sums over the time of a motion whose powers have corners and jumps: Gauss points between break
points, refined where needed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from armature.dynamics.compiled import inverse_dynamics
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.robot.model import Robot
from armature.simulate.flows import Drives, drives_at
from armature.simulate.pieces import Pieces, pieces

NODES, WEIGHTS = np.polynomial.legendre.leggauss(3)
HALVINGS = 24  # of an interval at most
ACCURACY = 1e-7  # of the energy that goes through, in all intervals together


class Steps(NamedTuple):
    """A motion in M short steps: t (M,) within each, dt (M,) that it stands for, q, v, a, tau (M,
    n); tau of rigid bodies and rotors."""

    t: np.ndarray
    dt: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    tau: np.ndarray


class Intervals(NamedTuple):
    """K intervals of a motion, each with three Gauss points: begin, end (K,); what happens there,
    in the order (interval, point)."""

    begin: np.ndarray
    end: np.ndarray
    points: Steps
    drives: Drives
    sums: np.ndarray


def motion_steps(robot: Robot, trajectory: Trajectory, steps: int = 1200) -> Steps:
    """A motion at three Gauss points in each of equal parts of every interval between knots, at
    least `steps` in all, with its torques."""
    check_motion(robot, trajectory)
    parts = int(np.ceil(steps / (3 * (len(trajectory) - 1))))
    edges = np.interp(
        np.arange(parts * (len(trajectory) - 1) + 1) / parts,
        np.arange(len(trajectory)),
        trajectory.t,
    )
    return gauss_points(robot, trajectory, edges[:-1], edges[1:])


def check_motion(robot: Robot, trajectory: Trajectory) -> None:
    """Refuse motions of other robots, and single knots."""
    if trajectory.n != robot.nv:
        raise ArgumentError(
            f"the motion has {trajectory.n} velocities, the robot {robot.name!r} has {robot.nv};"
            " take its own robot"
        )
    if len(trajectory) < 2:
        raise ArgumentError("the motion has one knot only; a ledger needs a duration")


def gauss_points(robot: Robot, trajectory: Trajectory, begin: np.ndarray, end: np.ndarray) -> Steps:
    """Three points in each interval from begin to end (K,), s."""
    half = (end - begin)[:, None] / 2
    t, dt = (begin[:, None] + half * (1 + NODES)).ravel(), (half * WEIGHTS).ravel()
    # the polynomial through the knots, whose v and a are true derivatives, also where a simulation
    # has its own dense output
    q, v, a = (
        Trajectory.__call__(trajectory, t)
        if trajectory.q.shape == trajectory.v.shape
        else trajectory(t)
    )
    return Steps(t, dt, q, v, a, np.asarray(inverse_dynamics(robot, q, v, a)))


def quadrature(
    robot: Robot, trajectory: Trajectory, steps: int = 600
) -> tuple[Steps, Drives, float]:
    """Gauss points of a motion with weights, what the drives do there, and an estimate of the error
    of the energy, J.

    Intervals end at knots and where joints turn. Each is compared with its two halves, by the
    powers of all axes, by their positive parts (what a supply that takes nothing back counts), and
    by their sum's: halves are halved again where these differ.
    steps: at least so many points.
    """
    check_motion(robot, trajectory)
    begin, end = _divided(
        *_pieces(robot, trajectory), int(np.ceil(steps / (2 * len(NODES) * (len(trajectory) - 1))))
    )
    whole = _intervals(robot, trajectory, begin, end)
    allowed = (
        ACCURACY
        * max(float(np.abs(whole.sums[:, : whole.sums.shape[1] // 2]).sum()), 1e-9)
        / len(begin)
    )
    kept: list[Intervals] = []
    error = 0.0
    for level in range(HALVINGS + 1):
        middle = (whole.begin + whole.end) / 2
        order = np.argsort(np.concatenate([whole.begin, middle]), kind="stable")
        halves = _intervals(
            robot,
            trajectory,
            np.concatenate([whole.begin, middle])[order],
            np.concatenate([middle, whole.end])[order],
        )
        off = np.abs(halves.sums[0::2] + halves.sums[1::2] - whole.sums)
        good = ~(off.max(axis=1, initial=0.0) > allowed) | (
            level == HALVINGS
        )  # where there are no numbers, halving finds none
        error += float(off[good].max(axis=1, initial=0.0).sum())
        kept.append(_chosen(halves, np.repeat(good, 2)))
        if good.all():
            break
        whole = _chosen(halves, np.repeat(~good, 2))
    return *_joined(kept), error


def _pieces(robot: Robot, trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Times at which intervals begin and end: knots, and where joints and axes turn."""
    if trajectory.q.shape != trajectory.v.shape:
        return trajectory.t[:-1], trajectory.t[1:]
    cut: Pieces = pieces(robot, trajectory)
    step, begin, end = cut.edges()
    first = trajectory.t[step]
    edges = (
        first + begin * cut.h[step],
        np.where(end == 1.0, trajectory.t[step + 1], first + end * cut.h[step]),
    )
    lasting = edges[1] > edges[0]
    return edges[0][lasting], edges[1][lasting]


def _divided(begin: np.ndarray, end: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Every interval in equal parts."""
    edges = begin[:, None] + (end - begin)[:, None] * (np.arange(parts + 1) / parts)
    edges[:, -1] = end
    return edges[:, :-1].ravel(), edges[:, 1:].ravel()


def _intervals(
    robot: Robot, trajectory: Trajectory, begin: np.ndarray, end: np.ndarray
) -> Intervals:
    """Intervals with their points, and (K, ...) sums over each: powers of all axes and of all
    together, and their positive parts."""
    s = gauss_points(robot, trajectory, begin, end)
    drives = drives_at(robot, s.tau, s.v, s.a)
    axes = axis_powers(robot, s, drives)
    powers = (
        np.column_stack([*axes.values(), *([sum(axes.values())] if axes else [])])
        if axes
        else np.zeros((len(s.dt), 0))
    )
    sums = (
        (s.dt[:, None] * np.hstack([powers, np.maximum(powers, 0.0)]))
        .reshape(len(begin), len(NODES), -1)
        .sum(1)
    )
    return Intervals(begin, end, s, drives, sums)


def axis_powers(robot: Robot, s: Steps, drives: Drives) -> dict[str, np.ndarray]:
    """Power that each drive, and each joint without one, takes from the supply, W."""
    train = robot.drivetrain
    powers = {name: drives.together.power[:, k] for k, name in enumerate(train.axis_names)}
    for j, name in enumerate(train.joint_names):
        if not train.driven[j]:
            powers[name] = (s.tau[:, j] + drives.friction[:, j]) * s.v[:, j]
    return powers


def _chosen(x: Intervals, which: np.ndarray) -> Intervals:
    """Some of the intervals."""
    points = np.repeat(which, len(NODES))
    flow = type(x.drives.together)(*(column[points] for column in vars(x.drives.together).values()))
    drives = Drives(flow, x.drives.friction[points], x.drives.torque[points])
    return Intervals(
        x.begin[which], x.end[which], Steps(*(c[points] for c in x.points)), drives, x.sums[which]
    )


def _joined(parts: list[Intervals]) -> tuple[Steps, Drives]:
    """All points in the order of time."""
    order = np.argsort(np.concatenate([p.points.t for p in parts]), kind="stable")
    chain = lambda columns: np.concatenate(list(columns))[order]
    steps = Steps(*(chain(p.points[k] for p in parts) for k in range(len(Steps._fields))))
    names = list(vars(parts[0].drives.together))
    flow = type(parts[0].drives.together)(
        *(chain(getattr(p.drives.together, name) for p in parts) for name in names)
    )
    return steps, Drives(
        flow, chain(p.drives.friction for p in parts), chain(p.drives.torque for p in parts)
    )

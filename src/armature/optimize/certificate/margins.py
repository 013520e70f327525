"""The margin of every limit of a motion, exact or proved at every instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from armature.drive import Flow
from armature.drive.limit import readable
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.polynomials import derivative, extremes
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.clearance import UNIT, Height, sampled_heights
from armature.optimize.certificate.drives import DriveRows, State
from armature.optimize.certificate.prove import Proof, prove
from armature.optimize.certificate.rows import Label, Margin, Source, scaled
from armature.robot.bounds import Bounds
from armature.robot.model import Robot
from armature.robot.unit import unit_of
from armature.scene.floor import LIMIT
from armature.simulate.flows import drives_at
from armature.simulate.pieces import ASIDE as SIDE
from armature.simulate.pieces import Pieces, Points, pieces

FINER = 20  # points between two knots to begin with
ASIDE = 1e-5  # of a step: how far from a knot its two sides are in `fine_times`
MEANS = ("average heat", "continuous current")  # limits over the whole motion


def fine_times(trajectory: Trajectory, finer: int = FINER) -> np.ndarray:
    """`finer` equal parts of every interval between knots; both sides of a knot, where the
    acceleration may jump and joints that stand have just arrived or are about to set out: so far
    from it that rounding does not decide to which side they move."""
    s = np.linspace(0.0, 1.0, finer + 1)
    t0, t1 = trajectory.t[:-1, None], trajectory.t[1:, None]
    inside = t0 + (t1 - t0) * np.clip(s, ASIDE, 1 - ASIDE)
    return inside.ravel()


def margins(
    robot: Robot, trajectory: Trajectory, finer: int = FINER
) -> dict[str, dict[str, Margin]]:
    """The margin of every finite limit of joints and drives, by joint and limit; a motion at rest
    at an end has stood there before.

    Positions and their derivatives: exact extrema of the polynomials. What depends on torques: at
    `finer` points of every step, on both sides of every place where a joint turns, and where its
    friction peaks."""
    cut = pieces(robot, trajectory)
    rows = DriveRows(robot, cut)
    state = rows.state(cut.points(finer))
    heights = floor_margins(sampled_heights(robot, state.points.t, state.points.q))
    return _by_joint(
        [
            *_exact(rows, cut),
            *rows.table(state).margins(state.points.t),
            *_overall(rows, cut, state),
            *heights,
        ]
    )


def floor_margins(heights: list[Height]) -> list[Margin]:
    """Heights of links above the floor as margins."""
    return [Margin(h.link, LIMIT, h.height / UNIT, h.time, h.height, 0.0, "m") for h in heights]


def _by_joint(found: Iterable[Margin]) -> dict[str, dict[str, Margin]]:
    """The worst of every joint's and limit's margins."""
    table: dict[str, dict[str, Margin]] = {}
    for margin in found:
        row = table.setdefault(margin.joint, {})
        if margin.limit not in row or margin.fraction < row[margin.limit].fraction:
            row[margin.limit] = margin
    return table


def proved_margins(
    robot: Robot, trajectory: Trajectory, more: Sequence[Source] = ()
) -> tuple[dict[str, dict[str, Margin]], Proof]:
    """Margins proved at every instant, and the proof. more: further sources of rows."""
    cut = pieces(robot, trajectory)
    rows = DriveRows(robot, cut)
    state = rows.state(cut.points(FINER))
    proof = prove(
        cut,
        [rows, *more],
        state.points,
        [rows.table(state), *(source(state.points) for source in more)],
    )
    return _by_joint([*_exact(rows, cut), *proof.margins, *_overall(rows, cut, state)]), proof


def worst_margin(robot: Robot, motion: Trajectory, finer: int = FINER) -> Margin | None:
    """The smallest margin of all limits, between knots too; None without limits."""
    return worst_of(margins(robot, motion, finer))


def worst_of(found: Mapping[str, Mapping[str, Margin]]) -> Margin | None:
    return min(
        (m for row in found.values() for m in row.values()), key=lambda m: m.fraction, default=None
    )


def exceeded_in_steps(
    robot: Robot, trajectory: Trajectory, joint: str, limit: str, finer: int = FINER
) -> np.ndarray:
    """(N,) by which part of itself a limit of torque or of a drive is exceeded in every step, at
    most; negative where it is kept."""
    cut = pieces(robot, trajectory)
    rows, points = DriveRows(robot, cut), cut.points(finer)
    table = rows(points)
    chosen = [k for k, x in enumerate(table.labels) if (x.joint, x.limit) == (joint, limit)]
    worst = np.full(len(trajectory) - 1, -1.0)
    np.maximum.at(worst, points.step, table.beyond[:, chosen].max(axis=1, initial=-1.0))
    return worst


def torque_margins(
    robot: Robot, t: np.ndarray, tau: np.ndarray, v: np.ndarray, a: np.ndarray
) -> list[Margin]:
    """The margins of what depends on the torques tau (K, n) at times t (K,): joints' torques and
    the drives' limits."""
    drives = drives_at(robot, tau, v, a)
    rows = DriveRows(
        robot,
        Pieces(Trajectory(t[:1], v[:1], v[:1], a[:1]), np.zeros((0, robot.n)), np.zeros(robot.n)),
    )
    instants = Points(t, t, t, t, v, v, a, v)
    table = rows.table(State(instants, tau, drives, None))
    found = [m for m in table.margins(t) if m.limit != "motor speed"]
    return [*found, *_means(robot, t, np.ones(len(t) - 1, dtype=bool), drives.together)]


def _exact(rows: DriveRows, cut: Pieces) -> Iterator[Margin]:
    """Ranges, velocities, accelerations and jerks at the extrema of their polynomials."""
    robot, limits, h, t0 = (
        rows.robot,
        rows.most,
        cut.h[:, None, None],
        cut.motion.t[:-1, None, None],
    )
    c = cut.position
    kinds = (
        ("velocity", "rad/s or m/s"),
        ("acceleration", "rad/s² or m/s²"),
        ("jerk", "rad/s³ or m/s³"),
    )
    for order, (what, unit) in enumerate((("range", "rad or m"), *kinds)):
        limited = (
            np.isfinite([limits.lower, limits.upper]).any()
            if not order
            else np.isfinite(getattr(limits, what)).any()
        )
        if limited:
            x, y = extremes(c, cut.turns[order])
            t, y = t0 + np.clip(x, SIDE, 1 - SIDE) * h, y / h**order
            yield from _extreme(
                robot, limits, what, unit, t.reshape(-1, robot.n), y.reshape(-1, robot.n)
            )
        c = derivative(c)


def _extreme(
    robot: Robot, limits: Bounds, what: str, unit: str, t: np.ndarray, y: np.ndarray
) -> Iterator[Margin]:
    """The margins of one quantity from its values y (K, n) at times t (K, n)."""
    span = limits.upper - limits.lower
    for k, name in enumerate(robot.joint_names):
        said = unit_of(robot, name, unit)
        sides = [
            (what, np.inf if what == "range" else getattr(limits, what)[k], np.abs(y[:, k]), 1.0)
        ]
        if what == "range":
            sides = [
                ("upper end of its range", limits.upper[k], y[:, k], 1.0),
                ("lower end of its range", -limits.lower[k], -y[:, k], -1.0),
            ]
        for limit, bound, values, sign in sides:
            if np.isfinite(bound):
                i = int(np.argmax(values))
                scale = (
                    (span[k] if np.isfinite(span[k]) else 1.0) if what == "range" else scaled(bound)
                )
                yield Label(name, limit, float(bound), said, float(scale) or 1.0, sign).margin(
                    float(values[i]), float(t[i, k])
                )


def _overall(rows: DriveRows, cut: Pieces, s: State) -> Iterator[Margin]:
    """Means over the motion, and jumps of accelerations and torques, spread over the step before
    them."""
    robot, limits = rows.robot, rows.most
    yield from _means(robot, s.points.t, s.points.cells, s.drives.together)
    for what, bound, values in (
        ("jerk", limits.jerk, s.points.a),
        ("torque rate", limits.torque_rate, s.tau),
    ):
        if np.isfinite(bound).any():
            unit = "rad/s³ or m/s³" if what == "jerk" else "N·m/s or N/s"
            t, rate = _jumps(robot, cut, s.points, what, values)
            for k in np.flatnonzero(np.isfinite(bound)):
                i, name = int(np.argmax(rate[:, k])), robot.joint_names[k]
                label = Label(
                    name, what, float(bound[k]), unit_of(robot, name, unit), scaled(float(bound[k]))
                )
                yield label.margin(float(rate[i, k]), float(t[i]))


def _jumps(
    robot: Robot, cut: Pieces, points: Points, what: str, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(K,) times and (K, n) rates of jumps at knots, and from and to standing still at the ends."""
    motion, h, steps = cut.motion, cut.h, np.arange(len(cut.h))
    first, last = (np.searchsorted(points.step, steps, side=side) for side in ("left", "right"))
    begin, end = values[first], values[last - 1]
    at_rest = 0.0 * motion.q[[0, -1]]
    still = (
        at_rest
        if what == "jerk"
        else np.asarray(inverse_dynamics(robot, motion.q[[0, -1]], at_rest, at_rest))
    )
    rest = (np.abs(motion.v[[0, -1]]) <= 1e-6 * np.abs(motion.v).max()).all(1)[:, None]
    ends = np.abs(np.stack([begin[0], end[-1]]) - still) / h[[0, -1], None] * rest
    inside = np.abs(begin[1:] - end[:-1]) / h[:-1, None]
    return np.concatenate([motion.t[1:-1], motion.t[[0, -1]]]), np.concatenate([inside, ends])


def _means(robot: Robot, t: np.ndarray, cells: np.ndarray, together: Flow) -> Iterator[Margin]:
    """Limits of means over the motion, by the trapezoidal rule over cells (K − 1,) between times t
    (K,)."""
    dt = np.diff(t) * cells
    for axis, name, limit in robot.drivetrain.limits():
        if limit.mean:
            y = limit.sign * getattr(together, limit.quantity)[:, axis]
            value = float(dt @ (y[1:] + y[:-1]) / 2 / (t[-1] - t[0]))
            shown = readable(
                value, limit.bound, limit.unit
            )  # a continuous current as its root mean square; its fraction is the heat's
            yield Margin(name, limit.name, 1.0 - value / limit.bound, float(t[-1]), *shown)

"""The certificate of a plan (X4): every limit checked between the knots, and the motion re-simulated by an independent integrator.

The plan says which currents flow at which time. The simulation feeds exactly these currents to the drives of the mechanism, with a
linear position servo on top (this decides), and once more without it (reported: an inverted arm falls away from any open-loop plan).
It shares nothing with the planner but the robot: forward dynamics instead of inverse, an adaptive integrator instead of knots.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.drive import EXACT, Flow, Smooth, as_supply, stack
from armature.dynamics.compiled import inverse_dynamics
from armature.motion.trajectory import Trajectory
from armature.optimize.replay import LAW, Run, replay
from armature.robot.bounds import bounds
from armature.robot.model import Robot
from armature.robot.unit import unit_of
from armature.simulate.flows import drives_at
from armature.simulate.ledger import ledger, motion_steps

FINER = 20  # grid points between two knots
ASIDE = 1e-5  # of a step: how far from a knot its two sides are
ALLOWED = 1e-3  # violation, as a fraction of the limit
MEANS = ("average heat", "continuous current")  # limits over the whole motion
TRACKING = 1e-3  # largest error of the simulated motion, as a fraction of the motion's extent
ENERGY = 1e-2  # largest difference of the simulated energy, as a fraction of the energy that went through


@dataclass(frozen=True)
class Margin:
    """How near a motion comes to one limit.

    joint: joint or axis.  limit: its name.  fraction: (bound − value)/bound at the worst time: 0 at the limit, negative beyond it.
    time: s, where the worst occurs.  value, bound: in `unit`.
    """

    joint: str
    limit: str
    fraction: float
    time: float
    value: float
    bound: float
    unit: str

    def __str__(self) -> str:
        how = "is at" if abs(self.fraction) <= ALLOWED else "is within" if self.fraction > 0 else "exceeds"
        limit = f"{self.limit} {self.value:.6g} {self.unit} {how} its limit {self.bound:.6g} {self.unit}"
        return f"{self.joint}: {limit} at t = {round(self.time, 6):.4g} s"  # a knot's two sides are told as the knot


def left(margin: Margin) -> str:
    """How much of a limit is left, in words."""
    part = f"{100 * abs(margin.fraction):.2f} %"
    return f"{part} left" if margin.fraction > 0.0 and part != "0.00 %" else "used in full" if part == "0.00 %" else f"{part} beyond it"


@dataclass(frozen=True)
class Certificate:
    """What the checks found.

    margins: {joint: {limit: Margin}}.  worst: the smallest margin, None without limits.
    tracking_error: largest joint error of the simulation with the servo, as a fraction of the joint's (or the motion's) extent.
    open_loop_error: largest joint error at the end without the servo, rad or m; inf where it diverged.
    energy: of the simulation, J; NaN, and energy_error 0, for a robot without drives.
    energy_error: its difference from the plan's, as a fraction of the energy that went through; both by the
    friction of the simulation, since what a joint that creeps below 1e-4 rad/s takes is a matter of its law.
    notes: what happened on the way, e.g. that the plan was refined.  found: false for the best try of a search that found no plan: such a
    motion need not arrive, and is never certified.
    """

    margins: Mapping[str, Mapping[str, Margin]]
    worst: Margin | None
    tracking_error: float
    open_loop_error: float
    energy: float
    energy_error: float
    notes: tuple[str, ...] = ()
    found: bool = True

    @property
    def within_limits(self) -> bool:
        """No limit is exceeded by more than 1e-3 of itself, between knots too."""
        return self.worst is None or self.worst.fraction >= -ALLOWED

    @property
    def ok(self) -> bool:
        """It is a plan, limits hold, the simulated mechanism follows, and its energy is the plan's."""
        return self.found and self.within_limits and self.tracking_error <= TRACKING and self.energy_error <= ENERGY

    def __str__(self) -> str:
        verdict = "passed" if self.ok else "NOT passed" if self.found else "NOT passed: the search found no plan, this is its best try"
        lines = [f"certificate: {verdict}"]
        if self.worst is not None:
            lines.append(f"  nearest limit   {self.worst} ({left(self.worst)})")
        given = "torques" if np.isnan(self.energy) else "currents"
        lines.append(f"  simulated under the planned {given} with a servo: off by {self.tracking_error:.1e} of the motion")
        lines.append(f"  simulated without a servo: off by {self.open_loop_error:.1e} rad or m at the end")
        energy = f"energy of the simulation {self.energy:.6g} J, off by {self.energy_error:.1e} of what went through"
        lines.append(f"  {'energy not counted: no drives' if np.isnan(self.energy) else energy}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def certify(robot: Robot, trajectory: Trajectory, supply: Any = None, notes: tuple[str, ...] = ()) -> Certificate:
    """Check a planned motion: limits on a grid 20 times finer than its knots, then two simulations under its currents."""
    found = margins(robot, trajectory)
    worst = min((m for row in found.values() for m in row.values()), key=lambda m: m.fraction, default=None)
    served = replay(robot, trajectory, servo_rate(trajectory))
    error = _tracking_error(trajectory, served)
    planned = ledger(robot, trajectory, supply)
    off = _energy(robot, served, supply, LAW) - _planned_energy(robot, trajectory, supply, LAW)
    through = max(planned.throughput, 1e-12)
    alone = replay(robot, trajectory, 0.0)
    drawn, part = (_energy(robot, served, supply), abs(off) / through) if robot.drives else (np.nan, 0.0)
    end = float(np.max(np.abs(alone.q[-1] - trajectory.q[-1]))) if alone.complete else float("inf")
    return Certificate(found, worst, error, end, drawn, part, notes)


# limits ------------------------------------------------------------------------------------------------------------------


def fine_times(trajectory: Trajectory, finer: int = FINER) -> np.ndarray:
    """`finer` equal parts of every interval between knots; both sides of a knot, where the acceleration may jump and joints that stand
    have just arrived or are about to set out: so far from it that rounding does not decide to which side they move."""
    s = np.linspace(0.0, 1.0, finer + 1)
    t0, t1 = trajectory.t[:-1, None], trajectory.t[1:, None]
    inside = t0 + (t1 - t0) * np.clip(s, ASIDE, 1 - ASIDE)
    return inside.ravel()


def margins(robot: Robot, trajectory: Trajectory, finer: int = FINER) -> dict[str, dict[str, Margin]]:
    """The margin of every finite limit of joints and drives, by joint and limit; a motion at rest at an end has stood there before."""
    t = fine_times(trajectory, finer)
    q, v, a = trajectory(t)
    tau = np.asarray(inverse_dynamics(robot, q, v, a))
    drives = drives_at(robot, tau, v, a)
    found: dict[str, dict[str, Margin]] = {}
    rates = _rate_margins(robot, trajectory, finer, a, tau)
    for margin in (*_joint_margins(robot, t, q, v, a, tau + drives.friction), *rates, *_drive_margins(robot, t, drives.together)):
        row = found.setdefault(margin.joint, {})
        if margin.limit not in row or margin.fraction < row[margin.limit].fraction:
            row[margin.limit] = margin
    return found


def worst_margin(robot: Robot, motion: Trajectory, finer: int = FINER) -> Margin | None:
    """The smallest margin of all limits, between knots too; None without limits."""
    return min((m for row in margins(robot, motion, finer).values() for m in row.values()), key=lambda m: m.fraction, default=None)


def exceeded_in_steps(robot: Robot, trajectory: Trajectory, joint: str, limit: str, finer: int = FINER) -> np.ndarray:
    """(N,) by which part of itself a limit of torque or of a drive is exceeded in every step, at most; negative where it is kept."""
    t = fine_times(trajectory, finer)
    q, v, a = trajectory(t)
    tau = np.asarray(inverse_dynamics(robot, q, v, a))
    drives, laws = drives_at(robot, tau, v, a), robot.drivetrain.limits()
    rows = [law.scaled(drives.together)[:, axis] for axis, name, law in laws if (name, law.name) == (joint, limit)]
    if limit == "torque" and joint in robot.joint_names:
        k, most = robot.joint_names.index(joint), bounds(robot).torque
        rows.append(np.abs(tau[:, k] + drives.friction[:, k]) / most[k] - 1.0)
    worst = np.max([np.full(t.shape, -1.0), *rows], axis=0)
    return worst.reshape(len(trajectory) - 1, -1).max(1)


def torque_margins(robot: Robot, t: np.ndarray, tau: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[Margin]:
    """The margins of what depends on the torques tau (K, n) at times t (K,): joints' torques and the drives' limits."""
    drives = drives_at(robot, tau, v, a)
    turning = (m for m in _joint_margins(robot, t, np.zeros_like(v), v, a, tau + drives.friction) if m.limit == "torque")
    return [*turning, *(m for m in _drive_margins(robot, t, drives.together) if m.limit != "motor speed")]


def _joint_margins(robot: Robot, t: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray):
    """Ranges, and magnitudes of velocity, acceleration and torque."""
    limits = {j.name: j.limits for j in robot.joints}
    lowest, highest = _where_largest(-q), _where_largest(q)
    magnitudes = [
        (what, values, _where_largest(values), unit)
        for what, values, unit in (
            ("velocity", np.abs(v), "rad/s or m/s"),
            ("acceleration", np.abs(a), "rad/s² or m/s²"),
            ("torque", np.abs(tau), "N·m or N"),
        )
    ]
    for k, name in enumerate(robot.joint_names):
        limit = limits.get(name)
        if limit is None:
            continue
        span = limit.upper - limit.lower if np.isfinite(limit.upper - limit.lower) else 1.0
        for side, bound, i in (("lower", limit.lower, lowest[k]), ("upper", limit.upper, highest[k])):
            if np.isfinite(bound):
                at = float(q[i, k])
                part = (at - bound if side == "lower" else bound - at) / span
                yield Margin(name, f"{side} end of its range", part, float(t[i]), at, bound, unit_of(robot, name, "rad or m"))
        for what, values, rows, unit in magnitudes:
            bound = getattr(limit, what)
            if np.isfinite(bound):
                value, when = float(values[rows[k], k]), float(t[rows[k]])
                yield Margin(name, what, (bound - value) / bound if bound else -value, when, value, bound, unit_of(robot, name, unit))


def _where_largest(x: np.ndarray) -> np.ndarray:
    """(m,) the rows in which the columns of x (K, m) are largest."""
    return np.ascontiguousarray(x.T).argmax(1)


def _rate_margins(robot: Robot, trajectory: Trajectory, finer: int, a: np.ndarray, tau: np.ndarray) -> Iterator[Margin]:
    """Jerks, and rates of the torques of rigid bodies and rotors: slopes on the fine grid, and jumps, spread over the step before them."""
    limits = bounds(robot)
    chosen = (("jerk", limits.jerk, a, "rad/s³ or m/s³"), ("torque rate", limits.torque_rate, tau, "N·m/s or N/s"))
    for what, bound, values, unit in chosen:
        if not np.isfinite(bound).any():
            continue
        at_rest = 0.0 * trajectory.q[[0, -1]]
        still = at_rest if what == "jerk" else np.asarray(inverse_dynamics(robot, trajectory.q[[0, -1]], at_rest, at_rest))
        t, rate = _rates(trajectory, finer, values, still)
        for k in np.flatnonzero(np.isfinite(bound)):
            i = int(np.argmax(rate[:, k]))
            value, most = float(rate[i, k]), float(bound[k])
            name = robot.joint_names[k]
            yield Margin(name, what, (most - value) / most if most else -value, float(t[i]), value, most, unit_of(robot, name, unit))


def _rates(trajectory: Trajectory, finer: int, values: np.ndarray, still: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(K,) times and (K, n) magnitudes of the rates of what has these values on the fine grid. still: (2, n) before and after, at rest."""
    h = np.diff(trajectory.t)
    grid = values.reshape(len(h), finer + 1, -1)
    inside = np.gradient(grid, axis=1, edge_order=2 if finer > 1 else 1) * (finer / h)[:, None, None]
    jumps = np.abs(grid[1:, 0] - grid[:-1, -1]) / h[:-1, None]
    rest = (np.abs(trajectory.v[[0, -1]]) <= 1e-6 * np.abs(trajectory.v).max()).all(1)[:, None]
    ends = np.abs(grid[[0, -1], [0, -1]] - still) / h[[0, -1], None] * rest
    t = trajectory.t[:-1, None] + h[:, None] * np.arange(finer + 1) / finer
    rate = np.concatenate([np.abs(inside).reshape(-1, grid.shape[2]), jumps, ends])
    return np.concatenate([t.ravel(), trajectory.t[1:-1], trajectory.t[[0, -1]]]), rate


def _drive_margins(robot: Robot, t: np.ndarray, together: Flow):
    """Every limit of every drive, from the list that the planner reads too. together: what the axes do at times t, fields (K, axes)."""
    rows: dict[tuple[str, float], tuple[np.ndarray, np.ndarray]] = {}
    for axis, name, limit in robot.drivetrain.limits():
        key = limit.quantity, limit.sign
        if key not in rows:
            values = limit.sign * getattr(together, limit.quantity)
            rows[key] = values, _where_largest(values)
        values, largest = rows[key]
        when = len(t) - 1 if limit.mean else largest[axis]
        value = float(np.trapezoid(values[:, axis], t) / (t[-1] - t[0])) if limit.mean else float(values[when, axis])
        yield Margin(name, limit.name, 1.0 - value / limit.bound, float(t[when]), value, limit.bound, limit.unit)


# simulation --------------------------------------------------------------------------------------------------------------


def servo_rate(trajectory: Trajectory) -> float:
    """Of the linear position servo, 1/s."""
    return max(20.0, 60.0 / max(trajectory.duration, 1e-9))


def _tracking_error(plan: Trajectory, run: Run) -> float:
    """Largest error of any joint over the motion, against what the joint moves (at least a tenth of the largest)."""
    if not run.complete:
        return float("inf")
    wanted = plan(run.t + plan.t[0]).q
    extent = np.ptp(plan.q, axis=0)
    scale = np.maximum(extent, max(0.1 * float(extent.max(initial=0.0)), 1e-3))
    return float(np.max(np.abs(run.q - wanted) / scale))


def _energy(robot: Robot, run: Run, supply: Any, law: Smooth = EXACT) -> float:
    """Net energy from the supply in the simulation, from the torques that its drives gave, J."""
    flows = robot.drivetrain.flow(run.tau, run.v, run.a, smooth=law)
    if not flows:
        return float(np.trapezoid(np.sum(run.tau * run.v, axis=1), run.t))
    power = stack(flows, "power")
    mean = (power[1:] + power[:-1]) / 2
    account = as_supply(supply if supply is not None else robot.supply).account(np.diff(run.t), mean)
    return float(np.sum(account.drawn) - np.sum(account.returned))


def _planned_energy(robot: Robot, plan: Trajectory, supply: Any, law: Smooth) -> float:
    """Net energy of the plan by this law, J."""
    steps = motion_steps(robot, plan)
    flows = robot.drivetrain.flow(steps.tau, steps.v, steps.a, smooth=law)
    if not flows:
        return float(steps.dt @ np.sum(steps.tau * steps.v, axis=1))
    account = as_supply(supply if supply is not None else robot.supply).account(steps.dt, stack(flows, "power"))
    return float(np.sum(account.drawn) - np.sum(account.returned))

"""The certificate of a plan (X4): every limit checked between the knots, and the motion
re-simulated by an independent integrator.

The plan says which currents flow at which time. The simulation feeds exactly these currents to the
drives of the mechanism, with a linear position servo on top (this decides), and once more without
it (reported: an inverted arm falls away from any open-loop plan). It shares nothing with the
planner but the robot: forward dynamics instead of inverse, an adaptive integrator instead of knots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armature.drive import EXACT, Smooth, as_supply, stack
from armature.motion.trajectory import Trajectory
from armature.notebook import certificate_html
from armature.optimize.certificate.arrival import Target, arrival, is_target
from armature.optimize.certificate.clearance import proved_heights
from armature.optimize.certificate.margins import ASIDE as ASIDE
from armature.optimize.certificate.margins import FINER as FINER
from armature.optimize.certificate.margins import MEANS as MEANS
from armature.optimize.certificate.margins import exceeded_in_steps as exceeded_in_steps
from armature.optimize.certificate.margins import fine_times as fine_times
from armature.optimize.certificate.margins import floor_margins, proved_margins
from armature.optimize.certificate.margins import margins as margins
from armature.optimize.certificate.margins import torque_margins as torque_margins
from armature.optimize.certificate.margins import worst_margin as worst_margin
from armature.optimize.certificate.prove import Proof
from armature.optimize.certificate.replay import LAW, Run, replay
from armature.optimize.certificate.rows import ALLOWED, Margin, Source
from armature.optimize.certificate.rows import left as left
from armature.robot.model import Robot
from armature.simulate.ledger import ledger, motion_steps

TRACKING = 1e-3  # largest error of the simulated motion, as a fraction of the motion's extent
# largest difference of the simulated energy, as a fraction of the energy that went through
ENERGY = 1e-2


@dataclass(frozen=True)
class Certificate:
    """What the checks found.

    margins: {joint: {limit: Margin}}, with the distances from start, via points and goal.  worst:
    the smallest margin of a limit, or the target that is missed most; None without limits.
    tracking_error: largest joint error of the simulation with the servo, as a fraction of the
    joint's (or the motion's) extent.
    open_loop_error: largest joint error at the end without the servo, rad or m; inf where it
    diverged.
    energy: of the simulation, J (NaN, and energy_error 0, without drives): the ledger's energy of
    the plan, and by what the simulation differs from it.
    energy_error: this difference as a fraction of the energy that went through, both by the
    friction of the simulation, since what a joint that creeps below 1e-4 rad/s takes is a matter of
    its law.
    proved: limits are proved to be kept at every instant, or exceeded at one that the margins name;
    else `checked` says what is open.
    notes: what happened on the way, e.g. that the plan was refined.  found: false for the best try
    of a search that found no plan: such a motion need not arrive, and is never certified.  invalid:
    why a certificate from a file does not hold for the motion beside it; empty where it does.
    """

    margins: Mapping[str, Mapping[str, Margin]]
    worst: Margin | None
    tracking_error: float
    open_loop_error: float
    energy: float
    energy_error: float
    notes: tuple[str, ...] = ()
    found: bool = True
    proved: bool = False
    checked: str = ""
    invalid: str = ""

    @property
    def within_limits(self) -> bool:
        """No limit is exceeded by more than 1e-3 of itself, between knots too; at every instant
        where it is `proved`."""
        return self.worst is None or self.worst.fraction >= -ALLOWED

    @property
    def ok(self) -> bool:
        """It is a plan, limits hold, the simulated mechanism follows, and its energy is the
        plan's."""
        return (
            self.found
            and not self.invalid
            and self.within_limits
            and self.tracking_error <= TRACKING
            and self.energy_error <= ENERGY
        )

    _repr_html_ = certificate_html

    @property
    def verdict(self) -> str:
        """Whether it passed, in a few words."""
        if self.invalid:
            return f"NOT valid: {self.invalid}"
        return (
            "passed"
            if self.ok
            else (
                "NOT passed"
                if self.found
                else "NOT passed: the search found no plan, this is its best try"
            )
        )

    def __repr__(self) -> str:
        near = "" if self.worst is None else f"; nearest limit {self.worst}"
        return f"<Certificate: {self.verdict}{near}>"

    def __str__(self) -> str:
        lines = [f"certificate: {self.verdict}"]
        if self.worst is not None:
            lines.append(f"  nearest limit   {self.worst} ({left(self.worst)})")
        if self.checked:
            lines.append(f"  limits          {self.checked}")
        given = "torques" if np.isnan(self.energy) else "currents"
        lines.append(
            f"  simulated under the planned {given} with a servo: off by {self.tracking_error:.1e}"
            " of the motion"
        )
        lines.append(
            f"  simulated without a servo: off by {self.open_loop_error:.1e} rad or m at the end"
            " (for information)"
        )
        energy = (
            f"energy of the simulation {self.energy:.6g} J, off by {self.energy_error:.1e} of what"
            " went through"
        )
        lines.append(f"  {'energy not counted: no drives' if np.isnan(self.energy) else energy}")
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])


def certify(
    robot: Robot,
    trajectory: Trajectory,
    supply: Any = None,
    notes: tuple[str, ...] = (),
    targets: Sequence[Target] = (),
    rows: Sequence[Source] = (),
) -> Certificate:
    """Check a planned motion: limits at every instant, arrival, then two simulations under its
    currents.

    targets: where it has to be, and how fast, at which times.  rows: further limits
    (optimize/certificate/rows.py)."""
    found, proof = proved_margins(robot, trajectory, rows)
    for margin in floor_margins(proved_heights(robot, trajectory, fine_times(trajectory))):
        found.setdefault(margin.joint, {})[margin.limit] = margin
    for margin in arrival(robot, trajectory, targets):
        found.setdefault(margin.joint, {})[margin.limit] = margin
    served = replay(robot, trajectory, servo_rate(trajectory))
    error = _tracking_error(trajectory, served)
    planned = ledger(robot, trajectory, supply)
    off = _energy(robot, served, supply, LAW) - _planned_energy(robot, trajectory, supply, LAW)
    through = max(planned.throughput, 1e-12)
    alone = replay(robot, trajectory, 0.0)
    drawn, part = (planned.energy + off, abs(off) / through) if robot.drives else (np.nan, 0.0)
    end = float(np.max(np.abs(alone.q[-1] - trajectory.q[-1]))) if alone.complete else float("inf")
    locking = [
        name
        for name, d in zip(robot.drivetrain.axis_names, robot.drivetrain.drives)
        if d.gear.self_locking
    ]
    if locking:
        notes = (
            *notes,
            (
                f"simulated by torques instead of currents: {', '.join(locking)}, whose"
                " self-locking gears hold any load"
            ),
        )
    return Certificate(
        found,
        nearest(found),
        error,
        end,
        drawn,
        part,
        notes,
        proved=proof.proved,
        checked=_checked(proof),
    )


def nearest(found: Mapping[str, Mapping[str, Margin]]) -> Margin | None:
    """The smallest margin; a target counts only where it is missed."""
    every = (m for row in found.values() for m in row.values())
    counted = (m for m in every if m.fraction < -ALLOWED or not is_target(m))
    return min(counted, key=lambda m: m.fraction, default=None)


def _checked(proof: Proof) -> str:
    """What was proved of the limits, in words."""
    if proof.proved:
        return "proved at every instant"
    if proof.open:
        return f"not proved near t = {proof.open[0].time:.6g} s: {proof.open[0]}"
    return f"checked at {proof.instants} instants, not proved between them ({proof.why})"


# simulation --------------------------------------------------------------------------------------


def servo_rate(trajectory: Trajectory) -> float:
    """Of the linear position servo, 1/s."""
    return max(20.0, 60.0 / max(trajectory.duration, 1e-9))


def _tracking_error(plan: Trajectory, run: Run) -> float:
    """Largest error of any joint over the motion, against what the joint moves (at least a tenth of
    the largest)."""
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
    account = as_supply(supply if supply is not None else robot.supply).account(
        np.diff(run.t), mean
    )
    return float(np.sum(account.drawn) - np.sum(account.returned))


def _planned_energy(robot: Robot, plan: Trajectory, supply: Any, law: Smooth) -> float:
    """Net energy of the plan by this law, J."""
    steps = motion_steps(robot, plan)
    flows = robot.drivetrain.flow(steps.tau, steps.v, steps.a, smooth=law)
    if not flows:
        return float(steps.dt @ np.sum(steps.tau * steps.v, axis=1))
    account = as_supply(supply if supply is not None else robot.supply).account(
        steps.dt, stack(flows, "power")
    )
    return float(np.sum(account.drawn) - np.sum(account.returned))

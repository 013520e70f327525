"""What a recorded or taught motion costs, how near its limits it runs, and what the least would
be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from armature.drive.catalogue import Supply, as_supply
from armature.errors import ArgumentError
from armature.motion.recorded import load_recorded
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ALLOWED, Margin, left, margins
from armature.optimize.certificate.solution import Baseline, Solution, counted
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.problem.interrupt import interruptible
from armature.optimize.transcription.task import SMOOTHNESS, Move
from armature.robot.model import Robot
from armature.simulate.ledger import Ledger, drive_signals, ledger

STILL = 0.02  # of its highest speed: below this an end counts as rest


@dataclass(frozen=True, eq=False)
class Recorded:
    """A recorded motion and what could have been.

    trajectory: with torques, currents, voltages and powers.  ledger: where its energy went.
    margins: {joint: {limit: Margin}}.
    plan: the least-energy motion between the same ends in the same time; its baseline is the
    recorded motion."""

    robot: Robot
    supply: Supply
    trajectory: Trajectory
    ledger: Ledger
    margins: Mapping[str, Mapping[str, Margin]]
    plan: Solution

    @property
    def worst(self) -> Margin | None:
        """The limit that the recorded motion comes nearest to, or exceeds most."""
        return min(
            (m for row in self.margins.values() for m in row.values()),
            key=lambda m: m.fraction,
            default=None,
        )

    @property
    def broken(self) -> tuple[Margin, ...]:
        """Limits that the recorded motion exceeds, worst first."""
        found = [m for row in self.margins.values() for m in row.values() if m.fraction < -ALLOWED]
        return tuple(sorted(found, key=lambda m: m.fraction))

    @property
    def saving(self) -> float | None:
        """Fraction that the plan saves: of the losses with a supply that takes energy back, else of
        the energy drawn."""
        return self.plan.saving

    def __str__(self) -> str:
        book, plan, worst = self.ledger, self.plan, self.worst
        lines = [f"recorded motion of {self.robot.name}: {self.trajectory.duration:.4g} s"]
        lines.append(
            f"it draws {book.energy:.4g} J from the supply and turns {book.losses:.4g} J into heat"
        )
        if self.broken:
            lines += ["it breaks limits:", *(f"  {m}" for m in self.broken)]
        elif worst is not None:
            lines.append(f"it keeps all limits; the nearest: {worst} ({left(worst)})")
        if not plan.ok:
            return "\n".join(
                [
                    *lines,
                    (
                        "no plan for the same ends and time was found:"
                        f" {plan.diagnosis or plan.status.value}"
                    ),
                ]
            )
        lines.append(
            f"the plan between the same ends in the same time: {plan.energy:.4g} J drawn,"
            f" {plan.losses:.4g} J of heat"
        )
        if self.saving is not None:
            lines.append(saved(self.saving, counted(plan.returns), bool(self.broken)))
        return "\n".join(lines)


def saved(saving: float, of: str, broken: bool) -> str:
    """What a plan saves against a recorded motion, in words. saving: a fraction.  of: what.
    broken: the recorded motion breaks limits."""
    if saving >= 0.0:
        return f"so {100 * saving:.1f} % of the {of} can be saved"
    why = (
        "it breaks limits that the plan keeps"
        if broken
        else "its ends were taken as rest, or the search found no better motion"
    )
    return (
        f"nothing can be saved: the recorded motion takes {-100 * saving:.1f} % less of the {of}"
        f" than the plan ({why})"
    )


@interruptible
def recorded_cost(
    robot: Robot,
    trajectory: Trajectory | str | PathLike[str],
    supply: Any = None,
    knots: int = 100,
    smoothness: float = SMOOTHNESS,
    floor: Any = "auto",
    **options: Any,
) -> Recorded:
    """Tell what a recorded motion costs and plan the cheapest one between the same ends in the same
    time.

    trajectory: (N+1, n), as `load_recorded` gives it, or the path of a file for it; ends that
    hardly move (2 % of the joint's highest speed) count as rest.
    supply, knots, options: as in `minimize_energy`; by default the robot's own supply.  smoothness,
    floor: of the plan, as in `Move`."""
    if isinstance(trajectory, str | PathLike):
        trajectory = load_recorded(trajectory, robot)
    if not isinstance(trajectory, Trajectory):
        raise ArgumentError(
            "the motion must be a Trajectory or the path of a recorded file, got"
            f" {type(trajectory).__name__}"
        )
    if trajectory.n != robot.nv or trajectory.q.shape[1] != robot.nq:
        raise ArgumentError(
            f"the motion has {trajectory.n} joints, robot {robot.name!r} has {robot.nv}:"
            f" {', '.join(robot.joint_names)}"
        )
    source = as_supply(supply if supply is not None else robot.supply)
    motion = drive_signals(robot, trajectory)
    book, found = ledger(robot, motion, source), margins(robot, motion)
    v0, v1 = (
        np.where(np.abs(v) <= STILL * np.abs(motion.v).max(axis=0), 0.0, v)
        for v in (motion.v[0], motion.v[-1])
    )
    start, goal = motion.q[0], motion.q[-1]
    task = Move(
        start,
        goal,
        motion.duration,
        start_velocity=v0,
        goal_velocity=v1,
        smoothness=smoothness,
        floor=floor,
    )
    plan = minimize_energy(robot, task, source, knots=knots, **options)
    kept = all(m.fraction >= -ALLOWED for row in found.values() for m in row.values())
    compare = Baseline(
        motion, book, kept, "" if kept else "which breaks limits", "the recorded motion"
    )
    return Recorded(robot, source, motion, book, found, replace(plan, compare=compare))

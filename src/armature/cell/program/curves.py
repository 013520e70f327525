"""The energy-time curve of every motion of a program: its least time, and what longer ones cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armature.cell.program.share import EnergyCurve
from armature.cell.program.stages import Leg
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.around.around import plan_around
from armature.optimize.certificate.obstacles import clearance
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.curve import energy_time_curve
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.transcription.task import Move
from armature.simulate.ledger import ledger
from armature.study.rest import coil_power

NEAREST = 1.01  # the first duration above the least time, in multiples of it
SHORT = 1e-6  # part of a least time that is no time to spare
FEW = 30  # knots of a shortest motion at least


@dataclass(frozen=True, eq=False)
class Timed:
    """A leg with its shortest motion and its energy-time curve."""

    leg: Leg
    fastest: Solution
    curve: EnergyCurve


def shortest(leg: Leg, supply: Any, knots: int) -> Solution:
    """The shortest motion of a leg, around the scene's obstacles where they block it; an
    ArgumentError names the step, the robot and what would help."""
    knots = max(FEW, knots)
    if isinstance(leg.task, FollowPath):
        found = minimize_time(leg.robot, leg.task, knots=knots, supply=supply)
    else:
        found = minimize_time(leg.robot, leg.task, knots=knots, starts=1, supply=supply)
        found = (
            found if found.ok else minimize_time(leg.robot, leg.task, knots=knots, supply=supply)
        )
    if found.ok and not is_free(leg, found.trajectory):
        found = _around(leg, None, supply, knots)
    if not found.ok:
        raise ArgumentError(
            f"step {leg.name!r} of robot {leg.robot.name!r} is impossible: "
            f"{found.diagnosis or found.status.value}"
        )
    if found.duration > leg.most * (1 + 1e-9):
        raise ArgumentError(
            f"step {leg.name!r} of robot {leg.robot.name!r} may take {leg.most:.4g} s "
            f"at most, but needs {found.duration:.4g} s; allow that much"
        )
    return found


def is_free(leg: Leg, motion: Trajectory) -> bool:
    """Whether a motion of a leg is proved free of the scene as it is then."""
    return leg.scene is None or clearance(leg.robot, leg.scene, motion).free


def _around(leg: Leg, duration: float | None, supply: Any, knots: int) -> Solution:
    """A leg around obstacles: in a duration (s) with the least energy, or in the least time."""
    assert leg.scene is not None
    task = leg.task if duration is None else replace(leg.task, duration=duration)
    objective = "time" if duration is None else "energy"
    try:
        return plan_around(leg.robot, task, leg.scene, objective, supply, knots=knots)
    except ArgumentError as error:
        raise ArgumentError(
            f"step {leg.name!r} of robot {leg.robot.name!r} is impossible: {error}"
        ) from None


def timed(leg: Leg, fastest: Solution, spare: float, supply: Any, knots: int, points: int) -> Timed:
    """The energy-time curve of a leg from its least time to `spare` (s) more."""
    coil, T0 = coil_power(leg.robot), fastest.duration
    energy = ledger(leg.robot, fastest.trajectory, supply).energy
    durations, energies, motions = [T0], [energy + coil * T0], [fastest.trajectory]
    longest = min(T0 + spare, leg.most)
    if longest - T0 > SHORT * T0:
        first = min(NEAREST, 1 + 0.5 * (longest - T0) / T0)
        T = T0 * np.geomspace(first, longest / T0, points)
        for t, e, motion in _points(leg, T, supply, knots):
            durations.append(t)
            energies.append(e + coil * t)
            motions.append(motion)
    return Timed(leg, fastest, EnergyCurve(np.array(durations), np.array(energies), tuple(motions)))


def _points(
    leg: Leg, T: np.ndarray, supply: Any, knots: int
) -> list[tuple[float, float, Trajectory]]:
    """(duration, energy, motion) at the durations for which there is a plan; with a scene, of
    motions that are free of it."""
    if isinstance(leg.task, FollowPath):
        plans = [least_energy_of(leg, float(t), supply, knots) for t in T]
        return [(p.duration, p.energy, p.trajectory) for p in plans if p is not None]
    curve = energy_time_curve(leg.robot, leg.task, T.tolist(), supply, knots, refine=False)
    found = []
    for t, e, m in zip(curve.durations, curve.energies, curve.trajectories):
        if m is not None and np.isfinite(e) and is_free(leg, m):
            found.append((float(t), float(e), m))
        elif leg.scene is not None:
            plan = _around(leg, float(t), supply, knots)
            found += [(plan.duration, plan.energy, plan.trajectory)] if plan.ok else []
    return found


def least_energy_of(
    leg: Leg, duration: float, supply: Any, knots: int, guess: Trajectory | None = None
) -> Solution | None:
    """The plan of a leg in `duration` (s), around obstacles where they block it; None without."""
    extra: dict[str, Any] = {"guess": guess} if isinstance(leg.task, Move) else {}
    task = replace(leg.task, duration=duration)
    found = minimize_energy(leg.robot, task, supply, knots=knots, **extra)
    if found.ok and not is_free(leg, found.trajectory):
        found = _around(leg, duration, supply, knots)
    return found if found.ok else None


def planned(of: Timed, duration: float, supply: Any, knots: int) -> Solution:
    """The certified plan of a leg in `duration` (s); where there is none, that of the next shorter
    duration of its curve for which there is one."""
    least = of.fastest.duration
    shorter = [float(t) for t in of.curve.durations[::-1] if least < t < duration - 1e-9]
    for T in [duration, *shorter] if duration > least * (1 + SHORT) else []:
        guess = of.curve.motions[int(np.abs(of.curve.durations - T).argmin())]
        found = least_energy_of(of.leg, T, supply, knots, guess)
        if found is not None and found.certificate.ok:
            return found
    return of.fastest


Progress = Callable[[str, int, int], None]


class Counter:
    """Reports how many of the steps of a computation are done."""

    def __init__(self, listener: Progress | None, total: int):
        self.listener, self.total, self.done = listener, total, 0

    def __call__(self, what: str) -> None:
        """One more is done."""
        self.done += 1
        self.total = max(self.total, self.done)  # further rounds are not known before
        if self.listener is not None:
            self.listener(what, self.done, self.total)

"""The same motion run a little slower, until it keeps its limits between knots too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.certify import ALLOWED, FINER, MEANS, Margin, margins
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem

FACTORS = 1.0, 1.001, 1.002, 1.004, 1.007, 1.012, 1.02, 1.035, 1.06, 1.09, 1.13, 1.2  # times the motion's duration
RATES = "jerk", "torque rate"


class Allowed(NamedTuple):
    """Parts of a limit, of that of a mean and of that of a rate, which may be exceeded. finer: points between two knots that are asked."""

    others: float = ALLOWED
    means: float = ALLOWED
    rates: float = ALLOWED
    finer: int = FINER

    def by(self, found: Iterable[Margin]) -> bool:
        """Whether none of these margins is exceeded by more."""
        return all(m.fraction >= -(self.means if m.limit in MEANS else self.rates if m.limit in RATES else self.others) for m in found)


OFTEN = Allowed(0.01, 1e-3, 0.2, 4)  # what few knots exceed and more of them cure


def run_slower(problem: MoveProblem, motion: Trajectory, allowed: Allowed, most: float = FACTORS[-1]) -> Trajectory | None:
    """The motion, or the same in at most so many times its duration, so that it keeps all limits; None where that fails.

    Where the task gives velocities another duration is another motion: these are only tried as they are."""
    for factor in FACTORS[:1] if problem.moving else FACTORS:
        if factor > most:
            break
        trial = stretched(motion, factor * motion.duration) if factor > 1.0 else motion
        if allowed.by(m for row in margins(problem.robot, trial, allowed.finer).values() for m in row.values()):
            return trial
    return None

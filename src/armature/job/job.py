"""A job: all that one plan needs, as data. The command line, studies and the app make jobs; running one is a single call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armature.drive.catalogue import SupplyGiven
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot

OBJECTIVES = ("energy", "time")


@dataclass(frozen=True, eq=False)
class Job:
    """One plan to be made.

    robot: with its drives, payload and limits.  task: a `Move` or a `FollowPath`.  objective: "energy" or "time".
    supply: as in `minimize_energy`; it is also what the energy of the shortest motion is counted with.
    knots: steps in time.  name: for tables and file names.  output: the folder where the plan shall be written, if any.
    thorough: as in `minimize_energy`.
    """

    robot: Robot
    task: Move | FollowPath
    objective: str = "energy"
    supply: SupplyGiven = None
    knots: int = 100
    name: str = ""
    output: Path | None = None
    thorough: bool | None = None

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ArgumentError(f"objective = {self.objective!r} must be one of {', '.join(OBJECTIVES)}")

    def run(self, guess: Trajectory | None = None, callback: Callable | None = None, deadline: float | None = None) -> Solution:
        """Make the plan. guess: a motion to start from.  callback, deadline: as in `minimize_energy`."""
        common: dict[str, Any] = {"knots": self.knots, "guess": guess, "callback": callback, "deadline": deadline}
        if self.objective == "time":
            return minimize_time(self.robot, self.task, supply=self.supply, **common)
        return minimize_energy(self.robot, self.task, self.supply, thorough=self.thorough, **common)

"""A job: all that one plan needs, as data. The command line, studies and the app make jobs; running
one is a single call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armature.drive.catalogue import SupplyGiven
from armature.errors import ArgumentError
from armature.motion.trajectory import Trajectory
from armature.optimize.around.around import plan_around
from armature.optimize.certificate.solution import Solution
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.transcription.task import Move
from armature.robot.model import Robot
from armature.scene.scene import Scene

OBJECTIVES = ("energy", "time")


@dataclass(frozen=True, eq=False)
class Job:
    """One plan to be made.

    robot: with its drives, payload and limits.  task: a `Move` or a `FollowPath`.  objective:
    "energy" or "time".
    supply: as in `minimize_energy`; it is also what the energy of the shortest motion is counted
    with.
    knots: steps in time.  name: for tables and file names.  output: the folder where the plan shall
    be written, if any.
    thorough: as in `minimize_energy`.  scene: obstacles that the motion keeps clear of, as in
    `plan_around`."""

    robot: Robot
    task: Move | FollowPath
    objective: str = "energy"
    supply: SupplyGiven = None
    knots: int = 100
    name: str = ""
    output: Path | None = None
    thorough: bool | None = None
    scene: Scene | None = None

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise ArgumentError(
                f"objective = {self.objective!r} must be one of {', '.join(OBJECTIVES)}"
            )

    def run(
        self,
        guess: Trajectory | None = None,
        callback: Callable | None = None,
        deadline: float | None = None,
    ) -> Solution:
        """Make the plan. guess: a motion to start from.  callback, deadline:
        as in `minimize_energy`."""
        if self.scene is not None:
            return plan_around(
                self.robot,
                self.task,
                self.scene,
                self.objective,
                self.supply,
                knots=self.knots,
                deadline=deadline,
                callback=callback,
                guess=guess,
            )
        common: dict[str, Any] = {
            "knots": self.knots,
            "guess": guess,
            "callback": callback,
            "deadline": deadline,
        }
        if self.objective == "time":
            return minimize_time(self.robot, self.task, supply=self.supply, **common)
        return minimize_energy(self.robot, self.task, self.supply, thorough=self.thorough, **common)

    def without_scene(self, what: str) -> Job:
        """This job, where it has no obstacles; else an error, for `what` does not know them."""
        if self.scene is not None:
            raise ArgumentError(
                f"scene: {what} does not go around obstacles yet; take the scene out, or plan one"
                " motion (armature plan)"
            )
        return self

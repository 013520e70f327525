"""Line files: stations with their robots, moves and processes; what they may say, and the line that
they describe."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag

from armature.document import at_place, checked, selected, values
from armature.drive import Brake
from armature.drive.catalogue import read_drives
from armature.job.job_file import configuration, robot_of
from armature.job.job_schema import (
    Arguments,
    Configuration,
    FileOrMapping,
    Held,
    LimitsOrFile,
    TaskFile,
)
from armature.optimize.transcription.task import Move
from armature.robot.format.quantities import Duration, Mass, Number, Power, Torque
from armature.robot.format.schema import Name, Part
from armature.robot.model import Robot
from armature.study.line import Line, Process, Station, StationMove
from armature.study.rest import with_brakes
from armature.text import read_text

OF_ROBOT = ("robot", "arguments", "drives", "limits", "friction", "hold")


class BrakePart(Part):
    """A brake on every axis of a station that has none of its own."""

    torque: Torque = Field(float("inf"), description="that it holds, seen at the joint")
    engage_time: Duration = 0.0
    release_time: Duration = 0.0
    power: Power = Field(0.0, description="of its coil while released")


Goal = Annotated[
    Annotated[Literal["start"], Tag("back")] | Annotated[Configuration, Tag("configuration")],
    Discriminator(lambda x: "back" if isinstance(x, str) else "configuration"),
]


class MoveStep(Part):
    """A move from where the robot is, at rest at both ends; goal: start returns to the station's
    start."""

    goal: Goal
    via: list[Configuration] = Field(default=[])
    payload: Mass = Field(0.0, description="that it carries on this move")
    name: str = ""


class StepPart(Part):
    """One step of a station: a move, or a process of fixed time."""

    move: MoveStep | None = None
    process: Duration | None = None
    name: str = "process"

    def model_post_init(self, _: Any) -> None:
        if (self.move is None) == (self.process is None):
            raise ValueError("a step is either move: {goal: …} or process: a time")


class StationPart(Part):
    """A robot and its steps; the keys of the robot are those of a task file."""

    name: Name
    robot: Name
    arguments: Arguments | None = None
    drives: FileOrMapping | None = None
    limits: LimitsOrFile | None = None
    friction: dict[str, dict[str, Number]] | None = None
    hold: Held | None = None
    supply: FileOrMapping | None = None
    brake: BrakePart | None = Field(
        None,
        description=(
            "a brake on every axis that has none; without brakes the motors hold while waiting"
        ),
    )
    start: Configuration
    steps: list[StepPart] = Field(min_length=1, max_length=1000)


class LineFile(Part):
    """Stations that work at one cycle. File names are relative to the line file's own folder."""

    armature: Literal[1] = 1
    name: str = ""
    cycle: Duration | None = Field(
        None, description="by default that of the slowest station at its least time"
    )
    knots: Annotated[int, Field(ge=4, le=2000)] = 50
    points: Annotated[int, Field(ge=3, le=200)] = Field(
        16, description="durations on each curve of energy against time"
    )
    stations: list[StationPart] = Field(min_length=1, max_length=1000)


def load_line(path: str | PathLike[str]) -> Line:
    """The line of a YAML file, for `balance_line`. A FileError lists all mistakes with their lines;
    nothing is planned yet."""
    data = values(read_text(path), path)
    part = checked(LineFile, data, path)
    stations = [
        _station(s, data["stations"][k], (path, data, k)) for k, s in enumerate(part.stations)
    ]
    with at_place(path, data, "stations"):
        return Line(
            tuple(stations), part.cycle, part.name or Path(path).stem, part.knots, part.points
        )


def _station(part: StationPart, data: Any, where: tuple[Any, Any, int]) -> Station:
    path, whole, k = where
    robot = station_robot(part, data, path)
    with at_place(path, data, "supply"):
        supply = None if part.supply is None else read_drives(selected(data, ["supply"]), path)[1]
    with at_place(path, data, "start"):
        start = configuration(robot, part.start, None)
    steps: list[StationMove | Process] = []
    at = start
    for i, step in enumerate(part.steps):
        with at_place(path, whole, "stations", k, "steps", i):
            if step.move is None:
                steps.append(Process(step.process or 0.0, step.name))
                continue
            goal = start if step.move.goal == "start" else configuration(robot, step.move.goal, at)
            via = [configuration(robot, v, at) for v in step.move.via]
            steps.append(
                StationMove(
                    Move(at, goal, via=via),
                    step.move.payload,
                    step.move.name or f"move {len(steps) + 1}",
                )
            )
        at = np.asarray(goal)
    with at_place(path, whole, "stations", k, "steps"):
        return Station(part.name, robot, tuple(steps), supply)


def station_robot(part: StationPart, data: Any, path: Any) -> Robot:
    """The robot as a task file would give it, with brakes where the station says so."""
    given = {key: data[key] for key in OF_ROBOT if key in data}
    task = TaskFile.model_validate({**given, "move": {"start": [], "goal": []}})
    with at_place(path, data, "robot"):
        robot = robot_of(task, selected(data, OF_ROBOT), path)
        return robot if part.brake is None else with_brakes(robot, Brake(**part.brake.model_dump()))

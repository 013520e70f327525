"""Program files: a task file whose task is `program:`, a list of steps."""

from __future__ import annotations

import functools
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Discriminator, Field, Tag

from armature.cell.program.program import (
    Along,
    Dwell,
    Grip,
    MoveTo,
    PowerMode,
    Program,
    Release,
    Step,
)
from armature.document import Block, at_place, checked, selected, values
from armature.drive import Brake
from armature.drive.catalogue import read_drives
from armature.errors import ArgumentError, ArmatureError
from armature.job.job_file import configuration, path_of, robot_of, scene_in
from armature.job.job_schema import (
    Arguments,
    Configuration,
    FileOrMapping,
    Ground,
    Held,
    LimitsOrFile,
    PathPart,
    PosePart,
    Posture,
    Smoothness,
    Supplied,
    TaskFile,
    ToolPart,
)
from armature.motion.path import JointPath
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.transcription.task import SMOOTHNESS
from armature.robot.format.quantities import Duration, Mass, Moment, Number, Power, Quantity
from armature.robot.format.schema import Name, Part, Point
from armature.robot.model import Robot
from armature.study.line_file import BrakePart
from armature.study.rest import with_brakes
from armature.text import read_text

OF_ROBOT = ("robot", "arguments", "drives", "limits", "friction", "hold", "tool")
KINDS = ("move", "path", "dwell", "grip", "release")

Goal = Annotated[
    Annotated[Literal["start"], Tag("back")] | Annotated[Configuration, Tag("configuration")],
    Discriminator(lambda x: "back" if isinstance(x, str) else "configuration"),
]


class MovePart(Part):
    """A move from where the robot is; goal: start returns to where the program begins."""

    goal: Goal
    via: list[Configuration] = Field(default=[], max_length=1000)
    stop: bool = Field(True, description="false: the goal is passed without stopping")
    upright: bool = Field(False, description="straight, with the tool axis parallel to itself")
    posture: Posture | None = None
    smoothness: Smoothness = SMOOTHNESS
    most: Duration | None = Field(None, description="the longest duration allowed")


class StepPathPart(PathPart):
    """A path, which begins where the robot is."""

    most: Duration | None = Field(None, description="the longest duration allowed")


class DwellPart(Part):
    """Standing still for at least a time."""

    seconds: Duration
    hold: Literal["cheaper", "motors", "brake"] = "cheaper"
    fixed: bool = Field(False, description="no longer than this")


class GripPart(Part):
    """A part is taken up."""

    mass: Mass
    at: Point | None = Field(None, description="its centre in the link's frame")
    link: Name | None = None
    inertia: tuple[Moment, ...] | None = Field(None, description="xx, yy, zz or six moments")
    seconds: Duration = 0.0
    thing: Name | None = Field(None, description="the object of the scene that is taken up")


class ReleasePart(Part):
    """The part is let go."""

    seconds: Duration = 0.0


def _time_or(part: type[Part]) -> Any:
    """A time alone, or the whole part."""
    return Annotated[
        Annotated[Duration, Tag("time")] | Annotated[part, Tag("part")],
        Discriminator(lambda x: "part" if isinstance(x, dict | Part) else "time"),
    ]


class StepPart(Part):
    """One step: exactly one of move, path, dwell, grip, release; and its name."""

    move: MovePart | None = None
    path: StepPathPart | None = None
    dwell: _time_or(DwellPart) | None = None  # type: ignore[valid-type]
    grip: GripPart | None = None
    release: _time_or(ReleasePart) | None = None  # type: ignore[valid-type]
    name: str = ""

    def model_post_init(self, _: Any) -> None:
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(
                f"{' and '.join(given) or 'nothing'} given; a step is one of {', '.join(KINDS)}"
            )


class ModePart(Part):
    """A power mode of the whole robot, in which its motors are off and its brakes hold."""

    power: Power
    enter: Duration = Field(0.0, description="during which the motors hold")
    leave: Duration = Field(0.0, description="during which the motors hold")
    energy: Annotated[float, Quantity("J")] = Field(0.0, description="of entering and leaving")


class ProgramPart(Part):
    """What is done in every cycle."""

    start: Configuration
    cycle: Duration | None = Field(
        None, description="to be left out where the least cycle is asked for"
    )
    closed: bool = Field(True, description="the cycle is repeated: it ends where it began")
    points: Annotated[int, Field(ge=3, le=200)] = 12
    mean_limits: Literal["motion", "cycle"] = Field(
        "motion", description="of motors: kept by every motion, or over the cycle"
    )
    steps: list[StepPart] = Field(min_length=1, max_length=1000)


class ProgramFile(Part):
    """A robot program to be planned. File names are relative to the file's own folder."""

    armature: Literal[1] = 1
    name: str = ""
    robot: Name
    arguments: Arguments | None = None
    drives: FileOrMapping | None = None
    limits: LimitsOrFile | None = None
    friction: dict[str, dict[str, Number]] | None = None
    hold: Held | None = None
    tool: ToolPart | None = None
    supply: Supplied | None = None
    brake: BrakePart | None = Field(None, description="on every axis that has none of its own")
    modes: dict[str, ModePart] = Field({}, description="power modes at rest: {stand-by: …, off: …}")
    scene: FileOrMapping | None = Field(
        None, description="obstacles that the motions go around: a file, or {objects: …}"
    )
    floor: Ground = "auto"
    knots: Annotated[int, Field(ge=4, le=2000, strict=True)] = 50
    objective: Literal["energy", "time"] = "energy"
    output: str | None = Field(None, description="the folder where the plan is written")
    program: ProgramPart


def is_program(path: str | PathLike[str]) -> bool:
    """Whether a file is a YAML mapping with `program:`; False for whatever cannot be read."""
    if Path(path).suffix.lower() not in (".yaml", ".yml"):
        return False
    try:
        data = values(read_text(path), path)
    except ArmatureError:
        return False
    return isinstance(data, dict) and "program" in data


def load_program(path: str | PathLike[str]) -> Program:
    """The program of a YAML file, for `plan_program`. A FileError lists mistakes with their
    lines."""
    return read_program(path)[0]


def read_program(path: str | PathLike[str]) -> tuple[Program, ProgramFile]:
    """The program of a file, and all that the file says."""
    data = values(read_text(path), path)
    part = checked(ProgramFile, data, path)
    return program_of(part, data, path), part


def program_of(part: ProgramFile, data: Any, path: Any) -> Program:
    """The program of a checked file. data: its values, for lines.  path: that others are relative
    to."""
    robot = _robot(part, data, path)
    with at_place(path, data, "supply"):
        supply = None if part.supply is None else read_drives(selected(data, ["supply"]), path)[1]
    scene = scene_in(part.scene, data, path)
    with at_place(path, data, "program", "start"):
        start = configuration(robot, part.program.start, None, part.floor, scene)
    steps = []
    near = start
    for k, step in enumerate(part.program.steps):
        with at_place(path, data, "program", "steps", k):
            inside = functools.partial(
                configuration, robot, start=near, floor=part.floor, scene=scene
            )
            steps.append(_step(robot, step, inside, (data["program"]["steps"][k], path)))
            near = _after(robot, steps[-1], start, near, part.floor)
    given = part.program
    with at_place(path, data, "program"):
        return Program(
            robot,
            start,
            tuple(steps),
            given.cycle,
            supply,
            part.name or Path(path).stem,
            given.closed,
            scene,
            part.floor,
            part.knots,
            given.points,
            given.mean_limits,
            tuple(PowerMode(name, **mode.model_dump()) for name, mode in part.modes.items()),
        )


def _after(robot: Robot, step: Step, start: np.ndarray, near: np.ndarray, floor: Any) -> np.ndarray:
    """Where the robot is after a step, (n,). near: before it.  start: of the program."""
    if isinstance(step, MoveTo):
        return start if isinstance(step.goal, str) else np.asarray(step.goal)
    if isinstance(step, Along):
        begin = None if isinstance(step.path, JointPath) else near
        task = FollowPath(step.path, link=step.link, start=begin, floor=floor)
        return np.asarray(task.curve(robot)(1.0).q)
    return near


def _goal_in(given: Any, posture: Any, inside: Callable[[Any], np.ndarray]) -> Any:
    """A move's goal: joint coordinates (n,), or "start". posture: of a pose that names none."""
    if posture is None:
        return given if isinstance(given, str) else inside(given)
    if not isinstance(given, PosePart):
        raise ArgumentError(
            "posture says how a pose of the hand is reached, but the goal is given by joints:"
            " leave posture out, or give the goal as {position: [x, y, z]}"
        )
    return inside(given.model_copy(update={"posture": given.posture or posture}))


def _robot(part: ProgramFile, data: Any, path: Any) -> Robot:
    given = {key: data[key] for key in OF_ROBOT if key in data}
    task = TaskFile.model_validate({**given, "move": {"start": [], "goal": []}})
    with at_place(path, data, "robot"):
        robot = robot_of(task, selected(data, OF_ROBOT) if isinstance(data, Block) else given, path)
        return robot if part.brake is None else with_brakes(robot, Brake(**part.brake.model_dump()))


def _step(
    robot: Robot, step: StepPart, inside: Callable[[Any], np.ndarray], where: tuple[Any, Any]
) -> Step:
    """A step of the file as one of a Program. inside: joint coordinates of what the file gives."""
    data, path = where
    name: dict[str, Any] = {"name": step.name} if step.name else {}
    if step.move is not None:
        m = step.move
        goal = _goal_in(m.goal, m.posture, inside)
        options = m.model_dump(include={"stop", "upright", "smoothness", "most"})
        return MoveTo(goal, [inside(v) for v in m.via], **options, **name)
    if step.path is not None:
        shape = path_of(robot, step.path, data, path)
        return Along(shape, step.path.link, step.path.most, **name)
    if step.grip is not None:
        return Grip(**step.grip.model_dump(), **name)
    given: dict[str, Any]
    if step.dwell is not None:
        given = (
            step.dwell.model_dump()
            if isinstance(step.dwell, DwellPart)
            else {"seconds": step.dwell}
        )
        return Dwell(**given, **name)
    given = (
        step.release.model_dump()
        if isinstance(step.release, ReleasePart)
        else {"seconds": step.release}
    )
    return Release(**given, **name)

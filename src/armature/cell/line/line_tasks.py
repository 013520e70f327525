"""Lines whose tasks are not yet allocated: least times of every task at every station, the
allocation with the shortest cycle, then the least energy in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from armature.cell.line.assign import Allocation, assign_tasks
from armature.document import checked, selected, values
from armature.drive.catalogue import SupplyGiven, read_drives
from armature.errors import ArgumentError, ArmatureError, FileError
from armature.job.job_file import configuration
from armature.optimize.transcription.task import Move
from armature.robot.format.quantities import Duration
from armature.robot.format.schema import Name, Part
from armature.robot.model import Robot
from armature.study.line import BalancedLine, Line, Process, Station, StationMove, balance_line
from armature.study.line_file import StationPart, StepPart, at_place, station_robot
from armature.study.work import least_time
from armature.text import read_text

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class LineTask:
    """A task that some station has to do. steps: {station: its steps there, from the station's
    start and back}.  after: names of earlier tasks."""

    name: str
    steps: dict[str, tuple[StationMove | Process, ...]]
    after: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class OpenStation:
    """A station without tasks yet. start: where it stands before and after each of them, (n,)."""

    name: str
    robot: Robot
    supply: SupplyGiven = None
    start: Any = None


@dataclass(frozen=True, eq=False)
class OpenLine:
    """A line whose tasks are to be allocated. cycle: s; None: the shortest.  knots, points: as in
    `Line`."""

    stations: tuple[OpenStation, ...]
    tasks: tuple[LineTask, ...]
    cycle: float | None = None
    name: str = "line"
    knots: int = 50
    points: int = 16


def allocate_line(line: OpenLine, progress: Progress | None = None) -> Allocation:
    """The allocation of a line's tasks with the shortest cycle, by the least times of their
    motions. An ArgumentError names the cycle that would do where the line's own is too short."""
    if not isinstance(line, OpenLine):
        raise ArgumentError(
            f"allocate_line takes an OpenLine, not {line!r:.60}; read one by load_line_tasks"
        )
    _check_names(line)
    known: dict[tuple[int, bytes], float] = {}
    times: dict[str, dict[str, float]] = {}
    robots = {s.name: s.robot for s in line.stations}
    total = sum(len(t.steps) for t in line.tasks)
    for task in line.tasks:
        times[task.name] = {}
        for station, steps in task.steps.items():
            times[task.name][station] = _seconds(
                robots[station], steps, line.knots, known, f"{station}, task {task.name!r}"
            )
            if progress is not None:
                progress(
                    f"least time of {task.name} at {station}", sum(map(len, times.values())), total
                )
    pairs = [(task.name, earlier) for task in line.tasks for earlier in task.after]
    found = assign_tasks(times, [s.name for s in line.stations], pairs)
    if line.cycle is not None and found.cycle > line.cycle * (1 + 1e-9):
        slow = max(found.loads, key=lambda s: found.loads[s])
        raise ArgumentError(
            f"line {line.name!r}: {len(line.stations)} stations cannot do its tasks in"
            f" {line.cycle:.4g} s: station {slow!r} with {', '.join(found.stations[slow])} needs"
            f" {found.cycle:.4g} s, and no allocation needs less than {found.bound:.4g} s; give"
            " that cycle, or more stations"
        )
    return found


def _check_names(line: OpenLine) -> None:
    """Refuse stations or tasks that are called the same: one would be lost."""
    for what, parts in (("stations", line.stations), ("tasks", line.tasks)):
        names = [part.name for part in parts]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ArgumentError(
                f"line {line.name!r}: two {what} are called {twice[0]!r}; rename one"
            )


def allocated(line: OpenLine, allocation: Allocation) -> Line:
    """The line with its tasks allocated; stations without any are left out."""
    steps = {task.name: task.steps for task in line.tasks}
    stations = []
    for s in line.stations:
        own = tuple(step for task in allocation.stations[s.name] for step in steps[task][s.name])
        if own:
            stations.append(Station(s.name, s.robot, own, s.supply, s.start))
    return Line(tuple(stations), line.cycle, line.name, line.knots, line.points)


def balance_tasks(
    line: OpenLine, progress: Progress | None = None
) -> tuple[Allocation, BalancedLine]:
    """Allocate a line's tasks, then use its cycle with the least energy."""
    allocation = allocate_line(line, progress)
    return allocation, balance_line(allocated(line, allocation), progress)


def _seconds(robot: Robot, steps: Any, knots: int, known: dict, where: str) -> float:
    """The least time of a task's steps, s; equal moves of equal robots are planned once."""
    total = 0.0
    for step in steps:
        if isinstance(step, Process):
            total += step.seconds
            continue
        loaded = robot.with_payload(step.payload) if step.payload else robot
        ends = step.task.vectors(loaded)
        via = [np.asarray(v.configuration) for v in step.task.via]
        key = hash(loaded), np.concatenate([ends.q0, ends.q1, *via]).tobytes()
        if key not in known:
            try:
                found = least_time(loaded, step.task, knots)
            except ArgumentError as error:
                raise ArgumentError(f"station {where}: {step.name!r}: {error}") from None
            if not found.ok:
                raise ArgumentError(
                    f"station {where}: {step.name!r} is impossible:"
                    f" {found.diagnosis or found.status.value}"
                )
            known[key] = found.duration
        total += known[key]
    return total


# files -------------------------------------------------------------------------------------------


class OpenStationPart(StationPart):
    """A station whose steps follow from the tasks that it gets."""

    steps: list[StepPart] = Field(
        default=[], max_length=0, description="none: they follow from its tasks"
    )


class TaskPart(Part):
    """A task: steps from a station's start and back to it."""

    name: Name
    after: list[Name] = Field(default=[], description="tasks that are done earlier on the line")
    stations: list[Name] | None = Field(None, description="that can do it; by default all")
    steps: list[StepPart] = Field(min_length=1, max_length=1000)


class LineTasksFile(Part):
    """A line whose tasks are to be allocated to its stations, which stand in this order."""

    armature: Literal[1] = 1
    name: str = ""
    cycle: Duration | None = Field(None, description="by default the shortest")
    knots: Annotated[int, Field(ge=4, le=2000)] = 50
    points: Annotated[int, Field(ge=3, le=200)] = 16
    stations: list[OpenStationPart] = Field(min_length=1, max_length=200)
    tasks: list[TaskPart] = Field(min_length=1, max_length=1000)


def has_tasks(path: str | PathLike[str]) -> bool:
    """Whether a line file lists tasks to be allocated; False for whatever cannot be read."""
    try:
        data = values(read_text(path), path)
    except ArmatureError:
        return False
    return isinstance(data, dict) and "tasks" in data


def load_line_tasks(path: str | PathLike[str]) -> OpenLine:
    """The line of a YAML file with `tasks:`. A FileError lists mistakes with their lines."""
    data = values(read_text(path), path)
    part = checked(LineTasksFile, data, path)
    stations, starts = [], {}
    for k, s in enumerate(part.stations):
        place = data["stations"][k]
        robot = station_robot(s, place, path)
        with at_place(path, place, "supply"):
            supply = None if s.supply is None else read_drives(selected(place, ["supply"]), path)[1]
        with at_place(path, place, "start"):
            starts[s.name] = configuration(robot, s.start, None)
        stations.append(OpenStation(s.name, robot, supply, starts[s.name]))
    tasks = []
    for k, t in enumerate(part.tasks):
        with at_place(path, data, "tasks", k):
            able = [s for s in stations if t.stations is None or s.name in t.stations]
            unknown = set(t.stations or ()) - set(starts)
            if unknown:
                raise FileError(f"task {t.name!r}: there is no station {min(unknown)!r}", path)
            steps = {s.name: _steps(s.robot, starts[s.name], t) for s in able}
            tasks.append(LineTask(t.name, steps, tuple(t.after)))
    return OpenLine(
        tuple(stations),
        tuple(tasks),
        part.cycle,
        part.name or Path(path).stem,
        part.knots,
        part.points,
    )


def _steps(robot: Robot, start: np.ndarray, task: TaskPart) -> tuple[StationMove | Process, ...]:
    """The steps of a task at a station."""
    found: list[StationMove | Process] = []
    at = start
    for step in task.steps:
        if step.move is None:
            found.append(Process(step.process or 0.0, f"{task.name}: {step.name}"))
            continue
        goal = start if step.move.goal == "start" else configuration(robot, step.move.goal, at)
        via = [configuration(robot, v, at) for v in step.move.via]
        name = f"{task.name}: {step.move.name or len(found) + 1}"
        found.append(StationMove(Move(at, goal, via=via), step.move.payload, name))
        at = np.asarray(goal)
    if np.abs(at - start).max() > 1e-6:
        raise ArgumentError(
            f"task {task.name!r} does not return to the station's start; end it with move: {{goal:"
            " start}"
        )
    return tuple(found)

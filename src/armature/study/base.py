"""What every case of a study starts from, and how its inputs change it: a `Job`, or a task as in a
task's file."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from armature.document import checked
from armature.errors import ArgumentError
from armature.job.job import Job
from armature.job.job_file import job_of, robot_of
from armature.job.job_schema import MovePart, PathPart, TaskFile
from armature.robot import guard
from armature.robot.library import library
from armature.robot.model import Robot

OF_JOB = ("robot", "payload", "supply", "objective", "knots")
OF_ROBOT = ("robot", "arguments", "drives", "payload", "limits", "friction", "hold")
TOP = tuple(TaskFile.model_fields)


@dataclass(frozen=True, eq=False)
class JobBase:
    """Cases made from a `Job` by changing the robot, its payload (kg), the supply, the objective,
    the knots, or any field of its task."""

    base: Job

    def check(self, key: str) -> None:
        """An ArgumentError where there is nothing of this name to vary."""
        names = (*OF_JOB, *(f.name for f in fields(self.base.task)))
        guard.known("input to vary", key, names)

    def robot(self, inputs: Mapping[str, Any]) -> Robot:
        """The robot of a case."""
        return _robot(inputs.get("robot", self.base.robot), float(inputs.get("payload", 0.0)))

    def job(self, inputs: Mapping[str, Any]) -> Job:
        """The job of a case."""
        own = {k: v for k, v in inputs.items() if k in ("supply", "objective", "knots")}
        task = {k: v for k, v in inputs.items() if k not in OF_JOB}
        return replace(
            self.base, robot=self.robot(inputs), task=replace(self.base.task, **task), **own
        )


@functools.lru_cache(maxsize=1024)
def _robot(robot: Robot | str, payload: float) -> Robot:
    machine = library(robot) if isinstance(robot, str) else robot
    return machine.with_payload(payload) if payload else machine


@dataclass(frozen=True, eq=False)
class TaskBase:
    """Cases made from a task as in a task's file, by changing values at dotted keys (move.duration,
    limits.elbow.velocity, …).

    data: the task.  path: of the file that it comes from: paths inside are relative to its folder.
    timed: whether a duration must be known (not for curves of energy against duration).
    """

    data: Mapping[str, Any]
    path: Path
    timed: bool = True
    robots: dict[str, Robot] = field(default_factory=dict)

    def check(self, key: str) -> None:
        """An ArgumentError where the first word of a key is not one of a task's file or of its
        motion."""
        motion = MovePart if "move" in self.data else PathPart
        guard.known("key of a task to vary", key.split(".")[0], (*TOP, *motion.model_fields))

    def robot(self, inputs: Mapping[str, Any]) -> Robot:
        """The robot of a case; made once of the same description."""
        data = self.document(inputs)
        return self._robot(data, checked(TaskFile, data, self.path))

    def job(self, inputs: Mapping[str, Any]) -> Job:
        """The job of a case."""
        data = self.document(inputs)
        part = checked(TaskFile, data, self.path)
        return job_of(part, data, self.path, self._robot(data, part))

    def _robot(self, data: Mapping[str, Any], part: TaskFile) -> Robot:
        key = json.dumps({k: data[k] for k in OF_ROBOT if k in data}, sort_keys=True, default=str)
        if key not in self.robots:
            self.robots[key] = robot_of(part, data, self.path)
        return self.robots[key]

    def _place(self, key: str) -> list[str]:
        """Where a key stands: dotted from the top, or a key of the motion by itself."""
        steps = key.split(".")
        task = "move" if "move" in self.data else "path"
        return steps if steps[0] in TOP else [task, *steps]

    def document(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """The task with the values of a case."""
        data = _plain(self.data)
        for key, value in inputs.items():
            *folders, last = self._place(key)
            block: Any = data
            for step in folders:
                block = block.setdefault(step, {}) if isinstance(block, dict) else None
            if not isinstance(block, dict):
                raise ArgumentError(
                    f"vary {key!r}: {'.'.join(folders)} is not a mapping in the task; write it out"
                    " there first"
                )
            block[last] = value
        if not self.timed:
            data["objective"] = "time"
        return data


def _plain(data: Any) -> Any:
    """A copy without lines."""
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    return [_plain(value) for value in data] if isinstance(data, list | tuple) else data

"""Study files: what they may say, and the study that they describe; mistakes have their lines."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from armature.document import checked, line_of, mistakes, values
from armature.errors import ArmatureError, FileError
from armature.job.job_file import job_of
from armature.job.job_schema import TaskFile
from armature.robot.format.quantities import Duration
from armature.robot.format.schema import Part
from armature.study.base import TaskBase
from armature.study.spec import Study
from armature.study.vary import RandomPart, RangePart
from armature.study.work import CurveSpec
from armature.text import read_text


class CurvePart(Part):
    """Energy against duration for every case: so many durations, from and to multiples of the least
    time."""

    count: int = Field(20, ge=3, le=1000)
    shortest: float = Field(1.05, gt=1.0)
    longest: float = Field(4.0, gt=1.0)


def _kind(value: Any) -> str | None:
    if isinstance(value, dict):
        return "random" if "random" in value else "range"
    return "list" if isinstance(value, list) else None


AxisPart = Annotated[
    Annotated[RangePart, Tag("range")]
    | Annotated[RandomPart, Tag("random")]
    | Annotated[list[Any], Tag("list"), Field(min_length=1)],
    Discriminator(
        _kind,
        custom_error_type="alternative",
        custom_error_message=(
            "give a list of values, {from: …, to: …, count: …}, or {random: uniform, low: …,"
            " high: …}"
        ),
    ),
]
TaskOrName = Annotated[
    Annotated[str, Tag("file")] | Annotated[TaskFile, Tag("task")],
    Discriminator(
        lambda x: (
            "file" if isinstance(x, str) else "task" if isinstance(x, dict | TaskFile) else None
        ),
        custom_error_type="alternative",
        custom_error_message=(
            "give the name of a task file, or the task itself: {robot: …, move: …}"
        ),
    ),
]
CurveOrYes = Annotated[
    Annotated[bool, Tag("yes")] | Annotated[CurvePart, Tag("curve")],
    Discriminator(
        lambda x: (
            "curve" if isinstance(x, dict | CurvePart) else "yes" if isinstance(x, bool) else None
        ),
        custom_error_type="alternative",
        custom_error_message="give true, or {count: 20, shortest: 1.05, longest: 4}",
    ),
]


class StudyFile(Part):
    """Many plans as a table of cases. File names are relative to the study file's own folder."""

    armature: Literal[1] = 1
    name: str = ""
    task: TaskOrName = Field(
        description="what every case starts from: a task file, or the same keys here"
    )
    vary: dict[str, AxisPart] = Field(
        {}, description="{key of the task: values}; lists and ranges make a grid"
    )
    samples: int = Field(
        1, ge=1, description="how often random keys are drawn at each point of the grid"
    )
    seed: int = Field(0, ge=0, description="of the random draws")
    cases: list[dict[str, Any]] = Field(
        [], description="further cases by hand, {key of the task: value}"
    )
    curve: CurveOrYes = Field(
        False, description="energy against duration for every case, instead of one plan"
    )
    certify: bool = Field(True, description="prove every plan by simulation")
    keep: bool = Field(True, description="keep the plans themselves in the store")
    timeout: Duration | None = Field(600.0, description="what one case may take; null for no limit")
    attempts: int = Field(
        3, ge=1, description="workers that a case may cost before it is set aside"
    )
    store: str | None = Field(
        None, description="the file of the table; by default that of the study with the ending .db"
    )


def load_study(path: str | PathLike[str]) -> Study:
    """The study of a YAML file, ready for `run_study`. A FileError lists all mistakes with their
    lines; nothing is run yet."""
    data = values(read_text(path), path)
    part = checked(StudyFile, data, path)
    curve = (
        CurveSpec(**part.curve.model_dump()) if isinstance(part.curve, CurvePart) else part.curve
    )
    base = _base(part, data, Path(path), not curve)
    wrong: list[tuple[int | None, str]] = []
    for place in [("vary", key) for key in part.vary] + [
        ("cases", k, key) for k, case in enumerate(part.cases) for key in case
    ]:
        try:
            base.check(str(place[-1]))
        except ArmatureError as e:
            wrong.append((line_of(data, place), str(e)))
    if wrong:
        raise mistakes(wrong, path)
    try:
        settings = part.model_dump(
            include={"samples", "seed", "cases", "certify", "keep", "timeout", "attempts"}
        )
        return Study(base, part.vary, curve=curve, name=part.name or Path(path).stem, **settings)
    except ArmatureError as e:
        raise FileError(str(e), path, line_of(data, ("vary",))) from None


def store_of(path: str | PathLike[str]) -> Path:
    """Where the table of a study file is kept; the path itself where it is a store already."""
    place = Path(path)
    if place.suffix.lower() not in (".yaml", ".yml"):
        return place
    given = checked(StudyFile, values(read_text(place), place), place).store
    return place.parent / given if given else place.with_suffix(".db")


def _base(part: StudyFile, data: Any, path: Path, timed: bool) -> TaskBase:
    """The task that every case starts from; it must be complete, but for a duration that is
    varied."""
    if isinstance(part.task, str):
        file = path.parent / part.task
        if not os.path.exists(file):
            raise FileError(
                f"task: there is no file {file}; names are relative to this file's folder",
                path,
                line_of(data, ("task",)),
            )
        given = values(read_text(file), file)
        task, path = checked(TaskFile, given, file), file
    else:
        task, given = part.task, data["task"]
    if not (set(part.vary) & {"duration", "move.duration", "objective"}) and timed:
        job_of(task, given, path)  # mistakes of the task itself have their lines in its own file
    return TaskBase(given, path, timed)

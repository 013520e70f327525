"""`armature init`: a folder with a commented example of every file, ready to run."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

import typer

from armature.cli.inputs import ARG, arguments_of
from armature.cli.kinds import ROBOT, TASK, refuse_other
from armature.cli.output import answer, say
from armature.errors import ArgumentError, FileError

TEMPLATES = (
    "robot.yaml",
    "drives.yaml",
    "task.yaml",
    "path_task.yaml",
    "program.yaml",
    "study.yaml",
    "line.yaml",
)


def template(name: str) -> str:
    """The text of an example file."""
    return (files("armature.cli") / "templates" / name).read_text(encoding="utf-8")


def init(
    folder: Path = typer.Argument(Path("."), help="where to write them; made if it is not there"),
    robot: str | None = typer.Option(
        None, "--robot", help="your own robot's file: task.yaml and drives.yaml are written for it"
    ),
    arg: list[str] | None = ARG,
    force: bool = typer.Option(False, "--force", help="write over files that are there already"),
) -> None:
    """Write commented examples of all files: a robot, drives, a move, a path, a program, a study, a
    line. Then: armature plan task.yaml."""
    if arg and robot is None:
        raise ArgumentError("--arg is of a xacro file: give it by --robot")
    if robot is not None:
        refuse_other(robot, ROBOT - TASK)
    texts = (
        {name: template(name) for name in TEMPLATES}
        if robot is None
        else _for_robot(robot, folder, arguments_of(arg))
    )
    taken = [name for name in texts if (folder / name).exists()]
    if taken and not force:
        raise FileError(
            f"there are {', '.join(taken)} already; choose another folder, or --force to write over"
            " them",
            folder,
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileError(
            f"it cannot be written ({error.strerror}); choose another folder",
            error.filename or folder,
        ) from None
    say(f"written to {folder}: {', '.join(texts)}", f"next: armature plan {folder / 'task.yaml'}")
    answer({"folder": folder, "written": list(texts)})


def _for_robot(name: str, folder: Path, arguments: dict[str, str]) -> dict[str, str]:
    """drives.yaml and task.yaml with the robot's own joints."""
    from armature.cli.starter import drives_text, task_text
    from armature.dynamics.forces.bare_robot import movable
    from armature.job.job_file import find_robot
    from armature.robot.library import library

    robot = find_robot(name, arguments=arguments)
    if not movable(robot):
        raise ArgumentError(
            f"robot {robot.name!r} has no joint that a motor could move; there is nothing to plan"
        )
    if planar := [j.name for j in robot.joints if j.kind == "planar"]:
        words = (
            "motions are planned for joints of one coordinate: make it fixed in a copy of the file"
        )
        raise ArgumentError(f"robot {robot.name!r}: joint {planar[0]!r} is planar; {words}")
    named = (
        name if name in library() and not os.path.exists(name) else _seen_from(folder, Path(name))
    )
    own = {} if robot.drives else {"drives.yaml": drives_text(robot)}
    return {**own, "task.yaml": task_text(robot, named, arguments)}


def _seen_from(folder: Path, file: Path) -> str:
    """The file's name as the files in `folder` give it: relative where it is near, else in full."""
    near = os.path.relpath(file, folder)
    return near if near.count("..") <= 2 else str(file.resolve())

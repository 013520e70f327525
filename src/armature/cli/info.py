"""`armature info`: what is in a robot file; `armature library`: the built-in robots."""

from __future__ import annotations

import typer


def find_robot(name: str):
    """A robot by the path of its file, or by its name in the library."""
    from pathlib import Path

    import armature as arm

    return arm.library(name) if name in arm.library() and not Path(name).exists() else arm.load(name)


def info(robot: str = typer.Argument(help="URDF, YAML, MJCF or xacro file, or the name of a built-in robot")) -> None:
    """What is in a robot: links, joints, limits, drives; problems of the file as warnings with their lines."""
    typer.echo(find_robot(robot).summary())


def list_library() -> None:
    """The built-in robots."""
    import armature as arm

    for name in arm.library():
        robot = arm.library(name)
        typer.echo(f"{name:14} {robot.n} joints, {len(robot.drives)} drives: {', '.join(robot.joint_names)}")

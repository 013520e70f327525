"""`armature library`: the built-in robots."""

from __future__ import annotations

from pathlib import Path

import typer

from armature.cli.output import answer, say, table


def complete_name(incomplete: str) -> list[str]:
    """Names of built-in robots."""
    from armature.robot.library import library

    return [name for name in library() if name.startswith(incomplete)]


def library(
    name: str | None = typer.Argument(
        None, help="a robot to show; without it all are listed", autocompletion=complete_name
    ),
    save: Path | None = typer.Option(
        None, "--save", help="write the robot to a .yaml file", show_default=False
    ),
) -> None:
    """The built-in robots; with a name, that robot; with --save, its file, to be changed."""
    import armature as arm

    if name is None:
        robots = [arm.library(n) for n in arm.library()]
        rows = [
            (r.name, r.n, len(r.drives), f"{r.mass:.3g} kg", ", ".join(r.joint_names))
            for r in robots
        ]
        say(table(("name", "joints", "drives", "mass", "joint names"), rows))
        return answer(
            {
                "robots": [
                    {
                        "name": r.name,
                        "joints": r.joint_names,
                        "drives": len(r.drives),
                        "mass": r.mass,
                    }
                    for r in robots
                ]
            }
        )
    robot = arm.library(name)
    say(robot.summary())
    if save is not None:
        robot.save(save)
        say(f"written: {save}")
    answer(
        {"name": robot.name, "joints": robot.joint_names, "yaml": robot.to_yaml(), "written": save}
    )

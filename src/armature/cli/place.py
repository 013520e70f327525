"""`armature place`: where the base of a robot stands best for moves between poses."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armature.cli import output
from armature.cli.design import STORE
from armature.cli.plan import DEADLINE
from armature.cli.study import CLUSTER, WORKERS
from armature.errors import ArgumentError

if TYPE_CHECKING:
    from armature.design.placement import BasePlacement

TASKS = typer.Argument(
    help="task files (.yaml) of one robot, whose starts and goals are poses of the hand",
    show_default=False,
)
X = typer.Option(..., "--x", help="places, m: from:to:count, e.g. -0.5:0.5:11")
Y = typer.Option(..., "--y", help="places, m: from:to:count")
YAW = typer.Option("-180:135:8", "--yaw", help="angles of the base, degrees: from:to:count")
Z = typer.Option(0.0, "--z", help="height of the base, m")
OBJECTIVE = typer.Option("energy", "--objective", help="energy or time")
REFINE = typer.Option(3, "--refine", help="times that the steps are halved", min=0, max=8)
SAVE = typer.Option(
    None, "--save", help="write the robot as it stands there (.yaml)", show_default=False
)
PICTURE = typer.Option(
    None, "--plot", help="heat map to write: .png, .svg or .pdf", show_default=False
)


def place(
    tasks: list[Path] = TASKS,
    x: str = X,
    y: str = Y,
    yaw: str = YAW,
    z: float = Z,
    objective: str = OBJECTIVE,
    refine: int = REFINE,
    deadline: float | None = DEADLINE,
    store: Path | None = STORE,
    workers: int | None = WORKERS,
    cluster: str | None = CLUSTER,
    save: Path | None = SAVE,
    picture: Path | None = PICTURE,
) -> int:
    """Find where to put the base, and how to turn it: least energy or least time, within reach,
    clear of the floor and of the tasks' obstacles.

    Exit codes: 0 found and certified; 1 a plan is not certified; 2 bad input, or no place will do.
    """
    from armature.cell.program.program import Program
    from armature.cli.line import Steps
    from armature.design.placement import place_base

    given, link = _asked(tasks)
    first: Any = given if isinstance(given, Program) else given[0]
    with Steps("place") as steps:
        found = place_base(
            first.robot,
            given,
            _range("--x", x),
            _range("--y", y),
            list(map(math.radians, _range("--yaw", yaw))),
            z=z,
            objective=objective.strip().lower(),
            link=link,
            floor=first.floor if isinstance(given, Program) else first.task.floor,
            supply=first.supply,
            refine=refine,
            deadline=deadline,
            store=store,
            workers=workers,
            cluster=cluster,
            progress=lambda done, total, message: steps(message, done, total),
        )
    output.say(found)
    written = output.say_written(_written(found, save, picture))
    output.answer({**facts(found), "written": written})
    return output.OK if found.ok else output.FAILED


def _asked(files: list[Path]) -> tuple[Any, str | None]:
    """The program of a file, or the jobs of files; and the link that poses are of, if named."""
    from armature.cell.program.program_file import is_program, load_program
    from armature.job.pose_file import load_poses

    if not any(map(is_program, files)):
        found = [load_poses(file) for file in files]
        return [job for job, _ in found], found[0][1]
    if len(files) > 1:
        raise ArgumentError("a base is placed for one program, or for task files of single moves")
    return load_program(files[0]), None


def _written(found: BasePlacement, save: Path | None, picture: Path | None) -> list[str]:
    written = []
    if save is not None:
        found.robot.save(save)
        written.append(str(save))
    if picture is not None:
        from armature.plot.chosen_drives import base_map

        base_map(found, save=picture)
        written.append(str(picture))
    return written


def facts(found: BasePlacement) -> dict[str, Any]:
    """What programs want to know."""
    return {
        "ok": found.ok,
        "position": found.position,
        "yaw": found.yaw,
        "objective": found.objective,
        "cost": found.cost,
        "x": found.x,
        "y": found.y,
        "costs": [[None if c != c else c for c in row] for row in found.costs.tolist()],
    }


def _range(name: str, text: str) -> list[float]:
    """Values of from:to:count, or one number."""
    parts = text.split(":")
    try:
        if len(parts) == 1:
            return [float(text)]
        low, high, count = float(parts[0]), float(parts[1]), int(parts[2])
        if not 1 <= count <= 1000 or len(parts) != 3:
            raise ValueError
    except (ValueError, IndexError):
        raise ArgumentError(
            f"{name} {text}: give from:to:count, e.g. -0.5:0.5:11, or one number"
        ) from None
    step = (high - low) / (count - 1) if count > 1 else 0.0
    return [low + k * step for k in range(count)]

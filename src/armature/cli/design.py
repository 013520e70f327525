"""`armature design`: the motors and gears of a catalogue that do tasks at least cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armature.cli import output
from armature.cli.kinds import TASK, refuse_other
from armature.cli.plan import DEADLINE
from armature.cli.study import CLUSTER, WORKERS
from armature.errors import ArgumentError

if TYPE_CHECKING:
    from armature.design.drives.drive_choice import DriveChoice


TASKS = typer.Argument(
    help="task or program files (.yaml) of one robot; payloads may differ", show_default=False
)
CATALOGUE = typer.Option(
    None, "--catalogue", help=".csv or .yaml; the built-in one by default", show_default=False
)
OBJECTIVE = typer.Option(
    "energy", "--objective", help="energy, losses, mass, price, or a sum: energy=1,mass=20"
)
JOINTS = typer.Option(
    None,
    "--joints",
    help="whose drives are chosen: 'elbow, wrist'; all by default",
    show_default=False,
)
PARETO = typer.Option(
    None,
    "--pareto",
    help="a second term (mass, price, …): print the front of both",
    show_default=False,
)
HOLDING = typer.Option(
    True, "--hold/--no-hold", help="motors hold the arm at starts and goals without a brake"
)
DIRECT = typer.Option(False, "--direct", help="motors without a gear are possible too")
BUDGET = typer.Option(400, "--budget", help="choices that may be planned", min=1)
STORE = typer.Option(
    None,
    "--store",
    help="file that keeps all that was computed: run again, it goes on",
    show_default=False,
)
SAVE = typer.Option(
    None, "--save", help="write the robot with its new drives (.yaml)", show_default=False
)
PICTURES = typer.Option(
    None, "--plot", help="folder for pictures: torque–speed, losses, front", show_default=False
)


def design(
    tasks: list[Path] = TASKS,
    catalogue: Path | None = CATALOGUE,
    objective: str = OBJECTIVE,
    joints: str | None = JOINTS,
    pareto: str | None = PARETO,
    hold: bool = HOLDING,
    direct: bool = DIRECT,
    budget: int = BUDGET,
    deadline: float | None = DEADLINE,
    store: Path | None = STORE,
    workers: int | None = WORKERS,
    cluster: str | None = CLUSTER,
    save: Path | None = SAVE,
    picture: Path | None = PICTURES,
) -> int:
    """Choose motor and gear of every joint at once; motions are planned anew for every choice.

    Prints which to buy, what that saves and why, and how much cheaper any other choice could be.
    Exit codes: 0 found and certified; 1 a plan is not certified; 2 bad input, or no choice can do
    the tasks."""
    from armature.cli.line import Steps
    from armature.design.drives.choose_drives import choose_drives

    jobs = [task_of(file) for file in tasks]
    with Steps("design") as steps:
        told = _told(steps, budget)
        found = choose_drives(
            jobs[0].robot,
            jobs,
            catalogue,
            _weights(objective),
            None if joints is None else [name.strip() for name in joints.split(",")],
            hold=hold,
            direct=direct,
            pareto=pareto,
            budget=budget,
            deadline=deadline,
            store=store,
            workers=workers,
            cluster=cluster,
            progress=told,
        )
    output.say(found)
    if found.front is not None:
        output.say("", _front(found))
    written = output.say_written(_written(found, save, picture))
    output.answer({**facts(found), "written": written})
    return output.OK if found.ok else output.FAILED


def task_of(file: Path) -> Any:
    """The job, or the program, of a task file."""
    from armature.cell.program.program_file import is_program, load_program
    from armature.job.job_file import load_job

    refuse_other(file, TASK | {"program"})
    return load_program(file) if is_program(file) else load_job(file)


def _told(steps: Any, budget: int) -> Any:
    last = {"message": "", "planned": 0}

    def told(planned: int, cost: float, message: str) -> None:
        if message:
            last["message"] = message
        best = f"best {cost:.5g}" if cost < float("inf") else last["message"]
        steps(best, min(planned, budget), budget)

    return told


def _weights(text: str) -> str | dict[str, float]:
    """An objective: a word, or weights such as energy=1,mass=20."""
    if "=" not in text:
        return text.strip().lower()
    found = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            found[name.strip().lower()] = float(value)
        except ValueError:
            raise ArgumentError(
                f"--objective {text}: {value!r} is no number; give e.g. energy=1,mass=20"
            ) from None
    return found


def _front(found: DriveChoice) -> str:
    front: Any = found.front
    rows = [
        [*values, "; ".join(f"{joint} {name}" for joint, name in names.items())]
        for values, names in zip(front.values.tolist(), front.names)
    ]
    return output.table((*front.terms, "drives"), rows)


def _written(found: DriveChoice, save: Path | None, picture: Path | None) -> list[str]:
    written = []
    if save is not None:
        found.robot.save(save)
        written.append(str(save))
    if picture is not None:
        from armature.plot.chosen_drives import write_drive_pictures

        written += [str(path) for path in write_drive_pictures(found, picture)]
    return written


def facts(found: DriveChoice) -> dict[str, Any]:
    """What programs want to know."""
    drives = {
        joint: {
            "motor": drive.motor.name,
            "gear": drive.gear.name,
            "ratio": drive.gear.ratio,
            "mass": drive.motor.mass + drive.gear.mass,
            "price": drive.motor.price + drive.gear.price,
            "losses": found.losses_of(joint),
        }
        for joint, drive in found.drives.items()
    }
    front = found.front
    return {
        "ok": found.ok,
        "drives": drives,
        "energy": found.energy,
        "energy_before": found.energy_before,
        "saving": found.saving,
        "cost": found.cost,
        "bound": found.bound,
        "gap": found.gap,
        "complete": found.complete,
        "planned": found.planned,
        "front": None if front is None else {"terms": front.terms, "values": front.values},
        "seconds": found.seconds,
    }

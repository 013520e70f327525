"""`armature plan`: the motion of least energy or least time, with its certificate and its page; or
what a recorded motion costs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armature.cli.inputs import (
    ARG,
    DRIVES,
    FLOOR,
    HOLD,
    LIMITS,
    MOTION_FILES,
    PAYLOAD,
    SCENE,
    SUPPLY,
    find_mesh_folders,
    find_robot,
    floor_of,
    scene_of,
)
from armature.cli.move import DURATION, GOAL, SMOOTHNESS, TASK, VIA, find_job
from armature.cli.output import (
    FAILED,
    INTERRUPTED,
    OK,
    Progress,
    answer,
    certificate,
    numbers,
    say,
    say_sensitivities,
)
from armature.errors import ArgumentError, FileError

if TYPE_CHECKING:
    from armature.job.job import Job

START = typer.Option(
    None,
    "--from",
    help=(
        "joint coordinates: '0, 90deg, 250mm' or 'elbow=90deg' (others 0); or a recorded motion"
        " (.csv)"
    ),
    show_default=False,
)


OBJECTIVE = typer.Option(None, "--objective", help="energy (default) or time", show_default=False)
KNOTS = typer.Option(
    None, help="steps in time, 100 by default", show_default=False, min=4, max=20000
)
DEADLINE = typer.Option(
    None, help="seconds after which the best so far is taken", show_default=False, min=0.01
)
THOROUGH = typer.Option(
    None, "--thorough/--quick", help="search from more starting motions, several times as long"
)
SENSITIVITIES = typer.Option(
    False, "--sensitivities", help="print what the cost depends on: ratios, masses, limits, …"
)
SAVE = typer.Option(
    None,
    help="write the plan: a folder, or the motion alone: .csv, .npz, .json, .yaml (ROS 2), …",
    show_default=False,
)
REPORT = typer.Option(
    None, help="write a page (.html) with figures and the moving robot", show_default=False
)
MESHES = typer.Option(
    None,
    "--meshes/--no-meshes",
    help="draw the robot's meshes on the page; by default where their files are found",
    show_default=False,
)
CYCLES = typer.Option(
    None,
    help="cycles a day: prints kWh in a year, here and on the page",
    show_default=False,
    min=0,
)
PRICE = typer.Option(
    None,
    help="of a kWh, in any currency: money in a year, with --cycles",
    show_default=False,
    min=0,
)


def plan(
    task: str = TASK,
    start: str | None = START,
    goal: str | None = GOAL,
    via: list[str] | None = VIA,
    duration: str | None = DURATION,
    objective: str | None = OBJECTIVE,
    drives: Path | None = DRIVES,
    payload: str = PAYLOAD,
    limits: Path | None = LIMITS,
    hold: str | None = HOLD,
    arg: list[str] | None = ARG,
    floor: str | None = FLOOR,
    scene: Path | None = SCENE,
    supply: str | None = SUPPLY,
    knots: int | None = KNOTS,
    smoothness: float | None = SMOOTHNESS,
    deadline: float | None = DEADLINE,
    thorough: bool | None = THOROUGH,
    sensitivities: bool = SENSITIVITIES,
    save: Path | None = SAVE,
    report: Path | None = REPORT,
    meshes: bool | None = MESHES,
    cycles: float | None = CYCLES,
    price: float | None = PRICE,
) -> int:
    """Plan the motion of least energy (or time) and prove that the drives can do it. Exit code 1
    when there is no such motion."""
    given = {"drives": drives, "payload": payload, "limits": limits, "hold": hold, "arg": arg}
    moving = {"floor": floor, "smoothness": smoothness}
    search = {"deadline": deadline, "thorough": thorough}
    if price is not None and cycles is None:
        raise ArgumentError("--price is of a kWh in a year: give --cycles, the cycles a day, too")
    year = {} if cycles is None else {"cycles_per_day": cycles, "price": price}
    if start is None and goal is None and is_program(task):
        pages = {"meshes": meshes, "cycles": cycles, "price": price}
        _refuse_for_program(task, {**given, "via": via, **moving, **search, **pages})
        asked = (duration, objective, supply, knots, save, report)
        return _program(Path(task), *asked, None if scene is None else scene_of(scene))
    _check_targets(save, report, None)
    if start is not None and goal is None and Path(start).suffix.lower() in MOTION_FILES:
        _refuse_for_recorded(via, duration, objective, scene)
        robot = find_robot(task, **given)
        page = {"meshes": find_mesh_folders(task, robot, meshes), **year}
        written = (save, report, page)
        return _recorded(robot, Path(start), supply, knots, *written, _given_move(moving), search)
    change = {"objective": objective, "supply": supply, "knots": knots, "floor": floor}
    job = find_job(task, start, goal, via, duration, given, smoothness, **change)
    timed = any(via.at is not None for via in getattr(job.task, "via", ()))
    if duration is not None and job.objective == "time" and not timed:
        raise ArgumentError(
            f"--duration {duration}: objective time finds the duration itself; leave one of them"
            " out"
        )
    job = replace(job, thorough=thorough)
    job = job if scene is None else replace(job, scene=scene_of(scene))
    _check_targets(save, report, job.output)
    meshes_in = find_mesh_folders(task, job.robot, meshes)
    return _plan(job, deadline, save, report, meshes_in, year, sensitivities)


def _plan(
    job: Job,
    deadline: float | None,
    save: Path | None,
    report: Path | None,
    meshes: tuple[Path, ...],
    year: Mapping[str, Any],
    sensitivities: bool = False,
) -> int:
    """Plan a job, print what is found and write it. meshes: folders of the robot's meshes.  year:
    cycles and price.  sensitivities: whether they are told."""
    with Progress(f"planning {job.name or job.robot.name}") as progress:
        solution = job.run(callback=progress, deadline=deadline)
    say(solution)
    page: dict[str, Any] = {"meshes": meshes, **year}
    if progress.stopped:
        written = _write(solution, job, save, report, page)
        if not written:
            say("nothing is written, for neither --save nor the task's output asks for it")
        answer({**numbers(solution), "ok": False, "certificate": None, "written": written})
        return INTERRUPTED
    _say_certificate(solution)
    if year and solution.ok:
        say(solution.yearly(**year))
    if sensitivities and solution.ok:
        say_sensitivities(solution)
    written = _write(solution, job, save, report, page)
    proved = solution.ok and solution.certificate.ok
    answer(
        {
            **numbers(solution),
            "ok": proved,
            "certificate": certificate(solution),
            "written": written,
            **({"year": asdict(solution.yearly(**year))} if year and solution.ok else {}),
        }
    )
    if proved:
        return OK
    _hint(job)
    return FAILED


def _program(file: Path, *asked: Any) -> int:
    """A task file with a program instead of a move."""
    from armature.cli.program import plan_file

    return plan_file(file, *asked)


def _given_move(options: Mapping[str, Any]) -> dict[str, Any]:
    """Floor and smoothness as `Move` takes them, where they are given."""
    given = {name: value for name, value in options.items() if value is not None}
    return given | ({"floor": floor_of(given["floor"])} if "floor" in given else {})


def is_program(task: str) -> bool:
    """Whether a task file holds a program instead of a move or a path."""
    if Path(task).suffix.lower() not in (".yaml", ".yml"):
        return False
    from armature.cell.program.program_file import is_program

    return is_program(task)


def _say_certificate(solution: Any) -> None:
    """The certificate without the notes that the plan has told already; where the task is not met
    there is nothing to certify."""
    none = "certificate: none, for the motion found does not do what was asked for"
    proof = solution.certificate if solution.ok else None
    say(
        none
        if proof is None
        else replace(proof, notes=tuple(note for note in proof.notes if note not in solution.notes))
    )


def _hint(job: Job) -> None:
    """What often helps where a plan fails."""
    free = [
        j.name
        for j in job.robot.joints
        if j.name in job.robot.joint_names and j.limits.acceleration == float("inf")
    ]
    if free:
        say(
            f"hint: {', '.join(free)} have no limit of acceleration, so that motions jump; give"
            " limits in the task, or MoveIt's by --limits"
        )


def _check_targets(save: Path | None, report: Path | None, output: Path | None) -> None:
    """Refuse, before anything is planned, to write over files that are not the program's."""
    from armature.job.saved import check_plan_target
    from armature.write import check_target

    for path in (p for p in (save, report) if p is not None and p.suffix):
        check_target(path)
    folder = save if save is not None and not save.suffix else output
    if folder is not None:
        check_plan_target(folder)


def _write(
    solution: Any, job: Job, save: Path | None, report: Path | None, page: Mapping[str, Any]
) -> list[str]:
    """Files that the task or the options ask for; returns their names. page: options of the
    page."""
    from armature.job.saved import save_plan

    written = []
    if save is not None and save.suffix:
        solution.trajectory.save(save)
        written.append(str(save))
    folder = save if save is not None and not save.suffix else job.output
    if folder is not None:
        save_plan(solution, folder, command=["armature", *sys.argv[1:]], task=job.task, report=page)
        written.append(str(folder))
    if report is not None:
        written.append(str(_report(solution, report, page)))
    doubt = (
        ""
        if solution.ok
        else " (to look at, not for the robot: the motion does not do what was asked for)"
    )
    for name in written:
        say(f"written: {name}{doubt}")
    return written


def _report(solution: Any, report: Path, page: Mapping[str, Any]) -> Any:
    try:
        return solution.report(report, **page)
    except OSError as error:
        raise FileError(
            f"the page cannot be written ({error.strerror}); choose another place", report
        ) from None


def _refuse_for_program(task: str, options: dict[str, Any]) -> None:
    """Options of single moves, which a program's own file states for its steps."""
    usual = {**options, "payload": None if options["payload"] == PAYLOAD.default else "given"}
    given = [f"--{name}" for name, value in usual.items() if value not in (None, [], ())]
    if given:
        what = (
            f"{Path(task).name} is a program, which gives such things in its file, for the robot or"
            " step by step"
        )
        raise ArgumentError(f"{', '.join(given)}: {what}")


def _refuse_for_recorded(
    via: Any, duration: str | None, objective: str | None, scene: Path | None
) -> None:
    """Refuse options that a recorded motion leaves no room for."""
    if scene is not None:
        raise ArgumentError(
            "--scene: a recorded motion is not planned around obstacles; give --from and --to"
            " configurations"
        )
    if via:
        raise ArgumentError(
            "--via: a recorded motion has its own way; give --from and --to configurations to plan"
            " one by via points"
        )
    if duration is not None:
        raise ArgumentError(
            "--duration: a recorded motion has its own; give --from and --to configurations to plan"
            " with another"
        )
    if objective is not None and objective.strip().lower() != "energy":
        raise ArgumentError(
            f"--objective {objective}: a recorded motion is compared with the least energy in its"
            " own time; leave the option out, or give --from and --to configurations for the least"
            " time"
        )


def _recorded(
    robot: Any,
    path: Path,
    supply: str | None,
    knots: int | None,
    save: Path | None,
    report: Path | None,
    page: Mapping[str, Any],
    move: Mapping[str, Any],
    search: Mapping[str, Any],
) -> int:
    """What a recorded motion costs, and what a plan would. move: smoothness and floor.  search:
    deadline and thorough."""
    from armature.job.job import Job
    from armature.job.recorded import recorded_cost
    from armature.motion.recorded import load_recorded
    from armature.optimize.transcription.task import Move

    motion = load_recorded(path, robot) if path.suffix.lower() == ".csv" else _motion(path, robot)
    with Progress(f"planning {robot.name}") as progress:
        found = recorded_cost(
            robot, motion, supply, knots or 100, callback=progress, **move, **search
        )
    say(found)
    _say_certificate(found.plan)
    job = Job(
        robot,
        Move(motion.q[0], motion.q[-1], motion.duration, **move),
        supply=supply,
        knots=knots or 100,
    )
    written = _write(found.plan, job, save, report, page)
    book = {
        "energy": found.ledger.energy,
        "losses": found.ledger.losses,
        "duration": motion.duration,
        "broken": found.broken,
    }
    proved = found.plan.ok and found.plan.certificate.ok
    answer(
        {
            **numbers(found.plan),
            "ok": proved,
            "recorded": book,
            "certificate": certificate(found.plan),
            "written": written,
        }
    )
    if progress.stopped:
        return INTERRUPTED
    return OK if proved else FAILED


def _motion(path: Path, robot: Any) -> Any:
    from armature.cli.inputs import find_motion

    return find_motion(path, robot)

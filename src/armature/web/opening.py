"""What is opened: a robot, a task, a saved plan or a study, from the command line or from an
uploaded file.

Uploads are read in a process of their own (`armature.web.upload`); the server sees what came of
them, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from armature.cell.program.program import MoveTo
from armature.cell.program.program_file import is_program, load_program
from armature.cell.workcell.cell import Cell
from armature.cell.workcell.program_cell_file import has_programs, load_cell
from armature.errors import FileError
from armature.robot.library import library
from armature.robot.load import load
from armature.robot.load.packages import mesh_folders
from armature.robot.load.xacro.arguments import from_words
from armature.scene.read import load_scene
from armature.study.store import open_store
from armature.web.program.sketch import sketch_of
from armature.web.reader import PLANS, fixed, has_key
from armature.web.session import Session
from armature.web.wish import Wish, first_wish, named

FIRST = "six_axis"
STUDIES = (".db", ".sqlite", ".sqlite3")


@dataclass(frozen=True, eq=False)
class Opening:
    """What every new browser begins with.

    wish: a robot and a move.  plan: a saved plan to look at.  study: the path of a study's table.
    cell: robots with programs, shown instead of a single robot.
    mesh_folders: see `meshes.inside`.
    arguments: "name:=value …" that a xacro file was read with, None for other files; `again` reads
    it with others."""

    wish: Wish
    plan: Any = None
    study: Path | None = None
    mesh_folders: tuple[Path, ...] = ()
    arguments: str | None = None
    again: Callable[[str], Opening] | None = None
    cell: Cell | None = None

    def session(self) -> Session:
        """A state of its own for a new browser."""
        session = Session(self.wish, mesh_folders=self.mesh_folders)
        if self.plan is not None:
            session.look_at(self.plan)
        return session


def opened(
    what: str | None = None,
    meshes: tuple[Path, ...] = (),
    drives: Path | None = None,
    arguments: Mapping[str, str] | None = None,
    scene: Path | None = None,
) -> Opening:
    """What `armature view` was given: a robot's name or file, a task file, a saved plan, or a
    study; by default a six-axis arm.

    meshes: more folders that meshes may be read from.  drives: a YAML file with a robot's drives.
    arguments: of a xacro file.  scene: a file of obstacles."""
    if scene is not None:
        found = opened(what, meshes, drives, arguments)
        return replace(found, wish=replace(found.wish, scene=load_scene(scene)))
    if what is None or (what in library() and not Path(what).exists()):
        return Opening(first_wish(library(what or FIRST)), mesh_folders=meshes)
    path = Path(what)
    suffix = path.suffix.lower()
    folders = (path.resolve().parent, *meshes)
    if path.is_dir() or suffix in PLANS:
        plan = _plan(path)
        return Opening(_wish_of(plan), plan, mesh_folders=meshes)
    if suffix in STUDIES:
        open_store(path).close()  # refused here and now where it is none
        return Opening(first_wish(library(FIRST)), study=path, mesh_folders=meshes)
    if has_programs(path):
        cell = load_cell(path)
        return Opening(first_wish(library(FIRST)), mesh_folders=folders, cell=cell)
    if suffix in (".yaml", ".yml") and path.is_file() and not has_key(path, "links"):
        wish = _program(path) if is_program(path) else _task(path)
        return Opening(wish, mesh_folders=folders)
    robot = load(path, arguments=arguments)
    folders = (*mesh_folders(robot, path.resolve().parent), *meshes)
    robot, remarks = fixed(robot)
    wish = first_wish(robot if drives is None else robot.with_drives(drives), remarks)
    if suffix != ".xacro":
        return Opening(wish, mesh_folders=folders)
    words = " ".join(f"{name}:={value}" for name, value in (arguments or {}).items())
    return Opening(
        wish,
        None,
        None,
        folders,
        words,
        lambda text: opened(what, meshes, drives, from_words(text.split())),
    )


def _plan(path: Path) -> Any:
    from armature.job.saved import load_plan

    return load_plan(path)


def _wish_of(plan: Any) -> Wish:
    track = plan.trajectory
    return Wish(
        plan.robot, track.q[0], track.q[-1], round(plan.duration, 4), 0.0, named(plan.supply)
    )


def _program(path: Path) -> Wish:
    """The wish for the first motion of a program, with all its steps."""
    program = load_program(path)
    sketch = sketch_of(program)
    wish = first_wish(program.robot)
    wish = replace(
        wish,
        start=sketch.start,
        supply=named(program.supply),
        floor=program.floor,
        scene=program.scene,
        program=sketch,
    )
    first = next(k for k, step in enumerate(sketch.steps) if isinstance(step, MoveTo))
    return sketch.leads_to(first, wish)


def _task(path: Path) -> Wish:
    from armature.job.job_file import load_job
    from armature.optimize.moves.least_time import untimed
    from armature.optimize.transcription.task import Move, configuration

    job = load_job(path)
    if not isinstance(job.task, Move):
        raise FileError(
            "the task follows a path; the app plans moves between two configurations: use `armature"
            " plan` for paths",
            path,
        )
    ends = job.task.vectors(job.robot)
    first = first_wish(job.robot)
    T = job.task.duration or first.duration
    bare = not job.task.via and not np.any(ends.v0) and not np.any(ends.v1)
    via = job.task.via if job.task.duration else untimed(job.task)
    vectors = tuple(
        replace(v, configuration=configuration(job.robot, v.configuration, "via")) for v in via
    )
    given = None if bare else replace(job.task, duration=T, via=vectors)
    more = {"given": given, "floor": job.task.floor, "smoothness": job.task.smoothness}
    more["scene"] = job.scene
    return Wish(job.robot, ends.q0, ends.q1, T, 0.0, named(job.supply), job.objective, **more)

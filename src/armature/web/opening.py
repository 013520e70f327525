"""What is opened: a robot, a task, a saved plan or a study, from the command line or from an uploaded file."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] (lxml carries no types)

from armature.dynamics.stand_in import with_stand_ins
from armature.errors import ArgumentError, FileError
from armature.robot.library import library
from armature.robot.load import load
from armature.robot.load.xml import parse
from armature.robot.model import Robot
from armature.study.store import open_store
from armature.web.session import Session, Wish, first_wish, named

FIRST = "six_axis"
ROBOTS, PLANS, STUDIES = (".urdf", ".xml", ".yaml", ".yml"), (".npz", ".json"), (".db", ".sqlite", ".sqlite3")
MOST_ROBOT, MOST_PLAN = 2 * 2**20, 16 * 2**20  # bytes of an uploaded file


@dataclass(frozen=True, eq=False)
class Opening:
    """What every new browser begins with.

    wish: a robot and a move.  plan: a saved plan to look at.  study: the path of a study's table.  mesh_folders: see `geometry.inside`.
    """

    wish: Wish
    plan: Any = None
    study: Path | None = None
    mesh_folders: tuple[Path, ...] = ()

    def session(self) -> Session:
        """A state of its own for a new browser."""
        session = Session(self.wish, mesh_folders=self.mesh_folders)
        if self.plan is not None:
            session.look_at(self.plan)
        return session


def opened(what: str | None = None, meshes: tuple[Path, ...] = (), drives: Path | None = None) -> Opening:
    """What `armature view` was given: a robot's name or file, a task file, a saved plan, or a study; by default a six-axis arm.

    meshes: more folders that meshes may be read from.  drives: a YAML file with a robot's drives.
    """
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
    if suffix in (".yaml", ".yml") and path.is_file() and not _has(path, "links"):
        return Opening(_task(path), mesh_folders=folders)
    robot = load(path)
    return Opening(first_wish(_fixed(robot.with_drives(drives) if drives is not None else robot)), mesh_folders=folders)


def uploaded(name: str, content: bytes, robot: Robot) -> Robot | Any:
    """The robot or saved plan in an uploaded file, or `robot` with the drives in it.

    Only kinds that cause no other file to be read are taken; of the name, only the suffix is used.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in (*ROBOTS, *PLANS):
        raise FileError(f"a file of the kind {suffix!r} is not taken; choose one of {', '.join((*ROBOTS, *PLANS))}", name)
    most = MOST_ROBOT if suffix in ROBOTS else MOST_PLAN
    if len(content) > most:
        raise FileError(f"the file has {len(content) / 2**20:.1f} MB; at most {most // 2**20} MB are taken", name)
    with tempfile.TemporaryDirectory(prefix="armature") as folder:
        path = Path(folder) / f"uploaded{suffix}"
        path.write_bytes(_alone(content, name) if suffix == ".xml" else content)
        if suffix in PLANS:
            return _plan(path)
        if suffix in (".yaml", ".yml") and not _has(path, "links") and _has(path, "drives|couplings"):
            return robot.with_drives(path)
        return _fixed(load(path))


def _alone(content: bytes, name: str) -> bytes:
    """An XML file (MJCF or URDF) as it was read here, if it makes no other file be read: MuJoCo would read whatever it names."""
    root = parse(content, name)
    for element in root.iter() if root.tag == "mujoco" else ():
        named = next((str(value) for key, value in element.attrib.items() if str(key).startswith("file")), None)
        if named is not None or element.tag in ("include", "plugin", "extension"):
            what = f"names another file ({named})" if named else "is not taken"
            advice = "an upload cannot bring other files along; start `armature view` with the file's own path"
            raise FileError(f"<{element.tag}> {what}: {advice}", name, element.sourceline)
    return etree.tostring(root)


def _fixed(robot: Robot) -> Robot:
    if robot.nq != robot.nv or robot.n == 0:
        what = "has a floating base" if robot.n else "has no moving joint"
        raise ArgumentError(f"robot {robot.name!r} {what}; moves are planned for arms on a fixed base")
    return with_stand_ins(robot)


def _plan(path: Path) -> Any:
    from armature.optimize.saved import load_plan

    return load_plan(path)


def _wish_of(plan: Any) -> Wish:
    track = plan.trajectory
    return Wish(plan.robot, track.q[0], track.q[-1], round(plan.duration, 4), 0.0, named(plan.supply))


def _has(path: Path, keys: str) -> bool:
    """Whether a YAML file has one of these keys at its top: a robot has links, a file of drives has drives, others are tasks."""
    return re.search(rf"^({keys})\s*:", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE) is not None


def _task(path: Path) -> Wish:
    from armature.optimize.job_file import load_job
    from armature.optimize.min_time import loose
    from armature.optimize.task import Move

    job = load_job(path)
    if not isinstance(job.task, Move):
        raise FileError("the task follows a path; the app plans moves between two configurations: use `armature plan` for paths", path)
    ends = job.task.vectors(job.robot)
    first = first_wish(job.robot)
    T = job.task.duration or first.duration
    bare = not job.task.via and not np.any(ends.v0) and not np.any(ends.v1)
    given = None if bare else replace(job.task, duration=T, via=job.task.via if job.task.duration else loose(job.task))
    return Wish(job.robot, ends.q0, ends.q1, T, 0.0, named(job.supply), job.objective, given=given, smoothness=job.task.smoothness)

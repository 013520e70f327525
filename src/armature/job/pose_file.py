"""Task files whose poses stay poses of the world: for a base that is not placed yet."""

from __future__ import annotations

from os import PathLike

from armature.document import checked, values
from armature.drive.catalogue import read_drives
from armature.errors import FileError
from armature.job.job import Job
from armature.job.job_file import configuration, place, robot_of, scene_in
from armature.job.job_schema import PosePart, TaskFile
from armature.optimize.transcription.task import Move
from armature.text import read_text


def load_poses(path: str | PathLike[str]) -> tuple[Job, str | None]:
    """The job of a task file, its start and goal as poses where it gives poses; and the link that
    they are of, where the file names one."""
    data = values(read_text(path), path)
    part = checked(TaskFile, data, path)
    if part.move is None or part.move.via:
        raise FileError("a base is placed for moves from pose to pose, without via points", path, 1)
    robot, given = robot_of(part, data, path), (part.move.start, part.move.goal)
    ends = [place(x) if isinstance(x, PosePart) else configuration(robot, x, None) for x in given]
    task = Move(ends[0], ends[1], part.move.duration, floor=part.floor)
    supply = None if part.supply is None else read_drives({"supply": part.supply}, path)[1]
    links = [x.link for x in given if isinstance(x, PosePart) and x.link is not None]
    scene = scene_in(part.scene, data, path)
    job = Job(robot, task, part.objective, supply, part.knots, scene=scene)
    return job, links[0] if links else None

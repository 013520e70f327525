"""Uploaded files: read in a process of their own, with limits of memory and time, so that no file
can stop the server.

What comes back is data: a robot as YAML text, a plan as JSON and arrays. Only kinds that cause no
other file to be read are taken."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armature.confine import confined
from armature.document import values
from armature.errors import FileError
from armature.job.saved import plan_of
from armature.robot.load.yaml import robot_from_yaml
from armature.robot.model import Robot
from armature.scene.read import scene_of
from armature.scene.scene import Scene
from armature.web.reader import PLANS, ROBOTS

MOST_ROBOT, MOST_PLAN = 2 * 2**20, 16 * 2**20  # bytes of an uploaded file
_at_once = threading.BoundedSemaphore(
    2
)  # uploads that are read at the same time, whoever sent them


@dataclass(frozen=True, eq=False)
class Upload:
    """What was in a file: a robot (with remarks on what was changed of it), a scene, or a saved
    plan."""

    robot: Robot | None = None
    remarks: tuple[str, ...] = ()
    scene: Scene | None = None
    plan: Any = None


def uploaded(name: str, content: bytes, robot: Robot) -> Upload:
    """The robot, scene or saved plan in an uploaded file, or `robot` with the drives in it; of the
    name, only the suffix is used."""
    shown, suffix = name[:200], Path(name[:200]).suffix.lower()
    if suffix not in (*ROBOTS, *PLANS):
        raise FileError(
            f"a file of the kind {suffix!r} is not taken; choose one of"
            f" {', '.join((*ROBOTS, *PLANS))}",
            shown,
        )
    most = MOST_ROBOT if suffix in ROBOTS else MOST_PLAN
    if len(content) > most:
        raise FileError(
            f"the file has {len(content) / 2**20:.1f} MB; at most {most // 2**20} MB are taken",
            shown,
        )
    with tempfile.TemporaryDirectory(prefix="armature") as folder, _at_once:
        path = Path(folder) / f"uploaded{suffix}"
        path.write_bytes(content)
        try:
            said, arrays = confined("armature.web.reader:read_upload", str(path), robot.to_yaml())
        except FileError as error:
            raise FileError(str(error).replace(str(path), shown)) from None
    if said["kind"] == "robot":
        return Upload(robot_from_yaml(said["robot"], shown), tuple(said.get("remarks", ())))
    if said["kind"] == "scene":
        return Upload(scene=scene_of(values(said["scene"], shown), shown))
    for key, array in arrays.items():
        part, _, kind = key.partition(".")
        said["plan"][part][kind] = array
    return Upload(plan=plan_of(said["plan"], Path(shown)))

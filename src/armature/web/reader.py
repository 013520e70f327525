"""What is read in the process with limits: robots as YAML text, plans as JSON and arrays. It
imports no more than it needs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] (lxml carries no types)

from armature.dynamics.forces.bare_robot import prepared
from armature.dynamics.forces.stand_in import with_stand_ins
from armature.errors import ArgumentError, FileError
from armature.robot.load import load
from armature.robot.load.xml import parse
from armature.robot.load.yaml import robot_from_yaml
from armature.robot.model import Robot
from armature.scene.read import load_scene
from armature.scene.write import scene_text
from armature.text import read_bytes

ROBOTS, PLANS = (".urdf", ".xml", ".yaml", ".yml"), (".npz", ".json")
MOST_JOINTS, MOST_LINKS = 64, 1000  # of a robot that the page can show and plan for
MOST_KNOTS = 50_000  # of a plan that the page can show


def read_upload(path: str, current: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is in an uploaded file. current: the robot on the page as YAML, which a file of drives
    is for."""
    place = Path(path)
    if place.suffix in PLANS:
        return _plan(place)
    if place.suffix == ".xml":
        place.write_bytes(_alone(place.read_bytes(), path))
    if (
        place.suffix in (".yaml", ".yml")
        and not has_key(place, "links")
        and has_key(place, "drives|couplings")
    ):
        return {
            "kind": "robot",
            "robot": robot_from_yaml(current, "robot").with_drives(path).to_yaml(),
        }, {}
    if place.suffix in (".yaml", ".yml") and has_key(place, "objects|world"):
        return {"kind": "scene", "scene": scene_text(load_scene(path))}, {}
    robot, remarks = fixed(load(path))
    return {"kind": "robot", "robot": robot.to_yaml(), "remarks": list(remarks)}, {}


def _plan(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    from armature.job.saved import ARRAYS, plan_of, read_document
    from armature.motion.columns import KINDS

    data = read_document(path)
    plan = plan_of(data, path)  # refused here, where it can do no harm
    if len(plan.trajectory) > MOST_KNOTS:
        raise FileError(
            f"the motion has {len(plan.trajectory)} knots; the page shows at most {MOST_KNOTS}",
            path,
        )
    arrays = {}
    for part in (part for part in ARRAYS if data[part] is not None):
        for kind in (kind for kind in ("t", *KINDS) if kind in data[part]):
            arrays[f"{part}.{kind}"] = np.asarray(data[part].pop(kind), dtype=float)
    return {"kind": "plan", "plan": data}, arrays


def _alone(content: bytes, name: str) -> bytes:
    """An XML file (MJCF or URDF) as it was read here, if it makes no other file be read: MuJoCo
    would read whatever it names."""
    root = parse(content, name)
    for element in root.iter() if root.tag == "mujoco" else ():
        named = next(
            (str(value) for key, value in element.attrib.items() if str(key).startswith("file")),
            None,
        )
        if named is not None or element.tag in ("include", "plugin", "extension"):
            what = f"names another file ({named})" if named else "is not taken"
            advice = (
                "an upload cannot bring other files along; start `armature view` with the file's"
                " own path"
            )
            raise FileError(f"<{element.tag}> {what}: {advice}", name, element.sourceline)
    return etree.tostring(root)


def fixed(robot: Robot) -> tuple[Robot, tuple[str, ...]]:
    """A robot that the page can plan for, and remarks on what was changed of its file; refused
    where it is none."""
    if robot.nq != robot.nv or robot.n == 0:
        what = "has a floating base" if robot.n else "has no moving joint"
        raise ArgumentError(
            f"robot {robot.name!r} {what}; moves are planned for arms on a fixed base"
        )
    ready = prepared(robot)
    robot = ready.robot
    if robot.n > MOST_JOINTS or len(robot.links) > MOST_LINKS:
        size = f"{robot.n} joints and {len(robot.links)} links"
        raise ArgumentError(
            f"robot {robot.name!r} has {size}; the app takes {MOST_JOINTS} and {MOST_LINKS}: hold"
            " some joints (--hold)"
        )
    return with_stand_ins(robot), ready.notes


def has_key(path: Path, keys: str) -> bool:
    """Whether a YAML file has one of these keys at its top: a robot has links, a file of drives has
    drives, others are tasks."""
    return (
        re.search(rf"^({keys})\s*:", read_bytes(path).decode("utf-8", "replace"), re.MULTILINE)
        is not None
    )

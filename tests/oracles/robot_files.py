"""The real robots of the example-robot-data package, and how another program's coordinates follow
from ours (joints by name)."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.metadata import distribution
from pathlib import Path

import numpy as np

from armature.errors import ArmatureWarning
from armature.robot.load import load
from armature.robot.model import Robot

ROOT = Path(
    str(
        distribution("example-robot-data").locate_file(
            "cmeel.prefix/share/example-robot-data/robots"
        )
    )
)
FILES = {str(path.relative_to(ROOT).with_suffix("")): path for path in sorted(ROOT.rglob("*.urdf"))}

# no robots at all: an empty file, and one that names a joint which does not exist
INVALID = {"ur_description/urdf/ur3", "alex_description/urdf/alex_psyonic_hands"}
# robots with a joint that carries no mass at all: its acceleration is not defined, and forward
# dynamics names it
MOVES_NOTHING = {
    "romeo_description/urdf/romeo": "joint '[LR]Hand'",
    "romeo_description/urdf/romeo_laas_small": "joint '[lr]_gripper_joint'",
}
VALID = sorted(set(FILES) - INVALID)


@cache
def robot(name: str, floating_base: bool = False) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ArmatureWarning)
        return load(FILES[name], floating_base=floating_base)


def state(robot: Robot, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, a at random; angles over the whole circle."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-3.0, 3.0, robot.nq)
    for body in robot.tree.bodies:
        if body.kind == "free":
            q[body.q + 3 : body.q + 7] /= np.linalg.norm(q[body.q + 3 : body.q + 7])
    return q, rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def couplings(robot: Robot) -> list[tuple[str, str, float, float]]:
    """(joint, independent joint, multiplier, offset) for every moving joint; an independent one
    follows itself."""
    found = []
    for joint in robot.joints:
        if joint.kind != "fixed":
            m = joint.mimic
            found.append(
                (joint.name, joint.name, 1.0, 0.0)
                if m is None
                else (joint.name, m.joint, m.multiplier, m.offset)
            )
    return found


def indices(robot: Robot) -> dict[str, tuple[int, int, int, int]]:
    """Joint → (first index in q, in v, number of coordinates, of velocities)."""
    found, q, v = {}, 0, 0
    for name in robot.joint_names:
        nq, nv = (7, 6) if robot.joint(name).kind == "floating" else (1, 1)
        found[name] = q, v, nq, nv
        q, v = q + nq, v + nv
    return found

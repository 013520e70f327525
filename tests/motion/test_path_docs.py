"""What docs/paths.md and docs/inverse_kinematics.md say is what the library does."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from armature.dynamics import compiled
from armature.dynamics.positioning import follow, inverse_kinematics
from armature.motion import formats, path, shapes, trajectory
from armature.optimize.scaling import time_scaling
from armature.optimize.transcription import guess
from armature.robot.library import library

DOCS = Path(__file__).parents[2] / "docs"


def test_every_function_named_in_the_docs_exists():
    text = (DOCS / "paths.md").read_text(encoding="utf-8") + (
        DOCS / "inverse_kinematics.md"
    ).read_text(encoding="utf-8")
    rooms = (shapes, formats, trajectory, follow, inverse_kinematics, time_scaling, compiled, guess)
    for name in set(re.findall(r"\barm\.(?:motion\.|dynamics\.|optimize\.)?(\w+)", text)) - {
        "library"
    }:
        assert any(hasattr(room, name) for room in rooms), name
    for name in re.findall(r"`(joint_\w+|through|along|hand_line|stretched|resampled|held)`", text):
        assert hasattr(guess, name) or hasattr(shapes, name), name
    for status in inverse_kinematics.Status:
        assert f"`{status.name}`" in text


def test_attributes_named_in_the_docs_exist():
    robot = library("burgevin")
    found = inverse_kinematics.inverse_kinematics(robot, [0.3, 0.3, 0.3], "slider")
    for name in (
        "status",
        "message",
        "solutions",
        "best",
        "conditioning",
        "nearest",
        "distance",
        "angle",
    ):
        getattr(found, name)
    line = shapes.line([0.3, 0.3, 0.3], [0.3, 0.2, 0.4])
    for name in ("length", "corners", "reversed", "sample"):
        assert hasattr(line, name)
    followed = follow.follow(robot, line, "slider")
    for name in ("ok", "message", "path", "p", "q", "dq", "ddq", "conditioning", "others"):
        getattr(followed, name)
    assert isinstance(followed.path, path.JointPath)
    scaling = time_scaling.time_scaling(robot, followed.path)
    assert scaling.intervals and scaling.exact and np.isfinite(scaling.shortest) and scaling.reasons


def test_the_example_message_of_the_docs():
    robot = library("burgevin").with_payload(30.0)
    found = time_scaling.time_scaling(
        robot, guess.joint_cubic([0.0, 0.5, 0.3], [1.5, 1.5, 0.8], 1.0)
    )
    assert found.message.split(";")[0] in (DOCS / "paths.md").read_text(encoding="utf-8")

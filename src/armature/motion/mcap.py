"""Motions in MCAP files, the container that ROS 2 and Foxglove record in; messages in JSON with
their schemas.

Three channels: /joint_states (one sensor_msgs/JointState for each knot, for players and plots),
/joint_trajectory (the whole motion as trajectory_msgs/JointTrajectory), and /armature/trajectory
(the whole motion with every digit)."""

from __future__ import annotations

import io
import json
import os
from os import PathLike
from typing import Any

import numpy as np

from armature.confine import confined
from armature.errors import FileError
from armature.motion.binary import package
from armature.motion.columns import VERSION, arrays_of, completed, from_mapping
from armature.motion.ros import NANO, from_message, to_message
from armature.motion.table import MOST_BINARY, read_bytes
from armature.motion.trajectory import Trajectory
from armature.nested import json_value
from armature.text import check_regular

MOST_MESSAGES = 64 * 2**20  # bytes of all messages that are read
READ = ("armature/Trajectory", "trajectory_msgs/JointTrajectory", "sensor_msgs/JointState")

NUMBERS = {"type": "array", "items": {"type": "number"}}
NAMES = {"type": "array", "items": {"type": "string"}}
WHOLE = {"type": "integer"}
TIME = {"type": "object", "properties": {"sec": WHOLE, "nanosec": WHOLE}}
HEADER = {"type": "object", "properties": {"stamp": TIME, "frame_id": {"type": "string"}}}
POINT = {
    "positions": NUMBERS,
    "velocities": NUMBERS,
    "accelerations": NUMBERS,
    "effort": NUMBERS,
    "time_from_start": TIME,
}
POINTS = {"type": "array", "items": {"type": "object", "properties": POINT}}
CHANNELS: dict[str, tuple[str, dict[str, Any]]] = {
    "/armature/trajectory": (
        "armature/Trajectory",
        {"t": NUMBERS, "joint_names": NAMES, "units": {"type": "object"}},
    ),
    "/joint_trajectory": (
        "trajectory_msgs/JointTrajectory",
        {"header": HEADER, "joint_names": NAMES, "points": POINTS},
    ),
    "/joint_states": (
        "sensor_msgs/JointState",
        {
            "header": HEADER,
            "name": NAMES,
            "position": NUMBERS,
            "velocity": NUMBERS,
            "effort": NUMBERS,
        },
    ),
}


def write_mcap(trajectory: Trajectory, about: dict[str, Any]) -> bytes:
    """The three channels, times from the first knot; a floating base has the exact one only."""
    package("mcap", "an MCAP file")
    writer_module = package("mcap.writer", "an MCAP file")
    out = io.BytesIO()
    writer = writer_module.Writer(out, compression=writer_module.CompressionType.NONE)
    writer.start(profile="", library=f"armature {VERSION}")
    writer.add_metadata("armature", {key: json.dumps(value) for key, value in about.items()})
    for topic, messages in _messages(trajectory, about).items():
        name, properties = CHANNELS[topic]
        schema = {"title": name, "type": "object", "properties": properties}
        channel = writer.register_channel(
            topic, "json", writer.register_schema(name, "jsonschema", json.dumps(schema).encode())
        )
        for k, (time, message) in enumerate(messages):
            writer.add_message(channel, time, json.dumps(message).encode(), time, k)
    writer.finish()
    return out.getvalue()


def _messages(
    trajectory: Trajectory, about: dict[str, Any]
) -> dict[str, list[tuple[int, dict[str, Any]]]]:
    """Messages by channel, each with its time in ns."""
    exact = {**about, **{k: x.tolist() for k, x in arrays_of(trajectory).items()}}
    found: dict[str, list[tuple[int, dict[str, Any]]]] = {"/armature/trajectory": [(0, exact)]}
    if trajectory.q.shape[1] != trajectory.n:
        return found
    whole = to_message(trajectory)
    found["/joint_trajectory"] = [(0, whole)]
    states = []
    for point in whole["points"]:
        time = point["time_from_start"]
        values = {
            "position": point["positions"],
            "velocity": point["velocities"],
            "effort": point["effort"],
        }
        state = {"header": {"stamp": time, "frame_id": ""}, "name": whole["joint_names"], **values}
        states.append((time["sec"] * NANO + time["nanosec"], state))
    return {**found, "/joint_states": states}


def read_mcap(path: str | PathLike[str]) -> Trajectory:
    """The motion of an MCAP file with messages in JSON: of our own channel, else a JointTrajectory,
    else the JointStates in their order."""
    found = _read(path)
    if own := found.get("armature/Trajectory"):
        return from_mapping(own[0], path)
    if whole := found.get("trajectory_msgs/JointTrajectory"):
        names, t, arrays = from_message(whole[0], path)
        return completed(t, arrays, names, "hermite")
    if states := found.get("sensor_msgs/JointState"):
        return _from_states(states, path)
    raise FileError(
        "there is no JointTrajectory and no JointState in JSON in this file; record one of them, or"
        " convert it to .csv",
        path,
    )


def _read(path: str | PathLike[str]) -> dict[str, list[Any]]:
    """Messages in JSON by the name of their schema (ROS 2's /msg/ left out)."""
    package("mcap", "an MCAP file")
    check_regular(path, MOST_BINARY)
    texts, _ = confined("armature.motion.mcap:mcap_content", os.path.abspath(path))
    return {name: [json_value(text, path) for text in messages] for name, messages in texts.items()}


def mcap_content(path: str) -> tuple[dict[str, list[str]], dict[str, np.ndarray]]:
    """The texts of the messages in JSON by the name of their schema; called in a process with
    limits."""
    from mcap.reader import make_reader

    found: dict[str, list[str]] = {}
    total = 0
    try:
        for schema, channel, message in make_reader(io.BytesIO(read_bytes(path))).iter_messages():
            name = "" if schema is None else schema.name.replace("/msg/", "/")
            if name in READ and channel.message_encoding == "json":
                total += len(message.data)
                if total > MOST_MESSAGES:
                    raise FileError(
                        f"the messages have more than {MOST_MESSAGES // 2**20} MB; cut the"
                        " recording",
                        path,
                    )
                found.setdefault(name, []).append(bytes(message.data).decode())
    except FileError:
        raise
    except MemoryError:
        raise
    except Exception as e:  # whatever the reader makes of foreign bytes
        raise FileError(
            f"this is not an MCAP file that can be read ({type(e).__name__}: {str(e)[:80]}); check"
            " the file",
            path,
        ) from None
    return found, {}


def _from_states(states: list[Any], path: object) -> Trajectory:
    """A motion from JointState messages: stamps, positions, and velocities where all have them."""
    try:
        names = tuple(states[0]["name"])
        stamps = [s["header"]["stamp"] for s in states]
        t = np.array(
            [
                s["sec"] - stamps[0]["sec"] + (s["nanosec"] - stamps[0]["nanosec"]) / NANO
                for s in stamps
            ]
        )
        arrays = {"q": np.array([s["position"] for s in states], dtype=float)}
        if all(len(s.get("velocity", ())) == len(names) for s in states):
            arrays["v"] = np.array([s["velocity"] for s in states], dtype=float)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as e:
        raise FileError(
            f"a JointState is not complete ({type(e).__name__}: {e}); it needs header.stamp, name"
            " and position",
            path,
        ) from None
    return completed(t, arrays, names, "hermite")

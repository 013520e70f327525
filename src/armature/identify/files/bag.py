"""JointState messages of ROS 2 recordings: MCAP files and rosbag2's SQLite files, with messages in
CDR or JSON.

sensor_msgs/JointState in CDR: encapsulation (4 bytes), stamp (int32 s, uint32 ns), frame_id, names,
then three sequences of doubles: position, velocity, effort. Strings are a uint32 length with the
final zero; numbers are aligned to their size from the payload's start."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armature.errors import FileError
from armature.motion.binary import package
from armature.motion.table import MOST_BINARY
from armature.text import check_regular

KIND = "sensor_msgs/JointState"
MOST_NAMES = 10_000
NANO = 1e-9


class State(NamedTuple):
    """A JointState. stamp: s.  names: joints.  position, velocity, effort: of each, or empty."""

    stamp: float
    names: tuple[str, ...]
    position: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]


def read_bag(path: Path) -> dict[str, np.ndarray]:
    """Columns t, position.<joint>, velocity.<joint>, effort.<joint> of the JointStates of a
    recording; messages of other joints than the first one's are left out."""
    file = _file(path)
    check_regular(file, MOST_BINARY)
    messages = _from_sqlite(file) if file.suffix == ".db3" else _from_mcap(file)
    try:
        states = list(messages)
    except (struct.error, UnicodeDecodeError, KeyError, TypeError, ValueError, sqlite3.Error) as e:
        raise FileError(
            f"a JointState cannot be read ({type(e).__name__}: {str(e)[:80]}); check the file", path
        ) from None
    states = [s for s in states if s.names and len(s.position) == len(s.names)]
    if not states:
        raise FileError(
            "there is no JointState with positions in this recording; record /joint_states", path
        )
    names = states[0].names
    states = [s for s in states if s.names == names]
    stamps = np.array([s.stamp for s in states])
    columns = {"t": stamps - stamps[0]}
    for kind in ("position", "velocity", "effort"):
        rows = [getattr(s, kind) for s in states]
        if all(len(row) == len(names) for row in rows):
            table = np.array(rows, dtype=float)
            if kind == "position" or np.any(np.isfinite(table) & (table != 0)):
                columns |= {f"{kind}.{name}": table[:, k] for k, name in enumerate(names)}
    return columns


def _file(path: Path) -> Path:
    """The file of a recording that is a folder."""
    if not path.is_dir():
        return path
    found = sorted(p for p in path.iterdir() if p.suffix in (".db3", ".mcap"))
    if len(found) != 1:
        raise FileError(
            f"the folder holds {len(found)} files .db3 or .mcap; name the one to read", path
        )
    return found[0]


def _from_sqlite(path: Path) -> Iterator[State]:
    """JointStates of a rosbag2 database."""
    base = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    try:
        topics = base.execute("SELECT id, type, serialization_format FROM topics").fetchall()
        own = [
            k for k, kind, code in topics if kind.replace("/msg/", "/") == KIND and code == "cdr"
        ]
        if len(own) > 1:
            own = [
                max(
                    own,
                    key=lambda k: base.execute(
                        "SELECT COUNT(*) FROM messages WHERE topic_id = ?", (k,)
                    ).fetchone()[0],
                )
            ]
        for k in own:
            for (data,) in base.execute(
                "SELECT data FROM messages WHERE topic_id = ? ORDER BY timestamp", (k,)
            ):
                yield decode(bytes(data))
    except sqlite3.DatabaseError as e:
        raise FileError(f"this is not a rosbag2 database ({e}); check the file", path) from None
    finally:
        base.close()


def _from_mcap(path: Path) -> Iterator[State]:
    """JointStates of an MCAP file."""
    package("mcap", "an MCAP file")
    from mcap.reader import make_reader

    try:
        with open(path, "rb") as file:
            for schema, channel, message in make_reader(file).iter_messages():
                name = "" if schema is None else schema.name.replace("/msg/", "/")
                if name == KIND and channel.message_encoding in ("cdr", "json"):
                    data = bytes(message.data)
                    yield (
                        decode(data)
                        if channel.message_encoding == "cdr"
                        else _from_json(json.loads(data))
                    )
    except (struct.error, UnicodeDecodeError, KeyError, TypeError, ValueError):
        raise
    except Exception as e:  # whatever the reader makes of foreign bytes
        raise FileError(
            f"this is not an MCAP file that can be read ({type(e).__name__}: {str(e)[:80]}); check"
            " the file",
            path,
        ) from None


def _from_json(message: Any) -> State:
    stamp = message["header"]["stamp"]
    rows = (tuple(map(float, message.get(k, ()))) for k in ("position", "velocity", "effort"))
    return State(stamp["sec"] + NANO * stamp["nanosec"], tuple(message["name"]), *rows)


def decode(data: bytes) -> State:
    """A JointState from its CDR bytes."""
    order = "<" if data[1:2] == b"\x01" else ">"
    body, place = data[4:], 8
    seconds, nanoseconds = struct.unpack_from(order + "iI", body, 0)

    def count() -> int:
        nonlocal place
        place += -place % 4
        (value,) = struct.unpack_from(order + "I", body, place)
        place += 4
        if value > max(MOST_NAMES, len(body)):
            raise ValueError(f"a length of {value} in a message of {len(body)} bytes")
        return value

    def text() -> str:
        nonlocal place
        size = count()
        found = body[place : place + size]
        place += size
        return found.rstrip(b"\0").decode()

    def doubles() -> tuple[float, ...]:
        nonlocal place
        size = count()
        if size:
            place += -place % 8
        found = struct.unpack_from(f"{order}{size}d", body, place)
        place += 8 * size
        return found

    text()  # frame_id
    names = tuple(text() for _ in range(count()))
    return State(seconds + NANO * nanoseconds, names, doubles(), doubles(), doubles())

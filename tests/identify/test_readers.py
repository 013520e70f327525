"""Readers: the same recording through every format is the same recording."""

import gzip
import sqlite3
import struct

import numpy as np
import pytest
from scipy.io import savemat

import armature as arm
from armature.identify.files.bag import decode
from armature.identify.files.reader import load_recording

ROBOT = arm.library("planar2")
NAMES = ROBOT.joint_names
T = np.arange(0.0, 2.0, 0.01)
Q = np.column_stack([np.sin(T), np.cos(T)])
V = np.column_stack([np.cos(T), -np.sin(T)])
TAU = np.column_stack([3 * np.sin(2 * T), np.cos(3 * T)])


def assert_same(recording):
    assert np.allclose(recording.t - recording.t[0], T, atol=1e-6) and np.allclose(
        recording.q, Q, atol=1e-6
    )
    assert np.allclose(recording.v, V, atol=1e-6) and np.allclose(recording.torque, TAU, atol=1e-6)


def write(path, names, mark=","):
    table = np.column_stack([T, Q, V, TAU])
    text = (
        mark.join(names)
        + "\n"
        + "\n".join(mark.join(f"{x:.9g}" for x in row) for row in table)
        + "\n"
    )
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


NUMBERED = ["t", "q1", "q2", "v1", "v2", "tau1", "tau2"]


@pytest.mark.parametrize("mark", [",", " ", ";", "\t"])
def test_tables_with_any_mark_are_read(tmp_path, mark):
    assert_same(load_recording(write(tmp_path / "run.csv", NUMBERED, mark), ROBOT))


def test_packed_tables_and_tables_by_joint_names_are_read(tmp_path):
    assert_same(load_recording(write(tmp_path / "run.csv.gz", NUMBERED), ROBOT))
    named = [
        "time",
        *(f"{kind}.{name}" for kind in ("position", "velocity", "effort") for name in NAMES),
    ]
    assert_same(load_recording(write(tmp_path / "run.csv", named), ROBOT))


def test_a_header_map_names_columns_of_ones_own(tmp_path):
    path = write(tmp_path / "run.csv", ["clock", "a_1", "a_2", "b_1", "b_2", "left", "right"])
    assert_same(
        load_recording(
            path, ROBOT, {"t": "clock", "q": "a_{}", "v": "b_{}", "torque": ["left", "right"]}
        )
    )
    with pytest.raises(arm.ArmatureError, match="no column 'c_1'"):
        load_recording(path, ROBOT, {"t": "clock", "q": "c_{}"})
    with pytest.raises(arm.ArmatureError, match="no fields"):
        load_recording(path, ROBOT, {"angle": "a_{}"})


def test_rtde_names_with_currents_and_supply_are_read(tmp_path):
    names = [
        "timestamp",
        "actual_q_0",
        "actual_q_1",
        "actual_qd_0",
        "actual_qd_1",
        "actual_current_0",
        "actual_current_1",
    ]
    path = write(tmp_path / "rtde.csv", names, " ")
    recording = load_recording(path, ROBOT)
    assert np.allclose(recording.current, TAU, atol=1e-6) and recording.torque is None
    text = path.read_text().splitlines()
    extra = [
        text[0] + " actual_robot_voltage actual_robot_current",
        *(line + " 48 2" for line in text[1:]),
    ]
    path.write_text("\n".join(extra))
    assert np.allclose(load_recording(path, ROBOT).supply_power, 96.0)


def test_motor_torques_pass_ratios_and_couplings(tmp_path):
    path = write(tmp_path / "run.csv", NUMBERED)
    assert np.allclose(
        load_recording(path, ROBOT, ratio=[100, -50]).torque, TAU * [100, -50], atol=1e-4
    )
    N = np.array([[10.0, 0.0], [4.0, 20.0]])  # motor 2 turns with joint 1: τ = Nᵀ τ_m
    assert np.allclose(load_recording(path, ROBOT, transmission=N).torque, TAU @ N, atol=1e-4)


def test_matlab_files_are_read_whichever_way_time_runs(tmp_path):
    for k, turn in enumerate((lambda x: x, lambda x: x.T)):
        savemat(
            tmp_path / f"{k}.mat",
            {"t": T, "q": turn(Q), "qd": turn(V), "tau": turn(TAU), "note": "hello"},
        )
        assert_same(load_recording(tmp_path / f"{k}.mat", ROBOT))
    savemat(tmp_path / "struct.mat", {"data": {"t": T, "q": Q, "v": V, "tau": TAU}})
    assert_same(load_recording(tmp_path / "struct.mat", ROBOT))


def cdr(k, names=NAMES):
    """A sensor_msgs/JointState as rosbag2 stores it, written by the rules of CDR, little-endian."""
    out = bytearray()

    def put(form, *values):
        out.extend(b"\0" * (-len(out) % struct.calcsize(form[-1])))
        out.extend(struct.pack("<" + form, *values))

    def text(word):
        put("I", len(word.encode()) + 1)
        out.extend(word.encode() + b"\0")

    put("i", 1_600_000_000 + int(T[k]))
    put("I", round((T[k] % 1) * 1e9))
    text("base")
    put("I", len(names))
    for name in names:
        text(name)
    for row in (Q[k], V[k], TAU[k]):
        put("I", len(row))
        for x in row:
            put("d", x)
    return b"\x00\x01\x00\x00" + bytes(out)


def test_joint_states_in_cdr_are_decoded():
    state = decode(cdr(7))
    assert (
        state.names == NAMES
        and np.allclose(state.position, Q[7])
        and np.allclose(state.effort, TAU[7])
    )
    assert state.stamp == pytest.approx(1_600_000_000.07, abs=1e-6)


def test_rosbag2_databases_are_read(tmp_path):
    folder = tmp_path / "bag"
    folder.mkdir()
    base = sqlite3.connect(folder / "bag_0.db3")
    base.execute(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format"
        " TEXT, offered_qos_profiles TEXT)"
    )
    base.execute(
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data"
        " BLOB)"
    )
    base.execute(
        "INSERT INTO topics VALUES(1, '/joint_states', 'sensor_msgs/msg/JointState', 'cdr', '')"
    )
    base.execute("INSERT INTO topics VALUES(2, '/clock', 'rosgraph_msgs/msg/Clock', 'cdr', '')")
    rows = [(1, round(1e9 * t), cdr(k)) for k, t in enumerate(T)]
    base.executemany("INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, ?)", rows)
    base.commit()
    base.close()
    assert_same(load_recording(folder, ROBOT))


@pytest.mark.parametrize("encoding", ["cdr", "json"])
def test_mcap_recordings_are_read(tmp_path, encoding):
    from mcap.writer import Writer

    path = tmp_path / "run.mcap"
    with open(path, "wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema(
            "sensor_msgs/msg/JointState", "ros2msg" if encoding == "cdr" else "jsonschema", b""
        )
        channel = writer.register_channel("/joint_states", encoding, schema)
        for k, t in enumerate(T):
            stamp = {"sec": int(t), "nanosec": round((t % 1) * 1e9)}
            state = {
                "header": {"stamp": stamp},
                "name": list(NAMES),
                "position": Q[k].tolist(),
                "velocity": V[k].tolist(),
            }
            import json

            data = (
                cdr(k)
                if encoding == "cdr"
                else json.dumps({**state, "effort": TAU[k].tolist()}).encode()
            )
            writer.add_message(channel, round(1e9 * t), data, round(1e9 * t), k)
        writer.finish()
    assert_same(load_recording(path, ROBOT))


@pytest.mark.parametrize("name", ["bad.mat", "bad.mcap", "bad.db3", "bad.csv.gz", "none.csv"])
def test_files_that_are_something_else_are_refused_by_name(tmp_path, name):
    if name != "none.csv":
        (tmp_path / name).write_bytes(b"this is no recording" * 50)
    with pytest.raises(arm.ArmatureError, match=name):
        load_recording(tmp_path / name, ROBOT)


def test_a_message_that_is_cut_off_is_refused(tmp_path):
    base = sqlite3.connect(tmp_path / "cut.db3")
    base.execute(
        "CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format"
        " TEXT)"
    )
    base.execute(
        "CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data"
        " BLOB)"
    )
    base.execute(
        "INSERT INTO topics VALUES(1, '/joint_states', 'sensor_msgs/msg/JointState', 'cdr')"
    )
    base.execute("INSERT INTO messages(topic_id, timestamp, data) VALUES(1, 0, ?)", (cdr(3)[:60],))
    base.commit()
    base.close()
    with pytest.raises(arm.ArmatureError, match="cannot be read"):
        load_recording(tmp_path / "cut.db3", ROBOT)

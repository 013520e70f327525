"""Motions in files: what is written comes back, and bad files are refused with the line."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from ros2_messages import check, check_trajectory

from armature.errors import ArmatureError, FileError, MissingExtraError
from armature.motion.formats import load_trajectory, save
from armature.motion.ros import to_message
from armature.motion.trajectory import Trajectory

RNG = np.random.default_rng(2)
NAMES = ("a", 'it\'s, "odd"', "ünder")
FULL = Trajectory(
    np.sort(RNG.uniform(0, 3, 7)),
    *RNG.normal(size=(3, 7, 3)) * 10.0 ** RNG.integers(-12, 9, (3, 7, 3)),
    NAMES,
    tau=RNG.normal(size=(7, 3)),
    current=RNG.normal(size=(7, 2)),
    interpolation="held",
)
BARE = Trajectory([0.0, 0.1, 0.25], *RNG.normal(size=(3, 3, 2)))
FLOATING = Trajectory(
    [0.0, 0.5],
    RNG.normal(size=(2, 8)),
    RNG.normal(size=(2, 7)),
    RNG.normal(size=(2, 7)),
    ("free", "j"),
)


def same(a: Trajectory, b: Trajectory) -> bool:
    arrays = all(
        (getattr(a, k) is None and getattr(b, k) is None)
        or np.array_equal(getattr(a, k), getattr(b, k))
        for k in ("t", "q", "v", "a", "tau", "current", "voltage", "power")
    )
    return arrays and a.interpolation == b.interpolation and a.joint_names == b.joint_names


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".json", ".parquet", ".h5", ".mcap"])
@pytest.mark.parametrize("motion", [FULL, BARE, FLOATING], ids=["full", "bare", "floating"])
def test_files_give_back_the_same_motion_bit_for_bit(tmp_path, suffix: str, motion: Trajectory):
    path = tmp_path / f"plan{suffix}"
    motion.save(path)
    assert same(Trajectory.load(path), motion)


@pytest.mark.parametrize(
    ("suffix", "package"), [(".parquet", "pyarrow"), (".h5", "h5py"), (".mcap", "mcap")]
)
def test_a_missing_package_is_named_with_what_to_do(
    tmp_path, monkeypatch, suffix: str, package: str
):
    path = tmp_path / f"plan{suffix}"
    FULL.save(path)
    for name in [n for n in sys.modules if n.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    for use in (FULL.save, load_trajectory):
        with pytest.raises(MissingExtraError, match=rf"{package}.*pip install 'armature\[io\]'"):
            use(path)


def test_units_stand_in_every_file(tmp_path):
    import h5py
    import pyarrow.parquet as parquet

    for suffix in (".csv", ".npz", ".json", ".yaml", ".parquet", ".h5", ".mcap"):
        save(FULL, tmp_path / f"plan{suffix}", {"command": "make test"})
    first = (tmp_path / "plan.csv").read_text(encoding="utf-8").splitlines()[0]
    about = json.loads(first.lstrip("# "))
    assert (
        about["units"]["tau"] == "N·m or N"
        and about["units"]["t"] == "s"
        and about["provenance"] == {"command": "make test"}
    )
    assert (
        json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))["units"] == about["units"]
    )
    assert json.loads(str(np.load(tmp_path / "plan.npz")["about"])) == about
    schema = parquet.read_schema(tmp_path / "plan.parquet")
    assert (
        schema.field("t").metadata == {b"unit": b"s"}
        and json.loads(schema.metadata[b"armature"]) == about
    )
    with h5py.File(tmp_path / "plan.h5") as file:
        assert file["current"].attrs["unit"] == "A" and json.loads(file.attrs["armature"]) == about
    assert (
        json.loads(
            (tmp_path / "plan.yaml").read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        )
        == about
    )
    assert same(load_trajectory(tmp_path / "plan.mcap"), FULL)


def test_mcap_holds_messages_that_ros_2_knows(tmp_path):
    from mcap.reader import make_reader

    FULL.save(tmp_path / "plan.mcap")
    with open(tmp_path / "plan.mcap", "rb") as file:
        found = [
            (c.topic, s.name, s.encoding, m.log_time, json.loads(m.data))
            for s, c, m in make_reader(file).iter_messages()
        ]
    whole = [message for topic, *_, message in found if topic == "/joint_trajectory"]
    check_trajectory(whole[0])
    states = [(time, message) for topic, _, _, time, message in found if topic == "/joint_states"]
    assert (
        len(whole) == 1
        and len(states) == len(FULL)
        and {encoding for _, _, encoding, _, _ in found} == {"jsonschema"}
    )
    for (time, message), t, q in zip(states, FULL.t - FULL.t[0], FULL.q):
        check("sensor_msgs/JointState", message)
        assert time == round(t * 1e9) and message["position"] == q.tolist()


def test_mcap_of_another_recorder_is_read(tmp_path):
    """JointState messages alone: stamps and positions are enough."""
    from mcap.writer import Writer

    path, t = tmp_path / "robot.mcap", np.linspace(0, 1, 11)
    with open(path, "wb") as file:
        writer = Writer(file)
        writer.start()
        schema = writer.register_schema("sensor_msgs/msg/JointState", "jsonschema", b"{}")
        channel = writer.register_channel("/arm/joint_states", "json", schema)
        for k, x in enumerate(t):
            stamp = {"sec": 1_700_000_000 + int(x), "nanosec": round((x % 1) * 1e9)}
            message = {
                "header": {"stamp": stamp, "frame_id": ""},
                "name": ["j"],
                "position": [x**3],
                "velocity": [],
                "effort": [],
            }
            writer.add_message(channel, k, json.dumps(message).encode(), k)
        writer.finish()
    motion = load_trajectory(path)
    np.testing.assert_allclose(motion.t, t, atol=1e-9)
    np.testing.assert_allclose(motion.v[:, 0], 3 * t**2, atol=1e-6)


def test_ros_yaml_keeps_to_the_message_definition(tmp_path):
    """Read by a plain YAML reader and checked against the .msg files: every field, every type,
    every length."""
    from ruamel.yaml import YAML

    whole = Trajectory(
        [0.0, 1.0, 2.5],
        [[1.0, 0.0], [1e-20, 1e20], [3.0, -0.0]],
        np.zeros((3, 2)),
        np.ones((3, 2)),
        ("yes", "1"),
    )
    for k, motion in enumerate((FULL, whole, BARE)):
        path = tmp_path / f"plan{k}.yaml"
        motion.save(path)
        message = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
        check_trajectory(message)
        assert message["points"][1]["positions"] == motion.q[1].tolist()
        assert message["joint_names"] == list(motion.joint_names or ("joint1", "joint2"))


def test_the_checker_of_messages_finds_mistakes():
    good = to_message(FULL)
    check_trajectory(good)
    point = good["points"][0]
    wrong = [
        {**good, "joint_names": [1, 2, 3]},
        {**good, "extra": 0},
        {**good, "points": [{**point, "positions": [1.0]}]},
        {**good, "points": [{**point, "positions": [1, 2, 3]}]},
        {**good, "points": [{**point, "time_from_start": {"sec": 0.5, "nanosec": 0}}]},
        {**good, "points": [{**point, "time_from_start": {"sec": 0, "nanosec": 10**9}}]},
        {**good, "points": [point, point]},
        {k: v for k, v in good.items() if k != "header"},
    ]
    for message in wrong:
        with pytest.raises(AssertionError):
            check_trajectory(message)


def test_ros_message_comes_back_to_a_nanosecond(tmp_path):
    path = tmp_path / "plan.yaml"
    FULL.save(path)
    back = load_trajectory(path)
    assert back.joint_names == NAMES and back.interpolation == "hermite"
    assert (
        back.tau is None
    )  # efforts are written where they are asked for: armature export --effort
    for kind in ("q", "v", "a"):
        np.testing.assert_array_equal(getattr(back, kind), getattr(FULL, kind))
    np.testing.assert_allclose(back.t, FULL.t - FULL.t[0], atol=0.6e-9)
    text = path.read_text(encoding="utf-8")
    assert text.splitlines()[1] == "header:" and "time_from_start: {sec:" in text


def test_ros_message_as_echo_prints_it(tmp_path):
    path = tmp_path / "echo.yaml"
    empty = "  velocities: []\n  accelerations: []\n  effort: []\n"
    first = f"- positions:\n  - 0.0\n  - 1\n{empty}  time_from_start:\n    sec: 0\n    nanosec: 0\n"
    second = (
        f"- positions:\n  - 1.0\n  - 2.0\n{empty}  time_from_start:\n    sec: 1\n    nanosec:"
        " 500000000\n"
    )
    header = (
        "header:\n  stamp:\n    sec: 5\n    nanosec: 0\n  frame_id: base\njoint_names:\n- j1\n-"
        " j2\n"
    )
    path.write_text(f"{header}points:\n{first}{second}---\n")
    motion = load_trajectory(path)
    np.testing.assert_array_equal(motion.t, [0.0, 1.5])
    np.testing.assert_array_equal(motion.q, [[0.0, 1.0], [1.0, 2.0]])
    assert motion.joint_names == ("j1", "j2")


def test_positions_alone_are_enough(tmp_path):
    """Velocities and accelerations are those of the spline: exact for a cubic."""
    path, t = tmp_path / "other.csv", np.linspace(0, 2, 21)
    rows = "\n".join(f"{x!r},{x**3 - x!r}" for x in t.tolist())
    path.write_text("t,q.j\n" + rows + "\n")
    motion = load_trajectory(path)
    np.testing.assert_allclose(motion.v[:, 0], 3 * t**2 - 1, atol=1e-10)
    np.testing.assert_allclose(motion.a[:, 0], 6 * t, atol=1e-8)
    assert motion.joint_names == ("j",)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("t,q.a\n0,1\n1,x\n", 3, "'q.a' holds 'x'"),
        ("t,q.a\n0,1\n1\n", 3, "1 values"),
        ("t,q.a\n0,1\n1,2\n1,3\n", 4, "not after"),
        ("q.a\n0\n1\n", 1, "no column 't'"),
        ("t,v.a\n0,1\n", 1, "'q.<joint>'"),
        ("t,q.a,temperature\n0,1,2\n", 1, "'temperature' is not known"),
        (
            '# {"format": "armature trajectory", "interpolation": "magic"}\nt,q.a\n0,1\n',
            1,
            "'magic'",
        ),
        ("# {broken\nt,q.a\n0,1\n", 1, "first line"),
        ("t,q.a\n0,inf\n", 2, "finite"),
        ("t,q.a\n0,1\n", None, "at least two"),
        ("", 1, "empty"),
    ],
)
def test_bad_csv_is_refused_with_the_line(tmp_path, text: str, line: int | None, message: str):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(FileError, match=message.replace("<", "<")) as caught:
        load_trajectory(path)
    assert caught.value.line == line and str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            (
                "joint_names: [a]\npoints:\n- positions: [0.0, 1.0]\n  time_from_start: {sec: 0,"
                " nanosec: 0}\n"
            ),
            3,
            "1 finite numbers",
        ),
        ("joint_names: [a]\npoints:\n- positions: [0.0]\n", 3, "time_from_start"),
        ("joint_names: a\npoints: []\n", 1, "list of names"),
        ("joint_names: [a]\npoints: []\n", 2, "at least one"),
        ("joint_names: [a\npoints: 3\n", 1, "not well-formed YAML"),
        ("- 1\n- 2\n", None, "joint_names and points"),
        ("joint_names: [a]\npoints:\n- time_from_start: {sec: 0}\n", 3, "no positions"),
        (
            (
                "joint_names: [a]\npoints:\n- positions: [0.0]\n  time_from_start: {sec: 1}\n-"
                " positions: [0.0]\n  time_from_start: {sec: 1}\n"
            ),
            5,
            "not after",
        ),
    ],
)
def test_bad_ros_messages_are_refused_with_the_line(
    tmp_path, text: str, line: int | None, message: str
):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(FileError, match=message) as caught:
        load_trajectory(path)
    assert line is None or caught.value.line == line


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("x.json", b'{\n"t": [0, }', "not JSON"),
        ("x.json", b"[1, 2]", "not an armature trajectory"),
        ("x.npz", b"PK nonsense", "not an NPZ"),
        ("x.parquet", b"no table", "not a Parquet"),
        ("x.h5", b"no data", "not an HDF5"),
        ("x.mcap", b"no messages", "not an MCAP"),
        ("x.csv", b"t,q.a\n0,\xff\n", "UTF-8"),
        ("x.txt", b"", "suffix"),
    ],
)
def test_foreign_bytes_are_refused(tmp_path, name: str, data: bytes, message: str):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(FileError, match=message):
        load_trajectory(path)


def test_json_with_a_ragged_or_missing_array_is_refused(tmp_path):
    path = tmp_path / "x.json"
    BARE.save(path)
    data = json.loads(path.read_text())
    ragged = {"q": [[1.0], [1.0, 2.0], [0.0, 0.0]]}
    for change, message in (
        (ragged, "same length"),
        ({"t": None}, "t"),
        ({"v": [[0.0, 0.0]]}, "v has shape"),
    ):
        path.write_text(json.dumps({**data, **change}))
        with pytest.raises(FileError, match=message):
            load_trajectory(path)


def test_paths_that_lead_nowhere_are_refused(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        load_trajectory(tmp_path / "missing.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(FileError, match="directory"):
        load_trajectory(tmp_path / "folder.csv")
    with pytest.raises(FileError, match="cannot be written"):
        BARE.save(tmp_path / "no" / "plan.csv")
    with pytest.raises(ArmatureError, match="floating base"):
        FLOATING.save(tmp_path / "plan.yaml")

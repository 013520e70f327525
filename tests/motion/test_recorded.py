"""Recorded motions: whatever the header, the separator and the unit, the same motion comes in;
noise goes, mistakes are told."""

from __future__ import annotations

import numpy as np
import pytest

import armature as arm
from armature.errors import ArgumentError, ArmatureWarning, FileError
from armature.motion.recorded import load_recorded

ROBOT = arm.library("planar2")
NAMES = ROBOT.joint_names
RNG = np.random.default_rng(7)


def cubic(t: np.ndarray) -> np.ndarray:
    s = t / t[-1]
    return np.array([0.2, -0.3]) + np.array([1.1, -0.7]) * (3 * s**2 - 2 * s**3)[:, None]


def text(
    t: np.ndarray,
    q: np.ndarray,
    header: str,
    mark: str = ",",
    time: float = 1.0,
    scale: float = 1.0,
    comma: bool = False,
) -> str:
    rows = [mark.join(repr(float(x)) for x in (tk * time, *(qk * scale))) for tk, qk in zip(t, q)]
    rows = [row.replace(".", ",") for row in rows] if comma else rows
    return "\n".join([header, *rows]) + "\n"


T = np.linspace(0.0, 2.0, 81)
DEG = 180 / np.pi
CASES = {
    "our own": text(T, cubic(T), "t," + ",".join(f"q.{n}" for n in NAMES)),
    "bare names": text(T, cubic(T), "time," + ",".join(NAMES)),
    "numbers": text(T, cubic(T), "time,joint_1,joint_2"),
    "numbers from 0": text(T, cubic(T), "timestamp,actual_q_0,actual_q_1"),
    "axes": text(T, cubic(T), "Time [s],A1 [rad],A2 [rad]"),
    "degrees": text(T, cubic(T), "time (s),joint_1 (deg),joint_2 (deg)", scale=DEG),
    "degrees by suffix, ms": text(T, cubic(T), "time_ms,j1_deg,j2_deg", time=1e3, scale=DEG),
    "semicolons and decimal commas": text(
        T, cubic(T), "Time [ms];Joint 1 [°];Joint 2 [°]", ";", 1e3, DEG, comma=True
    ),
    "tabs": text(T, cubic(T), "t\tq1\tq2", "\t"),
    "blanks": text(T, cubic(T), "t q1 q2", " "),
    "recorder": text(
        T, cubic(T), "__time," + ",".join(f"/joint_states/{n}/position" for n in NAMES)
    ),
    "epoch": text(T + 1.7e9, cubic(T), '"time","joint_1","joint_2"'),
}


@pytest.mark.parametrize("name", CASES)
def test_headers_separators_and_units_of_many_kinds(tmp_path, name: str):
    path = tmp_path / "recorded.csv"
    path.write_text(CASES[name], encoding="utf-8")
    motion = load_recorded(path, ROBOT)
    assert motion.joint_names == NAMES
    tolerance = (
        1e-5 if name == "epoch" else 1e-6
    )  # times of a clock that counts from 1970 have 0.2 µs
    np.testing.assert_allclose(motion.t, T, atol=tolerance)
    np.testing.assert_allclose(motion.q, cubic(T), atol=tolerance)


def test_columns_may_stand_in_any_order_and_others_are_left_out(tmp_path):
    path = tmp_path / "recorded.csv"
    header = f"v.{NAMES[0]},{NAMES[1]} [deg],t,current.{NAMES[1]},{NAMES[0]}"
    rows = [f"9,{b * DEG!r},{t!r},7,{a!r}" for t, (a, b) in zip(T.tolist(), cubic(T).tolist())]
    path.write_text("\n".join([header, *rows]))
    np.testing.assert_allclose(load_recorded(path, ROBOT).q, cubic(T), atol=1e-6)


def test_without_a_robot_all_positions_are_taken(tmp_path):
    path = tmp_path / "recorded.csv"
    path.write_text(CASES["our own"])
    assert load_recorded(path).joint_names == NAMES


def test_bare_numbers_are_time_and_joints_and_it_is_told(tmp_path):
    path = tmp_path / "recorded.csv"
    path.write_text(CASES["our own"].split("\n", 1)[1])
    with pytest.warns(ArmatureWarning, match="no header"):
        np.testing.assert_allclose(load_recorded(path, ROBOT).q, cubic(T), atol=1e-6)
    with pytest.raises(FileError, match="no header"):
        load_recorded(path)


def test_lines_out_of_order_and_repeated_times_are_mended_and_told(tmp_path):
    path = tmp_path / "recorded.csv"
    lines = CASES["numbers"].splitlines()
    lines[10], lines[11] = lines[11], lines[10]
    lines.insert(30, lines[29])
    path.write_text("\n".join(lines))
    with pytest.warns(ArmatureWarning) as told:
        motion = load_recorded(path, ROBOT)
    words = [str(w.message) for w in told]
    assert (
        "recorded.csv:12: 1 lines are earlier" in words[0]
        and "recorded.csv:31: 1 lines repeat" in words[1]
    )
    np.testing.assert_allclose(motion.q, cubic(T), atol=1e-6)


@pytest.mark.parametrize("noise", [None, 2e-3])
def test_noise_of_an_encoder_does_not_reach_the_accelerations(tmp_path, noise):
    """Differences of the raw samples would give accelerations of 2e-3/(5 ms)² = 80 rad/s²; the
    cubic's are below 1.7 rad/s²."""
    t = np.sort(np.concatenate([[0.0, 2.0], RNG.uniform(0, 2.0, 398)]))  # irregular sampling
    path = tmp_path / "recorded.csv"
    path.write_text(text(t, cubic(t) + 2e-3 * RNG.normal(size=(400, 2)), "time,joint_1,joint_2"))
    motion = load_recorded(path, ROBOT, noise=noise)
    s = motion.t / 2
    true = np.array([1.1, -0.7]) * (6 - 12 * s)[:, None] / 4
    inside = (s > 0.1) & (s < 0.9)
    assert np.abs(motion.q - cubic(motion.t)).max() < 2e-3
    assert np.sqrt(np.mean((motion.a - true)[inside] ** 2)) < 0.25


def test_no_noise_passes_through_every_sample(tmp_path):
    path = tmp_path / "recorded.csv"
    q = cubic(T) + 1e-3 * RNG.normal(size=(81, 2))
    path.write_text(text(T, q, "time,joint_1,joint_2"))
    np.testing.assert_allclose(load_recorded(path, ROBOT, noise=0).q, q, atol=1e-14)


def test_taught_points_are_passed_from_rest_to_rest(tmp_path):
    path = tmp_path / "taught.csv"
    path.write_text("time,joint_1,joint_2\n0,0,0\n1,0.5,-0.2\n2.5,1,0.3\n")
    motion = load_recorded(path, ROBOT)
    np.testing.assert_allclose(motion.q, [[0, 0], [0.5, -0.2], [1, 0.3]], atol=1e-15)
    np.testing.assert_allclose(motion.v[[0, -1]], 0.0, atol=1e-12)


def test_a_long_recording_becomes_a_motion_of_moderate_size(tmp_path):
    t = np.linspace(0, 30, 30_001)
    path = tmp_path / "long.csv"
    path.write_text(text(t, cubic(t), "time,joint_1,joint_2"))
    motion = load_recorded(path, ROBOT)
    assert len(motion) == 3001
    np.testing.assert_allclose(motion.q, cubic(motion.t), atol=1e-6)


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("", 1, "no numbers"),
        ("joint_1,joint_2\n0,1\n", 1, "no column of times"),
        ("time,elbow,thumb\n0,1,2\n1,2,3\n", 1, f"no column for joint '{NAMES[0]}'"),
        ("time,joint_1\n0,1\n1,2\n", 1, "no column for joint"),
        ("time,joint_1,joint_2\n0,1\n", 2, "2 values"),
        ("time,joint_1,joint_2\n0,1,x\n", 2, "'joint_2' holds"),
        ("time,joint_1,joint_2\n0,1,nan\n", 2, "'joint_2' holds"),
        ("time,joint_1,joint_2\n0,1,2\n", None, "1 instants"),
        ("time,joint_1,joint_2\n0,90,45\n1,10,20\n", 1, r"degrees.*\[deg\]"),
    ],
)
def test_bad_recordings_are_refused_with_words(
    tmp_path, content: str, line: int | None, message: str
):
    path = tmp_path / "bad.csv"
    path.write_text(content)
    with pytest.raises(FileError, match=message) as caught:
        load_recorded(path, ROBOT)
    assert caught.value.line == line


def test_unit_and_noise_are_checked(tmp_path):
    path = tmp_path / "recorded.csv"
    path.write_text(text(T, cubic(T), "time,joint_1,joint_2", scale=DEG))
    np.testing.assert_allclose(load_recorded(path, ROBOT, unit="deg").q, cubic(T), atol=1e-6)
    for wrong in ({"unit": "furlong"}, {"noise": -1.0}):
        with pytest.raises(ArgumentError):
            load_recorded(path, ROBOT, **({"unit": "deg"} | wrong))

"""Moves on the command line: via points with given and free passing times, stops, the ways of a
move; what is wrong is told in one line."""

import json

import numpy as np
import pytest

import armature as arm
from armature.cli.main import run

ENDS = ["burgevin", "--from", "0,90deg,0.9", "--to", "90deg,90deg,0.9", "--knots", "40"]
PLACE = np.array([np.pi / 4, np.pi / 2, 0.8])


def planned(tmp_path, *options: str) -> arm.Trajectory:
    """The motion that `armature plan` writes."""
    assert run(["plan", *ENDS, *options, "--save", str(tmp_path / "plan.npz"), "-q"]) == 0
    return arm.motion.load_trajectory(tmp_path / "plan.npz")


def answered(capsys, *arguments: str, code: int = 0) -> dict:
    """The JSON object that a verb answers."""
    assert run([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_a_via_point_is_passed_at_its_time_and_joints_that_are_not_named_are_where_they_start(
    tmp_path,
):
    motion = planned(tmp_path, "-T", "0.8", "--via", "phi=45deg, r=0.8 @ 300ms")
    np.testing.assert_allclose(motion(0.3).q, PLACE, atol=1e-8)
    assert np.abs(motion(0.3).v).max() > 0.5


def test_via_points_without_a_time_are_passed_in_their_order_and_a_stop_is_one(tmp_path):
    motion = planned(
        tmp_path, "-T", "1.6", "--via", "phi=45deg,r=800mm @ stop", "--via", "phi=60deg"
    )
    first, second = (
        int(np.abs(motion.q - place).max(1).argmin())
        for place in (PLACE, [np.pi / 3, np.pi / 2, 0.9])
    )
    assert 0 < first < second < len(motion) - 1
    np.testing.assert_allclose(motion.q[first], PLACE, atol=1e-8)
    np.testing.assert_allclose(motion.v[first], 0.0, atol=1e-8)
    assert np.abs(motion.v[second]).max() > 0.1


@pytest.mark.parametrize(
    ("via", "words"),
    [
        ("phi=45deg @", "after @ stands when"),
        ("@ 0.4s", "names no place"),
        ("phi=45deg @ 0.3, 0.4", "are 2 numbers, where one time"),
        ("phi=45deg @ soon", "'soon' is not a number"),
        ("phi=45deg @ 0.9s", "lie between 0 and the duration 0.8 s"),
        ("phi=45deg @ stop 0.4s", "'stop 0.4s' is not a number"),
        ("elbow=45deg", "no moving joint 'elbow'"),
        ("0, 0", "2 values for 3 joints"),
        ("r=45deg", "joint 'r' slides"),
    ],
)
def test_what_is_no_via_point_is_told(via, words, capsys):
    assert run(["plan", *ENDS, "-T", "0.8", "--via", via]) == 2
    assert words in capsys.readouterr().err


def test_via_points_of_task_files_and_recorded_motions_stand_elsewhere(tmp_path, capsys):
    assert run(["plan", "task.yaml", "--via", "phi=1"]) == 2
    assert run(["plan", "burgevin", "--from", "motion.csv", "--via", "phi=1"]) == 2
    told = capsys.readouterr().err
    assert "stand in it" in told and "has its own way" in told


@pytest.mark.parametrize(
    "option, words",
    [
        (["--objective", "time"], "least energy in its own time"),
        (["--duration", "2"], "a recorded motion has its own"),
        (["--floor", "high"], "high"),
    ],
)
def test_options_that_a_recorded_motion_leaves_no_room_for_are_refused(option, words, capsys):
    assert run(["plan", "burgevin", "--from", "motion.csv", *option]) == 2
    assert words in capsys.readouterr().err


def recorded(tmp_path) -> str:
    """A taught motion: the joint cubic of a quarter turn in 0.8 s."""
    t = np.linspace(0.0, 0.8, 41)
    angle = 90 * (3 * (t / 0.8) ** 2 - 2 * (t / 0.8) ** 3)
    rows = "".join(f"{a:.9f},{b:.9f},90,900\n" for a, b in zip(t, angle))
    (tmp_path / "motion.csv").write_text("time,phi [deg],theta [deg],r [mm]\n" + rows)
    return str(tmp_path / "motion.csv")


def test_the_plan_beside_a_recorded_motion_keeps_the_floor_that_is_given(tmp_path, capsys):
    command = [
        "plan",
        "burgevin",
        "--from",
        recorded(tmp_path),
        "--knots",
        "20",
        "--smoothness",
        "0",
        "--floor",
    ]
    assert run([*command, "5"]) == 1  # all of the arm is below
    assert "floor" in "".join(capsys.readouterr())


def test_the_plan_beside_a_recorded_motion_is_given_a_deadline(tmp_path, capsys, monkeypatch):
    """The seconds on the command line are those that the planner is given."""
    given = []
    plan = arm.minimize_energy
    monkeypatch.setattr(
        "armature.job.recorded.minimize_energy",
        lambda *a, **k: given.append(k.get("deadline")) or plan(*a, **k),
    )
    whole = answered(
        capsys,
        "plan",
        "burgevin",
        "--from",
        recorded(tmp_path),
        "--knots",
        "20",
        "--deadline",
        "60",
    )
    assert whole["ok"] and whole["recorded"]["losses"] > whole["losses"] and given == [60.0]


@pytest.mark.parametrize("option, thorough", [("--thorough", True), ("--quick", False)])
def test_a_recorded_motion_is_searched_as_thoroughly_as_its_ends_are(
    tmp_path, capsys, option, thorough
):
    """The plan between the same ends, from Python, is the witness."""
    path = recorded(tmp_path)
    found = answered(capsys, "plan", "burgevin", "--from", path, "--knots", "20", option)
    robot = arm.library("burgevin")
    q = arm.motion.load_recorded(path, robot).q
    plan = arm.minimize_energy(robot, arm.Move(q[0], q[-1], 0.8), knots=20, thorough=thorough)
    assert found["ok"] and found["energy"] == pytest.approx(plan.energy, rel=1e-6, abs=1e-9)
    assert found["iterations"] == len(plan.iterations)


def test_the_ways_of_a_move_are_told_cheapest_first_and_the_first_is_no_worse_than_the_plan(
    tmp_path, capsys
):
    found = answered(capsys, "ways", *ENDS, "-T", "0.8", "--save", str(tmp_path / "ways"))
    energies = [way["energy"] for way in found["ways"]]
    assert found["ok"] and len(energies) >= 2 and energies == sorted(energies)
    assert all(
        way["certificate"]["ok"] and way["duration"] == pytest.approx(0.8) for way in found["ways"]
    )
    assert (
        "the direct way" in found["ways"][0]["description"]
        and "full turn" in found["ways"][1]["description"]
    )
    assert energies[0] <= answered(capsys, "plan", *ENDS, "-T", "0.8")["energy"] * (1 + 1e-3)
    assert (
        len(found["written"]) == len(energies)
        and (tmp_path / "ways" / "way_1" / "report.html").exists()
    )


def test_with_a_link_ways_lead_to_its_pose_in_every_posture(capsys):
    move = [
        "scara",
        "--from",
        "0.2, 0.5, 50mm, 0",
        "--to",
        "1, 1, 80mm, 1",
        "-T",
        "0.6",
        "--knots",
        "20",
    ]
    robot = arm.library("scara")
    found = answered(capsys, "ways", *move, "--link", robot.link_names[-1])
    assert {way["description"][:10] for way in found["ways"]} >= {"elbow left", "elbow righ"}


def test_where_there_is_no_way_it_is_told_why(capsys):
    found = answered(capsys, "ways", *ENDS, "-T", "0.01", code=1)
    assert found["ways"] == [] and "0.01 s is too short" in found["diagnosis"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "ways are compared at one duration"),
        (("-T", "0.8", "--save", "ways.csv"), "a name without an ending"),
        (("-T", "0.8", "--link", "hand"), "link 'hand' is not in robot 'burgevin'"),
    ],
)
def test_ways_that_cannot_be_sought_are_told(options, words, capsys):
    assert run(["ways", *ENDS, *options]) == 2
    assert words in capsys.readouterr().err


def test_a_curve_through_a_timed_via_point_needs_the_duration_that_its_time_is_a_part_of(capsys):
    via = ("--via", "phi=45deg,r=0.8 @ 0.4s", "--durations", "0.8, 1.2")
    assert run(["curve", *ENDS, *via]) == 2
    assert "give it, -T" in capsys.readouterr().err
    found = answered(capsys, "curve", *ENDS, *via, "-T", "0.8")
    assert found["energies"][0] > found["energies"][1] > 0

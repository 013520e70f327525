"""Task files: what they say becomes a job; what is wrong in them is told with its line; files are
found beside the task."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.errors import FileError
from armature.job.job_file import load_job
from armature.job.job_schema import TaskFile

TEMPLATES = Path(arm.__file__).parent / "cli" / "templates"
MOVE = "move: {start: [0, -1, 1], goal: [1, -0.5, 0.5], duration: 1 s}\n"


@pytest.fixture
def folder(tmp_path):
    for name in ("robot.yaml", "drives.yaml", "task.yaml", "path_task.yaml"):
        shutil.copy(TEMPLATES / name, tmp_path / name)
    return tmp_path


def task(folder: Path, text: str):
    (folder / "t.yaml").write_text(text)
    return load_job(folder / "t.yaml")


def test_the_example_s_numbers_arrive(folder):
    job = load_job(folder / "task.yaml")
    assert job.robot.joint_names == ("turn", "shoulder", "elbow") and len(job.robot.drives) == 3
    assert job.robot.link("tool").mass == 2.0
    assert np.allclose(np.degrees(job.task.start), [-60, -80, 100]) and np.allclose(
        np.degrees(job.task.goal), [70, -20, 40]
    )
    assert (job.task.duration, job.knots, job.objective, job.name) == (
        1.5,
        60,
        "energy",
        "pick_and_place",
    )
    assert job.output == folder / "plan"


def test_joints_not_named_stay_and_start_inside_their_range(folder):
    job = task(
        folder, "robot: burgevin\nmove: {start: {phi: 10 deg}, goal: {r: 300 mm}, duration: 1}\n"
    )
    assert np.allclose(job.task.start, [np.radians(10), 0.0, 0.16])  # r ranges over 0.16 … 0.91 m
    assert np.allclose(job.task.goal, [np.radians(10), 0.0, 0.3])


def test_a_goal_given_as_a_pose_is_reached(folder):
    job = task(
        folder,
        "robot: robot.yaml\nmove: {start: [0, -1, 1], goal: {position: [0.4, 0.2, 0.3]}, duration:"
        " 1}\n",
    )
    assert np.allclose(arm.pose(job.robot, job.task.goal, "tool").p, [0.4, 0.2, 0.3], atol=1e-8)
    rpy = (
        "robot: six_axis\nmove: {start: [0, -1, 1, 0, 1, 0], goal: {position: [0.4, 0.2, 0.3], rpy:"
        " [180 deg, 0, 90 deg]}, duration: 1}\n"
    )
    goal = arm.pose(task(folder, rpy).robot, task(folder, rpy).task.goal, "tool")
    assert np.allclose(goal.R, [[0, 1, 0], [1, 0, 0], [0, 0, -1]], atol=1e-8)


def test_limits_of_moveit_and_of_the_task_itself(folder):
    (folder / "joint_limits.yaml").write_text(
        "joint_limits:\n  turn: {has_velocity_limits: true, max_velocity: 1.25,"
        " has_acceleration_limits: false, max_acceleration: 2}\n"
    )
    limits = (
        task(folder, "robot: robot.yaml\nlimits: joint_limits.yaml\n" + MOVE)
        .robot.joint("turn")
        .limits
    )
    assert limits.velocity == 1.25 and limits.acceleration == 15.0
    limits = (
        task(
            folder,
            "robot: robot.yaml\nlimits: {turn: {velocity: 90 deg/s, acceleration: 5 rad/s^2}}\n"
            + MOVE,
        )
        .robot.joint("turn")
        .limits
    )
    assert (
        limits.velocity == pytest.approx(np.pi / 2)
        and limits.acceleration == 5.0
        and limits.torque == 120.0
    )


def test_held_joints_leave_the_plan(folder):
    job = task(
        folder,
        "robot: six_axis\nhold: [wrist_*]\nmove: {start: [0, -1, 1], goal: {pan: 1}, duration:"
        " 1}\n",
    )
    assert job.robot.joint_names == ("pan", "lift", "elbow")


@pytest.mark.parametrize(
    "shape",
    [
        "line: [[0.4, -0.1, 0.3], [0.4, 0.1, 0.3]]",
        "polyline: [[0.4, -0.1, 0.3], [0.4, 0.1, 0.3], [0.5, 0.1, 0.3]], blend: 20 mm",
        "spline: points.csv",
        "arc: [[0.4, -0.1, 0.3], [0.45, 0, 0.3], [0.4, 0.1, 0.3]]",
        "circle: {start: [0.5, 0, 0.3], centre: [0.45, 0, 0.3], normal: z}",
        (
            "screw: {start: [0.5, 0, 0.3], centre: [0.45, 0, 0.3], axis: z, angle: 90 deg, advance:"
            " 20 mm}"
        ),
        "joints: [[0, -1, 1], {turn: 1, shoulder: -0.5, elbow: 1}]",
    ],
)
def test_every_shape_of_path_can_be_followed(folder, shape):
    (folder / "points.csv").write_text("x,y,z\n0.4,-0.1,0.3\n0.45,0,0.3\n0.4,0.1,0.3\n")
    job = task(folder, f"robot: robot.yaml\npath: {{{shape}, duration: 1.5 s}}\n")
    curve = job.task.curve(job.robot)
    assert np.all(np.isfinite(curve(np.linspace(0, 1, 5)).q))


def test_a_supply_may_be_detailed(folder):
    bus = "supply: {kind: bus, capacitance: 2 mF, voltage: 48 V, resistor_voltage: 56 V}\n"
    assert task(folder, "robot: robot.yaml\n" + bus + MOVE).supply.capacitance == pytest.approx(
        2e-3
    )


MISTAKES = [
    ("robot: robt.yaml\n" + MOVE, 1, "there is no file"),
    ("robot: six_axes\n" + MOVE, 1, "did you mean 'six_axis'"),
    (
        "robot: robot.yaml\ndrives: {turn: {motor: nothing}}\n" + MOVE,
        2,
        "no motor 'nothing' in the catalogue",
    ),
    ("robot: robot.yaml\ndrives: none.yaml\n" + MOVE, 2, "drives: there is no file"),
    ("robot: robot.yaml\ndrives:\n  tun: {motor: dc-24v-10w}\n" + MOVE, 3, "did you mean 'turn'"),
    ("robot: robot.yaml\nsupply: {kind: buss}\n" + MOVE, 2, "kind 'buss' is not known"),
    (
        "robot: robot.yaml\nsupply:\n  kind: bus\n  capacitence: 2 mF\n" + MOVE,
        4,
        "did you mean 'capacitance'",
    ),
    (
        "robot: robot.yaml\nmove:\n  start: [0, 1]\n  goal: [0, 1, 1]\n  duration: 1\n",
        3,
        "2 values for 3 joints",
    ),
    (
        "robot: robot.yaml\nmove:\n  start: [0, 0, 1]\n  goal: {elbo: 1}\n  duration: 1\n",
        4,
        "did you mean 'elbow'",
    ),
    (
        (
            "robot: robot.yaml\nmove:\n  start: [0, 0, 1]\n  goal: {position: [9, 0, 0]}\n "
            " duration: 1\n"
        ),
        4,
        "move.goal",
    ),
    ("robot: robot.yaml\nmove:\n  start: [0, 0, 1]\n  goal: [0, 0, 0.5]\n", 2, "needs a duration"),
    (
        "robot: robot.yaml\nmove:\n  start: [0, 0, 1]\n  goal: [0, 0, 0.5]\n  duration: -1 s\n",
        2,
        "must be a positive number",
    ),
    ("robot: robot.yaml\nhold: [griper_*]\n" + MOVE, 2, "no moving joint is called like"),
    ("robot: robot.yaml\npayload: -2 kg\n" + MOVE, 2, "payload mass is -2 kg"),
    ("robot: robot.yaml\nlimits: {turm: {velocity: 1}}\n" + MOVE, 2, "did you mean 'turn'"),
    (
        "robot: robot.yaml\npath:\n  line: [[0, 0, 1], [0, 0, 1]]\n  duration: 1\n",
        3,
        "are the same",
    ),
    ("robot: robot.yaml\npath:\n  spline: nothing.csv\n", 3, "there is no file"),
]


@pytest.mark.parametrize(
    ("text", "line", "words"), MISTAKES, ids=[words for _, _, words in MISTAKES]
)
def test_mistakes_have_their_line(folder, text, line, words):
    with pytest.raises(FileError) as caught:
        task(folder, text)
    assert (
        words in str(caught.value)
        and caught.value.line == line
        and caught.value.path == str(folder / "t.yaml")
    )


def test_a_key_in_the_wrong_place_is_answered_with_its_own(folder):
    with pytest.raises(FileError) as caught:
        task(
            folder,
            "robot: robot.yaml\nsmoothness: 0.2\nmove:\n  start: [0, 0, 1]\n  goal: [0, 1, 1]\n"
            "  posture: elbow up\n  floor: none\n",
        )
    for words in (
        "smoothness: there is no such key here; it belongs under move",
        "move.posture: there is no such key here; it belongs under move.start or under move.goal",
        "move.floor: there is no such key here; it belongs at the top of the file",
    ):
        assert words in str(caught.value)


def test_all_mistakes_of_a_task_are_told_at_once(folder):
    with pytest.raises(FileError) as caught:
        task(
            folder,
            "robott: robot.yaml\nmove:\n  start: [0, x, 1]\n  goals: [0, 1, 1]\n  duration: 3"
            " kg\nknots: many\n",
        )
    text = str(caught.value)
    told = [
        "robott: there is no such key; did you mean 'robot'?",
        "robot: this is missing",
        "move.start[1]: 'x' is not a number",
        "move.goals: there is no such key; did you mean 'goal'",
        "move.duration: '3 kg'",
        "knots: 'many' is not a whole number",
    ]
    for words in told:
        assert words in text


def test_units_of_the_schema_s_examples_are_readable():
    assert TaskFile.model_json_schema()["properties"]["knots"]["minimum"] == 4


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (
            "move: {start: {r: 30 deg}, goal: {phi: 1}, duration: 1}\n",
            2,
            "move.start: joint 'r' slides: '30 deg'",
        ),
        (
            "move: {start: [0, 1, 0.5 m], goal: [1 m, 1, 0.5], duration: 1}\n",
            2,
            "move.goal: joint 'phi' turns: '1 m'",
        ),
        (
            "limits: {r: {velocity: 90 deg/s}}\nmove: {start: {}, goal: {phi: 1}, duration: 1}\n",
            2,
            "limits.r: joint 'r' slides: '90 deg/s'",
        ),
        (
            (
                "move:\n  start: {}\n  goal: {phi: 1}\n  duration: 1\n  via:\n    - {configuration:"
                " {r: 1 rad}, at: 0.5}\n"
            ),
            7,
            "joint 'r' slides",
        ),
        (
            "move: {start: {}, goal: {phi: 1}, duration: 1, goal_velocity: {phi: 1 m/s}}\n",
            2,
            "joint 'phi' turns: '1 m/s'",
        ),
    ],
)
def test_an_angle_of_a_joint_that_slides_is_refused_and_a_length_of_one_that_turns(
    folder, text, line, words
):
    with pytest.raises(FileError) as error:
        task(folder, "robot: burgevin\n" + text)
    assert words in str(error.value) and f"t.yaml:{line}:" in str(error.value)


def test_limits_of_a_robot_s_own_file_are_in_its_joints_units(folder):
    link = "{name: a, joint: slide, kind: prismatic, mass: 1, limits: {upper: 90 deg}}"
    (folder / "r.yaml").write_text(f"name: r\nlinks:\n  - {link}\n")
    with pytest.raises(
        FileError,
        match=r"r\.yaml:3: joint 'slide' slides: '90 deg' has the wrong kind of unit; give it in m",
    ):
        arm.load(folder / "r.yaml")

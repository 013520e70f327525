"""`armature init` and `armature schema`: examples that run as they are, and schemas that editors
can check them with."""

import itertools
import json

import jsonschema
import numpy as np
import pytest

import armature as arm
from armature.cli.init import TEMPLATES, template
from armature.cli.main import run
from armature.cli.schema import KINDS, schema_of
from armature.document import values
from armature.dynamics.compiled import link_poses
from armature.job.job_file import load_job


def test_the_examples_run_as_they_are(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["init"]) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(TEMPLATES)
    assert run(["check", "robot.yaml", "--drives", "drives.yaml"]) == 0
    capsys.readouterr()
    for name, folder in (("task.yaml", "plan"), ("path_task.yaml", "seam")):
        assert run(["plan", name, "--json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert data["ok"] and data["certificate"]["ok"] and 0.0 < data["saving"] < 1.0
        assert (tmp_path / folder / "report.html").stat().st_size > 10_000 and (
            tmp_path / folder / "plan.csv"
        ).exists()


def test_init_does_not_write_over_files(tmp_path, capsys):
    (tmp_path / "task.yaml").write_text("mine")
    assert run(["init", str(tmp_path)]) == 2
    assert (
        "task.yaml already" in capsys.readouterr().err
        and (tmp_path / "task.yaml").read_text() == "mine"
    )
    assert run(["init", str(tmp_path), "--force"]) == 0
    assert (tmp_path / "task.yaml").read_text() == template("task.yaml")


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_line_of_an_example_that_is_not_plain_is_explained(name):
    text = template(name)
    assert text.startswith("#") and text.count("#") >= 3


@pytest.mark.parametrize("name", [*TEMPLATES])
def test_the_examples_fit_their_schema(name):
    kind = "task" if "task" in name else name.removesuffix(".yaml")
    schema = schema_of(kind)
    json.dumps(schema, allow_nan=False)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(values(template(name), name), schema, jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("robot", "lnks: []"),
        ("robot", "links: [{kind: revolut}]"),
        ("drives", "drives: {a: {motr: dc-24v-10w}}"),
        ("drives", "supply: burnt"),
        ("task", "robot: x\nmove: {start: [1], goal: 3}"),
        ("task", "robot: x\nknots: 2.5"),
        ("study", "task: task.yaml\nvari: {}"),
        ("line", "stations: 3"),
    ],
)
def test_schemas_refuse_what_the_program_refuses(kind, text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(values(text, "x"), schema_of(kind), jsonschema.Draft202012Validator)


def test_built_in_robots_fit_the_schema_and_a_misspelt_key_of_them_does_not():
    robots = jsonschema.Draft202012Validator(schema_of("robot"))
    for name in arm.library():
        text = arm.library(name).to_yaml()
        assert [error.message for error in robots.iter_errors(values(text, name))] == [], name
        misspelt = values(text.replace("links:", "lnks:", 1), name)
        assert not robots.is_valid(misspelt), name


def test_the_schema_is_printed_and_written(tmp_path, capsys):
    for kind in KINDS:
        assert run(["schema", kind]) == 0
        assert json.loads(capsys.readouterr().out)["title"] == f"Armature {kind}"
    assert run(["schema", "task", "--save", str(tmp_path / "task.json")]) == 0
    written = json.loads((tmp_path / "task.json").read_text())
    assert written.pop("$comment") == "written by armature" and written == schema_of("task")


def test_init_for_a_robot_of_one_s_own_names_its_joints(tmp_path, capsys):
    arm.library("planar2").save(tmp_path / "bare.yaml")
    text = (tmp_path / "bare.yaml").read_text()
    (tmp_path / "bare.yaml").write_text(text[: text.index("drives:")])
    assert run(["init", str(tmp_path / "new"), "--robot", str(tmp_path / "bare.yaml")]) == 0
    job = load_job(tmp_path / "new" / "task.yaml")
    assert job.robot.joint_names == ("shoulder", "elbow") and len(job.robot.drives) == 2
    capsys.readouterr()
    assert run(["plan", str(tmp_path / "new" / "task.yaml"), "--knots", "30", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["certificate"]["ok"]


def test_init_leaves_fingers_still_and_finds_one_arm_of_many(tmp_path):
    from armature.dynamics.forces.bare_robot import movable

    text = "links:\n  - {joint: waist, kind: revolute, mass: 1, name: torso}\n"
    for side in ("left", "right"):
        for k in range(5):
            parent = "torso" if k == 0 else f"{side}{k - 1}"
            text += (
                f"  - {{joint: {side}_{k}, kind: revolute, axis: y, mass: 1, com: [0.1, 0, 0],"
                f" name: {side}{k}, parent: {parent}}}\n"
            )
    text += (
        "  - {joint: gripper_left, kind: revolute, mass: 0.1, com: [0.1, 0, 0], name: jaw, parent:"
        " left4}\n"
    )
    (tmp_path / "two_arms.yaml").write_text(text)
    robot = arm.load(tmp_path / "two_arms.yaml")
    assert movable(robot) == ["waist", "left_0", "left_1", "left_2", "left_3", "left_4"]
    assert run(["init", str(tmp_path / "new"), "--robot", str(tmp_path / "two_arms.yaml")]) == 0
    job = load_job(tmp_path / "new" / "task.yaml")
    assert list(job.robot.joint_names) == movable(robot) and len(job.robot.drives) == 6
    assert job.robot.joint("left_0").limits.acceleration == 10.0


def test_a_joint_that_is_held_does_not_lengthen_the_first_move(tmp_path):
    """A jaw that needs minutes for its range is held, and the arm's move is as long as without
    it."""
    link = (
        "  - {{joint: {0}, kind: revolute, axis: y, mass: 1, com: [0.1, 0, 0], name:"
        " {0}_link{1}}}\n"
    )
    arms = "links:\n" + link.format("lift", "") + link.format("elbow", ", offset: [0.3, 0, 0]")
    jaw = ", offset: [0.2, 0, 0], limits: {lower: 0, upper: 1, velocity: 0.01}"
    lengths = {}
    for name, text in (("bare", arms), ("jawed", arms + link.format("jaw", jaw))):
        (tmp_path / f"{name}.yaml").write_text(text)
        assert run(["init", str(tmp_path / name), "--robot", str(tmp_path / f"{name}.yaml")]) == 0
        job = load_job(tmp_path / name / "task.yaml")
        assert job.robot.joint_names == ("lift", "elbow")
        lengths[name] = job.task.duration
    assert lengths["jawed"] == lengths["bare"] < 10.0


def test_of_a_robot_with_a_hand_of_many_fingers_init_moves_the_arm(tmp_path):
    """Fingers with names that tell nothing, each of several joints: a plan moves what carries the
    hand."""
    link = (
        "  - {{joint: {0}, kind: revolute, axis: y, offset: [0.1, 0, 0], mass: 0.3, com: [0.05, 0,"
        " 0], name: {0}_link, parent: {1}}}\n"
    )
    names = ["base", *(f"axis_{k}" for k in range(6))]
    text = "links:\n" + "".join(
        link.format(b, a if a == "base" else f"{a}_link") for a, b in itertools.pairwise(names)
    )
    for f in "pqr":
        parent = "axis_5_link"
        for k in range(2):
            text += link.format(f"{f}{k}", parent)
            parent = f"{f}{k}_link"
    (tmp_path / "hand.yaml").write_text(text)
    assert run(["init", str(tmp_path / "new"), "--robot", str(tmp_path / "hand.yaml")]) == 0
    assert load_job(tmp_path / "new" / "task.yaml").robot.joint_names == tuple(names[1:])


def test_init_moves_a_robot_above_the_floor_that_it_stands_on(tmp_path):
    """With all joints at 0 this arm lies stretched out near the floor, as many arms of vendors do;
    link by link by its own kinematics."""
    text = (
        "links:\n  - {joint: turn, kind: revolute, axis: z, offset: [0, 0, 0.15], mass: 4, com: [0,"
        " 0, 0.05], name: column}\n"
    )
    text += "  - {joint: lift, kind: revolute, axis: y, mass: 3, com: [0.2, 0, 0], name: upper}\n"
    text += (
        "  - {joint: elbow, kind: revolute, axis: y, offset: [0.45, 0, 0], mass: 2, com: [0.2, 0,"
        " 0], name: fore}\n"
    )
    text += (
        "  - {joint: wrist, kind: revolute, axis: y, offset: [0.4, 0, 0], mass: 0.5, com: [0.05, 0,"
        " 0], name: hand}\n"
    )
    (tmp_path / "flat.yaml").write_text(text)
    assert run(["init", str(tmp_path / "new"), "--robot", str(tmp_path / "flat.yaml")]) == 0
    job = load_job(tmp_path / "new" / "task.yaml")
    ends = job.task.vectors(job.robot)
    for q in (ends.q0, ends.q1):
        assert link_poses(job.robot, q).p[:, 2].min() >= 0.0


def test_init_writes_limits_where_the_robot_s_file_has_zeros(tmp_path, capsys):
    text = (
        "links:\n  - {joint: a, kind: revolute, axis: y, mass: 1, limits: {lower: -2, upper: 2,"
        " velocity: 2, torque: 0}}\n"
    )
    text += (
        "  - {joint: b, kind: prismatic, mass: 1, limits: {lower: -1, upper: 1, velocity: 0,"
        " acceleration: 5}}\n"
    )
    (tmp_path / "zeros.yaml").write_text(text)
    assert run(["init", str(tmp_path / "new"), "--robot", str(tmp_path / "zeros.yaml")]) == 0
    limits = [
        load_job(tmp_path / "new" / "task.yaml").robot.joint(name).limits for name in ("a", "b")
    ]
    assert (
        limits[0].torque == float("inf")
        and limits[0].velocity == 2.0
        and limits[0].acceleration == 10.0
    )
    assert limits[1].velocity == 0.5 and limits[1].acceleration == 5.0


def test_a_robot_on_a_planar_joint_is_refused_by_name(tmp_path, capsys):
    text = (
        "links:\n  - {joint: drive, kind: planar, mass: 10}\n  - {joint: a, kind: revolute, axis:"
        " y, mass: 1, com: [0.1, 0, 0]}\n"
    )
    (tmp_path / "mobile.yaml").write_text(text)
    assert run(["init", str(tmp_path / "new"), "--robot", str(tmp_path / "mobile.yaml")]) == 2
    assert "joint 'drive' is planar" in capsys.readouterr().err and not (tmp_path / "new").exists()


def test_ranges_of_zero_are_reported_and_init_writes_others(tmp_path, capsys):
    """A joint that turns from 0 to 0 (as exporters write it) is given a turn; a slide of one place
    is held."""
    link = "mass: 1, com: [0, 0, 0.2]"
    text = (
        f"links:\n  - {{joint: a, kind: revolute, axis: y, {link}, limits: {{lower: 0, upper:"
        " 0}}\n"
    )
    text += (
        f"  - {{joint: b, kind: revolute, axis: y, offset: [0, 0, 0.4], {link}, limits: {{lower:"
        " -1, upper: 1}}\n"
    )
    text += (
        f"  - {{joint: c, kind: prismatic, axis: z, {link}, limits: {{lower: 0.1, upper: 0.1}}}}\n"
    )
    (tmp_path / "zeros.yaml").write_text(text)
    assert run(["check", str(tmp_path / "zeros.yaml")]) == 0
    assert "ranges that are 0: a;" in capsys.readouterr().out
    assert run(["init", str(tmp_path / "new"), "--robot", str(tmp_path / "zeros.yaml")]) == 0
    job = load_job(tmp_path / "new" / "task.yaml")
    ends = job.task.vectors(job.robot)
    assert job.robot.joint_names == ("a", "b") and job.robot.joint(
        "a"
    ).limits.upper == pytest.approx(np.pi)
    assert np.all(np.abs(ends.q1 - ends.q0) > 0.1)


def test_limits_of_zero_are_said_once_by_check_and_not_by_plans_that_set_them(tmp_path, capsys):
    link = "kind: revolute, axis: y, mass: 1, com: [0.1, 0, 0]"
    limits = "limits: {lower: -2, upper: 2, velocity: 2, torque: 0}"
    text = "links:\n" + "".join(f"  - {{joint: {name}, {link}, {limits}}}\n" for name in "ab")
    (tmp_path / "zeros.yaml").write_text(text)
    assert run(["check", str(tmp_path / "zeros.yaml")]) == 0
    said, warned = capsys.readouterr()
    assert (said + warned).count("limits of torque that are 0: a, b") == 1 and "warnings: 1" in said
    assert run(["init", str(tmp_path / "new"), "--robot", str(tmp_path / "zeros.yaml")]) == 0
    assert run(["check", str(tmp_path / "new" / "task.yaml")]) == 0
    assert "that are 0" not in "".join(capsys.readouterr())


def test_the_first_move_lasts_as_long_as_weak_drives_need(tmp_path):
    """A weak motor of the robot's own: the joint cubic in the written duration keeps its limits."""
    from armature.cli.starter import duration, ends

    strong = arm.library("planar2")
    weak = strong.with_limits({name: {"velocity": 0.2} for name in strong.joint_names})
    start, goal = ends(weak)
    T = duration(weak, start, goal)
    assert duration(strong, *ends(strong)) == 2.0 < T
    peak = 1.5 * max(abs(b - a) for a, b in zip(start, goal)) / T  # rad/s of a cubic
    assert peak <= 0.2

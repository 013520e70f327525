"""The state of one browser, without a browser."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.dynamics.forces.stand_in import has_stand_ins, with_stand_ins
from armature.dynamics.kernels import fingerprint
from armature.errors import ArmatureError, FileError
from armature.robot.load import mjcf
from armature.web import charts, pictures, words
from armature.web.exports import EXPORTS, export
from armature.web.opening import opened
from armature.web.reader import read_upload
from armature.web.session import Session
from armature.web.upload import MOST_ROBOT, uploaded
from armature.web.wish import first_wish, hand, ranges, with_payload

ROBOT = arm.library("planar2")


@pytest.fixture(scope="module")
def plan():
    return first_wish(arm.library("planar2")).job(30).run()


@pytest.mark.parametrize("name", arm.library())
def test_every_built_in_robot_opens_with_a_plan(name):
    wish = first_wish(arm.library(name))
    low, high = ranges(wish.robot)
    assert (
        np.all(low <= wish.start)
        and np.all(wish.start <= high)
        and np.all(low <= wish.goal)
        and np.all(wish.goal <= high)
    )
    assert not np.allclose(wish.start, wish.goal)
    assert wish.job(30).run().ok


def test_drag_brings_the_hand_there_on_the_same_branch():
    session = Session(first_wish(arm.library("six_axis")))
    before = session.wish.goal
    where = session.where("goal")
    for step in np.linspace(0.01, 0.08, 5):  # as a mouse does, bit by bit
        assert session.reach("goal", where.R, where.p + [0.0, 0.0, step]) == ""
    now = arm.pose(session.robot, session.wish.goal, hand(session.robot))
    np.testing.assert_allclose(now.p, where.p + [0.0, 0.0, 0.08], atol=1e-8)
    np.testing.assert_allclose(now.R, where.R, atol=1e-8)
    assert np.abs(session.wish.goal - before).max() < 0.6


def test_drag_out_of_reach_says_so_and_does_not_jump():
    session = Session(first_wish(arm.library("six_axis")))
    before = session.wish.goal
    where = session.where("goal")
    assert "cannot get there" in session.reach("goal", where.R, where.p * 5.0)
    assert np.abs(session.wish.goal - before).max() <= 1.2


def test_hand_of_a_simple_arm_is_dragged_by_its_place_alone():
    session = Session(first_wish(arm.library("burgevin")))
    where = session.where("start")
    assert session.reach("start", np.eye(3), where.p + [0.02, 0.01, 0.0]) == ""
    np.testing.assert_allclose(session.where("start").p, where.p + [0.02, 0.01, 0.0], atol=1e-8)


def test_curve_of_another_move_is_forgotten_and_that_of_another_duration_kept():
    session = Session(first_wish(arm.library("planar2")))
    session.curve = session.least = 1.0  # type: ignore[assignment]
    assert session.change(duration=2.0) and session.curve == 1.0
    assert not session.change(duration=2.0)
    assert session.change(payload=1.0) and session.curve is None and session.least is None


def test_payload_is_at_the_hand_and_its_robot_is_made_once():
    robot = arm.library("six_axis")
    heavy = with_payload(robot, 2.0)
    assert heavy is with_payload(robot, 2.0) and heavy.mass == pytest.approx(robot.mass + 2.0)
    assert with_payload(robot, 0.0) == robot and fingerprint(
        with_payload(robot, 0.0)
    ) == fingerprint(heavy)


# files -------------------------------------------------------------------------------------------


def test_a_name_a_robot_file_a_plan_and_a_folder_are_opened(tmp_path, plan):
    assert opened().wish.robot.name == "six_axis"
    assert opened("scara").wish.robot.name == "scara"
    arm.library("scara").save(tmp_path / "mine.yaml")
    assert opened(str(tmp_path / "mine.yaml")).mesh_folders == (tmp_path,)
    for name in ("plan.npz", "plan.json", "folder"):
        plan.save(tmp_path / name)
        session = opened(str(tmp_path / name)).session()
        assert not session.planning and session.plan.energy == plan.energy
        np.testing.assert_array_equal(session.wish.goal, plan.trajectory.q[-1])


def test_uploads_are_robots_and_plans_of_moderate_size(tmp_path, plan):
    text = arm.library("scara").to_yaml().encode()
    assert uploaded("my robot.yaml", text, ROBOT).robot.name == "scara"
    plan.save(tmp_path / "p.npz")
    assert uploaded("x.npz", (tmp_path / "p.npz").read_bytes(), ROBOT).plan.energy == plan.energy
    with pytest.raises(FileError, match="at most 2 MB"):
        uploaded("big.yaml", text + b"#" * MOST_ROBOT, ROBOT)
    # kinds that make other files be read (xacro) or run code are not taken
    for name in ("a.xacro", "a.py", "a.pkl", "a", "../../a.exe", "a.urdf.zip"):
        with pytest.raises(FileError, match="is not taken"):
            uploaded(name, text, ROBOT)


MJCF = """<mujoco model="pendulum"><worldbody><body name="bob"><joint name="swing" axis="0 1 0" range="-90 90"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1.5"/></body></worldbody>{}</mujoco>"""


def test_mjcf_is_taken_and_gets_stand_in_drives():
    robot = uploaded("pendulum.xml", MJCF.format("").encode(), ROBOT).robot
    assert robot.name == "pendulum" and robot.joint_names == ("swing",) and has_stand_ins(robot)
    assert robot.mass == pytest.approx(1.5)
    assert (
        uploaded("mine.xml", URDF.encode(), ROBOT).robot.name == "mine"
    )  # a URDF may be called .xml, too


@pytest.mark.parametrize(
    "part",
    [
        '<include file="/etc/passwd"/>',
        '<asset><mesh name="m" file="../m.stl"/></asset>',
        '<asset><texture name="t" type="cube" fileright="/etc/passwd"/></asset>',
        '<asset><hfield name="h" file="/dev/zero"/></asset>',
        '<asset><model name="m" file="m.xml"/></asset>',
        '<extension><plugin plugin="mujoco.elasticity.cable"/></extension>',
    ],
)
def test_mjcf_that_makes_other_files_be_read_is_refused_before_mujoco_sees_it(
    part, monkeypatch, tmp_path
):
    with pytest.raises(FileError, match="an upload cannot bring other files along"):
        uploaded("a.xml", MJCF.format(part).encode(), ROBOT)
    # what the process for uploads does, done here, where MuJoCo can be replaced
    monkeypatch.setattr(mjcf, "_compiled", lambda path: pytest.fail("MuJoCo has seen it"))
    (tmp_path / "a.xml").write_text(MJCF.format(part))
    with pytest.raises(FileError, match="an upload cannot bring other files along"):
        read_upload(str(tmp_path / "a.xml"), ROBOT.to_yaml())


def test_mjcf_is_given_to_mujoco_as_it_was_checked_here(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(
        mjcf, "_compiled", lambda path: seen.append(Path(path).read_bytes()) or 1 / 0
    )
    (tmp_path / "a.xml").write_text(MJCF.format('<!-- <include file="x"/> --><?include file="x"?>'))
    with pytest.raises(ZeroDivisionError):
        read_upload(str(tmp_path / "a.xml"), ROBOT.to_yaml())
    assert b"include" not in seen[0]


def test_uploaded_name_is_no_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        uploaded(
            "../../../../etc/robot.yaml", arm.library("scara").to_yaml().encode(), ROBOT
        ).robot.name
        == "scara"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff" * 50, b"links: [", b"<robot", b"{}", b"armature: 1\nlinks: 3"]
)
@pytest.mark.parametrize("suffix", ["urdf", "xml", "yaml", "json", "npz"])
def test_broken_uploads_are_refused_with_words(content, suffix):
    with pytest.raises(ArmatureError):
        uploaded(f"a.{suffix}", content, ROBOT)


@pytest.mark.parametrize("kind", EXPORTS)
def test_everything_that_the_command_line_writes_can_be_downloaded(plan, kind):
    if "temperature" in kind and not plan.ledger.heating:
        pytest.fail("the motors of the test robot have no thermal data")
    name, content = export(plan, kind)
    assert name.endswith(kind[kind.rindex("(") + 1 : -1]) and len(content) > 300


def test_downloads_of_the_motion_read_back(plan, tmp_path):
    for kind in EXPORTS:
        name, content = export(plan, kind) if kind.startswith("Motion") else ("", b"")
        if name:
            (tmp_path / name).write_bytes(content)
            np.testing.assert_allclose(
                arm.motion.load_trajectory(tmp_path / name).q, plan.trajectory.q, atol=1e-9
            )


# words and pictures ------------------------------------------------------------------------------


def test_card_says_what_it_costs_what_it_saves_and_whether_it_is_proved(plan):
    session = Session(first_wish(arm.library("planar2")), plan=plan)
    assert f"{plan.losses:.3g} J" in words.card(session, "") and "Not yet proved" in words.card(
        session, ""
    )
    session.certified = True
    text = words.card(session, "drawing …")
    assert "Proved" in text and "drawing …" in text and ("% less" in text or "as much" in text)


def test_too_short_a_time_is_refused_with_the_button_that_helps():
    wish = first_wish(arm.library("planar2"))
    refused = arm.minimize_energy(wish.robot, arm.Move(wish.start, wish.goal, 0.05), knots=30)
    session = Session(wish, plan=refused, least=0.3)
    label, what, value = words.remedy(session)
    assert what == "duration" and label == f"Use {value:g} s"
    assert "armature-refusal" in words.card(session, "")
    assert arm.minimize_energy(wish.robot, arm.Move(wish.start, wish.goal, value), knots=30).ok


def test_way_that_cannot_be_gone_is_left_free_by_a_button():
    session = Session(
        replace(first_wish(arm.library("scara")), way="arc"), problem="The hand does not get there."
    )
    assert words.remedy(session) == ("Leave the way free", "way", "free")
    assert session.change(way="free") and words.remedy(session) is None


def test_words_from_files_cannot_become_markup(plan):
    session = Session(first_wish(arm.library("planar2")), plan=plan)
    session.problem = "<script>alert(1)</script>"
    assert "<script" not in words.card(session, "<img src=x>") and "<img" not in words.card(
        session, "<img src=x>"
    )
    chart = charts.Chart("<b>", "<i>", "<u>")
    chart.line(np.arange(3.0), np.arange(3.0), "#000", label="<s>")
    assert not any(f"<{tag}>" in chart.svg() for tag in "bius")


def test_charts_put_values_where_they_belong():
    chart = charts.Chart("", "", "")
    chart.line(np.array([0.0, 10.0]), np.array([0.0, 1.0]), "#123456")
    left, right, top, bottom = chart.frame()
    x0, x1, y0, y1 = chart.limits()
    assert (x0, x1) == (0.0, 10.0) and y0 < 0.0 and y1 > 1.0
    y = lambda v: bottom - (v - y0) / (y1 - y0) * (bottom - top)
    assert f'd="M{left:.1f},{y(0):.1f} {right:.1f},{y(1):.1f}"' in chart.svg()


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1), (-3, 7), (0.961, 3.84), (-1e-6, 1e-6), (1e4, 5e5), (-2, -1)]
)
def test_ticks_are_few_round_numbers_within_the_range(low, high):
    ticks = charts.nice(low, high, 5)
    assert 2 <= len(ticks) <= 7 and low - 1e-12 <= min(ticks) and max(ticks) <= high + 1e-12
    steps = np.diff(ticks)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-6)


def test_lines_break_where_values_are_missing():
    x, y = np.arange(6.0), np.array([1, 2, np.nan, 3, 4, np.nan])
    assert [len(a) for a, _ in charts.runs(x, y)] == [2, 2]


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["finger_base_to_upper_joint", "finger_middle_joint"], ["base_to_upper", "middle"]),
        (["left_arm_of_robot_joint_1", "left_arm_of_robot_joint_2"], ["joint_1", "joint_2"]),
        (["pan", "lift"], ["pan", "lift"]),
        (["a_single_very_long_name_of_a_joint"], ["a_single_very_long_name_of_a_joint"]),
    ],
)
def test_long_names_lose_the_words_that_all_of_them_share(names, shown):
    assert pictures.told_apart(names) == shown


def test_pictures_of_a_plan_are_drawn_from_its_numbers(plan):
    assert pictures.graf(plan).count("<svg") == len(plan.robot.drives)
    assert pictures.power(plan).count("<svg") == 2 and pictures.torque(plan).count("<svg") == 3
    assert f"{plan.ledger.copper:.3g} J" in pictures.ledger(plan)


URDF = """<robot name="mine"><link name="base"/><link name="limb"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
<inertia ixx="0.02" iyy="0.06" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="limb"/><axis xyz="0 1 0"/>
<limit lower="-1.5" upper="1.5" velocity="2" effort="60"/></joint></robot>"""


def test_uploaded_robot_without_drives_gets_stand_ins_and_then_its_own():
    robot = uploaded("mine.urdf", URDF.encode(), ROBOT).robot
    assert has_stand_ins(robot) and first_wish(robot).job(20).run().ok
    mine = (
        b"drives:\n  turn: {motor: {like: torque-48v-joint-l}, gear: {ratio: 50}, amplifier:"
        b" {voltage: 48 V}}\n"
    )
    own = uploaded("drives.yaml", mine, robot).robot
    assert (
        own.name == "mine"
        and not has_stand_ins(own)
        and own.drivetrain.drives[0].gear.ratio == 50.0
    )


def test_built_in_robots_keep_their_drives():
    for name in arm.library():
        assert with_stand_ins(arm.library(name)) is arm.library(name) and not has_stand_ins(
            arm.library(name)
        )


# changes, via points, a pinned plan --------------------------------------------------------------


def test_undo_goes_back_through_changes_and_redo_forward_again():
    session = Session(first_wish(arm.library("planar2")))
    first = session.wish
    session.change(duration=2.0)
    session.change(payload=1.0)
    assert session.undo() and (session.wish.duration, session.wish.payload) == (2.0, 0.0)
    assert session.undo() and session.wish is first and not session.undo()
    assert session.redo() and session.redo() and session.wish.payload == 1.0 and not session.redo()
    session.undo()
    session.change(duration=3.0)  # what was undone is forgotten then
    assert not session.redo()


def test_one_drag_is_undone_at_once_and_the_next_one_by_itself(monkeypatch):
    session = Session(first_wish(arm.library("planar2")))
    now = [100.0]
    monkeypatch.setattr("armature.web.session.time.monotonic", lambda: now[0])
    for k in range(10):
        now[0] += 0.1
        session.change(duration=1.0 + 0.1 * k)
    now[0] += 5.0
    session.change(duration=3.0)
    session.undo()
    assert session.wish.duration == 1.9
    session.undo()
    assert session.wish.duration == first_wish(arm.library("planar2")).duration


def test_undo_brings_back_the_robot_that_was_replaced():
    session = Session(first_wish(arm.library("planar2")))
    session.take(arm.library("scara"))
    assert session.robot.name == "scara" and session.undo() and session.robot.name == "planar2"
    assert session.plan is None and session.planning


def test_via_points_are_added_in_order_of_time_passed_moved_and_deleted(plan):
    session = Session(first_wish(arm.library("planar2")), plan=plan)
    T = plan.duration
    assert session.add_via(0.7 * T) == "" and session.add_via(0.3 * T) == ""
    early, late = session.wish.via
    np.testing.assert_allclose(early, plan.trajectory(0.3 * T).q)
    np.testing.assert_allclose(late, plan.trajectory(0.7 * T).q)
    assert "already" in session.add_via(0.3 * T)
    moved = early + [0.1, -0.1]
    session.change_to(session.wish.moved("via 1", moved), "via 1")
    found = session.wish.job(40).run()
    assert found.ok
    assert (
        np.abs(found.trajectory(np.linspace(0.0, found.duration, 2000)).q - moved)
        .max(axis=-1)
        .min()
        < 0.01
    )
    session.change_to(session.wish.without_via("via 1"), "")
    assert len(session.wish.via) == 1 and np.array_equal(session.wish.via[0], late)
    session.undo()
    np.testing.assert_array_equal(session.wish.via[0], moved)


def test_hand_at_a_via_point_is_dragged():
    session = Session(first_wish(arm.library("burgevin")))
    session.change_to(session.wish.with_via(0, (session.wish.start + session.wish.goal) / 2), "")
    where = session.where("via 1")
    assert session.reach("via 1", np.eye(3), where.p + [0.02, 0.01, 0.0]) == ""
    np.testing.assert_allclose(session.where("via 1").p, where.p + [0.02, 0.01, 0.0], atol=1e-8)


def test_pinned_plan_is_compared_number_by_number(plan):
    session = Session(first_wish(arm.library("planar2")), plan=plan)
    session.pin()
    session.plan = (
        replace(first_wish(arm.library("planar2")), duration=2 * plan.duration).job(30).run()
    )
    text = words.card(session, "")
    assert (
        "pinned" in text
        and f"<b>{plan.energy:.4g}</b> J" in text
        and f"<b>{session.plan.energy:.4g}</b> J" in text
    )
    assert f"<b>{plan.duration:.4g}</b> s" in text and "+100.0 %" in text


def test_nothing_can_be_pinned_before_the_first_plan():
    with pytest.raises(ArmatureError, match="no motion to pin"):
        Session(first_wish(arm.library("planar2"))).pin()


@pytest.mark.parametrize("name", ["planar2", "six_axis", "scara", "seven_axis"])
def test_first_move_of_an_unknown_arm_moves_every_joint_and_stays_as_high_as_it_can(name):
    robot = replace(arm.library(name), name="unknown")
    wish = first_wish(robot)
    low, high = ranges(robot)
    assert (
        np.all(wish.start >= low)
        and np.all(wish.goal <= high)
        and np.all(np.abs(wish.goal - wish.start) > 1e-3)
    )
    if name == "six_axis":  # before, this one began below the floor
        links = [
            arm.pose(robot, q, link.name).p[2]
            for q in (wish.start, wish.goal)
            for link in robot.links
        ]
        assert min(links) >= 0.0


BARE = URDF.replace(
    'lower="-1.5" upper="1.5" velocity="2" effort="60"',
    'lower="0" upper="0" velocity="0" effort="0"',
)


def test_app_and_init_take_the_same_limits_for_placeholders_of_a_bare_file(tmp_path):
    (tmp_path / "bare.urdf").write_text(BARE)
    in_app = opened(str(tmp_path / "bare.urdf")).wish
    by_init = load_job_of_init(tmp_path)
    for name in in_app.robot.joint_names:
        mine, theirs = in_app.robot.joint(name).limits, by_init.joint(name).limits
        for limit in ("lower", "upper", "velocity", "torque"):
            assert getattr(mine, limit) == pytest.approx(getattr(theirs, limit)), limit
        assert mine.velocity > 0 and mine.upper > mine.lower and mine.torque > 0
    assert in_app.remarks and in_app.job(20).run().ok


def load_job_of_init(folder):
    from armature.cli.main import run
    from armature.job.job_file import load_job

    assert run(["init", str(folder), "--robot", str(folder / "bare.urdf")]) == 0
    return load_job(folder / "task.yaml").robot

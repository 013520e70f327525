"""Obstacles in the app: added, moved, resized, deleted, undone; the plan goes round them."""

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.robot import frames
from armature.scene.scene import Scene
from armature.web import pictures, words
from armature.web.exports import OBSTACLES, export
from armature.web.opening import opened
from armature.web.planner import draft
from armature.web.session import Session
from armature.web.space.obstacles import shape_of
from armature.web.upload import uploaded
from armature.web.wish import Wish

ROBOT = arm.library("planar2")
WISH = Wish(ROBOT, np.array([-0.9, 0.2]), np.array([0.9, 0.2]), 1.5, floor=None)
LAMP = Scene().with_sphere("lamp", 0.1, (0.2, 0.0, -1.98))
QUIET = lambda iteration: None


def test_a_new_obstacle_is_clear_of_start_and_goal_and_picked_and_undone():
    session = Session(WISH)
    assert session.add_obstacle("box", np.array([0.0, 0.0, -1.9]), 1.0)
    assert session.add_obstacle("box", np.array([0.0, 0.0, -1.9]), 1.0)
    assert session.wish.scene.names == ("box 1", "box 2") and session.picked == "box 2"
    ends = np.array([WISH.start, WISH.goal])
    hits = arm.collisions(ROBOT, session.wish.scene, ends)
    assert not any("box 1" in hit for hit in hits)
    session.undo()
    assert session.wish.scene.names == ("box 1",)
    assert session.delete_obstacle("box 1") and session.wish.scene is None
    assert not session.delete_obstacle("box 1")


def test_an_obstacle_is_moved_turned_and_resized():
    session = Session(replace(WISH, scene=Scene().with_box("b", (0.1, 0.2, 0.3), (1, 0, 0))))
    R = np.array(frames.from_rpy(0.1, 0.2, 0.3))
    assert session.change_obstacle("b", {"position": (0.5, 0.1, 0.2), "rotation": R})
    assert session.change_obstacle("b", {"size": (0.2, 0.2, 0.2), "margin": 0.01})
    (box,) = session.wish.scene.obstacles
    assert box.size == (0.2, 0.2, 0.2) and box.margin == 0.01 and box.position == (0.5, 0.1, 0.2)
    np.testing.assert_allclose(box.rotation, R, atol=1e-12)
    assert not session.change_obstacle("b", {"size": (0.2, 0.2, 0.2)})  # as it is
    with pytest.raises(arm.ArmatureError, match="above 0"):
        session.change_obstacle("b", {"size": (0.0, 0.2, 0.2)})


def test_shapes_of_one_object_move_together_as_a_rigid_body():
    shelf = Scene().with_box("shelf", (1, 1, 0.1), (0, 0, 1)).with_sphere("ball", 0.1, (0, 0, 2))
    shelf = Scene((*shelf.obstacles, replace(shelf.obstacles[1], name="shelf")))
    moved = shelf.moved("shelf", (1.0, 2.0, 3.0), (0.3, -0.2, 0.5))
    places = lambda scene: np.array([o.position for o in scene.obstacles if o.name == "shelf"])
    apart = lambda scene: np.linalg.norm(np.diff(places(scene), axis=0))
    assert apart(moved) == pytest.approx(apart(shelf))
    np.testing.assert_allclose(places(moved)[0], [1.0, 2.0, 3.0])
    assert moved.obstacles[1] == shelf.obstacles[1]  # others stay
    with pytest.raises(arm.ArmatureError, match="several shapes"):
        moved.resized("shelf", (1, 1, 1))


def test_a_scene_comes_back_from_its_own_text(tmp_path):
    scene = (
        Scene()
        .with_box("table", (1.2, 0.8, 0.05), (0.6, 0.0, -0.03), (0.1, 0.2, -0.3), margin=0.01)
        .with_sphere("lamp", 0.1, (0.3, 0.3, 0.8))
        .with_cylinder("post", 0.05, 1.0, (0.4, 0.4, 0.5))
        .with_half_space("wall", (-1, 0, 0), (0, np.pi / 2, 0))
        .with_hull("wedge", [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        .with_box("part", (0.1, 0.1, 0.1), link="tool")
        .allowing(("tool", "part"))
    )
    (tmp_path / "scene.yaml").write_text(scene.to_yaml())
    again = Scene.load(tmp_path / "scene.yaml")
    assert again.names == scene.names and again.allowed == scene.allowed
    for a, b in zip(again.obstacles, scene.obstacles):
        assert (a.shape, a.size, a.margin, a.link, a.points) == (
            b.shape,
            b.size,
            b.margin,
            b.link,
            b.points,
        )
        np.testing.assert_allclose(a.rotation, b.rotation, atol=1e-12)
        np.testing.assert_allclose(a.position, b.position, atol=1e-12)


def test_the_plan_goes_round_an_obstacle_in_its_way_and_the_page_says_so():
    free = draft(WISH, None, QUIET)
    assert arm.clearance(ROBOT, LAMP, free.trajectory).clearance < 0.0  # it is in the way
    wish = replace(WISH, scene=LAMP)
    plan = draft(wish, free.trajectory, QUIET)
    assert plan.ok
    q = plan.trajectory(np.linspace(0.0, plan.duration, 2000)).q
    assert arm.distance(ROBOT, LAMP, q).least.min() > 0.0  # by samples, apart from the proof
    session = Session(wish, plan=plan, certified=True)
    assert "free at every instant" in words.card(session, "")
    assert "lamp" in pictures.clearance(plan)
    assert "without obstacles" in pictures.curve(None, None, plan, wish, "")
    name, content = export(plan, OBSTACLES, wish.scene)
    assert name == "scene.yaml" and b"lamp" in content
    assert "add some" in pictures.clearance(free)


@pytest.mark.parametrize("name", ["six_axis", "seven_axis", "planar2", "valasek", "burgevin"])
def test_first_moves_of_built_in_arms_do_not_touch_themselves(name):
    wish = opened(name).wish
    assert not arm.collisions(wish.loaded, Scene(), np.array([wish.start, wish.goal]))


def test_a_goal_at_which_the_arm_meets_itself_is_refused_with_the_pair():
    wish = opened("six_axis").wish
    folded = np.array([0.0, -1.5, 2.75, 0.0, 1.5, 0.0])
    (hit, *_) = arm.collisions(wish.loaded, LAMP, folded[None])
    plan = draft(replace(wish, scene=LAMP, goal=folded), None, QUIET)
    assert not plan.ok
    assert hit.first in str(plan.diagnosis) and hit.second in str(plan.diagnosis)


def test_scene_files_are_opened_by_upload_by_option_and_from_a_task(tmp_path):
    text = "objects:\n  lamp: {sphere: 0.1, position: [0.2, 0, -1.98]}\n"
    assert uploaded("scene.yaml", text.encode(), ROBOT).scene == LAMP
    (tmp_path / "scene.yaml").write_text(text)
    assert opened("planar2", scene=tmp_path / "scene.yaml").wish.scene == LAMP
    (tmp_path / "task.yaml").write_text(
        "robot: planar2\nmove: {start: [-0.9, 0.2], goal: [0.9, 0.2], duration: 1.5 s}\n"
        "scene: scene.yaml\n"
    )
    assert opened(str(tmp_path / "task.yaml")).wish.scene == LAMP


@pytest.mark.parametrize("o", range(4))
def test_drawn_shapes_have_the_extent_of_the_obstacle(o):
    scene = (
        Scene()
        .with_box("a", (0.1, 0.2, 0.3))
        .with_sphere("b", 0.2)
        .with_cylinder("c", 0.1, 0.5)
        .with_hull("d", [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    )
    expected = ((0.1, 0.2, 0.3), (0.4, 0.4, 0.4), (0.2, 0.2, 0.5), (1, 1, 1))[o]
    shape = shape_of(scene.obstacles[o], 1.0)
    np.testing.assert_allclose(np.ptp(shape.vertices, axis=0), expected, rtol=0.03)

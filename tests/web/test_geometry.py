"""Shapes of links, and that a path in a robot's file never leads out of the folders given."""

import numpy as np
import pytest
import trimesh

import armature as arm
from armature.dynamics.compiled import link_poses
from armature.web.space.geometry import inside, joined, shapes

URDF = """<robot name="one"><link name="base"/><link name="limb"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.5"/><geometry><mesh filename="{}" scale="2 2 2"/></geometry></visual></link>
<joint name="turn" type="revolute"><parent link="base"/><child link="limb"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" velocity="1" effort="10"/></joint></robot>"""


@pytest.fixture
def folder(tmp_path):
    """given/meshes/box.stl, and a secret mesh outside."""
    (tmp_path / "given" / "meshes").mkdir(parents=True)
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "given" / "meshes" / "box.stl")
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "secret.stl")
    (tmp_path / "given" / "out.stl").symlink_to(tmp_path / "secret.stl")
    return tmp_path / "given"


@pytest.mark.parametrize(
    "name", ["meshes/box.stl", "package://arm/meshes/box.stl", "package://meshes/box.stl"]
)
def test_meshes_are_found_in_the_folders_given(folder, name):
    assert inside(name, [folder]) == (folder / "meshes" / "box.stl").resolve()


@pytest.mark.parametrize(
    "name",
    [
        "../secret.stl",
        "meshes/../../secret.stl",
        "package://../secret.stl",
        "package://arm/../../secret.stl",
        "{out}/secret.stl",
        "file://{out}/secret.stl",
        "..\\secret.stl",
        "out.stl",
        "http://example.org/a.stl",
        "package://http://a/b.stl",
        "",
        "/",
        ".",
        "/etc/passwd",
        "package:///etc/passwd",
        "file:///etc/passwd",
    ],
)
def test_no_path_leads_out_of_the_folders(folder, name):
    assert inside(name.format(out=folder.parent), [folder]) is None


def test_mesh_is_scaled_and_placed_as_its_file_says(folder):
    (folder / "one.urdf").write_text(URDF.format("meshes/box.stl"))
    found, notes = shapes(arm.load(folder / "one.urdf"), [folder])
    (shape,) = found["limb"]
    assert notes == []
    np.testing.assert_allclose(
        [shape.vertices.min(0), shape.vertices.max(0)], [[-1, -1, -0.5], [1, 1, 1.5]]
    )


@pytest.mark.parametrize("name", ["../secret.stl", "meshes/none.stl", "one.urdf"])
def test_robot_is_drawn_from_its_joints_where_a_mesh_cannot_be_read(folder, name):
    (folder / "one.urdf").write_text(URDF.format(name))
    found, notes = shapes(arm.load(folder / "one.urdf"), [folder])
    assert len(notes) == 1 and name in notes[0]
    assert found["limb"]


def test_broken_mesh_is_a_note_and_not_an_error(folder):
    (folder / "meshes" / "broken.stl").write_bytes(b"solid nothing\nfacet")
    (folder / "one.urdf").write_text(URDF.format("meshes/broken.stl"))
    _, notes = shapes(arm.load(folder / "one.urdf"), [folder])
    assert "broken.stl" in notes[0]


@pytest.mark.parametrize("name", arm.library())
def test_limbs_reach_from_joint_to_joint(name):
    robot = arm.library(name)
    found, _ = shapes(robot, [])
    q = np.full(robot.nq, 0.3)
    poses = link_poses(robot, q)
    index = {link.name: k for k, link in enumerate(robot.links)}
    for joint in robot.joints:
        if joint.kind == "prismatic" or np.linalg.norm(joint.position) < 1e-6:
            continue
        vertices = np.concatenate([shape.vertices for shape in found[joint.parent]])
        assert np.all(np.isfinite(vertices))
        # the drawing of the parent surrounds the place where the child is joined
        k = index[joint.parent]
        world = vertices @ poses.R[k].T + poses.p[k]
        assert np.linalg.norm(world - poses.p[index[joint.child]], axis=1).min() < 0.1


def test_poses_of_all_links_are_those_of_each():
    robot = arm.library("six_axis")
    q = np.random.default_rng(1).uniform(-1, 1, (4, robot.n))
    together = link_poses(robot, q)
    for k, link in enumerate(robot.links):
        one = arm.pose(robot, q, link.name)
        np.testing.assert_allclose(together.R[:, k], one.R, atol=1e-14)
        np.testing.assert_allclose(together.p[:, k], one.p, atol=1e-14)


def test_joined_shapes_are_the_same_triangles():
    parts = shapes(arm.library("six_axis"), [])[0]["upper_arm"]
    triangles = lambda group: np.concatenate([s.vertices[s.faces] for s in group])
    (one,) = joined(parts, (1.0, 0.0, 0.0))
    np.testing.assert_array_equal(triangles([one]), triangles(parts))
    assert {s.colour for s in joined(parts)} == {s.colour for s in parts} and len(
        joined(parts)
    ) <= len(parts)

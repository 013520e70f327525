"""Covers of links contain their shapes; tools and payloads are what a mechanic would say they
are."""

import struct
from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.plot.meshes import inside
from armature.robot.cover import cover, fitted
from armature.robot.load.packages import mesh_folders
from armature.robot.shape import Visual
from armature.scene.floor import part_height, watched

URDF = """<robot name="arm"><link name="base"><collision><geometry><cylinder radius="0.1" length="0.2"/></geometry></collision></link>
<link name="upper"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.1 0 0" rpy="0 1.2 0"/>
<geometry><mesh filename="package://things/part.stl" scale="0.5 1 1"/></geometry></collision></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/></joint></robot>"""


def turned(rng: np.random.Generator) -> np.ndarray:
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return Q * np.sign(np.linalg.det(Q))


def surface(shape: Visual, rng: np.random.Generator) -> np.ndarray:
    """Points of a shape's surface, in its own frame."""
    u = rng.normal(size=(20000, 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    if shape.shape == "box":
        return np.array(shape.size) / 2 * np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T
    if shape.shape == "sphere":
        return shape.size[0] * u
    if shape.shape == "capsule":
        return np.concatenate(
            [shape.size[0] * u + [0, 0, side * shape.size[1] / 2] for side in (-1, 1)]
        )
    angle = np.linspace(0, 2 * np.pi, 4001)
    ring = shape.size[0] * np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    return np.concatenate([ring + [0, 0, side * shape.size[1] / 2] for side in (-1, 1)])


@pytest.mark.parametrize(
    "shape, size",
    [
        ("box", (0.1, 0.3, 0.2)),
        ("sphere", (0.2,)),
        ("cylinder", (0.1, 0.4)),
        ("capsule", (0.1, 0.4)),
    ],
)
def test_the_height_of_a_part_is_that_of_the_lowest_point_of_its_shape(
    shape: str, size: tuple[float, ...]
):
    rng = np.random.default_rng(1)
    turn = tuple(tuple(row) for row in turned(rng).tolist())
    visual = Visual(shape, size, (0.1, -0.2, 0.3), turn)  # type: ignore[arg-type]
    robot = arm.Robot("one", (arm.robot.Link("base", collisions=(visual,)),), (), "base")
    part = watched(robot.tree, cover(robot)[0])
    points = surface(visual, rng) @ np.array(visual.rotation).T + visual.position
    for _ in range(20):
        R = turned(rng)
        truth = float((points @ R.T)[:, 2].min()) + 0.5
        assert part_height(part, R[2], 0.5) == pytest.approx(truth, abs=2e-4)
        assert part_height(part, R[2], 0.5, smooth=0.02) <= truth + 1e-9


def test_a_mesh_lies_inside_the_part_that_is_fitted_to_it():
    rng = np.random.default_rng(2)
    points = rng.normal(size=(400, 3)) * [0.05, 0.1, 0.4] @ turned(rng).T + [0.3, 0.0, 0.1]
    part = fitted("link", points)
    inside = (points - np.array(part.centre)) @ np.array(part.axes).T
    half, disc = np.array(part.half), part.disc
    across = (
        np.linalg.norm(inside[:, :2], axis=1) <= disc + 1e-9
        if disc
        else np.all(np.abs(inside[:, :2]) <= half[:2] + 1e-9, axis=1)
    )
    assert np.all(across) and np.all(np.abs(inside[:, 2]) <= half[2] + 1e-9)
    box = np.prod(np.ptp(points, axis=0))
    assert (np.pi * disc**2 * 2 * half[2] if disc else 8 * half.prod()) <= box


def test_meshes_are_found_in_their_package_and_scaled(tmp_path):
    corners = np.array(
        [[x, y, z] for x in (0.0, 0.4) for y in (0.0, 0.1) for z in (0.0, 0.2)], dtype="<f4"
    )
    facets = [corners[[i, (i + 1) % 8, (i + 2) % 8]] for i in range(8)]
    data = (
        b" " * 80
        + struct.pack("<I", len(facets))
        + b"".join(b"\0" * 12 + f.tobytes() + b"\0\0" for f in facets)
    )
    (tmp_path / "things" / "urdf").mkdir(parents=True)
    (tmp_path / "things" / "part.stl").write_bytes(data)
    (tmp_path / "things" / "urdf" / "arm.urdf").write_text(URDF)
    robot = arm.load(tmp_path / "things" / "urdf" / "arm.urdf")
    part = next(part for part in cover(robot) if part.link == "upper")
    assert part.measured and sorted(part.half) == pytest.approx([0.05, 0.1, 0.1])


@pytest.mark.parametrize("layout", ["by its package.xml", "ROS_PACKAGE_PATH"])
def test_meshes_for_clearances_lie_where_those_of_the_page_do(tmp_path, monkeypatch, layout):
    """A package whose folder has another name is found by its package.xml; xacro, page and floor
    have one rule."""
    package = (
        "things_" + layout.split()[0].lower()
    )  # each its own: folders above a file are searched too
    place = tmp_path / (
        "ws/unpacked-1.2" if layout.startswith("by") else "a/b/c/d/far/repo/unpacked-1.2"
    )
    for folder, name in ((place, package), (tmp_path / "ws/mine", "mine")):
        folder.mkdir(parents=True)
        (folder / "package.xml").write_text(f"<package><name>{name}</name></package>")
    (place / "part.stl").write_text("solid")
    file = tmp_path / "ws/mine/arm.urdf"
    file.write_text(URDF.replace("//things/", f"//{package}/"))
    if layout == "ROS_PACKAGE_PATH":
        assert arm.load(file).link("upper").collisions[0].path is None
        monkeypatch.setenv(layout, str(tmp_path / "a/b/c/d/far"))
    robot = arm.load(file)
    assert robot.link("upper").collisions[0].path == str(place / "part.stl")
    shown = replace(robot, links=tuple(replace(x, visuals=x.collisions) for x in robot.links))
    assert (
        inside(f"package://{package}/part.stl", mesh_folders(shown, file.parent))
        == place / "part.stl"
    )


def test_a_link_whose_mesh_is_missing_is_a_limb(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    parts = cover(arm.load(tmp_path / "arm.urdf"))
    assert [(part.link, part.measured) for part in parts] == [("base", True), ("upper", False)]


def test_a_payload_with_inertia_is_two_point_masses():
    robot, rng = arm.library("six_axis"), np.random.default_rng(3)
    a, b = np.array([0.1, 0.05, 0.2]), np.array([-0.02, 0.15, 0.1])
    d = (a - b) / 2
    J = 2.0 * (d @ d * np.eye(3) - np.outer(d, d))  # two masses of 1 kg about their centre
    moments = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    whole = robot.with_payload(2.0, at=(a + b) / 2, inertia=moments)
    points = robot.with_payload(1.0, at=a).with_payload(1.0, at=b)
    q, v, acc = rng.normal(size=(3, 6))
    assert arm.inverse_dynamics(whole, q, v, acc) == pytest.approx(
        arm.inverse_dynamics(points, q, v, acc), rel=1e-12
    )
    with pytest.raises(arm.ArmatureError, match="no body has this inertia"):
        robot.with_payload(2.0, inertia=(1.0, 0.1, 0.1))


def test_a_tool_centre_point_moves_as_a_point_of_its_link():
    robot, q = arm.library("six_axis"), np.linspace(-1, 1, 6)
    tool = robot.with_tool((0.0, 0.1, 0.05), (np.pi / 2, 0.0, 0.0))
    flange, tcp = arm.pose(robot, q, "tool"), arm.pose(tool, q, "tcp")
    assert tool.tip == "tcp" and tcp.p == pytest.approx(
        flange.p + flange.R @ [0.0, 0.1, 0.05], abs=1e-12
    )
    assert pytest.approx(flange.R @ [[1, 0, 0], [0, 0, -1], [0, 1, 0]], abs=1e-12) == tcp.R
    with pytest.raises(arm.ArmatureError, match="already"):
        robot.with_tool((0, 0, 0), name="tool")

"""The triangles of a mesh are the same in every format; one that cannot be read is told with its
link."""

from __future__ import annotations

import struct
import warnings

import numpy as np
import pytest

import armature as arm
from armature.robot.cover import cover
from armature.robot.mesh import read_mesh

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]])
FACES = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
URDF = (
    '<robot name="a"><link name="base"/><link name="hand"><inertial><mass value="1"/><inertia'
    ' ixx="1" iyy="1" izz="1"/></inertial><collision><geometry><mesh'
    ' filename="{}"/></geometry></collision></link><joint name="j" type="continuous"><parent'
    ' link="base"/><child link="hand"/><axis xyz="0 0 1"/></joint></robot>'
)


def write_binary(path):
    facets = b"".join(struct.pack("<12fH", 0, 0, 0, *CORNERS[face].ravel(), 0) for face in FACES)
    path.write_bytes(b"solid, though binary".ljust(80) + struct.pack("<I", len(FACES)) + facets)


def write_text(path):
    vertices = "".join(
        "facet\n" + "".join("  vertex {} {} {}\n".format(*CORNERS[k]) for k in face) + "endfacet\n"
        for face in FACES
    )
    path.write_text(f"solid a\n{vertices}endsolid\n")


def write_obj(path):
    words = ["v {} {} {}".format(*c) for c in CORNERS] + [
        f"f {a + 1}/7/8 {b + 1} {c - 4}" for a, b, c in FACES
    ]
    path.write_text("\r\n".join(words))


def write_off(path):
    rows = [" ".join(map(str, c)) for c in CORNERS] + ["3 {} {} {}".format(*face) for face in FACES]
    path.write_text(f"OFF\n4 {len(FACES)} 0\n" + "\n".join(rows) + "\n")


@pytest.mark.parametrize("name", ["binary.stl", "text.stl", "a.obj", "a.off"])
def test_every_format_gives_the_same_volume(name, tmp_path):
    if name == "a.off":
        pytest.importorskip("trimesh")
    write = {
        "binary.stl": write_binary,
        "text.stl": write_text,
        "a.obj": write_obj,
        "a.off": write_off,
    }[name]
    write(tmp_path / name)
    mesh = read_mesh(tmp_path / name)
    volume = np.linalg.det(mesh.points[mesh.faces]).sum() / 6.0
    assert len(mesh.faces) == 4 and abs(volume) == pytest.approx(1.0)  # of a pyramid: 1·2·3/6


def test_polygons_are_cut_into_triangles(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nf 1 2 3 4\n")
    mesh = read_mesh(tmp_path / "a.obj")
    a, b, c = (mesh.points[mesh.faces[:, k]] for k in range(3))
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(4.0)


def test_a_mesh_that_cannot_be_read_is_told_with_its_link(tmp_path):
    (tmp_path / "a.stl").write_bytes(bytes(80) + struct.pack("<I", 10**9) + bytes(50))
    (tmp_path / "a.urdf").write_text(URDF.format("a.stl"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", arm.errors.ArmatureWarning)
        robot = arm.load(tmp_path / "a.urdf")
    with pytest.warns(arm.errors.ArmatureWarning, match=r"link 'hand'.*1000000000 triangles"):
        cover(robot)

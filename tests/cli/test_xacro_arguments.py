"""Arguments of xacro files on the command line, in task files, and in what `init` writes."""

import json

import pytest

from armature.cli.main import run
from armature.errors import FileError
from armature.job.job_file import load_job

ROBOT = """<robot name="$(arg name)" xmlns:xacro="http://wiki.ros.org/xacro"><xacro:arg name="name" default="own"/>
  <xacro:arg name="mass" default="2"/><xacro:arg name="long" default="false"/><link name="base"/>
  <link name="arm"><inertial><origin xyz="0.2 0 0"/><mass value="$(arg mass)"/><inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" velocity="2" effort="${60 if $(arg long) else 30}"/></joint></robot>""".replace(
    "$(arg long)", "$(eval long)"
)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf.xacro").write_text(ROBOT)
    return "arm.urdf.xacro"


def test_check_takes_arguments(file, capsys):
    assert run(["check", file, "--json", "--arg", "mass:=3", "--arg", "name:=mine"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["name"] == "mine" and told["mass"] == 3.0


@pytest.mark.parametrize("given", ["mass=3", "mass", ":=3", ""])
def test_an_argument_is_written_with_its_sign(file, capsys, given):
    assert run(["check", file, "--arg", given]) == 2
    assert "write name:=value" in capsys.readouterr().err


def test_init_writes_the_arguments_and_the_task_uses_them(file, capsys):
    assert run(["init", "work", "--robot", file, "--arg", "mass:=3", "--arg", "long:=true"]) == 0
    job = load_job("work/task.yaml")
    assert job.robot.mass == 3.0 and job.robot.joint("turn").limits.torque == 60.0
    assert run(["check", "work/task.yaml", "--arg", "mass:=4"]) == 2
    assert "stand in the file" in capsys.readouterr().err


def test_only_xacro_files_take_arguments(tmp_path, capsys):
    (tmp_path / "task.yaml").write_text(
        "robot: six_axis\narguments: {a: 1}\nmove: {start: [0, 0, 0, 0, 0, 0], goal: [0, 0, 0, 0,"
        " 0, 1], duration: 1}\n"
    )
    with pytest.raises(FileError, match="takes no arguments"):
        load_job(tmp_path / "task.yaml")
    assert run(["check", "six_axis", "--arg", "a:=1"]) == 2


def test_mesh_folders_are_the_files_its_package_and_those_that_it_names(tmp_path):
    from armature.cli.inputs import find_mesh_folders
    from armature.plot.meshes import inside
    from armature.robot import load

    for package in ("mine", "other"):
        (tmp_path / package / "meshes").mkdir(parents=True)
        (tmp_path / package / "package.xml").write_text(
            f"<package><name>{package}</name></package>"
        )
        (tmp_path / package / "meshes" / "a.stl").write_text("solid")
    (tmp_path / "secret.stl").write_text("solid")
    (tmp_path / "mine/urdf").mkdir()
    names = (
        "package://other/meshes/a.stl",
        "../meshes/a.stl",
        f"file://{tmp_path}/mine/meshes/a.stl",
        "../../secret.stl",
    )
    shown = "".join(
        f'<visual><geometry><mesh filename="{name}"/></geometry></visual>' for name in names
    )
    path = tmp_path / "mine/urdf/a.urdf"
    path.write_text(f'<robot name="r"><link name="l">{shown}</link></robot>')
    folders = find_mesh_folders(str(path), load(path), True)
    assert [inside(name, folders) for name in names] == [
        tmp_path / "other/meshes/a.stl",
        tmp_path / "mine/meshes/a.stl",
        tmp_path / "mine/meshes/a.stl",
        None,
    ]
    assert (
        find_mesh_folders(str(path), load(path), False)
        == ()
        == find_mesh_folders("six_axis", load(path), None)
    )

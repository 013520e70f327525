"""Every reader, given files of which a few bytes were changed at random, returns or raises an
ArmatureError: nothing else.

ARMATURE_FUZZ_SEED tries other files. Each reader gets a part of a second.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import crafted
import numpy as np
import pytest

import armature as arm
from armature.cli.init import template

SEED = int(os.environ.get("ARMATURE_FUZZ_SEED", "1974"))
SECONDS = float(os.environ.get("ARMATURE_FUZZ_SECONDS", "0.7"))  # of a processor for each reader
WORDS = [
    b"1e308",
    b"-1",
    b"nan",
    b"null",
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b":",
    b",",
    b"\n",
    b"\0",
    b"\xff",
    b"9" * 500,
    b"",
    b"- ",
    b"&a ",
    b"*a ",
]
READERS = {
    "a.urdf": "robot",
    "a.yaml": "robot",
    "task.yaml": "task",
    "study.yaml": "study",
    "line.yaml": "line",
    "drives.yaml": "drives",
    "m.csv": "motion",
    "m.npz": "motion",
    "m.json": "motion",
    "m.yaml": "motion",
    "r.csv": "recorded",
    "p.json": "plan",
    "p.npz": "plan",
    "s.db": "store",
    "w.csv": "waypoints",
    "l.yaml": "limits",
}
CONFINED = {
    "m.h5": "motion",
    "m.parquet": "motion",
    "m.mcap": "motion",
    "u.yaml": "upload",
}  # a process each: a few files only


@pytest.fixture(scope="module")
def seeds(tmp_path_factory) -> dict[str, bytes]:
    """A good file for every reader."""
    folder = tmp_path_factory.mktemp("good")
    robot = arm.library("planar2")
    t = np.linspace(0.0, 1.0, 8)
    track = arm.Trajectory(
        t, np.outer(t, [1.0, 2.0]), np.ones((8, 2)), np.zeros((8, 2)), robot.joint_names
    )
    for name in ("m.csv", "m.npz", "m.json", "m.yaml", "m.h5", "m.parquet", "m.mcap"):
        track.save(folder / name)
    plan = arm.minimize_energy(robot, arm.Move([0.0, 0.0], [1.0, 1.0], 1.0), knots=8)
    for name in ("p.json", "p.npz"):
        plan.save(folder / name)
    crafted.make_store(folder / "s.db")
    found = {
        name: (folder / name).read_bytes()
        for name in ("m.csv", "m.npz", "m.json", "m.yaml", "p.json", "p.npz", "s.db", *CONFINED)
        if name != "u.yaml"
    }
    link = (
        '<link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"'
        ' iyz="0"/></inertial></link>'
    )
    joint = (
        '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><limit lower="-1"'
        ' upper="1" velocity="1" effort="1"/></joint>'
    )
    texts = {"task.yaml", "study.yaml", "line.yaml", "drives.yaml"}
    found |= {name: template(name).replace("robot.yaml", "planar2").encode() for name in texts}
    found["a.urdf"] = f'<robot name="r"><link name="a"/>{link}{joint}</robot>'.encode()
    found["a.yaml"] = found["u.yaml"] = robot.to_yaml().encode()
    found["r.csv"] = b"time [s];joint_1 [deg];joint_2 [deg]\n" + b"".join(
        b"%d,5;%d,25;%d\n" % (k, k * k, k) for k in range(12)
    )
    found["w.csv"] = b"x,y,z\n0.1,0.2,0.3\n0.2,0.2,0.3\n0.3,0.1,0.2\n"
    found["l.yaml"] = (
        f"joint_limits:\n  {robot.joint_names[0]}: {{has_velocity_limits: true, max_velocity:"
        " 2.0}\n".encode()
    )
    return found


def changed(data: bytes, rng: np.random.Generator) -> bytes:
    """A few bytes of a file replaced, left out, doubled or cut off."""
    for _ in range(int(rng.integers(1, 4))):
        a, n = int(rng.integers(0, len(data) + 1)), int(rng.integers(0, 12))
        kind = rng.integers(0, 5)
        if kind == 0:
            data = data[:a] + WORDS[int(rng.integers(len(WORDS)))] + data[a + n :]
        elif kind == 1:
            data = data[:a] + data[a + n :]
        elif kind == 2:
            data = data[:a] + data[a : a + 10 * n] * 2 + data[a + 10 * n :]
        elif kind == 3 and data:
            data = data[:a] + bytes([int(rng.integers(256))]) + data[a + 1 :]
        else:
            data = data[: max(1, a)] if rng.random() < 0.3 else data
    return data


@pytest.mark.parametrize("name", [*READERS, *CONFINED])
def test_a_changed_file_is_read_or_refused(seeds, tmp_path: Path, name: str) -> None:
    rng = np.random.default_rng([SEED, len(name), *name.encode()])
    path, read = tmp_path / name, crafted.READERS[{**READERS, **CONFINED}[name]]
    end, most = time.process_time() + SECONDS, 3 if name in CONFINED else 100_000
    refused = count = 0
    for count in range(most):
        if time.process_time() > end:
            break
        path.write_bytes(changed(seeds[name], rng))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                read(path)
        except arm.ArmatureError as e:
            assert str(e).strip(), f"ARMATURE_FUZZ_SEED={SEED}: file {count} of {name}: no words"
            refused += 1
        except Exception as e:
            pytest.fail(
                f"ARMATURE_FUZZ_SEED={SEED}: file {count} of {name}: {type(e).__name__}: {e}"
            )
    assert refused or count < 50, f"none of {count} changed files was refused"

"""The compiled, batched functions equal the plain ones, with and without machine code."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from armature.dynamics import compiled, kernels
from armature.dynamics.recursion import energy, kinematics, mass, recursive
from armature.robot.model import Joint, Link, Mimic, Robot, Rotor
from random_robots import assert_near, random_joint, random_link, random_q, rotation, unit


def everything(floating: bool, mimic: bool) -> Robot:
    """All kinds of joint, slanted and negative axes, two branches, rotors both ways, welded and
    massless links; mimics when told so."""
    rng = np.random.default_rng(7)
    plan = [
        ("a", "revolute", "slanted", "base", "massless"),
        ("b", "prismatic", "-y", "a", "solid"),
        ("weld", "fixed", "+z", "b", "rod"),
        ("c", "planar", "slanted", "weld", "solid"),
        ("d", "continuous", "-x", "b", "rod"),
        ("e", "prismatic", "slanted", "d", "point"),
        ("f", "revolute", "+z", "d", "solid"),
    ]
    if floating:
        plan = [p for p in plan if p[0] != "c"]
    links = [
        random_link("base", "solid", rng),
        *(random_link(name, shape, rng) for name, *_, shape in plan),
    ]
    joints = {
        name: random_joint(f"j{name}", kind, axis, parent, name, rng)
        for name, kind, axis, parent, _ in plan
    }
    rotors = {
        "b": Rotor(3e-4, -25.0, unit(rng)),
        "d": Rotor(5e-4, 12.0, unit(rng)),
        "f": Rotor(1e-4, 50.0),
    }
    mimics = {"a": Mimic("je", -0.7, 0.2), "f": Mimic("ja", 1.5, -0.3)} if mimic else {}
    joints = [
        replace(joint, rotor=rotors.get(k), mimic=mimics.get(k)) for k, joint in joints.items()
    ]
    if not floating:
        return Robot("everything", tuple(links), tuple(joints), "base", (1.0, -3.0, -9.0))
    free = Joint("free", "floating", "world", "base", (0.1, 0.2, 0.3), rotation(rng))
    return Robot("everything", (Link("world"), *links), (free, *joints), "world", (1.0, -3.0, -9.0))


ROBOTS = {
    "fixed": everything(floating=False, mimic=False),
    "floating": everything(floating=True, mimic=False),
    "mimic": everything(floating=False, mimic=True),
}


@pytest.fixture(params=ROBOTS)
def robot(request) -> Robot:
    return ROBOTS[request.param]


def batch(robot: Robot, count: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """count states; an odd number leaves a ragged tail behind the vectors."""
    rng = np.random.default_rng(3)
    q = np.array([random_q(robot, rng) for _ in range(count)])
    return q, rng.normal(size=(count, robot.nv)), rng.normal(size=(count, robot.nv))


def by_row(function, *arrays: np.ndarray) -> np.ndarray:
    return np.array([function(*rows) for rows in zip(*arrays)])


def test_compiled_dynamics_equals_plain(robot: Robot):
    tree = robot.tree
    q, v, a = batch(robot)
    M = by_row(lambda q: mass.mass_matrix(tree, q), q)
    tau = by_row(lambda *s: recursive.inverse_dynamics(tree, *s), q, v, a)
    assert_near(compiled.inverse_dynamics(robot, q, v, a), tau, 1e-13)
    assert_near(compiled.mass_matrix(robot, q), M, 1e-13)
    assert_near(
        compiled.bias_forces(robot, q, v),
        by_row(lambda *s: recursive.bias_forces(tree, *s), q, v),
        1e-13,
    )
    assert_near(
        compiled.kinetic_energy(robot, q, v),
        by_row(lambda *s: energy.kinetic_energy(tree, *s), q, v),
        1e-13,
    )
    assert_near(
        compiled.potential_energy(robot, q),
        by_row(lambda q: energy.potential_energy(tree, q), q),
        1e-13,
    )
    assert_near(compiled.forward_dynamics(robot, q, v, tau), a, 1e-14 * np.linalg.cond(M).max())


def test_compiled_wrenches_and_base_motion_equal_plain(robot: Robot):
    tree, rng = robot.tree, np.random.default_rng(8)
    q, v, a = batch(robot)
    names = ["weld", "e", "base"]
    wrenches = {name: 5.0 * rng.normal(size=(len(q), 6)) for name in names}
    base = kernels.BaseMotion(
        Rotation.random(len(q), random_state=rng).as_matrix(), *rng.normal(size=(3, len(q), 3))
    )
    rows = [
        ({n: w[k] for n, w in wrenches.items()}, recursive.Base(*(x[k] for x in base)))
        for k in range(len(q))
    ]
    for moving in (False, True):
        bases = [b if moving else recursive.FIXED for _, b in rows]
        tau = np.array(
            [
                recursive.inverse_dynamics(tree, q[k], v[k], a[k], rows[k][0], bases[k])
                for k in range(len(q))
            ]
        )
        assert_near(
            compiled.inverse_dynamics(robot, q, v, a, wrenches, base if moving else None),
            tau,
            1e-13,
        )
        cond = np.linalg.cond(compiled.mass_matrix(robot, q)).max()
        assert_near(
            compiled.forward_dynamics(robot, q, v, tau, wrenches, base=base if moving else None),
            a,
            1e-14 * cond,
        )


def test_compiled_kinematics_equals_plain(robot: Robot):
    tree = robot.tree
    q, v, a = batch(robot)
    at = np.array([0.1, -0.2, 0.3])
    for link in ("weld", "f", "base"):
        pose = compiled.pose(robot, q, link)
        assert_near(
            pose.R, by_row(lambda q, link=link: kinematics.link_pose(tree, q, link).R, q), 1e-14
        )
        assert_near(
            pose.p, by_row(lambda q, link=link: kinematics.link_pose(tree, q, link).p, q), 1e-14
        )
        assert_near(
            compiled.jacobian(robot, q, link, at),
            by_row(lambda q, link=link: kinematics.jacobian(tree, q, link, at), q),
            1e-13,
        )
        moving = compiled.point_kinematics(robot, q, v, a, link, at)
        expected = [kinematics.point_motion(tree, *s, link, at) for s in zip(q, v, a)]
        assert_near(moving.velocity, np.array([x for x, _ in expected]), 1e-13)
        assert_near(moving.acceleration, np.array([x for _, x in expected]), 1e-13)
        assert_near(moving.pose.p, pose.p + pose.R @ at, 1e-14)
        assert_near(moving.pose.R, pose.R, 1e-14)


def test_one_state_batches_and_broadcasting_agree():
    robot = ROBOTS["fixed"]
    q, v, a = batch(robot, 6)
    all_at_once = compiled.inverse_dynamics(robot, q, v, a)
    assert_near(compiled.inverse_dynamics(robot, q[0], v[0], a[0]), all_at_once[0], 1e-15)
    two_axes = compiled.inverse_dynamics(robot, *(x.reshape(2, 3, -1) for x in (q, v, a)))
    assert_near(two_axes, all_at_once.reshape(2, 3, -1), 1e-15)
    same_q = compiled.inverse_dynamics(robot, q[0], v, a)
    assert_near(same_q[4], compiled.inverse_dynamics(robot, q[0], v[4], a[4]), 1e-15)
    assert compiled.inverse_dynamics(robot, q[:0], v[:0], a[:0]).shape == (0, robot.n)


def test_kernels_of_robots_that_differ_in_a_frame_alone_are_not_mixed_up():
    """The disk cache is keyed by numbers: a massless tool's place is one of them."""

    def with_tool(z: float) -> Robot:
        links = (Link("base"), Link("arm", 1.0, (0.1, 0.0, 0.0)), Link("tool"))
        joints = (
            Joint("j", "revolute", "base", "arm"),
            Joint("weld", "fixed", "arm", "tool", (0.0, 0.0, z)),
        )
        return Robot("tool", links, joints, "base")

    for z in (0.5, 0.7):
        assert_near(compiled.pose(with_tool(z), np.zeros(1), "tool").p, [0.0, 0.0, z], 1e-15)
        assert_near(
            compiled.jacobian(with_tool(z), np.zeros(1), "tool", (1.0, 0.0, 0.0))[:, 0],
            [0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            1e-15,
        )


def test_without_machine_code_the_answers_are_the_same(tmp_path: Path):
    """ARMATURE_JIT=0 in a process of its own, against the compiled answers of this one."""
    script = """
import sys, numpy as np
sys.path[:0] = sys.argv[1:3]
from test_dynamics_compiled import ROBOTS, answers
np.savez(sys.argv[3], *answers(ROBOTS["floating"]))
"""
    here, out = Path(__file__).parent, tmp_path / "answers.npz"
    environment = {**os.environ, "ARMATURE_JIT": "0"}
    subprocess.run(
        [sys.executable, "-c", script, str(here), str(here.parent), str(out)],
        check=True,
        env=environment,
        timeout=120,
    )
    with np.load(out) as plain:
        for name, expected in zip(plain.files, answers(ROBOTS["floating"])):
            assert_near(plain[name], expected, 1e-11)


def answers(robot: Robot) -> list[np.ndarray]:
    q, v, a = batch(robot, 3)
    wrenches = {"weld": np.arange(6.0)}
    results = [
        compiled.inverse_dynamics(robot, q, v, a, wrenches),
        compiled.forward_dynamics(robot, q, v, a, wrenches),
    ]
    results += [
        compiled.mass_matrix(robot, q),
        compiled.bias_forces(robot, q, v),
        compiled.kinetic_energy(robot, q, v),
    ]
    results += [*compiled.pose(robot, q, "weld"), compiled.jacobian(robot, q, "weld")]
    return results + [*compiled.forward_dynamics_derivatives(robot, q, v, a)]


def test_the_tests_robots_have_what_they_claim():
    assert ROBOTS["floating"].nq == ROBOTS["floating"].nv + 1
    assert ROBOTS["mimic"].joint_names == ("jb", "jc.x", "jc.y", "jc.angle", "jd", "je")
    assert mass.mass_matrix(ROBOTS["fixed"].tree, np.zeros(ROBOTS["fixed"].nq)).shape == (8, 8)

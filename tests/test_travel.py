"""What the surface gives can be pickled and deep-copied, and works afterwards, in another process
too."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.kernel import Kernel, compiled, machine_code, parameters, trace


@pytest.fixture(scope="module")
def things(tmp_path_factory):
    robot, move = arm.library("planar2").with_payload(0.5), arm.Move([0.0, 0.0], [1.0, 1.0], 1.0)
    plan = arm.minimize_energy(robot, move, knots=20)
    path = arm.FollowPath(arm.motion.joint_path([[0.0, 0.0], [1.0, 1.0]]))
    plan.save(tmp_path_factory.mktemp("travel") / "plan.json")
    return {
        "robot": robot,
        "move": move,
        "plan": plan,
        "least time": arm.minimize_time(robot, path, knots=12),
        "trajectory": plan.trajectory,
        "ledger": plan.ledger,
        "certificate": plan.certificate,
        "curve": arm.energy_time_curve(robot, move, [1.0, 1.5], knots=12, refine=False),
        "kernel": arm.compile(lambda x: 3 * x + 1, {"x": 2}),
        "simulation": arm.simulate(robot, q0=np.zeros(2), v0=np.zeros(2), duration=0.05),
        "path": arm.circle([0.5, 0, 0.0], [1, 0, 0.0], [0, 0, 1.0]),
        "job": arm.job.Job(robot, move, knots=12),
        "servo": arm.simulation.lqr(robot, plan.trajectory, 1.0, 1.0, steps=20),
    }


def facts(things: dict) -> dict:
    """What the things say when they are used: every one of them computes something."""
    q = np.array([0.3, -0.2])
    plan, robot = things["plan"], things["robot"]
    return {
        "torque": arm.inverse_dynamics(robot, q, q, q).tolist(),
        "plan": (plan.energy, plan.saving, plan.status.name, plan.certificate.ok, str(plan)),
        "baseline": plan.baseline.trajectory(0.3).q.tolist(),
        "least time": (things["least time"].duration, things["least time"].saving),
        "trajectory": things["trajectory"](0.37).q.tolist(),
        "ledger": (things["ledger"].drawn, str(things["ledger"])),
        "certificate": str(things["certificate"]),
        "curve": things["curve"].energies.tolist(),
        "kernel": things["kernel"](q).tolist(),
        "simulation": things["simulation"](0.02).q.tolist(),
        "path": things["path"](0.3).x.tolist(),
        "job": things["job"].task.duration,
        "servo": things["servo"](0.3, q, q).tolist(),
    }


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_copies_work_like_their_originals(things, way):
    made = {
        k: pickle.loads(pickle.dumps(x)) if way == "pickle" else copy.deepcopy(x)
        for k, x in things.items()
    }
    assert facts(made) == facts(things)


def swing(q, t):
    return q[0] - 3 * t


def sway(t):
    return [t, 2 * t]


def rise(t):
    return [0.1 * t, 0.2 * t, 0.4]


def turn(t):
    return np.eye(3), rise(t)


def plane(p):
    return p[0] + 2 * p[2]


def ready_made(things) -> list:
    """One constraint of every kind."""
    c, link = arm.dynamics.constraints, things["robot"].links[-1].name
    first, second = things["robot"].joint_names
    return [
        c.constraint(swing),
        c.joint_motion(things["trajectory"]),
        c.joint_motion(sway),
        c.couple_joints({first: 1.0, second: -2.0}, 0.5),
        c.follow_point(link, rise),
        c.follow_point(link, things["path"], sampled=True),
        c.follow_pose(link, turn),
        c.keep_orientation(link, np.eye(3)),
        c.on_surface(link, plane),
        c.on_line(link, [0, 0, 0.0], [1, 2, 3.0]),
        c.points_meet(link, [0.1, 0, 0.0], things["robot"].links[1].name, [0, 0, 0.1]),
    ]


@pytest.mark.parametrize("way", ["pickle", "deepcopy"])
def test_constraints_travel(things, way):
    q, r = np.array([0.3, -0.2]), np.array([0.1, 0.2, 0.3])
    every = ready_made(things)
    kinds = {
        name
        for name, x in vars(arm.dynamics.constraints).items()
        if getattr(x, "__annotations__", {}).get("return") == "Constraint"
    }
    assert len(every) >= len(kinds - {"together", "as_constraint"})
    for made in [*every, arm.dynamics.constraints.together(*every[3:5])]:
        back = pickle.loads(pickle.dumps(made)) if way == "pickle" else copy.deepcopy(made)
        before, after = (
            np.asarray(x.equations(things["robot"], q, r[: x.size]), float) for x in (made, back)
        )
        assert before.size and np.array_equal(before, after) and back.name == made.name


def test_they_work_in_another_process(things):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(facts, things).result(timeout=300) == facts(things)


def test_public_functions_travel_by_name():
    for name in ("inverse_dynamics", "minimize_energy", "kinematics", "load"):
        assert pickle.loads(pickle.dumps(getattr(arm, name))) is getattr(arm, name)


def test_a_kernel_keeps_its_parameters():
    spring = compiled(
        "travelling spring",
        lambda: trace(lambda x: parameters(2)[0] * x + parameters(2)[1], {"x": 1}),
        (10.0, 0.5),
    )
    for made in (pickle.loads(pickle.dumps(spring)), copy.deepcopy(spring)):
        assert made(np.ones(1)) == spring(np.ones(1)) == 10.5


def test_a_kernel_of_another_machine_is_refused(monkeypatch):
    data = pickle.dumps(arm.compile(lambda x: 2 * x, {"x": 1}))
    monkeypatch.setattr(machine_code, "platform_key", lambda: "another CPU")
    with pytest.raises(arm.errors.ArgumentError, match="compile it here"):
        pickle.loads(data)


def test_a_kernel_without_machine_code_travels_too():
    code = (
        "import pickle, numpy as np, armature as arm\n"
        "k = pickle.loads(pickle.dumps(arm.compile(lambda x: 2 * x, {'x': 2})))\n"
        "print(k(np.ones(2)).tolist(), k.name)"
    )
    environment = {**os.environ, "ARMATURE_JIT": "0"}
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
    )
    assert result.stdout.strip() == "[2.0, 2.0] <lambda>", result.stderr


def test_what_was_made_from_an_address_alone_says_so():
    kernel = arm.compile(lambda x: x, {"x": 1})
    bare = Kernel("bare", kernel.inputs, kernel.outputs, 1, kernel.address, kernel)
    with pytest.raises(TypeError, match="bare"):
        pickle.dumps(bare)


def test_saved_plans_and_motions_hold_no_pickle(things, tmp_path, monkeypatch):
    """Reading them unpickles nothing, whatever is in them."""
    plan = things["plan"]
    plan.save(tmp_path / "folder")
    plan.save(tmp_path / "plan.npz")
    plan.save(tmp_path / "plan.json")
    plan.trajectory.save(tmp_path / "motion.npz")

    def refuse(*args, **kwargs):
        raise AssertionError("unpickled")

    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "load", refuse)
    monkeypatch.setattr(pickle, "Unpickler", refuse)
    for name in ("folder", "plan.npz", "plan.json"):
        assert arm.job.load_plan(tmp_path / name).energy == pytest.approx(plan.energy)
    np.testing.assert_allclose(
        arm.motion.load_trajectory(tmp_path / "motion.npz").q, plan.trajectory.q
    )
    np.savez(Path(tmp_path / "bad.npz"), t=np.array([object()], dtype=object))
    with pytest.raises(arm.ArmatureError):
        arm.motion.load_trajectory(tmp_path / "bad.npz")

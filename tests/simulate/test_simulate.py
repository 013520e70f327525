"""Simulation: integrators agree with each other and with closed forms, energy is accounted for,
runs end as asked."""

import re

import numpy as np
import pytest

from armature.drive.friction import Friction
from armature.dynamics import compiled
from armature.errors import ArgumentError
from armature.robot.library import library
from armature.robot.model import Joint, Link, Robot
from armature.simulation import Status, rollout, simulate, traced
from armature.spatial.numbers import sin

FRICTIONLESS = Friction()


def pendulum(length: float = 1.0, mass: float = 1.0, friction: Friction = FRICTIONLESS) -> Robot:
    joint = Joint("hinge", "continuous", "base", "bob", axis=(0.0, 1.0, 0.0), friction=friction)
    return Robot(
        "pendulum", (Link("base"), Link("bob", mass, (0.0, 0.0, -length))), (joint,), "base"
    )


def free_body() -> Robot:
    links = (Link("world"), Link("box", 2.0, (0.0, 0.0, 0.0), (0.1, 0.2, 0.3, 0.0, 0.0, 0.0)))
    return Robot("box", links, (Joint("free", "floating", "world", "box"),), "world")


METHODS = [("dop853", None), ("radau", None), ("bdf", None), ("rk4", 1e-3)]


@pytest.mark.parametrize("method, step", METHODS)
def test_pendulum_follows_the_elliptic_functions(method, step):
    # sin(θ/2) = k sn(ω₀ t + K, k²) for a pendulum let go at θ₀
    from scipy.special import ellipj, ellipk

    start, w = 1.2, np.sqrt(9.81)
    run = simulate(pendulum(), None, [start], [0.0], 2.0, method, step, rtol=1e-9, atol=1e-11)
    k = np.sin(start / 2)
    sn, *_ = ellipj(w * run.t + ellipk(k**2), k**2)
    assert np.allclose(run.q[:, 0], 2 * np.arcsin(k * sn), atol=2e-5 if method == "bdf" else 1e-8)
    assert run.status is Status.COMPLETE and run.t[-1] == pytest.approx(2.0)


@pytest.mark.parametrize("method, order", [("rk4", 4), ("semi-implicit", 1)])
def test_error_falls_with_the_order_of_the_method(method, order):
    robot = library("planar2")
    exact = simulate(robot, None, [0.3, 0.4], [0.5, -0.2], 0.5, rtol=1e-13, atol=1e-14).q[-1]
    errors = [
        np.abs(simulate(robot, None, [0.3, 0.4], [0.5, -0.2], 0.5, method, h).q[-1] - exact).max()
        for h in (0.01, 0.005)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


def test_compiled_and_plain_loops_take_the_same_steps():
    robot = library("six_axis")
    gains = np.linspace(20, 5, 6)
    plain = lambda t, q, v: gains * (0.3 * np.sin(t) - q) - 2.0 * v
    fast = traced(lambda t, q, v: gains * (0.3 * sin(t) - q) - 2.0 * v)
    q0 = np.linspace(-0.4, 0.5, 6)
    for method in ("rk4", "semi-implicit"):
        a = simulate(robot, plain, q0, None, 0.05, method, 1e-3)
        b = simulate(robot, fast, q0, None, 0.05, method, 1e-3)
        for name in ("t", "q", "v", "a", "tau"):
            assert np.allclose(getattr(a, name), getattr(b, name), rtol=1e-9, atol=1e-9), name
        assert np.allclose(a.work, b.work, atol=1e-9)


def test_batch_rows_equal_single_runs():
    robot = library("scara")
    rng = np.random.default_rng(1)
    q0, v0 = rng.uniform(-0.5, 0.5, (2, 3, robot.n)), rng.uniform(-1, 1, (3, robot.n))
    torques = rng.uniform(-2, 2, (2, 3, 40, robot.n))
    batch = rollout(robot, torques, q0, v0, 0.04, 1e-3)
    assert batch.q.shape == (2, 3, 41, robot.n)
    held = lambda t, q, v: torques[1, 2, min(int(t / 1e-3 + 1e-6), 39)]
    # a Runge–Kutta step may not look across a jump of the torques: hold them by integrating each
    # step alone
    q, v = q0[1, 2], v0[2]
    for k in range(40):
        one = simulate(robot, torques[1, 2, k], q, v, 1e-3, "rk4", 1e-3)
        q, v = one.q[-1], one.v[-1]
    assert np.allclose(batch.q[1, 2, -1], q, atol=1e-12)
    assert np.allclose(batch.tau[1, 2, 10], held(0.01, q, v))
    threaded = rollout(
        robot, None, np.tile(q0.reshape(6, -1), (50, 1)), None, 0.02, 1e-3, threads=2
    )
    assert np.allclose(threaded.q[:6], threaded.q[-6:], atol=0)


def test_parameters_of_a_traced_law_vary_over_the_batch():
    robot = library("planar2")
    goals = np.array([[0.1, 0.2], [0.3, -0.2], [0.0, 0.4]])
    law = traced(lambda t, q, v, p: 30.0 * (p - q) - 3.0 * v)
    batch = rollout(robot, law, np.zeros(2), None, 0.1, 1e-3, parameters=goals)
    for i, goal in enumerate(goals):
        one = simulate(
            robot,
            lambda t, q, v, g=goal: 30.0 * (g - q) - 3.0 * v,
            np.zeros(2),
            None,
            0.1,
            "rk4",
            1e-3,
        )
        assert np.allclose(batch[i].q, one.q, atol=1e-12)


@pytest.mark.parametrize("name", ["six_axis", "scara", "burgevin"])
def test_energy_is_what_was_put_in(name):
    robot = library(name)
    q0 = np.full(robot.n, 0.3)
    law = lambda t, q, v: 5.0 * np.sin(3 * t + np.arange(robot.n)) - 0.5 * v
    run = simulate(
        robot,
        law,
        q0,
        None,
        0.5,
        rtol=1e-10,
        atol=1e-12,
        wrenches={robot.tips[0]: [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]},
    )
    assert abs(run.work[-1]) > 1e-2
    assert run.energy_drift < 1e-7


def test_viscous_friction_takes_exactly_its_share():
    robot = pendulum(friction=Friction(viscous=0.3)).with_gravity((0, 0, 0))
    run = simulate(robot, None, [0.0], [2.0], 1.5)
    # J v̇ = −c v with J = 1
    assert np.allclose(run.v[:, 0], 2.0 * np.exp(-0.3 * run.t), rtol=1e-7)
    assert run.work[-1] == pytest.approx(0.5 * (run.v[-1, 0] ** 2 - 4.0), rel=1e-7)


def test_dry_friction_stops_a_motion_and_holds_it():
    robot = pendulum(friction=Friction(coulomb=2.0)).with_gravity((0, 0, 0))
    run = simulate(robot, None, [0.0], [2.0], 2.0, friction_width=1e-3, method="radau")
    # v falls by 2 rad/s² and stays at rest: θ_end = v²/(2·2) = 1
    assert run.q[-1, 0] == pytest.approx(1.0, abs=1e-3) and abs(run.v[-1, 0]) < 1e-6
    assert run.energy_drift < 1e-5


def test_free_body_keeps_momentum_and_a_unit_quaternion():
    robot = free_body().with_gravity((0, 0, 0))
    q0, v0 = [0, 0, 0, 0, 0, 0, 1], [1.0, 0.0, 0.0, 0.1, 3.0, 0.2]
    runs = [
        simulate(robot, None, q0, v0, 2.0, rtol=1e-11, atol=1e-12),
        simulate(robot, None, q0, v0, 2.0, "rk4", 1e-3),
    ]
    J = np.diag([0.1, 0.2, 0.3])
    for run in runs:
        assert np.allclose(np.linalg.norm(run.q[:, 3:7], axis=1), 1.0, atol=1e-14)
        R = compiled.pose(robot, run.q, "box").R
        assert np.allclose(np.einsum("kij,kj->ki", R, run.v[:, 3:] @ J), J @ v0[3:], atol=1e-8)
        # the centre flies straight on
        assert np.allclose(run.q[-1, :3], [2.0, 0, 0], atol=1e-8)
    assert np.allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-9)


def test_dense_output_lies_on_the_motion_between_the_knots():
    robot = library("planar2")
    run = simulate(robot, None, [0.3, 0.4], None, 1.0, rtol=1e-10, atol=1e-12)
    fine = simulate(
        robot, None, [0.3, 0.4], None, 1.0, times=np.linspace(0, 1, 57), rtol=1e-12, atol=1e-13
    )
    assert len(fine) == 57
    assert np.allclose(run(fine.t).q, fine.q, atol=1e-8)
    assert np.allclose(run(fine.t).v, fine.v, atol=1e-7)


def test_events_are_found_and_end_a_run():
    def bottom(t, q, v):
        return q[0]

    bottom.terminal = True
    start, w = 1.2, np.sqrt(9.81)
    from scipy.special import ellipk

    quarter = ellipk(np.sin(start / 2) ** 2) / w
    run = simulate(
        pendulum(), None, [start], [0.0], 5.0, events={"bottom": bottom}, rtol=1e-11, atol=1e-12
    )
    assert run.status is Status.EVENT and run.ok
    assert run.events[0].name == "bottom" and run.events[0].t == pytest.approx(quarter, abs=1e-9)
    assert run.t[-1] == run.events[0].t and abs(run.q[-1, 0]) < 1e-9
    passing = simulate(
        pendulum(), None, [start], [0.0], 4.1 * quarter, events=[lambda t, q, v: q[0]]
    )
    assert [e.t for e in passing.events] == pytest.approx([quarter, 3 * quarter], abs=1e-6)


def test_breaks_let_adaptive_steps_see_jumps():
    robot = pendulum().with_gravity((0, 0, 0))
    law = lambda t, q, v: [1.0 if t < 0.5 else -1.0]
    run = simulate(robot, law, None, None, 1.0, breaks=[0.5])
    assert run.v[-1, 0] == pytest.approx(0.0, abs=1e-7) and run.q[-1, 0] == pytest.approx(
        0.25, abs=1e-7
    )
    assert 0.5 in run.t


def test_ctrl_c_keeps_what_was_computed():
    robot = library("planar2")

    class Impatient:
        def __init__(self):
            self.raised = False

        def __call__(self, t, q, v):
            if t > 0.3 and not self.raised:
                self.raised = True
                raise KeyboardInterrupt
            return np.zeros(2)

    run = simulate(robot, Impatient(), None, None, 1.0, "rk4", 1e-2)
    assert run.status is Status.INTERRUPTED and not run.ok
    assert 0.25 < run.t[-1] <= 0.31


def test_wrong_arguments_are_named():
    robot = library("planar2")
    with pytest.raises(ArgumentError, match="q0 has shape"):
        simulate(robot, None, np.zeros(3))
    with pytest.raises(ArgumentError, match="needs step"):
        simulate(robot, None, method="rk4")
    with pytest.raises(ArgumentError, match="not known"):
        simulate(robot, None, method="euler")
    with pytest.raises(ArgumentError, match=r"shape \(1,\); expected \(2,\)"):
        simulate(robot, lambda t, q, v: [1.0], duration=0.1)
    with pytest.raises(ArgumentError, match="finite"):
        simulate(robot, lambda t, q, v: [np.nan, 0.0], duration=0.1)
    with pytest.raises(ArgumentError, match=r"arm\.simulation\.traced"):
        rollout(robot, lambda t, q, v: q)
    with pytest.raises(ArgumentError, match="3 torques"):
        rollout(robot, traced(lambda t, q, v: np.zeros(3)), np.zeros(2))


def test_a_traced_law_that_decides_by_if_is_refused_with_words():
    law = traced(lambda t, q, v: [1.0 if q[0] > 0 else -1.0, 0.0])
    with pytest.raises(ArgumentError, match="use where"):
        rollout(library("planar2"), law, np.zeros(2))


def test_a_motion_that_runs_away_is_kept_up_to_there():
    robot = pendulum().with_gravity((0, 0, 0))
    for method, step in (("rk4", 1e-2), ("radau", None), ("dop853", None)):
        with np.errstate(all="ignore"):
            run = simulate(robot, lambda t, q, v: 1e4 * v**3 + 1.0, [0.0], [1.0], 1.0, method, step)
        assert run.status in (Status.DIVERGED, Status.FAILED) and not run.ok
        assert np.all(np.isfinite(run.q)) and run.t[-1] < 1.0


def test_progress_shows_after_two_seconds_and_only_then(capsys, monkeypatch):
    from armature.simulate import progress

    with progress.Progress("run", 10.0, "s", shown=True) as bar:
        bar.update(1.0)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")  # a terminal
    with progress.Progress("run", 10.0, "s", shown=True) as bar:
        bar.update(5.0)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", capsys.readouterr().err)
    assert "5 of 10 s" in shown


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_long_chains_roll_out_as_short_code_does(method, monkeypatch):
    from armature.dynamics import linked

    robot = library("six_axis")
    rng = np.random.default_rng(2)
    q0, torques = rng.uniform(-0.5, 0.5, (3, 6)), rng.uniform(-5, 5, (3, 20, 6))
    law = traced(lambda t, q, v, p: p - 2.0 * v)
    runs = []
    for most in (linked.MANY, 2):
        monkeypatch.setattr(linked, "MANY", most)
        fresh = robot.with_gravity((0.1 * most, 0, -9.81)).with_gravity(robot.gravity)
        given = (q0, None, 0.02, 1e-3, method)
        runs.append([rollout(fresh, torques, *given), rollout(fresh, law, *given, parameters=q0)])
    for one, other in zip(*runs):
        for name in ("q", "v", "a", "tau", "work"):
            assert np.allclose(getattr(one, name), getattr(other, name), rtol=1e-9, atol=1e-9), name

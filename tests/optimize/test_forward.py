"""Forward dynamics with passive joints and closed loops: the optimum of other solvers, of other
coordinates, and of simulation."""

import numpy as np
import pytest
from linkages import (
    cart_pole,
    cubic,
    double_pendulum,
    ends,
    four_bar,
    parallelogram,
    same_as_parallelogram,
)
from test_transcribe import dense_hessian, dense_jacobian

import armature as arm
from armature.drive import Regenerative
from armature.dynamics.holonomic.closed_loops import loop_rows
from armature.errors import ArgumentError
from armature.optimize.problem.nlp import as_nlp, functions
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.solver.interior import solve, stages
from armature.optimize.transcription.closure import closure
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.forward import forward

HEAT = Weights(heat=1.0)


def planned(robot, start, goal, duration=1.0, N=40, **options):
    model = forward(robot, Regenerative(), [start, goal], **options)
    problem = model.problem(N, start, goal, HEAT, duration)
    guess = model.guess(*cubic(robot, start, goal, duration, N), duration)
    result = solve(problem, guess)
    assert result.ok, result.message
    return problem, guess, result


@pytest.mark.parametrize(
    ("robot", "goal", "duration"),
    [(double_pendulum("shoulder"), [np.pi, 0], 2.0), (cart_pole(), [0, np.pi], 2.0)],
)
def test_swing_up_with_one_motor_equals_ipopt(robot, goal, duration):
    """The same discrete problem, a passive joint, from hanging to standing."""
    problem, guess, result = planned(robot, np.zeros(2), np.array(goal, dtype=float), duration, 60)
    peer = as_nlp(problem).solve(guess)
    assert peer.converged
    assert result.cost == pytest.approx(peer.cost, rel=1e-6)


def test_the_mechanism_swings_up_under_the_torques_found():
    """An independent integrator with the optimum's torques, held over each step, ends at the
    goal."""
    robot, N, T = cart_pole(), 100, 2.0
    _, _, result = planned(robot, np.zeros(2), np.array([0, np.pi]), T, N)
    torque = lambda t, q, v: np.array([result.u[min(int(t / T * N + 1e-9), N - 1), 0], 0.0])
    run = arm.simulate(
        robot,
        torque,
        np.zeros(2),
        None,
        T,
        breaks=tuple(T / N * np.arange(1, N)),
        rtol=1e-9,
        atol=1e-11,
    )
    np.testing.assert_allclose(run.q[-1], [0, np.pi], atol=2e-3)


def test_an_acrobot_swings_up_and_its_books_close():
    """One motor at the elbow, both links turned over: its work Σ τ Δq is the gain of potential
    energy, but for what RK4 loses."""
    robot = double_pendulum("elbow").with_limits(
        {name: {"velocity": 15.0} for name in ("shoulder", "elbow")}
    )
    goal = np.array([np.pi, 0.0])
    _, _, result = planned(robot, np.zeros(2), goal, 3.0, 120)
    gain = arm.potential_energy(robot, goal) - arm.potential_energy(robot, np.zeros(2))
    assert result.u[:, 0] @ np.diff(result.x[:, 1]) == pytest.approx(float(gain), rel=2e-3)
    assert np.abs(result.x[:, 2:]).max() <= 15.0 + 1e-6


@pytest.mark.parametrize("options", [{}, {"ramp": True}, {"method": "euler"}])
def test_a_four_bar_linkage_equals_ipopt(options):
    """One motor, two passive joints, one loop."""
    robot = four_bar()
    problem, guess, result = planned(robot, *ends(robot, 1.0, 2.5), N=12, **options)
    peer = as_nlp(problem).solve(guess)
    assert peer.converged
    assert result.cost == pytest.approx(peer.cost, rel=1e-9)


def test_loops_stay_closed_over_the_motion():
    """Drift falls with the fourth power of the step or faster, and does not reach the goal's
    passive joints."""
    robot = four_bar()
    start, goal = ends(robot, 1.0, 2.5)
    open_by = []
    for N in (40, 80):
        x = planned(robot, start, goal, N=N)[2].x
        open_by.append(np.abs(loop_rows(robot)(x[:, :3], x[:, 3:])[0]).max())
        np.testing.assert_allclose(x[-1, :3], goal, atol=20 * open_by[-1])
    assert open_by[0] < 1e-6
    assert open_by[1] < open_by[0] / 12


def test_a_parallelogram_costs_what_its_single_link_does():
    """Minimal coordinates as the witness: the same discrete optimum."""
    robot, single = parallelogram(), same_as_parallelogram()
    start, goal = np.array([0.5, -0.5, 0.5]), np.array([1.4, -1.4, 1.4])
    closed = planned(robot, start, goal)[2]
    alone = planned(single, start[:1], goal[:1])[2]
    assert closed.cost == pytest.approx(alone.cost, rel=1e-7)
    np.testing.assert_allclose(closed.x[:, 0], alone.x[:, 0], atol=1e-7)


def test_torques_that_run_straight_are_continuous_and_their_rates_limited():
    robot = four_bar()
    free = planned(robot, *ends(robot, 1.0, 2.5), ramp=True)[2]
    slow = robot.with_limits({"crank": {"torque_rate": 0.7 * np.abs(free.u).max()}})
    result = planned(slow, *ends(robot, 1.0, 2.5), ramp=True)[2]
    assert np.abs(result.u).max() <= 0.7 * np.abs(free.u).max() + 1e-6
    assert result.cost > free.cost
    np.testing.assert_allclose(np.diff(result.x[:, 6]), result.u[:, 0] / 40, atol=1e-7)


def test_a_free_duration_is_the_best_of_given_ones():
    """Time and heat weighed: the optimum over the duration is stationary among solves with the
    duration given."""
    robot, weights, N = four_bar(), Weights(heat=1.0, time=0.5), 40
    start, goal = ends(robot, 1.0, 2.5)
    free = forward(robot, Regenerative(), [start, goal], durations=1)
    guess = free.guess(*cubic(robot, start, goal, 1.0, N), 1.0)
    best = solve(free.problem(N, start, goal, weights, durations=(0.1, 10.0)), guess)
    assert best.ok, best.message
    given = forward(robot, Regenerative(), [start, goal])
    costs = []
    for T in best.p[0] * np.array([0.95, 1.0, 1.05]):
        result = solve(given.problem(N, start, goal, weights, T), Guess(best.x, best.u))
        assert result.ok
        costs.append(result.cost)
    assert costs[1] == pytest.approx(best.cost, rel=1e-8)
    assert costs[1] < min(costs[0], costs[2])


def test_limits_of_passive_joints_hold():
    robot = four_bar()
    start, goal = ends(robot, 1.0, 2.5)
    free = planned(robot, start, goal)[2]
    top = 0.8 * np.abs(free.x[:, 5]).max()
    result = planned(robot.with_limits({"rocker": {"velocity": top}}), start, goal)[2]
    assert np.abs(result.x[:, 5]).max() <= top + 1e-7
    assert result.cost > free.cost


def test_derivatives_through_chained_points_equal_differentiation():
    """(C1)–(C4) of a Runge–Kutta step against CasADi on the written-out functions."""
    import casadi as ca

    robot = double_pendulum("elbow")
    model = forward(robot, Regenerative(), [np.zeros(2)], durations=1).model
    stage, rng = stages(model)[0], np.random.default_rng(1)
    arguments = [rng.uniform(0.1, 1.0, a.shape) for a in stage.derivatives.inputs[:7]]
    z, p, d = ca.SX.sym("z", 5), ca.SX.sym("p", 1), ca.SX.sym("d", model.nd)
    F = functions(model)
    parts = [F[name](z[:4], z[4:], p, d) for name in ("l", "f", "c", "t")]
    weights = [arguments[3][:1], arguments[4], arguments[3][1:2] * arguments[5], arguments[6]]
    lagrangian = sum(ca.dot(w, part) for w, part in zip(weights, parts))
    both = ca.vertcat(z, p)
    exact = ca.Function(
        "exact",
        [z, p, d],
        [ca.tril(ca.hessian(lagrangian, both)[0]), ca.jacobian(parts[2] * arguments[3][1:2], z)],
    )
    H, J = (np.array(x) for x in exact(*arguments[:3]))
    np.testing.assert_allclose(dense_hessian(stage, arguments), H, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(dense_jacobian(stage, arguments), J, rtol=1e-9, atol=1e-9)


def test_free_coordinates_are_those_with_motors():
    robot = four_bar()
    start, _ = ends(robot, 1.0, 2.5)
    assert closure(robot, start).independent == (0,)
    assert len(closure(robot, start).rows) == 2  # of five, in a plane


def test_what_cannot_be_optimised_is_refused_with_words():
    robot = four_bar()
    start, goal = ends(robot, 1.0, 2.5)
    model = forward(robot, Regenerative(), [start, goal])
    with pytest.raises(ArgumentError, match="close it"):
        model.problem(20, start + [0, 0, 0.1], goal, HEAT, 1.0)
    links = (arm.Link("base"), arm.Link("a", 1.0, (0, 0, 0), (1, 1, 1, 0, 0, 0)))
    floating = arm.Robot("free", links, (arm.Joint("f", "floating", "base", "a"),), "base")
    with pytest.raises(ArgumentError, match="floating base"):
        forward(floating, Regenerative(), [np.zeros(7)])
    slack = arm.Robot(
        "slack",
        robot.links[:2],
        (arm.Joint("crank", "continuous", "base", "crank", passive=True),),
        "base",
    )
    with pytest.raises(ArgumentError, match="no joint with a motor"):
        forward(slack, Regenerative(), [np.zeros(1)])
    assert isinstance(model.problem(20, start, goal, HEAT, 1.0), Problem)

"""The two transcriptions: exact motion, work that cannot be cheated, limits between knots, via
points, stores, and derivatives."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from thesis import cubic

from armature.drive import Bus, Drive, Gear, Motor, NonRegenerative, Regenerative, Smooth, as_supply
from armature.dynamics.compiled import inverse_dynamics
from armature.errors import ArgumentError
from armature.optimize.problem.problem import Guess, Model, Problem
from armature.optimize.problem.stage import column
from armature.optimize.solver.interior import solve, stages
from armature.optimize.transcription.driven import Driven, Weights, at_knot
from armature.optimize.transcription.transcribe import (
    RULES,
    Accelerations,
    ForwardDynamics,
    Instant,
    Shape,
)
from armature.robot import Joint, Link, Robot, library

N = 40


def unit_mass(rule, linear=False, **options):
    """A mass of 1 kg with power τ v as a total and effort τ² as cost."""
    instant = lambda at: Instant(
        cost=at.tau[0] ** 2, constraints=[at.tau[0]], totals=[at.tau[0] * at.v[0]]
    )
    return Accelerations(Shape(1, **options), lambda q, v, a, p, d: a, instant, linear, rule)


@pytest.mark.parametrize("linear", [False, True])
def test_the_motion_is_exact(linear):
    """The step equals the integral of the acceleration, whatever it is."""
    model = unit_mass("midpoint", linear).model()
    x, u = np.array([0.3, -1.2, 0.7])[: model.nx], np.array([2.0])
    kernel = stages(model)[0].values
    h = 0.37
    got = kernel(np.concatenate([x, u]), np.zeros(0), np.array([h]), np.ones(3))[0]
    rate = lambda t: (x[2] + u[0] * t) if linear else u[0]
    t = np.linspace(0, h, 20001)
    v = x[1] + np.concatenate(
        [[0], np.cumsum((rate(t[1:] - t[1] / 2) * np.diff(t)) * np.ones(20000))]
    )
    q = x[0] + np.sum((v[1:] + v[:-1]) / 2 * np.diff(t))
    expected = [q, v[-1], rate(h)][: model.nx]
    np.testing.assert_allclose(got, expected, rtol=1e-7)


@pytest.mark.parametrize("rule", [name for name in RULES if name != "start"])
def test_work_on_a_constant_inertia_is_the_kinetic_energy(rule):
    """Σ τ·v over any motion with any accelerations equals ½v², so that no scheme of this kind makes
    energy."""
    kernel, x, work = stages(unit_mass(rule).model())[0].values, np.zeros(2), 0.0
    for u in np.random.default_rng(0).normal(size=30):
        x, _, t = kernel(
            np.concatenate([x, [u]]), np.zeros(0), np.array([0.2]), np.ones(kernel.inputs[3].size)
        )[:3]
        work += t[0]
    assert work == pytest.approx(x[1] ** 2 / 2, rel=1e-12)


@pytest.mark.parametrize("rule", ["gauss", "simpson"])
def test_work_with_linear_acceleration_is_the_kinetic_energy_too(rule):
    kernel = stages(unit_mass(rule, linear=True).model())[0].values
    after, _, t = kernel(
        np.array([0, 1.0, 0.5, -3.0]), np.zeros(0), np.array([0.2]), np.ones(kernel.inputs[3].size)
    )[:3]
    assert t[0] == pytest.approx((after[1] ** 2 - 1) / 2, rel=1e-12)


def test_explicit_euler_makes_energy():
    """The thesis's scheme loses or makes ½h²a² a step; this is the trap that the rules above
    avoid."""
    instant = lambda at: Instant(totals=[at.tau[0] * at.v[0]])
    model = ForwardDynamics(Shape(1), 1, lambda q, v, tau, p, d: tau, instant, "euler").model()
    f, _, t = stages(model)[0].values(
        np.array([0, 0, 1.0]), np.zeros(0), np.array([0.1]), np.ones(2)
    )[:3]
    assert f[1] ** 2 / 2 - t[0] == pytest.approx(0.1**2 / 2)


def test_chain_rule_equals_plain_differentiation():
    """A shared inner function gives the same values, Jacobians and Hessian as the expanded
    model."""
    driven = Driven(
        library("planar2"),
        Regenerative(),
        rule="gauss",
        durations=1,
        smooth=Smooth(power=1.0, velocity=0.1),
    )
    model = driven.model
    inner = model.inner
    unroll = lambda *z: inner.unrolled(lambda xi: column(inner.function(column(xi))), *z)[1]
    expand = lambda part: lambda x, u, p, d: part(x, u, p, d, unroll(x, u, p, d))
    parts = {
        name: expand(getattr(model, name)) for name in ("dynamics", "cost", "constraints", "totals")
    }
    plain = stages(replace(model, inner=None, key="", **parts))[0]
    shared, rng = stages(model)[0], np.random.default_rng(3)
    arguments = [rng.uniform(0.1, 1, a.shape) for a in plain.derivatives.inputs]
    for got, expected in zip(shared.values(*arguments[:4]), plain.values(*arguments[:4])):
        np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-12)
    for matrix in (dense_hessian, dense_jacobian):
        np.testing.assert_allclose(
            matrix(shared, arguments), matrix(plain, arguments), rtol=1e-8, atol=1e-10
        )


def output(stage, arguments, name):
    names = [a.name for a in stage.derivatives.outputs]
    return stage.derivatives(*arguments, *at_points(stage, arguments))[names.index(name)]


def at_points(stage, arguments):
    """What the derivatives' kernel takes from the others: ω, S, C at all points of the step."""
    if stage.points is None:
        return ()
    xi, omega = stage.values(*arguments[:4])[4:]
    m, D = stage.outer(*arguments, omega)
    size, nm, nd = (a.size for a in stage.points.inputs)
    S, C = stage.points(xi.reshape(-1, size), m.reshape(-1, nm), D.reshape(-1, nd))
    return omega, S.ravel(), C.ravel()


def dense_hessian(stage, arguments):
    size = stage.derivatives.inputs[0].size + stage.derivatives.inputs[1].size
    H = np.zeros((size, size))
    H[stage.layout.H_rows, stage.layout.H_cols] = output(stage, arguments, "H")
    return H


def dense_jacobian(stage, arguments):
    first, J = stage.layout.J_first, np.zeros((stage.nc, stage.derivatives.inputs[0].size))
    for c in range(stage.nc):
        J[c, stage.layout.J_cols[first[c] : first[c + 1]]] = output(stage, arguments, "J")[
            first[c] : first[c + 1]
        ]
    return J


def test_derivatives_equal_differences():
    """The gradient of the Lagrangian differenced gives the Hessian; values differenced give the
    gradient of the cost."""
    model = Model(
        2,
        1,
        lambda x, u, p, d: [x[0] + ca.sin(u[0]) * x[1], x[1] * p[0]],
        lambda x, u, p, d: ca.exp(x[0] * u[0]) + p[0] ** 3 * x[1],
        constraints=lambda x, u, p, d: [x[0] ** 2 * u[0], d[0] * x[1] / x[0]],
        totals=lambda x, u, p, d: [x[0] * x[1] * u[0] * p[0]],
        np=1,
        nd=1,
    )
    stage, rng, eps = stages(model)[0], np.random.default_rng(0), 1e-6
    arguments = [rng.uniform(0.5, 1.5, a.shape) for a in stage.derivatives.inputs]
    z, p, d, w, lam, y, eta = arguments

    def lagrangian(zp):
        f, c, t, l = stage.values(zp[:3], zp[3:], d, w)
        return l[0] + lam @ f + y @ c + eta @ t

    zp = np.concatenate([z, p])
    steps = eps * np.eye(4)
    gradient = lambda at: np.array(
        [(lagrangian(at + s) - lagrangian(at - s)) / (2 * eps) for s in steps]
    )
    big = 1e-4 * np.eye(4)
    numeric = np.array([(gradient(zp + s) - gradient(zp - s)) / 2e-4 for s in big])
    H = dense_hessian(stage, arguments)
    np.testing.assert_allclose(H + np.tril(H, -1).T, numeric, rtol=1e-4, atol=1e-4)
    price = lambda at: stage.values(at[:3], at[3:], d, w)[3][0]
    cost = np.array([price(zp + s) - price(zp - s) for s in steps])
    np.testing.assert_allclose(output(stage, arguments, "g"), cost / (2 * eps), rtol=1e-7)


# motions of an arm with drives -------------------------------------------------------------------

MOTOR = Motor(resistance=0.5, torque_constant=0.1, peak_current=12.0)
DRIVE = Drive(MOTOR, Gear(ratio=80.0))
BARE = Robot(
    "two links",
    (
        Link("base"),
        Link("upper", 2.0, (0.25, 0, 0), (0.01, 0.05, 0.05, 0, 0, 0)),
        Link("fore", 1.0, (0.2, 0, 0), (0.01, 0.02, 0.02, 0, 0, 0)),
    ),
    (
        Joint("shoulder", "continuous", "base", "upper", axis=(0, -1, 0)),
        Joint("elbow", "continuous", "upper", "fore", position=(0.5, 0, 0), axis=(0, -1, 0)),
    ),
    "base",
)
ARM = BARE.with_drives({"shoulder": DRIVE, "elbow": DRIVE})
START, GOAL, T = np.array([0.2, 0.4]), np.array([1.4, -0.6]), 1.0


def plan(arm=ARM, supply="regenerative", weights=Weights(heat=1), change=None, N=N, **options):  # noqa: B008
    driven = Driven(arm, as_supply(supply), **options)
    problem = driven.problem(N, START, GOAL, weights, None if driven.durations else T)
    problem = change(problem) if change else problem
    result = solve(
        problem, driven.guess(*cubic(START, GOAL, T, N), T if driven.durations < 2 else [T / 2] * 2)
    )
    assert result.ok, result.message
    return result


def test_all_rules_and_both_accelerations_agree():
    free = lambda problem: replace(
        problem,
        x=tuple(
            np.where(np.arange(problem.model.nx) >= 4, s * np.inf, b) if problem.model.nx > 4 else b
            for s, b in zip((-1, 1), problem.x)
        ),
    )
    costs = [plan(rule=rule, N=160).cost for rule in ("midpoint", "trapezoid", "gauss", "simpson")]
    costs.append(plan(rule="gauss", linear=True, change=free, N=160).cost)
    np.testing.assert_allclose(costs, costs[0], rtol=6e-3)


def test_forward_and_inverse_transcriptions_agree():
    """RK4 with torques as controls against accelerations as controls."""
    from armature.dynamics.recursion.recursive import forward_dynamics

    drives = ARM.drivetrain
    instant = lambda at: Instant(cost=sum(f.copper for f in drives.flow(at.tau, at.v)))
    model = ForwardDynamics(
        Shape(2), 2, lambda q, v, tau, p, d: forward_dynamics(ARM.tree, q, v, tau), instant
    ).model()
    driven = Driven(ARM, Regenerative())
    N = 160
    problem = driven.problem(N, START, GOAL, Weights(heat=1), T)
    best = solve(problem, driven.guess(*cubic(START, GOAL, T, N), T))
    torque = inverse_dynamics(ARM, best.x[:-1, :2], best.x[:-1, 2:], best.u)
    other = solve(Problem(model, N, x=problem.x, data=T / N), Guess(best.x, torque))
    assert best.ok and other.ok
    assert other.cost == pytest.approx(best.cost, rel=1e-3)


def test_a_via_configuration_is_passed_without_stopping():
    via = np.array([1.2, 0.9])
    passing = lambda p: at_knot(p, 20, [*via, -np.inf, -np.inf], [*via, np.inf, np.inf])
    result = plan(change=passing)
    np.testing.assert_allclose(result.x[20, :2], via, atol=1e-8)
    assert np.abs(result.x[20, 2:]).max() > 0.1
    assert result.cost > plan().cost


def test_a_via_point_with_free_passing_time():
    """Two free durations with a fixed sum: the passing time is chosen, and no fixed one is
    better."""
    via, halves = np.array([0.4, 0.6]), np.zeros((N, 2))
    halves[:20, 0] = halves[20:, 1] = 1 / 20

    def change(problem):
        problem = at_knot(problem, 20, [*via, -np.inf, -np.inf], [*via, np.inf, np.inf])
        data = np.array(problem.data)
        data[:N, 1:3] = halves
        return replace(problem, data=data, p=(0.05, 0.95))

    both = Driven(ARM, Regenerative(), durations=2)
    problem = change(both.problem(N, START, GOAL, Weights(heat=1, time=30), steps=halves))
    free = solve(problem, both.guess(*cubic(START, GOAL, T, N), [T / 2] * 2))
    assert free.ok
    for share in (0.9, 1.1):
        first = share * free.p[0]
        fixed = solve(
            replace(problem, p=([first, free.p[1]],) * 2), Guess(free.x, free.u, [first, free.p[1]])
        )
        assert fixed.ok and fixed.cost > free.cost


def test_peak_current_holds_at_every_point_and_binds():
    fast = ARM.with_drives(
        {
            name: Drive(replace(MOTOR, peak_current=2.2), Gear(ratio=80.0))
            for name in ARM.joint_names
        }
    )
    loose, tight = plan(), plan(fast, rule="trapezoid")
    q, v = tight.x[:, :2], tight.x[:, 2:]
    for side in (slice(0, -1), slice(1, None)):
        current = inverse_dynamics(fast, q[side], v[side], tight.u) / 8.0
        assert np.abs(current).max() <= 2.2 + 1e-6
    assert tight.cost > loose.cost


def test_torque_rate_and_jerk_are_limited():
    free = plan(linear=True, rule="gauss")
    rate = 60.0
    arm = ARM.with_limits({name: {"torque_rate": rate, "jerk": 150.0} for name in ARM.joint_names})
    result = plan(arm, linear=True, rule="gauss")
    torque = inverse_dynamics(arm, result.x[:, :2], result.x[:, 2:4], result.x[:, 4:6])
    assert np.abs(np.diff(torque, axis=0)).max() <= rate * T / N + 1e-6
    assert np.abs(result.u).max() <= 150.0 + 1e-6
    assert result.cost > free.cost


def test_non_regenerative_slacks_lie_on_the_corner():
    """Σ slack = Σ max(0, P): the epigraph is exact."""
    result = plan(supply="non-regenerative", weights=Weights(energy=1))
    q, v, a = result.x[:, :2], result.x[:, 2:], result.u[:, :2]
    h = T / N
    qm, vm = q[:-1] + h / 2 * v[:-1] + h * h / 8 * a, v[:-1] + h / 2 * a
    flows = ARM.drivetrain.flow(inverse_dynamics(ARM, qm, vm, a), vm, a)
    exact = h * sum(np.maximum(0, f.power).sum() for f in flows)
    assert result.cost == pytest.approx(exact, rel=1e-6)


def test_a_shared_bus_lies_between_full_and_no_regeneration():
    costs = [
        plan(supply=s, weights=Weights(energy=1)).cost
        for s in (
            Regenerative(),
            Bus(capacitance=0.05, voltage=48.0, resistor_voltage=56.0),
            Bus(capacitance=1e-6, voltage=48.0, resistor_voltage=56.0),
            NonRegenerative(),
        )
    ]
    assert costs == sorted(costs)
    assert costs[1] < costs[2] - 1e-3


def test_a_joint_without_a_drive_carries_no_torque():
    """An under-actuated arm by accelerations: the passive joint's torque is an equation at every
    point."""
    passive = (
        BARE.with_gravity((0, 0, 0))
        .with_drives({"shoulder": DRIVE})
        .with_friction({"elbow": {"viscous": 0.05}})
    )
    driven = Driven(passive, Regenerative())
    problem = driven.problem(N, START, GOAL, Weights(heat=1), 2.0)
    low, high = np.array(problem.x[0]), np.array(problem.x[1])
    low[-1, 1:], high[-1, 1:] = -np.inf, np.inf  # only the driven joint's goal is asked for
    result = solve(replace(problem, x=(low, high)), driven.guess(*cubic(START, GOAL, 2.0, N), 2.0))
    assert result.ok, result.message
    h = 2.0 / N
    q, v = result.x[:-1, :2], result.x[:-1, 2:]
    middle = v + h / 2 * result.u
    torque = inverse_dynamics(passive, q + h / 2 * v + h * h / 8 * result.u, middle, result.u)
    np.testing.assert_allclose(torque[:, 1] + 0.05 * middle[:, 1], 0, atol=1e-6)


def test_unknown_rules_and_supplies_are_refused():
    with pytest.raises(ArgumentError, match="midpoint"):
        Driven(ARM, Regenerative(), rule="euler").model  # noqa: B018
    with pytest.raises(ArgumentError, match="regenerative"):
        as_supply("solar")
    with pytest.raises(ArgumentError, match="seconds > 0"):
        Driven(ARM, Regenerative()).problem(N, START, GOAL, Weights(heat=1), 0.0)

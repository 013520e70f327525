"""Closed forms equal the complex step, automatic differentiation and Pinocchio: derivatives of any
order without differentiation."""

from __future__ import annotations

from itertools import combinations_with_replacement
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given

from armature.dynamics import compiled, compiled_closed
from armature.dynamics.differentiation import closed_form as cf
from armature.dynamics.differentiation import derivatives, differentiated, gradient
from armature.dynamics.recursion import kinematics, mass, recursive
from armature.errors import ArgumentError, RobotError
from armature.kernel.symbol import symbols, to_casadi
from armature.kernel.trace import trace
from armature.robot.library import library
from armature.robot.load import load
from random_robots import Sample, along, assert_near, few, samples

ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
UR5 = ROBOTS / "ur_description/urdf/ur5_robot.urdf"


def complex_step(function, q: np.ndarray, h: float = 1e-30) -> np.ndarray:
    """∂function/∂q on a last axis."""
    return np.stack([np.imag(function(q + 1j * h * e)) / h for e in np.eye(len(q))], axis=-1)


# first derivatives by two sweeps -----------------------------------------------------------------


@few
@given(samples())
def test_gradient_equals_the_complex_step(s: Sample):
    found = gradient.inverse_dynamics_gradient(s.tree, s.q, s.v, s.a)
    torque = lambda q, v=s.v, a=s.a: recursive.inverse_dynamics(s.tree, q, v, a)
    size = np.abs(torque(s.q)).max()
    assert_near(
        found.dq,
        np.stack([along(s.robot, torque, s.q, e) for e in np.eye(s.robot.nv)], axis=-1),
        scale=size,
    )
    assert_near(found.dv, complex_step(lambda v: torque(s.q, v), s.v), scale=size)
    assert_near(found.da, mass.mass_matrix(s.tree, s.q))


@few
@given(samples(most=4))
def test_forward_derivatives_on_plain_numbers_equal_the_complex_step(s: Sample):
    accelerate = lambda q, v, tau: recursive.forward_dynamics(s.tree, q, v, tau)
    qdd, dq, dv, dtau = derivatives.forward_with_value(s.tree, s.q, s.v, s.a)
    size = np.linalg.cond(dtau) * max(1.0, np.abs(qdd).max()) * np.abs(dtau).max()
    assert_near(qdd, accelerate(s.q, s.v, s.a), 1e-13, size)
    assert_near(
        dq,
        np.stack(
            [along(s.robot, lambda q: accelerate(q, s.v, s.a), s.q, e) for e in np.eye(s.robot.nv)],
            axis=-1,
        ),
        1e-12,
        size,
    )
    assert_near(dv, complex_step(lambda v: accelerate(s.q, v, s.a), s.v), 1e-12, size)
    assert_near(dtau, complex_step(lambda tau: accelerate(s.q, s.v, tau), s.a), 1e-12, size)


def test_compiled_first_derivatives_equal_pinocchio():
    robot, model = load(UR5), pin.buildModelFromUrdf(str(UR5))
    data = model.createData()
    q, v, x = np.random.default_rng(0).normal(size=(3, 5, 6))
    inverse = compiled.inverse_dynamics_derivatives(robot, q, v, x)
    forward = compiled.forward_dynamics_derivatives(robot, q, v, x)
    for k in range(5):
        for ours, theirs in zip(inverse, pin.computeRNEADerivatives(model, data, q[k], v[k], x[k])):
            upper = np.triu(theirs) + np.triu(theirs, 1).T if ours is inverse.da else theirs
            assert_near(ours[k], upper, 1e-11)
        pin.computeABADerivatives(model, data, q[k], v[k], x[k])
        M_inverse = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        for ours, theirs in zip(forward, (data.ddq_dq, data.ddq_dv, M_inverse)):
            assert_near(ours[k], theirs, 1e-9)


@pytest.mark.parametrize("name", ["planar2", "scara", "six_axis", "seven_axis"])
def test_closed_first_derivatives_need_fewer_operations_than_automatic_differentiation(name):
    tree = library(name).tree
    inputs = {"q": tree.nq, "v": tree.nv, "a": tree.nv}
    count = lambda f: trace(lambda *x: tuple(f(tree, *x)), inputs).operations
    assert count(derivatives.inverse) <= count(differentiated.inverse)
    assert count(derivatives.forward) <= count(differentiated.forward)
    inputs["weights"] = tree.nv
    assert count(derivatives.hessian) <= count(differentiated.hessian)


@few
@given(samples(floating=False, most=5))
def test_hessian_equals_the_complex_step(s: Sample):
    n, weights = s.robot.nv, s.rng.normal(size=s.robot.nv)

    def weighted(x):
        return np.concatenate(
            [
                weights @ part
                for part in gradient.inverse_dynamics_gradient(
                    s.tree, x[:n], x[n : 2 * n], x[2 * n :]
                )
            ]
        )

    exact = complex_step(weighted, np.concatenate([s.q, s.v, s.a]))
    assert_near(derivatives.hessian(s.tree, s.q, s.v, s.a, weights), exact)


# theorems 1 to 3 ---------------------------------------------------------------------------------


@few
@given(samples(floating=False, most=5))
def test_columns_have_the_derivatives_of_theorems_1_and_2(s: Sample):
    link, at = s.moving_links[-1], np.array([0.1, -0.2, 0.3])
    for order in (0, 1, 2):
        for function in (cf.link_columns, cf.jacobian_derivatives):
            lower = lambda q, function=function, order=order: function(s.tree, q, link, at, order)
            assert_near(function(s.tree, s.q, link, at, order + 1), complex_step(lower, s.q))
    assert_near(
        cf.jacobian_derivatives(s.tree, s.q, link, at), kinematics.jacobian(s.tree, s.q, link, at)
    )


@few
@given(samples(floating=False, mimics=False, most=4))
def test_axes_carried_inwards_have_the_derivatives_of_theorem_2(s: Sample):
    form, count, h = cf.ClosedForm(s.tree, s.q), len(s.tree.bodies), 1e-30
    moved = [cf.ClosedForm(s.tree, s.q + 1j * h * e) for e in np.eye(s.robot.nq)]
    by_body = [next(k for k, b in enumerate(s.tree.bodies) if b.q == j) for j in range(s.robot.nq)]
    for k in range(count):
        for i in form.g[k]:
            for by in [
                (),
                *((t,) for t in range(count)),
                *combinations_with_replacement(range(count), 2),
            ]:
                exact = np.stack([np.imag(m.d_g(k, i, by)) / h for m in moved], axis=-1)
                assert_near(np.stack([form.d_g(k, i, (*by, t)) for t in by_body], axis=-1), exact)


@few
@given(samples(floating=False, most=4))
def test_inertia_has_the_derivatives_of_theorem_3(s: Sample):
    assert_near(cf.inertia_derivatives(s.tree, s.q, 0), mass.mass_matrix(s.tree, s.q))
    assert_near(
        cf.inertia_derivatives(s.tree, s.q, 1),
        complex_step(lambda q: mass.mass_matrix(s.tree, q), s.q),
    )
    assert_near(
        cf.inertia_derivatives(s.tree, s.q, 2),
        complex_step(lambda q: cf.inertia_derivatives(s.tree, q, 1), s.q),
    )


def test_third_derivatives_equal_automatic_differentiation():
    tree = library("burgevin").tree
    q, v, a = np.random.default_rng(2).normal(size=(3, 3))
    x = symbols("q", 3)
    point = tuple(tree.frames)[-1], np.ones(3)
    for value, closed in (
        (mass.mass_matrix(tree, x).ravel(), cf.inertia_derivatives(tree, q, 3)),
        (recursive.inverse_dynamics(tree, x, v, a), cf.torque_derivatives(tree, q, v, a, 3)),
        (kinematics.jacobian(tree, x, *point).ravel(), cf.jacobian_derivatives(tree, q, *point, 3)),
    ):
        f = to_casadi(value)
        for _ in range(3):
            f = ca.vec(ca.jacobian(f, to_casadi(x)).T)  # C order: the new axis last
        exact = np.array(ca.Function("f", [to_casadi(x)], [ca.densify(f)])(q)).reshape(closed.shape)
        assert_near(closed, exact)


@few
@given(samples(floating=False, most=4))
def test_torque_has_closed_derivatives(s: Sample):
    exact = lambda q: recursive.inverse_dynamics(s.tree, q, s.v, s.a)
    size = np.abs(exact(s.q)).max()
    assert_near(cf.torque_derivatives(s.tree, s.q, s.v, s.a, 0), exact(s.q), scale=size)
    assert_near(
        cf.torque_derivatives(s.tree, s.q, s.v, s.a, 1), complex_step(exact, s.q), scale=size
    )
    dq = lambda q: gradient.inverse_dynamics_gradient(s.tree, q, s.v, s.a).dq
    assert_near(cf.torque_derivatives(s.tree, s.q, s.v, s.a, 2), complex_step(dq, s.q), scale=size)


# the public, batched functions -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["burgevin", "scara", "six_axis"])
def test_coriolis_tensor_is_2_14_and_gives_the_coriolis_forces(name):
    robot = library(name)
    q, v = np.random.default_rng(1).normal(size=(2, 3, robot.n))
    d, C = compiled_closed.coriolis_tensor(robot, q), compiled_closed.coriolis_matrix(robot, q, v)
    for k in range(3):
        assert_near(d[k], cf.coriolis_symbols(robot.tree, q[k]))
    forces = compiled.bias_forces(robot, q, v) - compiled.bias_forces(robot, q, 0 * v)
    assert_near(np.einsum("kisj,ks,kj->ki", d, v, v), forces)
    assert_near(np.einsum("kij,kj->ki", C, v), forces)
    M_rate = np.einsum("kijs,ks->kij", compiled_closed.inertia_derivatives(robot, q), v)
    skew = M_rate - 2 * C
    assert_near(skew, -np.swapaxes(skew, 1, 2))


@few
@given(samples(floating=True, most=3, mimics=False))
def test_floating_coriolis_tensor_gives_the_coriolis_forces(s: Sample):
    d = compiled_closed.symbols_by_rates(s.tree, s.q)
    forces = recursive.bias_forces(s.tree, s.q, s.v) - recursive.bias_forces(s.tree, s.q, 0 * s.v)
    assert_near(np.einsum("isj,s,j->i", d, s.v, s.v), forces)


def test_kinematic_derivatives_are_those_of_the_jacobian():
    robot = library("six_axis")
    q, at, link = (
        np.random.default_rng(4).normal(size=(2, 6)),
        np.array([0.1, 0.0, 0.2]),
        robot.tips[0],
    )
    for axes, plain in (("world", cf.jacobian_derivatives), ("link", cf.link_columns)):
        for order in (0, 1, 2):
            found = compiled_closed.kinematic_derivatives(robot, q, link, order, at, axes)
            assert_near(found, np.array([plain(robot.tree, x, link, at, order) for x in q]))
    assert_near(
        compiled_closed.kinematic_derivatives(robot, q, link, 0, at),
        compiled.jacobian(robot, q, link, at),
    )


def test_kinematic_derivatives_equal_pinocchio_hessian():
    robot, model = load(UR5), pin.buildModelFromUrdf(str(UR5))
    data = model.createData()
    q = np.random.default_rng(5).normal(size=6)
    frame = model.joints[6].id
    pin.computeJointKinematicHessians(model, data, q)
    hessian = pin.getJointKinematicHessian(model, data, frame, pin.LOCAL).transpose(
        2, 1, 0
    )  # its Python binding reverses the axes
    assert_near(
        compiled_closed.kinematic_derivatives(robot, q, "wrist_3_link", 1, axes="link"), hessian
    )


def test_hessian_of_weighted_torques_equals_the_complex_step():
    robot = library("burgevin")
    q, v, a, weights = np.random.default_rng(6).normal(size=(4, 3))

    def weighted(x):
        parts = gradient.inverse_dynamics_gradient(robot.tree, x[:3], x[3:6], x[6:])
        return np.concatenate([weights @ p for p in parts])

    assert_near(
        compiled_closed.inverse_dynamics_hessian(robot, q, v, a, weights),
        complex_step(weighted, np.concatenate([q, v, a])),
    )


def test_what_cannot_be_differentiated_is_refused():
    robot = library("planar2")
    with pytest.raises(ArgumentError, match="whole number"):
        compiled_closed.kinematic_derivatives(robot, np.zeros(2), robot.tips[0], order=-1)
    with pytest.raises(ArgumentError, match="no link 'hand'"):
        compiled_closed.kinematic_derivatives(robot, np.zeros(2), "hand")
    with pytest.raises(ArgumentError, match="axes"):
        compiled_closed.kinematic_derivatives(robot, np.zeros(2), robot.tips[0], axes="tool")
    with pytest.raises(ArgumentError, match="lower order"):
        compiled_closed.inertia_derivatives(robot, np.zeros(2), order=30)
    floating = load(UR5, floating_base=True)
    with pytest.raises(RobotError, match="six one-axis joints"):
        compiled_closed.kinematic_derivatives(floating, np.zeros(13), "wrist_3_link")
    with pytest.raises(RobotError, match="six one-axis joints"):
        compiled_closed.inverse_dynamics_hessian(floating, np.zeros(13), *np.zeros((3, 12)))

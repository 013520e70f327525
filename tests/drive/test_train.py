"""Several motors on one joint and differentials: power is kept, the load is shared with the least heat."""

import numpy as np
import pytest
from scipy.optimize import minimize

from armature.drive import Coupling, Drive, Friction, Gear, Motor, drivetrain, stack
from armature.errors import ArgumentError, RobotError

A, B = Drive(Motor(1.0, 0.5), Gear(10.0)), Drive(Motor(2.0, 0.4), Gear(-20.0))
RNG = np.random.default_rng(3)
TAU, V = RNG.normal(size=(50, 3)) * 8, RNG.normal(size=(50, 3))


def test_plain_drives_are_the_identity():
    train = drivetrain([Coupling(("z",), (B,)), Coupling(("x",), (A,))], ("x", "y", "z"))
    assert train.axis_names == ("x", "z") and train.driven == (True, False, True)
    flows = train.flow(TAU, V)
    assert np.allclose(flows[1].current, B.flow(TAU[:, 2], V[:, 2]).current)


def test_differential_keeps_power():
    train = drivetrain([Coupling(("x", "y"), (A, B), ((1, 1), (0.5, -1))), Coupling(("z",), (A,))], ("x", "y", "z"))
    tau, v = np.stack(train.axis_torque(TAU), -1), np.stack(train.axis_velocity(V), -1)
    assert np.allclose((tau * v).sum(-1), (TAU * V).sum(-1))
    assert train.axis_names == ("x+y.1", "x+y.2", "z")


def test_two_motors_share_with_the_least_heat():
    train = drivetrain([Coupling(("x",), (A, B))], ("x",))
    copper = stack(train.flow(np.array([[7.0]]), np.array([[0.0]])), "copper").sum()
    heat = lambda u: float(A.flow(u[0], 0.0).copper + B.flow(7.0 - u[0], 0.0).copper)
    best = minimize(heat, [1.0], tol=1e-12)
    assert copper == pytest.approx(best.fun, rel=1e-9)


def test_joint_friction_is_carried_by_the_drives():
    train = drivetrain([Coupling(("x",), (A,))], ("x",), (Friction(2.0, 1.0),))
    assert train.flow([3.0], [0.5])[0].current == pytest.approx(A.flow(3.0 + 2.0, 0.5).current)


def test_symbols_pass_through():
    import casadi

    train = drivetrain([Coupling(("x", "y"), (A, B), ((1, 1), (1, -1)))], ("x", "y"))
    t, v = casadi.SX.sym("t", 2), casadi.SX.sym("v", 2)
    f = casadi.Function("f", [t, v], [train.flow(t, v)[0].power])
    assert float(f(TAU[0, :2], V[0, :2])) == pytest.approx(float(train.flow(TAU[0, :2], V[0, :2])[0].power))


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Coupling(("x", "y"), (A, B), ((1, 1), (2, 2))), "without a drive"),
        (lambda: Coupling(("x", "y"), (A,), ((1, 1),)), "without a drive"),
        (lambda: Coupling(("x", "y"), (A, B)), "2 rows"),
        (lambda: drivetrain([Coupling(("w",), (A,))], ("x",)), "no such moving joint"),
        (lambda: drivetrain([Coupling(("x",), (A,)), Coupling(("x",), (B,))], ("x",)), "two drives"),
    ],
)
def test_impossible_couplings_are_refused(make, words):
    with pytest.raises(RobotError, match=words):
        make()


def test_wrong_number_of_joints_is_told():
    with pytest.raises(ArgumentError, match=r"2 joints \(x, y\), got 3"):
        drivetrain([Coupling(("x",), (A,))], ("x", "y")).flow(TAU, V)


def test_limits_carry_axis_names():
    d = Drive(Motor(1.0, 0.5, peak_heat=5.0))
    assert [(k, name, limit.name) for k, name, limit in drivetrain([Coupling(("x",), (d,))], ("x",)).limits()] == [(0, "x", "peak heat")]

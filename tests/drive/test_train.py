"""Several motors on one joint and differentials: power is kept, the load is shared with the least
heat."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from armature.drive import (
    EXACT,
    Amplifier,
    Coupling,
    Drive,
    EfficiencyTable,
    Friction,
    Gear,
    Motor,
    Smooth,
    drivetrain,
    stack,
)
from armature.errors import ArgumentError, RobotError
from armature.kernel import compile as compile_kernel

A, B = Drive(Motor(1.0, 0.5), Gear(10.0)), Drive(Motor(2.0, 0.4), Gear(-20.0))
RNG = np.random.default_rng(3)
TAU, V = RNG.normal(size=(50, 3)) * 8, RNG.normal(size=(50, 3))


def test_plain_drives_are_the_identity():
    train = drivetrain([Coupling(("z",), (B,)), Coupling(("x",), (A,))], ("x", "y", "z"))
    assert train.axis_names == ("x", "z") and train.driven == (True, False, True)
    flows = train.flow(TAU, V)
    assert np.allclose(flows[1].current, B.flow(TAU[:, 2], V[:, 2]).current)


def test_differential_keeps_power():
    train = drivetrain(
        [Coupling(("x", "y"), (A, B), ((1, 1), (0.5, -1))), Coupling(("z",), (A,))], ("x", "y", "z")
    )
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


def test_symbols_of_casadi_pass_through():
    import casadi

    train = drivetrain([Coupling(("x", "y"), (A, B), ((1, 1), (1, -1)))], ("x", "y"))
    t, v = casadi.SX.sym("t", 2), casadi.SX.sym("v", 2)
    f = casadi.Function("f", [t, v], [train.flow(t, v)[0].power])
    assert float(f(TAU[0, :2], V[0, :2])) == pytest.approx(
        float(train.flow(TAU[0, :2], V[0, :2])[0].power)
    )


@pytest.mark.parametrize("smooth", (EXACT, Smooth(0.3, 0.05, 0.1)))
def test_the_compiler_traces_every_law(smooth):
    """The compiled flow of drives with every corner equals the plain one on a batch."""
    table = EfficiencyTable((10.0, 100.0), (1.0, 10.0), ((0.6, 0.8), (0.5, 0.7)))
    lossy = Drive(
        Motor(0.6, 0.06, inertia=1e-5, iron_torque=4e-3, viscous=1e-5),
        Gear(-50.0, 0.8),
        Amplifier(48.0, efficiency=0.93, standby=2.0),
        Friction(0.2, 0.4, 0.3, 0.1, 0.05),
    )
    couplings = [
        Coupling(("x",), (lossy,)),
        Coupling(
            ("y", "z"),
            (replace(A, gear=Gear(9.0, table)), replace(B, gear=Gear(7.0, 0.9, rule="thesis"))),
            ((1, 1), (0.5, -1)),
        ),
    ]
    train = drivetrain(couplings, ("x", "y", "z"), (Friction(0.1, 0.2),) * 3)
    quantities = ("current", "voltage", "power", "copper")

    def plain(tau, v, a):
        flows = train.flow(tau, v, a, smooth=smooth)
        return tuple(np.stack([np.asarray(getattr(f, q)) for f in flows], -1) for q in quantities)

    compiled = compile_kernel(plain, inputs={"tau": 3, "v": 3, "a": 3}, symbols="numpy")
    for got, expected in zip(compiled(TAU, V, TAU / 3), plain(TAU, V, TAU / 3)):
        assert np.allclose(got, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Coupling(("x", "y"), (A, B), ((1, 1), (2, 2))), "without a drive"),
        (lambda: Coupling(("x", "y"), (A,), ((1, 1),)), "without a drive"),
        (lambda: Coupling(("x", "y"), (A, B)), "2 rows"),
        (lambda: drivetrain([Coupling(("w",), (A,))], ("x",)), "no such moving joint"),
        (
            lambda: drivetrain([Coupling(("x",), (A,)), Coupling(("x",), (B,))], ("x",)),
            "two drives",
        ),
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
    assert [
        (k, name, limit.name)
        for k, name, limit in drivetrain([Coupling(("x",), (d,))], ("x",)).limits()
    ] == [(0, "x", "peak heat")]

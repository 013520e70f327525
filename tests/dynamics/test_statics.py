"""Equilibria: pendulums, a spring toggle with known roots, a four-bar under gravity against its
potential energy."""

import numpy as np
import pytest
from scipy.optimize import brentq

import armature as arm
from armature.dynamics.bodies.elements import TorsionSpring

G = 9.81


def chain(count: int, length: float = 0.5) -> arm.Robot:
    """Bars hung on one another; all turn about y, 0 is straight along x, and positive angles go
    down."""
    bar = lambda k: arm.robot.Link(f"bar{k}", 1.0, (length / 2, 0, 0), (1e-3, 0.02, 0.02, 0, 0, 0))
    names = ["base", *(f"bar{k}" for k in range(count))]
    joint = lambda k: arm.robot.Joint(
        f"j{k}", "continuous", names[k], names[k + 1], (length if k else 0.0, 0, 0), axis=(0, 1, 0)
    )
    return arm.Robot(
        "chain",
        (arm.robot.Link("base"), *(bar(k) for k in range(count))),
        tuple(joint(k) for k in range(count)),
        "base",
    )


def test_a_pendulum_hangs_stable_and_stands_unstable():
    found = arm.equilibrium(chain(1))
    assert [e.stability for e in found] == ["stable", "unstable"]
    np.testing.assert_allclose([e.q[0] for e in found], [np.pi / 2, -np.pi / 2], atol=1e-6)
    # I φ'' = −m g l/2 sin φ about the pin
    rate = np.sqrt(1.0 * G * 0.25 / (0.02 + 0.25**2))
    np.testing.assert_allclose(np.abs(found[0].eigenvalues.imag), rate, rtol=1e-6)


def test_a_double_pendulum_has_four_equilibria_of_which_one_is_stable():
    found = arm.equilibrium(chain(2))
    assert len(found) == 4 and [e.stable for e in found].count(True) == 1
    np.testing.assert_allclose(found[0].q, [np.pi / 2, 0.0], atol=1e-6)


def test_a_given_torque_moves_the_pendulum_to_where_it_is_in_balance():
    found = arm.equilibrium(chain(1), tau=[1.0])
    expected = np.arccos(
        -1.0 / (G * 0.25)
    )  # gravity's torque −m g l/2 cos q and 1 N·m are in balance
    np.testing.assert_allclose(sorted(abs(e.q[0]) for e in found), [expected, expected], atol=1e-6)
    assert [e.stable for e in found].count(True) == 1


def test_a_spring_that_holds_a_bar_upright_has_the_roots_of_its_equation():
    """An inverted bar with a weak torsion spring at its pin: k φ = m g l/2 sin φ has three roots;
    upright is unstable."""
    k, m = 1.2, G * 0.25
    found = arm.equilibrium(chain(1), elements=[TorsionSpring("j0", k, rest=-np.pi / 2)])
    root = brentq(lambda x: k * x - m * np.sin(x), 0.1, np.pi)
    near = sorted(e.q[0] + np.pi / 2 for e in found if abs(e.q[0] + np.pi / 2) < np.pi)
    np.testing.assert_allclose(near, [-root, 0.0, root], atol=1e-6)
    assert sorted(e.stability for e in found) == ["stable", "stable", "unstable"]


def test_a_four_bar_rests_where_its_potential_energy_is_stationary():
    crank, coupler, rocker, ground = 0.3, 0.6, 0.5, 0.7
    bar = lambda name, mass, l: arm.robot.Link(
        name, mass, (l / 2, 0, 0), (1e-3, mass * l**2 / 12, mass * l**2 / 12, 0, 0, 0)
    )
    hinge = lambda name, parent, at: arm.robot.Joint(
        name, "continuous", parent, name, at, axis=(0, -1, 0), passive=name != "crank"
    )
    robot = arm.Robot(
        "four-bar",
        (
            arm.robot.Link("base"),
            bar("crank", 1.0, crank),
            bar("coupler", 1.5, coupler),
            bar("rocker", 1.2, rocker),
        ),
        (
            hinge("crank", "base", (0, 0, 0)),
            hinge("coupler", "crank", (crank, 0, 0)),
            hinge("rocker", "base", (ground, 0, 0)),
        ),
        "base",
        loops=(
            arm.robot.Loop(
                "pin",
                "revolute",
                "coupler",
                "rocker",
                (coupler, 0, 0),
                (rocker, 0, 0),
                axis=(0, -1, 0),
            ),
        ),
    )
    found = arm.equilibrium(robot, starts=40)
    assert len(found) >= 2 and any(e.stable for e in found) and any(not e.stable for e in found)
    for e in found:  # along the loop, to both sides
        energies = []
        for step in (-1e-3, 0.0, 1e-3):
            q = arm.close_loops(robot, e.q + [step, 0, 0], hold=["crank"]) if step else e.q
            energies.append(float(arm.dynamics.potential_energy(robot, q)))
        slope, bend = energies[2] - energies[0], energies[2] - 2 * energies[1] + energies[0]
        assert abs(slope) < 1e-6 and (bend > 0) == e.stable


def test_ranges_leave_out_what_lies_outside():
    limited = chain(1).with_limits({"j0": {"lower": 0.0, "upper": 3.0}})
    assert [e.stability for e in arm.equilibrium(limited)] == ["stable"]
    with pytest.raises(arm.errors.ArgumentError, match="one torque for each"):
        arm.equilibrium(chain(2), tau=[1.0, 2.0, 3.0])

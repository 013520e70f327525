"""Equilibria of mechanisms of bodies and couplings, against equations written down by hand."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

import armature as arm
from armature import mechanisms as mech

G, Z = 9.81, (0, 0, 1)
DOWN = (0.0, -G, 0.0)


def turned(angle: float) -> tuple:
    c, s = np.cos(angle), np.sin(angle)
    return ((c, -s, 0), (s, c, 0), Z)


def bar(name: str, mass: float, a: np.ndarray, b: np.ndarray) -> mech.Body:
    """A slender bar from a to b."""
    length, angle = np.linalg.norm(b - a), np.arctan2(*(b - a)[::-1])
    inertia = (0.0, mass * length**2 / 12, mass * length**2 / 12)
    return mech.Body(name, mass, inertia, (*(a + b) / 2, 0), turned(angle))


def angle_of(q: np.ndarray, body: int) -> float:
    """Of a body that turns about z."""
    return 2 * np.arctan2(q[7 * body + 5], q[7 * body + 6])


def test_a_pendulum_on_a_spring_held_slider_hangs_and_stands():
    """Slider on a level guide, held by a spring of k: x = rest, the pendulum down (stable) or up;
    frequencies of the 2 × 2 problem."""
    k, M, m, length = 50.0, 2.0, 1.0, 0.8
    slider = mech.Body("slider", M, (0.1, 0.1, 0.1))
    rod = bar("rod", m, np.zeros(2), length * np.array([np.cos(-1.0), np.sin(-1.0)]))
    joints = [
        mech.prismatic("guide", "ground", "slider", (0, 0, 0), (1, 0, 0)),
        mech.revolute("pin", "slider", "rod", (0, 0, 0), Z),
    ]
    rail = mech.Spring("ground", "slider", (-3.0, 0, 0), (0, 0, 0), stiffness=k, rest_length=3.0)
    found = arm.equilibrium(
        mech.Mechanism("cart", [slider, rod], joints, elements=[rail], gravity=DOWN), starts=12
    )
    found = [e for e in found if e.q[0] > -3.0]  # the spring may also point the other way
    assert [e.stability for e in found] == ["stable", "unstable"]
    assert np.allclose([e.q[0] for e in found], 0.0, atol=1e-6)
    np.testing.assert_allclose([np.sin(angle_of(e.q, 1)) for e in found], [-1.0, 1.0], atol=1e-8)
    # (x, φ) about the hanging position
    mass = np.array([[M + m, m * length / 2], [m * length / 2, m * length**2 / 3]])
    stiffness = np.diag([k, m * G * length / 2])
    rates = np.sqrt(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real)
    np.testing.assert_allclose(
        np.unique(np.abs(found[0].eigenvalues.imag).round(5)), np.sort(rates), rtol=1e-4
    )


def four_bar_heights(crank: float, coupler: float, rocker: float, ground: float, side: float):
    """θ → (Σ m h of the bars, the coupler's far end), with the rocker to one side of the
    diagonal."""

    def at(theta: float) -> tuple[float, np.ndarray, np.ndarray]:
        B, D = crank * np.array([np.cos(theta), np.sin(theta)]), np.array([ground, 0.0])
        d = D - B
        r = np.linalg.norm(d)
        along = (coupler**2 - rocker**2 + r**2) / (2 * r)
        C = B + along * d / r + side * np.sqrt(coupler**2 - along**2) * np.array([-d[1], d[0]]) / r
        return 1.0 * B[1] / 2 + 1.5 * (B[1] + C[1]) / 2 + 1.2 * C[1] / 2, B, C

    return at


def test_a_four_bar_rests_where_its_height_is_stationary_in_both_assemblies():
    lengths = 0.3, 0.6, 0.5, 0.7
    expected = []
    for side in (1.0, -1.0):
        at = four_bar_heights(*lengths, side)
        slope = lambda x, at=at: at(x + 1e-5)[0] - at(x - 1e-5)[0]
        grid = np.linspace(-np.pi, np.pi, 400)
        for a, b in pairwise(grid):
            if slope(a) * slope(b) < 0:
                root = brentq(slope, a, b, xtol=1e-13)
                expected.append(
                    (
                        np.mod(root, 2 * np.pi),
                        at(root)[2],
                        at(root + 1e-3)[0] + at(root - 1e-3)[0] > 2 * at(root)[0],
                    )
                )
    _, B, C = four_bar_heights(*lengths, 1.0)(1.0)
    D = np.array([lengths[3], 0.0])
    bodies = [
        bar("crank", 1.0, np.zeros(2), B),
        bar("coupler", 1.5, B, C),
        bar("rocker", 1.2, D, C),
    ]
    pins = [
        ("ground", "crank", np.zeros(2)),
        ("crank", "coupler", B),
        ("coupler", "rocker", C),
        ("ground", "rocker", D),
    ]
    joints = [mech.revolute(f"pin {i}", a, b, (*p, 0), Z) for i, (a, b, p) in enumerate(pins)]
    found = arm.equilibrium(mech.Mechanism("four-bar", bodies, joints, gravity=DOWN), starts=24)
    assert len(found) == len(expected) == 4
    for e in found:
        theta = np.mod(angle_of(e.q, 0), 2 * np.pi)
        end = 2 * e.q[14:16] - D  # the rocker's far end
        near = min(expected, key=lambda x: abs(x[0] - theta) + np.abs(x[1] - end).max())
        assert (
            abs(near[0] - theta) < 1e-5
            and np.abs(near[1] - end).max() < 1e-5
            and near[2] == e.stable
        )


def test_a_motor_holds_a_bar_where_its_torque_equals_that_of_gravity():
    rod = bar("rod", 1.0, np.zeros(2), np.array([0.5, 0.0]))
    pin = mech.revolute("pin", "ground", "rod", (0, 0, 0), Z)
    m = mech.Mechanism("lever", [rod], [pin], [mech.Motor("turn", "pin")], gravity=DOWN)
    found = arm.equilibrium(m, tau={"turn": 1.0}, starts=8)
    np.testing.assert_allclose(
        [np.cos(angle_of(e.q, 0)) for e in found], 1.0 / (G * 0.25), atol=1e-8
    )
    assert [e.stability for e in found] == ["stable", "unstable"]
    with pytest.raises(arm.errors.ArgumentError, match="own force elements"):
        arm.equilibrium(m, elements=[mech.TorsionSpring("turn", 1.0)])

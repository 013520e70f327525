"""Mechanisms through positions where their couplings lose rank (four-bars:
tests/papers/test_multibody.py)."""

import numpy as np
from scipy.integrate import solve_ivp

from armature import mechanisms as mech

Z = (0, 0, 1)
RATE = 4.0  # of the crank at the start, rad/s


def slider_crank() -> mech.Mechanism:
    """Crank and rod of 1 m: the slider passes the crank's pivot, where the mechanism could also
    fold into a pendulum of both."""
    c = np.cos(np.pi / 4)
    slender = (0, 1 / 12, 1 / 12)
    up, down = ((c, -c, 0), (c, c, 0), Z), ((c, c, 0), (-c, c, 0), Z)
    crank = mech.Body(
        "crank", 1.0, slender, (c / 2, c / 2, 0), up, (-RATE * c / 2, RATE * c / 2, 0), (0, 0, RATE)
    )
    rod = mech.Body(
        "rod",
        1.0,
        slender,
        (1.5 * c, c / 2, 0),
        down,
        (-1.5 * RATE * c, RATE * c / 2, 0),
        (0, 0, -RATE),
    )
    slider = mech.Body(
        "slider", 1.0, (0.1, 0.1, 0.1), (2 * c, 0, 0), velocity=(-2 * RATE * c, 0, 0)
    )
    joints = [
        mech.revolute("pin", "ground", "crank", (0, 0, 0), Z),
        mech.revolute("knee", "crank", "rod", (c, c, 0), Z),
        mech.revolute("end", "rod", "slider", (2 * c, 0, 0), Z),
        mech.prismatic("guide", "ground", "slider", (0, 0, 0), (1, 0, 0)),
    ]
    return mech.Mechanism("slider-crank", [crank, rod, slider], joints, gravity=(0.0, -9.81, 0.0))


def slider_crank_angle(duration: float) -> float:
    """The crank's angle by its own equation: I(θ) ω² / 2 + g sin θ is constant, I = 2/3 + 6 sin²
    θ."""

    def rates(t, y):
        s, c = np.sin(y[0]), np.cos(y[0])
        return [y[1], (-9.81 * c - 6 * s * c * y[1] ** 2) / (2 / 3 + 6 * s * s)]

    return solve_ivp(
        rates, (0, duration), [np.pi / 4, RATE], method="DOP853", rtol=1e-13, atol=1e-13
    ).y[0, -1]


def slider_crank_error(rtol: float) -> float:
    motion = mech.simulate(slider_crank(), duration=1.5, rtol=rtol, atol=rtol / 10)
    angle = slider_crank_angle(1.5)
    assert motion.ok
    return float(
        np.linalg.norm(motion.point("crank", (0.5, 0, 0))[-1, :2] - [np.cos(angle), np.sin(angle)])
    )


def test_the_error_behind_singular_positions_falls_with_the_tolerance():
    coarse, middle, fine = (slider_crank_error(rtol) for rtol in (1e-5, 1e-7, 1e-9))
    assert coarse > middle > fine
    assert coarse < 1e-4 and middle < 1e-6 and fine < 1e-8

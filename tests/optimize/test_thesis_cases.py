"""Burgevin's robot: every case of a regenerative source without friction, discrete and
continuous."""

from dataclasses import replace

import numpy as np
import pytest
from thesis import CASES, DATA, LARGEST_CURRENT, K, case_limits, cubic, currents, forward, radians

from armature.drive import NonRegenerative, Regenerative
from armature.optimize.problem.problem import Guess, Problem
from armature.optimize.solver.interior import solve
from armature.optimize.transcription.driven import Driven, Weights
from armature.optimize.transcription.transcribe import ForwardDynamics, Instant, Shape
from armature.robot import library

NAMES = [case["name"] for case in CASES]
NICKNAMES = ("phi", "theta", "r")  # the library's chain, base to tip
ARM = library("burgevin").with_payload(2.0)


def euler_model(method="euler"):
    """[15] with currents as controls, cost [23], voltages [33]."""

    def instant(at):
        return Instant(
            cost=sum(at.tau**2), constraints=[at.tau[i] + K[i] * at.v[i] for i in range(3)]
        )

    acceleration = lambda q, v, tau, p, d: forward(q, v, K * tau, 2.0)
    return ForwardDynamics(Shape(3), 3, acceleration, instant, method).model(
        f"thesis robot 2 kg {method} 1"
    )


def solve_forward(case, N, method):
    T = case["T_s"]
    q, v, a = cubic(radians(case["q0"]), radians(case["qf"]), T, N)
    i = np.array(currents(2.0)(q.T, v.T, a.T)).T[:N]
    problem = Problem(
        euler_model(method),
        N,
        x=case_limits(case, N),
        u=(-LARGEST_CURRENT, LARGEST_CURRENT),
        constraints=(-100, 100),
        data=T / N,
    )
    return solve(problem, Guess(np.hstack([q, v]), i))


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_discrete_optimum_with_the_thesis_scheme(case):
    for N, energy in case["E_euler_J"].items():
        result = solve_forward(case, int(N), "euler")
        assert result.ok, result.message
        assert result.cost == pytest.approx(energy, rel=1e-6)


def plan(arm, supply, case, weights, N=100, **options):
    driven = Driven(arm, supply, **options)
    q0, qf, T = radians(case["q0"])[::-1], radians(case["qf"])[::-1], case["T_s"]
    return solve(driven.problem(N, q0, qf, weights, T), driven.guess(*cubic(q0, qf, T, N), T))


def arm_of(case):
    low, high = np.deg2rad(case.get("theta_limits_deg", (-135, 250)))
    arm = ARM.with_limits({"theta": {"lower": low, "upper": high}})
    return arm.with_friction(
        {
            name: {"viscous": b}
            for name, b in zip(NICKNAMES[::-1], case.get("viscous_link", (0, 0, 0)))
        }
    )


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_continuous_optimum_by_accelerations(case):
    result = plan(arm_of(case), Regenerative(), case, Weights(heat=1))
    assert result.ok, result.message
    assert result.cost == pytest.approx(case["E_continuous_J"], rel=1e-3)


def test_both_transcriptions_converge_to_the_same_continuous_optimum():
    case = CASES[0]
    result = solve_forward(case, 100, "rk4")
    assert result.ok
    assert result.cost == pytest.approx(case["E_continuous_J"], rel=5e-4)


def test_signed_energy_is_heat_plus_change_of_potential_energy():
    """Without friction; the source takes back what braking gives."""
    case = next(c for c in CASES if c["name"] == "gen3_T0.8_m2")
    energy, heat = (
        plan(arm_of(case), Regenerative(), case, weights)
        for weights in (Weights(energy=1), Weights(heat=1))
    )
    (r0, th0, _), (r1, th1, _) = radians(case["q0"]), radians(case["qf"])
    height = lambda r, th: (2.0 * r + 3.0 * (r - 0.5) + 8.0 * -0.1) * np.cos(th)
    assert energy.cost - heat.cost == pytest.approx(
        9.81 * (height(r1, th1) - height(r0, th0)), abs=5e-3
    )


@pytest.mark.parametrize(
    "case", DATA["regenerative_viscous_friction"], ids=lambda case: case["name"]
)
def test_signed_energy_with_viscous_friction_is_not_cheated(case):
    """[24]: explicit Euler ends hundreds of joules too low; power with the mean velocity does
    not."""
    result = plan(arm_of(case), Regenerative(), case, Weights(energy=1))
    assert result.ok
    assert result.cost == pytest.approx(case["E_continuous_J"], rel=1e-4)


@pytest.mark.parametrize("case", DATA["non_regenerative"][:5], ids=lambda case: case["name"])
def test_non_regenerative_source_by_exact_slacks(case):
    """[25], [26]: Σ max(0, P) over the axes, with one slack variable for each."""
    result = plan(arm_of(case), NonRegenerative(), case, Weights(energy=1))
    assert result.ok
    assert result.cost == pytest.approx(case["E_continuous_J"], rel=4e-3)


@pytest.mark.parametrize(
    "case",
    [DATA["minimum_time"][2], DATA["minimum_time"][3], DATA["minimum_time"][6]],
    ids=lambda case: case["name"],
)
def test_least_time(case):
    """A little weight on heat makes the idle axes definite; it costs less than 1e-4 of the time."""
    N, driven = 100, Driven(arm_of(case), Regenerative(), durations=1)
    q0, qf = radians(case["q0"])[::-1], radians(case["qf"])[::-1]
    result = solve(
        driven.problem(N, q0, qf, Weights(time=1, heat=1e-5)),
        driven.guess(*cubic(q0, qf, 1.0, N), 1.0),
    )
    assert result.ok
    assert result.p[0] == pytest.approx(case["Tmin_continuous_s"], rel=1e-3)


def test_average_heat_over_the_motion_is_kept():
    """[35]: a smaller average than the unlimited optimum needs costs more and is met exactly."""
    case = CASES[0]
    free = plan(arm_of(case), Regenerative(), case, Weights(heat=1))
    assert free.ok
    arm = arm_of(case)
    drive = arm.drivetrain.drives[2]
    limited = arm.with_drives({"r": replace(drive, motor=replace(drive.motor, average_heat=1.5))})
    result = plan(limited, Regenerative(), case, Weights(heat=1))
    assert result.ok
    assert result.cost > free.cost + 0.1
    assert result.totals[2] == pytest.approx(0.0, abs=1e-6)  # ∫(R i² − 1.5 W) dt
    assert result.multipliers.totals[2] > 0.01

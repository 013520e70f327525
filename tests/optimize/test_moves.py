"""Moves: via points, rates, end velocities, cycles, certificates and diagnoses."""

import numpy as np
import pytest

from armature.errors import ArgumentError
from armature.optimize.curve import energy_time_curve
from armature.optimize.least_energy import minimize_energy
from armature.optimize.min_time import minimize_time
from armature.optimize.task import Move, Via
from armature.robot.library import library

ARM = library("burgevin").with_payload(2.0)
START, GOAL = np.array([0.0, 1.2, 0.4]), np.array([1.2, 1.8, 0.7])
MIDDLE = np.array([0.5, 1.3, 0.6])


def certified(plan):
    assert plan.ok, str(plan.diagnosis)
    assert plan.certificate.ok, str(plan.certificate)
    return plan


def test_the_motion_meets_its_ends_and_its_energy_is_the_solvers_cost():
    plan = certified(minimize_energy(ARM, Move(START, GOAL, 0.9)))
    motion = plan.trajectory
    assert np.allclose(motion.q[[0, -1]], [START, GOAL], atol=1e-8) and np.allclose(motion.v[[0, -1]], 0.0, atol=1e-8)
    assert plan.energy == pytest.approx(plan.result.cost, rel=1e-6)
    assert abs(plan.ledger.residual) < 1e-6 and plan.saving > 0


def test_a_via_point_with_a_passing_time_is_passed_then():
    plan = certified(minimize_energy(ARM, Move(START, GOAL, 1.0, via=[Via(MIDDLE, at=0.437)])))
    assert np.allclose(plan.trajectory(0.437).q, MIDDLE, atol=1e-7) and np.linalg.norm(plan.trajectory(0.437).v) > 0.1


def test_a_free_passing_time_costs_no_more_than_any_given_one():
    free = certified(minimize_energy(ARM, Move(START, GOAL, 1.0, via=[Via(MIDDLE)])))
    distance = np.linalg.norm(free.trajectory.q - MIDDLE, axis=1)
    assert distance.min() < 1e-7 and free.duration == pytest.approx(1.0, rel=1e-6)
    given = [minimize_energy(ARM, Move(START, GOAL, 1.0, via=[Via(MIDDLE, at=t)])).energy for t in (0.35, 0.5, 0.65)]
    assert free.energy <= min(given) * (1 + 1e-4)


def test_a_via_point_may_ask_for_a_stop():
    plan = certified(minimize_energy(ARM, Move(START, GOAL, 1.2, via=[Via(MIDDLE, at=0.6, velocity=0.0)])))
    assert np.abs(plan.trajectory(0.6).v).max() < 1e-7


@pytest.mark.parametrize("limit", ["torque_rate", "jerk"])
def test_rates_are_limited(limit):
    free = minimize_energy(ARM, Move(START, GOAL, 0.8))
    rate = lambda plan: np.abs(np.diff(plan.trajectory.tau if limit == "torque_rate" else plan.trajectory.a, axis=0)).max(0) / 0.008
    bound = 0.7 * rate(free)
    slower = ARM.with_limits({name: {limit: float(b)} for name, b in zip(ARM.joint_names, bound)})
    # a jerk limit takes the arm from rest to rest with no acceleration at its ends, which needs more time
    plan = certified(minimize_energy(slower, Move(START, GOAL, 0.8 if limit == "torque_rate" else 1.3)))
    step = plan.trajectory.t[1]
    values = plan.trajectory.tau if limit == "torque_rate" else plan.trajectory.a
    assert np.all(np.abs(np.diff(values, axis=0)).max(0) / step <= bound * 1.01)


def test_end_velocities_are_met():
    v0, v1 = np.array([0.5, 0.0, 0.1]), np.array([0.0, -0.4, 0.0])
    plan = certified(minimize_energy(ARM, Move(START, GOAL, 0.9, start_velocity=v0, goal_velocity=v1)))
    assert np.allclose(plan.trajectory.v[[0, -1]], [v0, v1], atol=1e-8)


def test_average_heat_binds_in_a_repeated_cycle():
    cycle = Move(START, START, 1.6, via=[Via(GOAL, at=0.8, velocity=0.0)])
    free = certified(minimize_energy(ARM, cycle))
    heat = [h.mean_heat for h in free.ledger.heating]
    hottest = int(np.argmax(heat))
    name = ARM.joint_names[hottest]
    coupling = next(c for c in ARM.drives if c.joints == (name,))
    from dataclasses import replace

    cooler = replace(coupling.drives[0], motor=replace(coupling.drives[0].motor, average_heat=0.9 * heat[hottest]))
    limited = certified(minimize_energy(ARM.with_drives({**{c.joints[0]: c.drives[0] for c in ARM.drives}, name: cooler}), cycle))
    assert limited.ledger.heating[hottest].mean_heat <= 0.9 * heat[hottest] * 1.001
    assert limited.energy > free.energy


def test_no_motion_is_found_below_the_least_time():
    fast = certified(minimize_time(ARM, Move(START, GOAL)))
    slower = minimize_energy(ARM, Move(START, GOAL, 1.05 * fast.duration))
    shorter = minimize_energy(ARM, Move(START, GOAL, 0.98 * fast.duration))
    assert slower.ok and not shorter.ok
    assert shorter.diagnosis.shortest_duration == pytest.approx(fast.duration, rel=0.02)


def test_a_heavier_payload_takes_longer():
    times = [minimize_time(library("burgevin").with_payload(m), Move(START, GOAL), starts=1).duration for m in (0.0, 2.0, 5.0)]
    assert times[0] < times[1] < times[2]


def test_curve_and_single_plans_agree():
    curve = energy_time_curve(ARM, Move(START, GOAL), [0.7, 0.9, 1.1])
    assert curve.energies[1] == pytest.approx(minimize_energy(ARM, Move(START, GOAL, 0.9)).energy, rel=1e-4)


def test_tasks_that_make_no_sense_are_refused_with_words():
    with pytest.raises(ArgumentError, match="needs a duration"):
        minimize_energy(ARM, Move(START, GOAL))
    with pytest.raises(ArgumentError, match=r"must be an arm\.Move"):
        minimize_energy(ARM, "home")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="must rise"):
        Move(START, GOAL, 1.0, via=[Via(MIDDLE, at=1.5)])
    with pytest.raises(ArgumentError, match="positive, finite"):
        energy_time_curve(ARM, Move(START, GOAL), [-1.0])

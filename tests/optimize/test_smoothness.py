"""Smooth plans: how much saving is kept, less jerk, the same rule on the curve; inferred limits of
acceleration; peaks."""

import itertools

import numpy as np
import pytest

import armature as arm
from armature.errors import ArgumentError
from armature.optimize.certificate.peaks import peaks
from armature.optimize.planner.accelerations import inferred_accelerations
from armature.optimize.planner.smoothness import FIRST, NEAR, SOLVES, Trial, next_weight

ROBOT = arm.library("planar2")
START, GOAL, T = [-0.5, 0.4], [0.9, 1.2], 1.0


def plan(smoothness, robot=ROBOT, start=START, goal=GOAL, duration=T, **more):
    return arm.minimize_energy(
        robot,
        arm.Move(start, goal, duration, smoothness=smoothness, **more),
        "non-regenerative",
        knots=60,
    )


@pytest.fixture(scope="module")
def plans():
    return {s: plan(s) for s in (0.0, 0.1, 0.5, 1.0)}


def jerk(found):
    """∫ Σ jerk² dt, by differences."""
    a, h = found.trajectory.a, np.diff(found.trajectory.t)[:, None]
    return float(np.sum(np.diff(a, axis=0) ** 2 / h))


def test_a_plan_keeps_its_part_of_the_saving_and_is_certified(plans):
    cheapest = plans[0.0]
    saving = cheapest.baseline.ledger.energy - cheapest.energy
    assert saving > 0.0
    for s, found in plans.items():
        assert found.ok and found.certificate.ok
        kept = (
            cheapest.baseline.ledger.energy
            - arm.ledger(ROBOT, found.trajectory, "non-regenerative").energy
        ) / saving
        assert kept >= 1.0 - s / 2 - 1e-3


def test_more_smoothness_is_less_jerk(plans):
    jerks = [jerk(plans[s]) for s in (0.0, 0.1, 0.5, 1.0)]
    assert (
        all(b <= 1.001 * a for a, b in itertools.pairwise(jerks))
        and jerks[1] < 0.9 * jerks[0]
        and jerks[-1] < 0.5 * jerks[0]
    )


@pytest.mark.parametrize("power", [0.35, 0.65, 1.0])
@pytest.mark.parametrize("at_one", [1e-2, 0.3, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("ends", [0.05, 0.5, np.inf])
def test_the_weight_that_costs_what_it_may_is_found(power, at_one, ends):
    """Excess of the energy ~ ρ^power that flattens; where a search from far away does not end, the
    weight is approached from below."""
    excess = lambda rho: at_one * rho**power / (1.0 + 0.1 * rho**power)
    trials, rho, reached = [], FIRST, 0.0
    for _ in range(SOLVES):
        far = reached == 0.0 and rho > ends
        trials.append(Trial(rho, np.inf if far else excess(rho)))
        reached = max(reached, 0.0 if far else rho)
        if NEAR <= trials[-1].excess <= 1.0:
            break
        rho = next_weight(trials, 1.0)
    kept = [trial.excess for trial in trials if trial.excess <= 1.0]
    within_reach = excess(30.0 ** (SOLVES - 3)) > NEAR and excess(30.0 ** (3 - SOLVES)) < 1.0
    assert not within_reach or max(kept) >= NEAR


@pytest.mark.parametrize(
    ("start", "goal", "duration"),
    [
        ([0.0, 1.57, 0.3], [0.0, 1.57, 0.8], 1.0),
        ([0.0, np.pi / 2, 0.9], [np.pi, np.pi / 2, 0.9], 1.452),
        ([0.0, np.pi / 2, 0.9], [np.pi, np.pi / 2, 0.9], 1.6482758620689655),
        ([0.0, np.pi / 2, 0.9], [np.pi, np.pi / 2, 0.9], 2.2031888834465354),
    ],
)
def test_a_jagged_plan_is_smoothed_until_it_costs_what_it_may(start, goal, duration):
    """The cheapest motion turns a joint to and fro, and the first search with a weight on its jerk
    does not end."""
    robot = arm.library("burgevin").with_payload(2.0)
    jagged, smooth = (
        arm.minimize_energy(
            robot, arm.Move(start, goal, duration, smoothness=s), "non-regenerative"
        )
        for s in (0.0, 0.1)
    )
    assert jagged.ok and smooth.ok and smooth.certificate.ok and smooth.baseline is not None
    base = smooth.baseline.ledger.energy
    assert 0.94 < (base - smooth.energy) / (base - jagged.energy) < 0.98
    assert jerk(smooth) < 0.3 * jerk(jagged)


@pytest.mark.parametrize("smoothness", [0.0, 0.1])
def test_curve_and_plan_agree_at_one_duration(plans, smoothness):
    task = arm.Move(START, GOAL, smoothness=smoothness)
    curve = arm.energy_time_curve(
        ROBOT, task, [0.9 * T, T, 1.2 * T], "non-regenerative", knots=60, refine=False
    )
    assert curve.energies[1] == pytest.approx(plans[smoothness].energy, rel=3e-3)


@pytest.mark.parametrize("value", [-0.1, 1.5, "much", np.nan, None])
def test_smoothness_lies_between_0_and_1(value):
    with pytest.raises(ArgumentError, match="smoothness"):
        arm.Move(START, GOAL, T, smoothness=value)


def test_peaks_are_those_of_the_motions(plans):
    found = {p.quantity: p for p in plans[0.1].peaks}
    assert set(found) == {"torque", "acceleration", "jerk", "current"}
    for what, values, base in (
        ("torque", "tau", "tau"),
        ("acceleration", "a", "a"),
        ("current", "current", "current"),
    ):
        k = ROBOT.joint_names.index(found[what].joint)
        assert found[what].value == pytest.approx(
            np.abs(getattr(plans[0.1].trajectory, values)[:, k]).max()
        )
        assert found[what].baseline == pytest.approx(
            np.abs(getattr(plans[0.1].baseline.trajectory, base)[:, k]).max()
        )
    # the joint cubic begins with a jump of acceleration; so does a plan without limits of jerk
    jumps = np.abs(plans[0.1].trajectory.a[[0, -1]]).max() > 1.0
    assert np.isinf(found["jerk"].baseline) != jumps
    worst = lambda s: max(p.ratio for p in peaks(plans[s]) if p.quantity == "acceleration")
    assert worst(0.1) < worst(0.0) and "peaks" in str(plans[0.1])


def test_inferred_accelerations_are_continuous_torque_over_inertia():
    robot = arm.library("burgevin")
    found = inferred_accelerations(robot)
    low, high = np.array(
        [[j.limits.lower, j.limits.upper] for j in robot.joints if j.name in robot.joint_names]
    ).T
    q = np.random.default_rng(0).uniform(
        np.maximum(low, -np.pi), np.minimum(high, np.pi), (4000, robot.n)
    )
    inertia = np.median(np.diagonal(arm.mass_matrix(robot, q), axis1=1, axis2=2), axis=0)
    for j, (name, drive) in enumerate(zip(robot.joint_names, robot.drivetrain.drives)):
        motor = drive.motor
        lasting = min(motor.continuous_current, np.sqrt(motor.average_heat / motor.resistance))
        assert found[name] == pytest.approx(abs(drive.constant) * lasting / inertia[j], rel=0.1)
    assert not inferred_accelerations(ROBOT)  # it has limits of its own


def test_inferred_limits_are_said_and_can_be_switched_off():
    robot = arm.library("burgevin")
    move = {"start": [0.0, 1.2, 0.6], "goal": [0.3, 1.3, 0.65], "duration": 1.0}
    with_them, without = (
        plan(0.1, robot, **move),
        plan(0.1, robot, **move, acceleration_limits="none"),
    )
    assert "inferred" in with_them.notes[0] and not any(
        "acceleration" in note for note in without.notes
    )
    assert (
        "acceleration" in with_them.certificate.margins["phi"]
        and "acceleration" not in without.certificate.margins["phi"]
    )
    with pytest.raises(ArgumentError, match="acceleration_limits"):
        arm.Move(START, GOAL, T, acceleration_limits="some")

"""Supply power: the losses of a simulated supply are found, and the ledger predicts its meter."""

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.identify.identify import identify
from armature.identify.model_error import planned_power
from armature.identify.supply import fit_supply
from identify.simulated import Truth, motion, robots

TRUTH = Truth(robots()["ur5"])
STANDING, RESISTANCE = 30.0, np.linspace(0.5, 3.0, 6)


def metered(seed, efficiency=1.0):
    """A recording with the power that a supply with these losses delivers, and 0.5 W of noise."""
    run = TRUTH.recording(seed, noise=0.002)
    _, _, v, _ = motion(TRUTH.robot, seed)
    terminal = RESISTANCE * run.current**2 + TRUTH.gains * run.current * v
    power = STANDING + np.sum(
        np.where(terminal > 0, terminal / efficiency, terminal * efficiency), axis=1
    )
    noise = np.random.default_rng(seed + 2).normal(size=len(power))
    return replace(run, supply_power=power + 0.5 * noise)


@pytest.mark.parametrize("efficiency", [1.0, 0.9])
def test_losses_of_the_supply_are_found_within_their_standard_errors(efficiency):
    fit = fit_supply([metered(10, efficiency), metered(20, efficiency)], TRUTH.gains, 8.0)
    assert fit.standing == pytest.approx(STANDING, abs=1.0)
    assert fit.efficiency == pytest.approx(efficiency, abs=0.02)
    assert np.all(np.abs(fit.resistance - RESISTANCE) < 5 * fit.errors[1:] + 0.1 * RESISTANCE)


def test_the_ledger_predicts_the_meter_from_the_motion_alone():
    train, test = metered(10), metered(30)
    found = identify(TRUTH.described(), train, test, TRUTH.gains)
    (part,) = planned_power(found.robot, test, found.cutoff)
    predicted, measured = part.energy
    above = measured - STANDING * test.duration
    assert abs(predicted - measured) < 0.03 * above
    assert found.robot.model_error.energy < 2.0
    # the ledger of the same motion is what a plan would be charged
    t, q, v, a = motion(TRUTH.robot, 30)
    trajectory = arm.Trajectory(t[::5], q[::5], v[::5], a[::5], TRUTH.robot.joint_names)
    assert arm.ledger(found.robot, trajectory).energy == pytest.approx(
        test.supply_power.mean() * trajectory.duration, rel=0.03
    )


def test_recordings_without_a_meter_have_no_supply():
    assert fit_supply([TRUTH.recording(10)], TRUTH.gains, 8.0) is None

"""A recorded motion: its cost is the ledger's, the least is a plan between its ends, and the words
say both."""

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.errors import ArgumentError
from armature.job.recorded import recorded_cost, saved
from armature.job.saved import load_plan, save_plan
from armature.motion.recorded import load_recorded
from armature.optimize.certificate.certify import Margin, left

ROBOT = arm.library("burgevin").with_payload(2.0)
T = np.linspace(0.0, 1.2, 61)


def cubic(goal=(1.5, 1.4, 0.8)) -> arm.Trajectory:
    s, q0 = (T / T[-1])[:, None], np.array([0.0, 1.0, 0.6])
    d = np.array(goal) - q0
    T1 = T[-1]
    return arm.Trajectory(
        T,
        q0 + d * (3 * s**2 - 2 * s**3),
        d * (6 * s - 6 * s**2) / T1,
        d * (6 - 12 * s) / T1**2,
        ROBOT.joint_names,
    )


def test_cost_of_a_recorded_cubic_is_that_of_the_cubic(tmp_path):
    """The plan's own baseline, the joint cubic, is the witness: recorded, written and read, it
    costs the same."""
    path = tmp_path / "recorded.csv"
    cubic().save(path)
    found = recorded_cost(ROBOT, load_recorded(path, ROBOT), "non-regenerative", knots=40)
    plain = arm.minimize_energy(
        ROBOT, arm.Move(cubic().q[0], cubic().q[-1], 1.2), "non-regenerative", knots=40
    )
    assert found.ledger.energy == pytest.approx(plain.baseline.ledger.energy, rel=1e-4)
    assert found.plan.energy == pytest.approx(
        plain.energy, rel=1e-6
    ) and found.saving == pytest.approx(plain.saving, abs=1e-4)
    assert found.saving > 0.1 and not found.broken and found.worst.fraction > 0
    assert recorded_cost(ROBOT, path, "non-regenerative", knots=40).ledger.energy == pytest.approx(
        found.ledger.energy, rel=1e-12
    )
    words = str(found)
    assert (
        "it keeps all limits" in words
        and f"{100 * found.saving:.1f} % of the energy drawn can be saved" in words
    )
    back = load_plan(save_plan(found.plan, tmp_path / "plan.json"))
    assert back.baseline.name == "the recorded motion" and "the recorded motion" in str(back)


def test_broken_limits_and_impossible_ends_are_told():
    tight = ROBOT.with_limits({"phi": {"velocity": 1.0}})
    found = recorded_cost(tight, cubic(), knots=40)
    assert found.broken[0].joint == "phi" and "it breaks limits" in str(found)
    assert "velocity" in str(found.broken[0]) and found.broken[0].value == pytest.approx(
        1.5 * 1.5 / 1.2, rel=1e-3
    )
    outside = ROBOT.with_limits({"r": {"upper": 0.7}})
    found = recorded_cost(outside, cubic(), knots=40)
    assert not found.plan.ok and "no plan for the same ends and time was found" in str(found)
    with pytest.raises(ArgumentError, match="has 3 joints"):
        recorded_cost(arm.library("planar2"), cubic())


def test_ends_in_motion_stay_in_motion():
    whole = cubic()
    cut = arm.Trajectory(
        whole.t[20:] - whole.t[20], whole.q[20:], whole.v[20:], whole.a[20:], whole.joint_names
    )
    found = recorded_cost(ROBOT, cut, knots=40)
    np.testing.assert_allclose(found.plan.trajectory.v[0], cut.v[0], atol=1e-8)
    np.testing.assert_allclose(found.plan.trajectory.v[-1], 0.0, atol=1e-8)


def test_what_is_no_motion_is_told_and_a_negative_saving_is_told_as_what_it_is():
    with pytest.raises(
        ArgumentError, match="must be a Trajectory or the path of a recorded file, got list"
    ):
        recorded_cost(ROBOT, [1.0, 2.0])
    assert saved(0.25, "losses", False) == "so 25.0 % of the losses can be saved"
    assert "takes 5.2 % less of the losses than the plan (it breaks limits" in saved(
        -0.052, "losses", True
    )
    full = Margin("r", "voltage", -4e-5, 0.1, 100.004, 100.0, "V")
    assert left(full) == "used in full" and left(replace(full, fraction=0.031)) == "3.10 % left"
    assert left(replace(full, fraction=-0.02)) == "2.00 % beyond it"


def test_knots_are_counted_as_they_were_asked_for():
    plan = arm.minimize_energy(ROBOT, arm.Move([0.0, 1.0, 0.6], [0.5, 1.2, 0.8], 1.2), knots=40)
    assert " 40 knots" in str(plan) and "% of the losses" in str(plan)

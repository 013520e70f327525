"""Burgevin's thesis (1983): its moves, and the cases that it could not solve, against converged continuous optima."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from armature.optimize.least_energy import minimize_energy
from armature.optimize.min_time import minimize_time
from armature.optimize.task import Move
from armature.robot.library import library

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "burgevin.json").read_text())
named = lambda key: pytest.mark.parametrize("case", REFERENCE[key], ids=lambda c: c["name"])


def configuration(x):
    """(R, θ°, φ°) of the file as (φ, θ, R) of the robot."""
    return np.array([np.radians(x[2]), np.radians(x[1]), x[0]])


def arm(case):
    robot = library("burgevin").with_payload(case["payload_kg"])
    if any(case.get("viscous_link", ())):
        robot = robot.with_friction({name: {"viscous": float(c)} for name, c in zip(("r", "theta", "phi"), case["viscous_link"])})
    if "theta_limits_deg" in case:
        low, high = np.radians(case["theta_limits_deg"])
        robot = robot.with_limits({"theta": {"lower": low, "upper": high}})
    if "eta" in case:
        geared = {c.joints[0]: replace(c.drives[0], gear=replace(c.drives[0].gear, efficiency=case["eta"])) for c in robot.drives}
        robot = robot.with_drives(geared)
    return robot


def move(case, duration=None):
    return Move(configuration(case["q0"]), configuration(case["qf"]), duration)


@named("regenerative_no_friction")
def test_heat_without_friction_is_the_continuous_optimum(case):
    plan = minimize_energy(arm(case), move(case, case["T_s"]), "regenerative")
    assert plan.ok and plan.losses == pytest.approx(case["E_continuous_J"], rel=1e-6)
    # signed energy = heat + change of potential energy
    assert plan.energy == pytest.approx(plan.losses + plan.ledger.potential, abs=1e-6)


@named("regenerative_no_friction")
def test_the_joint_cubic_costs_what_it_should(case):
    plan = minimize_energy(arm(case), move(case, case["T_s"]), "regenerative")
    if case["cubic_respects_peak_limit"]:
        assert plan.baseline.feasible and plan.baseline.ledger.losses == pytest.approx(case["E_cubic_joint_line_J"], rel=1e-5)
        assert 100 * plan.saving == pytest.approx(case["reduction_pct"], abs=0.01)
    else:
        assert plan.baseline.trajectory.duration > case["T_s"] and "breaks limits" in plan.baseline.note


@named("regenerative_viscous_friction")
def test_viscous_friction(case):
    plan = minimize_energy(arm(case), move(case, case["T_s"]), "regenerative")
    assert plan.ok and plan.energy == pytest.approx(case["E_continuous_J"], rel=1e-6)


@named("non_regenerative")
def test_a_source_that_takes_nothing_back(case):
    plan = minimize_energy(arm(case), move(case, case["T_s"]), "non-regenerative")
    assert plan.ok and plan.energy == pytest.approx(case["E_continuous_J"], rel=5e-3)


@named("regenerative_gear_efficiency")
def test_gears_that_waste_by_direction_of_power(case):
    plan = minimize_energy(arm(case), move(case, case["T_s"]), "regenerative")
    assert plan.ok and plan.energy == pytest.approx(case["E_continuous_J"], rel=5e-3)


@named("minimum_time")
def test_least_times(case):
    plan = minimize_time(arm(case), move(case))
    assert plan.ok and plan.certificate.within_limits
    assert plan.duration == pytest.approx(case["Tmin_continuous_s"], rel=1e-3)

"""Where copper heat is the only loss, least heat is least energy: also for an arm that loses next
to nothing of what swings to and fro."""

import numpy as np
import pytest

from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.task import Move
from armature.robot.library import library

START, GOAL = [0.0, 1.0, 0.5], [3.0, -1.0, 2.0]
FALL = 9.80665 * (
    2.0 * np.sin(-1.0) - 0.5 * np.sin(1.0)
)  # J, the potential energy that 1 kg gains from START to GOAL


@pytest.mark.parametrize("duration", [1.0, 2.0, 3.0])
def test_an_arm_with_hardly_any_losses_returns_what_it_falls_but_for_its_heat(duration):
    robot = library("valasek").with_limits({"r": {"lower": 0.3, "upper": 2.5}})
    plan = minimize_energy(robot, Move(START, GOAL, duration), "regenerative")
    assert plan.ok and plan.certificate.ok, str(plan.diagnosis)
    assert plan.energy == pytest.approx(FALL + plan.ledger.copper, abs=1e-4)
    assert FALL < plan.energy < FALL + 0.5


def test_heat_and_energy_have_the_same_least_motion():
    robot = library("burgevin").with_payload(2.0)
    problem = posed(robot, Move([0.0, 1.2, 0.4], [1.2, 1.8, 0.7], 0.9), "regenerative", 100)
    energy, heat = (
        Pipeline(w).least_energy(problem) for w in (Weights(energy=1.0), Weights(heat=1.0))
    )
    assert energy.ok and heat.ok and energy.value == pytest.approx(heat.value, rel=1e-4)
    assert np.abs(energy.motion.q - heat.motion.q).max() < 2e-3


def test_an_arm_without_limits_of_speed_has_a_plan_near_an_optimum_of_its_own():
    plan = minimize_energy(library("valasek"), Move(START, GOAL, 3.0), "regenerative")
    assert plan.ok and plan.certificate.ok
    assert np.abs(plan.trajectory.v).max() < 10 * np.abs(plan.baseline.trajectory.v).max()

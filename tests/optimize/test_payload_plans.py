"""Plans with another payload, at another point, compile nothing, and are those of a robot built by
hand with the mass in its link."""

from __future__ import annotations

import numpy as np
import pytest
from linkages import cubic, double_pendulum, ends, four_bar

import armature as arm
from armature.drive import Regenerative
from armature.optimize.problem.nlp import as_nlp
from armature.optimize.solver.interior import solve
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.forward import forward
from carried import merged

FIRST, SECOND = (0.8, None), (0.4, (0.05, -0.02, 0.1))
START, GOAL = np.array([0.2, -0.4]), np.array([1.4, 0.5])


def plans(robot: arm.Robot) -> dict[str, float]:
    """What planners, certificate, ledger, diagnosis, curve, path and rehearsal say about a
    robot."""
    move, found = arm.Move(START, GOAL, 1.2), {}
    for supply in ("regenerative", "non-regenerative"):
        plan = arm.minimize_energy(robot, move, supply, knots=30)
        assert plan.ok and plan.certificate.ok
        found |= {
            supply: plan.energy,
            f"{supply} saving": plan.saving,
            f"{supply} drawn": plan.ledger.drawn,
        }
    fastest = arm.minimize_time(robot, move, knots=30, starts=1)
    assert fastest.certificate.energy_error < 1e-3
    found["time"] = fastest.duration
    hopeless = arm.minimize_energy(robot, arm.Move(START, GOAL, 0.3 * fastest.duration), knots=30)
    found["diagnosis"] = hopeless.diagnosis.shortest_duration
    found["curve"] = float(arm.energy_time_curve(robot, move, [1.2, 1.5], knots=30).energies[-1])
    way = arm.FollowPath(arm.joint_path([START, (START + GOAL) / 2 + 0.1, GOAL]), 1.5)
    for objective in ("energy", "time"):
        found[f"path {objective}"] = arm.Job(robot, way, objective, knots=30).run().energy
    return found


def test_planning_with_another_payload_compiles_nothing_and_gives_the_same_optimum(compiles):
    robot = arm.library("planar2")
    plans(robot.with_payload(*FIRST))
    known, other = len(compiles), robot.with_payload(*SECOND)
    found = plans(other)
    assert known > 10 and len(compiles) == known
    assert found == pytest.approx(plans(merged(other)), rel=1e-6)
    assert len(compiles) > known


def test_motions_of_another_payload_run_on_the_same_kernels(compiles):
    def runs(robot: arm.Robot) -> list[np.ndarray]:
        motion = arm.minimize_energy(robot, arm.Move(START, GOAL, 1.2), knots=20).trajectory
        rehearsal = arm.rehearse(robot, motion, runs=3, seed=1)
        run = arm.simulate(robot, np.ones(2), START, np.zeros(2), duration=0.1, drives=True)
        return [rehearsal.rms, rehearsal.energy, run.q]

    robot = arm.library("planar2")
    runs(robot.with_payload(0.0))
    known, other = len(compiles), robot.with_payload(*SECOND)
    found = runs(other)
    assert len(compiles) == known
    for a, b in zip(found, runs(merged(other)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def energy(robot: arm.Robot) -> float:
    """Of the best move of a linkage."""
    return arm.minimize_energy(
        robot, arm.Move(*ends(robot, 0.7, 1.5), duration=1.2), knots=20
    ).energy


def heat(robot: arm.Robot) -> float:
    """Of the best swing by forward dynamics, which Ipopt finds too."""
    start, goal = np.zeros(2), np.array([0.5, 0.0])
    model = forward(robot, Regenerative(), [start, goal])
    problem, guess = (
        model.problem(20, start, goal, Weights(heat=1.0), 1.0),
        model.guess(*cubic(robot, start, goal, 1.0, 20), 1.0),
    )
    result = solve(problem, guess)
    assert result.ok and result.cost == pytest.approx(as_nlp(problem).solve(guess).cost, rel=1e-6)
    return result.cost


@pytest.mark.parametrize(
    "cost, robot, link",
    [(energy, four_bar(), "coupler"), (heat, double_pendulum("shoulder"), "fore")],
)
def test_loops_and_passive_joints_take_another_payload_without_compiling(
    cost, robot, link, compiles
):
    cost(robot.with_payload(0.2, link=link))
    known, other = len(compiles), robot.with_payload(0.3, (0.1, 0.0, 0.0), link)
    found = cost(other)
    assert len(compiles) == known
    assert found == pytest.approx(cost(merged(other)), rel=1e-7)

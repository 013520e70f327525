"""Lossy gears in plans: corners are narrowed in few solves, and as far as by many; motions that can be run are known as such."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from armature.drive import Friction
from armature.optimize.planner import gears
from armature.optimize.planner.gears import greatest_power
from armature.optimize.planner.plan import EXACT, Attempt, Planner
from armature.optimize.planner.refine import at_knot
from armature.optimize.problem.result import Status
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.library import library
from armature.robot.model import Robot


@pytest.fixture(scope="module")
def lossy() -> Robot:
    """The two-joint arm with gears that lose a quarter and dry friction."""
    robot = library("planar2")
    drives = dict(zip(robot.joint_names, robot.drivetrain.drives))
    worse = {name: replace(d, gear=replace(d.gear, efficiency=0.75), friction=Friction(coulomb=0.3)) for name, d in drives.items()}
    return replace(robot, drives=()).with_drives(worse)


@pytest.fixture(scope="module")
def planner() -> Planner:
    return Planner(Weights(energy=1.0), EXACT)


@pytest.fixture(scope="module")
def first(lossy: Robot, planner: Planner) -> Attempt:
    """A motion in wide corners."""
    problem = MoveProblem(lossy, Move([0.0, 0.5], [1.2, -0.6], 1.6), "non-regenerative", 60)
    wide = replace(problem, smooth=replace(problem.driven.smooth, power=0.5 * greatest_power(problem)))
    return planner.attempt(wide, wide.guess())


def test_few_rough_solves_lead_as_far_as_many_exact_ones(planner: Planner, first: Attempt):
    """The witness: widths halved twelve times, each solved to the last digit from the last."""
    widest, near = first.problem.smooth, first
    assert widest is not None
    for k in range(1, 13):
        trial = planner.attempt(replace(first.problem, smooth=gears.narrow(widest, widest.power, 0.5**k)), near.result)
        near = trial if trial.ok else near
    found = gears.narrowed(planner, first)
    best = min(found, key=lambda attempt: attempt.value)
    assert best.value < first.value
    assert best.value <= near.value * (1 + 2e-3)
    assert len(list(gears.narrower(planner, first))) <= 10


def test_wide_corners_passed_with_few_knots_lead_as_far_as_with_all(planner: Planner, first: Attempt, monkeypatch: pytest.MonkeyPatch):
    """The witness: all knots from the beginning."""
    assert first.problem.smooth is not None
    knots: list[int] = []
    monkeypatch.setattr(Planner, "attempt", lambda *a, of=Planner.attempt, **k: knots.append(a[1].N) or of(*a, **k))
    best = min(gears.narrowed_outline(planner, first.problem, None), key=lambda attempt: attempt.value)
    assert min(knots) == 20 and max(knots) == best.problem.N == 60
    assert best.value == pytest.approx(min(a.value for a in gears.narrowed(planner, first)), rel=2e-3)
    assert not gears.narrowed_outline(planner, replace(first.problem, N=30), None)  # few anyway


def test_a_motion_that_keeps_the_task_and_all_limits_runs_however_its_search_ended(planner: Planner, first: Attempt):
    unended = replace(first, result=replace(first.result, status=Status.ITERATIONS))
    assert not unended.ok and unended.runs
    assert unended.anyhow().ok and unended.anyhow().result.status is Status.FEASIBLE
    elsewhere = replace(unended, motion=replace(first.motion, q=first.motion.q + 1e-3))
    assert not elsewhere.runs and not elsewhere.anyhow().ok
    stopped = planner.attempt(first.problem, first.problem.guess(), Options(iterations=1))
    assert not stopped.anyhow().ok or stopped.runs


def test_what_occurs_at_a_knot_is_told_from_what_occurs_between(first: Attempt):
    t = first.motion.t
    assert all(at_knot(first.motion, float(x)) for x in (t[0], t[7], t[-1], t[3] + 1e-9))
    assert not any(at_knot(first.motion, float(x)) for x in (t[:-1] + np.diff(t) / 2))


def test_searches_that_do_not_end_lead_on_to_narrower_corners(planner: Planner, first: Attempt, monkeypatch: pytest.MonkeyPatch):
    """The witness: searches that end. With so few iterations hardly one does, and their motions alone are the way."""
    ended = min(attempt.value for attempt in gears.narrowed(planner, first))
    monkeypatch.setattr(gears, "ON_THE_WAY", 6)
    way = list(gears.narrower(planner, first))
    assert sum(attempt.ok for _, attempt in way) < len(way)
    assert way[-1][1].value < first.value - 0.8 * (first.value - ended)

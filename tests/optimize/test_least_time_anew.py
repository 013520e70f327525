"""Several ways down to the least time: from inside the limits, until nothing new is found, and from outside to other branches."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from armature.optimize.certificate.certify import worst_margin
from armature.optimize.planner.anew import NEAR, ROOM, VAIN, different, faster, inside, shortest_from, shortest_way
from armature.optimize.planner.ladder import MOVED, copper, ladder, next_to, prices
from armature.optimize.moves.least_time import branches, free_problem
from armature.optimize.planner.plan import Planner
from armature.optimize.solver.interior import Options
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.loop_move import move_problem
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move
from armature.robot.library import library

PLANNER = Planner(Weights(time=1.0), Options(tolerance=1e-5, iterations=100))


def problem(name: str = "planar2") -> MoveProblem:
    """A move with two branches, 6 % apart."""
    robot = library(name).with_payload(0.5)
    return free_problem(move_problem(robot, Move([0.3, -1.0], [1.4, 0.8]), "regenerative", 50, free=True))


def test_a_start_is_slowed_down_until_it_is_well_inside_its_limits():
    task = problem()
    fast = replace(task, move=replace(task.move, duration=0.5 * task.duration)).straight
    slow = inside(task, fast)
    assert (worst := worst_margin(task.robot, fast)) is not None and worst.fraction < 0.0
    assert (worst := worst_margin(task.robot, slow)) is not None and worst.fraction > 0.0
    assert inside(task, slow).duration == pytest.approx(ROOM * slow.duration)  # what keeps its limits gets its room and no more


def test_searches_end_when_several_after_each_other_lead_to_nothing_shorter():
    durations = iter([2.0, 2.0, 1.0, 1.0001, 1.5, 1.0, 0.5])
    found: Any = (SimpleNamespace(motion=SimpleNamespace(duration=T)) for T in durations)
    assert [low.motion.duration for low in different(found)] == [2.0, 1.0, 1.5]
    assert VAIN == 3 and list(durations) == [0.5]  # the last one is not asked for


def test_from_inside_its_limits_a_search_finds_the_branch_again_and_from_outside_a_shorter_one():
    task = problem()
    top = branches(PLANNER, task, None, 1)
    again = shortest_from(PLANNER, task, top.motion)
    assert again.ok and 0.98 * top.motion.duration < again.motion.duration < top.motion.duration
    assert faster(PLANNER, replace(task, N=25), again) is not None
    low = shortest_way(PLANNER, task, replace(task, N=100), top)
    assert low is not None and low.problem.N == 100
    assert low.motion.duration < 0.95 * again.motion.duration < again.motion.duration / NEAR


def test_a_lower_price_is_sought_at_the_barrier_at_which_the_last_one_ended():
    task = problem()
    top = branches(PLANNER, task, None, 1)
    rungs = ladder(PLANNER, task, top, 1.0)
    assert len(rungs) > 3
    for last, rung in zip([top, *rungs], rungs):
        assert rung.result.iterations[0].barrier <= last.result.multipliers.barrier
        assert rung.motion.duration < last.motion.duration


def test_what_is_optimal_already_to_the_tolerance_is_moved_by_a_finer_one():
    task = problem()
    top = branches(PLANNER, task, None, 1)
    weights = prices(task, top.motion.duration, copper(task, top.motion))
    known = PLANNER.attempt(task, top.result, weights=weights(1.0))
    loose = replace(PLANNER, options=Options(tolerance=0.03, warm_barrier=known.result.multipliers.barrier))
    still = loose.attempt(task, known.result, weights=weights(0.3))
    moved = next_to(loose, task, known.result, weights(0.3))
    assert still.ok and len(still.result.iterations) <= MOVED
    assert moved.ok and moved.motion.duration < still.motion.duration

"""A cell in the app: planned for all browsers, its robots where their programs have them, what is
wrong in words."""

from __future__ import annotations

import queue

import numpy as np
import pytest

from armature.cell.workcell.plan_cell import plan_cell
from armature.dynamics.compiled import link_poses
from armature.web.cell.desk import card_of, tables_of
from armature.web.cell.work import CellWork, Stand
from armature.web.opening import opened
from armature.web.server import Server
from browser import NO_PICTURE

PROGRAM = """robot: planar2
supply: non-regenerative
knots: 16
program:
  start: [0.3, 0.2]
  points: 3
  steps: [{move: {goal: [1.1, -0.5]}, name: go}, {dwell: 0.2 s}, {move: {goal: start}, name: back}]
"""
CELL = """name: pair
cycle: 3 s
robots:
  - {name: left, program: one.yaml, base: {position: [6, 0, 0]}}
  - {name: right, program: one.yaml, base: {rpy: [0, 0, 90 deg]}}
waits: [{step: right/go, after: left/go}]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cell")
    (folder / "one.yaml").write_text(PROGRAM)
    (folder / "cell.yaml").write_text(CELL)
    return folder / "cell.yaml"


@pytest.fixture(scope="module")
def plan(file):
    return plan_cell(opened(str(file)).cell)


def told(work: CellWork, until) -> list[Stand]:
    """Every stand up to the one that ends the planning."""
    heard: queue.Queue = queue.Queue()
    work.follow(heard.put)
    found = [heard.get(timeout=300)]
    while not until(found[-1]):
        found.append(heard.get(timeout=300))
    return found


def test_robots_are_where_their_own_plans_have_them_at_every_time_of_the_cell(plan) -> None:
    """Each robot's motion, counted from where the schedule begins it, in any cycle."""
    for name, one in plan.plans.items():
        begin, motion = plan.start_of(name), one.trajectory
        for t in np.linspace(motion.t[0], motion.t[-1], 7)[:-1]:
            q = plan.configurations(float(begin + t + 2 * plan.cell.cycle))[name]
            np.testing.assert_allclose(q, motion(t).q, atol=1e-6)


def test_one_plan_is_made_for_all_browsers_and_told_with_its_steps(file) -> None:
    work = CellWork(opened(str(file)).cell)
    first = told(work, lambda stand: stand.plan is not None)
    assert any("least time of go" in stand.busy for stand in first)
    (second,) = told(work, lambda stand: True)
    assert second.plan is first[-1].plan and second.plan.ok
    work.close()


def test_a_cycle_that_is_too_short_is_told_with_the_robot_and_the_time_it_needs(file, plan) -> None:
    work = CellWork(opened(str(file)).cell)
    work.stand = Stand(work.stand.cell, plan=plan)
    work.follow(lambda stand: None)
    work.plan(0.1)
    last = told(work, lambda stand: stand.problem and not stand.busy)[-1]
    assert "robot 'left' needs" in last.problem and last.plan is plan
    assert "no plan" in card_of(last) and "needs" in card_of(last)
    work.close()


def test_the_page_tells_energy_before_and_after_of_every_robot_and_the_schedule(plan) -> None:
    text = tables_of(plan)
    for name, one in plan.plans.items():
        assert name in text and f"{one.fast:.4g} J" in text and f"{one.energy:.4g} J" in text
    assert text.count("<svg") == 1
    card = card_of(Stand(plan.cell, plan=plan))
    assert "Proved" in card and f"{plan.energy:.4g} J" in card


def test_the_cell_moves_in_a_browser(file, plan, page) -> None:
    server = Server(opened(str(file)))
    assert server._work is not None
    server._work.stand = Stand(plan.cell, plan=plan)  # planned above
    try:
        page.set_default_timeout(300_000)
        page.add_init_script(NO_PICTURE)
        page.goto(server.address)
        while not server.desks:
            page.wait_for_timeout(50)
        (desk,) = server.desks.values()
        desk.act("time", 0.5 * plan.cell.cycle)  # stands still: a moving picture takes a core
        page.wait_for_selector(".armature-cell", state="attached")
        assert "Proved" in page.inner_text(".armature-card")
        for name, q in plan.configurations(0.5 * plan.cell.cycle).items():
            seen = desk._world._figures[name]._nodes
            there = link_poses(plan.plans[name].robot, q)
            for link, node in seen:
                np.testing.assert_allclose(node.position, np.asarray(there.p)[link], atol=1e-6)
        assert not page.strangers
    finally:
        server.stop()

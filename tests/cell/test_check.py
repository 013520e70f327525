"""What is said of programs, cells and lines before they are planned."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.cell.check_file import check_file
from armature.cell.program.program import Grip, MoveTo, Program, Release
from armature.cell.schedule.check_model import check_model
from armature.cell.schedule.optimize_cell import optimize_cell
from armature.cell.workcell.cell import Cell, Wait
from armature.cli.main import run
from armature.errors import ArgumentError

STEPS = (
    MoveTo([1.1, -0.5], name="fetch"),
    Grip(0.5, seconds=0.1),
    MoveTo([-0.4, 0.7], name="carry"),
    Release(0.1),
    MoveTo("start", name="back"),
)


def program(steps=STEPS, **options) -> Program:
    return Program(arm.library("planar2"), [0.3, 0.2], steps, knots=20, points=3, **options)


def test_no_planned_cycle_is_shorter_than_the_checked_bound():
    check = arm.cell.check_program(program(cycle=3.0))
    plan = arm.cell.plan_program(program(), "time")
    rows = {s.name: s.least for s in check.steps}
    assert check.ok and check.least < plan.cycle
    for leg in plan.legs:
        # the bound is the way of a joint over its greatest speed: the motion's own speeds keep it
        assert 0.0 < rows[leg.name] <= leg.duration
        way = np.abs(leg.leg.q1 - leg.leg.q0).max()
        assert rows[leg.name] >= way / np.abs(leg.plan.trajectory.v).max() * 0.1


def test_what_a_check_calls_impossible_cannot_be_planned():
    for steps, options, name in (
        ((MoveTo([9.0, 0.0], name="far"), MoveTo("start")), {"cycle": 3.0}, "far"),
        (
            (Grip(40.0, name="lift"), MoveTo([1.1, -0.5], name="heave"), MoveTo("start")),
            {"cycle": 9.0, "closed": False},
            "heave",
        ),
        (STEPS, {"cycle": 0.2}, "too short"),
    ):
        given = program(steps, **options)
        check = arm.cell.check_program(given)
        assert not check.ok and any(name in fault for fault in check.faults), check
        with pytest.raises(ArgumentError):
            arm.cell.plan_program(given)


def test_a_goal_inside_an_obstacle_is_named_with_its_depth():
    there = arm.pose(arm.library("planar2"), np.array([1.1, -0.5]), "tip").p
    scene = arm.Scene().with_sphere("post", 0.1, there)
    check = arm.cell.check_program(program(cycle=3.0, scene=scene))
    (fault,) = [f for f in check.faults if f.startswith("step 'fetch'")]
    assert "post" in fault and "the goal is in collision" in fault


def test_missing_numbers_are_named():
    bare = dataclasses.replace(arm.library("planar2"), drives=())
    check = arm.cell.check_program(dataclasses.replace(program(), robot=bare))
    assert any("no drive on" in word for word in check.missing)
    assert any("no cycle given" in word for word in check.missing)


def test_a_cell_names_steps_that_do_not_exist():
    cell = Cell({"one": program()}, 3.0, (Wait(("one", "fetch"), ("one", "nowhere")),))
    with pytest.raises(ArgumentError, match="nowhere"):
        arm.cell.check_cell(cell)


def test_the_least_cycle_of_a_robot_of_numbers_is_that_of_its_schedule(tmp_path: Path):
    text = (Path(__file__).parents[2] / "docs" / "cells.md").read_text(encoding="utf-8")
    (tmp_path / "model.yaml").write_text(text.split("# model.yaml")[1].split("```")[0])
    (check,) = check_file(tmp_path / "model.yaml") or ()
    least = check.rows[0][-1]
    model = check.model
    assert optimize_cell(dataclasses.replace(model, cycle=least * (1 + 1e-6))).ok
    assert not check_model(dataclasses.replace(model, cycle=least * (1 - 1e-3))).ok
    with pytest.raises(ArgumentError):
        optimize_cell(dataclasses.replace(model, cycle=least * (1 - 1e-3)))


def test_the_command_line_checks_programs_cells_and_lines(tmp_path: Path, capsys):
    robot = "robot: planar2\nsupply: non-regenerative\n"
    steps = "[{move: {goal: [1.1, -0.5]}, name: out}, {dwell: 0.1 s}, {move: {goal: start}}]"
    (tmp_path / "p.yaml").write_text(
        f"{robot}program: {{start: [0.3, 0.2], cycle: 2 s, steps: {steps}}}\n"
    )
    (tmp_path / "c.yaml").write_text("cycle: 2 s\nrobots: [{name: a, program: p.yaml}]\n")
    (tmp_path / "l.yaml").write_text(
        "stations: [{name: s, robot: planar2, start: [0, 0],"
        " steps: [{move: {goal: [1, 1]}}, {move: {goal: start}}]}]\n"
    )
    for name in ("p", "c", "l"):
        assert run(["check", str(tmp_path / f"{name}.yaml")]) == 0
        assert "nothing speaks against it" in capsys.readouterr().out
    (tmp_path / "p.yaml").write_text(
        f"{robot}program: {{start: [0.3, 0.2], cycle: 0.2 s, steps: {steps}}}\n"
    )
    assert run(["check", str(tmp_path / "p.yaml")]) == 1
    assert "too short" in capsys.readouterr().out

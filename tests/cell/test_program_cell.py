"""Cells of programs: hand-overs hold and zones are not shared on the programs' own clocks, and
every plan is certified."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.cell.program.program import Dwell, Grip, MoveTo, Program, Release
from armature.cell.program.share import EnergyCurve
from armature.cell.workcell.cell import Cell, Wait, Zone
from armature.cell.workcell.cell_model import movements
from armature.cell.workcell.plan_cell import plan_cell
from armature.cli.main import run
from armature.study.rest import with_brakes

ROBOT = with_brakes(
    arm.library("planar2"), arm.drive.Brake(engage_time=0.05, release_time=0.1, power=2.0)
)
OPTIONS = {"supply": "non-regenerative", "knots": 20, "points": 4}
GIVER = Program(
    ROBOT,
    [0.3, 0.2],
    (MoveTo([1.1, -0.5], name="place"), Release(0.1), MoveTo("start", name="back"), Grip(0.5)),
    **OPTIONS,
)
GIVER = replace(GIVER, steps=(Grip(0.5, seconds=0.1), *GIVER.steps[:-1]))
TAKER = Program(
    ROBOT,
    [-0.3, 0.2],
    (MoveTo([0.9, 0.5], name="take"), Dwell(0.2), MoveTo("start", name="away")),
    **OPTIONS,
)
CELL = Cell(
    {"giver": GIVER, "taker": TAKER},
    3.0,
    waits=(
        Wait(("taker", "take"), ("giver", "release"), 0.1),
        Wait(("giver", "place"), ("taker", "take"), 0.0, 1),
    ),
    zones=(Zone((("giver", "place"), ("taker", "take"))),),
    bus=arm.drive.Bus(1e-3, 48.0, 56.0, resistance=0.2, maximum_voltage=62.0),
)


@pytest.fixture(scope="module")
def plan():
    return plan_cell(CELL)


def test_every_plan_is_certified_and_lasts_as_the_schedule_asks(plan) -> None:
    assert plan.ok, plan.faults
    for name, one in plan.plans.items():
        assert sum(s.duration for s in one.stages) == pytest.approx(3.0, abs=1e-6)
        lasts = {t.activity: t.duration for t in plan.schedule.tasks[name]}
        assert all(
            leg.duration == pytest.approx(lasts[f"{name}: {leg.name}"], rel=1e-6)
            for leg in one.legs
        )
    assert plan.energy < plan.fast and plan.on_bus.certificate.ok


def test_nothing_is_called_proved_that_a_cell_does_not_have(plan) -> None:
    assert plan.checked == "plans, schedule, zones, bus"
    assert replace(plan, on_bus=None, cell=replace(CELL, zones=())).checked == "plans, schedule"


def test_hand_overs_and_zones_hold_on_the_programs_own_clocks(plan) -> None:
    """From the plans' stages and the shifts of the bus, without the schedule."""
    span = {}
    for name, one in plan.plans.items():
        shift = plan.on_bus.shifts[name]
        for stage in one.stages:
            span[name, stage.name] = (shift + stage.begin, shift + stage.begin + stage.duration)
    take, place = span["taker", "take"], span["giver", "place"]
    released = span["giver", "back"][0]  # the stop with the release has ended
    wait = (take[0] - released) % 3.0
    assert wait >= 0.1 - 1e-5  # the taker sets out after the part was released …
    assert (place[0] - take[1]) % 3.0 + (
        place[1] - place[0]
    ) <= 3.0 - wait + 1e-5  # … and is gone before the next comes
    for n in range(-4, 5):
        assert min(take[1], place[1] + 3.0 * n) - max(take[0], place[0] + 3.0 * n) < 1e-5


def test_a_curve_with_two_minima_becomes_convex_pieces_that_meet() -> None:
    T = np.array([1.0, 1.5, 2.0, 2.5, 3.0, 3.5])
    E = np.array([9.0, 5.0, 6.0, 4.0, 3.0, 3.5])
    found = movements(EnergyCurve(T, E))
    assert [(m.least, m.most) for m in found] == [(1.0, 2.0), (2.0, 3.5)]
    assert all(
        m.energy(t) == pytest.approx(e)
        for m in found
        for t, e in zip(T, E)
        if m.least <= t <= m.most
    )
    assert all(m.energy.is_convex(m.least, m.most) for m in found)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cycle": 0.5}, r"robot 'giver' needs .* s, but the cycle is 0\.5 s"),
        (
            {"waits": (Wait(("taker", "grab"), ("giver", "release")),)},
            "robot 'taker' has no step 'grab'; it has take, dwell, away",
        ),
        (
            {"waits": (Wait(("x", "take"), ("giver", "release")),)},
            "no robot 'x'; it has giver, taker",
        ),
        (
            {
                "waits": (
                    Wait(("taker", "take"), ("giver", "release")),
                    Wait(("giver", "place"), ("taker", "away")),
                )
            },
            r"hand-overs leave no schedule in a cycle of 3 s \(.*too early",
        ),
    ],
)
def test_impossible_cells_name_the_robot_and_the_number(change, words: str) -> None:
    with pytest.raises(arm.ArmatureError, match=words):
        plan_cell(replace(CELL, bus=None, **change))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"most_power": 100.0}, "most_power is about the power that one bus draws"),
        ({"objective": "peak"}, "objective = 'peak' is about the power that one bus draws"),
        ({"apart": 0.1}, "it is not known where the robots stand"),
    ],
)
def test_limits_of_a_bus_or_a_world_that_there_is_not_are_refused(change, words: str) -> None:
    with pytest.raises(arm.ArmatureError, match=words):
        replace(CELL, bus=None, **change)


TASK = """robot: planar2
supply: non-regenerative
knots: 20
program:
  start: [{start}, 0.2]
  points: 3
  steps:
    - move: {{goal: [{goal}, -0.5]}}
      name: out
    - move: {{goal: start}}
      name: back
"""
FILE = """name: pair
cycle: 2.5 s
robots:
  - {name: left, program: left.yaml}
  - {name: right, program: right.yaml}
waits:
  - {step: right/out, after: left/out, seconds: 100 ms}
zones:
  - [left/out, right/out]
"""


def test_a_cell_file_of_programs_is_planned_and_written(tmp_path: Path, capsys) -> None:
    (tmp_path / "left.yaml").write_text(TASK.format(start=0.3, goal=1.1))
    (tmp_path / "right.yaml").write_text(TASK.format(start=-0.3, goal=0.5))
    (tmp_path / "cell.yaml").write_text(FILE)
    picture = tmp_path / "gantt.png"
    arguments = [
        "cell",
        str(tmp_path / "cell.yaml"),
        "--plot",
        str(picture),
        "--save",
        str(tmp_path / "out"),
        "--json",
    ]
    assert run(arguments) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (
        facts["ok"] and facts["energy"] < facts["energy_before"] and picture.stat().st_size > 5000
    )
    assert (tmp_path / "out" / "left" / "motion.csv").exists() and (
        tmp_path / "out" / "right" / "report.html"
    ).exists()
    (tmp_path / "cell.yaml").write_text(FILE.replace("right/out, after", "right, after"))
    assert run(["cell", str(tmp_path / "cell.yaml")]) == 2
    assert "cell.yaml:7" in capsys.readouterr().err

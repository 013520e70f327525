"""Power modes at rest: what they cost, when they are taken, and that the ledger counts the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.cell.program.plan_program import plan_program
from armature.cell.program.program import Dwell, MoveTo, PowerMode, Program
from armature.cell.program.program_plan import parts_of
from armature.cell.program.stages import Stop, stages
from armature.cell.workcell.cell import Cell
from armature.cell.workcell.plan_cell import plan_cell
from armature.study.rest import with_brakes


def awake(robot, watts):
    """The robot with amplifiers that always take `watts` each."""
    drives = tuple(
        replace(
            c,
            drives=tuple(
                replace(d, amplifier=replace(d.amplifier, standby=watts)) for d in c.drives
            ),
        )
        for c in robot.drives
    )
    return replace(robot, drives=drives)


BRAKE = arm.drive.Brake(engage_time=0.05, release_time=0.1, power=2.0)
ROBOT = awake(with_brakes(arm.library("planar2"), BRAKE), 10.0)
MODES = (
    PowerMode("stand-by", 6.0, 0.1, 0.2, 1.0),
    PowerMode("off", 0.5, 1.0, 2.0, 12.0),
)
STEPS = (MoveTo([1.1, -0.5], name="out"), Dwell(0.1), MoveTo("start", name="back"))


def program(**change) -> Program:
    given = Program(
        ROBOT, [0.3, 0.2], STEPS, 4.0, "non-regenerative", knots=20, points=4, modes=MODES
    )
    return replace(given, **change)


def test_the_cheapest_of_all_ways_to_rest_is_taken() -> None:
    """Against each way, counted by hand from the powers of the resting axes."""
    stop = next(s for s in stages(program()) if isinstance(s, Stop))
    pause = stop.pauses[stop.waiting]
    axes = pause.place.axes
    held = sum(a.holding + a.standby + a.brake.power for a in axes)
    chosen = set()
    for seconds in np.geomspace(0.05, 40.0, 40):
        ways = [held * seconds, pause.place.energy(seconds)]
        for m in MODES:
            if seconds >= m.enter + m.leave:
                inside = seconds - m.enter - m.leave
                ways.append(held * (m.enter + m.leave) + m.energy + m.power * inside)
        assert pause.energy(seconds - pause.seconds) == pytest.approx(min(ways))
        mode = pause.mode(seconds)
        chosen.add(None if mode is None else mode.name)
    assert chosen == {None, "stand-by", "off"}


def test_the_ledger_counts_what_the_modes_take_and_heats_no_motor() -> None:
    plan = plan_program(program(cycle=9.0))
    assert plan.ok
    asleep = [
        (stage, pause, seconds, mode)
        for stage in plan.stops
        for pause, seconds in stage.pauses
        if (mode := pause.mode(seconds)) is not None
    ]
    assert asleep
    for stage, pause, seconds, mode in asleep:
        (part,) = [
            p for p in parts_of(stage, plan.program.supply) if np.isclose(p.dt.sum(), seconds)
        ]
        energy = part.dt @ (part.powers.sum(1) + part.coils)
        assert energy == pytest.approx(pause.asleep(mode, seconds))
        off = np.abs(part.flows[0].current) == 0.0
        assert part.dt[off].sum() == pytest.approx(seconds - mode.shortest)
    less = plan_program(program(cycle=9.0, modes=()))
    assert plan.energy < less.energy
    assert abs(plan.ledger.residual) < 1e-6 * plan.ledger.throughput + 1e-6


def test_no_mode_is_taken_where_no_brake_holds() -> None:
    bare = awake(arm.library("planar2"), 10.0)
    found = [s for s in stages(program(robot=bare)) if isinstance(s, Stop)]
    assert all(not p.modes for s in found for p in s.pauses)


def test_a_cells_schedule_and_its_plans_agree_on_the_modes() -> None:
    plan = plan_cell(Cell({"one": program()}, 12.0))
    assert plan.ok, plan.faults
    tasks = [t for t in plan.schedule.tasks["one"] if t.mode]
    assert {t.mode for t in tasks} & {"stand-by", "off"}
    for task in tasks:
        stage = next(s for s in plan.plans["one"].stops if f"one: {s.name}" == task.activity)
        mode = stage.stop.pauses[stage.stop.waiting].mode(
            stage.wait + stage.stop.pauses[stage.stop.waiting].seconds
        )
        assert (mode.name if mode else task.mode) == task.mode
        assert stage.stop.energy(stage.wait) == pytest.approx(task.energy, rel=1e-6)


def test_wrong_modes_are_named() -> None:
    for wrong, words in (
        ((PowerMode("off", 1.0), PowerMode("off", 2.0)), "a name of its own"),
        ((PowerMode("brakes", 1.0),), "not motors or brakes"),
        ((1.0,), "must be a PowerMode"),
    ):
        with pytest.raises(arm.ArmatureError, match=words):
            program(modes=wrong)
    with pytest.raises(arm.ArmatureError, match=r"'off': power = -1\.0 W; give a number ≥ 0"):
        PowerMode("off", -1.0)

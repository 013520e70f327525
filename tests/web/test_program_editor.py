"""The program editor: steps are added, ordered, dragged, planned as one cycle, shown and saved."""

import io
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.cell.program.plan_program import plan_program
from armature.cell.program.program import Dwell, Grip, MoveTo, Release
from armature.cell.program.program_file import load_program
from armature.cell.program.program_text import program_text
from armature.web import words
from armature.web.exports import export
from armature.web.opening import opened
from armature.web.pictures import CHARTS
from armature.web.planner import Planner
from armature.web.program.editor import Editor
from armature.web.program.shown import ShownProgram, charts_of, packed, table_of
from armature.web.session import Session
from armature.web.wish import Wish, named

ROBOT = arm.library("planar2")
WISH = Wish(ROBOT, np.array([-0.5, 0.4]), np.array([0.5, -0.4]), 1.0, floor=None)


class Tab:
    """In place of the widgets."""

    def show(self, sketch, shown, picked):
        self.last = sketch, shown, picked


def editor(session, sent=None, asked=None):
    note = lambda into: lambda *given: into.append(given) if into is not None else None
    return Editor(session, Tab(), lambda: None, note(asked), note(sent))


@pytest.fixture(scope="module")
def made():
    """A session with a pick-and-place program, and its plan."""
    session, asked = Session(WISH), []
    edit = editor(session, asked=asked)
    for kind in ("Move", "Grip", "Back", "Release", "Dwell"):
        edit.add(kind)
    edit.edit(1, {"mass": 0.5, "seconds": 0.1})
    edit.edit(4, {"seconds": 0.2})
    edit.acts(3.0)["cycle"]()
    edit.plan()
    (program, objective), *_ = asked
    return session, plan_program(replace(program, knots=20, points=4), objective)


def test_steps_are_added_after_the_picked_one_and_the_payload_follows(made):
    session, _ = made
    sketch = session.wish.program
    assert [type(step) for step in sketch.steps] == [MoveTo, Grip, MoveTo, Release, Dwell]
    np.testing.assert_array_equal(sketch.place(0), WISH.goal)
    np.testing.assert_array_equal(sketch.place(4), WISH.start)
    assert [sketch.carried(k) for k in range(-1, 5)] == [0.0, 0.0, 0.5, 0.5, 0.0, 0.0]


def test_a_picked_step_is_shown_with_what_it_carries_and_its_goal_is_dragged():
    session = Session(WISH)
    edit = editor(session)
    for kind in ("Move", "Grip", "Move"):
        edit.add(kind)
    edit.edit(1, {"mass": 0.7})
    edit.pick(2)
    assert session.wish.payload == 0.7 and np.array_equal(session.wish.start, WISH.goal)
    session.change_to(session.wish.moved("goal", np.array([0.1, 0.2])), "goal")
    np.testing.assert_array_equal(session.wish.program.place(2), [0.1, 0.2])
    edit.pick(0)
    session.change_to(session.wish.moved("goal", np.array([0.3, 0.3])), "goal")
    edit.pick(2)
    np.testing.assert_array_equal(session.wish.start, [0.3, 0.3])  # the next one begins there
    session.change_to(session.wish.with_via(0, np.array([0.2, 0.2])), "")
    np.testing.assert_array_equal(session.wish.program.steps[2].via, [[0.2, 0.2]])


def test_steps_change_places_go_away_and_come_back_by_undo():
    session = Session(WISH)
    edit = editor(session)
    for kind in ("Move", "Dwell", "Back"):
        edit.add(kind)
    kinds = lambda: [type(step).__name__ for step in session.wish.program.steps]
    edit.pick(1)
    edit.order("Up")
    assert kinds() == ["Dwell", "MoveTo", "MoveTo"] and session.step == 0
    edit.order("Up")  # it is the first already
    edit.order("Delete")
    assert kinds() == ["MoveTo", "MoveTo"]
    session.undo()
    assert kinds() == ["Dwell", "MoveTo", "MoveTo"]


def test_a_program_without_a_move_or_a_plan_is_refused_in_words():
    edit = editor(Session(WISH))
    edit.add("Dwell")
    with pytest.raises(arm.ArmatureError, match="no move yet"):
        edit.plan()
    with pytest.raises(arm.ArmatureError, match="plan the program first"):
        edit.export()


def test_the_page_shows_energy_certificate_steps_and_charts_of_the_whole_cycle(made):
    session, plan = made
    session.show_program(ShownProgram(plan))
    assert plan.ok and plan.cycle == pytest.approx(3.0)
    text = words.card(session, "")
    assert f"{plan.energy:.3g} J" in text and "Proved" in text and "cycle of 3 s" in text
    rows = table_of(session.wish.program, session.plan, 1)
    assert rows.count("<tr") == 5 + 1 + sum(s.duration > 0 for s in plan.stages)
    assert "grip 0.5 kg" in rows
    assert set(charts_of(session.plan)) == set(CHARTS)
    assert export(session.plan, "Motion, table (.csv)")[1].count(b"\n") > 20
    with pytest.raises(arm.ArmatureError, match="tab Program"):
        export(session.plan, "Plan to open again (.json)")


def test_the_archive_holds_a_program_that_plans_to_the_same_energy(made, tmp_path):
    _, plan = made
    with zipfile.ZipFile(io.BytesIO(packed(plan))) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / "program"
    assert {"motion.csv", "motion.yaml", "report.html", "program.yaml", "robot.yaml"} <= {
        path.name for path in folder.iterdir()
    }
    again = plan_program(load_program(folder / "program.yaml"))
    assert again.energy == pytest.approx(plan.energy, rel=1e-6)
    wish = opened(str(folder / "program.yaml")).wish
    assert len(wish.program.steps) == 5 and np.allclose(wish.program.place(0), WISH.goal)


def test_what_the_page_does_not_edit_is_kept_from_file_to_file(tmp_path):
    """Power modes, limits, knots of an opened program, and holds that were set on the page."""
    (tmp_path / "p.yaml").write_text(
        "name: own\nrobot: planar2\nknots: 23\n"
        "supply: {kind: bus, capacitance: 1 mF, voltage: 48 V, resistor_voltage: 56 V}\n"
        "brake: {power: 2 W}\nmodes: {stand-by: {power: 20 W, enter: 1 s}}\n"
        "program:\n  start: [0.3, 0.2]\n  points: 7\n  mean_limits: cycle\n  steps:\n"
        "    - {move: {goal: [1.1, -0.5], most: 4 s}}\n    - dwell: 1 s\n    - move: {goal: start}\n"
    )
    session = Session(opened(str(tmp_path / "p.yaml")).wish)
    edit, asked = editor(session), []
    edit.edit(1, {"hold": "brake"})
    edit = editor(session, asked=asked)
    edit.plan()
    (first, _), *_ = asked
    (tmp_path / "q.yaml").write_text(program_text(first, "planar2"))
    for one in (first, load_program(tmp_path / "q.yaml")):
        assert (one.name, one.knots, one.points, one.mean_limits) == ("own", 23, 7, "cycle")
        assert one.modes[0].power == 20.0 and one.supply.capacitance == 1e-3
        assert one.steps[1].hold == "brake" and one.steps[0].most == 4.0


def test_the_planning_thread_tells_a_program_or_why_there_is_none(made):
    import queue

    _, plan = made
    heard: queue.Queue = queue.Queue()
    planner = Planner(lambda what, value, wish: heard.put((what, value)))
    planner.ask_program(WISH, replace(plan.program, cycle=0.01), "energy")
    told = []
    while not told or told[-1] != ("busy", ""):
        told.append(heard.get(timeout=60.0))
    planner.close()
    (problem,) = [value for what, value in told if what == "problem"]
    assert "give at least" in problem


@pytest.mark.parametrize("given", [None, "regenerative", "non-regenerative"])
def test_a_program_that_is_opened_keeps_the_supply_of_its_file(given, tmp_path):
    """Built-in arms show a first move on a supply of its own, which is not that of a file."""
    steps = "[{move: {goal: {pan: 0.5}}}, {move: {goal: start}}]"
    text = f"robot: six_axis\nprogram: {{start: [0, -1.2, 1.6, -0.4, 0.3, 0], steps: {steps}}}\n"
    path = tmp_path / "program.yaml"
    path.write_text(text if given is None else f"{text}supply: {given}\n")
    wish = opened(str(path)).wish
    assert named(wish.program.program(wish).supply) == named(load_program(path).supply) == given

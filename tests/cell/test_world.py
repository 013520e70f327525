"""Robots in one world: zones are found where sweeps meet, and robots are proved to stay apart."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.cell.program.program import Dwell, MoveTo, Program
from armature.cell.workcell.cell import Base, Cell
from armature.cell.workcell.plan_cell import plan_cell
from armature.cell.workcell.world import Piece, keep_apart, meet, sweep_of
from armature.cli.main import run
from armature.scene.covers import link_shapes
from armature.scene.obstacle import matrix, vector
from armature.scene.several import Standing, joint_model

ROBOT = arm.library("planar2")
OPTIONS = {"supply": "non-regenerative", "knots": 20, "points": 4}
LEFT = Program(
    ROBOT,
    [0.0, 0.2],
    (MoveTo([-1.0, -0.5], name="in"), Dwell(0.2), MoveTo("start", name="out")),
    **OPTIONS,
)
RIGHT = replace(LEFT, start=[0.0, -0.2], steps=(MoveTo([1.0, 0.5], name="in"), *LEFT.steps[1:]))
BASES = {"left": Base((2.6, 0.0, 0.0)), "right": Base()}


@pytest.fixture(scope="module")
def plan():
    return plan_cell(Cell({"left": LEFT, "right": RIGHT}, 4.0, bases=BASES))


def distance(one, two, q_one, q_two) -> float:
    """Of robot one from the other's exact shapes, put as obstacles into its own frame: another way
    than that of two covers."""
    (R1, p1), (R2, p2) = one, two
    scene = arm.Scene(allowed=())
    for link in ROBOT.links:
        pose = arm.pose(ROBOT, q_two, link.name)
        R, p = R1.T @ R2 @ pose.R, R1.T @ (R2 @ pose.p + p2 - p1)
        for k, shape in enumerate(link_shapes(ROBOT, link.name)):
            turned = matrix(R @ np.array(shape.rotation).reshape(3, 3))
            at = vector(R @ np.array(shape.position) + p)
            scene = scene.with_obstacle(
                replace(shape, name=f"{link.name} {k}", rotation=turned, position=at)
            )
    found = arm.scene.distance(ROBOT, scene, q_one)
    other = [k for k, pair in enumerate(found.pairs) if pair[1] in scene.names]
    return float(found.each[other].min())


def place(base: Base):
    return base.rotation, np.array(base.position)


def test_distances_of_two_robots_are_those_of_the_others_shapes() -> None:
    bases = Base((0.9, 0.3, 0.1), (0.2, -0.3, 0.7)), Base((-0.2, 0.0, 0.4), (0.0, 0.1, 0.0))
    model, _ = joint_model([Standing(n, ROBOT, *place(b)) for n, b in zip("ab", bases)])
    rng = np.random.default_rng(1)
    out = max(arm.scene.distance(ROBOT, arm.Scene(), [0.0, 0.0]).overshoot.values())
    for q in rng.uniform(-2.0, 2.0, (12, 4)):
        mine = model.distances(q[None])[0].min()
        exact = distance(place(bases[0]), place(bases[1]), q[:2], q[2:])
        assert exact - 2 * out - 1e-9 <= mine <= exact + 1e-9


def test_levers_bound_how_fast_distances_change() -> None:
    model, lever = joint_model(
        [Standing(n, ROBOT, *place(b)) for n, b in zip("ab", BASES.values())]
    )
    rng = np.random.default_rng(2)
    q, v = rng.uniform(-2, 2, (2, 400, 4))
    h = 1e-5
    change = np.abs(model.distances(q + h * v)[0] - model.distances(q - h * v)[0]) / (2 * h)
    assert np.all(change <= np.abs(v) @ lever.T + 1e-6)


def test_sweeps_meet_exactly_where_two_instants_do() -> None:
    """Against all pairs of many instants."""
    there = arm.minimize_time(ROBOT, arm.Move([0.0, 0.2], [-1.0, -0.5]), knots=20).trajectory
    other = arm.minimize_time(ROBOT, arm.Move([0.0, -0.2], [1.0, 0.5]), knots=20).trajectory
    t = np.linspace(0.0, 1.0, 60)
    found = []
    for x in (2.2, 3.0, 3.45, 3.6, 4.2):
        bases = Base((x, 0.0, 0.0)), Base()
        model, lever = joint_model([Standing(n, ROBOT, *place(b)) for n, b in zip("ab", bases)])
        one, two = (m(m.t[0] + t * m.duration).q for m in (there, other))
        q = np.hstack([np.repeat(one, 60, axis=0), np.tile(two, (60, 1))])
        least = model.distances(q)[0].min()
        says = meet(model, lever, sweep_of(there), sweep_of(other))
        assert says or least > 0.0  # sweeps that meet are never called apart
        assert not says or least < 0.05  # and those well apart are not said to meet
        found.append(says)
    assert found[0] and not found[-1]


def test_a_cell_in_one_world_is_proved_apart_and_zones_are_entered_one_at_a_time(plan) -> None:
    assert plan.ok, plan.faults
    assert {frozenset(z.steps) for z in plan.zones} >= {
        frozenset({("left", "in"), ("right", "in")})
    }
    (proof,) = plan.apart.values()
    span = {}
    for name, one in plan.plans.items():
        start = plan.start_of(name)
        for s in one.stages:
            span[name, s.name] = (start + s.begin, start + s.begin + s.duration)
    for zone in plan.zones:
        (a0, a1), (b0, b1) = (span[step] for step in zone.steps)
        for n in range(-4, 5):
            assert min(a1, b1 + 4 * n) - max(a0, b0 + 4 * n) < 1e-5
    # the distance at many instants, by the other's exact shapes
    for t in np.linspace(0.0, 4.0, 41):
        q = []
        for name, one in plan.plans.items():
            motion = one.trajectory
            q.append(motion(np.clip((t - plan.start_of(name)) % 4.0, *motion.t[[0, -1]])).q)
        assert distance(place(BASES["left"]), place(BASES["right"]), *q) >= proof.distance - 1e-9


def test_robots_that_touch_are_found_out() -> None:
    """The same motions at the same time, as nearer bases or no zones would have them."""
    there = arm.minimize_time(ROBOT, arm.Move([0.0, 0.2], [-1.0, -0.5]), knots=20).trajectory
    other = arm.minimize_time(ROBOT, arm.Move([0.0, -0.2], [1.0, 0.5]), knots=20).trajectory
    model = joint_model([Standing(n, ROBOT, *place(b)) for n, b in zip("ab", BASES.values())])
    pieces = [
        [Piece(0.0, m.duration, m, 0, "in"), Piece(m.duration, 2 - m.duration, m.q[-1], 0, "stand")]
        for m in (there, other)
    ]
    proof = keep_apart({(0, 0): model}, *pieces, 2.0)
    assert not proof.free and proof.distance < 0.0 and "touch" in str(proof)
    assert keep_apart({(0, 0): model}, pieces[0], [Piece(0, 2, other.q[0], 0, "home")], 2.0).free


def test_a_world_without_a_schedule_names_the_steps_and_the_bases() -> None:
    near = {"left": Base((1.2, 0.0, 0.0)), "right": Base()}
    with pytest.raises(arm.ArmatureError, match=r"left/in with right/in") as refused:
        plan_cell(Cell({"left": LEFT, "right": RIGHT}, 4.0, bases=near), seconds=10.0)
    more = float(re.search(r"with 'right' ([0-9.]+) m farther from 'left'", str(refused.value))[1])
    far = {"left": Base((1.2 + more, 0.0, 0.0)), "right": Base()}
    plan = plan_cell(Cell({"left": LEFT, "right": RIGHT}, 4.0, bases=far), seconds=10.0)
    assert plan.ok and not plan.zones and more > 0.5


def test_gravity_pulls_down_in_the_world_whatever_way_a_base_is_mounted() -> None:
    bases = {"left": Base(rpy=(np.pi, 0.0, 0.0)), "right": Base(rpy=(0.0, 0.0, 1.0))}
    cell = Cell({"left": LEFT, "right": RIGHT}, 4.0, bases=bases)
    assert np.allclose(cell.robots["left"].robot.gravity, [0.0, 0.0, 9.81])
    assert np.allclose(cell.robots["right"].robot.gravity, [0.0, 0.0, -9.81])


def test_the_page_of_a_cell_holds_all_robots_where_they_are(plan, tmp_path: Path) -> None:
    import json

    text = plan.report(tmp_path / "cell.html").read_text(encoding="utf-8")
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    track = data["scene"]["tracks"]["plan"]
    frame = 100
    t = 4.0 * frame / (len(track["p"]) - 1)
    links = [link.name for link in ROBOT.links]
    for k, (name, one) in enumerate(plan.plans.items()):
        motion = one.trajectory
        q = motion(np.clip((t - plan.start_of(name)) % 4.0, *motion.t[[0, -1]])).q
        column = 3 * (k * len(links) + links.index(ROBOT.tip))
        shown = track["p"][frame][column : column + 3]
        wanted = arm.pose(ROBOT, q, ROBOT.tip).p + BASES[name].position
        assert np.allclose(shown, wanted, atol=1e-3)
    assert "<svg" in text and "The schedule" in text


def test_bases_stand_in_the_cell_file(tmp_path: Path, capsys) -> None:
    steps = "[{move: {goal: [0.4, 0.1]}, name: out}, {move: {goal: start}}]"
    program = f"robot: planar2\nprogram: {{start: [0.3, 0.2], steps: {steps}}}\n"
    (tmp_path / "p.yaml").write_text(program)
    cell = tmp_path / "c.yaml"
    robots = "cycle: 2 s\nrobots: [{name: a, program: p.yaml, base: {position: [3, 0, 0]}},"
    cell.write_text(robots + " {name: b, program: p.yaml, base: {rpy: [0, 0, 90 deg]}}]\n")
    loaded = arm.cell.load_cell(cell)
    assert loaded.bases["a"].position == (3.0, 0.0, 0.0)
    assert np.isclose(loaded.bases["b"].rpy[2], np.pi / 2)
    cell.write_text(robots + " {name: b, program: p.yaml}]\n")
    assert run(["check", str(cell)]) == 2
    assert "robot 'b' has no base" in capsys.readouterr().err

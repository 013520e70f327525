"""Programs: time is shared out exactly, the ledger closes, the plan uses the whole cycle and is
certified."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.cell.program.curves import Timed
from armature.cell.program.cycle_heat import with_mean_limits
from armature.cell.program.plan_program import _costs, plan_program, program_curve
from armature.cell.program.price import share_by_price
from armature.cell.program.program import Dwell, Grip, MoveTo, Program, Release
from armature.cell.program.program_file import is_program, load_program
from armature.cell.program.share import share, share_curve
from armature.cell.program.stages import Leg, stages
from armature.cli.main import run
from armature.study.rest import rest, with_brakes

BRAKE = arm.drive.Brake(engage_time=0.05, release_time=0.1, power=2.0)
ROBOT = with_brakes(arm.library("planar2"), BRAKE)
HOME, PART, TABLE = [0.3, 0.2], [1.1, -0.5], [-0.4, 0.7]
STEPS = (
    MoveTo(PART, name="fetch"),
    Grip(0.5, seconds=0.1),
    MoveTo([0.2, 0.6], stop=False, name="over"),
    MoveTo(TABLE, name="carry"),
    Release(0.1),
    Dwell(0.4, name="cool"),
    MoveTo("start", name="back"),
)


def program(**change) -> Program:
    return replace(
        Program(ROBOT, HOME, STEPS, 4.0, "non-regenerative", knots=20, points=5), **change
    )


@pytest.fixture(scope="module")
def plan():
    return plan_program(program())


@pytest.mark.parametrize("seed", range(20))
def test_shared_time_costs_no_more_than_any_share_of_a_grid(seed: int) -> None:
    """Costs of any shape; the witness tries every share of a grid."""
    rng = np.random.default_rng(seed)
    waves = [rng.normal(size=(3, 2)) for _ in range(3)]
    costs = [
        lambda x, w=w: sum(a * np.sin((k + 1) * (np.asarray(x) + b)) for k, (a, b) in enumerate(w))
        for w in waves
    ]
    given, energy = share(costs, 2.0)
    assert sum(given) == pytest.approx(2.0) and min(given) >= 0.0
    assert energy == pytest.approx(sum(float(c(g)) for c, g in zip(costs, given)), abs=1e-9)
    x = np.linspace(0.0, 2.0, 41)
    best = min(
        float(costs[0](a) + costs[1](b) + costs[2](2.0 - a - b))
        for a in x
        for b in x
        if a + b <= 2.0 + 1e-12
    )
    assert energy <= best + 1e-9
    assert share_curve(costs, 2.0)[1][-1] == pytest.approx(energy, abs=2e-3)


def test_a_plan_uses_its_whole_cycle_and_is_certified(plan) -> None:
    assert plan.ok and plan.certificate.ok, str(plan.certificate)
    assert sum(s.duration for s in plan.stages) == pytest.approx(4.0, abs=1e-6)
    for a, b in itertools.pairwise(plan.stages):
        assert b.begin == pytest.approx(a.begin + a.duration, abs=1e-9)
    assert plan.trajectory.duration == pytest.approx(4.0, abs=1e-6)
    assert np.allclose(plan.trajectory.q[[0, -1]], HOME, atol=1e-6)


def test_the_ledger_closes_and_its_energy_is_that_of_the_simulations_and_rests(plan) -> None:
    book = plan.ledger
    assert abs(book.residual) < 1e-5 * book.drawn and book.duration == pytest.approx(4.0)
    coils = 2 * BRAKE.power
    simulated = sum(leg.plan.certificate.energy + coils * leg.duration for leg in plan.legs)
    resting = sum(stop.stop.energy(stop.wait) for stop in plan.stops)
    assert book.energy == pytest.approx(simulated + resting, rel=1e-3)
    assert sum(plan.energies()) == pytest.approx(
        book.energy, rel=1e-9
    )  # each axis burns what comes back


def test_payloads_are_carried_between_grip_and_release_only(plan) -> None:
    fetch, carry, back = plan.legs
    assert carry.name == "over + carry"
    added = [
        leg.leg.robot.link(leg.leg.robot.tip).mass - ROBOT.link(ROBOT.tip).mass
        for leg in (fetch, carry, back)
    ]
    assert added == pytest.approx([0.0, 0.5, 0.0])


def test_a_move_that_does_not_stop_is_passed_at_speed(plan) -> None:
    motion = plan.legs[1].plan.trajectory
    near = np.abs(motion.q - [0.2, 0.6]).max(1).argmin()
    assert np.abs(motion.q[near] - [0.2, 0.6]).max() < 1e-6 and np.abs(motion.v[near]).max() > 0.1


def test_the_share_of_time_is_that_of_brute_force_over_the_same_curves(plan) -> None:
    parts = stages(plan.program)
    curves = iter(leg.curve for leg in plan.legs)
    spare = plan.cycle - plan.least_cycle
    x = np.linspace(0.0, spare, 31)
    tables = []
    for s in parts:
        curve = next(curves) if isinstance(s, Leg) else None
        tables.append([s.energy(t) for t in x] if curve is None else curve(curve.least + x))
    best = np.inf
    for i, j, k in itertools.product(
        range(31), repeat=3
    ):  # three motions; the rest is waited for at one stop
        if i + j + k <= 30:
            moved = tables[0][i] + tables[2][j] + tables[4][k]
            for w in (1, 3, 5):
                still = sum(tables[s][30 - i - j - k if s == w else 0] for s in (1, 3, 5))
                best = min(best, moved + still)
    curves = iter(leg.curve for leg in plan.legs)
    costs = []
    for s in parts:
        curve = next(curves) if isinstance(s, Leg) else None
        costs.append(
            (lambda x, s=s: np.array([s.energy(t) for t in x]))
            if curve is None
            else (lambda x, c=curve: c(c.least + x))
        )
    given, mine = share(costs, spare)
    assert mine <= best + 1e-6 and np.isclose(sum(given), spare)
    # what was planned needs no more than the curves promise, but for their sampling
    assert plan.energy <= 1.01 * best


def test_time_has_one_price_for_all_motions_of_a_cycle() -> None:
    """The price of the plan is what a longer cycle saves, and what each motion alone would."""
    given = program(cycle=3.0, points=4, steps=(STEPS[0], STEPS[1], STEPS[3], *STEPS[4:]))
    legs = [leg for leg in stages(given) if isinstance(leg, Leg)]
    plan = plan_program(given)
    shared = share_by_price(given, plan.stages, [Timed(p.leg, p.plan, p.curve) for p in plan.legs])
    assert shared is not None and shared.solved == len(legs) == 3 and shared.price > 1.0
    for leg, extra in zip(
        plan.legs, (x for x, s in zip(shared.given, plan.stages) if s in plan.legs)
    ):
        T, h = leg.curve.least + extra, 0.02 * leg.duration
        task = replace(leg.leg.task, smoothness=0.0)
        energy = [
            arm.minimize_energy(
                leg.leg.robot, replace(task, duration=t), "non-regenerative", knots=20
            ).energy
            for t in (T - h, T + h)
        ]
        slope = (energy[0] - energy[1]) / (2 * h) - 4.0  # the coils of two brakes take 4 W
        assert np.isclose(slope, shared.price, rtol=0.15), (leg.name, slope, shared.price)


def test_less_energy_than_motions_alone_with_an_even_share(plan) -> None:
    assert plan.energy <= plan.even and plan.energy <= 1.01 * plan.fast and 0 < plan.saving < 1


def test_waiting_costs_what_brakes_take() -> None:
    plan = plan_program(program(cycle=8.0))
    longest = max(plan.stops, key=lambda s: s.wait)
    pause, seconds = max(longest.pauses, key=lambda p: p[1])
    power = rest(with_brakes(arm.library("planar2"), BRAKE), longest.stop.q).held(1.0)
    assert seconds > 0.5 and pause.place.energy(seconds) < power * seconds


def test_the_least_cycle_is_the_sum_of_least_times_and_none_is_shorter() -> None:
    quick = plan_program(program(cycle=None), "time")
    assert quick.ok and quick.cycle == pytest.approx(quick.least_cycle)
    with pytest.raises(
        arm.ArmatureError, match=r"fetch .* s, .*carry .* s.* give at least [\d.]+ s"
    ) as told:
        plan_program(program(cycle=0.9 * quick.cycle))
    assert float(str(told.value).split()[-2]) == pytest.approx(quick.cycle, rel=1e-3)


def test_the_curve_ends_at_the_plan(plan) -> None:
    curve = program_curve(program(), longest=4.0)
    assert curve.cycles[0] == pytest.approx(plan.least_cycle, rel=1e-6)
    assert curve.energies[-1] == pytest.approx(plan.energy, rel=0.02)
    assert np.nanmin(curve.energies) == curve.best[1] and "cheapest" in str(curve)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((MoveTo(PART),), "ends with shoulder at 1.1, but begins at 0.3"),
        ((MoveTo(PART), Grip(1.0), MoveTo("start")), "release it"),
        (
            (MoveTo(PART, name="a"), Release(), MoveTo("start")),
            "step 'release' of robot 'planar2': the robot carries nothing",
        ),
        (
            (MoveTo(PART, name="a", stop=False), Dwell(1.0), MoveTo("start")),
            "step 'a' does not stop",
        ),
        ((MoveTo(PART), MoveTo("start", stop=False, name="b")), "step 'b' does not stop"),
        (
            (MoveTo(HOME, name="c"), MoveTo("start")),
            "step 'c' of robot 'planar2': the robot is there",
        ),
        (
            (MoveTo(PART), Grip(1.0), Grip(1.0), MoveTo("start")),
            "step 'grip 3' of robot 'planar2': the robot carries what 'grip'",
        ),
        (
            (MoveTo(PART), Grip(1.0, inertia=[1.0, 1.0]), MoveTo("start"), Release()),
            "step 'grip' of robot 'planar2': payload inertia has 2 values",
        ),
    ],
)
def test_programs_that_contradict_themselves_name_the_step(steps, words: str) -> None:
    with pytest.raises(arm.ArmatureError, match=words):
        stages(program(steps=steps))


def test_a_payload_too_heavy_names_the_step_and_the_greatest_one() -> None:
    steps = (MoveTo(PART), Grip(500.0), MoveTo("start", name="heave"), Release())
    with pytest.raises(
        arm.ArmatureError, match=r"step 'heave' of robot 'planar2' is impossible: .*kg"
    ):
        plan_program(program(steps=steps))


def test_a_dwell_on_brakes_that_do_not_hold_tells_the_torques_that_would() -> None:
    """The witness: brakes of just these torques are enough, a little weaker ones are not."""
    steps = (MoveTo(PART), Dwell(1.0, "brake", name="cool"), MoveTo("start"))
    with pytest.raises(arm.ArmatureError, match="step 'cool' of robot 'planar2': no brake") as told:
        stages(program(robot=arm.library("planar2"), steps=steps))
    most = max(float(x) for x in re.findall(r"([0-9.]+) N·m", str(told.value)))
    strong = lambda torque: with_brakes(arm.library("planar2"), replace(BRAKE, torque=torque))
    stages(program(robot=strong(1.001 * most), steps=steps))
    with pytest.raises(arm.ArmatureError, match="no brake holds shoulder here"):
        stages(program(robot=strong(0.999 * most), steps=steps))


FILE = """name: pick
robot: planar2
supply: non-regenerative
brake: {engage_time: 50 ms, release_time: 100 ms, power: 2 W}
knots: 20
program:
  start: [0.3, 0.2]
  cycle: 3 s
  points: 3
  steps:
    - move: {goal: {shoulder: 1.1}}
    - grip: {mass: 500 g, at: [0, 0, 0], inertia: [1 g*m^2, 1 g*m^2, 1 g*m^2], seconds: 100 ms}
    - move: {goal: start}
      name: back
    - release: 100 ms
    - dwell: {seconds: 0.2 s, hold: motors}
"""


def test_a_program_file_is_planned_certified_and_exported(tmp_path: Path, capsys) -> None:
    file = tmp_path / "pick.yaml"
    file.write_text(FILE)
    assert (
        is_program(file)
        and run(["plan", str(file), "--save", str(tmp_path / "out"), "--json"]) == 0
    )
    facts = json.loads(capsys.readouterr().out)
    assert facts["ok"] and facts["cycle"] == 3.0 and facts["energy"] <= facts["energy_even_share"]
    motion = arm.Trajectory.load(tmp_path / "out" / "motion.csv")
    assert motion.duration == pytest.approx(3.0, abs=1e-6) and np.allclose(
        motion.q[0], motion.q[-1], atol=1e-6
    )
    page = (tmp_path / "out" / "report.html").read_text()
    assert "pick" in page and "certificate of the program: passed" in page
    assert len(list((tmp_path / "out").glob("0*.npz"))) == 2
    table = tmp_path / "cycles.csv"
    assert run(["curve", str(file), "-T", "3 s", "--save", str(table), "--json"]) == 0
    rows = np.loadtxt(table, delimiter=",", skiprows=1)
    assert rows[-1, 0] == pytest.approx(3.0) and np.isfinite(rows[:, 1]).all()


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("goal: start}", "goal: home}", ("pick.yaml:13", "start")),
        ("shoulder: 1.1", "sholder: 1.1", ("pick.yaml:11", "shoulder")),
        (
            "    - release: 100 ms\n",
            "    - release: 100 ms\n      dwell: 1 s\n",
            ("pick.yaml:15", "one of"),
        ),
        ("mass: 500 g", "mass: heavy", ("pick.yaml:12",)),
        ("steps:", "stps:", ("did you mean 'steps'",)),
        ("cycle: 3 s", "cycle: -3 s", ("cycle",)),
    ],
)
def test_mistakes_in_a_program_file_have_their_lines(
    tmp_path: Path, old: str, new: str, words
) -> None:
    assert old in FILE
    (tmp_path / "pick.yaml").write_text(FILE.replace(old, new))
    with pytest.raises(arm.errors.FileError) as caught:
        load_program(tmp_path / "pick.yaml")
    assert all(word in str(caught.value) for word in words), str(caught.value)


def _steps_of(text: str, folder: Path) -> tuple:
    (folder / "p.yaml").write_text(
        "robot: planar2\nprogram:\n  start: [0.3, 0.6]\n  closed: false\n  steps:\n" + text
    )
    return load_program(folder / "p.yaml").steps


def test_a_pose_in_a_program_file_is_reached_in_the_posture_of_the_move(tmp_path: Path) -> None:
    hand = [float(x) for x in arm.pose(ROBOT, np.array([0.2, 1.0]), ROBOT.tip).p]
    goal = f"    - move: {{goal: {{position: {hand}}}, posture: %s}}\n"
    up, down = (_steps_of(goal % way, tmp_path)[0].goal for way in ([0, 1], [1, -1]))
    hands = [arm.pose(ROBOT, q, ROBOT.tip).p for q in (up, down)]
    assert np.allclose(*hands, atol=1e-6) and up[1] * down[1] < 0.0
    with pytest.raises(arm.errors.FileError, match=r"p.yaml:6: posture .* leave posture out"):
        _steps_of("    - move: {goal: [0.9, 0.4], posture: elbow up}\n", tmp_path)


def test_joints_that_a_goal_does_not_name_stay_where_the_path_before_it_ended(tmp_path) -> None:
    steps = "    - path: {joints: [[0.3, 0.6], [0.5, 0.9], [0.9, 0.2]]}\n"
    steps += "    - move: {goal: {shoulder: 0.1}}\n"
    assert np.allclose(_steps_of(steps, tmp_path)[1].goal, [0.1, 0.2])


def test_costs_of_stages_are_infinite_where_nothing_may_wait(plan) -> None:
    steps = (MoveTo(PART), Dwell(0.2, fixed=True), MoveTo("start"))
    parts = stages(program(steps=steps))
    cost = _costs(parts[1:2], [])[0]
    assert np.isfinite(cost(np.zeros(1))[0]) and np.isinf(cost(np.ones(1))[0])


def test_mean_limits_over_the_cycle_allow_cycles_that_motions_alone_do_not() -> None:
    """Motors whose continuous current is low: the rests of the cycle cool them."""
    weak = with_mean_limits(arm.library("planar2"), 0.4)
    steps = (MoveTo(PART, name="out"), MoveTo("start", name="back"), Dwell(1.5))
    by_motion = program(
        robot=weak, start=[0.0, 0.0], steps=steps, cycle=None, points=3
    )  # it rests hanging down
    least = plan_program(by_motion, "time").cycle
    coldest = plan_program(replace(by_motion, robot=with_mean_limits(weak, np.inf)), "time").cycle
    assert coldest < 0.99 * least
    short = replace(by_motion, cycle=0.3 * coldest + 0.7 * least)
    with pytest.raises(arm.ArmatureError, match="give at least"):
        plan_program(short)
    hot = plan_program(replace(short, mean_limits="cycle"))
    assert hot.ok and hot.cycle < least
    # the mean over the cycle, counted anew from the motions' currents and the resting torques
    for axis, drive in enumerate(weak.drivetrain.drives):
        heat = 0.0
        for leg in hot.legs:
            t = np.linspace(0.0, leg.duration, 4001)
            q, v, a = leg.plan.trajectory(t + leg.plan.trajectory.t[0])
            flow = leg.leg.robot.drivetrain.flow(
                arm.inverse_dynamics(leg.leg.robot, q, v, a), v, a
            )[axis]
            heat += np.trapezoid(np.broadcast_to(flow.current, t.shape) ** 2, t)
        heat += sum(rest(weak, s.stop.q).axes[axis].current ** 2 * s.duration for s in hot.stops)
        assert np.sqrt(heat / hot.cycle) <= drive.motor.continuous_current * (1 + 1e-3)


def test_joined_motions_run_between_their_knots_as_they_did_alone() -> None:
    """Accelerations jump where one motion ends and the next begins."""
    from armature.motion.cycle import joined

    t = np.linspace(0.0, 0.7, 5)
    for kind in ("linear", "hermite", "held"):
        there = arm.Trajectory(t, *_cubic(t, 1.0), interpolation=kind)
        back = arm.Trajectory(t, *_cubic(t, -1.0), interpolation=kind)
        both = joined([there, back])
        x = np.linspace(0.0, 0.7, 301)[1:-1]
        assert np.allclose(both(x).q, there(x).q, atol=1e-6) and np.allclose(
            both(0.7 + x).q, back(x).q, atol=1e-6
        )
        assert both.duration == pytest.approx(1.4)


def _cubic(t: np.ndarray, sign: float):
    s = (t / 0.7)[:, None]
    q = (3 * s**2 - 2 * s**3) * sign + (0.0 if sign > 0 else 1.0)
    return q, sign * (6 * s - 6 * s**2) / 0.7, sign * (6 - 12 * s) / 0.49


def test_a_scene_stands_in_a_program_file_or_is_given_on_the_command_line(
    tmp_path: Path, capsys
) -> None:
    file, scene = tmp_path / "there.yaml", tmp_path / "walls.yaml"
    steps = (
        "program: {start: [0, 0], cycle: 4 s, steps: [{move: {goal: [0.5, 0.2]}}, {move: {goal:"
        " start}}]}\n"
    )
    file.write_text(
        "robot: planar2\nknots: 12\nscene: {objects: {far: {sphere: 0.1, position: [0, 9,"
        f" 0]}}}}}}\n{steps}"
    )
    scene.write_text("objects: {wall: {box: [0.1, 2, 4], position: [0.5, 0, -1]}}\n")
    assert load_program(file).scene.names == ("far",)
    assert run(["plan", str(file)]) == 0
    capsys.readouterr()
    assert run(["plan", str(file), "--scene", str(scene)]) == 2
    assert "The goal is in collision: lower is 0.0746 m inside wall" in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", [["--payload", "3kg"], ["--smoothness", "0.5"], ["--via", "shoulder=1"], ["--quick"]]
)
def test_options_of_single_moves_are_refused_for_a_program(tmp_path, capsys, option) -> None:
    from armature.cli.main import run

    steps = (
        "program: {start: [0, 0], cycle: 4 s, steps: [{move: {goal: [0.5, 0.2]}}, {move: {goal:"
        " start}}]}\n"
    )
    file = tmp_path / "program.yaml"
    file.write_text("robot: planar2\n" + steps)
    assert run(["plan", str(file), *option]) == 2
    assert "is a program" in capsys.readouterr().err

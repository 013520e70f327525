"""Lines: time is shared out exactly, waiting costs what brakes and motors take, and the balanced
line keeps its cycle with less energy."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import armature as arm
from armature.study.allocate import allocate
from armature.study.line import Line, Process, Station, StationMove, balance_line
from armature.study.line_file import load_line
from armature.study.rest import coil_power, rest, with_brakes
from armature.study.station_balance import Choice

ROBOT = arm.library("planar2")
HOME, OUT = [0.3, 0.2], [1.1, -0.5]


def brute_force(costs: list[np.ndarray], steps: int) -> float:
    """The least of all ways to share steps out."""
    ways = itertools.product(*(range(len(c)) for c in costs))
    return min(
        (sum(c[k] for c, k in zip(costs, way)) for way in ways if sum(way) == steps), default=np.inf
    )


@pytest.mark.parametrize("seed", range(60))
def test_allocation_is_that_of_brute_force_on_any_curves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    costs = [rng.normal(size=rng.integers(1, 9)) for _ in range(rng.integers(1, 5))]
    if seed % 3 == 0:  # convex ones, and holes
        costs = [np.cumsum(np.sort(c)) for c in costs]
    for c in costs:
        c[rng.random(len(c)) < 0.15] = np.inf
    steps = int(rng.integers(0, sum(len(c) for c in costs)))
    best = brute_force(costs, steps)
    if np.isinf(best):
        with pytest.raises(arm.errors.ArgumentError, match="no way to spend"):
            allocate(costs, steps)
        return
    given, value = allocate(costs, steps)
    assert sum(given) == steps and value == pytest.approx(best, abs=1e-12)
    assert sum(c[k] for c, k in zip(costs, given)) == pytest.approx(best, abs=1e-12)


def test_resting_costs_what_the_motors_need_against_gravity() -> None:
    load = arm.inverse_dynamics(ROBOT, np.array(OUT), np.zeros(2), np.zeros(2))
    drives = ROBOT.drivetrain.drives
    # R (τ/(N K))², less what the iron of the motor holds
    currents = [
        max(0.0, abs(t) / d.gear.ratio - d.motor.iron_torque) / d.motor.torque_constant
        for t, d in zip(load, drives)
    ]
    power = sum(d.motor.resistance * i**2 for i, d in zip(currents, drives))
    assert power > 1.0
    assert rest(ROBOT, OUT).energy(2.0) == pytest.approx(2 * power)
    assert rest(ROBOT, [0.0, 0.0]).energy(2.0) == 0.0  # hanging down


def test_resting_on_the_brake_costs_only_closing_and_opening_and_never_more_than_holding() -> None:
    braked = with_brakes(ROBOT, arm.drive.Brake(engage_time=0.1, release_time=0.2, power=6.0))
    free, held = rest(ROBOT, OUT), rest(braked, OUT)
    power = free.energy(1.0)
    assert coil_power(braked) == 12.0 and coil_power(ROBOT) == 0.0
    assert held.energy(10.0) == held.energy(5.0) == pytest.approx(0.3 * power + 0.2 * 12.0)
    assert held.energy(0.2) == pytest.approx(0.2 * (power + 12.0))  # no time to close and open
    assert held.held(10.0) == pytest.approx(10 * (power + 12.0))
    weak = with_brakes(ROBOT, arm.drive.Brake(torque=1e-3))
    assert rest(weak, OUT).energy(3.0) == pytest.approx(3 * power)


@pytest.fixture(scope="module")
def balanced():
    quick = (
        StationMove(arm.Move(HOME, OUT), 0.5, "out"),
        Process(0.2),
        StationMove(arm.Move(OUT, HOME), 0.0, "back"),
    )
    braked = with_brakes(ROBOT, arm.drive.Brake(engage_time=0.05, release_time=0.05, power=2.0))
    stations = (
        Station("quick", braked, quick, "non-regenerative"),
        Station("slow", ROBOT, (*quick, Process(0.6)), "non-regenerative"),
    )
    told = []
    return (
        balance_line(Line(stations, knots=20, points=6), progress=lambda *now: told.append(now)),
        told,
    )


def test_every_station_uses_the_cycle_of_the_slowest_and_spends_no_more(balanced) -> None:
    found, told = balanced
    quick, slow = found.stations
    assert (
        found.slowest == "slow"
        and found.cycle == pytest.approx(slow.least_time)
        and told[-1][1:] == (12, 12)
    )
    for station in found.stations:
        used = station.process_time + sum(m.plan.duration + m.wait for m in station.moves)
        assert used == pytest.approx(found.cycle, abs=1e-6) and station.certified
    assert slow.after == pytest.approx(slow.before)  # it has no time to spare
    assert quick.after < 0.95 * quick.before
    assert found.after == pytest.approx(quick.after + slow.after) and 0 < found.saving < 1


def test_energies_of_a_balanced_line_are_those_of_its_plans(balanced) -> None:
    station = balanced[0].stations[0]
    for move in station.moves:
        assert move.after == pytest.approx(
            move.plan.energy + 4.0 * move.plan.duration
        )  # with the coils of two brakes
        fast = arm.ledger(move.least.robot, move.least.trajectory, "non-regenerative").energy
        assert move.before == pytest.approx(fast + 4.0 * move.least.duration)
    assert "quick" in str(balanced[0]) and "%" in str(balanced[0])


def test_the_balance_is_that_of_brute_force_over_the_same_curves(balanced) -> None:
    from scipy.interpolate import PchipInterpolator

    station = balanced[0].stations[0]
    a, b = station.moves
    spare = balanced[0].cycle - station.least_time
    x = np.linspace(0.0, spare, 121)
    E = [PchipInterpolator(m.durations, m.energies)(m.least.duration + x) for m in (a, b)]
    waits = [
        np.array([rest(m.plan.robot, m.plan.trajectory.q[-1]).energy(t) for t in x]) for m in (a, b)
    ]
    best = min(
        E[0][i] + E[1][j] + waits[0][k] + waits[1][120 - i - j - k]
        for i in range(121)
        for j in range(121 - i)
        for k in range(121 - i - j)
    )
    mine = sum(m.after + m.rest_energy for m in station.moves)
    assert mine == pytest.approx(
        best, rel=5e-3
    )  # the plans themselves, not the curve between its points


def test_a_station_with_coarse_curves_needs_no_more_than_before() -> None:
    """Three points on a curve of 30 s say nothing of the swings between them: what the plans really
    take is learned, and waiting stays possible."""
    moves = (
        StationMove(arm.Move(HOME, OUT), 1.0, name="out"),
        StationMove(arm.Move(OUT, HOME), name="back"),
    )
    station = Station("a", ROBOT, moves, "non-regenerative")
    found = balance_line(Line((station,), cycle=30.0, knots=10, points=3)).stations[0]
    assert found.certified and found.after <= found.before
    used = sum(m.plan.duration + m.wait for m in found.moves)
    assert used == pytest.approx(30.0, abs=1e-6)


def test_durations_without_a_plan_are_not_taken_again() -> None:
    """Between the points next to one that could not be planned; others keep their energies."""
    move = StationMove(arm.Move(HOME, OUT))
    least, plan = SimpleNamespace(duration=1.0), SimpleNamespace(duration=2.0, trajectory="2 s")
    T, E = np.array([1.0, 2.0, 4.0, 8.0]), np.array([9.0, 5.0, 3.0, 2.0])
    curve = Choice(move, ROBOT, least, 9.0, T, E, ("1 s", "", "4 s", "8 s"), rest(ROBOT, OUT))
    learned = curve.learned(3.0, SimpleNamespace(plan=plan, after=6.0))
    costs = learned.costs(np.array([0.0, 1.0, 1.5, 2.9, 3.0, 7.0, 7.5]))
    assert costs[[0, 1, 4, 5]].tolist() == [9.0, 6.0, 3.0, 2.0]
    assert np.isinf(costs[[2, 3, 6]]).all()
    assert learned.motions == ("1 s", "2 s", "4 s", "8 s")


def test_a_station_that_only_works_stands_where_it_starts() -> None:
    swing = (StationMove(arm.Move(HOME, OUT)), StationMove(arm.Move(OUT, HOME)))
    looks = Station("looks", ROBOT, (Process(0.5),), start=OUT)
    found = balance_line(Line((Station("moves", ROBOT, swing), looks), knots=20, points=4))
    station, power = found.stations[1], rest(ROBOT, OUT).energy(1.0)
    assert station.waits == pytest.approx(found.cycle - 0.5) and station.certified
    assert station.before == station.after == pytest.approx(power * found.cycle)


def test_a_station_that_stands_nowhere_is_refused() -> None:
    for start in ([0.0], [np.nan, 0.0]):
        with pytest.raises(arm.errors.ArgumentError, match="station 'a': start"):
            Station("a", ROBOT, (Process(1.0),), start=start)


def test_a_move_to_where_the_robot_is_names_its_station() -> None:
    station = Station("idle", ROBOT, (StationMove(arm.Move(HOME, HOME), name="stay"),))
    with pytest.raises(arm.errors.ArgumentError, match="station 'idle': move 'stay': start and"):
        balance_line(Line((station,)))


def test_a_cycle_that_is_too_short_names_its_stations(balanced) -> None:
    moves = (
        StationMove(arm.Move(HOME, OUT), name="out"),
        StationMove(arm.Move(OUT, HOME), name="back"),
    )
    with pytest.raises(
        arm.errors.ArgumentError, match=r"too short: only needs .* s; give at least"
    ):
        balance_line(Line((Station("only", ROBOT, moves),), cycle=0.2, knots=20))


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ((arm.Move(HOME, OUT),), "must return"),
        (
            (arm.Move(HOME, OUT), arm.Move([1.1, -0.4], HOME)),
            "begins with elbow at -0.4, but the one before it ends at -0.5",
        ),
        ((arm.Move(HOME, OUT, goal_velocity=[0.1, 0]), arm.Move(OUT, HOME)), "at rest"),
        ((Process(1.0),), "has no moves"),
    ],
)
def test_stations_whose_moves_do_not_join_are_refused(steps, words: str) -> None:
    with pytest.raises(arm.errors.ArgumentError, match=words):
        Station("a", ROBOT, steps)


LINE = """name: cell
stations:
  - name: a
    robot: planar2
    brake: {engage_time: 50 ms, power: 3 W}
    start: [0, 0]
    steps:
      - move: {name: out, goal: [1, 20 deg], payload: 500 g}
      - process: 0.5 s
      - move: {goal: start}
"""


def test_a_line_file_is_read_with_units_and_defaults(tmp_path: Path) -> None:
    (tmp_path / "line.yaml").write_text(LINE)
    line = load_line(tmp_path / "line.yaml")
    station = line.stations[0]
    assert line.name == "cell" and line.cycle is None and (line.knots, line.points) == (50, 16)
    out, pause, back = station.steps
    assert (
        np.allclose(out.task.goal, [1, np.radians(20)])
        and out.payload == 0.5
        and pause.seconds == 0.5
    )
    assert np.allclose(back.task.goal, 0) and np.allclose(back.task.start, out.task.goal)
    assert all(d.brake.engage_time == 0.05 for d in station.robot.drivetrain.drives)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("goal: start", "goal: home", ("line.yaml:10", "start")),
        ("robot: planar2", "robot: planr2", ("line.yaml:4", "planar2")),
        ("steps:", "step:", ("line 7", "did you mean 'steps'")),
        ("process: 0.5 s", "process: soon", ("line.yaml:9",)),
        ("      - move: {goal: start}\n", "", ("line.yaml:7", "must return")),
        ("[1, 20 deg]", "[1, 20 deg, 3]", ("line.yaml:8", "3 values for 2 joints")),
        ("process: 0.5 s", "{process: 0.5 s, move: {goal: start}}", ("line.yaml:9", "either")),
    ],
)
def test_mistakes_in_a_line_file_have_their_lines(
    tmp_path: Path, old: str, new: str, words
) -> None:
    assert old in LINE
    (tmp_path / "line.yaml").write_text(LINE.replace(old, new))
    with pytest.raises(arm.errors.FileError) as caught:
        load_line(tmp_path / "line.yaml")
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_what_is_no_line_is_told_so() -> None:
    with pytest.raises(arm.ArmatureError, match="takes a Line"):
        balance_line("line.yaml")  # type: ignore[arg-type]

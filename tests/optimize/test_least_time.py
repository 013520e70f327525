"""Least times: nothing faster is found from any start, and the energy of the shortest motion is
counted with the supply asked for."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.arms import arms, chain, driven
from benchmarks.compare import REFERENCE, asked, frozen_arms
from benchmarks.moves import standing

from armature.drive import Drive, Friction, Gear, Motor
from armature.job.job import Job
from armature.motion.trajectory import Trajectory
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.moves.least_time import minimize_time
from armature.optimize.planner.pipeline import Pipeline, posed
from armature.optimize.planner.starts import detours
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched, through
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move, Via
from armature.robot.library import library
from armature.robot.model import Joint, Limits, Link, Robot

MOVES = {
    "burgevin": ([0.0, 1.2, 0.4], [1.2, 1.8, 0.7]),
    "planar2": ([0.3, -1.0], [1.4, 0.8]),
}


def starts(problem: MoveProblem, fastest: Trajectory, seed: int) -> Iterator[Trajectory | None]:
    """The joint cubic, the shortest motion run faster, detours of every joint, and ways through
    random configurations."""
    yield None
    yield stretched(fastest, problem.duration)
    yield from detours(problem)
    rng, ends = np.random.default_rng(seed), (problem.ends.q0, problem.ends.q1)
    size = np.maximum(np.abs(ends[1] - ends[0]), 0.3)
    for _ in range(4):
        yield through(
            [
                ends[0],
                (ends[0] + ends[1]) / 2 + 0.3 * size * rng.normal(size=problem.robot.n),
                ends[1],
            ],
            problem.duration,
        )


@pytest.mark.parametrize("name", MOVES)
def test_no_feasible_motion_is_found_below_the_least_time_from_any_start(name):
    robot = library(name).with_payload(0.5)
    least = minimize_time(robot, Move(*MOVES[name]))
    assert least.ok and least.certificate.within_limits, str(least)
    problem = posed(robot, Move(*MOVES[name], 0.995 * least.duration), "regenerative", 100)
    pipeline = Pipeline(Weights(energy=1.0))
    for start in starts(problem, least.trajectory, 1):
        assert not pipeline.least_energy(problem, start).runs
    # the harness does find what is there
    slower = posed(robot, Move(*MOVES[name], 1.01 * least.duration), "regenerative", 100)
    found = (pipeline.least_energy(slower, x) for x in starts(slower, least.trajectory, 1))
    assert any(attempt.runs for attempt in found)


def test_the_shortest_motion_is_counted_with_the_supply_asked_for():
    robot, move = library("burgevin").with_payload(0.5), Move(*MOVES["burgevin"])
    back, burnt = (
        minimize_time(robot, move, starts=1, supply=supply)
        for supply in ("regenerative", "non-regenerative")
    )
    assert back.duration == pytest.approx(burnt.duration, rel=1e-9)
    assert burnt.energy > back.energy and burnt.ledger.returned == 0.0 < back.ledger.returned
    assert burnt.ledger.energy == pytest.approx(
        sum(row["taken"] for row in burnt.ledger.per_joint.values()), rel=1e-9
    )
    assert burnt.baseline.ledger.returned == 0.0 and not burnt.returns and back.returns
    job = Job(robot, move, "time", "non-regenerative").run()
    assert job.energy == pytest.approx(
        minimize_time(robot, move, supply="non-regenerative").energy, rel=1e-9
    )


def test_the_shortest_motion_is_the_end_of_the_feasible_durations():
    robot = library("planar2").with_payload(0.5)
    least = minimize_time(robot, Move(*MOVES["planar2"]))
    assert minimize_energy(robot, Move(*MOVES["planar2"], 1.005 * least.duration)).ok
    told = minimize_energy(robot, Move(*MOVES["planar2"], 0.96 * least.duration)).diagnosis
    assert told.shortest_duration == pytest.approx(least.duration, rel=0.02)


def test_there_and_back_again_takes_twice_the_least_time():
    """Without friction a motion can be run backwards with the same torques; planar2's voltages are
    far from their limits."""
    robot, (start, goal) = library("planar2").with_payload(0.5), MOVES["planar2"]
    there = minimize_time(robot, Move(start, goal))
    back = minimize_time(robot, Move(start, start, via=[Via(goal, velocity=0.0)]))
    assert back.ok and back.duration == pytest.approx(2 * there.duration, rel=0.01)


def test_a_stop_on_the_way_takes_no_longer_than_both_legs_one_after_the_other():
    """Of an arm with much dry friction, whose currents jump where joints turn between knots."""
    frozen = json.loads(REFERENCE.read_text())
    kept = next(r["task"] for r in frozen["rows"] if r["task"]["number"] == 1014)
    robot, move, _ = asked(kept, frozen_arms(frozen["arms"]))
    whole = replace(move, duration=None)
    (stop,) = whole.via
    legs = (
        replace(whole, goal=stop.configuration, via=()),
        replace(whole, start=stop.configuration, via=()),
    )
    each = [minimize_time(robot, leg).duration for leg in legs]
    assert minimize_time(robot, whole).duration < 1.01 * sum(each)


@pytest.mark.parametrize(
    ("part", "via"), [(0.9, []), (0.75, [Via(MOVES["planar2"][1], velocity=0.0)])]
)
def test_least_times_under_a_mean_current_keep_it_and_are_certified(part, via):
    """A repeated cycle whose motors exceed their mean limit: the limit of the mean decides, summed up as the
    certificate does."""
    bare, (start, goal) = library("planar2").with_payload(0.5), MOVES["planar2"]
    free = minimize_time(bare, Move(start, goal))
    told = {name: row["continuous current"] for name, row in free.certificate.margins.items()}
    assert {m.unit for m in told.values()} == {"A (rms)"}
    current = {name: m.value for name, m in told.items()}
    i, t = free.trajectory.current, free.trajectory.t
    mean = np.sqrt(np.trapezoid(i**2, t, axis=0) / t[-1])
    assert np.allclose([current[axis] for axis in bare.drivetrain.axis_names], mean, rtol=3e-3)
    cooler = lambda c: replace(
        c.drives[0],
        motor=replace(c.drives[0].motor, continuous_current=part * current[c.joints[0]]),
    )
    robot = bare.with_drives({c.joints[0]: cooler(c) for c in bare.drives})
    least = minimize_time(robot, Move(start, start if via else goal, via=via))
    assert least.ok and least.certificate.ok, str(least)
    assert least.duration > free.duration * (1 + len(via)) * 1.001
    nearest = min(row["continuous current"].fraction for row in least.certificate.margins.values())
    assert abs(nearest) < 5e-3  # it is this limit that decides


OTHERS = {
    "scara": ([0.2, -0.8, 0.02, 0.0], [1.1, 0.9, 0.1, 1.0]),
    "six_axis": ([-0.7, -1.2, 1.9, -1.0, -1.5, 0.0], [1.0, -0.4, 0.9, -0.4, -1.5, 1.2]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_cool_is_found_a_little_below_the_least_time(name):
    """Least heat instead of least time or energy, from the joint cubic, the motion itself and ways
    through other configurations."""
    robot, move = library(name), Move(*OTHERS[name])
    least = minimize_time(robot, move)
    assert least.ok and least.certificate.ok, str(least)
    pipeline = Pipeline(Weights(heat=1.0))
    problem = posed(robot, replace(move, duration=0.995 * least.duration), "regenerative", 60)
    ways = [
        start for k, start in enumerate(starts(problem, least.trajectory, 2)) if k < 2 or k % 4 == 0
    ]
    for start in ways:
        assert not pipeline.least_energy(problem, start).runs
    slower = replace(problem, move=replace(move, duration=1.02 * least.duration))
    assert any(pipeline.least_energy(slower, start).runs for start in ways)


def carrying(name: str, part: float) -> Robot:
    """A chain of three rods at random, or an arm of a file, with drives of the catalogue and a part
    of its greatest payload."""
    if name in arms():
        return arms()[name].loaded(part * arms()[name].payload)
    rng = np.random.default_rng(3)
    robot = chain(name, 3, rng)
    most = 0.2 * robot.mass
    return driven(robot, robot.tips[0], most, rng).with_payload(part * most, link=robot.tips[0])


@pytest.mark.parametrize("name", ["chain", "ur5"])
def test_arms_with_lossy_gears_and_dry_friction_have_nothing_shorter_from_any_start(name):
    """All knots, ten starts: the joint cubic, the shortest motion itself, detours and ways through
    other configurations."""
    robot, rng = carrying(name, 0.5), np.random.default_rng(5)
    move = Move(standing(robot, rng), standing(robot, rng))
    least = minimize_time(robot, move)
    assert least.ok and least.certificate.ok, str(least)
    pipeline = Pipeline(Weights(heat=1.0))
    problem = posed(robot, replace(move, duration=0.995 * least.duration), "regenerative", 100)
    ways = list(starts(problem, least.trajectory, 3))
    for start in [*ways[:2], *ways[2:-4:3], *ways[-4:]]:
        assert not pipeline.least_energy(problem, start).runs
    slower = replace(problem, move=replace(move, duration=1.05 * least.duration))
    assert any(
        pipeline.least_energy(slower, start).runs for start in ways
    )  # the harness finds what is there


def slide(allowed: float) -> Robot:
    """3 kg on a level slide against 6 N of dry friction; the motor bears this part of the square of
    friction's current in the mean."""
    links = Link("base"), Link("mass", 3.0, (0.0, 0.0, 0.0), (0.01, 0.01, 0.01, 0.0, 0.0, 0.0))
    joint = Joint(
        "x", "prismatic", "base", "mass", axis=(1.0, 0.0, 0.0), limits=Limits(-1.0, 1.0, 2.0)
    )
    motor = Motor(resistance=1.0, torque_constant=0.1, continuous_current=allowed**0.5 * 6.0 / 20.0)
    drive = Drive(motor, Gear(ratio=200.0), friction=Friction(coulomb=6.0))
    return Robot("slide", links, (joint,), "base").with_drives({"x": drive})


@pytest.mark.parametrize("allowed, above", [(0.9, 0.03), (0.3, 0.1)])
def test_a_joint_over_its_mean_limit_by_friction_moves_in_a_part_of_the_least_time(allowed, above):
    """K² ∫i² dt = 12 m²d²/t³ + f²t for a motion of t seconds, the least at t = √(6 m d/f); the rest
    of T = 4 t/(3 · allowed) it stands."""
    least = minimize_time(slide(allowed), Move([0.0], [0.3]))
    law = 4 / (3 * allowed) * np.sqrt(6 * 3.0 * 0.3 / 6.0)
    assert least.ok and least.certificate.ok, str(least)
    assert law * (1 - 1e-3) <= least.duration <= (1 + above) * law  # it stands for whole steps


def test_a_move_that_can_be_run_backwards_is_not_run_like_its_mirror_image():
    """Half a turn with the arm stretched out: 0.3 % shorter when what goes in at first does not
    come out in the same way."""
    robot = library("burgevin").with_payload(2.0)
    least = minimize_time(robot, Move([0.0, np.pi / 2, 0.9], [np.pi, np.pi / 2, 0.9]))
    s = np.linspace(0.0, least.duration, 101)
    mirrored = (
        np.array([np.pi, np.pi / 2, 0.0])
        + np.array([-1.0, 1.0, 1.0]) * least.trajectory(s[::-1]).q
        - [0.0, np.pi / 2, 0.0]
    )
    assert least.duration < 0.5235 and np.abs(least.trajectory(s).q - mirrored).max() > 0.01


def test_the_time_allowed_is_kept_and_every_iteration_is_told():
    robot, move = library("six_axis"), Move(*OTHERS["six_axis"])
    whole, told = minimize_time(robot, move, starts=1), []
    begin = time.process_time()
    soon = minimize_time(
        robot, move, deadline=0.5, callback=lambda line: bool(told.append(time.process_time()))
    )
    assert time.process_time() - begin < 3.0 and len(told) > 5
    assert np.diff([begin, *told]).max() < 2.0  # no long silence
    assert not soon.ok or soon.duration <= 1.5 * whole.duration
    nothing = minimize_time(robot, move, deadline=1e-6)
    assert not nothing.ok and "time allowed" in str(nothing.diagnosis)


def light_arm(lengths, masses, torques) -> Robot:
    """Rods in a vertical plane that nothing but the torques of their joints limits."""
    links, joints = [Link("base")], []
    for k, (length, mass, torque) in enumerate(zip(lengths, masses, torques)):
        across = mass * length**2 / 12
        links.append(
            Link(f"rod{k}", mass, (length / 2, 0, 0), (1e-4, across, across, 0.0, 0.0, 0.0))
        )
        joints.append(
            Joint(
                f"j{k}",
                "revolute",
                links[k].name,
                f"rod{k}",
                (lengths[k - 1] if k else 0.0, 0, 0),
                axis=(0, 1, 0),
                limits=Limits(-3.1, 3.1, torque=torque),
            )
        )
    return Robot("light", tuple(links), tuple(joints), "base")


@pytest.mark.parametrize(
    "arm, ends",
    [
        (
            ((0.4318, 0.4328, 0.3304), (1.1788, 0.3917, 0.571), (14.27, 5.588, 3.699)),
            ((0.4571, -0.7965, -0.1952), (1.4226, 1.193, 1.0327)),
        ),
        (
            ((0.4, 0.3, 0.2), (1.0, 0.5, 0.4), (9.0, 4.0, 2.0)),
            ((-0.5, 0.8, 0.6), (0.9, -1.0, -0.4)),
        ),
    ],
)
def test_what_converged_keeps_every_limit_at_every_instant(arm, ends):
    """Of light arms, whose torques change fast between two knots."""
    found = minimize_time(light_arm(*arm), Move(*ends, floor=None))
    assert found.ok and found.certificate.ok and found.certificate.proved, found.certificate

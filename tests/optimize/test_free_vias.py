"""Via points that may be passed at any time: never dearer than any passing time one could give,
with every supply and with lossy gears."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from armature.drive import Drive, gear, motor
from armature.errors import ArgumentError
from armature.optimize.moves.least_energy import minimize_energy
from armature.optimize.planner.attempt import Attempt
from armature.optimize.planner.pipeline import posed
from armature.optimize.solver.interior import Options, solve
from armature.optimize.transcription.driven import Weights
from armature.optimize.transcription.guess import stretched
from armature.optimize.transcription.move import MoveProblem
from armature.optimize.transcription.task import Move, Via
from armature.robot.library import library
from armature.robot.model import Robot

SUPPLIES = ("regenerative", "non-regenerative")


@dataclass(frozen=True, eq=False)
class Case:
    """A robot and a move through via points, and other passing times as parts of its duration."""

    robot: Robot
    start: list[float] | np.ndarray
    goal: list[float] | np.ndarray
    via: list
    duration: float
    times: tuple[tuple[float, ...], ...] = ((0.35,), (0.5,), (0.65,))

    def move(self, parts: tuple[float, ...] | None = None) -> Move:
        """The move; parts: passing times that are given."""
        at = [None] * len(self.via) if parts is None else [part * self.duration for part in parts]
        via = [Via(q, at=t) for q, t in zip(self.via, at)]
        return Move(self.start, self.goal, self.duration, via=via, smoothness=0.0)


@cache
def case(name: str) -> Case:
    """A case by its name."""
    if name == "six_axis":
        degrees = (
            [-40, -80, 140, -60, -90, 0],
            [60, -30, 60, -30, -90, 45],
            [10, -70, 110, -50, -90, 20],
        )
        start, goal, via = np.radians(degrees)
        return Case(library("six_axis").with_payload(2.0), start, goal, [via], 1.8)
    if name == "scara":
        return Case(
            library("scara"), [-1, 1.2, 0.15, 0], [1, -0.8, 0.05, 1.5], [[0, 0.5, 0.02, 0.5]], 1.2
        )
    if name == "burgevin":
        return Case(library("burgevin"), [0, 1.5, 0.8], [2, 1.2, 0.9], [[1, 0.8, 0.7]], 1.2)
    if name == "planetary":
        drive = Drive(motor("dc-48v-250w"), gear("planetary-25"))
        arm = library("planar2")
        return Case(
            arm.with_drives(dict.fromkeys(arm.joint_names, drive)),
            [-1.2, 0.5],
            [0.4, -0.6],
            [[-0.5, 0.4]],
            1.5,
        )
    thirds = ((1 / 3, 2 / 3), (0.3, 0.7), (0.4, 0.75))
    return replace(case("burgevin"), via=[[0.5, 1.1, 0.6], [1.5, 0.9, 0.85]], times=thirds)


BOTH = [(name, supply) for name in ("burgevin", "planetary") for supply in SUPPLIES]
LARGER = [
    ("six_axis", "regenerative"),
    ("scara", "non-regenerative"),
    ("two vias", "non-regenerative"),
]  # their kernels take long


@pytest.mark.parametrize(("name", "supply"), BOTH + LARGER)
def test_a_free_passing_time_costs_no_more_than_given_ones(name, supply):
    told = case(name)
    free = minimize_energy(told.robot, told.move(), supply)
    assert free.ok and free.certificate.ok, str(free.diagnosis)
    assert free.duration == pytest.approx(told.duration, rel=1e-6)
    for q in told.via:
        assert np.abs(free.trajectory.q - np.asarray(q)).max(axis=1).min() < 1e-6
    given = [minimize_energy(told.robot, told.move(parts), supply) for parts in told.times]
    best = min((plan for plan in given if plan.ok), key=lambda plan: plan.energy)
    # net energies may be near zero: compared as parts of the losses; 100 knots resolve a gear's
    # corner to about 0.1 %
    assert free.energy <= best.energy + (2e-3 if name == "planetary" else 1e-3) * best.losses


@pytest.mark.parametrize("at", [(0.3, None), (None, 0.9), (0.9, None)])
def test_a_given_passing_time_is_kept_beside_a_free_one(at):
    told = case("two vias")
    plan = minimize_energy(
        told.robot,
        Move(
            told.start, told.goal, told.duration, via=[Via(q, at=t) for q, t in zip(told.via, at)]
        ),
    )
    assert (
        plan.ok and plan.certificate.ok and plan.duration == pytest.approx(told.duration, rel=1e-6)
    )
    held = 0 if at[0] else 1
    assert np.allclose(plan.trajectory(at[held]).q, told.via[held], atol=1e-6)
    assert np.abs(plan.trajectory.q - np.asarray(told.via[1 - held])).max(axis=1).min() < 1e-6


def test_free_passing_times_on_both_sides_of_a_given_one_are_refused_in_words():
    told = case("two vias")
    via = [Via([0.3, 1.3, 0.7]), Via(told.via[0], at=0.5), Via(told.via[1])]
    with pytest.raises(ArgumentError, match="give the times of one side"):
        minimize_energy(told.robot, Move(told.start, told.goal, told.duration, via=via))


@pytest.mark.parametrize("supply", SUPPLIES)
def test_the_given_passing_time_that_was_found_free_costs_the_same_and_its_neighbours_more(supply):
    told = case("burgevin")
    free = minimize_energy(told.robot, told.move(), supply)
    part = float(free.result.p[0]) / told.duration
    earlier, same, later = (
        minimize_energy(told.robot, told.move((part + d,)), supply).energy
        for d in (-0.06, 0.0, 0.06)
    )
    assert same == pytest.approx(free.energy, rel=2e-3) and same < min(earlier, later)


def test_the_sum_of_the_legs_keeps_its_value_in_every_iteration_after_a_full_step():
    told = case("burgevin")
    problem = MoveProblem(told.robot, told.move(), "non-regenerative", 100)
    for iterations in (3, 10):
        result = solve(
            problem.problem(Weights(energy=1.0)),
            problem.guess(),
            Options(tolerance=1e-6, iterations=iterations),
        )
        assert np.sum(result.p) == pytest.approx(told.duration, rel=1e-6)


@pytest.mark.parametrize(
    "start, goal, via, supply",
    [
        ([0.607, 0.311, 0.568], [0.963, -1.498, 0.248], [0.693, -0.826, 0.310], "non-regenerative"),
        ([0.684, -1.074, 0.485], [0.612, 0.325, 0.644], [0.296, 0.071, 0.702], "regenerative"),
        ([-1.151, 1.032, 0.759], [-1.448, -1.269, 0.532], [-0.446, -0.817, 0.500], "regenerative"),
    ],
)
def test_of_several_optima_of_the_passing_time_the_cheapest_is_found(start, goal, via, supply):
    """The witness: plans with given passing times. By the joints' travel alone the search ends 20
    to 100 % of the losses above."""
    robot = library("burgevin")
    free = minimize_energy(robot, Move(start, goal, 1.6, via=[via], smoothness=0.0), supply)
    timed = (
        Move(start, goal, 1.6, via=[Via(via, 1.6 * part)], smoothness=0.0)
        for part in (0.25, 0.5, 0.75)
    )
    given = [minimize_energy(robot, move, supply) for move in timed]
    best = min((plan for plan in given if plan.ok), key=lambda plan: plan.energy)
    assert free.ok and free.certificate.ok and free.energy <= best.energy + 5e-3 * best.losses


def test_a_motion_of_another_duration_than_asked_for_does_not_arrive():
    """Legs have durations of their own, whose sum a search that has not ended may miss."""
    move = Move([0.0, 0.0], [1.0, 0.6], 1.2, via=[Via([0.5, 0.9])])
    problem = posed(library("planar2"), move, "regenerative", 40)
    tried = lambda motion: Attempt(problem, None, motion, 0.0)
    assert tried(problem.straight).arrives
    assert not tried(stretched(problem.straight, 1.3)).arrives
    free = replace(problem, free=True)
    assert Attempt(free, None, stretched(problem.straight, 1.3), 0.0).arrives

"""The choice of drives: nothing better among all choices, bounds that are bounds, masses on links,
searches that go on."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from tests.design.drives_of_our_own import small_catalogue

import armature as arm
from armature.design import runner
from armature.design.drives.duty import duties, items_of
from armature.design.drives.mounting import (
    as_variable,
    mounted,
    mounts_of,
    present_drive,
    with_contained,
)
from armature.design.drives.pairs import pairs_of
from armature.design.drives.replan import Replanner, cannot_hold
from armature.design.drives.screen import least_energy, screen
from armature.drive import Catalogue, Drive, Gear, Motor
from armature.drive.gear import EfficiencyTable
from armature.job.job import Job

MOVES = [
    arm.Move([-1.2, 0.8], [0.6, -0.4], duration=0.9),
    arm.Move([0.6, -0.4], [-1.2, 0.8], duration=1.1),
]
KNOTS = 30


@pytest.fixture(scope="module")
def robot():
    found = arm.library("planar2")  # too light to contain its own motors
    return with_contained(found, found.joint_names, mounts_of(found, found.joint_names, None))


@pytest.fixture(scope="module")
def brute(robot):
    """{(pair of the shoulder, pair of the elbow): energy} of all choices, each planned by
    `minimize_energy` from its own start; infinite where there is no plan."""
    found, places = {}, mounts_of(robot, robot.joint_names, None)
    catalogue = small_catalogue()
    pairs = list(itertools.product(catalogue.motors, catalogue.gears))
    for choice in itertools.product(pairs, pairs):
        drives = {
            joint: replace(
                present_drive(robot, joint), motor=catalogue.motors[m], gear=catalogue.gears[g]
            )
            for joint, (m, g) in zip(robot.joint_names, choice)
        }
        there = as_variable(mounted(robot, drives, places))
        energy = 0.0
        for move in MOVES:
            # what cannot be planned needs no explanation here: the deadline cuts it short
            plan = arm.minimize_energy(
                there, replace(move, smoothness=0.0), knots=KNOTS, deadline=0.5
            )
            energy += plan.energy if plan.ok else np.inf
            if not plan.ok:
                break
        found[choice] = energy
    return found


@pytest.fixture(scope="module")
def chosen(robot):
    return arm.choose_drives(robot, MOVES, small_catalogue(), knots=KNOTS)


def names_of(choice):
    return tuple((d.motor.name, d.gear.name) for d in choice.drives.values())


def test_brute_force_over_all_pairs_finds_nothing_better(chosen, brute):
    assert chosen.complete and chosen.gap == pytest.approx(0.0, abs=1e-12)
    assert chosen.cost <= min(brute.values()) * (1 + 3e-3)
    assert brute[names_of(chosen)] <= min(brute.values()) * (1 + 3e-3)
    assert chosen.ok  # certified


def test_descent_with_few_plans_finds_what_all_plans_find(robot, chosen):
    some = arm.choose_drives(robot, MOVES, small_catalogue(), knots=KNOTS, budget=9)
    assert not some.complete and some.planned <= 9
    assert some.cost <= chosen.cost * (1 + 1e-3)
    assert some.bound <= chosen.cost


def test_screening_drops_no_pair_that_can_do_the_tasks(robot, brute):
    """Whatever brute force planned passes the bounds; holding is left out, which plans do not ask."""
    joints = robot.joint_names
    items, places = items_of(robot, MOVES, None, KNOTS), mounts_of(robot, joints, None)
    pairs = [pairs_of(robot, j, small_catalogue(), present_drive(robot, j), False) for j in joints]
    left = screen(pairs, duties(items, joints, places), robot.drivetrain.frictions, hold=False)
    kept = [{s.pairs.name(k) for k in range(len(s.pairs))} for s in left]
    for choice, energy in brute.items():
        if np.isfinite(energy):
            assert all(f"{m} + {g}" in some for (m, g), some in zip(choice, kept))
    duty = duties(items, joints, places)
    left = screen(pairs, duty, robot.drivetrain.frictions, hold=True)
    assert sum(len(s.pairs) for s in left) < sum(len(p) for p in pairs)  # those that cannot hold
    fast = [replace(d, speed=100.0) for d in duty]
    left = screen(pairs, fast, robot.drivetrain.frictions, hold=False)
    # 100 rad/s at the joint: ratio 5 turns motors at 500 rad/s of 600, ratio 80 at 8000
    assert {s.pairs.name(k)[-2:] for s in left for k in range(len(s.pairs))} == {"g0"}


def test_lower_bound_is_below_every_planned_choice(robot, chosen, brute):
    joints = robot.joint_names
    items, places = items_of(robot, MOVES, None, KNOTS), mounts_of(robot, joints, None)
    duty = duties(items, joints, places)
    pairs = [pairs_of(robot, j, small_catalogue(), present_drive(robot, j), False) for j in joints]
    added = [{p.name(k): x for k, x in enumerate(least_energy(p, d))} for p, d in zip(pairs, duty)]
    for choice, energy in brute.items():
        bound = sum(column[f"{m} + {g}"] for (m, g), column in zip(choice, added))
        assert bound < energy
    few = arm.choose_drives(robot, MOVES, small_catalogue(), knots=KNOTS, budget=5)
    assert few.bound < min(brute.values())


def test_lightest_choice_is_the_lightest_that_brute_force_can_plan(robot, brute):
    found = arm.choose_drives(robot, MOVES, small_catalogue(), "mass", knots=KNOTS, hold=False)
    catalogue = small_catalogue()
    mass = lambda choice: sum(catalogue.motors[m].mass + catalogue.gears[g].mass for m, g in choice)
    able = [mass(choice) for choice, energy in brute.items() if np.isfinite(energy)]
    assert found.cost <= min(able) + 1e-9


def test_no_choice_of_the_front_is_worse_in_both_terms(robot):
    found = arm.choose_drives(
        robot, MOVES[:1], small_catalogue(3, 2), knots=20, pareto="mass", budget=40
    )
    values = found.front.values
    assert np.all(np.diff(values[:, 0]) > 0) and np.all(np.diff(values[:, 1]) < 0)
    for point in found.front.all:
        assert np.any(np.all(values <= point + 1e-9, axis=1))


def test_masses_of_drives_act_on_the_links_that_carry_them(robot):
    """Static torque of the shoulder grows by m g x, x the lever of the elbow where its drive sits."""
    old = present_drive(robot, "elbow")
    heavy = replace(old, motor=replace(old.motor, mass=2.0))
    made = mounted(robot, {"elbow": heavy}, mounts_of(robot, robot.joint_names, None))
    q, zero = np.array([0.3, 0.4]), np.zeros(2)
    more = arm.inverse_dynamics(made, q, zero, zero) - arm.inverse_dynamics(robot, q, zero, zero)
    J = arm.jacobian(robot, q, robot.joint("elbow").child)
    assert more == pytest.approx(2.0 * 9.81 * J[2], abs=1e-9)
    assert np.abs(more).max() > 1.0


def test_variable_drives_give_what_constants_give(robot):
    """Plans, torques and powers by kernels with the drives' numbers as parameters."""
    drives = {
        "shoulder": Drive(
            Motor(1.1, 0.2, inertia=3e-5, iron_torque=0.01, peak_current=30.0), Gear(20.0, 0.9)
        ),
        "elbow": Drive(
            Motor(2.1, 0.15, inertia=1e-5, viscous=1e-4, continuous_current=5.0), Gear(31.0)
        ),
    }
    plain = mounted(robot, drives, mounts_of(robot, robot.joint_names, None))
    # kernels are traced for other numbers, and given these when they are loaded
    arm.minimize_energy(as_variable(robot), MOVES[0], knots=20)
    a, b = (arm.minimize_energy(r, MOVES[0], knots=20) for r in (plain, as_variable(plain)))
    assert b.energy == pytest.approx(a.energy, rel=1e-5)
    assert arm.ledger(as_variable(plain), a.trajectory).energy == pytest.approx(a.energy, rel=1e-9)


def test_search_goes_on_from_its_store(robot, tmp_path, monkeypatch):
    ask = {"knots": 20, "budget": 30, "store": tmp_path / "design.db"}
    first = arm.choose_drives(robot, MOVES[:1], small_catalogue(2, 2), **ask)

    def fails(_):
        raise AssertionError("planned again")

    monkeypatch.setattr(runner, "execute", fails)
    again = arm.choose_drives(robot, MOVES[:1], small_catalogue(2, 2), **ask)
    assert again.cost == pytest.approx(first.cost, rel=1e-9)
    assert names_of(again) == names_of(first)


def test_weak_catalogue_is_refused_with_joint_and_reason(robot):
    weak = Catalogue(
        {"tiny": Motor(10.0, 0.001, continuous_current=0.01, maximum_speed=100.0, name="tiny")},
        {"one": Gear(1.5, name="one")},
    )
    with pytest.raises(arm.ArmatureError, match=r"shoulder.*cannot hold the arm"):
        arm.choose_drives(robot, MOVES, weak)


def test_screening_drops_no_gear_with_a_table_that_can_hold(robot):
    """A lossy gear helps to hold: with the greatest entry of its table it would be dropped."""
    table = EfficiencyTable((0.0, 200.0), (0.0, 500.0), ((0.2, 0.9), (0.9, 0.95)))
    gears = {f"g{N}": Gear(float(N), table, name=f"g{N}") for N in range(4, 80, 10)}
    motor = Motor(1.0, 0.1, continuous_current=4.0, name="m")
    joints, places = robot.joint_names, mounts_of(robot, robot.joint_names, None)
    items = items_of(robot, MOVES, None, KNOTS)
    own = [present_drive(robot, j) for j in joints]
    pairs = [
        pairs_of(robot, j, Catalogue({"m": motor}, gears), d, False) for j, d in zip(joints, own)
    ]
    left = screen(pairs, duties(items, joints, places), robot.drivetrain.frictions, hold=True)
    kept = [{s.pairs.name(k) for k in range(len(s.pairs))} for s in left]
    assert 0 < sum(map(len, kept)) < sum(map(len, pairs))
    replanner, able = Replanner(items, places, True), 0
    for choice in itertools.product(*(range(len(p)) for p in pairs)):
        drives = {p.joint: p.drive(k) for p, k in zip(pairs, choice)}
        if not any(cannot_hold(i, r, drives) for i, r in zip(items, replanner.robots(drives))):
            able += 1
            assert all(p.name(k) in some for p, k, some in zip(pairs, choice, kept))
    assert able


def test_moves_that_begin_in_motion_have_no_bound(robot):
    """The kinetic energy that they give up may pay for all losses."""
    move = replace(MOVES[0], start_velocity=[-0.3, 0.0])
    found = arm.choose_drives(robot, move, small_catalogue(2, 2), knots=20, budget=12, hold=False)
    assert found.bound == -np.inf and "no bound is known" in str(found)


def test_tasks_of_other_robots_are_refused_other_payloads_not(robot):
    other = robot.with_friction({"elbow": {"coulomb": 3.0}})
    jobs = [Job(robot, MOVES[0]), Job(other, MOVES[1])]
    with pytest.raises(arm.ArmatureError, match="robots with other joints"):
        arm.choose_drives(robot, jobs, small_catalogue())
    loaded = [Job(robot, MOVES[0]), Job(robot.with_payload(0.5), MOVES[1])]
    assert len(items_of(robot, loaded, None, KNOTS)) == 2


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"joints": ["elbow", "elbow"]}, "joints: elbow, elbow; give at least one, each once"),
        ({"joints": []}, r"joints: \(none\)"),
        ({"pareto": "price"}, "no motor or gear of the catalogue has a price"),
        ({"objective": "mass", "pareto": "mass"}, "'mass' is what the objective asks for, too"),
    ],
)
def test_joints_and_fronts_that_say_nothing_are_refused(robot, given, words):
    motor, gear = Motor(1.0, 0.1, mass=0.5, name="m"), Gear(10.0, mass=0.2, name="g")
    with pytest.raises(arm.ArmatureError, match=words):
        arm.choose_drives(robot, MOVES, Catalogue({"m": motor}, {"g": gear}), **given)


def test_motions_with_the_chosen_drives_go_round_obstacles(robot):
    """A ball on the way of the cheapest motion: the plans are free of it, and cost more."""
    move = arm.Move([-1.2, 0.8], [0.6, -0.4], duration=1.2, floor=None)
    pairs = small_catalogue(2, 2)
    joints = ["elbow"]  # the shoulder's own drive keeps the way of the free motion
    free = arm.choose_drives(robot, move, pairs, joints=joints, knots=20, hold=False)
    motion = free.plans[0].trajectory
    middle = arm.pose(robot, motion.q[len(motion) // 2], robot.tips[0]).p
    scene = arm.Scene().with_sphere("ball", 0.05, tuple(1.02 * middle))
    assert not arm.clearance(free.robot, scene, motion).free
    among = replace(move, scene=scene)
    found = arm.choose_drives(robot, among, pairs, joints=joints, knots=20, hold=False)
    assert found.ok and found.cost > free.cost
    assert arm.clearance(found.robot, scene, found.plans[0].trajectory).free

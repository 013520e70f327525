"""Suboptimal approximations: every iterate can be run, and none costs more than the one before
(K2–K4)."""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armature as arm
from armature.drive import Bus, Friction
from armature.motion.shapes import joint_path
from armature.optimize.anytime.improve import improve
from armature.optimize.anytime.suboptimal import (
    Approximations,
    InJoints,
    end_correction,
    on_knots,
    smooth_dip,
)
from armature.optimize.certificate.certify import margins
from armature.optimize.path.follow_path import FollowPath
from armature.optimize.transcription.guess import joint_cubic, joint_quintic
from armature.optimize.transcription.instant import instants

VALASEK = arm.library("valasek").with_limits(
    {"r": {"lower": 0.3, "upper": 2.5}, "theta": {"lower": -1.2, "upper": 1.2}}
)


def move(name: str, duration: float):
    robot = VALASEK if name == "valasek" else arm.library(name)
    ends = {
        "valasek": ([0.0, 1.0, 0.5], [3.0, -1.0, 2.0]),
        "planar2": ([-1.0, 0.5], [1.0, -0.5]),
        "scara": ([-0.5, 0.5, 0.05, 0.0], [0.5, -0.5, 0.1, 1.0]),
        "six_axis": ([0.0, -1.2, 1.2, 0.0, 0.8, 0.0], [1.0, -0.8, 0.9, 0.5, 1.2, 0.6]),
        "burgevin": ([0.0, 0.0, 0.4], [1.2, 0.6, 0.7]),
    }[name]
    law = (
        joint_quintic if name in ("scara", "six_axis") else joint_cubic
    )  # where jerk is limited it must begin with zero acceleration
    return robot, law(*map(np.array, ends), duration, joint_names=robot.joint_names)


def worst(robot, motion) -> float:
    return min(m.fraction for row in margins(robot, motion).values() for m in row.values())


@pytest.mark.parametrize("name, duration", [("valasek", 2.0), ("planar2", 1.5), ("scara", 1.0)])
@pytest.mark.parametrize("riding", ["spline", "boundary"])
def test_every_iterate_meets_ends_and_limits_and_costs_less(name, duration, riding):
    robot, motion = move(name, duration)
    iterates = list(itertools.islice(improve(robot, motion, riding=riding), 8))
    costs = [it.energy for it in iterates]
    assert len(iterates) > 3 and all(b < a for a, b in itertools.pairwise(costs))
    for it in iterates:
        assert (
            np.abs(it.q[[0, -1]] - motion.q[[0, -1]]).max() < 1e-12
            and np.abs(it.v[[0, -1]]).max() < 1e-11
        )
        assert worst(robot, it) > -1e-6
        assert arm.ledger(robot, it).energy == pytest.approx(
            it.energy, abs=1e-3 * max(1.0, abs(it.energy))
        )


CERTIFIED = [
    ("planar2", 1.5, None),
    ("planar2", 1.5, "non-regenerative"),
    ("scara", 1.0, "non-regenerative"),
    ("burgevin", 1.2, None),
    ("six_axis", 1.8, None),
    ("six_axis", 1.8, "non-regenerative"),
]


@pytest.mark.parametrize("name, duration, supply", CERTIFIED)
def test_stopping_after_any_number_leaves_a_motion_that_the_certificate_passes(
    name, duration, supply
):
    robot, motion = move(name, duration)
    iterates = list(itertools.islice(improve(robot, motion, supply), 5))
    assert len(iterates) > 2 and all(b.energy < a.energy for a, b in itertools.pairwise(iterates))
    for it in iterates:
        certificate = arm.certify(robot, it, supply)
        assert certificate.ok and certificate.worst.fraction > -1e-6, f"{it.number}: {certificate}"
        assert abs(certificate.energy - it.energy) < 0.01 * arm.ledger(robot, it, supply).throughput


def lossy(robot):
    """Dry and viscous friction in the drives, gears that lose a third in either direction."""
    drives = {}
    for j, coupling in enumerate(robot.drives):
        drive = coupling.drives[0]
        gear = replace(drive.gear, efficiency=0.75, efficiency_back=0.65)
        drives[coupling.joints[0]] = replace(
            drive, gear=gear, friction=Friction(viscous=0.3, coulomb=0.5 / (1 + j), load=0.05)
        )
    return robot.with_drives(drives)


@pytest.mark.parametrize(
    "supply, riding", [("regenerative", "boundary"), ("non-regenerative", "spline")]
)
def test_with_dry_friction_and_lossy_gears_every_iterate_of_a_move_and_of_a_path_passes_the_certificate(
    supply, riding
):
    robot = lossy(arm.library("planar2"))
    points = np.array([[-1.0, 0.5], [0.1, 0.2], [1.0, -0.5]])
    for task in (arm.Move(points[0], points[-1]), FollowPath(joint_path(points))):
        shortest = next(improve(robot, task)).duration
        for duration in (shortest * (1 + 1e-6), 1.5 * shortest):
            iterates = list(
                itertools.islice(
                    improve(
                        robot,
                        replace(task, duration=duration),
                        supply,
                        riding=riding,
                        decrease=1e-7,
                    ),
                    8,
                )
            )
            assert len(iterates) > 1 and all(
                b.energy < a.energy for a, b in itertools.pairwise(iterates)
            )
            for k in {0, 1, 2, 3, len(iterates) - 1} & set(range(len(iterates))):
                certificate = arm.certify(robot, iterates[k], supply)
                assert certificate.ok and certificate.worst.fraction > -1e-5, (
                    f"{duration} s, {k}: {certificate}"
                )


@pytest.mark.parametrize("knots", [50, 200])
def test_however_short_the_deadline_there_is_a_motion_that_can_be_run_and_it_is_there_at_once(
    knots, monkeypatch
):
    # all durations that a motion could have take seconds to find on a six-axis arm; where one is
    # asked for and allowed, it is just checked
    robot, motion = move("six_axis", 1.8)
    monkeypatch.setattr("armature.optimize.anytime.first_motion.time_scaling", None)
    monkeypatch.setattr("armature.optimize.path.path_start.time_scaling", None)
    for task in (
        arm.Move(motion.q[0], motion.q[-1], 1.8),
        FollowPath(joint_path(motion.q[[0, -1]]), duration=1.8),
    ):
        stopped = list(improve(robot, task, deadline=0.0, knots=knots))
        assert (
            len(stopped) == 1
            and stopped[0].duration == pytest.approx(1.8)
            and arm.certify(robot, stopped[0]).ok
        )


def test_literal_method_is_never_below_the_interior_solvers_optimum_and_comes_near():
    robot, motion = move("valasek", 2.0)
    last = list(itertools.islice(improve(robot, motion, decrease=1e-5), 40))[-1]
    cold = arm.minimize_energy(
        robot, arm.Move(motion.q[0], motion.q[-1], 2.0, smoothness=0.0)
    )  # knows nothing of the iterates
    assert cold.ok
    first = arm.ledger(robot, motion).energy
    assert cold.energy - 1e-3 < last.energy < cold.energy + 0.05 * (first - cold.energy)
    reference = json.loads((Path(__file__).parents[1] / "data" / "valasek.json").read_text())[
        "positional_optimum_with_limits"
    ]
    best = next(
        row["I"]
        for row in reference
        if row["r_min"] == 0.3 and row["u_max"] == 1.0 and row["T_s"] == 2
    )
    assert cold.losses == pytest.approx(best, rel=5e-3)


@pytest.mark.parametrize("riding", ["spline", "boundary"])
def test_motion_rides_a_control_limit_that_is_clearly_active(riding):
    # without the limit the slide's |u| would rise to 0.946: below 0.8 it has to ride it (31)
    drive = {c.joints[0]: c.drives[0] for c in VALASEK.drives}["r"]
    robot = VALASEK.with_drives({"r": replace(drive, motor=replace(drive.motor, peak_current=0.8))})
    _, motion = move("valasek", 2.0)
    best = arm.minimize_energy(robot, arm.Move(motion.q[0], motion.q[-1], 2.0, smoothness=0.0))
    iterates = list(itertools.islice(improve(robot, motion, riding=riding, decrease=1e-5), 25))
    assert all(b.energy < a.energy for a, b in itertools.pairwise(iterates))
    for it in iterates:
        assert (
            np.abs(it.q[[0, -1]] - motion.q[[0, -1]]).max() < 1e-12
            and np.abs(it.v[[0, -1]]).max() < 1e-11
        )
        assert worst(robot, it) > -1e-6
    last = iterates[-1]
    u = np.abs(arm.inverse_dynamics(robot, last.q, last.v, last.a)[:, 2]) / 20.0
    assert np.sum(u > 0.8 * (1 - 1e-3)) > 8  # of 201 knots on the limit
    first = iterates[0].energy
    assert best.energy - 1e-3 < last.energy < best.energy + 0.03 * (first - best.energy)


def test_first_order_change_is_29():
    # δI = −α ∫ (w* − w)ᵀ W (w* − w) dt for small α
    robot, motion = move("valasek", 2.0)
    along = InJoints(instants(robot))
    t, x, v, w = on_knots(motion, 400)
    run = Approximations(along, t, x[0], v[0], w, limited=False)
    f, A = run.conjugate()
    step = run.towards(f, A, np.ones(len(t)))
    W = along.gradient(x, v, w).W
    predicted = -np.trapezoid(np.einsum("ki,kij,kj->k", step, W, step), t)
    alpha = 1e-5
    slope = (run.cost(w + alpha * step) - run.cost(w - alpha * step)) / (2 * alpha)
    assert slope == pytest.approx(predicted, rel=1e-3)


def test_gradient_of_the_power_equals_differences():
    rng = np.random.default_rng(1)
    for name in ("six_axis", "valasek"):
        at = instants(arm.library(name))
        n = at.robot.n
        q, v, a = rng.uniform(0.3, 1.0, (3, n))
        g = at.gradient(q, v, a)
        for part, index in ((g.q, 0), (g.v, 1), (g.a, 2)):
            for j in range(n):
                e = np.zeros((3, n))
                e[index, j] = 1e-6
                up, down = (at.values(*(np.array([q, v, a]) + s * e))[0] for s in (1, -1))
                assert part[j] == pytest.approx(
                    (up - down) / 2e-6, rel=2e-3, abs=2e-3 * max(1.0, np.abs(part).max())
                )


def test_mix_in_time_is_smallest_where_asked_and_one_far_away():
    t = np.linspace(0.0, 1.0, 101)
    factor = np.ones(101)
    factor[50] = 0.25
    dip = smooth_dip(t, factor)
    assert (
        dip[50] == pytest.approx(0.25)
        and dip[0] == dip[-1] == 1.0
        and np.all(np.diff(dip[50:70]) >= 0)
    )


def test_end_correction_leads_to_the_end_exactly():
    rng = np.random.default_rng(0)
    t = np.sort(np.concatenate([[0.0, 2.0], rng.uniform(0.0, 2.0, 20)]))
    w = rng.normal(size=(22, 2))
    x0, v0, x1, v1 = rng.normal(size=(4, 2))
    w = w + end_correction(t, x0, v0, w, x1, v1)
    end = arm.Trajectory(t, np.zeros((22, 2)), np.zeros((22, 2)), w, interpolation="linear")
    x, v = x0.copy(), v0.copy()
    for k, h in enumerate(np.diff(end.t)):
        x = x + h * v + h * h * (w[k] / 3 + w[k + 1] / 6)
        v = v + h * (w[k] + w[k + 1]) / 2
    assert np.allclose(x, x1, atol=1e-12) and np.allclose(v, v1, atol=1e-12)


def test_along_a_path_every_iterate_stays_on_it():
    robot = arm.library("planar2")
    path = joint_path(np.array([[-1.0, 0.5], [0.0, 0.9], [1.0, -0.5]]))
    start = [arm.pose(robot, path(p).q, robot.tips[0]).p for p in np.linspace(0, 1, 2001)]
    iterates = list(itertools.islice(improve(robot, FollowPath(path, duration=3.0)), 5))
    assert all(b.energy < a.energy for a, b in itertools.pairwise(iterates))
    for it in iterates:
        hand = arm.pose(robot, it(np.linspace(0, 3.0, 50)).q, robot.tips[0]).p
        assert max(np.min(np.linalg.norm(np.array(start) - x, axis=1)) for x in hand) < 2e-3
        assert worst(robot, it) > -1e-3


def test_deadline_ends_the_stream():
    robot, motion = move("planar2", 1.5)
    next(improve(robot, motion))  # kernels
    begin = time.process_time()
    assert 1 <= len(list(improve(robot, motion, deadline=0.1, decrease=0.0))) < 1000
    assert time.process_time() - begin < 5.0


def test_inadmissible_start_is_refused_with_the_limit():
    robot, _ = move("planar2", 1.5)
    fast = joint_cubic(
        np.array([-1.0, 0.5]), np.array([1.0, -0.5]), 0.05, joint_names=robot.joint_names
    )
    with pytest.raises(
        arm.ArgumentError, match=r"not admissible.*its limit is.*possible in .* s and more"
    ):
        next(improve(robot, fast))


@pytest.mark.parametrize("name", ["planar2", "scara"])
def test_tasks_begin_with_an_admissible_motion_made_by_time_scaling(name):
    # no duration: the plain motion in the shortest one; a duration that forbids the plain motion:
    # the quickest one, slowed down to it
    robot, motion = move(name, 1.5)
    path = FollowPath(
        joint_path(np.array([motion.q[0], (motion.q[0] + motion.q[-1]) / 2 + 0.02, motion.q[-1]]))
    )
    for task in (path, arm.Move(motion.q[0], motion.q[-1])):
        first = next(improve(robot, task))
        shortest = arm.time_scaling(robot, first)
        assert (
            first.duration
            == pytest.approx(shortest.shortest, rel=1e-4 if name == "planar2" else 1e-2)
            and worst(robot, first) > -1e-4
        )
        shorter = replace(
            task, duration=(0.15 * arm.minimize_time(robot, task).duration + 0.85 * first.duration)
        )
        first, second = itertools.islice(improve(robot, shorter), 2)
        assert first.duration == pytest.approx(shorter.duration) and second.energy < first.energy
        assert min(worst(robot, first), worst(robot, second)) > -1e-5
        with pytest.raises(arm.ArgumentError, match=r"possible in .* s and more"):
            next(improve(robot, replace(task, duration=0.1 * first.duration)))


def test_bad_arguments_are_refused():
    robot, motion = move("planar2", 1.5)
    for arguments, words in (
        ((robot, motion, None, None, 1e-4, 200, "nothing"), "riding"),
        ((robot, "x"), "Trajectory"),
        ((VALASEK, motion), "joints"),
    ):
        with pytest.raises(arm.ArgumentError, match=words):
            next(improve(*arguments))


def test_shared_bus_is_refused_in_words():
    robot, motion = move("planar2", 1.5)
    with pytest.raises(arm.ArgumentError, match=r"depends on the past; give supply="):
        next(improve(robot, motion, Bus(1e-3, 300.0, 320.0)))
    with pytest.raises(arm.ArgumentError, match=r"depends on the past; give supply="):
        arm.minimize_energy(
            robot, FollowPath(joint_path(motion.q[[0, -1]]), duration=1.5), Bus(1e-3, 300.0, 320.0)
        )

"""Robots on one supply: what is exchanged is saved, and the example shows it."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from armature.drive import Bus, NonRegenerative, Regenerative
from armature.dynamics.compiled import inverse_dynamics
from armature.errors import ArgumentError
from armature.motion import Trajectory
from armature.plot import shared_supply
from armature.robot import library
from armature.simulate.ledger import ledger
from armature.simulate.shared import share_supply

ROBOT = library("burgevin").with_payload(2.0)
BUS = Bus(1e-4, 100.0, 120.0)


def turn(angle=np.pi):
    t = np.linspace(0, 1, 41)
    s, d = t[:, None], np.array([angle, 0.0, 0.0])
    return Trajectory(
        t,
        np.array([0.0, np.pi / 2, 0.8]) + d * (3 * s**2 - 2 * s**3),
        d * (6 * s - 6 * s**2),
        d * (6 - 12 * s),
    )


def test_one_robot_shares_with_nobody():
    alone = share_supply(BUS, [(ROBOT, turn(), 0.0)], steps=20000)
    assert alone.saving == 0.0 and alone.drawn == pytest.approx(
        ledger(ROBOT, turn(), BUS).drawn, rel=1e-3
    )


def test_a_braking_robot_feeds_an_accelerating_one():
    at_once = share_supply(BUS, [(ROBOT, turn(), 0.0), (ROBOT, turn(), 0.0)])
    shifted = share_supply(BUS, [(ROBOT, turn(), 0.0), (ROBOT, turn(), 0.5)])
    assert at_once.saving < 0.05 < 0.2 < shifted.saving
    a = shifted.together
    assert np.sum(a.drawn - a.resistor) - a.stored[-1] == pytest.approx(
        np.sum(shifted.dt[:, None] * shifted.powers), rel=1e-9
    )


@pytest.mark.parametrize("supply", (Regenerative(), NonRegenerative()))
def test_without_a_bus_the_net_energy_is_the_same_shared_or_not(supply):
    both = share_supply(supply, [(ROBOT, turn(), 0.0), (ROBOT, turn(), 0.5)])
    net = np.sum(both.together.drawn - both.together.returned)
    assert net == pytest.approx(sum(np.sum(x.drawn - x.returned) for x in both.apart), rel=1e-9)


def test_waiting_robots_hold_their_load():
    shared = share_supply(BUS, [(ROBOT, turn(), 0.0), (ROBOT, turn(), 3.0)])
    waiting = shared.powers[shared.t < 2.9, 1]
    # R i² of the torques that hold the arm: R = 1 Ω, i = τ/K
    torque = inverse_dynamics(ROBOT, turn().q[0], np.zeros(3), np.zeros(3))
    assert (
        np.allclose(waiting, np.sum((torque / [1.7 / 0.15, 1.7 / 0.15, 20.0]) ** 2))
        and waiting[0] > 1
    )


def test_refusals():
    with pytest.raises(ArgumentError, match="no motions"):
        share_supply(BUS, [])
    with pytest.raises(ArgumentError, match="no drives"):
        share_supply(BUS, [(replace(ROBOT, drives=()), turn(), 0.0)])


def test_example_two_robots_on_one_bus(tmp_path, capsys):
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "05_shared_bus.py"))
    saving = example["main"](str(tmp_path / "bus.png"))
    assert 0.1 < saving < 0.5 and (tmp_path / "bus.png").stat().st_size > 5000
    assert "on one bus they draw" in capsys.readouterr().out


def test_figure_shows_the_bus():
    both = share_supply(BUS, [(ROBOT, turn(), 0.0), (ROBOT, turn(), 0.5)])
    figure = shared_supply(both, ("a", "b"), BUS)
    voltage = figure.axes[1].lines[0].get_ydata()
    assert len(figure.axes) == 2 and voltage.min() >= 100 - 1e-9 and voltage.max() <= 120 + 1e-9

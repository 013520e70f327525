"""Figures of drives: regions by hand, widths that balance, files that are written."""

from dataclasses import replace

import numpy as np
import pytest

from armature.drive import Amplifier, Bus, Drive, Motor, Thermal, gear, motor
from armature.errors import ArgumentError, FileError
from armature.motion import Trajectory
from armature.plot import graf, ledger_flow, power, temperature, torque_speed
from armature.plot.ledger import flows_in, flows_out
from armature.plot.region import continuous_current, current_band, fastest, peak_current
from armature.robot import library
from armature.simulate.ledger import ledger

ROBOT = library("burgevin").with_payload(2.0)
SERVO = ROBOT.with_drives(
    {
        n: Drive(
            motor("servo-325v-400w"),
            gear("ballscrew-20mm" if n == "r" else "cycloidal-80"),
            Amplifier(300.0, efficiency=0.95),
        )
        for n in ("phi", "theta", "r")
    }
)


def move():
    t = np.linspace(0, 1, 21)
    s, d = t[:, None], np.array([2.0, -0.5, 0.3])
    return Trajectory(
        t,
        np.array([0.0, 1.5, 0.5]) + d * (3 * s**2 - 2 * s**3),
        d * (6 * s - 6 * s**2),
        d * (6 - 12 * s),
    )


def test_feasible_region_by_hand():
    drive = ROBOT.drivetrain.drives[2]  # 20 N/A, 1 Ω, 100 V, 80 W
    assert peak_current(drive) == pytest.approx(80**0.5)
    low, high = current_band(drive, np.array([0.0, 4.8, -4.8, 6.0]), peak_current(drive))
    assert high[:3] == pytest.approx([80**0.5, 4.0, 80**0.5]) and low[:3] == pytest.approx(
        [-(80**0.5), -(80**0.5), -4.0]
    )
    assert np.isnan(
        high[3]
    )  # at 6 m/s the back-EMF of 120 V leaves nothing: even −8.9 A needs −8.9 + 120 V
    assert fastest(drive, peak_current(drive)) == pytest.approx((100 + 80**0.5) / 20)


def test_continuous_current_is_what_the_winding_stands():
    m = Motor(2.0, 0.1, continuous_current=9.0, thermal=Thermal(1.0, 3.0, 10.0, 100.0, 145.0, 25.0))
    # (145 − 25)/4 = 30 W at a resistance of 2 (1 + 0.00393 · 125)
    assert continuous_current(Drive(m)) == pytest.approx((30 / (2 * (1 + 0.00393 * 125))) ** 0.5)


def test_region_of_graf_contains_a_motion_within_limits_and_each_drive_has_a_panel():
    figure = graf(ROBOT, move())
    assert [a.get_title() for a in figure.axes] == ["phi", "theta", "r"]
    for drive, a in zip(ROBOT.drivetrain.drives, figure.axes):
        v, i = next(x for x in a.lines if x.get_label() == "motion").get_data()
        low, high = current_band(drive, np.asarray(v), peak_current(drive))
        assert np.all((np.asarray(i) >= low) & (np.asarray(i) <= high))
    assert figure.axes[2].get_xlabel() == "velocity [m/s]"


def test_power_figure_shows_what_the_supply_does():
    figure = power(ROBOT, move(), "non-regenerative")
    labels = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert labels == ["all drives", "drawn", "burnt"] and len(figure.axes[0].lines) == 4
    assert "returned" in [
        text.get_text() for text in power(ROBOT, move()).axes[1].get_legend().get_texts()
    ]


def test_torque_speed_brakes_more_than_it_drives():
    figure = torque_speed(SERVO, move())
    region = figure.axes[0].collections[0].get_paths()[0].vertices
    driving, braking = region[region[:, 0] > 0.1, 1].max(), -region[region[:, 0] > 0.1, 1].min()
    assert braking / driving == pytest.approx(1 / 0.85**2, rel=0.02)
    assert len(torque_speed(SERVO).axes) == 3


def test_temperature_rises_to_the_steady_state():
    book = ledger(SERVO, move())
    figure = temperature(book)
    x, y = figure.axes[0].lines[0].get_data()
    assert (
        np.all(np.diff(y) > -1e-9)
        and y[-1] == pytest.approx(book.heating[0].steady_winding, abs=0.2)
        and x[-1] >= 5 * 25
    )
    with pytest.raises(ArgumentError, match="thermal"):
        temperature(ledger(ROBOT, move()))


@pytest.mark.parametrize("supply", ("regenerative", "non-regenerative", Bus(1e-3, 325.0, 400.0)))
def test_flow_balances(supply):
    book = ledger(SERVO, move(), supply)
    assert sum(x for _, x in flows_in(book)) == pytest.approx(
        sum(x for _, x in flows_out(book)), rel=1e-9
    )
    assert any("drawn" in text.get_text() for text in ledger_flow(book).axes[0].texts)


def test_figures_are_saved(tmp_path):
    for ending in ("png", "pdf", "svg"):
        graf(ROBOT, move(), save=tmp_path / f"graf.{ending}")
        assert (tmp_path / f"graf.{ending}").stat().st_size > 5000
    with pytest.raises(FileError, match=r"\.png"):
        ledger_flow(ledger(ROBOT, move()), save=tmp_path / "x.abc")
    with pytest.raises(ArgumentError, match="with_drives"):
        graf(replace(ROBOT, drives=()), move())

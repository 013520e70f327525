"""Figures of sensitivities and designs show the numbers that they are of."""

import numpy as np
import pytest
from axis import T, axis, least_losses

import armature as arm
from armature.errors import ArgumentError

MOVE = arm.Move([0.0], [1.0], T, smoothness=0.0)


@pytest.fixture(scope="module")
def plan():
    return arm.minimize_energy(axis(coulomb=1.0), MOVE)


def test_bars_are_as_long_as_the_cost_changes(plan, tmp_path):
    table = plan.sensitivities()
    figure = arm.plot.tornado(table, 0.1, save=tmp_path / "tornado.png")
    a = figure.axes[0]
    names = [label.get_text().partition(" (")[0] for label in a.get_yticklabels()]
    lower, higher = (
        dict(zip(names, (bar.get_width() for bar in bars.patches))) for bars in a.containers
    )
    assert lower["gear ratio of j"] == pytest.approx(-10 * table["gear ratio of j"].elasticity)
    assert higher["resistance of j"] == pytest.approx(10 * table["resistance of j"].elasticity)
    assert higher["gear efficiency of j"] == 0.0  # it is 1 already
    assert (tmp_path / "tornado.png").stat().st_size > 10_000


def test_the_report_says_what_would_save_most(plan, tmp_path):
    page = plan.report(tmp_path / "plan.html").read_text(encoding="utf-8")
    best = plan.sensitivities(["inertia of load", "gear ratio of j", "torque constant of j"])
    assert best[0].sentence() in page and "with the motion planned again" in page


def test_energy_against_ratio_is_the_closed_form(tmp_path):
    curve = arm.design.cost_curve(axis(), MOVE, "gear ratio of j", (25.0, 100.0), count=13)
    assert curve.costs == pytest.approx([least_losses(x) for x in curve.values], rel=1e-3)
    assert curve.now[0] == 30.0 and curve.now[1] == pytest.approx(least_losses(30.0), rel=1e-3)
    figure = arm.plot.parameter_curve(curve, save=tmp_path / "curve.png")
    drawn = figure.axes[0].lines[0].get_ydata()
    assert np.array_equal(drawn, curve.costs)


def test_before_and_after_shows_both_costs(tmp_path):
    design = arm.design.optimize_parameters(axis(), MOVE, {"gear ratio of j": (5.0, 500.0)})
    figure = arm.plot.before_and_after(design, save=tmp_path / "design.png")
    heights = [bar.get_height() for bar in figure.axes[1].patches]
    assert heights == pytest.approx([design.before, design.after])


def test_what_cannot_be_drawn_is_refused(plan):
    with pytest.raises(ArgumentError, match="table = 3"):
        arm.plot.tornado(3)
    with pytest.raises(ArgumentError, match="must rise"):
        arm.design.cost_curve(plan.robot, MOVE, "gear ratio of j", (100.0, 25.0))

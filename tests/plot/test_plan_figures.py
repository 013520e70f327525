"""Figures of plans: every figure takes a plan or a saved plan; what they show is what the plan
holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import armature as arm
from armature.errors import ArgumentError
from armature.job.saved import load_plan, save_plan
from armature.optimize.moves.curve import Curve
from armature.plot import curve, graf, iterations, joints, ledger_flow, motion, power, torque_speed
from armature.plot.pages import pages

ROBOT = arm.library("burgevin").with_payload(2.0)


@pytest.fixture(scope="module")
def plan():
    return arm.minimize_energy(
        ROBOT,
        arm.Move([0.0, 1.0, 0.6], [1.5, 1.4, 0.8], duration=1.0),
        "non-regenerative",
        knots=30,
    )


def drawn(axes, label: str) -> np.ndarray:
    return next(np.asarray(x.get_ydata()) for x in axes.lines if x.get_label() == label)


def test_joints_are_drawn_with_their_limits_and_baseline(plan):
    figure = joints(plan)
    assert len(figure.axes) == 3 * 4
    assert [a.get_title() for a in figure.axes[8:]] == [
        "r: position [m]",
        "r: velocity [m/s]",
        "r: force [N]",
        "r: current [A]",
    ]
    for j in range(3):
        for c, kind in enumerate(("q", "v", "tau", "current")):
            a = figure.axes[4 * j + c]
            np.testing.assert_array_equal(drawn(a, "plan"), getattr(plan.trajectory, kind)[:, j])
            np.testing.assert_array_equal(
                drawn(a, "baseline"), getattr(plan.baseline.trajectory, kind)[:, j]
            )
    tight = replace(plan, robot=ROBOT.with_limits({"phi": {"velocity": 2.0}}))
    assert set(drawn(joints(tight).axes[1], "limit")) == {2.0}
    assert len(joints(ROBOT, plan.trajectory).axes[0].lines) == 1 + (
        "limit" in {x.get_label() for x in figure.axes[0].lines}
    )


def test_iterations_show_the_record(plan):
    cost, left = iterations(plan).axes
    np.testing.assert_array_equal(cost.lines[0].get_ydata(), [i.cost for i in plan.iterations])
    np.testing.assert_array_equal(drawn(left, "barrier"), [i.barrier for i in plan.iterations])
    assert left.get_yscale() == "log" and len(iterations(plan.iterations).axes) == 2
    with pytest.raises(ArgumentError, match="no iterations"):
        iterations(())


def test_curve_marks_minima_gaps_and_advice():
    T = np.linspace(1.0, 3.0, 21)
    E = np.where(T < 1.2, np.nan, 5 + np.cos(4 * T))
    result = Curve(
        T, E, E - 1, (None,) * 21, ((2.356, 4.0),), None, "Move in 2.36 s and wait on the brake."
    )
    figure = curve(result)
    a = figure.axes[0]
    np.testing.assert_array_equal(a.lines[0].get_ydata(), E)
    assert any(text.get_text() == "2.36 s, 4 J" for text in a.texts)
    assert "no plan" in [text.get_text() for text in a.get_legend().get_texts()]
    assert figure.get_supxlabel() == result.advice


def test_every_figure_takes_a_plan_a_saved_plan_or_a_robot_and_a_motion(plan, tmp_path):
    saved = load_plan(save_plan(plan, tmp_path / "plan.npz"))
    for draw in (graf, motion, power, torque_speed, joints):
        counts = [[len(a.lines) for a in draw(*given).axes] for given in ((plan,), (saved,))]
        assert counts[0] == counts[1]
        assert len(draw(ROBOT, plan.trajectory).axes) == len(counts[0])
    assert [t.get_text() for t in ledger_flow(plan).axes[0].texts] == [
        t.get_text() for t in ledger_flow(plan.ledger).axes[0].texts
    ]
    labels = lambda figure: [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert "burnt" in labels(power(saved)) and "returned" in labels(power(ROBOT, plan.trajectory))


@pytest.mark.parametrize("suffix", ["pdf", "png"])
def test_report_on_paper(plan, tmp_path, suffix: str):
    path = plan.report(tmp_path / f"plan.{suffix}")
    data = path.read_bytes()
    if suffix == "pdf":
        assert (
            data.startswith(b"%PDF")
            and data.count(b"/Type /Page ") + data.count(b"/Type /Page\n") == 9
        )
    else:
        from matplotlib.image import imread

        picture = imread(path)
        assert picture.shape[0] > 2000 and picture.min() < 0.2


def test_first_page_of_a_failed_plan_says_why(plan):
    failed = replace(plan, diagnosis=arm.optimize.Diagnosis("It cannot be done."))
    texts = [text.get_text() for text in next(pages(failed)).texts]
    assert texts[1] == "No plan was found" and "It cannot be done." in texts[2]
    with pytest.raises(ArgumentError, match="no motion"):
        graf(ROBOT)

"""What notebooks show: small, escaped, well-formed, and nothing is fetched."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

import armature as arm
from armature.cli.main import run

HARM = "<script>alert(1)</script>&\"'"


@pytest.fixture(scope="module")
def shown():
    robot = arm.library("planar2")
    joints = tuple(replace(j, name=HARM if j.name == "elbow" else j.name) for j in robot.joints)
    drives = tuple(
        replace(c, joints=tuple(HARM if n == "elbow" else n for n in c.joints))
        for c in robot.drives
    )
    robot = replace(robot, name=HARM, joints=joints, drives=drives)
    plan = arm.minimize_energy(robot, arm.Move([0.0, 0.0], [1.0, 1.0], 1.0), knots=20)
    curve = arm.energy_time_curve(
        robot, arm.Move([0.0, 0.0], [1.0, 1.0]), [1.0, 1.5, 2.0], knots=12, refine=False
    )
    return {
        "robot": robot,
        "plan": plan,
        "certificate": plan.certificate,
        "ledger": plan.ledger,
        "curve": curve,
    }


@pytest.mark.parametrize("kind", ["robot", "plan", "certificate", "ledger", "curve"])
def test_a_result_is_a_small_page_without_foreign_parts(shown, kind):
    text = shown[kind]._repr_html_()
    page = ET.fromstring(f"<div>{text}</div>".replace("<br>", "<br/>"))
    assert len(text) < 20_000
    names = {element.tag for element in page.iter()}
    assert names <= {
        "div",
        "b",
        "span",
        "table",
        "tr",
        "td",
        "th",
        "small",
        "svg",
        "polyline",
        "text",
        "br",
    }
    assert not any(
        "href" in key or "src" in key or key.startswith("on")
        for element in page.iter()
        for key in element.attrib
    )
    assert "http" not in text
    if kind != "curve":
        assert HARM in "".join(page.itertext())  # as text


@pytest.mark.parametrize("kind", ["robot", "plan", "certificate", "ledger", "baseline"])
def test_at_a_prompt_a_result_is_one_short_line(shown, kind):
    text = repr(shown["plan"].baseline if kind == "baseline" else shown[kind])
    assert text.startswith("<") and "\n" not in text and len(text) < 300


def test_the_numbers_are_the_results_own(shown):
    plan = shown["plan"]
    assert f"{plan.energy:.4g} J" in plan._repr_html_()
    assert "passed" in shown["certificate"]._repr_html_()
    assert f"{plan.ledger.copper:.4g} J" in plan.ledger._repr_html_()
    assert f"{max(shown['curve'].energies):.3g} J" in shown["curve"]._repr_html_()


def test_a_year_is_the_cycles_energy(shown):
    plan = shown["plan"]
    year = plan.yearly(cycles_per_day=5000, price=0.30, days=250)
    assert year.energy == pytest.approx(plan.energy * 5000 * 250 / 3.6e6)
    assert year.cost == pytest.approx(0.30 * year.energy)
    assert year.saved == pytest.approx(
        (plan.baseline.ledger.energy - plan.energy) * 5000 * 250 / 3.6e6
    )
    assert year.saved_cost == pytest.approx(0.30 * year.saved)
    assert plan.yearly(5000).cost is None and "kWh" in str(plan.yearly(5000))


@pytest.mark.parametrize(
    ("name", "value"),
    [("cycles_per_day", -1), ("cycles_per_day", "many"), ("price", float("nan")), ("days", None)],
)
def test_a_year_of_nonsense_is_refused(shown, name, value):
    with pytest.raises(arm.errors.ArgumentError, match=name):
        shown["plan"].yearly(**{"cycles_per_day": 10.0, name: value})


def test_page_and_terminal_tell_of_a_year(shown, tmp_path, capsys):
    plan = shown["plan"]
    year = plan.yearly(4000, 0.25)
    page = Path(plan.report(tmp_path / "plan.html", cycles_per_day=4000, price=0.25)).read_text(
        encoding="utf-8"
    )
    assert f"{year.energy:,.4g} kWh, {year.cost:,.2f}" in page
    assert (
        "kWh"
        not in Path(plan.report(tmp_path / "plain.html"))
        .read_text(encoding="utf-8")
        .split("<script")[0]
    )
    move = ["planar2", "--from", "0,0", "--to", "1,1", "-T", "1", "--knots", "20"]
    assert run(["plan", *move, "--cycles", "4000", "--price", "0.25"]) == 0
    told = capsys.readouterr().out
    assert "1,460,000 cycles" in told and "kWh" in told

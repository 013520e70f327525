"""Cells: the schedule is that of brute force, its bound holds, and the simulator finds every
fault."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import armature as arm
from armature.cell.schedule.cell_file import load_cell_models
from armature.cell.schedule.model import (
    CellModel,
    CellRobot,
    Clash,
    Energy,
    HandOver,
    Lag,
    Mode,
    Movement,
    Sampled,
    Spot,
    Stand,
    Travel,
)
from armature.cell.schedule.optimize_cell import optimize_cell
from armature.cell.schedule.schedule import overlap
from armature.cli.main import run

CYCLE = 14.0


def movement(rng, name: str, origin: str = "x", target: str = "x") -> Movement:
    terms = ((float(rng.uniform(300, 900)), -1), (float(rng.uniform(20, 60)), 1))
    return Movement(name, origin, target, 1.0, 6.0, Energy(terms))


def random_cell(seed: int) -> CellModel:
    """Robot a visits p and q in either order and rests at home in one of two modes; robot b grips
    at one of two spots, one of which is in the way of a at p; b's grip follows a's stay at q."""
    rng = np.random.default_rng(seed)
    watt = lambda: float(rng.uniform(50, 150))
    modes = (Mode("motors", watt()), Mode("brake", 0.3 * watt(), 2.0, 20.0))
    a = CellRobot(
        "a",
        (
            Stand("home", 0.0, 10.0, (Spot("x", modes),), last=True),
            Stand("p", 1.5, 3.0, (Spot("x", (Mode("motors", watt()),)),)),
            Stand("q", 1.0, 2.0, (Spot("x", (Mode("motors", watt()),)),)),
        ),
        tuple(
            Travel(f"{s}{t}", s, t, (movement(rng, "m"),))
            for s, t in itertools.permutations(("home", "p", "q"), 2)
        ),
    )
    b = CellRobot(
        "b",
        (
            Stand("base", 0.0, 12.0, (Spot("x", (Mode("motors", watt()),)),), last=True),
            Stand(
                "grip",
                4.0,
                6.0,
                (Spot("near", (Mode("motors", watt()),)), Spot("far", (Mode("motors", watt()),))),
            ),
        ),
        (
            Travel(
                "go",
                "base",
                "grip",
                (movement(rng, "to near", "x", "near"), movement(rng, "to far", "x", "far")),
            ),
            Travel(
                "back",
                "grip",
                "base",
                (movement(rng, "of near", "near"), movement(rng, "of far", "far")),
            ),
        ),
    )
    lags = (Lag("q", "grip", 2.5), Lag("grip", "q", 1.0, 1))
    return CellModel(
        "small",
        CYCLE,
        (a, b),
        lags,
        (),
        (Clash(("p", "x"), ("grip", "near")), Clash(("p", "x"), ("go", "to far"))),
    )


def grip(x) -> float:
    """When b's grip begins, in the order of brute force's variables, s."""
    return x[10] + x[6]


def brute_force(cell: CellModel) -> float:
    """Every order, spot, mode and cycle shift; the best durations of each by another solver (SLSQP)
    on the exact energies."""
    a, b = cell.robots
    best = np.inf
    for order, mode, spot in itertools.product(
        (("p", "q"), ("q", "p")), a.stands[0].spots[0].modes, b.stands[1].spots
    ):
        stops = ["home", *order, "home"]
        moves_a = [
            next(t for t in a.travels if (t.origin, t.target) == pair).movements[0]
            for pair in itertools.pairwise(stops)
        ]
        moves_b = [t.movements[0 if spot.name == "near" else 1] for t in b.travels]
        stands = {s.name: s for r in cell.robots for s in r.stands}
        powers = {n: s.spots[0].modes[0].power for n, s in stands.items()} | {
            "home": mode.power,
            "grip": spot.modes[0].power,
        }
        # a: move, stand 1, move, stand 2, move, home;  b: go, grip, back, base;  b's offset
        names = [None, order[0], None, order[1], None, "home", None, "grip", None, "base"]
        moves = iter([*moves_a, *moves_b])
        parts = [n or next(moves) for n in names]
        least = {"home": max(0.0, mode.least)}
        bounds = [
            (
                (p.least, p.most)
                if isinstance(p, Movement)
                else (least.get(p, stands[p].least), stands[p].most)
            )
            for p in parts
        ]
        energy = lambda x, parts=parts, powers=powers, mode=mode: (
            mode.energy
            + sum(
                p.energy(d) if isinstance(p, Movement) else powers[p] * d for p, d in zip(parts, x)
            )
        )
        sums = [lambda x: sum(x[:6]) - CYCLE, lambda x: sum(x[6:10]) - CYCLE]
        first = lambda x: x[0]
        second = lambda x: x[0] + x[1] + x[2]
        at_p, at_q = (first, second) if order[0] == "p" else (second, first)
        lags = [
            lambda x, q=at_q: grip(x) - q(x) - 2.5,
            lambda x, q=at_q: q(x) - grip(x) - 1.0 + CYCLE,
        ]
        p_lasts = 1 if order[0] == "p" else 3
        start, lasts = (grip, 7) if spot.name == "near" else (lambda x: x[10], 6)
        for shift in range(-2, 3):
            gap = lambda x, p=at_p, s=start, n=shift: s(x) - p(x) + n * CYCLE
            clear = [
                lambda x, g=gap, k=p_lasts: g(x) - x[k],
                lambda x, g=gap, k=lasts: CYCLE - x[k] - g(x),
            ]
            rules = [{"type": "eq", "fun": f} for f in sums] + [
                {"type": "ineq", "fun": f} for f in (*lags, *clear)
            ]
            for offset in (0.0, 5.0):
                x0 = [sum(b) / 2 for b in bounds] + [offset]
                options = {"maxiter": 200, "ftol": 1e-10}
                found = minimize(
                    energy,
                    x0,
                    bounds=[*bounds, (-28, 28)],
                    constraints=rules,
                    method="SLSQP",
                    options=options,
                )
                broken = max(
                    [abs(f(found.x)) for f in sums] + [-f(found.x) for f in (*lags, *clear)]
                )
                if broken < 1e-6:
                    best = min(best, float(found.fun))
    return best


@pytest.mark.parametrize("seed", range(3))
def test_the_least_energy_is_that_of_brute_force(seed: int) -> None:
    cell = random_cell(seed)
    found = optimize_cell(cell)
    assert found.energy == pytest.approx(brute_force(cell), rel=2e-5)
    assert found.gap < 2e-6 and found.lower_bound <= found.energy * (1 + 1e-9)
    assert found.ok, found.faults


def test_a_bound_is_proved_a_second_time_where_choices_are_few() -> None:
    cell = replace(random_cell(1), clashes=())
    found = optimize_cell(cell)
    assert any("second time" in note for note in found.notes)
    assert found.lower_bound == pytest.approx(found.energy, rel=2e-5)


def test_energies_by_points_and_by_a_formula_agree_where_they_are_the_same() -> None:
    cell = replace(random_cell(2), clashes=(), lags=())
    T = np.linspace(1.0, 6.0, 501)
    sampled = lambda m: replace(m, energy=Sampled(tuple(T), tuple(m.energy(t) for t in T)))
    robots = tuple(
        replace(
            r,
            travels=tuple(
                replace(t, movements=tuple(map(sampled, t.movements))) for t in r.travels
            ),
        )
        for r in cell.robots
    )
    assert optimize_cell(replace(cell, robots=robots)).energy == pytest.approx(
        optimize_cell(cell).energy, rel=2e-5
    )


def test_overlaps_are_found_in_every_shift_by_whole_cycles() -> None:
    from armature.cell.schedule.schedule import Task

    one = Task("a", "x", "", 0.5, 2.0, 0.0)
    for n in range(-3, 4):
        assert overlap(one, Task("b", "x", "", 2.0 + n * 10.0, 3.0, 0.0), 10.0) == pytest.approx(
            0.5
        )
        assert overlap(one, Task("b", "x", "", 2.5 + n * 10.0, 3.0, 0.0), 10.0) == pytest.approx(
            0.0, abs=1e-9
        )
    assert overlap(one, Task("b", "x", "", 9.0, 3.0, 0.0), 10.0) == pytest.approx(
        1.5
    )  # it goes on into the next cycle


def test_the_simulator_finds_a_shifted_robot_and_a_changed_duration() -> None:
    found = optimize_cell(random_cell(0))
    late = {**found.tasks, "b": tuple(replace(t, start=t.start + 7.0) for t in found.tasks["b"])}
    assert any(
        "too early" in fault or "share a zone" in fault
        for fault in replace(found, tasks=late).faults
    )
    first, *rest = found.tasks["a"]
    longer = replace(
        found, tasks={**found.tasks, "a": (replace(first, duration=first.duration + 0.3), *rest)}
    )
    assert any("begins" in f for f in longer.faults) and any(
        "energy of" in f for f in longer.faults
    )
    order = replace(found, tasks={**found.tasks, "a": found.tasks["a"][2:] + found.tasks["a"][:2]})
    assert order.faults


def test_a_lag_of_many_cycles_is_one_in_a_cycle_with_parts_between() -> None:
    cell, parts = random_cell(0), 30
    energies = [
        optimize_cell(replace(cell, lags=(Lag("q", "grip", length, height),))).energy
        for length, height in ((2.5, 0), (2.5 + parts * CYCLE, 0), (2.5 + parts * CYCLE, parts))
    ]
    assert energies == pytest.approx([energies[0]] * 3, rel=2e-6)


def test_hand_overs_are_at_places_that_suit_each_other() -> None:
    cell = random_cell(0)
    free = optimize_cell(replace(cell, clashes=())).tasks["b"]
    other = {"near": "far", "far": "near"}[next(t.option for t in free if t.activity == "grip")]
    bound = replace(cell, clashes=(), hand_overs=(HandOver(((("p", "x"), ("grip", other)),)),))
    found = optimize_cell(bound)
    assert next(t.option for t in found.tasks["b"] if t.activity == "grip") == other and found.ok
    wrong = replace(found, tasks={**found.tasks, "b": free})
    assert any("hand-over" in fault for fault in wrong.faults)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"cycle": 4.0}, r"robot 'a' needs 5\.5 s, robot 'b' needs 6 s; give at least 6 s"),
        (
            {"lags": (Lag("q", "grip", 2.5), Lag("grip", "q", 1.0))},
            r"hand-overs leave no schedule .*too early.*no longer cycle.*help",
        ),
        (
            {"lags": (Lag("q", "grip", 2.5), Lag("grip", "q", 15.5, 1))},
            r"hand-overs .*; a cycle of 18\.\d+ s is possible",
        ),
    ],
)
def test_an_impossible_cell_names_what_fails_and_the_number_that_helps(change, words: str) -> None:
    with pytest.raises(arm.ArmatureError, match=words):
        optimize_cell(replace(random_cell(0), **change))


XML = """<dataset><instance><name>two</name><robots><robot><name>a</name><activities>
<static-activity aid="0" last_in_cycle="true"><min-duration>0</min-duration><max-duration>9</max-duration><locations>
<location lid="0"><point>0</point></location></locations></static-activity>
<static-activity aid="1"><min-duration>2</min-duration><max-duration>2</max-duration><locations><location lid="0"><point>1</point>
<location-dependent-power-consumption><consumption pid="0" input_power="80"/><consumption pid="1" input_power="10000"/>
</location-dependent-power-consumption></location></locations></static-activity>
<dynamic-activity aid="2"><movements><movement mid="0"><from-point>0</from-point><to-point>1</to-point>
<min-duration>1</min-duration><max-duration>5</max-duration><energy-function><monomial degree="-1" coeff="400"/>
<monomial degree="1" coeff="30"/></energy-function></movement></movements></dynamic-activity>
<dynamic-activity aid="3"><movements><movement mid="0"><from-point>1</from-point><to-point>0</to-point>
<min-duration>1</min-duration><max-duration>5</max-duration><energy-function><monomial degree="-1" coeff="100"/>
<monomial degree="1" coeff="25"/></energy-function></movement></movements></dynamic-activity></activities>
<power-saving-modes><power-mode pid="0"><minimal-idle-time>0</minimal-idle-time><expected-input-power>50</expected-input-power></power-mode>
<power-mode pid="1"><minimal-idle-time>3</minimal-idle-time><expected-input-power>5</expected-input-power></power-mode></power-saving-modes>
</robot></robots><production-cycle-time>12</production-cycle-time></instance></dataset>
"""

YAML = """name: two
cycle: 12 s
robots:
  - name: a
    stands:
      - {name: '0', most: 9 s, last: true, spots: {'0': {'0': 50 W, '1': {power: 5 W, least: 3 s}}}}
      - {name: '1', least: 2 s, most: 2 s, spots: {'0': {'0': 80 W}}}
    travels:
      - {name: '2', from: '0', to: '1', movements: [{from: '0', to: '0', least: 1 s, most: 5 s, energy: [[400, -1], [30, 1]]}]}
      - {name: '3', from: '1', to: '0', movements: [{from: '0', to: '0', least: 1 s, most: 5 s, energy: [[100, -1], [25, 1]]}]}
"""


def test_xml_and_yaml_are_the_same_cell_with_the_optimum_of_calculus(
    tmp_path: Path, capsys
) -> None:
    (tmp_path / "c.xml").write_text(XML)
    (tmp_path / "c.yaml").write_text(YAML)
    energies = [
        optimize_cell(load_cell_models(tmp_path / name)[0]).energy for name in ("c.xml", "c.yaml")
    ]
    # waiting on 5 W: E'(d) = 5 gives d = √(400/25), √(100/20); the rest is waited for
    d = [np.sqrt(400 / 25), np.sqrt(100 / 20)]
    exact = 400 / d[0] + 30 * d[0] + 100 / d[1] + 25 * d[1] + 2 * 80 + 5 * (12 - 2 - sum(d))
    assert energies == pytest.approx([exact, exact], rel=1e-6)
    picture, table = tmp_path / "gantt.png", tmp_path / "tasks.csv"
    assert (
        run(
            [
                "cell",
                str(tmp_path / "c.yaml"),
                "--plot",
                str(picture),
                "--save",
                str(table),
                "--json",
            ]
        )
        == 0
    )
    facts = json.loads(capsys.readouterr().out)
    assert facts["ok"] and facts["cells"][0]["energy"] == pytest.approx(exact, rel=1e-6)
    assert picture.stat().st_size > 5000 and len(table.read_text().splitlines()) == 5


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("c.yaml", "cycle: 12 s", "cycle: soon", "c.yaml:2"),
        ("c.yaml", "least: 1 s, most: 5 s, energy: [[400, -1], [30, 1]]", "least: 1 s", "c.yaml:9"),
        ("c.yaml", "energy: [[400, -1], [30, 1]]", "energy: [[-400, -1]]", "no convex function"),
        ("c.yaml", "to: '1'", "to: '7'", "'7', which is no stand"),
        ("c.xml", 'coeff="400"', 'coeff="x"', "coeff is 'x'"),
        ("c.xml", "<to-point>1</to-point>", "<to-point>9</to-point>", "point 9"),
        ("c.xml", ' last_in_cycle="true"', "", "0 stands marked last"),
    ],
)
def test_mistakes_in_cell_files_are_told(
    tmp_path: Path, name: str, old: str, new: str, words: str
) -> None:
    text = {"c.xml": XML, "c.yaml": YAML}[name]
    assert old in text
    (tmp_path / name).write_text(text.replace(old, new, 1))
    with pytest.raises(arm.errors.FileError, match=words):
        load_cell_models(tmp_path / name)

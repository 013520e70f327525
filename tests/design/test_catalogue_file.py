"""Catalogues from files: units of data sheets, columns with names of their own, gaps left out with
a note."""

from __future__ import annotations

import pytest

import armature as arm
from armature.design.drives.catalogue_file import fitting

CSV = """# k = torque constant [N*m/A]
name, kind, resistance [ohm], k, rotor inertia [g*cm^2], no load current [mA], weight [g], ratio, efficiency [%], fits
A, motor, 0.5, 0.05, 100, 200, 300,,, P10;Q*
B, motor, 0.5,, 100, 200, 300,,, P10
C, motor, 0.7, 0.06, 100,, 300,,,
P10, gear,,,,, 500, 10, 90,
Q20, gear,,,,, 600, 20, 80,
Q30, gear,,,,, 600, 30,,
"""


def test_values_have_the_units_of_their_columns(tmp_path):
    (tmp_path / "my.csv").write_text(CSV)
    found = arm.design.read_catalogue(tmp_path / "my.csv")
    motor = found.motors["A"]
    assert motor.torque_constant == 0.05 and motor.resistance == 0.5
    assert motor.inertia == pytest.approx(1e-5) and motor.mass == pytest.approx(0.3)
    assert motor.iron_torque == pytest.approx(0.2 * 0.05)  # no-load current × torque constant
    assert found.gears["P10"].efficiency == pytest.approx(0.9)
    assert found.gears["Q20"].mass == pytest.approx(0.6)


def test_rows_with_gaps_are_left_out_with_line_and_reason(tmp_path):
    (tmp_path / "my.csv").write_text(CSV)
    found = arm.design.read_catalogue(tmp_path / "my.csv")
    assert set(found.motors) == {"A"} and set(found.gears) == {"P10", "Q20"}
    notes = "\n".join(found.notes)
    assert "my.csv:4: B: no torque constant" in notes
    assert "my.csv:5: C: no iron torque or no load current" in notes
    assert "my.csv:8: Q30: no efficiency" in notes


def test_compatibility_lists_name_gears_or_their_beginnings(tmp_path):
    (tmp_path / "my.csv").write_text(CSV)
    found = arm.design.read_catalogue(tmp_path / "my.csv")
    assert sorted(fitting(found)) == [("A", "P10"), ("A", "Q20")]


def test_yaml_says_what_the_columns_of_tables_mean(tmp_path):
    (tmp_path / "m.csv").write_text("key,R,kt,V,w0\nM1,0.5,0.05,24,450\nM2,0.5,0.05,24,90\n")
    (tmp_path / "fits.csv").write_text("M1,G1\n")
    (tmp_path / "all.yaml").write_text(
        "motors: {file: m.csv, name: key, columns: {R: 'resistance [ohm]', kt: 'torque constant"
        " [N*m/A]', V: 'nominal voltage [V]', w0: 'no load speed [rad/s]'}}\n"
        "gears: {G1: {ratio: 12, efficiency: 90 %}, G2: {ratio: 9, efficiency: 90 %}}\n"
        "fits: {file: fits.csv}\n"
    )
    found = arm.design.read_catalogue(tmp_path / "all.yaml")
    assert list(found.motors) == ["M1"] and found.voltages == {"M1": 24.0}
    assert "M2: nominal voltage 24 V" in found.notes[0]  # which 90 rad/s do not fit
    assert list(fitting(found)) == [("M1", "G1")]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "name,colour\nx,red\n"])
def test_tables_without_motors_are_refused(tmp_path, text):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(arm.ArmatureError, match=r"bad\.csv"):
        arm.design.read_catalogue(tmp_path / "bad.csv")


def test_table_of_a_spreadsheet_with_decimal_commas(tmp_path):
    """Separated by semicolons: the same motor as in a table separated by commas."""
    head = "name, resistance [ohm], torque constant [mN*m/A], weight [g]"
    found = []
    for text in (f"{head}\nm, 1.5, 110, 70.25\n", f"{head}\nm; 1,5; 110; 70,25\n"):
        path = tmp_path / "my.csv"
        name, _, rest = text.partition("\n")
        path.write_text((name.replace(",", ";") if ";" in rest else name) + "\n" + rest)
        found.append(arm.design.read_catalogue(path).motors["m"])
    assert found[0] == found[1] and found[0].mass == 0.07025


def test_column_that_means_the_name_holds_the_names(tmp_path):
    path = tmp_path / "my.csv"
    head = "# Typ = kind\n# Nr = name\n# R = resistance [mohm]\n"
    path.write_text(head + "Nr, Typ, R, torque constant [mN*m/A]\nm, motor, 1500, 110\n")
    assert arm.design.read_catalogue(path).motors["m"].resistance == pytest.approx(1.5)


def test_a_name_that_stands_twice_is_the_first_of_them(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text("name, resistance [ohm], torque constant [N*m/A]\nA, 1, 0.1\nA, 2, 0.1\n")
    found = arm.design.read_catalogue(path)
    assert found.motors["A"].resistance == 1.0
    assert found.notes == ("my.csv:3: A: the name stands twice; the first row is taken",)


def test_columns_without_a_unit_are_named(tmp_path):
    """Numbers are taken in SI then; what has no unit at all is not among them."""
    path = tmp_path / "my.csv"
    path.write_text(
        "name, resistance [ohm], torque constant, weight, ratio, efficiency, price\n"
        "A, 1, 0.1, 0.5,,, 20\nG,,, 0.2, 10, 0.9, 5\n"
    )
    found = arm.design.read_catalogue(path)
    assert found.motors["A"].mass == 0.5 and found.gears["G"].ratio == 10.0
    assert found.without_unit == ("my.csv: torque constant", "my.csv: weight")

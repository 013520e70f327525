"""Data sheets: units, the catalogue, files with all their errors, and the agreement of torque and
speed constants."""

import math
import random
import warnings
from pathlib import Path

import pytest

from armature.drive import (
    Bus,
    Coupling,
    Drive,
    EfficiencyTable,
    Gear,
    Motor,
    Regenerative,
    catalogue,
    gear,
    motor,
    read_drives,
)
from armature.drive.units import parse
from armature.errors import ArgumentError, ArmatureError, ArmatureWarning, FileError, RobotError


@pytest.mark.parametrize(
    "text, target, value",
    [
        ("54.6 mN*m/A", "N*m/A", 0.0546),
        ("54.6 mNm/A", "N*m/A", 0.0546),
        ("102 g*cm^2", "kg*m^2", 1.02e-5),
        ("102 g·cm²", "kg*m^2", 1.02e-5),
        ("175 rpm/V", "rad/s/V", 175 * math.pi / 30),
        ("0.299 ohm", "ohm", 0.299),
        ("3 mΩ", "ohm", 3e-3),
        ("0.082 mH", "H", 8.2e-5),
        ("16.2 s", "s", 16.2),
        ("15 min", "s", 900.0),
        ("4.65 K/W", "K/W", 4.65),
        ("155 degC", "degC", 155.0),
        ("300 K", "degC", 26.85),
        ("90 %", "", 0.9),
        ("10 mm/rev", "m/rad", 0.01 / (2 * math.pi)),
        ("2 arcmin", "rad", 2 * math.pi / 10800),
        ("1e3", "W", 1000.0),
        ("1.5e-3 N*m*s/rad", "N*m*s/rad", 1.5e-3),
        ("2 V/(krad)", "V", None),
        ("5 kg", "N", None),
        ("five N", "N", None),
        ("3 foo", "N", None),
    ],
)
def test_units(text, target, value):
    if value is None:
        with pytest.raises(ArgumentError, match=r"unit|number"):
            parse(text, target)
    else:
        assert parse(text, target) == pytest.approx(value, rel=1e-12)


def test_catalogue_is_large_enough_and_consistent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        catalogue.cache_clear()
        c = catalogue()
    assert len(c.motors) >= 12 and len(c.gears) >= 8
    assert all(name in str(c) for name in (*c.motors, *c.gears))
    assert motor("dc-48v-150w").torque_constant == pytest.approx(0.06) and gear(
        "ballscrew-5mm"
    ).ratio == pytest.approx(2 * math.pi / 0.005)
    assert any(m.linear for m in c.motors.values()) and any(
        isinstance(g.efficiency, EfficiencyTable) for g in c.gears.values()
    )
    for m in (
        c.motors.values()
    ):  # a continuous current that the windings stand: steady temperature below the maximum
        assert m.thermal is not None
        heat = m.resistance_at(m.thermal.maximum) * m.continuous_current**2
        assert (
            m.thermal.ambient + heat * (m.thermal.winding_housing + m.thermal.housing_ambient)
            < m.thermal.maximum
        ), m.name


def test_unknown_name_is_told_with_what_is_near():
    with pytest.raises(ArgumentError, match="dc-48v-150w"):
        motor("dc-48v-150")


def test_disagreeing_constants_are_told_with_both_values():
    with pytest.warns(ArmatureWarning, match=r"0\.06.*0\.0954.*100 rpm/V"):
        read_drives(
            {
                "a": {
                    "motor": {
                        "resistance": 1,
                        "torque_constant": "60 mN*m/A",
                        "speed_constant": "100 rpm/V",
                    }
                }
            }
        )


def test_a_file_is_read_with_units_couplings_and_supply(tmp_path):
    path = tmp_path / "drives.yaml"
    path.write_text("""
drives:
  shoulder:
    motor: dc-48v-150w
    gear: {like: planetary-25, ratio: -25}
    amplifier: {voltage: 48 V, peak current: 30 A}
    friction: {viscous: 0.1, coulomb: 0.5 N*m}
    brake: {torque: 20 N*m, engage_time: 50 ms, release_time: 80 ms, power: 8 W}
  slide: {motor: linear-48v-100n, friction: {viscous: 20 N*s/m}}
couplings:
  - joints: [roll, pitch]
    matrix: [[1, 1], [1, -1]]
    drives:
      - {motor: flat-24v-50w, gear: {ratio: 30, efficiency: 80 %}}
      - {motor: flat-24v-50w, gear: {ratio: 30, efficiency: 80 %}}
supply: {kind: bus, capacitance: 2 mF, voltage: 48 V, resistor_voltage: 56 V}
""")
    couplings, supply = read_drives(path)
    shoulder, slide, wrist = couplings
    assert supply == Bus(2e-3, 48.0, 56.0)
    d = shoulder.drives[0]
    assert (d.gear.ratio, d.gear.efficiency, d.amplifier.peak_current, d.friction.coulomb) == (
        -25.0,
        0.9,
        30.0,
        0.5,
    )
    assert d.brake is not None and d.brake.engage_time == pytest.approx(0.05)
    assert slide.drives[0].motor.linear and slide.drives[0].friction.viscous == 20.0
    assert wrist.joints == ("roll", "pitch") and wrist.matrix == ((1.0, 1.0), (1.0, -1.0))


def test_all_errors_of_a_file_are_told_at_once_with_their_lines(tmp_path):
    path = tmp_path / "drives.yaml"
    path.write_text("""drives:
  a:
    motor: {resistance: 0 ohm, torque_constant: 1}
  b:
    motor: dc-48v-150w
    gear:
      ratio: 10
      eficiency: 0.9
  c: {motor: no-such}
  d:
    motor: {resistance: 3 kg, torque_constant: 1}
  e:
    gear: {ratio: 3}
supply: wind
""")
    with pytest.raises(FileError) as error:
        read_drives(path)
    text = str(error.value)
    for words in (
        ":3:",
        "joint 'a'",
        "resistance",
        ":8:",
        "did you mean 'efficiency'",
        "no-such",
        ":11:",
        "3 kg",
        "missing motor",
        "wind",
    ):
        assert words in text, text


@pytest.mark.parametrize(
    "content, words",
    [
        ("a: [1, 2", "not well-formed YAML"),
        ("- 1", "mapping"),
        ("couplings: [{joints: [a]}]", "coupling needs"),
    ],
)
def test_files_that_are_no_drives(tmp_path, content, words):
    path = tmp_path / "x.yaml"
    path.write_text(content)
    with pytest.raises(FileError, match=words):
        read_drives(path)
    with pytest.raises(FileError, match="no such file"):
        read_drives(tmp_path / "missing.yaml")


def test_a_mapping_of_objects_is_taken_as_it_is():
    d = Drive(Motor(1.0, 0.5), Gear(10.0))
    assert read_drives({"a": d}) == ((Coupling(("a",), (d,)),), None)
    assert read_drives({"drives": {"a": d}, "supply": "regenerative"})[1] == Regenerative()
    with pytest.raises(RobotError, match="efficiency"):
        read_drives({"a": {"motor": d.motor, "gear": {"ratio": 3, "efficiency": 1.3}}})


def test_the_documentation_s_own_file_is_read(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "drives.md").read_text()
    path = tmp_path / "drives.yaml"
    found = []
    for text in page.split("```yaml\n")[1:3]:
        path.write_text(text.split("```")[0])
        couplings, supply = read_drives(path)
        found += couplings
    assert [c.joints for c in found] == [
        ("shoulder",),
        ("elbow",),
        ("slide",),
        ("roll", "pitch"),
    ] and isinstance(supply, Bus)
    assert found[0].drives[0].motor.iron_torque == pytest.approx(0.09 * 0.0546)


def test_nonsense_is_refused_and_never_a_traceback(tmp_path):
    """Random structures out of the words of drive files: they are read, or refused by an
    ArmatureError."""
    rng = random.Random(1)
    parts = [
        "drives",
        "couplings",
        "supply",
        "motor",
        "gear",
        "amplifier",
        "friction",
        "brake",
        "thermal",
        "efficiency",
        "like",
        "name",
    ]
    fields = [
        "resistance",
        "torque_constant",
        "speed_constant",
        "linear",
        "joints",
        "matrix",
        "kind",
        "voltage",
        "ratio",
        "lead",
        "speeds",
    ]
    words = [*parts, *fields, "loads", "values", "no_load_current", "rule", "a", 3, None]
    values = [
        None,
        True,
        1,
        0,
        -1,
        math.inf,
        math.nan,
        "x",
        "5 ohm",
        "1 N/A",
        "0 rpm/V",
        "1/0",
        "3 m^",
        "5 //V",
        "dc-48v-150w",
        "bus",
        [],
        {},
        [[1, 2], [3]],
    ]

    def nonsense(depth):
        kind = rng.random()
        if depth == 0 or kind < 0.35:
            return rng.choice(values)
        if kind < 0.45:
            return [nonsense(depth - 1) for _ in range(rng.randint(0, 3))]
        return {rng.choice(words): nonsense(depth - 1) for _ in range(rng.randint(1, 5))}

    refused = 0
    for _ in range(3000):
        drives = {
            "a": {
                "motor": {"resistance": 1, "torque_constant": 1, rng.choice(words): nonsense(2)},
                "gear": nonsense(2),
            }
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ArmatureWarning)
                read_drives({"drives": drives, rng.choice(words): nonsense(3)})
        except ArmatureError as error:
            refused += 1
            assert len(str(error)) > 20
    assert refused > 2000
    for text in (
        "a: 1\na: 2",
        "a:\n\t- 1",
        "? [1, 2]\n: 3",
        "a: &x [*x]",
        "\x00",
        "drives: {a: {motor: {<<: 3}}}",
    ):
        path = tmp_path / "odd.yaml"
        path.write_text(text)
        with pytest.raises(FileError):
            read_drives(path)


SHEET = """
drives:
  elbow:
    motor:
      Nominal voltage: 48 V
      No load speed: 8490 rpm
      No load current: 78.5 mA
      Nominal speed: 7760 rpm
      Nominal torque (max. continuous torque): 184 mNm
      Nominal current (max. continuous current): 3.17 A
      Stall torque: 2560 mNm
      Stall current: 47.6 A
      Max. efficiency: 92 %
      Terminal resistance: 1.01 ohm
      Terminal inductance: 0.345 mH
      Torque constant: 53.8 mNm/A
      Speed constant: 178 rpm/V
      Speed/torque gradient: 3.33 rpm/mNm
      Mechanical time constant: 4.98 ms
      Rotor inertia: 142 g*cm^2
      Thermal resistance housing-ambient: 4.65 K/W
      Thermal resistance winding-housing: 1.93 K/W
      Thermal time constant winding: 41.6 s
      Thermal time constant motor: 1120 s
      Ambient temperature: 25 degC
      Max. winding temperature: 155 degC
      Max. speed: 12000 rpm
    gear: {ratio: 66, efficiency: 75 %}
"""


def test_a_data_sheet_is_typed_in_as_printed(tmp_path):
    path = tmp_path / "drives.yaml"
    path.write_text(SHEET, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, _ = read_drives(path)
    axis = found[0].drives[0].motor
    assert (axis.resistance, axis.continuous_current) == (pytest.approx(1.01), pytest.approx(3.17))
    assert axis.iron_torque == pytest.approx(
        0.0785 * 0.0538
    ) and axis.maximum_speed == pytest.approx(12000 * math.pi / 30)
    warm = axis.thermal
    assert (warm.winding_housing, warm.housing_ambient, warm.winding_time, warm.housing_time) == (
        1.93,
        4.65,
        41.6,
        1120.0,
    )
    assert (warm.ambient, warm.maximum) == (25.0, 155.0)


def test_a_wrong_line_of_a_data_sheet_is_told_with_its_place(tmp_path):
    path = tmp_path / "drives.yaml"
    path.write_text(
        SHEET.replace("4.65 K/W", "4.65 K").replace("Rotor inertia", "Rotor inertial"),
        encoding="utf-8",
    )
    with pytest.raises(FileError, match=r"(?s)Rotor inertial.*housing_ambient.*4\.65 K"):
        read_drives(path)

"""Units as data sheets print them: products without a sign, turns that are meant and not said,
ratios with a colon."""

import math

import pytest

from armature.drive.catalogue import read_drives
from armature.drive.units import parse
from armature.errors import ArgumentError

RPM = 2 * math.pi / 60


@pytest.mark.parametrize(
    ("text", "target", "value"),
    [
        ("102 gcm²", "kg*m^2", 1.02e-5),
        ("102 g cm^2", "kg*m^2", 1.02e-5),
        ("1.5 kgm2", "kg*m^2", 1.5),
        ("0.3 kg m²", "kg*m^2", 0.3),
        ("12000 min⁻¹", "rad/s", 12000 * RPM),
        ("12000 min^-1", "rad/s", 12000 * RPM),
        ("12000 1/min", "rad/s", 12000 * RPM),
        ("175 min-1/V", "rad/s/V", 175 * RPM),
        ("12000 rpm", "rad/s", 12000 * RPM),
        ("3 rev/s", "rad/s", 6 * math.pi),
        ("10 1/s", "rad/s", 10.0),
        ("10 mm", "m/rad", 0.01 / (2 * math.pi)),
        ("10 mm/rev", "m/rad", 0.01 / (2 * math.pi)),
        ("40 mm/rad", "m/rad", 0.04),
        ("100:1", "", 100.0),
        ("12 min", "s", 720.0),
        ("60 mm/min", "m/s", 1e-3),
    ],
)
def test_what_sheets_leave_out_is_understood(text, target, value):
    assert parse(text, target) == pytest.approx(value, rel=1e-12)


def test_a_ratio_the_other_way_round_is_refused():
    with pytest.raises(ArgumentError, match="turns of the motor first"):
        parse("1:100", "")


def test_a_ball_screw_by_its_lead_turns_once_for_it():
    (coupling,), _ = read_drives(
        {"drives": {"z": {"motor": "dc-48v-150w", "gear": {"lead": "10 mm"}}}}
    )
    assert coupling.drives[0].gear.ratio == pytest.approx(200 * math.pi)

"""Drives on robots: the thesis's robot with Tables 1 and 2, rotors, reductions, refusals."""

import json
from pathlib import Path

import numpy as np
import pytest

from armature.drive import Coupling, Drive, Friction, Gear, Motor, stack
from armature.dynamics.compiled import inverse_dynamics, mass_matrix
from armature.errors import ArmatureError, ArmatureWarning, FileError
from armature.robot import Joint, Link, Robot, Rotor, library

REFERENCE = json.loads((Path(__file__).parent.parent / "data" / "burgevin.json").read_text())
D = Drive(Motor(1.0, 0.5, inertia=2e-4), Gear(10.0, inertia=1e-4))


def cubic(case, cells=4000):
    """The cubic joint move of a case of the reference, at the middles of equal cells: dt, q, v, a
    in the order phi, theta, r."""
    start, end = (
        np.array([np.radians(x[2]), np.radians(x[1]), x[0]]) for x in (case["q0"], case["qf"])
    )
    T = case["T_s"]
    s = ((np.arange(cells) + 0.5) / cells)[:, None]
    return T / cells, *(
        start + (end - start) * (3 * s**2 - 2 * s**3),
        (end - start) * (6 * s - 6 * s**2) / T,
        (end - start) * (6 - 12 * s) / T**2,
    )


def flows(case, robot=None):
    robot = (robot or library("burgevin")).with_payload(case["payload_kg"])
    dt, q, v, a = cubic(case)
    return dt, v, robot.drivetrain.flow(inverse_dynamics(robot, q, v, a), v, a)


@pytest.mark.parametrize("case", REFERENCE["regenerative_no_friction"], ids=lambda c: c["name"])
def test_thesis_robot_on_a_cubic_move_has_the_reference_currents_and_losses(case):
    dt, v, f = flows(case)
    current, copper = stack(f, "current"), stack(f, "copper")
    assert np.sum(copper) * dt == pytest.approx(case["E_cubic_joint_line_J"], rel=1e-6)
    if "cubic_Imax_A" in case:
        assert np.abs(current).max(0)[::-1] == pytest.approx(
            case["cubic_Imax_A"], rel=1e-6, abs=1e-12
        )
    # [32] and P = v i with the note's constants: 11.333 N·m/A, 11.333 N·m/A, 20 N/A, 1 Ω
    voltage = current + np.array([1.7 / 0.15, 1.7 / 0.15, 20.0]) * v
    assert np.allclose(stack(f, "voltage"), voltage, atol=1e-12) and np.allclose(
        stack(f, "power"), voltage * current, atol=1e-10
    )


@pytest.mark.parametrize(
    "case",
    [c for c in REFERENCE["non_regenerative"] if c["E_cubic_joint_line_J"]],
    ids=lambda c: c["name"],
)
def test_thesis_robot_on_a_non_regenerative_source(case):
    dt, _, f = flows(case)
    assert np.sum(np.maximum(0.0, stack(f, "power"))) * dt == pytest.approx(
        case["E_cubic_joint_line_J"], rel=2e-6
    )


def test_signed_energy_is_heat_and_potential_energy_without_friction():
    case = next(
        c for c in REFERENCE["regenerative_no_friction"] if c["name"].startswith("ext_30_80")
    )
    dt, _, f = flows(case)
    # the move is horizontal: no change of height, so all that is drawn becomes heat
    assert np.sum(stack(f, "power")) * dt == pytest.approx(
        np.sum(stack(f, "copper")) * dt, rel=1e-6
    )


def test_peak_limit_of_the_reference():
    for case in REFERENCE["regenerative_no_friction"]:
        _, _, f = flows(case)
        limits = library("burgevin").drivetrain.limits()
        over = any(np.max(limit(f[k])) > 0 for k, _, limit in limits if limit.name == "peak heat")
        assert over != case["cubic_respects_peak_limit"], case["name"]


def test_library_limits_are_the_tables():
    limits = {(name, x.name): x.bound for _, name, x in library("burgevin").drivetrain.limits()}
    assert {key: limits["phi", key] for key in ("voltage", "peak heat", "average heat")} == {
        "voltage": 100.0,
        "peak heat": 80.0,
        "average heat": 200.0,
    }
    valasek = library("valasek").drivetrain
    assert [d.constant for d in valasek.drives] == [10.0, 30.0, 20.0]
    assert {(name, x.name, x.bound) for _, name, x in valasek.limits()} == {
        (n, "peak current", 1.0) for n in ("phi", "theta", "r")
    }


def test_rotor_inertia_joins_the_mechanism():
    robot = library("burgevin")
    driven = robot.with_drives({"theta": D})
    q = np.array([0.3, 0.5, 0.6])
    assert np.allclose(
        mass_matrix(driven, q) - mass_matrix(robot, q), np.diag([0, 3e-4 * 100, 0]), atol=1e-14
    )
    assert (
        driven.drivetrain.axis_names == ("phi", "theta", "r") and driven.drivetrain.drives[1] == D
    )
    assert driven != robot and hash(driven) != hash(robot)


def arm(**joint):
    return Robot(
        "arm",
        (Link("base"), Link("a", 1.0), Link("b", 1.0)),
        (
            Joint("j", "revolute", "base", "a", **joint),
            Joint("k", "prismatic", "a", "b", friction=Friction(2.0)),
        ),
        "base",
    )


def test_reduction_of_the_file_is_taken_over():
    plain = Drive(Motor(1.0, 0.5, inertia=1e-4))
    assert arm(reduction=-80.0).with_drives({"j": plain}).drivetrain.drives[0].gear.ratio == -80.0
    assert (
        arm(reduction=-80.0).with_drives({"j": D}).drivetrain.drives[0].gear.ratio == 10.0
    )  # the drive's own wins
    slide = Robot(
        "s",
        (Link("base"), Link("l", 1.0)),
        (Joint("j", "prismatic", "base", "l", reduction=3000.0),),
        "base",
    )
    assert (
        slide.with_drives({"j": Drive(Motor(1.0, 20.0, linear=True))})
        .drivetrain.drives[0]
        .gear.ratio
        == 1.0
    )  # nothing turns there
    kept = arm(rotor=Rotor(0.01, 1.0, (1.0, 0.0, 0.0))).with_drives({"j": D}).joint("j").rotor
    assert kept == Rotor(2e-4 + 1e-4, 10.0, (1.0, 0.0, 0.0))
    without = arm(rotor=Rotor(0.01)).with_drives({"j": Drive(Motor(1.0, 1.0))}).joint("j").rotor
    assert without == Rotor(0.01)  # MuJoCo's armature stays where the motor has none


def test_joint_friction_stands_beside_the_drives():
    train = arm().with_drives({"k": Drive(Motor(1.0, 1.0))}).drivetrain
    assert train.driven == (False, True) and train.flow([0.0, 0.0], [0.0, 3.0])[
        0
    ].current == pytest.approx(6.0)


def test_differential_rotors():
    equal = arm().with_drives([Coupling(("j", "k"), (D, D), ((1, 1), (1, -1)))])
    assert equal.joint("j").rotor == Rotor(2 * D.inertia) == equal.joint("k").rotor
    with pytest.warns(ArmatureWarning, match="couple the joints"):
        arm().with_drives([Coupling(("j", "k"), (D, Drive(Motor(1.0, 0.5))), ((1, 1), (1, -1)))])


@pytest.mark.parametrize(
    "robot, drives, words",
    [
        (arm(), {"j": Drive(Motor(1.0, 9.0, linear=True))}, "motor is linear"),
        (arm(), {"x": D}, "x"),
        (
            Robot("r", (Link("a"), Link("b", 1.0)), (Joint("f", "fixed", "a", "b"),), "a"),
            {"f": D},
            "takes no drive",
        ),
    ],
)
def test_drives_that_do_not_fit_are_refused(robot, drives, words):
    with pytest.raises(ArmatureError, match=words):
        robot.with_drives(drives)


def test_new_drives_replace_old_ones():
    robot = library("burgevin").with_drives({"r": D}).with_drives([Coupling(("r",), (D, D))])
    assert robot.drivetrain.axis_names == ("phi", "theta", "r.1", "r.2")


def test_a_drive_for_a_joint_that_is_not_there_has_its_line(tmp_path):
    path = tmp_path / "drives.yaml"
    path.write_text(
        "drives:\n  pan: {motor: torque-48v-joint-m}\n  elbw: {motor: torque-48v-joint-m}\n  wrist:"
        " {motor: torque-48v-joint-s}\n"
    )
    with pytest.raises(FileError) as caught:
        library("six_axis").with_drives(path)
    assert str(caught.value).startswith(
        f"{path}:3: there is no joint 'elbw'; did you mean 'elbow'?"
    ) and "line 4:" in str(caught.value)

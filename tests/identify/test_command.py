"""`armature identify`: from a log to a certified plan, and bad logs in one sentence."""

import numpy as np
import pytest

import armature as arm
from armature.cli.main import run
from identify.simulated import Truth, bare, motion

TRUTH = Truth(bare(arm.library("scara")))
GAINS = ",".join(f"{x:g}" for x in TRUTH.gains)


def write(path, change=None):
    """A log with currents and supply power; change: of its rows {column: values}."""
    log = TRUTH.recording(10, duration=10.0)
    _, _, v, _ = motion(TRUTH.robot, 10, 10.0)
    power = 20.0 + np.sum(1.5 * log.current**2 + TRUTH.gains * log.current * v, axis=1)
    columns = {
        "t": log.t,
        **{f"q{k + 1}": x for k, x in enumerate(log.q.T)},
        **{f"i{k + 1}": x for k, x in enumerate(log.current.T)},
        "supply_power": power,
    }
    columns = columns if change is None else change(columns)
    table = np.column_stack(list(columns.values()))
    np.savetxt(path, table, delimiter=",", header=",".join(columns), comments="", fmt="%.9g")
    return path


def stands(columns, row):
    """The log with 5 s in which the logger repeats a row although the robot moves."""
    rows = np.concatenate([np.arange(row), np.full(500, row), np.arange(row, len(columns["t"]))])
    held = {name: x[rows] for name, x in columns.items()}
    return {**held, "t": 0.01 * np.arange(len(rows))}


def test_one_command_line_from_a_log_to_a_certified_plan(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    TRUTH.described().save("described.yaml")
    write(tmp_path / "log.csv")
    assert run(["identify", "described.yaml", "log.csv", "--gains", GAINS, "-o", "my_robot"]) == 0
    assert "order and signs agree" in capsys.readouterr().out
    assert {p.name for p in tmp_path.glob("my_robot*")} == {
        "my_robot.yaml",
        "my_robot_drives.yaml",
        "my_robot.html",
    }
    page = (tmp_path / "my_robot.html").read_text()
    assert (
        "model error on your robot" in page
        and "standard error" in page
        and "data:image/png" in page
    )
    move = ["--from", "0, 0, 0, 0", "--to", "0.6, 0.5, 0.05, 0.3", "--duration", "1.5"]
    assert run(["plan", "my_robot.yaml", *move, "--report", "plan.html"]) == 0
    assert "Model error on your robot" in (tmp_path / "plan.html").read_text()
    with_drives = arm.load("described.yaml").with_drives("my_robot_drives.yaml")
    assert with_drives.drives == arm.load("my_robot.yaml").drives


def test_a_log_without_the_supplys_power_plans_with_stand_in_motors(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    TRUTH.described().save("described.yaml")
    write(tmp_path / "log.csv", lambda c: {k: x for k, x in c.items() if k != "supply_power"})
    assert run(["identify", "described.yaml", "log.csv", "--gains", GAINS, "-o", "my_robot"]) == 0
    assert "stand-in motors" in capsys.readouterr().out
    robot = arm.load("my_robot.yaml")
    for coupling in robot.drives:  # what was identified is not counted a second time
        joint, drive = robot.joint(coupling.joints[0]), coupling.drives[0]
        assert joint.friction.coulomb > 0 and drive.gear.efficiency == 1.0
        assert joint.rotor is None or drive.motor.inertia == 0.0
    move = ["--from", "0, 0, 0, 0", "--to", "0.6, 0.5, 0.05, 0.3", "--duration", "1.5"]
    assert run(["plan", "my_robot.yaml", *move]) == 0
    told = capsys.readouterr().out
    assert "certificate: passed" in told and "stand-in motors" in told


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda c: {**c, "t": np.where(np.arange(len(c["t"])) == 50, 0.0, c["t"])},
            "time goes back",
        ),
        (
            lambda c: {**c, "q2": np.where(np.arange(len(c["t"])) == 50, np.nan, c["q2"])},
            "not a finite number",
        ),
        (lambda c: {**c, "i1": c["i2"], "i2": c["i1"]}, "another order"),
        (
            lambda c: {**c, **{f"q{k}": np.zeros_like(c["t"]) for k in (1, 2, 3, 4)}},
            "nothing moves",
        ),
        (
            lambda c: {k: x for k, x in c.items() if not k.startswith("i")},
            "neither motor currents nor torques",
        ),
        (lambda c: {**c, "i2": np.ones_like(c["t"])}, "joint 'turn2' moves, but its torque"),
        (lambda c: {**c, "t": np.floor(c["t"])}, "share 10 different times"),
        (lambda c: {**c, **{f"i{k}": 1e3 * c[f"i{k}"] for k in (1, 2, 3, 4)}}, "A, not mA"),
        (lambda c: {**c, "t": 1e3 * c["t"]}, "check the unit of its times"),
        (lambda c: {**c, "q2": np.append(c["q2"][:500], 500 * [c["q2"][499]])}, "stands near 4.99"),
        (lambda c: stands(c, 0), "stands near 0 s for 5"),
        (lambda c: stands(c, 500), "stands near 5 s for 5"),
    ],
)
def test_bad_logs_end_in_one_sentence(tmp_path, capsys, change, words):
    TRUTH.described().save(tmp_path / "described.yaml")
    path = write(tmp_path / "log.csv", change)
    assert (
        run(
            [
                "identify",
                str(tmp_path / "described.yaml"),
                str(path),
                "--gains",
                GAINS,
                "-o",
                str(tmp_path / "x"),
            ]
        )
        == 2
    )
    told = capsys.readouterr().err.strip().splitlines()
    assert (
        len([line for line in told if line.startswith("error")]) == 1
        and words in told[-1]
        and "Traceback" not in "".join(told)
    )
    assert not list(tmp_path.glob("x*"))


def test_excite_writes_a_motion_that_reads_back_within_limits(tmp_path, capsys):
    assert (
        run(
            ["excite", "scara", "--duration", "4", "--save", str(tmp_path / "motion.csv"), "--json"]
        )
        == 0
    )
    motion = arm.Trajectory.load(tmp_path / "motion.csv")
    limits = [arm.library("scara").joint(name).limits for name in motion.joint_names]
    assert motion.duration == pytest.approx(4.0)
    assert all(x.lower <= q.min() and q.max() <= x.upper for x, q in zip(limits, motion.q.T))

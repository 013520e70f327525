"""What is handed to controllers: move lists parsed back, even times, cycles of several motions,
efforts only where asked for."""

import re

import numpy as np
import pytest

import armature as arm
from armature.cli.main import run
from armature.motion.cycle import at_even_times, joined
from armature.motion.vendor import krl, rapid, urscript


def motion(start=0.0, end=1.0, T=0.53):
    s = np.linspace(0.0, 1.0, 41)[:, None]
    way = (end - start) * np.arange(1, 7) / 6
    q = start * np.arange(1, 7) / 6 + way * (3 * s**2 - 2 * s**3)
    names = tuple(f"joint_{k}" for k in range(6))
    return arm.Trajectory(
        T * s[:, 0],
        q,
        way * (6 * s - 6 * s**2) / T,
        way * (6 - 12 * s) / T**2,
        names,
        tau=np.ones((41, 6)),
    )


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+\.\d+", text)]


def test_urscript_holds_the_points_in_radians_and_the_time_between_them():
    m = at_even_times(motion(), 0.01)
    rows = [line for line in urscript(m).splitlines() if "servoj" in line]
    np.testing.assert_allclose([numbers(line)[:6] for line in rows], m.q[1:], atol=1e-8)
    np.testing.assert_allclose([numbers(line)[6] for line in rows], 0.01, atol=1e-9)


@pytest.mark.parametrize(("write", "mark"), [(krl, "PTP {"), (rapid, "MoveAbsJ")])
def test_krl_and_rapid_hold_the_points_in_degrees(write, mark):
    m = at_even_times(motion(), 0.05)
    rows = [line for line in write(m).splitlines() if mark in line]
    np.testing.assert_allclose([numbers(line)[:6] for line in rows], np.degrees(m.q), atol=1e-5)


def test_a_step_longer_than_the_motion_is_refused():
    with pytest.raises(arm.errors.ArgumentError, match="longer than the motion"):
        at_even_times(motion(), 100.0)


@pytest.mark.parametrize("step", [0.004, 0.008, 0.1, 0.53])
def test_even_times_end_on_the_grid_with_exact_ends_and_true_velocities(step):
    m = motion()
    even = at_even_times(m, step)
    assert (
        np.diff(even.t) == pytest.approx(step, abs=1e-12)
        and m.duration <= even.duration + 1e-9 < m.duration + step
    )
    np.testing.assert_array_equal(even.q[[0, -1]], m.q[[0, -1]])
    if step < 0.1:
        middle = (even.q[2:] - even.q[:-2]) / (2 * step)
        np.testing.assert_allclose(even.v[1:-1], middle, atol=2e-3)


def test_a_cycle_is_one_motion_and_gaps_are_refused():
    both = joined([motion(0.0, 1.0), motion(1.0, 0.2)])
    assert (
        both.duration == pytest.approx(1.06) and len(both) == 82
    )  # two where the acceleration jumps
    np.testing.assert_allclose(both(0.53).q, motion().q[-1])
    with pytest.raises(arm.errors.ArgumentError, match="another position"):
        joined([motion(0.0, 1.0), motion(0.5, 0.2)])


def test_the_command_writes_cycles_lists_and_messages(tmp_path, capsys):
    motion(0.0, 1.0).save(tmp_path / "a.npz")
    motion(1.0, 0.0).save(tmp_path / "b.npz")
    a, b = str(tmp_path / "a.npz"), str(tmp_path / "b.npz")
    assert run(["export", a, b, str(tmp_path / "cycle.yaml"), "--step", "4ms"]) == 0
    read = arm.motion.load_trajectory(tmp_path / "cycle.yaml")
    assert read.tau is None and read.duration == pytest.approx(1.06, abs=0.004)
    assert run(["export", a, str(tmp_path / "e.yaml"), "--effort"]) == 0
    assert arm.motion.load_trajectory(tmp_path / "e.yaml").tau is not None
    assert (
        run(["export", a, b, str(tmp_path / "cycle.script")]) == 0
        and "servoj" in (tmp_path / "cycle.script").read_text()
    )
    capsys.readouterr()
    assert (
        run(["export", a, str(tmp_path / "x.yaml"), "--step", "4"]) == 2
        and "4s or 4ms" in capsys.readouterr().err
    )
    assert (
        run(["export", a, str(tmp_path / "x.yaml"), "--effort", "--distro", "humble"]) == 2
        and "refuses" in capsys.readouterr().err
    )

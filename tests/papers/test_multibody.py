"""The IFToMM multibody benchmark: A01 to A05, from the examples, against the reference file."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

ROOT = Path(__file__).parents[2]
REFERENCE = json.loads((ROOT / "tests" / "data" / "multibody.json").read_text())


def example(name: str) -> dict:
    return runpy.run_path(str(ROOT / "examples" / "papers" / f"{name}.py"))


def test_a01_pendulum():
    motion = example("pendulum")["main"]()
    expected = REFERENCE["A01"]["reference"]
    assert np.allclose(
        motion.point("bob", (0, 0, 0))[-1, :2], [expected["x"], expected["y"]], atol=1e-9
    )


@pytest.mark.parametrize("case, rtol, tolerance", [(0, 1e-8, 1e-7), (1, 1e-5, 1e-4)])
def test_a02_four_bars_pass_their_singular_positions(case, rtol, tolerance):
    expected = REFERENCE["A02"]["reference"][case]
    motion = example("four_bars")["main"](expected["N"], float(expected["t"]), rtol)
    assert np.allclose(
        motion.point("upright 0", (0.5, 0, 0))[-1, :2], expected["B0"], atol=tolerance
    )
    assert motion.ok and motion.loop_drift < 1e-5


def test_a03_squeezing_mechanism_to_ten_digits():
    e = example("squeezing_mechanism")
    motion = e["main"]()
    expected = REFERENCE["A03"]["reference"]["own_converged"]
    angles = [
        e["START"][name] + motion.coordinate(name)[0][-1]
        for name in REFERENCE["A03"]["angle_names"]
    ]
    rates = [motion.coordinate(name)[1][-1] for name in REFERENCE["A03"]["angle_names"]]
    assert np.allclose(angles, expected["angles"], rtol=0, atol=1e-10)
    assert np.allclose(rates, expected["rates"], rtol=1e-8)
    assert np.allclose(angles, REFERENCE["A03"]["reference"]["published"]["angles"], atol=2e-9)


def test_a03_starts_with_the_published_accelerations():
    from armature import mechanisms as mech

    m = example("squeezing_mechanism")["build"]()
    q, v = mech.assemble(m)
    a = mech.accelerations(m, q, v, torques={"beta": 0.033}).a[-7:]
    expected = REFERENCE["A03"]["initial_state"]["initial_angular_accelerations"]
    assert np.allclose(a, expected, rtol=1e-9, atol=1e-6)


def test_a04_bricard_moves_though_counting_forbids_it():
    motion = example("bricard")["main"]()
    expected = REFERENCE["A04"]["reference"]["xyz"]
    assert np.allclose(motion.point("rod 2", (0, -0.5, 0))[1:], expected, atol=1e-8)
    assert motion.energy_drift < 1e-4
    assert motion.energy_drift < 1e-8


def test_a05_flyball_governor_is_stiff():
    motion = example("flyball_governor")["main"]()
    expected = REFERENCE["A05"]["reference"]
    assert np.allclose(motion.t[1:], expected["t"])
    assert np.allclose(motion.q[1:, 1], expected["s"], atol=1e-7)
    assert np.allclose(motion.q[1:, 2], expected["alpha"], atol=1e-7)
    assert np.allclose(motion.v[1:, 0], expected["omega"], atol=1e-6)


def test_a05_as_a_mechanism_of_bodies_agrees_with_the_tree():
    from armature import mechanisms as mech
    from armature.dynamics import compiled

    e = example("flyball_governor")
    robot, springs = e["build"](), e["springs"]()
    q, v = np.array([0.3, 0.52, 0.45, 0.5]), np.array([5.0, 0.2, -0.3, 0.1])
    total = sum(s.joint_forces(robot.tree, 0.0, q, v) for s in springs)
    expected = compiled.forward_dynamics(robot, q, v, total)
    bodies, offsets = [], {}
    for link in robot.links[1:]:
        pose = compiled.pose(robot, q, link.name)
        J = compiled.jacobian(robot, q, link.name, at=np.array(link.com)) @ v
        offsets[link.name] = np.array(link.com)
        position = tuple(pose.p + pose.R @ np.array(link.com))
        bodies.append(
            mech.Body(
                link.name,
                link.mass,
                link.inertia,
                position,
                pose.R,
                tuple(J[:3]),
                tuple(pose.R.T @ J[3:]),
            )
        )
    joints, motors = [], []
    for joint in robot.joints:
        pose = compiled.pose(robot, q, joint.parent)
        at, axis = (
            pose.p + pose.R @ np.array(joint.position),
            pose.R @ np.array(joint.rotation) @ np.array(joint.axis),
        )
        kind = mech.prismatic if joint.kind == "prismatic" else mech.revolute
        joints.append(
            kind(
                joint.name,
                "ground" if joint.parent == "base" else joint.parent,
                joint.child,
                at,
                axis,
            )
        )
        motors.append(
            mech.Motor(
                f"q {joint.name}", joint.name, "slide" if joint.kind == "prismatic" else "angle"
            )
        )
    shifted = [
        mech.Spring(
            s.a,
            s.b,
            tuple(np.array(s.at_a) - offsets[s.a]),
            tuple(np.array(s.at_b) - offsets[s.b]),
            s.stiffness,
            s.rest_length,
            s.damping,
        )
        for s in springs
    ]
    m = mech.Mechanism("governor", bodies, joints, motors, shifted)
    start = mech.assemble(m)
    assert np.allclose(start[1][-4:], v, atol=1e-12)
    assert np.allclose(mech.accelerations(m, *start).a[-4:], expected, rtol=1e-10)


def test_a02_tighter_tolerances_pass_singular_positions_better():
    """Witness: the mechanism's single equation of motion, integrated by itself."""
    N, T = 2, 3.0
    k = 9.81 * ((N + 1) / 2 + N) / ((N + 1) / 3 + N)
    one = solve_ivp(
        lambda t, x: [x[1], k * np.sin(x[0])],
        (0.0, T),
        [0.0, 1.0],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
    )
    top = [np.sin(one.y[0, -1]), np.cos(one.y[0, -1])]
    runs = [example("four_bars")["main"](N, T, rtol) for rtol in (1e-6, 1e-8, 1e-10)]
    errors = [np.abs(motion.point("upright 0", (0.5, 0, 0))[-1, :2] - top).max() for motion in runs]
    # at loose tolerances errors may cancel by chance: each has a bound of its own, and the tightest
    # is best
    bounds = (1e-4, 1e-6, 1e-9)
    assert all(motion.ok for motion in runs) and all(e < most for e, most in zip(errors, bounds))
    assert errors[2] < min(errors[:2])
    assert runs[2].evaluations < 20 * runs[0].evaluations

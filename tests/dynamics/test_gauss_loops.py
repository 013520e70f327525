"""Closed loops on trees: four-bars cut at different joints, parallelograms, spatial loops; against
the mechanism of free bodies."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from armature import mechanisms as mech
from armature.drive import Drive, Motor
from armature.dynamics import compiled
from armature.dynamics.holonomic.closed_loops import close_loops, loop_forces
from armature.errors import ArgumentError, FileError, RobotError
from armature.robot.load import load
from armature.robot.loop import Loop
from armature.robot.model import Joint, Link, Robot
from armature.simulation import rollout, simulate, traced

Y = (0.0, 1.0, 0.0)
A, B, C, D = (
    np.array(p) for p in ((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (2.0, 0.0, 1.5), (2.0, 0.0, 0.0))
)
INERTIA = (0.01, 0.1, 0.1, 0.0, 0.0, 0.0)


def rod(name: str, start: np.ndarray, end: np.ndarray) -> Link:
    """Frame at its start, axes those of the world at the reference."""
    return Link(name, 1.0, tuple((end - start) / 2), INERTIA)


def four_bar_cut_at_d() -> Robot:
    links = (Link("base"), rod("crank", A, B), rod("coupler", B, C), rod("rocker", C, D))
    joints = (
        Joint("A", "continuous", "base", "crank", tuple(A), axis=Y),
        Joint("B", "continuous", "crank", "coupler", tuple(B - A), axis=Y, passive=True),
        Joint("C", "continuous", "coupler", "rocker", tuple(C - B), axis=Y, passive=True),
    )
    return Robot(
        "cut at D",
        links,
        joints,
        "base",
        loops=(Loop("D", "revolute", "base", "rocker", tuple(D), tuple(D - C), axis=Y),),
    )


def four_bar_cut_at_c() -> Robot:
    links = (Link("base"), rod("crank", A, B), rod("coupler", B, C), rod("rocker", D, C))
    joints = (
        Joint("A", "continuous", "base", "crank", tuple(A), axis=Y),
        Joint("B", "continuous", "crank", "coupler", tuple(B - A), axis=Y, passive=True),
        Joint("D", "continuous", "base", "rocker", tuple(D), axis=Y, passive=True),
    )
    return Robot(
        "cut at C",
        links,
        joints,
        "base",
        loops=(Loop("C", "revolute", "coupler", "rocker", tuple(C - B), tuple(C - D), axis=Y),),
    )


def as_mechanism(robot: Robot, q: np.ndarray, v: np.ndarray) -> mech.Mechanism:
    """The robot's links as free bodies at a state, all joints and loops as couplings, a motor on
    each joint."""
    bodies, couplings, motors = [], [], []
    for link in robot.links[1:]:
        pose, J = (
            compiled.pose(robot, q, link.name),
            compiled.jacobian(robot, q, link.name, at=np.array(link.com)),
        )
        u = J @ v
        bodies.append(
            mech.Body(
                link.name,
                link.mass,
                link.inertia,
                pose.p + pose.R @ link.com,
                pose.R,
                u[:3],
                pose.R.T @ u[3:],
            )
        )
    ground = lambda name: "ground" if name == robot.base else name
    for j in robot.joints:
        pose = compiled.pose(robot, q, j.child)
        kind, coordinate = (
            (mech.prismatic, "slide") if j.kind == "prismatic" else (mech.revolute, "angle")
        )
        couplings.append(
            kind(j.name, ground(j.parent), ground(j.child), pose.p, pose.R @ np.array(j.axis))
        )
        motors.append(mech.Motor(f"s {j.name}", j.name, coordinate))
    for c in robot.loops:
        pose = compiled.pose(robot, q, c.a)
        at, axis = (
            pose.p + pose.R @ np.array(c.position_a),
            pose.R @ np.array(c.rotation_a) @ np.array(c.axis),
        )
        make = {
            "revolute": mech.revolute,
            "spherical": lambda n, a, b, p, e: mech.spherical(n, a, b, p),
            "fixed": lambda n, a, b, p, e: mech.fixed(n, a, b, p),
        }
        couplings.append(make[c.kind](c.name, ground(c.a), ground(c.b), at, axis))
    return mech.Mechanism(robot.name, bodies, couplings, motors)


def closed_state(robot: Robot, crank: float, speed: float) -> tuple[np.ndarray, np.ndarray]:
    q = close_loops(robot, np.array([crank, *np.zeros(robot.n - 1)]))
    from armature.dynamics.holonomic.closed_loops import loop_rows

    G = loop_rows(robot)(q, np.zeros(robot.n))[3]
    v = np.zeros(robot.n)
    v[0] = speed
    v[1:] = -np.linalg.pinv(G[:, 1:], rcond=1e-10) @ (G[:, 0] * speed)
    return q, v


@pytest.mark.parametrize("make", [four_bar_cut_at_c, four_bar_cut_at_d])
@pytest.mark.parametrize("method", ["recursive", "gauss", "gibbs-appell"])
def test_loops_on_a_tree_move_as_the_mechanism_of_free_bodies(make, method):
    robot = make()
    q, v = closed_state(robot, 0.4, 1.5)
    tau = np.array([3.0, 0.0, 0.0])
    m = as_mechanism(robot, q, v)
    expected = mech.accelerations(m, *mech.assemble(m), torques=tau).a[-3:]
    assert np.allclose(
        compiled.forward_dynamics(robot, q, v, tau, method=method), expected, rtol=1e-8, atol=1e-8
    )


def test_reactions_do_not_depend_on_where_the_loop_is_cut():
    one, two = four_bar_cut_at_c(), four_bar_cut_at_d()
    tau = np.array([3.0, 0.0, 0.0])
    (q1, v1), (q2, v2) = closed_state(one, 0.4, 1.5), closed_state(two, 0.4, 1.5)
    at_c, at_d = loop_forces(one, q1, v1, tau)["C"], loop_forces(two, q2, v2, tau)["D"]
    told = mech.reactions(m := as_mechanism(one, q1, v1), *mech.assemble(m), torques=tau)
    # in the plane; the rest is redundant
    assert np.allclose(at_c[[0, 2]], told["C"]["rocker"].force[[0, 2]], rtol=1e-8)
    assert np.allclose(at_d[[0, 2]], told["D"]["rocker"].force[[0, 2]], rtol=1e-8)
    # the crank turns the same way in both
    a1, a2 = (
        compiled.forward_dynamics(r, q, v, tau)[0] for r, q, v in ((one, q1, v1), (two, q2, v2))
    )
    assert a1 == pytest.approx(a2, rel=1e-10)


def test_spatial_loop_with_a_ball_and_a_weld():
    links = (
        Link("base"),
        *(Link(f"l{i}", 1.0 + i, (0.1, 0.05, 0.2), (0.05, 0.06, 0.04, 0, 0, 0)) for i in range(5)),
    )
    axes = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    joints = tuple(
        Joint(
            f"j{i}",
            "continuous",
            "base" if i == 0 else f"l{i - 1}",
            f"l{i}",
            (0.1, 0.2, 0.3),
            axis=axes[i],
        )
        for i in range(5)
    )
    robot = Robot("chain", links, joints, "base")
    q = np.array([0.1, 0.2, -0.3, 0.4, 0.2])
    for kind in ("spherical", "fixed"):
        pose = compiled.pose(robot, q, "l4")
        rotation = tuple(map(tuple, pose.R))
        loop = Loop(
            "end",
            kind,
            "base",
            "l4",
            tuple(pose.p + pose.R @ np.array([0.1, 0, 0])),
            (0.1, 0.0, 0.0),
            rotation,
        )
        closed = robot.with_loops([loop])
        m = as_mechanism(closed, q, np.zeros(5))
        tau = np.array([1.0, 2.0, -1.0, 0.5, 3.0])
        expected = mech.accelerations(m, *mech.assemble(m), torques=tau).a[-5:]
        found = compiled.forward_dynamics(closed, q, np.zeros(5), tau)
        assert np.allclose(found, expected, atol=1e-7 * max(1.0, np.abs(expected).max()))
        if kind == "fixed":
            assert np.allclose(found, 0.0, atol=1e-6)


def test_batches_equal_single_states():
    robot = four_bar_cut_at_d()
    q = close_loops(robot, np.array([[0.1, 0, 0], [0.3, 0, 0], [-0.2, 0.1, 0]]))
    v, tau = np.zeros(3), np.array([2.0, 0, 0])
    batch = compiled.forward_dynamics(robot, q, v, tau)
    assert np.allclose(batch, [compiled.forward_dynamics(robot, x, v, tau) for x in q], rtol=1e-12)


def test_inverse_dynamics_undoes_forward_dynamics():
    robot = four_bar_cut_at_c()
    q, v = closed_state(robot, 0.4, 1.5)
    tau = np.array([3.0, 0.0, 0.0])
    a = compiled.forward_dynamics(robot, q, v, tau)
    assert np.allclose(compiled.inverse_dynamics(robot, q, v, a), tau, atol=1e-8)


def test_derivatives_are_those_of_the_constrained_motion():
    robot = four_bar_cut_at_c()
    q, v = closed_state(robot, 0.4, 1.5)
    tau, h = np.array([3.0, 0.0, 0.0]), 1e-6
    d = compiled.forward_dynamics_derivatives(robot, q, v, tau)
    run = lambda q, v, u: compiled.forward_dynamics(robot, q, v, np.array([u, 0.0, 0.0]))
    assert np.allclose(d.dtau[:, 0], (run(q, v, 3.0 + h) - run(q, v, 3.0 - h)) / (2 * h), atol=1e-6)
    for k, e in enumerate(np.eye(3) * h):
        assert np.allclose(
            d.dq[:, k],
            (run(q + e, v, 3.0) - run(q - e, v, 3.0)) / (2 * h),
            atol=1e-4 * np.abs(d.dq).max(),
        )
        assert np.allclose(
            d.dv[:, k],
            (run(q, v + e, 3.0) - run(q, v - e, 3.0)) / (2 * h),
            atol=1e-4 * np.abs(d.dv).max(),
        )


def parallelogram() -> Robot:
    """A palletiser's upper arm with its parallel bar: the coupler stays level."""
    links = (
        Link("base"),
        Link("arm", 2.0, (0, 0, 0.5), INERTIA),
        Link("bar", 0.5, (0, 0, 0.5), INERTIA),
        Link("coupler", 1.0, (0.15, 0, 0), INERTIA),
    )
    joints = (
        Joint("arm", "continuous", "base", "arm", axis=Y),
        Joint("bar", "continuous", "base", "bar", (0.3, 0, 0), axis=Y, passive=True),
        Joint("coupler", "continuous", "arm", "coupler", (0, 0, 1), axis=Y, passive=True),
    )
    return Robot(
        "parallelogram",
        links,
        joints,
        "base",
        loops=(Loop("pin", "revolute", "coupler", "bar", (0.3, 0, 0), (0, 0, 1), axis=Y),),
    )


def test_parallelogram_equals_the_same_arm_with_mimic_joints():
    from dataclasses import replace

    from armature.robot.model import Mimic

    robot = parallelogram()
    mimics = {"bar": Mimic("arm", 1.0), "coupler": Mimic("arm", -1.0)}
    tied = replace(
        robot,
        loops=(),
        joints=tuple(replace(j, mimic=mimics.get(j.name), passive=False) for j in robot.joints),
    )
    assert robot.joint_names == ("arm", "coupler", "bar")
    q = close_loops(robot, [0.5, -0.4, 0.4])
    assert np.allclose(q, [0.5, -0.5, 0.5], atol=1e-10)
    expected = compiled.forward_dynamics(tied, [0.5], [1.2], [7.0])
    assert np.allclose(
        compiled.forward_dynamics(robot, q, [1.2, -1.2, 1.2], [7.0, 0, 0]),
        expected * [1, -1, 1],
        rtol=1e-9,
    )


@pytest.mark.parametrize("method, step, energy", [("dop853", None, 1e-6), ("rk4", 2e-3, 1e-6)])
def test_simulation_keeps_the_loop_closed_and_the_energy(method, step, energy):
    robot = four_bar_cut_at_d()
    q, v = closed_state(robot, 0.4, 1.5)
    run = simulate(robot, lambda t, q, v: [2.0 * np.sin(3 * t), 0, 0], q, v, 1.0, method, step)
    assert run.ok and run.energy_drift < energy and 0 < run.loop_drift < 1e-6
    ends = compiled.pose(robot, run.q, "rocker")
    assert np.allclose(ends.p + ends.R @ (D - C), D, atol=1e-10)
    if method == "rk4":
        from armature.spatial.numbers import sin

        law = traced(lambda t, q, v: np.array([2.0 * sin(3 * t), 0.0, 0.0], dtype=object))
        fast = rollout(robot, law, np.tile(q, (3, 1)), v, 1.0, step)
        assert np.allclose(fast.q[1], run.q, atol=1e-10) and np.all(fast.loop_drift < 1e-6)


def test_yaml_keeps_loops_and_passive_joints(tmp_path):
    robot = four_bar_cut_at_c()
    robot.save(tmp_path / "four_bar.yaml")
    assert load(tmp_path / "four_bar.yaml") == robot


SIDE = """
loops:
  - {name: pin, kind: revolute, a: coupler, b: bar, at_a: [0.3, 0, 0], axis: y}
passive: [bar, coupler]
"""


def test_side_file_closes_the_loops_of_a_urdf(tmp_path):
    inertia = '<inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    body = (
        '<link name="{0}"><inertial><origin xyz="{1}"/><mass value="{2}"/>'
        + inertia
        + "</inertial></link>"
    )
    joint = (
        '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{0}"/><origin'
        ' xyz="{2}"/><axis xyz="0 1 0"/></joint>'
    )
    text = '<robot name="parallelogram"><link name="base"/>' + "".join(
        body.format(*x)
        for x in (("arm", "0 0 0.5", 2.0), ("bar", "0 0 0.5", 0.5), ("coupler", "0.15 0 0", 1.0))
    )
    text += (
        "".join(
            joint.format(*x)
            for x in (
                ("arm", "base", "0 0 0"),
                ("bar", "base", "0.3 0 0"),
                ("coupler", "arm", "0 0 1"),
            )
        )
        + "</robot>"
    )
    (tmp_path / "arm.urdf").write_text(text)
    (tmp_path / "arm.loops.yaml").write_text(SIDE)
    robot = load(tmp_path / "arm.urdf").with_loops(tmp_path / "arm.loops.yaml")
    assert robot.joint_names == ("arm", "coupler", "bar")
    state = [0.5, -0.5, 0.5], [1.2, -1.2, 1.2], [7.0, 0, 0]
    assert np.allclose(
        compiled.forward_dynamics(robot, *state),
        compiled.forward_dynamics(parallelogram(), *state),
        rtol=1e-10,
    )
    (tmp_path / "bad.yaml").write_text(SIDE.replace("b: bar", "b: nose"))
    with pytest.raises(FileError, match="nose"):
        load(tmp_path / "arm.urdf").with_loops(tmp_path / "bad.yaml")


MJCF = """<mujoco model="four-bar"><option gravity="0 0 -9.81"/><worldbody>
  <body name="crank"><joint name="A" axis="0 1 0"/><inertial pos="0 0 .5" mass="1" diaginertia=".01 .1 .1"/>
    <body name="coupler" pos="0 0 1"><joint name="B" axis="0 1 0"/><inertial pos="1 0 .25" mass="1" diaginertia=".01 .1 .1"/></body></body>
  <body name="rocker" pos="2 0 0"><joint name="D" axis="0 1 0"/><inertial pos="0 0 .75" mass="1" diaginertia=".01 .1 .1"/></body>
  </worldbody><equality><connect name="C" body1="coupler" body2="rocker" anchor="2 0 .5"/></equality>
  <actuator><motor joint="A"/></actuator></mujoco>"""


def test_mjcf_connect_is_a_loop_and_joints_without_actuators_are_passive(tmp_path):
    (tmp_path / "four_bar.xml").write_text(MJCF)
    robot = load(tmp_path / "four_bar.xml")
    assert [(c.name, c.kind, c.a, c.b) for c in robot.loops] == [
        ("C", "spherical", "coupler", "rocker")
    ]
    assert np.allclose(robot.loops[0].position_b, (0, 0, 1.5))
    assert {j.name for j in robot.joints if j.passive} == {"B", "D"}
    mine = four_bar_cut_at_c()
    q, v = closed_state(mine, 0.4, 1.5)
    tau = np.array([3.0, 0.0, 0.0])
    assert robot.joint_names == mine.joint_names
    assert np.allclose(
        compiled.forward_dynamics(robot, q, v, tau),
        compiled.forward_dynamics(mine, q, v, tau),
        rtol=1e-8,
    )


def test_what_cannot_be_is_refused_by_name():
    robot = four_bar_cut_at_d()
    with pytest.raises(ArgumentError, match="joint 'C' is passive"):
        compiled.forward_dynamics(robot, np.zeros(3), np.zeros(3), [0.0, 0.0, 1.0])
    with pytest.raises(ArgumentError, match="joint 'B' is passive"):
        simulate(robot, lambda t, q, v: [0.0, 1.0, 0.0], close_loops(robot, np.zeros(3)), None, 0.1)
    with pytest.raises(ArgumentError, match="loop 'D' is open by"):
        simulate(robot, None, [0.3, 0.0, 0.0], None, 0.1)
    far = robot.with_loops(
        [Loop("far", "spherical", "base", "rocker", (9.0, 0.0, 0.0), tuple(D - C))]
    )
    with pytest.raises(
        RobotError, match=r"loop '(D|far)' of robot 'cut at D' cannot be closed.*residual"
    ):
        close_loops(far, np.zeros(3))
    with pytest.raises(RobotError, match="there is no link 'nose'"):
        robot.with_loops([Loop("x", "fixed", "base", "nose")])
    with pytest.raises(RobotError, match="its kind is 'glue'"):
        Loop("x", "glue", "base", "crank")  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="no joint 'nose'"):
        close_loops(robot, np.zeros(3), hold=["nose"])


def test_palletiser_keeps_its_wrist_level():
    run = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "papers" / "palletiser.py"))
    robot = run["build"]()
    motion = run["main"]()
    assert np.allclose(compiled.pose(robot, motion.q, "wrist").R, np.eye(3), atol=1e-9)
    assert motion.energy_drift < 1e-6 and np.ptp(motion.q[:, 0]) > 0.2


def test_parts_for_open_trees_refuse_loops_and_passive_joints_refuse_drives():
    robot = parallelogram()
    with pytest.raises(RobotError, match=r"closed loops \(pin\), which drives=True does not offer"):
        simulate(robot, None, np.zeros(3), None, 0.1, drives=True)
    with pytest.raises(RobotError, match="joint 'bar' is passive and takes no drive"):
        robot.with_drives({"bar": Drive(Motor(1.0, 1.0))})

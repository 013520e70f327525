"""The same mechanism described in two ways has the same dynamics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given

from armature.dynamics.recursion import energy, kinematics, mass, recursive
from armature.robot.model import Joint, Link, Mimic, Robot, Rotor
from random_robots import (
    ONE_AXIS,
    Sample,
    assert_near,
    few,
    moments,
    random_q,
    random_wrenches,
    robots,
    rotation,
    sample,
    samples,
    unit,
)


def slots(robot: Robot) -> dict[str, tuple[slice, slice]]:
    """Where each named coordinate sits in q and in v."""
    found, q, v = {}, 0, 0
    for name in robot.joint_names:
        nq, nv = (
            (7, 6) if name in {j.name for j in robot.joints if j.kind == "floating"} else (1, 1)
        )
        found[name] = slice(q, q + nq), slice(v, v + nv)
        q, v = q + nq, v + nv
    return found


def six(J: np.ndarray) -> tuple:
    """(xx, yy, zz, xy, xz, yz) of a symmetric matrix."""
    return (*np.diag(J), J[0, 1], J[0, 2], J[1, 2])


def reordered(source: Robot, target: Robot, x: np.ndarray, which: int) -> np.ndarray:
    """q (which = 0) or a velocity-like vector (which = 1) of one robot in the order of another with
    the same joints."""
    here, there = slots(source), slots(target)
    y = np.zeros(x.shape)
    for name in source.joint_names:
        y[there[name][which]] = x[here[name][which]]
    return y


def assert_same_dynamics(s: Sample, other: Robot, wrenches=None, tolerance: float = 1e-11) -> None:
    """The other robot, its joints found by name, gives the same torques, accelerations, mass
    matrix, energy and momentum."""
    q, v, a = (
        reordered(s.robot, other, s.q, 0),
        reordered(s.robot, other, s.v, 1),
        reordered(s.robot, other, s.a, 1),
    )
    back = lambda x: reordered(other, s.robot, x, 1)
    tau = recursive.inverse_dynamics(s.tree, s.q, s.v, s.a, wrenches)
    assert_near(
        back(recursive.inverse_dynamics(other.tree, q, v, a, wrenches)), tau, tolerance, scale=100.0
    )
    M = mass.mass_matrix(s.tree, s.q)
    assert_near(
        np.array(
            [
                back(row)
                for row in np.array([back(row) for row in mass.mass_matrix(other.tree, q)]).T
            ]
        ),
        M,
        tolerance,
    )
    assert_near(
        energy.kinetic_energy(other.tree, q, v), energy.kinetic_energy(s.tree, s.q, s.v), tolerance
    )
    # potential energies may differ by a constant: that of masses which one description counts as
    # part of the world
    elsewhere = random_q(s.robot, s.rng)
    V, V_other = (
        lambda x, tree=tree: energy.potential_energy(tree, x) for tree in (s.tree, other.tree)
    )
    assert_near(
        V_other(q) - V_other(reordered(s.robot, other, elsewhere, 0)), V(s.q) - V(elsewhere), 1e-10
    )
    assert_near(energy.momentum(other.tree, q, v), energy.momentum(s.tree, s.q, s.v), tolerance)
    forward = recursive.forward_dynamics(
        other.tree, q, v, reordered(s.robot, other, tau, 1), wrenches
    )
    assert_near(back(forward), s.a, 1e-13 * np.linalg.cond(M), scale=10.0)


@few
@given(samples())
def test_the_order_in_the_file_does_not_matter(s: Sample):
    links, joints = list(s.robot.links), list(s.robot.joints)
    s.rng.shuffle(links)
    s.rng.shuffle(joints)
    other = Robot("shuffled", tuple(links), tuple(joints), s.robot.base, s.robot.gravity)
    assert_same_dynamics(s, other, random_wrenches(s))
    for link in s.robot.link_names:
        assert_near(
            kinematics.link_pose(other.tree, reordered(s.robot, other, s.q, 0), link).p,
            kinematics.link_pose(s.tree, s.q, link).p,
            1e-14,
        )


@few
@given(samples())
def test_a_link_may_be_split_into_welded_ones(s: Sample):
    """Each link becomes a massless frame that carries two parts in frames of their own; what acts
    on a part acts on the whole."""
    links, joints = [], list(s.robot.joints)
    for link in s.robot.links:
        links.append(Link(link.name))
        for k, share in enumerate((0.3, 0.7)):
            R, p = np.array(rotation(s.rng)), s.rng.normal(size=3)
            xx, yy, zz, xy, xz, yz = (share * x for x in link.inertia)
            J = R.T @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R
            c = tuple(R.T @ (np.array(link.com) - p))
            part = Link(f"{link.name}.{k}", share * link.mass, c, six(J))
            links.append(part)
            joints.append(
                Joint(
                    f"weld {part.name}",
                    "fixed",
                    link.name,
                    part.name,
                    tuple(p),
                    tuple(map(tuple, R)),
                )
            )
    other = Robot("split", tuple(links), tuple(joints), s.robot.base, s.robot.gravity)
    assert_same_dynamics(s, other)
    # a wrench at a part's own origin is felt as Jᵀw of that point
    part = f"{s.rng.choice(s.moving_links)}.1"
    wrench, q = s.rng.normal(size=6), reordered(s.robot, other, s.q, 0)
    zero = np.zeros(other.nv)
    felt = recursive.inverse_dynamics(other.tree, q, zero, zero) - recursive.inverse_dynamics(
        other.tree, q, zero, zero, {part: wrench}
    )
    assert_near(
        felt, kinematics.jacobian(other.tree, q, part, np.zeros(3)).T @ wrench, 1e-11, scale=100.0
    )


@few
@given(samples())
def test_a_payload_is_a_welded_link(s: Sample):
    link, at, m = str(s.rng.choice(s.moving_links)), tuple(s.rng.normal(size=3)), 1.7
    welded = Robot(
        "welded",
        (*s.robot.links, Link("payload", m)),
        (*s.robot.joints, Joint("grip", "fixed", link, "payload", at, rotation(s.rng))),
        s.robot.base,
        s.robot.gravity,
    )
    loaded = s.robot.with_payload(m, at, link)
    assert_same_dynamics(replace(s, robot=loaded), welded)


@few
@given(robots())
def test_a_mimic_robot_is_the_full_robot_projected(robot: Robot):
    """q_full = G q + o: τ = Gᵀτ_full, M = GᵀM_full G, T alike; forward dynamics undoes it."""
    s = sample(robot, 1)
    full = replace(robot, joints=tuple(replace(j, mimic=None) for j in robot.joints))
    G, q = np.zeros((full.nv, robot.nv)), np.zeros(full.nq)
    here, there = slots(robot), slots(full)
    for name, (at_q, at_v) in there.items():
        known = {j.name: j.mimic for j in robot.joints}
        mimic = known.get(name)
        master = here[mimic.joint if mimic else name]
        G[at_v, master[1]] = np.eye(at_v.stop - at_v.start) * (mimic.multiplier if mimic else 1.0)
        q[at_q] = s.q[master[0]] * (mimic.multiplier if mimic else 1.0) + (
            mimic.offset if mimic else 0.0
        )
    wrenches = random_wrenches(s)
    tau = G.T @ recursive.inverse_dynamics(full.tree, q, G @ s.v, G @ s.a, wrenches)
    M = G.T @ mass.mass_matrix(full.tree, q) @ G
    assert_near(
        recursive.inverse_dynamics(s.tree, s.q, s.v, s.a, wrenches), tau, 1e-12, scale=100.0
    )
    assert_near(mass.mass_matrix(s.tree, s.q), M, 1e-12)
    assert_near(
        energy.kinetic_energy(s.tree, s.q, s.v), energy.kinetic_energy(full.tree, q, G @ s.v), 1e-12
    )
    assert_near(
        recursive.forward_dynamics(s.tree, s.q, s.v, tau, wrenches),
        s.a,
        1e-13 * np.linalg.cond(M),
        scale=10.0,
    )


@few
@given(samples())
def test_a_planar_joint_is_three_single_joints(s: Sample):
    """Slide along two axes of the plane, then turn about its normal."""
    normal = np.array(unit(s.rng))
    tool = Link("tool", *moments(s.rng.normal(size=(4, 3)), s.rng.uniform(0.5, 1.0, 4)))
    carrier = str(s.rng.choice(s.robot.link_names))
    joint = Joint(
        "plane",
        "planar",
        carrier,
        "tool",
        tuple(s.rng.normal(size=3)),
        rotation(s.rng),
        tuple(normal),
    )
    planar = Robot(
        "planar", (*s.robot.links, tool), (*s.robot.joints, joint), s.robot.base, s.robot.gravity
    )
    # two axes of the plane, as the planar joint itself chooses them: where its coordinates move the
    # tool's origin
    rest = random_q(planar, np.random.default_rng(0))
    R = kinematics.link_pose(planar.tree, rest, carrier).R @ np.array(joint.rotation)
    at = slots(planar)["plane.x"][1].start
    J = kinematics.jacobian(planar.tree, rest, "tool", np.zeros(3))
    x, y, z = (R.T @ column for column in (J[:3, at], J[:3, at + 1], J[3:, at + 2]))
    assert_near(z, normal, 1e-14)
    assert_near(np.cross(x, y), normal, 1e-13)
    singles = (
        replace(joint, name="plane.x", kind="prismatic", child="a", axis=tuple(x)),
        Joint("plane.y", "prismatic", "a", "b", axis=tuple(y)),
        Joint("plane.angle", "continuous", "b", "tool", axis=tuple(normal)),
    )
    three = Robot(
        "three",
        (*s.robot.links, Link("a"), Link("b"), tool),
        (*s.robot.joints, *singles),
        s.robot.base,
        s.robot.gravity,
    )
    assert_same_dynamics(sample(planar, 3), three)


@few
@given(samples(rotors=("none",), most=4))
def test_a_gyroscopic_rotor_is_a_body_of_its_own_geared_to_the_joint(s: Sample):
    """A rotor given by inertia, ratio and axis against an extra link that turns about that axis on
    the same carrier, coupled by mimic."""
    with_rotors, explicit_links, explicit_joints = [], [], []
    locked = {link.name: link for link in s.robot.links}
    for joint in s.robot.joints:
        if joint.kind not in ONE_AXIS:
            with_rotors.append(joint)
            continue
        # an axisymmetric rotor: d about its axis ε, half of that across; its centre anywhere on the
        # axis
        axis, at, d, m, ratio = (
            np.array(unit(s.rng)),
            s.rng.normal(size=3),
            0.02,
            0.8,
            float(s.rng.uniform(-20, 20)),
        )
        J = d * np.outer(axis, axis) + 0.5 * d * (np.eye(3) - np.outer(axis, axis))
        rotor = Link(f"rotor of {joint.name}", m, inertia=six(J))
        gear = Joint(
            f"gear of {joint.name}",
            "continuous",
            joint.parent,
            rotor.name,
            tuple(at),
            axis=tuple(axis),
        )
        explicit_links.append(rotor)
        explicit_joints.append(replace(gear, mimic=Mimic(joint.name, ratio)))
        with_rotors.append(replace(joint, rotor=Rotor(d, ratio, tuple(axis))))
        locked[joint.parent] = _with_locked(locked[joint.parent], rotor, at)
    rotors = Robot(
        "rotors", tuple(locked.values()), tuple(with_rotors), s.robot.base, s.robot.gravity
    )
    bodies = Robot(
        "bodies",
        (*s.robot.links, *explicit_links),
        (*s.robot.joints, *explicit_joints),
        s.robot.base,
        s.robot.gravity,
    )
    assert_same_dynamics(replace(s, robot=rotors), bodies, random_wrenches(s))


def _with_locked(carrier: Link, rotor: Link, at: np.ndarray) -> Link:
    """The carrier with the rotor locked to it at `at`."""
    from armature.robot.frames import joined

    m, c, J = joined(
        [(carrier.mass, carrier.com, carrier.inertia), (rotor.mass, tuple(at), rotor.inertia)]
    )
    return replace(carrier, mass=m, com=c, inertia=J)

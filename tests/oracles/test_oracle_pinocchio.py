"""Pinocchio's answers on every robot of example-robot-data: poses, Jacobians, inverse and forward
dynamics, mass matrix, bias.

Pinocchio's forward dynamics and derivatives refuse mimic joints, and it cannot build two of the
files with them; so every file is built with all its joints free, and mimics are projected: q_full =
G q + o, τ = Gᵀ τ_full."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest
from robot_files import FILES, INVALID, MOVES_NOTHING, VALID, couplings, indices, robot, state

from armature.dynamics import compiled, kernels
from armature.dynamics.differentiation import derivatives
from armature.dynamics.recursion import kinematics, mass, recursive
from armature.errors import FileError, RobotError
from random_robots import EPS, acceleration_tolerance, assert_near

FLOATING = [
    "anymal_b_simple_description/robots/anymal",
    "solo_description/robots/solo12",
    "icub_description/robots/icub_reduced",
]
CASES = [(name, False) for name in VALID] + [(name, True) for name in FLOATING]


class Pinocchio:
    """Pinocchio's model of a file, spoken to in our coordinates."""

    def __init__(self, name: str, floating: bool):
        self.ours = robot(name, floating)
        path = str(FILES[name])
        self.model = (
            pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer())
            if floating
            else pin.buildModelFromUrdf(path)
        )
        self.data = self.model.createData()
        self.G = np.zeros((self.model.nv, self.ours.nv))
        where = indices(self.ours)
        for joint, master, multiplier, _ in couplings(self.ours):
            v, size = self.model.idx_vs[self.model.getJointId(joint)], where[master][3]
            self.G[v : v + size, where[master][1] : where[master][1] + size] = multiplier * np.eye(
                size
            )

    def q(self, q: np.ndarray) -> np.ndarray:
        """Our coordinates as Pinocchio's: continuous joints are cosine and sine there."""
        full, where = pin.neutral(self.model), indices(self.ours)
        for joint, master, multiplier, offset in couplings(self.ours):
            k, (first, _, size, _) = self.model.getJointId(joint), where[master]
            at = self.model.idx_qs[k]
            if size == 7:
                full[at : at + 7] = q[first : first + 7]
                continue
            s = multiplier * q[first] + offset
            full[at : at + self.model.nqs[k]] = (
                [np.cos(s), np.sin(s)] if self.model.nqs[k] == 2 else [s]
            )
        return full

    def frame(self, link: str) -> int:
        return self.model.getFrameId(link, pin.FrameType.BODY)

    def outside(self, wrenches: dict[str, np.ndarray]) -> pin.StdVec_Force:
        """Wrenches at the links' origins in world axes as forces on the joints in theirs (after
        forward kinematics)."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        for link, w in wrenches.items():
            frame = self.frame(link)
            at_link = pin.SE3(np.eye(3), self.data.oMf[frame].translation)
            joint = self.model.frames[frame].parentJoint
            forces[joint] = forces[joint] + self.data.oMi[joint].actInv(at_link.act(pin.Force(w)))
        return pin.StdVec_Force(forces)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        upper = np.triu(pin.crba(self.model, self.data, self.q(q)))
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G


@cache
def oracle(name: str, floating: bool) -> Pinocchio:
    return Pinocchio(name, floating)


@pytest.mark.parametrize(("name", "floating"), CASES)
def test_kinematics_as_by_pinocchio(name: str, floating: bool):
    """Poses of all links, Jacobians of some."""
    peer = oracle(name, floating)
    tree = peer.ours.tree
    q, _, _ = state(peer.ours)
    pin.computeJointJacobians(peer.model, peer.data, peer.q(q))
    pin.updateFramePlacements(peer.model, peer.data)
    for k, link in enumerate(peer.ours.link_names):
        if not peer.model.existFrame(link, pin.FrameType.BODY):
            assert link in (peer.ours.base, "world")  # Pinocchio calls the ground "universe"
            continue
        pose, theirs = kinematics.link_pose(tree, q, link), peer.data.oMf[peer.frame(link)]
        assert_near(pose.R, theirs.rotation, 1e-13)
        assert_near(pose.p, theirs.translation, 1e-13)
        if k % 7 == 3 and peer.model.nv:  # Pinocchio crashes on Jacobians of a model without joints
            J = (
                pin.getFrameJacobian(
                    peer.model, peer.data, peer.frame(link), pin.LOCAL_WORLD_ALIGNED
                )
                @ peer.G
            )
            assert_near(kinematics.jacobian(tree, q, link, np.zeros(3)), J, 1e-13)


@pytest.mark.parametrize(("name", "floating"), CASES)
def test_inverse_dynamics_mass_matrix_and_bias_as_by_pinocchio(name: str, floating: bool):
    peer = oracle(name, floating)
    tree, G = peer.ours.tree, peer.G
    q, v, a = state(peer.ours)
    tau = G.T @ pin.rnea(peer.model, peer.data, peer.q(q), G @ v, G @ a)
    assert_near(recursive.inverse_dynamics(tree, q, v, a), tau, 1e-12)
    assert_near(
        recursive.bias_forces(tree, q, v),
        G.T @ pin.nonLinearEffects(peer.model, peer.data, peer.q(q), G @ v),
        1e-12,
    )
    assert_near(mass.mass_matrix(tree, q), peer.mass_matrix(q), 1e-12)


@pytest.mark.parametrize(("name", "floating"), CASES)
def test_wrenches_on_links_as_by_pinocchio(name: str, floating: bool):
    """On three links, welded ones among them: what the wrenches change in inverse dynamics, on its
    own scale."""
    peer = oracle(name, floating)
    tree, G = peer.ours.tree, peer.G
    q, v, a = state(peer.ours)
    pin.framesForwardKinematics(peer.model, peer.data, peer.q(q))
    rng = np.random.default_rng(1)
    links = [
        link for link in peer.ours.link_names if peer.model.existFrame(link, pin.FrameType.BODY)
    ]
    wrenches = {
        str(link): rng.normal(size=6)
        for link in [*rng.choice(links, min(2, len(links)), replace=False), links[-1]]
    }
    tau = G.T @ pin.rnea(peer.model, peer.data, peer.q(q), G @ v, G @ a, peer.outside(wrenches))
    assert_near(recursive.inverse_dynamics(tree, q, v, a, wrenches), tau, 1e-12)


@pytest.mark.parametrize(("name", "floating"), CASES)
def test_forward_dynamics_as_by_pinocchio(name: str, floating: bool):
    """Within what rounding may do to M⁻¹: 2 cond(M) eps for each of the two programs."""
    peer = oracle(name, floating)
    tree, G = peer.ours.tree, peer.G
    q, v, a = state(peer.ours)
    if name in MOVES_NOTHING:
        with pytest.raises(RobotError, match=MOVES_NOTHING[name]):
            kernels.check_moves(peer.ours)
        return
    tau = recursive.inverse_dynamics(tree, q, v, a)
    M, bias = (
        peer.mass_matrix(q),
        G.T @ pin.nonLinearEffects(peer.model, peer.data, peer.q(q), G @ v),
    )
    if G.shape[0] == G.shape[1]:
        expected = G.T @ pin.aba(peer.model, peer.data, peer.q(q), G @ v, G @ tau)
    else:
        expected = np.linalg.solve(M, tau - bias)
    error = np.abs(recursive.forward_dynamics(tree, q, v, tau) - expected)
    assert np.all(error <= 4.0 * acceleration_tolerance(M, a, np.abs(tau) + np.abs(bias))), (
        f"{error.max():.3g}"
    )


@pytest.mark.parametrize(("name", "floating"), CASES)
def test_derivatives_as_by_pinocchio(name: str, floating: bool):
    """∂τ/∂q and ∂τ/∂v in the tangent space, and where forward dynamics is defined ∂q̈/∂q, ∂q̈/∂v,
    ∂q̈/∂τ within 2 cond(M) eps for each row that the factorisation passes."""
    peer = oracle(name, floating)
    tree, G = peer.ours.tree, peer.G
    q, v, a = state(peer.ours)
    theirs = pin.computeRNEADerivatives(peer.model, peer.data, peer.q(q), G @ v, G @ a)
    dq, dv = (G.T @ matrix @ G for matrix in theirs[:2])
    M = peer.mass_matrix(q)
    for found, expected in zip(derivatives.inverse(tree, q, v, a), (dq, dv, M)):
        assert_near(found, expected, 1e-12)
    if name in MOVES_NOTHING or not peer.ours.n:
        return
    tau = recursive.inverse_dynamics(tree, q, v, a)
    for found, expected in zip(
        derivatives.forward(tree, q, v, tau), forward_derivatives(peer, q, v, tau, dq, dv, M)
    ):
        assert_near(found, expected, 2.0 * (2 + len(M)) * np.linalg.cond(M) * EPS)


def forward_derivatives(peer: Pinocchio, q, v, tau, dq, dv, M) -> list[np.ndarray]:
    """Pinocchio's own where it has them; with mimic joints ∂q̈ = −M⁻¹∂τ of what it has."""
    G = peer.G
    if G.shape[0] == G.shape[1]:
        theirs = pin.computeABADerivatives(peer.model, peer.data, peer.q(q), G @ v, G @ tau)
        return [
            G.T @ matrix @ G
            for matrix in (*theirs[:2], np.triu(theirs[2]) + np.triu(theirs[2], 1).T)
        ]
    return [-np.linalg.solve(M, dq), -np.linalg.solve(M, dv), np.linalg.inv(M)]


COMPILED = [
    ("ur_description/urdf/ur5_robot", False),
    ("panda_description/urdf/panda", False),  # a mimic joint
    ("kinova_description/robots/kinova", False),  # continuous joints
    ("solo_description/robots/solo12", True),  # a floating base
    ("tiago_description/robots/tiago_dual", False),  # 101 joints: the loop over the links
]


@pytest.mark.parametrize(("name", "floating"), COMPILED)
def test_compiled_functions_as_by_pinocchio(name: str, floating: bool):
    """The public functions, on a batch of three states."""
    peer = oracle(name, floating)
    ours, G = peer.ours, peer.G
    q, v, a = map(np.array, zip(*(state(ours, seed) for seed in range(3))))
    tau = np.array(
        [G.T @ pin.rnea(peer.model, peer.data, peer.q(x), G @ y, G @ z) for x, y, z in zip(q, v, a)]
    )
    assert_near(compiled.inverse_dynamics(ours, q, v, a), tau, 1e-12)
    M = compiled.mass_matrix(ours, q)
    assert_near(M, np.array([peer.mass_matrix(x) for x in q]), 1e-12)
    found = compiled.forward_dynamics(ours, q, v, tau)
    inverse, forward = (
        compiled.inverse_dynamics_derivatives(ours, q, v, a),
        compiled.forward_dynamics_derivatives(ours, q, v, tau),
    )
    for k in range(len(q)):
        assert np.all(
            np.abs(found[k] - a[k])
            <= 4.0 * acceleration_tolerance(M[k], a[k], 2.0 * np.abs(tau[k]) + np.abs(M[k] @ a[k]))
        )
        theirs = pin.computeRNEADerivatives(peer.model, peer.data, peer.q(q[k]), G @ v[k], G @ a[k])
        dq, dv = (G.T @ matrix @ G for matrix in theirs[:2])
        assert_near(inverse.dq[k], dq, 1e-12)
        assert_near(inverse.dv[k], dv, 1e-12)
        for mine, expected in zip(
            forward, forward_derivatives(peer, q[k], v[k], tau[k], dq, dv, M[k])
        ):
            assert_near(mine[k], expected, 2.0 * (2 + ours.n) * np.linalg.cond(M[k]) * EPS)


WITH_MIMIC = [name for name in VALID if any(j.mimic for j in robot(name).joints)]
LATER_MASTER = {
    "romeo_description/urdf/romeo",
    "talos_data/robots/talos_full_v2",
    "talos_data/robots/talos_full_v2_box",
}


@pytest.mark.parametrize("name", WITH_MIMIC)
def test_mimic_joints_as_pinocchios_own(name: str):
    """Pinocchio's own mimic joints, where it can build them: it refuses a master that stands later
    in the file, which we read."""
    ours = robot(name)
    if name in LATER_MASTER:
        with pytest.raises(ValueError, match="mimic joint is not in the kinematic tree"):
            pin.buildModelFromUrdf(str(FILES[name]), mimic=True)
        return
    model = pin.buildModelFromUrdf(str(FILES[name]), mimic=True)
    peer = oracle(name, False)
    q, v, a = state(ours)
    full, order = pin.neutral(model), {}
    for joint in ours.joint_names:
        k, at = model.getJointId(joint), indices(ours)[joint][0]
        size = model.nqs[k]
        full[model.idx_qs[k] : model.idx_qs[k] + size] = (
            [np.cos(q[at]), np.sin(q[at])] if size == 2 else [q[at]]
        )
        order[joint] = model.idx_vs[k]
    theirs = [order[joint] for joint in ours.joint_names]
    there = np.zeros((2, model.nv))
    there[:, theirs] = v, a
    assert model.nv == ours.n and peer.model.nv > model.nv
    assert_near(
        recursive.inverse_dynamics(ours.tree, q, v, a),
        pin.rnea(model, model.createData(), full, *there)[theirs],
        1e-12,
    )


@pytest.mark.parametrize("name", sorted(INVALID))
def test_files_that_are_no_robots_are_refused(name: str):
    with pytest.raises(FileError, match=r"\.urdf:\d+: "):
        robot(name)
    with pytest.raises(ValueError):
        pin.buildModelFromUrdf(str(FILES[name]), mimic=True)


def test_the_collection_is_there():
    assert len(FILES) > 60 and set(FILES) > INVALID and set(MOVES_NOTHING) < set(FILES)

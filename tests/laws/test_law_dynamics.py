"""What every correct dynamics obeys, on random trees: d'Alembert, energy, virtual work, and the two
directions undoing each other."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from armature.dynamics import kernels
from armature.dynamics.differentiation import derivatives
from armature.dynamics.recursion import energy, kinematics, mass, recursive
from random_robots import (
    Sample,
    acceleration_tolerance,
    along,
    assert_near,
    few,
    random_wrenches,
    samples,
)


def link_inertia(s: Sample, name: str) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and moments (3, 3) about it, both in the link's axes."""
    link = s.robot.link(name)
    xx, yy, zz, xy, xz, yz = link.inertia
    return link.mass, np.array(link.com), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def armature_of_plain_rotors(s: Sample) -> np.ndarray:
    """(n,): Σ d (ratio · multiplier)² by coordinate, for rotors without an axis."""
    total = np.zeros(s.robot.nv)
    index = {
        name: k + (5 if s.robot.nq != s.robot.nv and k else 0)
        for k, name in enumerate(s.robot.joint_names)
    }
    for joint in s.robot.joints:
        if joint.rotor is not None:
            multiplier = 1.0 if joint.mimic is None else joint.mimic.multiplier
            master = joint.name if joint.mimic is None else joint.mimic.joint
            total[index[master]] += joint.rotor.inertia * (joint.rotor.ratio * multiplier) ** 2
    return total


@few
@given(samples(rotors=("none", "plain")))
def test_inverse_dynamics_is_dAlembert_over_the_links(s: Sample):
    """τ = Σ Jᵀ(m(a − g), Iω̇ + ω × Iω) over the links as the file gives them, less Jᵀw of what acts
    from outside."""
    wrenches = random_wrenches(s)
    tau = armature_of_plain_rotors(s) * s.a
    for name in s.moving_links:
        m, c, I = link_inertia(s, name)
        R = kinematics.link_pose(s.tree, s.q, name).R
        J = kinematics.jacobian(s.tree, s.q, name, c)
        velocity, acceleration = kinematics.point_motion(s.tree, s.q, s.v, s.a, name, c)
        I, w, dw = R @ I @ R.T, velocity[3:], acceleration[3:]
        tau = (
            tau
            + J[:3].T @ (m * (acceleration[:3] - s.tree.gravity))
            + J[3:].T @ (I @ dw + np.cross(w, I @ w))
        )
    for name, wrench in wrenches.items():
        tau = tau - kinematics.jacobian(s.tree, s.q, name, np.zeros(3)).T @ wrench
    assert_near(
        recursive.inverse_dynamics(s.tree, s.q, s.v, s.a, wrenches), tau, 1e-12, scale=100.0
    )


@few
@given(samples())
def test_inverse_dynamics_is_linear_in_the_accelerations_with_the_mass_matrix(s: Sample):
    M = mass.mass_matrix(s.tree, s.q)
    b = recursive.bias_forces(s.tree, s.q, s.v)
    columns = [recursive.inverse_dynamics(s.tree, s.q, s.v, e) - b for e in np.eye(s.robot.nv)]
    assert_near(np.transpose(columns), M, 1e-12, scale=np.abs(b).max())
    assert_near(recursive.inverse_dynamics(s.tree, s.q, s.v, s.a), M @ s.a + b, 1e-12)


@few
@given(samples())
def test_mass_matrix_is_symmetric_positive_definite_and_gives_the_kinetic_energy(s: Sample):
    M = mass.mass_matrix(s.tree, s.q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0
    assert_near(0.5 * s.v @ M @ s.v, energy.kinetic_energy(s.tree, s.q, s.v), 1e-13)


@few
@given(samples())
def test_forward_after_inverse_dynamics_returns_the_accelerations(s: Sample):
    wrenches = random_wrenches(s)
    kernels.check_moves(s.robot)  # every joint moves something, and is not refused
    tau = recursive.inverse_dynamics(s.tree, s.q, s.v, s.a, wrenches)
    a = recursive.forward_dynamics(s.tree, s.q, s.v, tau, wrenches)
    bias = recursive.inverse_dynamics(s.tree, s.q, s.v, 0.0 * s.a, wrenches)
    M = mass.mass_matrix(s.tree, s.q)
    assert np.all(
        np.abs(a - s.a) <= acceleration_tolerance(M, s.a, np.abs(tau) + np.abs(bias) + 10.0)
    )


@few
@given(samples())
def test_power_equals_energy_rate(s: Sample):
    """τᵀv + Σ wᵀ(velocity of the link) = d/dt (T + V), rotors and gyroscopic couplings included."""
    wrenches = random_wrenches(s)
    tau = recursive.inverse_dynamics(s.tree, s.q, s.v, s.a, wrenches)
    power = tau @ s.v
    for name, wrench in wrenches.items():
        power += wrench @ kinematics.point_motion(s.tree, s.q, s.v, s.a, name, np.zeros(3))[0]
    total = lambda q, v: energy.kinetic_energy(s.tree, q, v) + energy.potential_energy(s.tree, q)
    assert_near(
        power, along(s.robot, total, s.q, s.v, s.a), 1e-12, scale=float(np.abs(tau) @ np.abs(s.v))
    )


@few
@given(samples(kinds=("revolute", "prismatic", "fixed", "planar"), floating=False))
def test_inverse_dynamics_is_Lagranges_equation(s: Sample):
    """τ = d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q with T = ½ vᵀM v, gyroscopic rotors included: the derivatives
    by the complex step."""
    h, n = 1e-30, s.robot.nv
    M = mass.mass_matrix(s.tree, s.q)
    dM = np.array([mass.mass_matrix(s.tree, s.q + 1j * h * e).imag / h for e in np.eye(n)])
    dV = np.array(
        [np.imag(energy.potential_energy(s.tree, s.q + 1j * h * e)) / h for e in np.eye(n)]
    )
    tau = (
        M @ s.a
        + np.einsum("kij,j,k->i", dM, s.v, s.v)
        - 0.5 * np.einsum("ijk,j,k->i", dM, s.v, s.v)
        + dV
    )
    assert_near(recursive.inverse_dynamics(s.tree, s.q, s.v, s.a), tau, 1e-12, scale=100.0)


@few
@given(samples())
def test_a_wrench_enters_as_J_transposed_w_in_both_directions(s: Sample):
    wrenches = random_wrenches(s)
    felt = sum(
        kinematics.jacobian(s.tree, s.q, name, np.zeros(3)).T @ w for name, w in wrenches.items()
    )
    tau = 10.0 * s.rng.normal(size=s.robot.nv)
    assert_near(
        recursive.inverse_dynamics(s.tree, s.q, s.v, s.a)
        - recursive.inverse_dynamics(s.tree, s.q, s.v, s.a, wrenches),
        felt,
        1e-12,
        scale=100.0,
    )
    a, b = (
        recursive.forward_dynamics(s.tree, s.q, s.v, tau, wrenches),
        recursive.forward_dynamics(s.tree, s.q, s.v, tau + felt),
    )
    M = mass.mass_matrix(s.tree, s.q)
    assert np.all(np.abs(a - b) <= acceleration_tolerance(M, a, np.abs(tau) + np.abs(felt) + 100.0))


@few
@given(samples(most=5))
def test_derivatives_are_the_complex_step_of_the_dynamics(s: Sample):
    """∂τ/∂(q, v, a) and ∂q̈/∂(q, v, τ), in the tangent space of q: mimics, rotors, planar joints
    and floating bases included."""
    h, unit = 1e-30, np.eye(s.robot.nv)
    cond = np.linalg.cond(mass.mass_matrix(s.tree, s.q))
    cases = [
        (recursive.inverse_dynamics, derivatives.inverse, 1e-12),
        (recursive.forward_dynamics, derivatives.forward, 1e-14 * cond),
    ]
    for function, gradient, tolerance in cases:
        dq = [along(s.robot, lambda q, f=function: f(s.tree, q, s.v, s.a), s.q, e) for e in unit]
        dv = [np.imag(function(s.tree, s.q, s.v + 1j * h * e, s.a)) / h for e in unit]
        dx = [np.imag(function(s.tree, s.q, s.v, s.a + 1j * h * e)) / h for e in unit]
        for found, expected in zip(gradient(s.tree, s.q, s.v, s.a), (dq, dv, dx)):
            assert_near(found, np.transpose(expected), tolerance, scale=100.0)

"""Armature: least-energy and least-time robot motions that the drives can really do, with the
proof.

    import armature as arm
    robot = arm.load("ur5.urdf")
    tau = arm.inverse_dynamics(robot, q, v, a)      # one state or a batch of thousands

SI units and radians; arrays have the joint axis last, and any leading axes are a batch. What most
people need stands here, the rest in public modules: arm.robot, arm.drive, arm.motion, arm.dynamics,
arm.simulation, arm.optimize, arm.optimal_control, arm.job, arm.study, arm.plot, arm.mechanisms,
arm.kernel, arm.errors. The names are those of `__init__.pyi` (surface.py)."""

from __future__ import annotations

from armature.assembly import assemble
from armature.surface import attach
from armature.version import __version__ as __version__

# public module → names that stood here in 0.1; each works until the next release, with a
# DeprecationWarning that names its place
_MOVED = {
    "drive": (
        "Amplifier Brake Bus Coupling Drive Friction Gear Motor NonRegenerative Regenerative"
        " catalogue"
    ),
    "dynamics": (
        "BaseMotion Beam Configurations Equilibrium Followed JointErrors PathStatus "
        "constrained_dynamics constraint_terms constraints coriolis_matrix drive_effort follow "
        "hand_accuracy inertia_derivatives inverse_dynamics_hessian joint_reactions "
        "kinetic_energy loop_forces potential_energy worst_section_loads"
    ),
    "errors": "ArgumentError ArmatureWarning FileError RobotError",
    "job": "Job SavedPlan load_job load_plan recorded_cost",
    "kernel": "set_threads",
    "motion": "JointPath Path arc joint_path load_recorded load_trajectory load_waypoints screw",
    "optimize": (
        "Baseline Certificate Curve Diagnosis TimeScaling Via Way best_self_motion certify"
        " least_energy_to_pose time_scaling"
    ),
    "robot": "Joint Limits Link Loop Mimic Rotor",
    "simulation": "Perturbations Simulation lqr rollout traced",
    "study": "Line Station Study balance_line load_line load_results load_study run_study",
}

assemble()
attach(__name__, {name: home for home, names in _MOVED.items() for name in names.split()})

"""Armature: least-energy and least-time robot motions that the drives can really do, with the proof.

    import armature as arm
    robot = arm.load("ur5.urdf")
    tau = arm.inverse_dynamics(robot, q, v, a)      # one state or a batch of thousands

SI units and radians; arrays have the joint axis last, and any leading axes are a batch. The names below are the public surface;
each is imported when it is first used, so that `import armature` is quick.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# name → module that defines it (a pair: under another name there; an empty one: the module itself)
_SURFACE: dict[str, str | tuple[str, str]] = {
    # robots
    "Robot": "armature.robot.model",
    "Link": "armature.robot.model",
    "Joint": "armature.robot.model",
    "Limits": "armature.robot.model",
    "Rotor": "armature.robot.model",
    "Mimic": "armature.robot.model",
    "load": "armature.robot.load",
    "library": "armature.robot.library",
    # dynamics
    "forward_dynamics": "armature.dynamics.compiled",
    "inverse_dynamics": "armature.dynamics.compiled",
    "mass_matrix": "armature.dynamics.compiled",
    "bias_forces": "armature.dynamics.compiled",
    "forward_dynamics_derivatives": "armature.dynamics.compiled",
    "inverse_dynamics_derivatives": "armature.dynamics.compiled",
    "kinetic_energy": "armature.dynamics.compiled",
    "potential_energy": "armature.dynamics.compiled",
    "BaseMotion": "armature.dynamics.kernels",
    # kinematics
    "pose": "armature.dynamics.compiled",
    "jacobian": "armature.dynamics.compiled",
    "kinematics": ("armature.dynamics.compiled", "point_kinematics"),
    # motions
    "Trajectory": "armature.motion.trajectory",
    # drives
    "Drive": "armature.drive",
    "Motor": "armature.drive",
    "Gear": "armature.drive",
    "Friction": "armature.drive",
    "Amplifier": "armature.drive",
    "Brake": "armature.drive",
    "Coupling": "armature.drive",
    "Regenerative": "armature.drive",
    "NonRegenerative": "armature.drive",
    "Bus": "armature.drive",
    "catalogue": "armature.drive",
    # simulation
    "Simulation": "armature.simulate.result",
    "close_loops": "armature.dynamics.holonomic.closed_loops",
    "loop_forces": "armature.dynamics.holonomic.closed_loops",
    "Loop": "armature.robot.loop",
    "simulate": "armature.simulate.run",
    "rollout": "armature.simulate.rollout",
    "traced": "armature.simulate.controller",
    "ledger": "armature.simulate.ledger",
    # planning
    "Curve": "armature.optimize.moves.curve",
    "Way": "armature.optimize.moves.ways",
    "Solution": "armature.optimize.certificate.solution",
    "Diagnosis": "armature.optimize.certificate.solution",
    "Baseline": "armature.optimize.certificate.solution",
    "Certificate": "armature.optimize.certificate.certify",
    "Perturbations": "armature.simulate.rehearse",
    "best_self_motion": "armature.optimize.path.redundant",
    "least_energy_to_pose": "armature.optimize.path.redundant",
    "minimize_time": "armature.optimize.moves.least_time",
    "energy_time_curve": "armature.optimize.moves.curve",
    "ways_round": "armature.optimize.moves.ways",
    "improve": "armature.optimize.anytime.improve",
    "rehearse": "armature.simulate.rehearse",
    "FollowPath": "armature.optimize.path.follow_path",
    "Job": "armature.job.job",
    "load_job": "armature.job.job_file",
    "load_plan": "armature.job.saved",
    "SavedPlan": "armature.job.saved",
    "load_recorded": "armature.motion.recorded",
    "recorded_cost": "armature.job.recorded",
    "Move": "armature.optimize.transcription.task",
    "Via": "armature.optimize.transcription.task",
    "minimize_energy": "armature.optimize.moves.least_energy",
    "certify": "armature.optimize.certificate.certify",
    "optimal_control": ("armature.optimal_control", ""),
    # studies
    "Study": "armature.study.spec",
    "run_study": "armature.study.run",
    "load_study": "armature.study.file",
    "Line": "armature.study.line",
    "Station": "armature.study.line",
    "balance_line": "armature.study.line",
    "load_line": "armature.study.line_file",
    "load_results": "armature.study.summary",
    # closed forms, constraints, loads
    "kinematic_derivatives": "armature.dynamics.compiled_closed",
    "coriolis_tensor": "armature.dynamics.compiled_closed",
    "coriolis_matrix": "armature.dynamics.compiled_closed",
    "inertia_derivatives": "armature.dynamics.compiled_closed",
    "inverse_dynamics_hessian": "armature.dynamics.compiled_closed",
    "constrained_dynamics": "armature.dynamics.holonomic.constrained",
    "constraint_terms": "armature.dynamics.holonomic.constrained",
    "constraints": ("armature.dynamics.holonomic.constraints", ""),
    "linearize": "armature.dynamics.holonomic.linear",
    "equilibrium": "armature.dynamics.forces.statics",
    "Equilibrium": "armature.dynamics.forces.statics",
    "section_loads": "armature.dynamics.forces.loads",
    "joint_reactions": "armature.dynamics.forces.loads",
    "worst_section_loads": "armature.dynamics.forces.loads",
    "drive_effort": "armature.dynamics.forces.loads",
    "Beam": "armature.dynamics.forces.beam",
    "JointErrors": "armature.dynamics.positioning.accuracy",
    "hand_accuracy": "armature.dynamics.positioning.accuracy",
    "ConstraintController": "armature.simulate.constraint_controller",
    "Servo": "armature.simulate.servo",
    "lqr": "armature.simulate.lqr",
    # paths and poses
    "inverse_kinematics": "armature.dynamics.positioning.inverse_kinematics",
    "Configurations": "armature.dynamics.positioning.inverse_kinematics",
    "follow": "armature.dynamics.positioning.follow",
    "Followed": "armature.dynamics.positioning.follow",
    "PathStatus": "armature.dynamics.positioning.follow",
    "line": "armature.motion.shapes",
    "circle": "armature.motion.shapes",
    "arc": "armature.motion.shapes",
    "screw": "armature.motion.shapes",
    "polyline": "armature.motion.shapes",
    "spline": "armature.motion.shapes",
    "joint_path": "armature.motion.shapes",
    "Path": "armature.motion.path",
    "JointPath": "armature.motion.path",
    "load_waypoints": "armature.motion.waypoints",
    "load_trajectory": "armature.motion.formats",
    "time_scaling": "armature.optimize.scaling.time_scaling",
    "TimeScaling": "armature.optimize.scaling.time_scaling",
    # the compiler
    "compile": "armature.kernel.kernel",
    "set_threads": "armature.kernel.kernel",
    # what can go wrong
    "ArmatureError": "armature.errors",
    "ArmatureWarning": "armature.errors",
    "ArgumentError": "armature.errors",
    "FileError": "armature.errors",
    "RobotError": "armature.errors",
}

__all__ = [*_SURFACE, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]

if TYPE_CHECKING:
    from armature import optimal_control as optimal_control
    from armature.drive import Amplifier as Amplifier
    from armature.drive import Brake as Brake
    from armature.drive import Bus as Bus
    from armature.drive import Coupling as Coupling
    from armature.drive import Drive as Drive
    from armature.drive import Friction as Friction
    from armature.drive import Gear as Gear
    from armature.drive import Motor as Motor
    from armature.drive import NonRegenerative as NonRegenerative
    from armature.drive import Regenerative as Regenerative
    from armature.drive import catalogue as catalogue
    from armature.dynamics.compiled import bias_forces as bias_forces
    from armature.dynamics.compiled import forward_dynamics as forward_dynamics
    from armature.dynamics.compiled import forward_dynamics_derivatives as forward_dynamics_derivatives
    from armature.dynamics.compiled import inverse_dynamics as inverse_dynamics
    from armature.dynamics.compiled import inverse_dynamics_derivatives as inverse_dynamics_derivatives
    from armature.dynamics.compiled import jacobian as jacobian
    from armature.dynamics.compiled import kinetic_energy as kinetic_energy
    from armature.dynamics.compiled import mass_matrix as mass_matrix
    from armature.dynamics.compiled import point_kinematics as kinematics
    from armature.dynamics.compiled import pose as pose
    from armature.dynamics.compiled import potential_energy as potential_energy
    from armature.dynamics.compiled_closed import coriolis_matrix as coriolis_matrix
    from armature.dynamics.compiled_closed import coriolis_tensor as coriolis_tensor
    from armature.dynamics.compiled_closed import inertia_derivatives as inertia_derivatives
    from armature.dynamics.compiled_closed import inverse_dynamics_hessian as inverse_dynamics_hessian
    from armature.dynamics.compiled_closed import kinematic_derivatives as kinematic_derivatives
    from armature.dynamics.forces.beam import Beam as Beam
    from armature.dynamics.forces.loads import drive_effort as drive_effort
    from armature.dynamics.forces.loads import joint_reactions as joint_reactions
    from armature.dynamics.forces.loads import section_loads as section_loads
    from armature.dynamics.forces.loads import worst_section_loads as worst_section_loads
    from armature.dynamics.forces.statics import Equilibrium as Equilibrium
    from armature.dynamics.forces.statics import equilibrium as equilibrium
    from armature.dynamics.holonomic import constraints as constraints
    from armature.dynamics.holonomic.closed_loops import close_loops as close_loops
    from armature.dynamics.holonomic.closed_loops import loop_forces as loop_forces
    from armature.dynamics.holonomic.constrained import constrained_dynamics as constrained_dynamics
    from armature.dynamics.holonomic.constrained import constraint_terms as constraint_terms
    from armature.dynamics.holonomic.linear import linearize as linearize
    from armature.dynamics.kernels import BaseMotion as BaseMotion
    from armature.dynamics.positioning.accuracy import JointErrors as JointErrors
    from armature.dynamics.positioning.accuracy import hand_accuracy as hand_accuracy
    from armature.dynamics.positioning.follow import Followed as Followed
    from armature.dynamics.positioning.follow import PathStatus as PathStatus
    from armature.dynamics.positioning.follow import follow as follow
    from armature.dynamics.positioning.inverse_kinematics import Configurations as Configurations
    from armature.dynamics.positioning.inverse_kinematics import inverse_kinematics as inverse_kinematics
    from armature.errors import ArgumentError as ArgumentError
    from armature.errors import ArmatureError as ArmatureError
    from armature.errors import ArmatureWarning as ArmatureWarning
    from armature.errors import FileError as FileError
    from armature.errors import RobotError as RobotError
    from armature.job.job import Job as Job
    from armature.job.job_file import load_job as load_job
    from armature.job.recorded import recorded_cost as recorded_cost
    from armature.job.saved import SavedPlan as SavedPlan
    from armature.job.saved import load_plan as load_plan
    from armature.kernel.kernel import compile as compile
    from armature.kernel.kernel import set_threads as set_threads
    from armature.motion.formats import load_trajectory as load_trajectory
    from armature.motion.path import JointPath as JointPath
    from armature.motion.path import Path as Path
    from armature.motion.recorded import load_recorded as load_recorded
    from armature.motion.shapes import arc as arc
    from armature.motion.shapes import circle as circle
    from armature.motion.shapes import joint_path as joint_path
    from armature.motion.shapes import line as line
    from armature.motion.shapes import polyline as polyline
    from armature.motion.shapes import screw as screw
    from armature.motion.shapes import spline as spline
    from armature.motion.trajectory import Trajectory as Trajectory
    from armature.motion.waypoints import load_waypoints as load_waypoints
    from armature.optimize.anytime.improve import improve as improve
    from armature.optimize.certificate.certify import Certificate as Certificate
    from armature.optimize.certificate.certify import certify as certify
    from armature.optimize.certificate.solution import Baseline as Baseline
    from armature.optimize.certificate.solution import Diagnosis as Diagnosis
    from armature.optimize.certificate.solution import Solution as Solution
    from armature.optimize.moves.curve import Curve as Curve
    from armature.optimize.moves.curve import energy_time_curve as energy_time_curve
    from armature.optimize.moves.least_energy import minimize_energy as minimize_energy
    from armature.optimize.moves.least_time import minimize_time as minimize_time
    from armature.optimize.moves.ways import Way as Way
    from armature.optimize.moves.ways import ways_round as ways_round
    from armature.optimize.path.follow_path import FollowPath as FollowPath
    from armature.optimize.path.redundant import best_self_motion as best_self_motion
    from armature.optimize.path.redundant import least_energy_to_pose as least_energy_to_pose
    from armature.optimize.scaling.time_scaling import TimeScaling as TimeScaling
    from armature.optimize.scaling.time_scaling import time_scaling as time_scaling
    from armature.optimize.transcription.task import Move as Move
    from armature.optimize.transcription.task import Via as Via
    from armature.robot.library import library as library
    from armature.robot.load import load as load
    from armature.robot.loop import Loop as Loop
    from armature.robot.model import Joint as Joint
    from armature.robot.model import Limits as Limits
    from armature.robot.model import Link as Link
    from armature.robot.model import Mimic as Mimic
    from armature.robot.model import Robot as Robot
    from armature.robot.model import Rotor as Rotor
    from armature.simulate.constraint_controller import ConstraintController as ConstraintController
    from armature.simulate.controller import traced as traced
    from armature.simulate.ledger import ledger as ledger
    from armature.simulate.lqr import lqr as lqr
    from armature.simulate.rehearse import Perturbations as Perturbations
    from armature.simulate.rehearse import rehearse as rehearse
    from armature.simulate.result import Simulation as Simulation
    from armature.simulate.rollout import rollout as rollout
    from armature.simulate.run import simulate as simulate
    from armature.simulate.servo import Servo as Servo
    from armature.study.file import load_study as load_study
    from armature.study.line import Line as Line
    from armature.study.line import Station as Station
    from armature.study.line import balance_line as balance_line
    from armature.study.line_file import load_line as load_line
    from armature.study.run import run_study as run_study
    from armature.study.spec import Study as Study
    from armature.study.summary import load_results as load_results


def __getattr__(name: str):
    entry = _SURFACE.get(name)
    if entry is None:
        raise AttributeError(f"module 'armature' has no attribute {name!r}")
    module, attribute = entry if isinstance(entry, tuple) else (entry, name)
    found = importlib.import_module(module)
    value = _guarded(name, getattr(found, attribute) if attribute else found)
    globals()[name] = value
    return value


def _guarded(name: str, value: Any) -> Any:
    """A public function or class whose wrong arguments are explained (`arguments.py`)."""
    from armature.arguments import guard, guard_class, guard_module, guard_results

    if isinstance(value, type):
        guard_class(value)
    elif isinstance(value, types.ModuleType):
        guard_module(value)
    elif isinstance(value, types.FunctionType):
        guard_results(value)
        quick = value.__module__.startswith("armature.dynamics.compiled")
        value = guard(value, name, before=not quick)
        value.__module__, value.__qualname__ = __name__, name  # found there by pickle
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Surface(types.ModuleType):
    """The package as a module whose functions are not hidden by a room of the same name (`simulate`)."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _SURFACE and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Surface

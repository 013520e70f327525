"""Motions computed from forces: integrators, controllers, rollouts, and the account of the energy."""

from armature.simulate.controller import Controller, traced
from armature.simulate.result import Simulation, Status
from armature.simulate.rollout import Rollout, rollout
from armature.simulate.run import simulate

__all__ = ["Controller", "Rollout", "Simulation", "Status", "rollout", "simulate", "traced"]

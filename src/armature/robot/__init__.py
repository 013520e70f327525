"""Robots as data: frozen, hashable descriptions, their readers, their checks and a small library."""

from armature.robot.check import Problem, check
from armature.robot.library import library
from armature.robot.load import load
from armature.robot.model import Joint, Limits, Link, Mimic, Robot, Rotor, Visual

__all__ = ["Joint", "Limits", "Link", "Mimic", "Problem", "Robot", "Rotor", "Visual", "check", "library", "load"]

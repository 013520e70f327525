"""Robots as data: frozen, hashable descriptions, their readers, their checks and a small library."""

from armature.robot.model import Joint, Limits, Link, Mimic, Robot, Rotor

__all__ = ["Joint", "Limits", "Link", "Mimic", "Robot", "Rotor"]

"""Drives: the laws of motors, gears, friction and supplies, exact and smooth."""

from armature.drive.friction import Friction

__all__ = ["Friction"]

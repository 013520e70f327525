"""Motions as data: trajectories in time, paths in space, and the files they are kept in."""

from armature.motion.trajectory import Trajectory

__all__ = ["Trajectory"]

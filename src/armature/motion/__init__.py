"""Motions as data: trajectories in time, paths in space, and the files they are kept in."""

from armature.surface import attach

attach(__name__)

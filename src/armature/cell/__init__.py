"""Robot programs, cells of several robots, allocation of tasks to stations, robots on one d.c.
bus."""

from armature.surface import attach

attach(__name__)

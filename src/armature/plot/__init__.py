"""Figures: one call each, one figure a file; they read results and compute nothing of their own.

Figures of a motion take a robot and a trajectory, or a plan (`Solution` or `SavedPlan`) in place of
both."""

from armature.surface import attach

attach(__name__, guarded=False)

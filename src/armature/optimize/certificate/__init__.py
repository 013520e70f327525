"""Limits at every instant of a motion; imports neither the planner nor the solver."""

"""Optimal control of differential equations of one's own: statement, collocation, refinement.
Public as `arm.optimal_control`."""

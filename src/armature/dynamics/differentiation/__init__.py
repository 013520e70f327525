"""Derivatives of the dynamics as plain functions: closed forms and automatic differentiation of
what was traced."""

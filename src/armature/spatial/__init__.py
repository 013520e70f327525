"""Rotations, motion and force vectors, inertias: plain formulas on any number type (float, complex,
symbolic)."""

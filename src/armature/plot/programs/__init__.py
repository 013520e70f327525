"""Figures and pages of programs, cells and lines."""

"""Suboptimal approximations: every iterate can be run (Valášek 1986)."""

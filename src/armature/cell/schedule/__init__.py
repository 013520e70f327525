"""Cells as numbers: the schedule of least energy, proved by a lower bound and simulated."""

"""Cells of programs: robots in one world and one cycle, on one bus."""

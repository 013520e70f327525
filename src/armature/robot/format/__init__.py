"""Armature's own YAML of robots: its quantities and schema, robots written in it; side files with
loops, and MoveIt's limits."""

"""Least energy and least time of a move: starts, searches, curves, ways."""

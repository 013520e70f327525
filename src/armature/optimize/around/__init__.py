"""Moves around obstacles."""

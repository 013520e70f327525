"""Motions that make a robot's parameters as well known as possible."""

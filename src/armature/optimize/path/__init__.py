"""Motions along a given path: phase plane, dynamic programme, redundant arms."""

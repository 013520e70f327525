"""Armature: least-energy and least-time robot motions that the drives can really do, with the proof."""

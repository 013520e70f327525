"""A robot's own numbers from its recordings: inertias, rotors, friction, motor constants.

The public names of the room `identify/`, whose own name at the top is the function.
"""

from armature.surface import attach

attach(__name__)

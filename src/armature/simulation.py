"""Motions computed from forces: `simulate`, rollouts of many, controllers, the energy ledger,
rehearsals.

The public names of the room `simulate/`, whose own name at the top is the function.
"""

from armature.surface import attach

attach(__name__)

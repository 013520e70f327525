"""Motions computed from forces: integrators, controllers, rollouts, and the account of the energy.
Public as `arm.simulation`."""

"""The world around a robot: what its links keep clear of."""

from armature.surface import attach

attach(__name__)

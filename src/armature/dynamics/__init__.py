"""The physics: plain functions on any number type, and (in `compiled`) their compiled, batched,
public forms."""

from armature.surface import attach

attach(__name__)

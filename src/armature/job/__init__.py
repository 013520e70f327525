"""Jobs, their files, saved plans and where they come from."""

from armature.surface import attach

attach(__name__)

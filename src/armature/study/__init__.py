"""Studies: many plans as one table that survives a kill; and lines of stations that share a
cycle."""

from armature.surface import attach

attach(__name__)

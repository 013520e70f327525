"""Robots as data: frozen, hashable descriptions, their readers, their checks and a small
library."""

from armature.surface import attach

attach(__name__)

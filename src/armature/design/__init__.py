"""Design: the drives, dimensions and place of a robot that suit its tasks best. Public names stand
in `__init__.pyi`."""

from armature.surface import attach

attach(__name__)

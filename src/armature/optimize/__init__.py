"""Problems, the interior-point solver, planners and certificates; here the public names of
planning."""

from armature.surface import attach

attach(__name__)

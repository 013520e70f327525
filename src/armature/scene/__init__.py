"""The world around a robot: what its links keep clear of."""

from armature.scene.floor import Floor

__all__ = ["Floor"]

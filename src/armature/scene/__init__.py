"""The world around a robot: what its links keep clear of."""

from armature.scene.floor import Floor
from armature.scene.obstacle import Obstacle
from armature.scene.scene import Scene

__all__ = ["Floor", "Obstacle", "Scene"]

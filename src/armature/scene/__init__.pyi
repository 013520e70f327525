from armature.scene.floor import Floor as Floor
from armature.scene.measure import collisions as collisions
from armature.scene.measure import distance as distance
from armature.scene.obstacle import Obstacle as Obstacle
from armature.scene.scene import Scene as Scene

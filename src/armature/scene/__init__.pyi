from armature.scene.floor import Floor as Floor
from armature.scene.free_path import FreePath as FreePath
from armature.scene.free_path import free_path as free_path
from armature.scene.free_path import free_paths as free_paths
from armature.scene.measure import collisions as collisions
from armature.scene.measure import distance as distance
from armature.scene.obstacle import Obstacle as Obstacle
from armature.scene.scene import Scene as Scene

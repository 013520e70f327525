from armature.scene.floor import Floor as Floor

from armature.__main__ import main as main  # what programs installed before 0.2 call

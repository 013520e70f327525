"""Where the hand can be brought: inverse kinematics, following paths, the workspace, heights above
the floor, accuracy."""

"""Design: what a plan's cost depends on, and the best numbers of a robot for its tasks."""

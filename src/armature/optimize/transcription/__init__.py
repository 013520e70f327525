"""From a task to a problem: steps, drives, limits, starting motions."""

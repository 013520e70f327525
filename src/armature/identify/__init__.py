"""From a recording to a robot: readers of recordings, regressors, estimation, drives and supply,
exciting motions."""

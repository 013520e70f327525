"""Settings for all tests. This file also puts its folder on the path, so that any test can import `random_robots`."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "armature",
    deadline=None,  # the first example may compile
    derandomize=True,  # the same examples on every machine
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)
settings.load_profile("armature")

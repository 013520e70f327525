"""Kernels of these tests are compiled anew: none comes from, or goes into, the user's cache."""

import pytest


@pytest.fixture(scope="session")
def empty_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True)
def own_cache(empty_cache, monkeypatch):
    monkeypatch.setenv("ARMATURE_CACHE", str(empty_cache))

"""Compiled loops are kept in our own cache: without a folder, on a full disk and with damaged files
they run all the same."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from armature.kernel import cache, keep, sources

LOOP = """
import numba
import numpy as np
from armature.kernel.keep import compiled_loop
total = compiled_loop(nogil=True)(numba.njit(lambda x: x.sum()).py_func)
assert total(np.arange(5.0)) == 10.0
print(sum(total._cache_hits.values()))
"""
DYNAMICS = """
import numpy as np
import armature as arm
robot = arm.library("planar2")
tau = arm.inverse_dynamics(robot, np.ones(2), np.zeros(2), np.ones(2))
print(bool(np.isfinite(tau).all()))
import armature.dynamics.bodies.kkt, armature.simulate.run, armature.optimize.moves.least_energy
"""


def run(code: str, *, preexec_fn=None, **environment: str) -> subprocess.CompletedProcess:
    """Run code in a process of its own."""
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=variables,
        preexec_fn=preexec_fn,
        check=False,
        timeout=300,
    )


def answer(result: subprocess.CompletedProcess) -> str:
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "kept"


DAMAGE = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "one bit": lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
    "longer": lambda data: data + b"x",
    "a pickle": lambda data: b"cos\nsystem\n(S'echo harm'\ntR.",
    "zeros": lambda data: bytes(len(data)),
    "text": lambda data: b"no machine code\n" * 50,
}


def total(x):
    s = 0.0
    for v in x:
        s += v
    return s


def hits() -> int:
    """Run a new copy of the loop; how many overloads came from the cache."""
    made = keep.compiled_loop(nogil=True)(total)
    assert made(np.arange(5.0)) == 10.0
    return sum(made._cache_hits.values())


def test_a_damaged_loop_is_compiled_again(folder, monkeypatch):
    monkeypatch.setenv("ARMATURE_CACHE", str(folder))
    assert [hits(), hits()] == [0, 1]
    (path,) = folder.glob("*.kernel")
    whole = path.read_bytes()
    for damage in DAMAGE.values():
        path.write_bytes(damage(whole))
        assert [hits(), hits()] == [0, 1]


def test_a_content_that_cannot_be_rebuilt_is_a_miss(folder, monkeypatch):
    """Whole, and the user's own, but of another program: whatever rebuilding raises, nothing is
    loaded."""
    monkeypatch.setenv("ARMATURE_CACHE", str(folder))

    class Codegen:
        def magic_tuple(self):
            return ()

    class Context:
        refresh = staticmethod(lambda: None)
        codegen = Codegen

    made = keep.LoopCache(sources.names, {})
    for content in (b"", b"not a pickle", b"N.", b"K\x01."):
        cache.write_entry(made.key("sig", Codegen()), {}, content)
        assert made.load_overload("sig", Context()) is None


def test_a_changed_source_is_another_loop(monkeypatch):
    before = sources.digest(sources.gather)
    assert sources.digest(sources.gather) == before
    monkeypatch.setattr(sources, "source_digest", lambda module: "changed")
    assert sources.digest(sources.gather) != before


def test_a_changed_constant_is_another_loop(monkeypatch):
    before = sources.digest(cache.cache_limit)
    monkeypatch.setattr(cache, "DEFAULT_LIMIT", 2 * cache.DEFAULT_LIMIT)
    assert sources.digest(cache.cache_limit) != before


def test_dynamics_and_the_planners_modules_need_no_home(tmp_path):
    """A service account: no folder can be made, in the home or beside the source."""
    nowhere = "/dev/null/home" if os.name == "posix" else str(Path(__file__) / "home")
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), nowhere)
    variables = {**homes, "ARMATURE_CACHE": "", "MPLCONFIGDIR": str(tmp_path)}
    result = run(DYNAMICS, **variables)
    assert answer(result) == "True"
    assert result.stderr.count("compiled code cannot be kept") == 1
    assert "ARMATURE_CACHE" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="limits of a process are POSIX")
def test_a_full_disk_costs_only_speed(folder):
    """No file can grow by a byte in this process."""
    import resource

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    for code, said in ((DYNAMICS, "True"), (LOOP, "0")):
        assert answer(run(code, preexec_fn=fill, ARMATURE_CACHE=str(folder))) == said
    assert list(folder.iterdir()) == []


def test_a_loop_is_compiled_once_whoever_imports_numba_first(folder):
    assert [answer(run(LOOP, ARMATURE_CACHE=str(folder))) for _ in range(2)] == ["0", "1"]

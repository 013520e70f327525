"""Kernels called from compiled loops by their address."""

import subprocess
import sys

import casadi as ca
import numpy as np
from numba import njit

from armature.kernel import compile
from armature.kernel.loops import call


@njit
def euler(address, table, strides, y, rate, step, steps):
    """y ← y + step · f(y), `steps` times; the kernel writes into `rate`."""
    for _ in range(steps):
        call(address, table.ctypes.data, strides.ctypes.data, y.shape[0])
        y += step * rate


def test_a_kernel_runs_inside_a_numba_loop():
    f = compile(lambda y: ca.vertcat(y[1], -ca.sin(y[0])), {"y": 2})
    y = np.random.default_rng(0).uniform(-1, 1, (13, 2))
    expected, rate = y.copy(), np.empty_like(y)
    table, strides = np.array([y.ctypes.data, rate.ctypes.data]), np.array([2, 2])
    euler(f.address, table, strides, y, rate, 0.01, 100)
    for _ in range(100):
        expected += 0.01 * np.stack([expected[:, 1], -np.sin(expected[:, 0])], axis=1)
    np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-14)


CACHED = """
import numpy as np
from numba import njit
from armature.kernel import compile
from armature.kernel.loops import call


@njit(cache=True)
def run(address, table, strides, count):
    call(address, table.ctypes.data, strides.ctypes.data, count)


if __name__ == "__main__":
    f = compile(lambda x: 3 * x, {"x": 2})
    x, y = np.arange(10.0).reshape(5, 2), np.zeros((5, 2))
    run(f.address, np.array([x.ctypes.data, y.ctypes.data]), np.array([2, 2]), 5)
    assert (y == 3 * x).all()
    print(sum(run.stats.cache_hits.values()))
"""


def test_a_cached_numba_function_calls_kernels_of_another_process(tmp_path):
    # the address differs from process to process: the cached code must take it from its argument
    (tmp_path / "looped.py").write_text(CACHED)
    run = lambda: subprocess.run([sys.executable, "looped.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [run().stdout.strip() for _ in range(2)] == ["0", "1"]

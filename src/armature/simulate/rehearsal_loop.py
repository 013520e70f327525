"""The compiled loop of a rehearsal: digital control with delay, noise and saturation around the
perturbed plant."""

from __future__ import annotations

import numpy as np

from armature.kernel.keep import compiled_loop
from armature.kernel.loops import call


@compiled_loop(nogil=True)
def run_loop(
    plant,
    model,
    by_model,
    h,
    late,
    qp,
    vp,
    ap,
    feed,
    kp,
    kd,
    limit,
    noise,
    velocity_noise,
    mass,
    friction,
    q,
    v,
    a,
    tau,
):
    """Steps of h: torques from what was read `late` steps ago, held; classic Runge–Kutta. Arrays
    (K+1, B, n); goals (K+1, n)."""
    K, B, n = q.shape[0] - 1, q.shape[1], q.shape[2]
    table, strides = (
        np.empty(6, dtype=np.int64),
        np.array([n, n, n, mass.shape[1], n, n], dtype=np.int64),
    )
    short, narrow = np.empty(4, dtype=np.int64), np.array([n, n, n, n], dtype=np.int64)
    qs, vs, k2, k3, k4 = (
        np.empty((B, n)),
        np.empty((B, n)),
        np.empty((B, n)),
        np.empty((B, n)),
        np.empty((B, n)),
    )
    for k in range(K + 1):
        seen = max(0, k - late)
        row = min(seen, K - 1)
        for b in range(B):
            for i in range(n):
                # what the encoders said, and the goal of the time when they said it
                position = q[seen, b, i] + noise[row, b, i]
                velocity = v[seen, b, i] + velocity_noise[row, b, i]
                correction = kp[i] * (qp[seen, i] - position) + kd[i] * (vp[seen, i] - velocity)
                if by_model:
                    qs[b, i], vs[b, i], k2[b, i] = position, velocity, ap[k, i] + correction
                else:
                    tau[k, b, i] = feed[k, i] + correction
        if by_model:
            short[0], short[1], short[2], short[3] = (
                qs.ctypes.data,
                vs.ctypes.data,
                k2.ctypes.data,
                tau[k].ctypes.data,
            )
            call(model, short.ctypes.data, narrow.ctypes.data, B)  # type: ignore[call-arg]
        for b in range(B):
            for i in range(n):
                tau[k, b, i] = min(max(tau[k, b, i], -limit[i]), limit[i])
        table[2], table[3], table[4] = tau[k].ctypes.data, mass.ctypes.data, friction.ctypes.data
        table[0], table[1], table[5] = q[k].ctypes.data, v[k].ctypes.data, a[k].ctypes.data
        call(plant, table.ctypes.data, strides.ctypes.data, B)  # type: ignore[call-arg]
        if k == K:
            break
        for b in range(B):
            for i in range(n):
                qs[b, i], vs[b, i] = (
                    q[k, b, i] + 0.5 * h * v[k, b, i],
                    v[k, b, i] + 0.5 * h * a[k, b, i],
                )
        table[0], table[1], table[5] = qs.ctypes.data, vs.ctypes.data, k2.ctypes.data
        call(plant, table.ctypes.data, strides.ctypes.data, B)  # type: ignore[call-arg]
        for b in range(B):
            for i in range(n):
                qs[b, i] = q[k, b, i] + 0.5 * h * v[k, b, i] + 0.25 * h * h * a[k, b, i]
                vs[b, i] = v[k, b, i] + 0.5 * h * k2[b, i]
        table[5] = k3.ctypes.data
        call(plant, table.ctypes.data, strides.ctypes.data, B)  # type: ignore[call-arg]
        for b in range(B):
            for i in range(n):
                qs[b, i] = q[k, b, i] + h * v[k, b, i] + 0.5 * h * h * k2[b, i]
                vs[b, i] = v[k, b, i] + h * k3[b, i]
        table[5] = k4.ctypes.data
        call(plant, table.ctypes.data, strides.ctypes.data, B)  # type: ignore[call-arg]
        for b in range(B):
            for i in range(n):
                q[k + 1, b, i] = (
                    q[k, b, i] + h * v[k, b, i] + h * h / 6 * (a[k, b, i] + k2[b, i] + k3[b, i])
                )
                v[k + 1, b, i] = v[k, b, i] + h / 6 * (
                    a[k, b, i] + 2 * k2[b, i] + 2 * k3[b, i] + k4[b, i]
                )

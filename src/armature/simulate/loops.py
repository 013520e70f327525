"""Compiled loops over time steps around a kernel: the whole batch at once, one kernel call for each
stage.

Arrays of a run: q (K+1, B, nq), v (K+1, B, nv), a and tau (K+1, B, nv), work (K+1, B); row 0 holds
the start.
`layout` (nq,) says where each coordinate's rate comes from: an index of v, or −1 for a floating
base's seven.
`free`: (first index in q, first in v) of a floating base, (−1, −1) without one.
`fix`: address of the kernel that puts a state back on closed loops, 0 without loops; drift (B,):
the largest error it found."""

from __future__ import annotations

import numpy as np

from armature.kernel.keep import compiled_loop
from armature.kernel.loops import call


@compiled_loop(nogil=True)
def rates(q, v, layout, free, out):
    """q̇ (B, nq): v itself, and for a floating base ẋ = R u and the quaternion's rate ½(w ω + ε ×
    ω, −ε·ω)."""
    for b in range(q.shape[0]):
        for i in range(q.shape[1]):
            if layout[i] >= 0:
                out[b, i] = v[b, layout[i]]
        if free[0] >= 0:
            _free_rates(
                q[b, free[0] : free[0] + 7],
                v[b, free[1] : free[1] + 6],
                out[b, free[0] : free[0] + 7],
            )


@compiled_loop(nogil=True)
def _free_rates(q, v, out):
    e = q[3:6]
    w = q[6]
    # R u = u + 2 ε × (ε × u + w u)
    c0, c1, c2 = (
        e[1] * v[2] - e[2] * v[1] + w * v[0],
        e[2] * v[0] - e[0] * v[2] + w * v[1],
        e[0] * v[1] - e[1] * v[0] + w * v[2],
    )
    out[0] = v[0] + 2.0 * (e[1] * c2 - e[2] * c1)
    out[1] = v[1] + 2.0 * (e[2] * c0 - e[0] * c2)
    out[2] = v[2] + 2.0 * (e[0] * c1 - e[1] * c0)
    out[3] = 0.5 * (w * v[3] + e[1] * v[5] - e[2] * v[4])
    out[4] = 0.5 * (w * v[4] + e[2] * v[3] - e[0] * v[5])
    out[5] = 0.5 * (w * v[5] + e[0] * v[4] - e[1] * v[3])
    out[6] = -0.5 * (e[0] * v[3] + e[1] * v[4] + e[2] * v[5])


@compiled_loop(nogil=True)
def normalize(q, free):
    """Unit quaternions again."""
    if free[0] >= 0:
        for b in range(q.shape[0]):
            e = q[b, free[0] + 3 : free[0] + 7]
            e /= np.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])


@compiled_loop(nogil=True)
def _evaluate(address, table, strides, t, q, v, p, a, power, tau):
    """One kernel call for the batch: (t, q, v, p) → (a, power, tau)."""
    table[0] = t.ctypes.data
    table[1] = q.ctypes.data
    table[2] = v.ctypes.data
    table[3] = p.ctypes.data
    table[4] = a.ctypes.data
    table[5] = power.ctypes.data
    table[6] = tau.ctypes.data
    call(address, table.ctypes.data, strides.ctypes.data, q.shape[0])  # type: ignore[call-arg]


@compiled_loop(nogil=True)
def project(address, q, v, drift):
    """One step back to closed loops, in place."""
    if address == 0:
        return
    q_new, v_new, size = np.empty_like(q), np.empty_like(v), np.empty(len(q))
    table = np.array(
        [q.ctypes.data, v.ctypes.data, q_new.ctypes.data, v_new.ctypes.data, size.ctypes.data]
    )
    strides = np.array([q.shape[1], v.shape[1], q.shape[1], v.shape[1], 1])
    call(address, table.ctypes.data, strides.ctypes.data, q.shape[0])  # type: ignore[call-arg]
    q[:] = q_new
    v[:] = v_new
    for b in range(len(q)):
        drift[b] = max(drift[b], size[b])


@compiled_loop(nogil=True)
def rk4(
    address,
    layout,
    free,
    t0,
    h,
    p,
    per_step,
    q,
    v,
    a,
    tau,
    work,
    first,
    count,
    low,
    high,
    fix,
    drift,
):
    """Steps first … first + count − 1 of the classic Runge–Kutta method; p (K or 1, B, m) holds
    over a step; rows low … high."""
    B, nq, nv = high - low, q.shape[2], v.shape[2]
    table = np.empty(7, dtype=np.int64)
    strides = np.array([1, nq, nv, p.shape[2], nv, 1, nv], dtype=np.int64)
    t = np.empty(B)  # one for each row: kernels are fastest on dense rows
    simple = nq == nv
    qs, vs, dq, ks = np.empty((B, nq)), np.empty((B, nv)), np.empty((B, nq)), np.empty((B, nv))
    q_sum, v_sum = np.empty((B, nq)), np.empty((B, nv))
    power, used, w_sum = np.empty(B), np.empty((B, nv)), np.empty(B)
    for k in range(first, first + count):
        u, q0, v0, a0 = (
            p[k if per_step else 0, low:high],
            q[k, low:high],
            v[k, low:high],
            a[k, low:high],
        )
        # k₁ at the knot; its acceleration and torque are the knot's own
        t[:] = t0 + k * h
        _evaluate(address, table, strides, t, q0, v0, u, a0, power, tau[k, low:high])
        if simple:
            dq[:] = v0
        else:
            rates(q0, v0, layout, free, dq)
        for b in range(B):
            for i in range(nq):
                q_sum[b, i] = dq[b, i]
                qs[b, i] = q0[b, i] + 0.5 * h * dq[b, i]
            for i in range(nv):
                v_sum[b, i] = a0[b, i]
                vs[b, i] = v0[b, i] + 0.5 * h * a0[b, i]
            w_sum[b] = power[b]
        # k₂, k₃ at the middle, k₄ at the end
        for stage in range(3):
            t[:] = t0 + (k + (1.0 if stage == 2 else 0.5)) * h
            _evaluate(address, table, strides, t, qs, vs, u, ks, power, used)
            if simple:
                dq[:] = vs
            else:
                rates(qs, vs, layout, free, dq)
            weight = 1.0 if stage == 2 else 2.0
            ahead = h if stage == 1 else 0.5 * h
            for b in range(B):
                for i in range(nq):
                    q_sum[b, i] += weight * dq[b, i]
                    qs[b, i] = q0[b, i] + ahead * dq[b, i]
                for i in range(nv):
                    v_sum[b, i] += weight * ks[b, i]
                    vs[b, i] = v0[b, i] + ahead * ks[b, i]
                w_sum[b] += weight * power[b]
        for b in range(B):
            for i in range(nq):
                q[k + 1, low + b, i] = q0[b, i] + h / 6.0 * q_sum[b, i]
            for i in range(nv):
                v[k + 1, low + b, i] = v0[b, i] + h / 6.0 * v_sum[b, i]
            work[k + 1, low + b] = work[k, low + b] + h / 6.0 * w_sum[b]
        normalize(q[k + 1, low:high], free)
        project(fix, q[k + 1, low:high], v[k + 1, low:high], drift[low:high])


@compiled_loop(nogil=True)
def semi_implicit(
    address,
    layout,
    free,
    t0,
    h,
    p,
    per_step,
    q,
    v,
    a,
    tau,
    work,
    first,
    count,
    low,
    high,
    fix,
    drift,
):
    """Steps of the semi-implicit Euler method: v₊ = v + h a(q, v), q₊ = q + h q̇(q, v₊)."""
    B, nq, nv = high - low, q.shape[2], v.shape[2]
    table = np.empty(7, dtype=np.int64)
    strides = np.array([1, nq, nv, p.shape[2], nv, 1, nv], dtype=np.int64)
    t, power, dq = np.empty(B), np.empty(B), np.empty((B, nq))
    for k in range(first, first + count):
        t[:] = t0 + k * h
        q0, v0 = q[k, low:high], v[k, low:high]
        _evaluate(
            address,
            table,
            strides,
            t,
            q0,
            v0,
            p[k if per_step else 0, low:high],
            a[k, low:high],
            power,
            tau[k, low:high],
        )
        v[k + 1, low:high] = v0 + h * a[k, low:high]
        rates(q0, v[k + 1, low:high], layout, free, dq)
        q[k + 1, low:high] = q0 + h * dq
        normalize(q[k + 1, low:high], free)
        project(fix, q[k + 1, low:high], v[k + 1, low:high], drift[low:high])
        # work at the power of the step's start
        for b in range(B):
            work[k + 1, low + b] = work[k, low + b] + h * power[b]


@compiled_loop(nogil=True)
def knot(address, t0, h, p, per_step, q, v, a, tau, k):
    """Acceleration and torque at knot k alone."""
    nq, nv = q.shape[2], v.shape[2]
    table = np.empty(7, dtype=np.int64)
    strides = np.array([1, nq, nv, p.shape[2], nv, 1, nv], dtype=np.int64)
    t = np.full(q.shape[1], t0 + k * h)
    row = min(k, p.shape[0] - 1) if per_step else 0
    _evaluate(address, table, strides, t, q[k], v[k], p[row], a[k], np.empty(q.shape[1]), tau[k])


METHODS = {"rk4": rk4, "semi-implicit": semi_implicit}

"""Long mechanisms: the same steps as `recursive`, traced once for each type of joint, in a compiled
loop over the links.

Unrolled code for hundreds of links would be long to compile; here the link's numbers are inputs of
the step's kernel. A recursion is a list of passes; a pass reads and writes slots: "params" (the
link's numbers), "q", "v", "x" and "out" (the user's arrays), and named work arrays of the link
itself ("total") or of its parent ("^total"). Laid out for one block of states, all passes over all
links are one list of kernel calls, which a Numba loop runs for one block after another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from armature.dynamics.recursion import recursive as rec
from armature.dynamics.recursion.kinematics import placement
from armature.errors import ArgumentError
from armature.kernel import Kernel
from armature.kernel.keep import compiled_loop
from armature.kernel.kernel import compiled
from armature.kernel.loops import call
from armature.kernel.symbol import from_casadi_column, to_casadi
from armature.kernel.trace import Shape, trace
from armature.memo import memo
from armature.robot.model import Robot
from armature.robot.tree import Body, Tree
from armature.spatial.inertia import Blocks
from armature.spatial.vectors import Array, pack

MANY = 40  # bodies above which the loop is used
WORK = 1 << 19  # bytes of work arrays that a block of states may fill
PARAMS = 27  # R 9, p 3, mass, h 3, J 6, rotor, ratio, rotor axis 3


def applies(tree: Tree) -> bool:
    """Long mechanisms whose bodies all have coordinates of their own."""
    return len(tree.bodies) > MANY and not tree.has_mimic


# the steps on flat arrays ------------------------------------------------------------------------


def parameters(body: Body) -> Array:
    """The numbers of a link that its steps use, (PARAMS,)."""
    J = body.inertia
    moments = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return np.array(
        [
            *body.R.flat,
            *body.p,
            body.mass,
            *body.first_moment,
            *moments,
            body.rotor,
            body.ratio,
            *body.rotor_axis,
        ]
    )


def symbolic(body: Body, x: Array) -> Body:
    """A body of the same joint type whose numbers are symbols; its coordinates are the first of q,
    v and x."""
    xx, yy, zz, xy, xz, yz = x[16:22]
    J = pack([xx, xy, xz, xy, yy, yz, xz, yz, zz], (3, 3))
    spin = x[24:27] if body.rotor_axis.any() else np.zeros(3)
    rotor, ratio = (x[22], x[23]) if body.rotor else (0.0, 1.0)
    return replace(
        body,
        R=x[:9].reshape(3, 3),
        p=x[9:12],
        mass=x[12],
        first_moment=x[13:16],
        inertia=J,
        rotor=rotor,
        ratio=ratio,
        rotor_axis=spin,
        q=0,
        v=0,
    )


def joint_type(body: Body) -> str:
    """Bodies of one type share their kernels."""
    return (
        f"{body.kind} {body.axis.tolist()} rotor {bool(body.rotor)} gyroscopic"
        f" {bool(body.rotor and body.rotor_axis.any())}"
    )


def _flat(*parts: Any) -> Array:
    return np.concatenate([np.ravel(np.asarray(p, dtype=object)) for p in parts])


def _pack_cost(c: rec.CostToGo) -> Array:
    upper = lambda S: [S[0, 0], S[0, 1], S[0, 2], S[1, 1], S[1, 2], S[2, 2]]
    return _flat(upper(c.P.A), c.P.B, upper(c.P.C), c.r_lin, c.r_ang)


def _unpack_cost(x: Array) -> rec.CostToGo:
    full = lambda s: pack([s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5]], (3, 3))
    return rec.CostToGo(
        Blocks(full(x[:6]), x[6:15].reshape(3, 3), full(x[15:21])), x[21:24], x[24:27]
    )


def _three(x: Array) -> tuple[Array, Array, Array]:
    return x[:3], x[3:6], x[6:9]


def _spin_step(
    body: Body, q: Array, v: Array, a: Array, parent: Array, outside: Array | None = None
) -> tuple[Array, Array]:
    spin = rec.spin_step(body, placement(body, q), rec.Spin(*_three(parent)), v, a)
    own = rec.newton_euler(
        body, spin, None if outside is None else rec.Wrench(outside[:3], outside[3:])
    )
    return _flat(*spin), _flat(*own)


def _force_step(
    body: Body, q: Array, v: Array, a: Array, carrier: Array, total: Array, above: Array
) -> tuple[Array, Array]:
    efforts, passed = rec.force_step(
        body, placement(body, q), rec.Spin(*_three(carrier)), rec.Wrench(total[:3], total[3:]), v, a
    )
    return pack(efforts), above + _flat(*passed)


def _carry_step(
    body: Body, q: Array, v: Array, parent: Array, outside: Array | None = None
) -> tuple[Array, Array]:
    c = rec.carry(body, placement(body, q), rec.Carried(*_three(parent)), v)
    return _flat(*c), _pack_cost(
        rec.own_cost(body, c, None if outside is None else rec.Wrench(outside[:3], outside[3:]))
    )


def _eliminate_step(
    body: Body,
    q: Array,
    v: Array,
    tau: Array,
    own: Array,
    parent: Array,
    total: Array,
    above: Array,
) -> tuple[Array, Array]:
    c = rec.Carried(*_three(own))
    passed, kept = rec.eliminate(
        body, placement(body, q), c, parent[:3], _unpack_cost(total), v, tau
    )
    if passed is None or isinstance(kept, rec.Acceleration):
        return _flat(*kept[:2], 0.0, 0.0), above
    return _flat(kept.c_lin, kept.c_ang, kept.D, kept.e), above + _pack_cost(passed)


def _release_step(
    body: Body, q: Array, own: Array, kept: Array, parent: Array
) -> tuple[Array, Array]:
    sign = float(np.sum(body.axis))
    free = body.kind == "free"
    known = (
        rec.Acceleration(kept[:3], kept[3:6])
        if free
        else rec.Elimination(sign, kept[:3], kept[3:6], kept[6], kept[7])
    )
    qdd, acc = rec.release(
        body,
        placement(body, q),
        rec.Carried(*_three(own)),
        known,
        rec.Acceleration(parent[:3], parent[3:]),
    )
    return pack(qdd), _flat(*acc)


def _turn_step(body: Body, q: Array, parent: Array) -> tuple[Array]:
    return (np.ravel(parent.reshape(3, 3) @ placement(body, q).matrix()),)


@dataclass(frozen=True)
class Pass:
    """One sweep: its step, the slots it reads and writes, and its direction."""

    step: Callable[..., tuple]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    outwards: bool = True


SIZES = {
    "spin": 9,
    "wrench": 6,
    "carried": 9,
    "cost": 27,
    "kept": 8,
    "acc": 6,
    "turn": 9,
    "outside": 6,
}
PASSES = {
    "inverse_dynamics": (
        Pass(_spin_step, ("q", "v", "x", "^spin"), ("spin", "wrench")),
        Pass(
            _force_step,
            ("q", "v", "x", "^spin", "wrench", "^wrench"),
            ("out", "^wrench"),
            outwards=False,
        ),
    ),
    "forward_dynamics": (
        Pass(_carry_step, ("q", "v", "^carried"), ("carried", "cost")),
        Pass(
            _eliminate_step,
            ("q", "v", "x", "carried", "^carried", "cost", "^cost"),
            ("kept", "^cost"),
            outwards=False,
        ),
        Pass(_release_step, ("q", "carried", "kept", "^acc"), ("out", "acc")),
    ),
    "turns": (Pass(_turn_step, ("q", "^turn"), ("turn",)),),
}


def step_kernel(sweep: Pass, body: Body, outside: bool, tangent: bool, source: str) -> Kernel:
    """The kernel of a pass for one type of joint; with tangents, every slot holds its values and
    then their directional derivative."""
    user = (
        {"q": 7, "v": 6, "x": 6, "out": 6}
        if body.kind == "free"
        else {"q": 1, "v": 1, "x": 1, "out": 1}
    )
    reads = (*sweep.reads, "outside") if outside else sweep.reads
    sizes = [(user | SIZES)[s.lstrip("^")] * (2 if tangent else 1) for s in reads]
    inputs: Mapping[str, Shape | int] = {"params": PARAMS} | dict(zip(reads, sizes))
    step = lambda x, *rest: sweep.step(symbolic(body, x), *rest)
    run = (lambda x, *rest: along(lambda *values: step(x, *values), rest)) if tangent else step
    key = f"link step {sweep.step.__name__} {joint_type(body)} {outside} {tangent} {source}"
    return compiled(key, lambda: trace(run, inputs, name=f"{sweep.step.__name__} {body.kind}"))


def along(step: Callable[..., tuple], pairs: Sequence[Array]) -> list[Array]:
    """A step on (values, tangents): the results, each followed by its directional derivative."""
    values, seeds = [p[: len(p) // 2] for p in pairs], [p[len(p) // 2 :] for p in pairs]
    at, direction = to_casadi(np.concatenate(values)), to_casadi(np.concatenate(seeds))
    results = []
    for result in step(*values):
        slope = ca.jtimes(to_casadi(result), at, direction)
        results.append(
            np.concatenate(
                [np.asarray(result, dtype=object), from_casadi_column(slope, (len(result),))]
            )
        )
    return results


# the list of calls -------------------------------------------------------------------------------


class Program:
    """All passes of a recursion over all links, laid out for one block of states.

    addresses (calls,): kernels.  tables (calls, slots): where the first row of each slot is; for
    the user's arrays the offset in doubles within a row.  strides (calls, slots): doubles between
    rows.  owner (calls, slots): which user array a slot belongs to (0 q, 1 v, 2 x, 3 out, 4 + k:
    outside wrench k), or −1 for work arrays."""

    def __init__(self, tree: Tree, name: str, pushed: Sequence[int], tangent: bool, source: str):
        passes = PASSES[name]
        self.pushed = list(pushed)
        self.tangent = tangent
        self.double = 2 if tangent else 1  # numbers in a slot for each value
        slots = {s.lstrip("^") for p in passes for s in (*p.reads, *p.writes)} & SIZES.keys()
        per_state = sum(SIZES[s] for s in slots) * self.double * len(tree.bodies) * 8
        self.rows = int(np.clip(WORK // per_state // 8 * 8, 8, 64))
        self.params = np.array([parameters(b) for b in tree.bodies])
        self.work = {
            s: np.zeros((len(tree.bodies), self.rows, SIZES[s] * self.double)) for s in slots
        }
        self.base = {s: np.zeros((self.rows, SIZES[s] * self.double)) for s in slots}
        self.kernels: dict[str, Kernel] = {}
        calls = []
        for sweep in passes:
            order = (
                range(len(tree.bodies)) if sweep.outwards else range(len(tree.bodies) - 1, -1, -1)
            )
            calls += [self._call(tree, sweep, i, source) for i in order]
        self.addresses = np.array([c[0] for c in calls], dtype=np.int64)
        width = max(len(c[1]) for c in calls)
        padded = lambda k: np.array(
            [c[k] + [0] * (width - len(c[k])) for c in calls], dtype=np.int64
        )
        self.tables, self.strides, self.owner = padded(1), padded(2), padded(3)

    def _call(
        self, tree: Tree, sweep: Pass, i: int, source: str
    ) -> tuple[int, list[int], list[int], list[int]]:
        body = tree.bodies[i]
        push = (
            self.pushed.index(i)
            if i in self.pushed and "^" + sweep.writes[0] in sweep.reads
            else -1
        )
        name = f"{sweep.step.__name__} {joint_type(body)} {push >= 0}"
        if name not in self.kernels:
            self.kernels[name] = step_kernel(sweep, body, push >= 0, self.tangent, source)
        pointers, strides, owner = [self.params[i].ctypes.data], [0], [-1]
        for slot in (*sweep.reads, *(("outside",) if push >= 0 else ()), *sweep.writes):
            where, step, array = self._slot(tree, slot, body, i, push)
            pointers.append(where)
            strides.append(step)
            owner.append(array)
        return self.kernels[name].address, pointers, strides, owner

    def _slot(self, tree: Tree, slot: str, body: Body, i: int, push: int) -> tuple[int, int, int]:
        """(address or offset, stride, owner) of one slot of a call."""
        user = {
            "q": (body.q, tree.nq, 0),
            "v": (body.v, tree.nv, 1),
            "x": (body.v, tree.nv, 2),
            "out": (body.v, tree.nv, 3),
        }
        if slot in user:
            offset, size, owner = user[slot]
            return offset * self.double, size * self.double, owner
        if slot == "outside" and push >= 0:
            return 0, 6 * self.double, 4 + push
        if slot.startswith("^"):
            slot, i = slot[1:], body.parent
        array = self.work[slot][i] if i >= 0 else self.base[slot]
        return array.ctypes.data, array.shape[-1], -1

    def run(self, arrays: list[np.ndarray], count: int) -> None:
        """Run over all rows of the user's arrays (q, v, x, out, outside wrenches); each
        C-contiguous."""
        starts = np.array([a.ctypes.data for a in arrays], dtype=np.int64)
        run_blocks(self.addresses, self.tables, self.strides, self.owner, starts, self.rows, count)


@compiled_loop(nogil=True)
def run_blocks(addresses, tables, strides, owner, starts, rows, count):
    """Every call of the program for one block of states after another."""
    calls, slots = tables.shape
    row_table = np.empty(slots, dtype=np.int64)
    row_strides = np.empty(slots, dtype=np.int64)
    for first in range(0, count, rows):
        number = min(rows, count - first)
        for c in range(calls):
            for s in range(slots):
                row_strides[s] = strides[c, s]
                k = owner[c, s]
                row_table[s] = (
                    tables[c, s]
                    if k < 0
                    else starts[k] + 8 * (tables[c, s] + first * strides[c, s])
                )
            call(addresses[c], row_table.ctypes.data, row_strides.ctypes.data, number)  # type: ignore[call-arg]


# the public functions' side ----------------------------------------------------------------------


def program_of(
    robot: Robot, name: str, source: str, pushed: tuple[int, ...] = (), tangent: bool = False
) -> Program:
    """The program of a robot, made once for each thread (its work arrays serve one caller at a
    time)."""
    store = memo(robot, "programs")
    key = (name, pushed, tangent, threading.get_ident())
    if key not in store:
        store[key] = Program(robot.tree, name, pushed, tangent, source)
    return store[key]


def run(
    robot: Robot,
    name: str,
    source: str,
    q: Any,
    v: Any,
    x: Any,
    wrenches: Mapping[str, Any] | None,
    gravity: bool = True,
) -> np.ndarray:
    """Inverse or forward dynamics of a long robot on batches; the arguments of the public
    functions."""
    tree = robot.tree
    links = list(wrenches or ())
    arguments = {"q": (q, tree.nq), "v": (v, tree.nv), "x": (x, tree.nv)}
    arguments |= {link: (wrench, 6) for link, wrench in (wrenches or {}).items()}
    batch, (q, v, x, *outside) = rows_of(arguments)
    count = len(q)
    pushed: dict[int, np.ndarray] = {}
    if links:
        turns = body_turns(robot, q, source)
        for link, w in zip(links, outside):
            frame = tree.frames[link]
            if frame.body >= 0:
                # into the body's axes, about the body's origin
                R = turns[:, frame.body]
                f, n = np.einsum("rji,rj->ri", R, w[:, :3]), np.einsum("rji,rj->ri", R, w[:, 3:])
                here = np.concatenate([f, n + np.cross(frame.p, f)], axis=1)
                pushed[frame.body] = pushed.get(frame.body, 0.0) + here
    program = program_of(robot, name, source, tuple(pushed))
    up = -tree.gravity if gravity else np.zeros(3)
    for slot, entries in (("spin", slice(6, 9)), ("acc", slice(0, 3))):
        if slot in program.base:
            program.base[slot][:, entries] = up
    out = np.empty((count, tree.nv))
    if count:
        program.run([q, v, x, out, *(np.ascontiguousarray(w) for w in pushed.values())], count)
    return out.reshape((*batch, tree.nv))


def body_turns(robot: Robot, q: np.ndarray, source: str) -> np.ndarray:
    """Orientation of every body in the world, (rows, bodies, 3, 3)."""
    program = program_of(robot, "turns", source)
    program.base["turn"][:] = np.eye(3).ravel()
    found = np.empty((len(q), len(robot.tree.bodies), 9))
    for first in range(0, len(q), program.rows):
        block = q[first : first + program.rows]
        program.run([block, block, block, block], len(block))
        found[first : first + len(block)] = program.work["turn"][:, : len(block)].transpose(1, 0, 2)
    return found.reshape(len(q), -1, 3, 3)


def rows_of(arguments: dict[str, tuple[Any, int]]) -> tuple[tuple[int, ...], list[np.ndarray]]:
    """Broadcast leading axes and lay out rows: (batch shape, arrays of shape (rows, size))."""
    arrays = {}
    for name, (value, size) in arguments.items():
        array = np.asarray(value, dtype=float)
        if array.ndim == 0 or array.shape[-1] != size:
            raise ArgumentError(f"{name} has shape {array.shape}; expected (..., {size})")
        arrays[name] = array
    try:
        batch = np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ArgumentError(f"the leading axes do not broadcast: {shapes}") from None
    return batch, [
        np.ascontiguousarray(np.broadcast_to(a, (*batch, a.shape[-1])).reshape(-1, a.shape[-1]))
        for a in arrays.values()
    ]


def mass_matrix(robot: Robot, q: Any, source: str) -> np.ndarray:
    """M (..., n, n): one inverse dynamics, without gravity and velocity, for each unit
    acceleration."""
    n = robot.nv
    q = np.asarray(q, dtype=float)
    columns = run(
        robot,
        "inverse_dynamics",
        source,
        q[..., None, :],
        np.zeros(n),
        np.eye(n),
        None,
        gravity=False,
    )
    return (columns + np.swapaxes(columns, -1, -2)) / 2


def pivots(robot: Robot, q: np.ndarray, source: str) -> list[tuple[str, float, float]]:
    """(joint, D = BᵀPB of the recursion, the largest of them): D is zero where a joint moves no
    mass or inertia."""
    run(robot, "forward_dynamics", source, q, np.zeros(robot.nv), np.zeros(robot.nv), None)
    D = program_of(robot, "forward_dynamics", source).work["kept"][:, 0, 6]
    bodies = [(i, b) for i, b in enumerate(robot.tree.bodies) if b.kind != "free"]
    return [
        (b.name, float(D[i]), float(np.max(np.abs(b.inertia)) + b.mass * 1e-6)) for i, b in bodies
    ]

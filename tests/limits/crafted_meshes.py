"""Mesh files made to do harm."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable, Iterator
from pathlib import Path


def meshes() -> Iterator[tuple[str, str, Callable[[Path], None], str]]:
    put = lambda data: lambda p: p.write_bytes(data() if callable(data) else data)
    stl = lambda count, facets: bytes(80) + struct.pack("<I", count) + bytes(50 * facets)
    yield "mesh header of 4 billion", "a.stl", put(stl(2**32 - 1, 2)), "mesh"
    yield "mesh header without triangles", "a.stl", put(stl(0, 3)), "mesh"
    yield "mesh of too many triangles", "a.stl", put(lambda: stl(1_200_000, 1_200_000)), "mesh"
    yield (
        "mesh not finite",
        "a.stl",
        put(stl(1, 0) + struct.pack("<12fH", *[float("nan")] * 12, 0)),
        "mesh",
    )
    yield "mesh cut", "a.stl", put(b"solid x"), "mesh"
    yield "mesh vertex of words", "a.stl", put(b"solid x\nvertex a b c\n"), "mesh"
    yield "mesh of points", "a.obj", put(lambda: b"v 0 0 0\n" * 4_000_000), "mesh"
    yield "mesh of blanks", "a.obj", put(lambda: b" " * 16_000_000 + b"\n" * 16_000_000), "mesh"
    yield "mesh of one long line", "a.obj", put(lambda: b"v " + b"9" * 32_000_000), "mesh"
    yield "mesh face of nothing", "a.obj", put(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"), "mesh"
    yield "mesh face of digits", "a.obj", put(b"v 0 0 0\nf 1 2 " + b"9" * 3900 + b"\n"), "mesh"
    yield (
        "mesh entities",
        "a.dae",
        put(b'<!DOCTYPE a [<!ENTITY b "bbb">]><COLLADA>&b;</COLLADA>'),
        "mesh",
    )
    accessor = {"componentType": 5126, "count": 10**9, "type": "VEC3"}
    primitive = {"attributes": {"POSITION": 0}, "indices": 0}
    scene = {
        "asset": {"version": "2.0"},
        "accessors": [accessor],
        "meshes": [{"primitives": [primitive]}],
        "nodes": [{"mesh": 0}],
    }
    text = json.dumps({**scene, "scenes": [{"nodes": [0]}], "scene": 0}).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(text)) + struct.pack(
        "<I4s", len(text), b"JSON"
    )
    yield "mesh of a billion", "a.glb", put(head + text), "mesh"
    ply = (
        b"ply\nformat binary_little_endian 1.0\nelement vertex 999999999999\nproperty float"
        b" x\nend_header\n"
    )
    yield "mesh header of a trillion", "a.ply", put(ply + bytes(100)), "mesh"
    yield "mesh counts", "a.off", put(b"OFF\n999999999 999999999 0\n0 0 0\n"), "mesh"
    yield "mesh pipe", "a.stl", os.mkfifo, "mesh"
    yield "mesh device", "a.obj", lambda p: p.symlink_to("/dev/zero"), "mesh"
    yield "mesh endless", "a.dae", lambda p: p.open("wb").truncate(2**41) and None, "mesh"

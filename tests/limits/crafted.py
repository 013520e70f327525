"""Files made to do harm: bombs, endless and absurd values, pipes and devices; and the readers that
each is given to.

Run as a program it reads all of them, one after the other, and prints what came of each: {name:
[words, seconds of a processor, megabytes]}. The words are empty where a reader took the file.
"""

from __future__ import annotations

import json
import os
import sqlite3
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from crafted_meshes import meshes

Case = tuple[
    str, str, Callable[[Path], None], str
]  # name, file, what writes it, reader (of READERS)
TRAJECTORY = {
    "format": "armature trajectory",
    "version": 1,
    "interpolation": "hermite",
    "joint_names": ["a"],
}
READERS: dict[str, Callable[[Path], Any]] = {}


def reader(function: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Register a way in by its name."""
    READERS[function.__name__] = function
    return function


@reader
def robot(path: Path) -> Any:
    import armature as arm

    return arm.load(path)


@reader
def motion(path: Path) -> Any:
    import armature as arm

    return arm.motion.load_trajectory(path)


@reader
def recorded(path: Path) -> Any:
    from armature.motion.recorded import load_recorded

    return load_recorded(path)


@reader
def waypoints(path: Path) -> Any:
    from armature.motion.waypoints import load_waypoints

    return load_waypoints(path)


@reader
def plan(path: Path) -> Any:
    from armature.job.saved import load_plan

    return load_plan(path)


@reader
def task(path: Path) -> Any:
    from armature.job.job_file import load_job

    return load_job(path)


@reader
def study(path: Path) -> Any:
    from armature.study.file import load_study

    return load_study(path)


@reader
def line(path: Path) -> Any:
    from armature.study.line_file import load_line

    return load_line(path)


@reader
def drives(path: Path) -> Any:
    import armature as arm

    return arm.library("planar2").with_drives(path)


@reader
def limits(path: Path) -> Any:
    import armature as arm

    return arm.library("planar2").with_limits(path)


@reader
def store(path: Path) -> Any:
    from armature.study.summary import load_results

    results = load_results(path)
    return [results.plan(row.id) for row in results.rows]


@reader
def upload(path: Path) -> Any:
    import armature as arm
    from armature.web.upload import uploaded

    return uploaded(path.name, path.read_bytes(), arm.library("planar2"))


@reader
def mesh(path: Path) -> Any:
    from armature.robot.mesh import read_mesh

    return read_mesh(path)


# --- archives ------------------------------------------------------------------------------------


def npy(shape: str, dtype: str, data: bytes = b"") -> bytes:
    """An NPY file whose header may lie."""
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data


def archive(
    path: Path, entries: dict[str, bytes], repeat: int = 1, kind: int = zipfile.ZIP_DEFLATED
) -> None:
    """An NPZ file; the last entry goes on with so many megabytes of zeros."""
    about = npy(
        "()", f"<U{len(json.dumps(TRAJECTORY))}", json.dumps(TRAJECTORY).encode("utf-32-le")
    )
    with zipfile.ZipFile(path, "w", kind, compresslevel=1) as file:
        file.writestr("about.npy", about)
        for name, data in entries.items():
            with file.open(name, "w", force_zip64=True) as entry:
                entry.write(data)
                for _ in range(repeat - 1):
                    entry.write(bytes(2**20))


def archives() -> Iterator[Case]:
    for way in ("motion", "plan", "upload"):
        yield (
            f"zeros {way}",
            "a.npz",
            lambda p: archive(p, {"q.npy": npy("(36700160,)", "<f8")}, 280),
            way,
        )
        yield (
            f"lying shape {way}",
            "a.npz",
            lambda p: archive(p, {"q.npy": npy("(99999999999999,)", "<f8", bytes(80))}),
            way,
        )
        yield (
            f"lying text {way}",
            "a.npz",
            lambda p: archive(p, {"q.npy": npy("()", "<U999999999", bytes(80))}),
            way,
        )
        yield (
            f"objects {way}",
            "a.npz",
            lambda p: archive(p, {"q.npy": npy("(1,)", "|O", b"\x80\x04.")}),
            way,
        )
        yield (
            f"many entries {way}",
            "a.npz",
            lambda p: archive(p, {f"q{k}.npy": npy("()", "<f8", bytes(8)) for k in range(5000)}),
            way,
        )
    yield (
        "negative shape",
        "a.npz",
        lambda p: archive(p, {"q.npy": npy("(-1,)", "<f8", bytes(8))}),
        "motion",
    )
    yield (
        "lzma",
        "a.npz",
        lambda p: archive(p, {"q.npy": npy("(1,)", "<f8", bytes(8))}, 1, zipfile.ZIP_LZMA),
        "motion",
    )
    yield (
        "bytes as numbers",
        "a.npz",
        lambda p: archive(p, {"q.npy": npy("(209715072,)", "|i1")}, 200),
        "motion",
    )
    yield "cut", "a.npz", lambda p: p.write_bytes(b"PK\x05\x06" + bytes(10)), "motion"


def hdf5(path: Path, make: Callable[[Any], None]) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.attrs["armature"] = json.dumps(TRAJECTORY)
        make(file)


def external(file: Any) -> None:
    file.create_dataset("t", data=[0.0, 1.0])
    file.create_dataset("q", shape=(2, 1), dtype="f8", external=[("/etc/passwd", 0, 16)])


def linked(file: Any) -> None:
    import h5py

    file["t"], file["q"] = h5py.ExternalLink("/etc/passwd", "/q"), h5py.SoftLink("/t")


def virtual(file: Any) -> None:
    import h5py

    layout = h5py.VirtualLayout(shape=(2, 1), dtype="f8")
    layout[:] = h5py.VirtualSource("/etc/passwd", "q", shape=(2, 1))
    file.create_dataset("t", data=[0.0, 1.0])
    file.create_virtual_dataset("q", layout)


def binaries() -> Iterator[Case]:
    big = {
        "shape": (400_000_000, 1),
        "dtype": "f8",
        "chunks": (1_000_000, 1),
        "compression": "gzip",
    }
    yield (
        "unwritten gigabytes",
        "a.h5",
        lambda p: hdf5(p, lambda f: f.create_dataset("q", **big)),
        "motion",
    )
    yield (
        "large pieces",
        "a.h5",
        lambda p: hdf5(p, lambda f: f.create_dataset("q", **{**big, "chunks": (100_000_000, 1)})),
        "motion",
    )
    yield "external storage", "a.h5", lambda p: hdf5(p, external), "motion"
    yield "links", "a.h5", lambda p: hdf5(p, linked), "motion"
    yield "virtual", "a.h5", lambda p: hdf5(p, virtual), "motion"
    yield "group", "a.h5", lambda p: hdf5(p, lambda f: f.create_group("q")), "motion"
    yield (
        "texts",
        "a.h5",
        lambda p: hdf5(p, lambda f: f.create_dataset("q", data=["x"] * 5)),
        "motion",
    )
    yield "parquet of a billion", "a.parquet", parquet, "motion"
    yield "mcap bomb", "a.mcap", mcap, "motion"
    for name in ("a.h5", "a.parquet", "a.mcap"):
        yield (
            f"junk {name}",
            name,
            lambda p: p.write_bytes(np.random.default_rng(0).bytes(5000)),
            "motion",
        )


def parquet(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(2_000_000, dtype=np.int32)), pa.array([1.0])
    ).cast(pa.float64())
    with pq.ParquetWriter(path, pa.schema([("t", pa.float64())])) as writer:
        for _ in range(20):
            writer.write_table(pa.table([column], names=["t"]))


def mcap(path: Path) -> None:
    from mcap.writer import CompressionType, Writer

    with path.open("wb") as out:
        writer = Writer(out, compression=CompressionType.ZSTD, chunk_size=2**30)
        writer.start()
        channel = writer.register_channel(
            "/t", "json", writer.register_schema("armature/Trajectory", "jsonschema", b"{}")
        )
        writer.add_message(channel, 0, b"[" + b" " * 300_000_000 + b"]", 0)
        writer.finish()


# --- texts ---------------------------------------------------------------------------------------


def texts() -> Iterator[Case]:
    put = lambda text: lambda p: p.write_bytes(text() if callable(text) else text)
    deep, endless = b"[" * 2_000_000, b"[" * 100_000 + b"]" * 100_000
    for name, way in (
        ("a.json", "motion"),
        ("a.json", "plan"),
        ("a.yaml", "motion"),
        ("a.yaml", "robot"),
        ("a.yaml", "task"),
        ("a.json", "upload"),
    ):
        yield f"deep {way} {name}", name, put(deep), way
        yield f"nested {way} {name}", name, put(endless), way
    many = lambda: b'{"format": "armature trajectory", "t": [' + b"[]," * 6_000_000 + b"[]]}"
    yield "many lists", "a.json", put(many), "motion"
    digits = (
        json.dumps({**TRAJECTORY, "t": [0, 1], "q": [[0], [1]]})
        .replace("[1]", "[" + "9" * 6000 + "]")
        .encode()
    )
    yield "digits", "a.json", put(digits), "motion"
    yield (
        "digits in YAML",
        "a.yaml",
        put(b"name: x\ngravity: [0, 0, " + b"9" * 6000 + b"]\n"),
        "robot",
    )
    for way, text, item in (
        ("robot", b"links:", b"- {}\n"),
        ("task", b"robot: planar2\nmove:", b"- 0.1234567\n"),
        ("study", b"task:", b"- 0.1234567\n"),
        ("line", b"stations:", b"- {}\n"),
        ("drives", b"drives:", b"- 0.1234567\n"),
    ):
        yield f"4 MB {way}", "a.yaml", put(text + b"\n" + item * (4_000_000 // len(item))), way
    yield (
        "4 MB limits",
        "a.yaml",
        put(
            b"joint_limits:\n" + b"".join(b"  j%d: {max_velocity: 1}\n" % k for k in range(120_000))
        ),
        "limits",
    )
    bomb = b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + b"".join(
        b"a%d: &a%d [%s]\n" % (k, k, b", ".join([b"*a%d" % (k - 1)] * 10)) for k in range(1, 12)
    )
    for way in ("robot", "task", "study", "motion"):
        yield f"aliases {way}", "a.yaml", put(bomb), way
        yield f"itself {way}", "a.yaml", put(b"a: &a [*a]\n"), way
    yield (
        "chain of aliases",
        "a.yaml",
        put(
            b"".join(
                b"a%d: &a%d [%s]\n" % (k, k, b"*a%d" % (k - 1) if k else b"1")
                for k in range(50_000)
            )
        ),
        "robot",
    )
    point = b"- positions: [0.1]\n  time_from_start: {sec: %d}\n"
    yield (
        "message of 30 MB",
        "a.yaml",
        put(lambda: b"joint_names: [a]\npoints:\n" + b"".join(point % k for k in range(600_000))),
        "motion",
    )
    yield (
        "urdf of links",
        "a.urdf",
        put(
            b'<robot name="a">'
            + b"".join(b'<link name="l%d"/>' % k for k in range(200_000))
            + b"</robot>"
        ),
        "robot",
    )
    yield (
        "urdf entities",
        "a.urdf",
        put(b'<!DOCTYPE a [<!ENTITY b "bbb">]><robot name="&b;"/>'),
        "robot",
    )
    yield "urdf attribute", "a.urdf", put(b'<robot name="' + b"x" * 30_000_000 + b'"/>'), "robot"


def tables() -> Iterator[Case]:
    put = lambda text: lambda p: p.write_bytes(text() if callable(text) else text)
    for way, head in (
        ("motion", b"t,q.a\n"),
        ("recorded", b"time,joint_1\n"),
        ("waypoints", b"x,y,z\n"),
    ):
        more = b",0" if way == "waypoints" else b""
        yield (
            f"long cell {way}",
            "a.csv",
            put(head + b"0,1" + more + b"\n1," + b"9" * 200_000 + more + b"\n"),
            way,
        )
        yield f"long name {way}", "a.csv", put(b"t" * 200_000 + b",q.a\n0,1\n1,2\n"), way
        yield f"long line {way}", "a.csv", put(lambda head=head: head + b"0," * 20_000_000), way
        yield (
            f"many columns {way}",
            "a.csv",
            put(b",".join(b"q.%d" % k for k in range(100_000)) + b"\n"),
            way,
        )
        yield (
            f"late mistake {way}",
            "a.csv",
            put(
                lambda h=head, m=more: (
                    h + b"".join(b"%d,1%s\n" % (k, m) for k in range(400_000)) + b"x,1\n"
                )
            ),
            way,
        )
        yield f"comments {way}", "a.csv", put(lambda: b"#\n" * 6_000_000), way
        yield f"not text {way}", "a.csv", put(head + b"\xff\xfe\n"), way
        yield f"nothing {way}", "a.csv", put(b""), way
    for way, head in (("motion", b"t,q.a\n"), ("recorded", b"time,joint_1\n")):
        yield f"times to 1e308 {way}", "a.csv", put(head + b"0,1\n1e300,2\n1e308,3\n"), way
        yield f"positions to 1e308 {way}", "a.csv", put(head + b"0,1\n1,1e300\n2,1e308\n"), way
        yield f"times too near {way}", "a.csv", put(head + b"0,1\n5e-324,2\n1e-323,3\n"), way
    deep = b'# {"format": ' + b"[" * 400_000 + b"\nt,q.a\n0,1\n1,2\n"
    yield "deep note", "a.csv", put(deep), "motion"
    yield (
        "times in JSON",
        "a.json",
        put(json.dumps({**TRAJECTORY, "t": [0.0, 1e308], "q": [[0.0], [1.0]]}).encode()),
        "motion",
    )


# --- studies, pipes, devices ---------------------------------------------------------------------


def make_store(path: Path, *changes: str, values: tuple = ()) -> None:
    from armature.study.store import open_store

    with open_store(path, write=True) as table:
        table.sync([("x", {"a": 1})], {"name": "n", "keys": "a"})
        table.finish([("x", "done", {"energy": 1.0}, "", 0.1, zlib.compress(b"x"))])
    db = sqlite3.connect(path)
    db.execute("PRAGMA writable_schema = ON")
    for change in changes:
        db.execute(change, values if "?" in change else ())
    db.commit()
    db.close()


def gigabyte() -> bytes:
    """A gigabyte of zeros, packed."""
    packer = zlib.compressobj(1)
    return b"".join(packer.compress(bytes(2**24)) for _ in range(64)) + packer.flush()


def stores() -> Iterator[Case]:
    endless = (
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id, x AS"
        " number, 1 AS wanted, '{}' AS inputs, "
    )
    view = (
        f"CREATE VIEW cases AS {endless} 'done' AS state, 0 AS attempts, '' AS reason, '{{}}' AS"
        " outcome, 0.0 AS seconds FROM c"
    )
    yield "endless view", "a.db", lambda p: make_store(p, "DROP TABLE cases", view), "store"
    yield (
        "trigger",
        "a.db",
        lambda p: make_store(
            p, "CREATE TRIGGER t AFTER UPDATE ON cases BEGIN DELETE FROM cases; END"
        ),
        "store",
    )
    yield (
        "plan of a gigabyte",
        "a.db",
        lambda p: make_store(p, "UPDATE plans SET plan = ?", values=(gigabyte(),)),
        "store",
    )
    yield (
        "deep outcome",
        "a.db",
        lambda p: make_store(p, "UPDATE cases SET outcome = ?", values=("[" * 500_000,)),
        "store",
    )
    yield (
        "blob outcome",
        "a.db",
        lambda p: make_store(p, "UPDATE cases SET outcome = zeroblob(1000)"),
        "store",
    )
    yield (
        "number of words",
        "a.db",
        lambda p: make_store(p, "UPDATE cases SET number = 'x', seconds = 'y'"),
        "store",
    )
    yield "junk store", "a.db", lambda p: p.write_bytes(b"SQLite format 3\0" + bytes(4000)), "store"


def pipes() -> Iterator[Case]:
    names = {
        "robot": ("urdf", "yaml", "xml"),
        "motion": ("csv", "npz", "json", "yaml", "h5", "parquet", "mcap"),
        "recorded": ("csv",),
    }
    names |= {
        "plan": ("npz", "json"),
        "task": ("yaml",),
        "study": ("yaml",),
        "line": ("yaml",),
        "drives": ("yaml",),
        "limits": ("yaml",),
    }
    names |= {"waypoints": ("csv",), "store": ("db",)}
    for way, kinds in names.items():
        for kind in kinds:
            yield f"pipe {way}.{kind}", f"a.{kind}", os.mkfifo, way
            yield f"device {way}.{kind}", f"a.{kind}", lambda p: p.symlink_to("/dev/zero"), way
            yield f"folder {way}.{kind}", f"a.{kind}", lambda p: p.mkdir(), way
            yield (
                f"endless file {way}.{kind}",
                f"a.{kind}",
                lambda p: p.open("wb").truncate(2**41) and None,
                way,
            )
    for key in (
        "robot: pipe.urdf",
        "robot: planar2\ndrives: pipe.yaml",
        "robot: planar2\nlimits: pipe.yaml",
    ):
        text = f"{key}\nmove: {{start: [0, 0], goal: [1, 1], duration: 1}}\n"
        yield (
            f"part of a task {key.split()[-1]} {key[:16]}",
            "a.yaml",
            lambda p, text=text: beside_pipes(p, text),
            "task",
        )
    points = "robot: planar2\npath: {polyline: pipe.csv}\n"
    yield "waypoints of a task", "a.yaml", lambda p: beside_pipes(p, points), "task"
    yield "task of a study", "a.yaml", lambda p: beside_pipes(p, "task: pipe.yaml\n"), "study"


def beside_pipes(path: Path, text: str) -> None:
    for kind in ("urdf", "yaml", "csv"):
        os.mkfifo(path.parent / f"pipe.{kind}")
    path.write_text(text)


def cases() -> list[Case]:
    """All of them."""
    return [*archives(), *binaries(), *texts(), *tables(), *stores(), *pipes(), *meshes()]


def apart(function: Callable[[], str]) -> tuple[str, float, int]:
    """What a function says in a process of its own, the seconds of a processor and the megabytes
    that it took."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.write(into, function().encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(into)
    with os.fdopen(out, "rb") as file:
        words = file.read().decode()
    _, status, usage = os.wait4(child, 0)
    return (
        words if status == 0 else f"BUG it died of {status}",
        round(usage.ru_utime + usage.ru_stime, 2),
        usage.ru_maxrss // 1024,
    )


def said(way: str, path: Path) -> str:
    """What a reader says of a file."""
    import armature as arm

    try:
        READERS[way](path)
    except arm.ArmatureError as e:
        return str(e).replace(str(path.parent), "")
    except Exception as e:
        return f"BUG {type(e).__name__}: {e}"
    return ""


def main() -> None:
    """Read all of them, each in a process of its own, as it was written in another."""
    import warnings

    import armature as arm
    from armature.job import job_file, saved
    from armature.study import file, line_file, summary
    from armature.web import upload

    assert all((job_file, saved, file, line_file, summary, upload))  # imported here, once for all
    warnings.simplefilter("ignore", arm.errors.ArmatureWarning)
    found: dict[str, Any] = {}
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, file_name, write, way in cases():
        if only in name:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / file_name
                _, _, _ = apart(lambda write=write, path=path: str(write(path)))
                found[name] = apart(lambda way=way, path=path: said(way, path))
            print(name, found[name], file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main()

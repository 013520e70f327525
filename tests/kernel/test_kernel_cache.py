"""The cache on disk: a hit needs no trace, a damaged or foreign entry is built again, writers never
meet, no folder is no loss."""

import json
import os
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from armature.errors import ArmatureWarning
from armature.kernel import cache, compile, compiled, machine_code, trace

X = np.arange(-5, 6).reshape(11, 1) / 4.0  # exact in 3x + 1


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMATURE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Build:
    """Traces x → 3x + 1 and counts how often."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        return trace(lambda x: 3 * x + 1, {"x": 1}, ["y"], name="line")


def never():
    raise AssertionError("traced although the cache has it")


def entry(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_a_hit_needs_no_trace(folder):
    first = compiled("line", Build())
    second = compiled("line", never)
    np.testing.assert_array_equal(first(X), second(X))
    assert (second.name, second.inputs, second.outputs, second.operations) == (
        first.name,
        first.inputs,
        first.outputs,
        first.operations,
    )


def test_compile_with_a_key_does_not_call_the_function_again(folder):
    compile(lambda x: ca.sin(x), {"x": 1}, key="sine")
    np.testing.assert_array_equal(
        compile(lambda x: never(), {"x": 1}, key="sine")(X),
        compile(lambda x: ca.sin(x), {"x": 1})(X),
    )


def test_different_keys_and_different_expressions_do_not_meet(folder):
    a, b = compile(lambda x: 2 * x, {"x": 1}), compile(lambda x: 3 * x, {"x": 1})
    np.testing.assert_array_equal(a(X) * 1.5, b(X))
    compiled("one", Build())
    build = Build()
    compiled("two", build)
    assert build.times == 1


def test_names_and_shapes_are_part_of_an_expression(folder):
    one = compile(lambda x: {"a": x}, {"x": 4})
    other = compile(lambda x: {"b": x}, {"x": (2, 2)})
    assert (one.outputs[0].name, other.outputs[0].name) == ("a", "b")
    assert other(np.eye(2)).shape == (2, 2)


DAMAGE = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "without its last byte": lambda data: data[:-1],
    "longer": lambda data: data + b"x",
    "one bit of the code": lambda data: data[:-100] + bytes([data[-100] ^ 1]) + data[-99:],
    "one bit of the header": lambda data: data[:90] + bytes([data[90] ^ 1]) + data[91:],
    "one bit of the checksum": lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:],
    "another program's": lambda data: b"\x7fELF" + data,
    "text": lambda data: b"not a kernel at all\n" * 100,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_built_again(folder, damage):
    compiled("line", Build())
    path = entry(folder)
    whole = path.read_bytes()
    path.write_bytes(DAMAGE[damage](whole))
    build = Build()
    np.testing.assert_array_equal(compiled("line", build)(X), 3 * X + 1)
    assert build.times == 1
    compiled("line", never)  # and the new one is whole


def resealed(body: bytes) -> bytes:
    """An entry with any content and a right checksum."""
    import hashlib

    return cache.MAGIC + hashlib.sha256(body).hexdigest().encode() + body


@pytest.mark.parametrize(
    "header", [b"{not json", b"[]", b"3", b"{}", b'{"key": "line"}', b"\xff\xfe", b"null"]
)
def test_an_entry_with_a_foreign_header_is_built_again(folder, header):
    compiled("line", Build())
    path = entry(folder)
    code = path.read_bytes()[len(cache.MAGIC) + 64 :].partition(b"\n")[2]
    path.write_bytes(resealed(header + b"\n" + code))
    build = Build()
    np.testing.assert_array_equal(compiled("line", build)(X), 3 * X + 1)
    assert build.times == 1


def test_an_entry_of_another_kernel_under_this_name_is_built_again(folder):
    compiled("other", lambda: trace(lambda x: -x, {"x": 1}))
    os.rename(entry(folder), machine_code.cache_path("line"))
    build = Build()
    np.testing.assert_array_equal(compiled("line", build)(X), 3 * X + 1)
    assert build.times == 1


def test_an_entry_of_another_machine_is_not_used(folder, monkeypatch):
    compiled("line", Build())
    path = entry(folder)
    monkeypatch.setattr(machine_code, "platform_key", lambda: "another CPU")
    os.rename(path, machine_code.cache_path("line"))
    build = Build()
    compiled("line", build)
    assert build.times == 1


def test_the_key_names_cpu_versions_and_the_compilers_source():
    import llvmlite

    key = machine_code.platform_key()
    width = f"width {machine_code.vector_width()}"
    for part in (
        machine_code.llvm.get_host_cpu_name(),
        llvmlite.__version__,
        ca.CasadiMeta.version(),
        width,
    ):
        assert part in key
    assert len(key.split("compiler ")[1]) == 64


def test_the_header_says_what_the_arguments_are(folder):
    compiled("line", Build())
    header = json.loads(entry(folder).read_bytes()[len(cache.MAGIC) + 64 :].partition(b"\n")[0])
    assert (header["name"], header["inputs"], header["outputs"]) == (
        "line",
        [["x", [1]]],
        [["y", [1]]],
    )


@pytest.mark.parametrize("obstacle", ["a file", "a folder in place of the entry", "no permission"])
def test_a_folder_that_cannot_be_written_costs_only_speed(tmp_path, monkeypatch, obstacle):
    place = tmp_path / "cache"
    monkeypatch.setenv("ARMATURE_CACHE", str(place))
    if obstacle == "a file":
        place.write_text("in the way")
    elif obstacle == "a folder in place of the entry":
        machine_code.cache_path("line").mkdir(parents=True)
    else:

        def refuse(*args, **kwargs):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(cache.Path, "mkdir", refuse)
    for _ in range(2):
        build = Build()
        np.testing.assert_array_equal(compiled("line", build)(X), 3 * X + 1)
        assert build.times == 1
    assert not list(tmp_path.rglob("*.part"))


def test_a_disk_that_fills_up_leaves_nothing_behind(folder, monkeypatch):
    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache.os, "replace", full)
    np.testing.assert_array_equal(compiled("line", Build())(X), 3 * X + 1)
    assert list(folder.iterdir()) == []


def plant(folder: Path) -> Path:
    """An entry that would be used, were it the user's own."""
    compiled("line", Build())
    return entry(folder)


def test_entries_are_for_their_owner_alone(folder):
    path = plant(folder)
    assert (folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)


def in_group(path: Path) -> None:
    path.chmod(0o620)


def for_all(path: Path) -> None:
    path.chmod(0o602)


def of_another_user(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, 65534, 65534)


def behind_a_link(path: Path) -> None:
    path.rename(path.with_suffix(".elsewhere"))
    path.symlink_to(path.with_suffix(".elsewhere"))


def as_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX")
@pytest.mark.parametrize("hand", [in_group, for_all, of_another_user, behind_a_link, as_a_pipe])
def test_code_that_others_may_have_written_is_not_run(folder, hand):
    hand(plant(folder))
    build = Build()
    np.testing.assert_array_equal(compiled("line", build)(X), 3 * X + 1)
    assert build.times == 1
    compiled("line", never)  # and the new entry is the user's own


@pytest.mark.skipif(os.name != "posix", reason="owners and modes are POSIX")
@pytest.mark.parametrize("hand", ["everybody may write", "another user's"])
def test_a_shared_folder_is_neither_read_nor_written(folder, hand, monkeypatch):
    monkeypatch.setattr(cache, "_reported", set())
    plant(folder)
    if hand == "another user's":
        of_another_user(folder)
    else:
        folder.chmod(0o777)
    build = Build()
    with pytest.warns(ArmatureWarning, match="ARMATURE_CACHE"):
        compiled("line", build)
    compiled("other", Build())
    assert (build.times, len(list(folder.iterdir()))) == (1, 1)


def test_above_the_limit_the_least_used_go(folder, monkeypatch):
    sizes = []
    for i in range(6):
        compiled(f"line {i}", Build())
        path = machine_code.cache_path(f"line {i}")
        os.utime(path, (1000 + i, 1000 + i))
        sizes.append(path.stat().st_size)
    compiled("line 0", never)  # used: now it is the youngest
    monkeypatch.setenv("ARMATURE_CACHE_SIZE", str(4.5 * max(sizes) / 1e6))
    cache._uncounted.clear()  # as another process would
    compiled("line 6", Build())
    left = {i for i in range(7) if machine_code.cache_path(f"line {i}").exists()}
    assert {0, 6} <= left < {0, 3, 4, 5, 6}
    assert sum(p.stat().st_size for p in folder.iterdir()) <= 4.5 * max(sizes)


def test_the_cache_never_grows_beyond_its_limit(folder, monkeypatch):
    monkeypatch.setenv("ARMATURE_CACHE_SIZE", "0.05")
    for i in range(30):
        compiled(f"line {i}", Build())
        assert sum(p.stat().st_size for p in folder.iterdir()) <= 50_000 * 1.01
    assert len(list(folder.iterdir())) > 3


LIMITS = [
    ("250", 250),
    ("0", 0),
    ("-3", 0),
    ("much", 1000),
    ("nan", 1000),
    ("inf", 1000),
    ("", 1000),
]


@pytest.mark.parametrize(("words", "megabytes"), LIMITS)
def test_the_limit_is_a_number_of_megabytes(monkeypatch, words, megabytes):
    monkeypatch.setenv("ARMATURE_CACHE_SIZE", words)
    assert cache.cache_limit() == megabytes * 1e6


def test_a_limit_of_zero_keeps_nothing(folder, monkeypatch):
    monkeypatch.setenv("ARMATURE_CACHE_SIZE", "0")
    compiled("line", Build())
    assert not folder.exists()


WRITER = """
import sys
import numpy as np
from armature.kernel import compiled, trace
for i in range(int(sys.argv[1])):
    k = compiled(f"shared {i}", lambda: trace(lambda x: (i + 2) * x, {"x": 2}))
    assert (k(np.ones(2)) == i + 2).all()
print("done")
"""


def test_processes_that_write_at_once_lose_nothing(folder):
    count = 12
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(count)], stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    assert [p.communicate()[0].strip() for p in processes] == ["done"] * 3
    assert sorted(p.suffix for p in folder.iterdir()) == [".kernel"] * count
    for i in range(count):
        np.testing.assert_array_equal(
            compiled(f"shared {i}", never)(np.ones(2)), [i + 2.0, i + 2.0]
        )


PLAIN = """
import casadi as ca
import numpy as np
from armature.kernel import compile
k = compile(lambda A, x: (A @ ca.sin(x), ca.dot(x, x)), {"A": (2, 3), "x": 3})
A, x = np.arange(12.0).reshape(2, 2, 3), np.linspace(-1, 1, 6).reshape(2, 3)
y, s = k(A, x)
np.testing.assert_allclose(y, (A @ np.sin(x)[..., None])[..., 0], rtol=1e-14)
np.testing.assert_allclose(s, (x * x).sum(-1), rtol=1e-14)
np.testing.assert_allclose(k(A[0], x[1])[0], A[0] @ np.sin(x[1]), rtol=1e-14)
assert compile(lambda x: x, {"x": 0})(np.zeros((3, 0))).shape == (3, 0)
print(type(k).__name__)
"""


def test_without_machine_code_the_answers_are_the_same(folder):
    environment = {**os.environ, "ARMATURE_JIT": "0"}
    result = subprocess.run(
        [sys.executable, "-c", PLAIN], capture_output=True, text=True, env=environment, check=False
    )
    assert (result.stdout.strip(), result.stderr) == ("Kernel", "")
    assert not folder.exists()


FORK = """
import os
import numpy as np
from armature.kernel import compile, kernel, set_threads
kernel.THREAD_WORK = 1000
set_threads(2)
k = compile(lambda x: 2 * x, {"x": 4})
x = np.ones((4000, 4))
k(x)
child = os.fork()
if child == 0:
    os._exit(0 if (k(x) == 2).all() else 1)
print(os.waitpid(child, 0)[1])
"""


if hasattr(os, "fork"):  # not on Windows

    def test_a_forked_process_has_threads_of_its_own(folder):
        result = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", FORK],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (result.stdout.strip(), result.stderr) == ("0", "")

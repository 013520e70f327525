"""Readers of other programs' formats, run in a process of their own: with limits of memory and
time, and killed when they exceed them.

`confined("armature.motion.binary:hdf5_content", path)` calls that function in a new process. What
comes back is data: JSON, and arrays as NumPy's own bytes; nothing of it is executed. Its errors and
warnings are raised here."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from contextlib import suppress
from typing import Any, NoReturn

from armature.errors import ArmatureError, ArmatureWarning, FileError

MEMORY = 2**30  # bytes of address space
CPU = 6  # s of a processor
PATIENCE = 30.0  # s by the clock: a busy machine starts processes slowly
MOST_ANSWER = 2**28  # bytes
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
BEGIN = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); from armature.confine import child;"
    " child(*sys.argv[2:])"
)


def confined(
    function: str, *arguments: Any, cpu: int = CPU, memory: int = MEMORY, patience: float = PATIENCE
) -> tuple[Any, dict[str, Any]]:
    """Call `function` ("module:name" of this package) with arguments that JSON knows, in a process
    of its own.

    It must return (values that JSON knows, {name: array}). cpu: s; memory: bytes; patience: s by
    the clock. The first argument is the path of the file that is read, for messages. A FileError
    tells which limit was exceeded, or how the reader died."""
    with tempfile.TemporaryDirectory(
        prefix="armature"
    ) as folder:  # whatever a reader writes beside itself goes here
        process = _start(function, folder, cpu, memory)
        try:
            answer, _ = process.communicate(json.dumps(arguments).encode(), timeout=patience)
        except subprocess.TimeoutExpired:
            _fail(arguments[0], f"reading took longer than {patience:g} s")
        finally:
            _end(process)
    if process.returncode != 0 or not answer:
        _fail(arguments[0], _cause(process.returncode, cpu, memory))
    return _decoded(answer)


def _start(function: str, folder: str, cpu: int, memory: int) -> subprocess.Popen[bytes]:
    path = json.dumps([os.path.abspath(p) for p in sys.path])
    environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
    try:
        return subprocess.Popen(
            [sys.executable, "-I", "-c", BEGIN, path, function, str(cpu), str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env=environment,
            process_group=0 if os.name == "posix" else None,
        )
    except OSError as e:
        raise ArmatureError(
            f"no process can be started to read the file in ({e.strerror or e}); close other"
            " programs"
        ) from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of it, and forget it."""
    if process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL) if os.name == "posix" else process.kill()
        process.communicate()


def _cause(code: int, cpu: int, memory: int) -> str:
    if code in (-getattr(signal, "SIGXCPU", 24), -9):
        return f"reading took longer than {cpu} s of a processor"
    if code < 0:
        return f"the reader died of signal {-code}"
    return f"reading needs more than {memory // 2**20} MB of memory, or its process could not run"


def _fail(path: object, reason: str) -> NoReturn:
    raise FileError(
        f"{reason}; the file is damaged, or made to do harm: check where it comes from", path
    )


def _decoded(answer: bytes) -> tuple[Any, dict[str, Any]]:
    """The values and arrays of an answer; its warnings are given, its error is raised."""
    import numpy as np

    size = int.from_bytes(answer[:8], "little")
    said, rest = json.loads(answer[8 : 8 + size]), memoryview(answer)[8 + size :]
    for text in said["warnings"]:
        warnings.warn(text, ArmatureWarning, stacklevel=4)
    if said["error"] is not None:
        error = FileError(said["error"])
        error.path, error.line = said["path"], said["line"]
        raise error
    arrays, at = {}, 0
    for name, (dtype, shape) in said["arrays"].items():
        count = int(np.prod(shape, dtype=np.int64))
        arrays[name] = (
            np.frombuffer(rest, np.dtype(dtype), count, at).reshape(shape).copy()
            if count
            else np.empty(shape, dtype)
        )
        at += arrays[name].nbytes
    return said["value"], arrays


# --- in the other process ------------------------------------------------------------------------


def child(function: str, cpu: str, memory: str) -> None:
    """Limit this process, call the function with the arguments from stdin, and write what it
    returns to stdout."""
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print is no answer
    limit(int(cpu), int(memory))
    try:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always", ArmatureWarning)
            said, data = _called(function, json.load(sys.stdin))
        said["warnings"] = [
            str(w.message) for w in found if issubclass(w.category, ArmatureWarning)
        ][:20]
        head = json.dumps(said).encode()
        if len(head) + sum(map(len, data)) > MOST_ANSWER:
            os._exit(3)
        answer.write(len(head).to_bytes(8, "little") + head)
        for part in data:
            answer.write(part)
        answer.flush()
    except MemoryError:
        os._exit(3)
    os._exit(0)


def limit(cpu: int, memory: int) -> None:
    """Limit this process to seconds of a processor and bytes of address space, where the system
    can."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _called(function: str, arguments: list[Any]) -> tuple[dict[str, Any], list[bytes]]:
    module, _, name = function.partition(":")
    try:
        value, arrays = getattr(importlib.import_module(module), name)(*arguments)
    except ArmatureError as e:
        return {
            "error": str(e),
            "path": getattr(e, "path", None),
            "line": getattr(e, "line", None),
        }, []
    except MemoryError:
        raise
    except (
        Exception
    ) as e:  # a reader that stumbles over foreign bytes in a way that nobody thought of
        words = (
            f"it cannot be read ({type(e).__name__}: {(str(e).splitlines() or [''])[0][:120]});"
            " check the file"
        )
        return {"error": f"{arguments[0]}: {words}", "path": str(arguments[0]), "line": None}, []
    shapes = {key: (x.dtype.str, x.shape) for key, x in arrays.items()}
    return {"error": None, "value": value, "arrays": shapes}, [x.tobytes() for x in arrays.values()]

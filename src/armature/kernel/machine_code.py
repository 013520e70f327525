"""LLVM assembly → machine code, kept on disk (`cache.py`) under a key of what was traced, the CPU
and all versions."""

from __future__ import annotations

import ctypes
import functools
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

import armature.kernel.cache as cache


@functools.cache
def target_machine() -> llvm.TargetMachine:
    """Code generator for this very CPU."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=features, opt=2, reloc="pic", codemodel="jitdefault"
    )


@functools.cache
def vector_width() -> int:
    """Doubles in one vector register: 8 with AVX-512, 4 with AVX2, else 2."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f"):
        return 8
    return 4 if features.get("avx2") and features.get("fma") else 2


@functools.cache
def platform_key() -> str:
    """CPU, versions and the compiler's own source: object code made under another key is not
    ours."""
    import casadi

    source = hashlib.sha256(
        b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    ).hexdigest()
    cpu = f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"
    versions = (
        f"llvmlite {llvmlite.__version__} casadi {casadi.CasadiMeta.version()} object"
        f" {object.__basicsize__} compiler {source}"
    )
    return f"{llvm.get_default_triple()} {cpu} width {vector_width()} {versions}"


def assemble(text: str) -> bytes:
    """Object code of a module given as LLVM assembly."""
    machine = target_machine()
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    return machine.emit_object(module)


def assemble_optimized(text: str) -> bytes:
    """Object code of a module given as LLVM assembly, after LLVM's optimisations.

    For loops, which it inlines and vectorises; kernels need none: they are vectors already.
    """
    machine = target_machine()
    module = llvm.parse_assembly(text)
    module.verify()
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    # loops of some 10 to 20 rounds gain nothing from it, and it doubles the time to compile
    options.loop_unrolling = options.loop_interleaving = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


@dataclass(frozen=True)
class Loaded:
    """Machine code in memory; `engine` keeps it alive."""

    engine: llvm.ExecutionEngine
    address: int  # of @kernel
    entries: tuple[int, int]  # of @one and @rows


def load_object(code: bytes, parameters: Sequence[float] = ()) -> Loaded:
    """Put object code into memory, a copy of its own, write its parameters and find its
    functions."""
    engine = load_engine(code)
    if len(parameters):
        numbers = (ctypes.c_double * len(parameters)).from_address(
            engine.get_global_value_address("constants")
        )
        numbers[:] = [float(x) for x in parameters]
    kernel, one, rows = (engine.get_function_address(name) for name in ("kernel", "one", "rows"))
    return Loaded(engine, kernel, (one, rows))


def load_engine(code: bytes) -> llvm.ExecutionEngine:
    """Put object code into memory, where it stays as long as what is returned."""
    target_machine()
    empty = llvm.parse_assembly("")
    engine = llvm.create_mcjit_compiler(empty, target_machine_for_engine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def target_machine_for_engine() -> llvm.TargetMachine:
    """A target machine of its own for each engine, which takes it over."""
    return llvm.Target.from_default_triple().create_target_machine(
        opt=0, reloc="pic", codemodel="jitdefault"
    )


# the cache ---------------------------------------------------------------------------------------


def cache_path(key: str) -> Path:
    """The file of a cache entry."""
    return cache.entry_path(full_key(key))


def full_key(key: str) -> str:
    """What was traced, and what it was compiled for and by."""
    return f"{platform_key()}\n{key}"


def read_cache(key: str) -> tuple[dict, bytes] | None:
    """(header, object code), or None when there is no entry that may be used."""
    return cache.read_entry(full_key(key))


def write_cache(key: str, header: dict, code: bytes) -> None:
    """Keep object code for the next process."""
    cache.write_entry(full_key(key), header, code)

"""Arrays of NPZ files, unpacked within bounds: what an entry says about its size is checked before
it is unpacked, and kept afterwards.

Limits: 128 MB packed, 256 MB unpacked, 64 entries, stored or deflated, plain numbers and texts only
(no Python objects)."""

from __future__ import annotations

import io
import math
import struct
import zipfile
from os import PathLike

import numpy as np

from armature.errors import FileError
from armature.motion.table import read_bytes

MOST_UNPACKED = 2**28  # bytes of all entries
MOST_ENTRIES = 64
MOST_DIRECTORY = 2**16  # bytes of the list of entries
END = b"PK\x05\x06"


def npz_content(path: str | PathLike[str]) -> dict[str, np.ndarray]:
    """All arrays of an NPZ file, or a FileError."""
    data = read_bytes(path)
    _check_directory(data, path)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as file:
            entries = file.infolist()
            _check_entries(entries, path)
            return {
                e.filename.removesuffix(".npy"): _array(
                    file.open(e).read(MOST_UNPACKED), e.filename, path
                )
                for e in entries
            }
    except FileError:
        raise
    except Exception as e:  # whatever NumPy and zipfile make of foreign bytes
        reason = (str(e).splitlines() or [""])[0][:120] or type(e).__name__
        raise FileError(f"this is not an NPZ file ({reason}); check the file", path) from None


def _check_directory(data: bytes, path: object) -> None:
    """Refuse an archive by its last bytes, which tell how long its list of entries is."""
    at = data.rfind(END, max(0, len(data) - 2**16 - 22))
    if at < 0 or len(data) < at + 22:
        raise FileError("this is not an NPZ file (File is not a zip file); check the file", path)
    count, size = struct.unpack("<HI", data[at + 10 : at + 16])
    if count > MOST_ENTRIES or size > MOST_DIRECTORY or data[at - 20 : at - 16] == b"PK\x06\x07":
        raise FileError(
            f"the archive has more than {MOST_ENTRIES} entries; is this a motion or a plan?", path
        )


def _check_entries(entries: list[zipfile.ZipInfo], path: object) -> None:
    total = sum(entry.file_size for entry in entries)
    if total > MOST_UNPACKED:
        raise FileError(
            f"unpacked, the archive has {total / 2**20:.0f} MB; at most {MOST_UNPACKED // 2**20} MB"
            " are read",
            path,
        )
    for entry in entries:
        if (
            entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            or entry.flag_bits & 1
        ):
            raise FileError(
                f"the entry {entry.filename[:60]!r} is encrypted or packed in an unusual way; save"
                " it again by NumPy",
                path,
            )


def _array(data: bytes, name: str, path: object) -> np.ndarray:
    """The array of one entry, if it is as large as its header says."""
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    shape, fortran, dtype = header(file)
    rest = len(data) - file.tell()
    if dtype.hasobject or dtype.kind not in "biufU" or any(n < 0 for n in shape):
        raise FileError(
            f"the entry {name[:60]!r} holds no plain numbers or text ({dtype.kind}); save it again",
            path,
        )
    if math.prod(shape) * dtype.itemsize != rest:
        said = f"{math.prod(shape) * dtype.itemsize:.3g}" if math.prod(shape) < 1e300 else "endless"
        raise FileError(
            f"the entry {name[:60]!r} says that it has {said} bytes and has {rest}; the file is"
            " damaged",
            path,
        )
    flat = (
        np.frombuffer(data, dtype, offset=file.tell(), count=math.prod(shape))
        if rest
        else np.empty(0, dtype)
    )
    return flat.reshape(shape, order="F" if fortran else "C").copy()

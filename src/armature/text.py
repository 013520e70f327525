"""Files as text, within bounds: size, kind and encoding are checked before any parser sees a
byte."""

from __future__ import annotations

import codecs
import os
import re
import stat
from typing import BinaryIO

from armature.errors import FileError

MOST_BYTES = 64 * 2**20
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
CODECS = {"utf-8", "ascii", "utf-16", "utf-16-le", "utf-16-be", "cp1250", "cp1251", "cp1252"}
DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")


def read_bytes(path: str | os.PathLike[str], most: int = MOST_BYTES) -> bytes:
    """The content of a regular file of at most `most` bytes (64 MB), or a FileError."""
    with open_regular(path, most) as file:
        try:
            data = file.read(most + 1)
        except OSError as e:
            raise FileError(
                f"it cannot be read ({_reason(e)}); check its permissions", path
            ) from None
    if len(data) > most:  # a file that grows, or one of the system that tells no size
        raise FileError(
            f"the file has more than the {_size(most)} that are read: is this the right file?", path
        )
    return data


def open_regular(path: str | os.PathLike[str], most: int = MOST_BYTES) -> BinaryIO:
    """A regular file of at most `most` bytes, open for reading bytes; a FileError for directories,
    pipes, sockets and devices.

    Nothing blocks: what is no regular file is not opened, and one that becomes something else
    meanwhile is not waited for."""
    check_regular(path, most)
    try:
        descriptor = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
    except (OSError, ValueError) as e:
        raise FileError(f"it cannot be read ({_reason(e)}); check its permissions", path) from None
    file = os.fdopen(descriptor, "rb")
    try:
        _refuse(os.fstat(descriptor), path, most)
    except FileError:
        file.close()
        raise
    return file


def check_regular(path: str | os.PathLike[str], most: int = MOST_BYTES) -> None:
    """A FileError unless this is a regular file of at most `most` bytes: for readers that open
    files themselves."""
    try:
        info = os.stat(path)
    except (OSError, ValueError) as e:
        reason = (
            "there is no such file"
            if isinstance(e, FileNotFoundError)
            else f"it cannot be opened ({_reason(e)})"
        )
        raise FileError(f"{reason}; check the path", path) from None
    _refuse(info, path, most)


def _refuse(info: os.stat_result, path: object, most: int) -> None:
    if not stat.S_ISREG(info.st_mode):
        what = "a directory" if stat.S_ISDIR(info.st_mode) else "not a regular file"
        raise FileError(f"this is {what}; give the path of a file", path)
    if info.st_size > most:
        raise FileError(
            f"the file has {_size(info.st_size)}; at most {_size(most)} are read: is this the right"
            " file?",
            path,
        )


def _size(count: int) -> str:
    return f"{count / 2**20:.0f} MB" if count >= 2**20 else f"{count / 2**10:.0f} kB"


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def decode_xml(data: bytes, path: object) -> str:
    """XML bytes as text, by byte-order mark, else by the declared encoding, else as UTF-8."""
    encoding = next((name for bom, name in BOMS if data.startswith(bom)), None)
    if encoding is None:
        declared = DECLARED.match(data[:400])
        encoding = _known_codec(declared.group(1).decode("ascii"), path) if declared else "utf-8"
    return decode(data, encoding, path)


def _known_codec(name: str, path: object) -> str:
    try:
        codec = codecs.lookup(name).name
    except LookupError:
        codec = ""
    if codec in CODECS or codec.startswith("iso8859"):
        return codec
    raise FileError(
        f"the declared encoding {name!r} is not known; save the file as UTF-8 and declare that",
        path,
        1,
    )


def read_text(path: str | os.PathLike[str], most: int = MOST_BYTES) -> str:
    """The content of a UTF-8 file of at most `most` bytes (64 MB), or a FileError."""
    return decode(read_bytes(path, most), "utf-8-sig", path)


def decode(data: bytes, encoding: str, path: object) -> str:
    """`data` as text, or a FileError with the line where the encoding breaks."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise FileError(
            f"the bytes are not {encoding} ({e.reason}); save the file as UTF-8", path, line
        ) from None

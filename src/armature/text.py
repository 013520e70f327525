"""Files as text, within bounds: size, kind and encoding are checked before any parser sees a byte."""

from __future__ import annotations

import codecs
import os
import re
import stat

from armature.errors import FileError

MOST_BYTES = 64 * 2**20
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
CODECS = {"utf-8", "ascii", "utf-16", "utf-16-le", "utf-16-be", "cp1250", "cp1251", "cp1252"}
DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """The content of a regular file of at most 64 MB, or a FileError."""
    try:
        info = os.stat(path)
    except (OSError, ValueError) as e:
        reason = "there is no such file" if isinstance(e, FileNotFoundError) else f"it cannot be opened ({_reason(e)})"
        raise FileError(f"{reason}; check the path", path) from None
    if not stat.S_ISREG(info.st_mode):
        what = "a directory" if stat.S_ISDIR(info.st_mode) else "not a regular file"
        raise FileError(f"this is {what}; give the path of a file", path)
    if info.st_size > MOST_BYTES:
        sizes = f"{info.st_size / 2**20:.0f} MB; at most {MOST_BYTES // 2**20} MB are read"
        raise FileError(f"the file has {sizes}: is this the right file?", path)
    try:
        with open(path, "rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError as e:
        raise FileError(f"it cannot be read ({_reason(e)}); check its permissions", path) from None


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
    raise FileError(f"the declared encoding {name!r} is not known; save the file as UTF-8 and declare that", path, 1)


def read_text(path: str | os.PathLike[str]) -> str:
    """The content of a UTF-8 file of at most 64 MB, or a FileError."""
    return decode(read_bytes(path), "utf-8-sig", path)


def decode(data: bytes, encoding: str, path: object) -> str:
    """`data` as text, or a FileError with the line where the encoding breaks."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise FileError(f"the bytes are not {encoding} ({e.reason}); save the file as UTF-8", path, line) from None

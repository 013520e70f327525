"""Files are written whole or not at all: under another name first, then renamed."""

from __future__ import annotations

import os
from os import PathLike, fspath
from pathlib import Path

from armature.errors import FileError


def write_whole(path: str | PathLike[str], data: bytes | str) -> Path:
    """Write a file so that whoever looks finds the old one or the new one, never a part of it, even if this process is killed."""
    place = Path(fspath(path))
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            file.write(data.encode() if isinstance(data, str) else data)
        os.replace(part, place)
    except OSError as e:
        part.unlink(missing_ok=True)
        raise FileError(f"it cannot be written ({e.strerror or e}); check the folder and its permissions", path) from None
    return place

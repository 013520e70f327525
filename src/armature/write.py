"""Files are written whole or not at all, and never over what the program did not write itself.

A file is the program's own if it carries one of its marks (every format that it writes has one), or
if it is empty."""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike, fspath
from pathlib import Path

from armature.errors import FileError

MARK = "written by armature"  # in files that have no JSON in them
MARKS = tuple(
    text.encode(code) for text in (MARK, '"format": "armature ') for code in ("utf-8", "utf-32-le")
)  # NumPy's texts are UTF-32
SEARCHED = 2**20  # bytes at the beginning and at the end of a file in which marks are looked for
_over: ContextVar[bool] = ContextVar("write over foreign files", default=False)


@contextmanager
def overwriting(allowed: bool = True) -> Iterator[None]:
    """Inside, files of others may be written over (what --force does)."""
    token = _over.set(allowed)
    try:
        yield
    finally:
        _over.reset(token)


def check_target(path: str | PathLike[str], head: bytes = b"") -> Path:
    """A FileError where writing to this path would destroy what the program did not write. head:
    first line of a table that is to be
    written: a file with the same one is an older version of it."""
    place = Path(fspath(path))
    try:
        info = os.stat(place)
    except OSError:
        return place  # nothing there; if it cannot be written either, writing tells why
    if not stat.S_ISREG(info.st_mode):
        raise FileError(
            "this is no regular file, and nothing is written there; choose another name", path
        )
    if info.st_size and not _over.get() and not _ours(place, info.st_size, head):
        raise FileError(
            "there is a file already that Armature did not write; choose another name, or --force"
            " to write over it",
            path,
        )
    return place


def check_ending(path: str | PathLike[str], endings: Sequence[str], what: str) -> None:
    """A FileError where a path does not end in one of these; what: that is written there."""
    suffix = Path(fspath(path)).suffix.lower()
    if suffix not in endings:
        raise FileError(f"{what} ends in {', '.join(endings)}, not {suffix!r}", path)


def _ours(place: Path, size: int, head: bytes) -> bool:
    try:
        with open(place, "rb") as file:
            begin = file.read(SEARCHED)
            file.seek(max(0, size - SEARCHED))
            end = file.read(SEARCHED)
    except OSError:
        return False  # what cannot be looked at is somebody else's
    same = len(head) > 8 and begin.partition(b"\n")[0].strip() == head.strip()
    return same or any(mark in begin or mark in end for mark in MARKS)


def write_whole(path: str | PathLike[str], data: bytes | str, table: bool = False) -> Path:
    """Write a file so that whoever looks finds the old one or the new one, never a part of it, even
    if this process is killed.

    table: it carries no mark; a file with the same first line is taken for its older version.
    """
    content = (
        data.encode("utf-8", "replace") if isinstance(data, str) else data
    )  # a folder's name may hold what is no character
    place = check_target(path, content.partition(b"\n")[0] if table else b"")
    target = (
        place.resolve() if place.is_symlink() else place
    )  # the link stays, what it names is replaced
    part = target.with_name(f".{target.name[:100]}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            file.write(content)
        os.replace(part, target)
    except OSError as e:
        part.unlink(missing_ok=True)
        raise FileError(
            f"it cannot be written ({e.strerror or e}); check the folder and its permissions", path
        ) from None
    return place


def harmless(cell: object) -> object:
    """A cell of a table that no spreadsheet takes for a formula: text that begins like one gets an
    apostrophe."""
    return (
        "'" + cell
        if isinstance(cell, str)
        and cell.lstrip()[:1] in ("=", "+", "-", "@")
        and not _is_number(cell)
        else cell
    )


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """A table as CSV text: numbers with all digits, names harmless."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows(
        [repr(x) if isinstance(x, float) else harmless(x) for x in row] for row in rows
    )
    return out.getvalue()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

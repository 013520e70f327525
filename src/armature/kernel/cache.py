"""The cache on disk: object code of kernels and of compiled loops, kept for the next process.

An entry is one file: a magic line, a SHA-256 of the rest, a JSON header and the content. Its name
is the SHA-256 of its key: what was compiled, for which CPU, and by which versions, so that several
versions share a folder. An entry is used only if it is the user's own (owner; nobody else may write
to it or to its folder; no symbolic link), whole (checksum) and of this key. Everything else is a
miss, and a folder that cannot be used costs time, never the answer. Above `cache_limit` the entries
that were not used for longest are deleted.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
import warnings
from pathlib import Path

from armature.errors import ArmatureWarning

MAGIC = b"armature cache 2\n"
SUFFIX = ".kernel"
DEFAULT_LIMIT = 1000  # MB
KEPT_SHARE = 0.9  # of the limit, after entries were deleted
UNCOUNTED_SHARE = 0.01  # of the limit, that may be written before the folder is counted again

_uncounted: dict[Path, int] = {}  # bytes written to a folder since it was counted
_reported: set[str] = set()


def cache_folder() -> Path:
    """Where compiled code is kept: ARMATURE_CACHE, or the user's cache directory."""
    import platformdirs

    return Path(os.environ.get("ARMATURE_CACHE") or platformdirs.user_cache_dir("armature"))


def cache_limit() -> int:
    """Size of the cache in bytes: ARMATURE_CACHE_SIZE in MB (0: keep nothing), 1000 MB by
    default."""
    try:
        megabytes = float(os.environ["ARMATURE_CACHE_SIZE"])
        return max(0, int(megabytes * 1e6))
    except (KeyError, ValueError, OverflowError):
        return DEFAULT_LIMIT * 1_000_000


def entry_path(key: str) -> Path:
    """The file of an entry."""
    return cache_folder() / (hashlib.sha256(key.encode()).hexdigest() + SUFFIX)


def read_entry(key: str) -> tuple[dict, bytes] | None:
    """(header, content), or None when there is no entry, or it is damaged or not the user's own."""
    path = entry_path(key)
    try:
        if not is_own_folder(path.parent):
            return None
        data = read_own_file(path)
    except (OSError, ValueError, MemoryError):
        return None
    start = len(MAGIC) + 64
    digest, body = data[len(MAGIC) : start], data[start:]
    if not data.startswith(MAGIC) or hashlib.sha256(body).hexdigest().encode() != digest:
        return None
    line, _, content = body.partition(b"\n")
    try:
        header = json.loads(line)
        return (header, content) if header["key"] == key else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def write_entry(key: str, header: dict, content: bytes) -> None:
    """Keep an entry for the next process; written under another name and moved into place."""
    body = json.dumps({**header, "key": key}).encode() + b"\n" + content
    data = MAGIC + hashlib.sha256(body).hexdigest().encode() + body
    if len(data) > cache_limit():
        return
    path = entry_path(key)
    part = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not is_own_folder(path.parent):
            return
        make_room(path.parent, len(data))
        # a temporary file is readable and writable by its owner alone (mode 0600)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
            part = file.name
            file.write(data)
        os.replace(part, path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        report_once(
            f"compiled code cannot be kept in {path.parent} ({reason}): every start compiles again;"
            " let ARMATURE_CACHE name a folder that can be written"
        )
        if part is not None:
            with contextlib.suppress(OSError):
                os.unlink(part)


# whose it is -------------------------------------------------------------------------------------


def is_own(found: os.stat_result) -> bool:
    """Whether a file or folder is this user's, and nobody else may write to it."""
    if not hasattr(os, "geteuid"):  # Windows: the user's profile is protected by its access lists
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def is_own_folder(folder: Path) -> bool:
    """Whether code from this folder may be run; a folder of others is reported once."""
    try:
        found = os.stat(folder)
    except (OSError, ValueError):
        return False
    if not stat.S_ISDIR(found.st_mode):
        return False
    if not is_own(found):
        report_once(
            f"the cache folder {folder} is not used: it belongs to another user or others may write"
            " to it, and code from there is not run; let ARMATURE_CACHE name a folder of your own"
            " (chmod 700)"
        )
        return False
    return True


def read_own_file(path: Path) -> bytes:
    """The content of a regular file of this user's, now marked as used; OSError if it is anything
    else."""
    flags = os.O_RDONLY
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, name, 0)
    with open(os.open(path, flags), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode) or not is_own(found):
            raise PermissionError(f"{path} is not a file of this user's own")
        data = file.read()
    with contextlib.suppress(OSError):  # on a disk that is read-only
        os.utime(path)
    return data


def report_once(message: str) -> None:
    """Warn of what costs every start its time, once per process."""
    if message not in _reported:
        _reported.add(message)
        warnings.warn(message, ArmatureWarning, stacklevel=2)


# how much it is ----------------------------------------------------------------------------------


def make_room(folder: Path, size: int) -> None:
    """Delete the entries that were not used for longest, if `size` more bytes exceed the limit."""
    limit = cache_limit()
    _uncounted[folder] = _uncounted.get(folder, limit) + size
    if _uncounted[folder] <= UNCOUNTED_SHARE * limit:
        return
    entries = sorted(list_entries(folder))
    total = size + sum(count for _, count, _ in entries)
    if total > limit:
        for _, count, path in entries:
            if total <= KEPT_SHARE * limit:
                break
            with contextlib.suppress(OSError):
                os.unlink(path)
                total -= count
    _uncounted[folder] = 0


def list_entries(folder: Path) -> list[tuple[float, int, str]]:
    """(last use, bytes, path) of every entry, and of every part that a process left behind."""
    entries = []
    with os.scandir(folder) as found:
        for item in found:
            if item.name.endswith((SUFFIX, ".part")):
                with contextlib.suppress(OSError):  # another process has deleted it
                    about = item.stat(follow_symlinks=False)
                    entries.append((about.st_mtime, about.st_size, item.path))
    return entries

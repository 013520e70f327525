"""Tables of numbers in text files, read strictly: a bad file is refused with its line."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from os import PathLike

import numpy as np

from armature.errors import FileError

MOST_BYTES = 2**30


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of a CSV file.

    names: of the columns.  values: (rows, columns).  lines: of each row, 1-based.  header_line.  notes: lines beginning with #.
    """

    names: list[str]
    values: np.ndarray
    lines: list[int]
    header_line: int
    notes: list[str]


def read_text(path: str | PathLike[str]) -> str:
    """The content of a text file in UTF-8, or a FileError."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise FileError("the bytes are not UTF-8 text; save the file as UTF-8, or check its kind", path, line) from None


def read_bytes(path: str | PathLike[str]) -> bytes:
    """The content of a file of at most 1 GB, or a FileError."""
    try:
        if os.path.isdir(path):
            raise FileError("this is a directory; give the path of a file", path)
        if os.path.getsize(path) > MOST_BYTES:
            raise FileError(f"the file has {os.path.getsize(path) / 2**30:.1f} GB; at most 1 GB is read", path)
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise FileError("there is no such file; check the path", path) from None
    except (OSError, ValueError) as e:
        raise FileError(f"it cannot be read ({getattr(e, 'strerror', None) or e}); check its path and permissions", path) from None


def read_table(path: str | PathLike[str]) -> Table:
    """A CSV file with one header line and finite numbers below; empty lines and lines beginning with # are left out."""
    names: list[str] = []
    rows, lines, notes, header = [], [], [], 0
    for number, text in enumerate(read_text(path).splitlines(), start=1):
        if not text.strip() or text.lstrip().startswith("#"):
            notes += [text.lstrip("# ").rstrip()] if text.strip() else []
            continue
        cells = next(csv.reader([text]))
        if not names:
            names, header = [c.strip() for c in cells], number
            _check_header(names, path, number)
            continue
        rows.append(_numbers(cells, names, path, number))
        lines.append(number)
    if not names:
        raise FileError("the file is empty; its first line must name the columns", path, 1)
    return Table(names, np.array(rows, dtype=float).reshape(-1, len(names)), lines, header, notes)


def _check_header(names: list[str], path: object, number: int) -> None:
    if all(_is_number(name) for name in names):
        raise FileError("the first line holds numbers, not the names of the columns; add a header line", path, number)
    for k, name in enumerate(names):
        if name in names[:k] or not name:
            what = f"column {name!r} stands twice" if name else f"column {k + 1} has no name"
            raise FileError(f"{what}; give every column its own name", path, number)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(cells: list[str], names: list[str], path: object, number: int) -> list[float]:
    if len(cells) != len(names):
        raise FileError(f"the line has {len(cells)} values, the header names {len(names)} columns; add or remove some", path, number)
    values = []
    for name, cell in zip(names, cells):
        if not _is_number(cell) or not np.isfinite(float(cell)):
            raise FileError(f"column {name!r} holds {cell.strip()[:40]!r}, which is not a finite number; correct it", path, number)
        values.append(float(cell))
    return values

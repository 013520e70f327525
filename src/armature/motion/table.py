"""Tables of numbers in text files, read strictly and in blocks: a bad file is refused with its
line, before it fills the memory.

Limits: 256 MB, 5 million lines, 16 million numbers, 10,000 columns, 1 MB in one line, 1,000
characters in one cell."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np

from armature.errors import FileError
from armature.text import decode, open_regular
from armature.text import read_bytes as _read_bytes

MOST_BYTES = 2**28  # of a table
MOST_BINARY = 2**27  # of a file that other programs' readers unpack
MOST_LINE = 2**20  # bytes; as many are read at once
MOST_LINES = 5_000_000
MOST_NUMBERS = 16_000_000
MOST_COLUMNS = 10_000
LONGEST_CELL = 1000


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of a CSV file.

    names: of the columns.  values: (rows, columns).  lines: (rows,) of each row, 1-based.
    header_line.  notes: lines beginning with #."""

    names: list[str]
    values: np.ndarray
    lines: np.ndarray
    header_line: int
    notes: list[str]


def read_bytes(path: str | PathLike[str]) -> bytes:
    """The content of a regular file of at most 128 MB, or a FileError."""
    return _read_bytes(path, MOST_BINARY)


def line_blocks(path: str | PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """The lines of a UTF-8 file, a megabyte at a time, each block with the number of its first
    line."""
    number, rest, first = 1, b"", True
    with open_regular(path, MOST_BYTES) as file:
        if (
            sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(MOST_LINE), b""))
            > MOST_LINES
        ):
            raise FileError(f"the file has more than {MOST_LINES} lines; give fewer", path)
        file.seek(0)
        while chunk := file.read(MOST_LINE):
            cut = chunk.rfind(b"\n") + 1
            block, rest = (rest + chunk[:cut], chunk[cut:]) if cut else (b"", rest + chunk)
            if len(rest) > MOST_LINE:
                raise FileError(
                    f"a line has more than {MOST_LINE // 2**20} MB; is this a table of numbers?",
                    path,
                    number,
                )
            if block:
                lines = _lines(block, first, path, number)
                yield number, lines
                number, first = number + len(lines), False
    if rest:
        yield number, _lines(rest, first, path, number)


def _lines(block: bytes, first: bool, path: object, number: int) -> list[str]:
    try:
        return decode(block, "utf-8-sig" if first else "utf-8", path).splitlines()
    except FileError as e:
        line = number + (e.line or 1) - 1
        raise FileError(
            "the bytes are not UTF-8 text; save the file as UTF-8, or check its kind", path, line
        ) from None


def is_note(text: str) -> bool:
    """Whether a line holds no numbers: it is empty, or begins with #."""
    return not text.strip() or text.lstrip().startswith("#")


class Rows:
    """Numbers of a table that is read block by block. one: the numbers of one line (or a
    FileError), where a block is not plain;
    mark: what lines are cut at, None for blanks; names: of the columns."""

    def __init__(
        self,
        names: Sequence[str],
        mark: str | None,
        one: Callable[[str, int], list[float]],
        path: object,
    ):
        self.names, self.mark, self.one, self.path = names, mark, one, path
        self._values: list[np.ndarray] = []
        self._lines: list[np.ndarray] = []
        self._count = 0

    def add(self, lines: list[str], numbers: np.ndarray) -> None:
        """Lines of numbers, and their numbers in the file."""
        if not lines:
            return
        self._count += len(lines) * len(self.names)
        if self._count > MOST_NUMBERS:
            raise FileError(
                f"the table has more than {MOST_NUMBERS} numbers; leave out columns or lines",
                self.path,
            )
        found = self._plain(lines)
        if found is None:
            found = np.array(
                [self.one(text, int(number)) for text, number in zip(lines, numbers)], dtype=float
            )
        self._values.append(found)
        self._lines.append(numbers)

    def _plain(self, lines: list[str]) -> np.ndarray | None:
        """All numbers of a block at once, None where anything is not as it should be."""
        try:
            found = np.loadtxt(lines, delimiter=self.mark, comments=None, quotechar='"', ndmin=2)
        except (ValueError, TypeError, OverflowError):
            return None
        return (
            found
            if found.shape == (len(lines), len(self.names)) and np.all(np.isfinite(found))
            else None
        )

    def values(self) -> np.ndarray:
        """(rows, columns)."""
        return np.concatenate(self._values) if self._values else np.empty((0, len(self.names)))

    def lines(self) -> np.ndarray:
        """(rows,) of each row in the file, 1-based."""
        return np.concatenate(self._lines) if self._lines else np.empty(0, dtype=int)


def sorted_out(first: int, lines: list[str]) -> tuple[list[str], np.ndarray, list[str]]:
    """The lines of a block that may hold numbers, their numbers in the file, and the lines that are
    notes."""
    numbers = np.arange(first, first + len(lines))
    if not any(text[:1] in "# \t" for text in lines):  # nor is any of them empty
        return lines, numbers, []
    notes = [is_note(text) for text in lines]
    kept = [text for text, note in zip(lines, notes) if not note]
    return kept, numbers[~np.array(notes)], [text for text, note in zip(lines, notes) if note]


def read_table(path: str | PathLike[str]) -> Table:
    """A CSV file with one header line and finite numbers below; empty lines and lines beginning
    with # are left out."""
    rows, header, notes = None, 0, []
    for first, block in line_blocks(path):
        lines, numbers, others = sorted_out(first, block)
        notes += [text.lstrip("# ").rstrip() for text in others if text.strip()]
        if rows is None and lines:
            header = int(numbers[0])
            names = [c.strip() for c in _cells(lines[0], path, header)]
            check_names(names, path, header)
            rows = Rows(
                names,
                ",",
                lambda text, n, names=names: _numbers(_cells(text, path, n), names, path, n),
                path,
            )
            lines, numbers = lines[1:], numbers[1:]
        if rows is not None:
            rows.add(lines, numbers)
    if rows is None:
        raise FileError("the file is empty; its first line must name the columns", path, 1)
    return Table(list(rows.names), rows.values(), rows.lines(), header, notes)


def _cells(text: str, path: object, number: int) -> list[str]:
    try:
        return next(csv.reader([text]), [])
    except csv.Error as e:
        raise FileError(f"the line is no row of a table ({e}); correct it", path, number) from None


def check_names(names: list[str], path: object, number: int) -> None:
    """Refuse a header line that names no columns, or names them badly."""
    if len(names) > MOST_COLUMNS:
        raise FileError(
            f"the header names {len(names)} columns; at most {MOST_COLUMNS} are read", path, number
        )
    if all(_is_number(name) for name in names):
        raise FileError(
            "the first line holds numbers, not the names of the columns; add a header line",
            path,
            number,
        )
    known: set[str] = set()
    for k, name in enumerate(names):
        if name in known or not name or len(name) > LONGEST_CELL:
            what = f"column {name[:60]!r} " + ("stands twice" if name in known else "is too long")
            what = what if name else f"column {k + 1} has no name"
            raise FileError(f"{what}; give every column its own name", path, number)
        known.add(name)


def _is_number(text: str) -> bool:
    return number_in(text) is not None


def number_in(text: str) -> float | None:
    """The number that a cell holds; None where it is none."""
    if len(text) > LONGEST_CELL:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def _numbers(cells: list[str], names: Sequence[str], path: object, number: int) -> list[float]:
    if len(cells) != len(names):
        raise FileError(
            f"the line has {len(cells)} values, the header names {len(names)} columns; add or"
            " remove some",
            path,
            number,
        )
    values = [number_in(cell) for cell in cells]
    for name, cell, value in zip(names, cells, values):
        if value is None or value - value != 0.0:
            raise FileError(
                f"column {name!r} holds {cell.strip()[:40]!r}, which is not a finite number;"
                " correct it",
                path,
                number,
            )
    return values  # type: ignore[return-value]  (none of them is None)

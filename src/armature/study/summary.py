"""The table of a study: columns, files, and what it says in short."""

from __future__ import annotations

import csv
import importlib
import io
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from armature.errors import ArgumentError, MissingExtraError
from armature.study.store import STATES, Row, open_store
from armature.write import MARK, harmless, write_whole

UNITS = {
    "energy": "J",
    "losses": "J",
    "duration": "s",
    "seconds": "s",
    "least_time": "s",
    "payload": "kg",
}
CURVES = {
    "curve_durations": "curve_duration",
    "curve_energies": "curve_energy",
    "curve_losses": "curve_loss",
}
UNITS |= {"curve_duration": "s", "curve_energy": "J", "curve_loss": "J"}
FIRST = ("case", "state")
LAST = ("seconds", "attempts", "reason", "id")


@dataclass(frozen=True, eq=False)
class Results:
    """The table of a study. keys: what is varied.  rows: its cases, in order.  path: of the store.
    interrupted: whether it was asked to stop before the end."""

    name: str
    keys: tuple[str, ...]
    rows: tuple[Row, ...]
    path: Path
    interrupted: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many cases are in each state."""
        found = Counter(row.state for row in self.rows)
        return {state: found[state] for state in STATES}

    @property
    def complete(self) -> bool:
        """Whether every case has its row."""
        return self.counts["waiting"] == 0

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns: case, state, inputs, outcomes, seconds, attempts, reason, id."""
        outcomes = dict.fromkeys(name for row in self.rows for name in row.outcome)
        taken = {*FIRST, *LAST, *outcomes}
        inputs = tuple(f"given_{key}" if key in taken else key for key in self.keys)
        return (*FIRST, *inputs, *outcomes, *LAST)

    def table(self) -> dict[str, list[Any]]:
        """{column: values}, one value for each case; None where there is none."""
        inputs = dict(zip(self.columns[len(FIRST) :], self.keys))
        own = {"case": "number"}
        return {
            name: [
                (
                    getattr(row, own.get(name, name))
                    if name in (*FIRST, *LAST)
                    else row.inputs.get(inputs[name])
                    if name in inputs
                    else row.outcome.get(name)
                )
                for row in self.rows
            ]
            for name in self.columns
        }

    def column(self, name: str) -> np.ndarray:
        """One column as an array of numbers, NaN where there is none; of objects where it has words
        or lists."""
        table = self.table()
        if name not in table:
            raise ArgumentError(f"there is no column {name!r}; there are: {', '.join(table)}")
        values = table[name]
        if all(v is None or isinstance(v, int | float) for v in values):
            return np.array([np.nan if v is None else float(v) for v in values])
        return np.array(values, dtype=object)

    def plan(self, case: int | str) -> Any:
        """The kept plan of a case, by its number or id, as `arm.job.load_plan` gives it."""
        import tempfile

        from armature.job.saved import load_plan

        with open_store(self.path) as store:
            row = store.row(case)
            data = store.plan(row.id)
        if data is None:
            raise ArgumentError(
                f"case {row.number} has no plan in the store; run the study with keep: true"
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "plan.npz"
            path.write_bytes(data)
            return load_plan(path)

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            return importlib.import_module("pandas").DataFrame(self.table())
        except ImportError:
            raise MissingExtraError("to_pandas", "pandas", "io") from None

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the table to a .csv or .parquet file; of curves, one line for every duration. Units
        stand in brackets in the heading of a .csv, in the columns' metadata of a .parquet file."""
        place = Path(fspath(path))
        writers = {".csv": _csv, ".parquet": _parquet}
        if place.suffix.lower() not in writers:
            raise ArgumentError(
                f"{place}: tables are written as .csv or .parquet; give such a name"
            )
        data = writers[place.suffix.lower()](_long(self.table()))
        write_whole(place, data, table=True)
        return place

    def __str__(self) -> str:
        return summary(self)


def load_results(path: str | PathLike[str]) -> Results:
    """The table of a store as it is now, while the study runs or later."""
    with open_store(path) as store:
        about = store.about()
        keys = tuple(k for k in about.get("keys", "").split("\n") if k)
        return Results(
            about.get("name", Path(fspath(path)).stem),
            keys,
            tuple(store.rows()),
            Path(fspath(path)),
        )


def _long(table: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """A table with curves as one with a line for every duration; any other as it is."""
    if "curve_durations" not in table:
        return dict(table)
    repeat = [max(1, len(c or ())) for c in table["curve_durations"]]
    result: dict[str, list[Any]] = {}
    for name, values in table.items():
        if name in CURVES:
            result[CURVES[name]] = [x for v in values for x in v or [None]]
        else:
            result[name] = [v for v, n in zip(values, repeat) for _ in range(n)]
    return result


def _csv(table: Mapping[str, list[Any]]) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(
        [harmless(f"{name} [{UNITS[name]}]" if name in UNITS else name) for name in table]
    )
    for row in zip(*table.values()):
        cells = [
            (
                json.dumps(v, ensure_ascii=False)
                if isinstance(v, dict | list)
                else ""
                if v is None
                else v
            )
            for v in row
        ]
        writer.writerow([harmless(cell) for cell in cells])
    return file.getvalue().encode("utf-8", "replace")


def _parquet(table: Mapping[str, list[Any]]) -> bytes:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("a .parquet file", "pyarrow", "io") from None
    arrays, fields = [], []
    for name, values in table.items():
        arrays.append(pyarrow.array(_one_kind(values)))
        unit = {"unit": UNITS[name]} if name in UNITS else None
        fields.append(pyarrow.field(name, arrays[-1].type, metadata=unit))
    file = io.BytesIO()
    pyarrow.parquet.write_table(
        pyarrow.table(arrays, schema=pyarrow.schema(fields, metadata={"armature": MARK})), file
    )
    return file.getvalue()


def _one_kind(values: Sequence[Any]) -> list[Any]:
    """Values of one type: numbers as they are, anything mixed or nested as JSON text."""
    kinds = {
        bool if isinstance(v, bool) else float if isinstance(v, int | float) else type(v)
        for v in values
        if v is not None
    }
    if kinds <= {bool} or kinds <= {str}:
        return list(values)
    if kinds == {float}:
        whole = all(v is None or isinstance(v, int) for v in values)
        return list(values) if whole else [None if v is None else float(v) for v in values]
    return [
        None if v is None else v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)
        for v in values
    ]


def summary(results: Results) -> str:
    """What a table says in short: how many cases, how many good ones, the ranges of what was found,
    and the failures' reasons."""
    c = results.counts
    lines = [
        f"{results.name}: {len(results.rows)} cases, "
        + ", ".join(f"{n} {state}" for state, n in c.items() if n)
    ]
    done = [row.outcome for row in results.rows if row.state == "done"]
    if done and "ok" in done[0]:
        good = [o for o in done if o.get("ok")]
        proven = sum(bool(o.get("certified")) for o in good)
        certified = (
            f", {proven} of them certified"
            if any(o.get("certified") is not None for o in good)
            else ""
        )
        lines.append(f"  {len(good)} of {len(done)} have a plan{certified}")
        lines += [
            _range(name, good)
            for name in ("energy", "losses", "saving", "duration")
            if _numbers(name, good).size
        ]
        reasons = Counter(
            str(o.get("diagnosis") or o.get("status")) for o in done if not o.get("ok")
        )
        lines += [f"  {n} without a plan: {reason}" for reason, n in reasons.most_common(3)]
    trouble = Counter(
        (row.state, row.reason) for row in results.rows if row.state in ("failed", "poisoned")
    )
    lines += [f"  {n} {state}: {reason}" for (state, reason), n in trouble.most_common(5)]
    return "\n".join(lines)


def _numbers(name: str, outcomes: Sequence[Mapping[str, Any]]) -> np.ndarray:
    return np.array([float(o[name]) for o in outcomes if o.get(name) is not None])


def _range(name: str, outcomes: Sequence[Mapping[str, Any]]) -> str:
    x = _numbers(name, outcomes) * (100.0 if name == "saving" else 1.0)
    unit = "%" if name == "saving" else UNITS[name]
    return f"  {name:9} {x.min():.4g} … {x.max():.4g} {unit}, median {np.median(x):.4g} {unit}"

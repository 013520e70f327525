"""The cases of a study as the app shows them: labels to pick from, a table, and the plan of
each."""

from __future__ import annotations

import html
import tempfile
from pathlib import Path
from typing import Any

from armature.errors import ArgumentError
from armature.job.saved import load_plan
from armature.study.store import open_store

MOST_ROWS = 200  # of the table on the page


class Cases:
    """Finished cases of a study, read from its table."""

    def __init__(self, path: Path):
        self._path = path
        with open_store(path) as store:
            self._rows = store.rows(("done",))
        self.labels = [self._label(row) for row in self._rows]
        self._id = {label: row.id for label, row in zip(self.labels, self._rows)}

    def _label(self, row: Any) -> str:
        inputs = ", ".join(f"{name} {_short(value)}" for name, value in row.inputs.items())
        return f"{row.number}: {inputs}"[:80]

    def plan(self, label: str) -> Any:
        """The plan of a case."""
        if label not in self._id:
            raise ArgumentError(f"the study has no finished case {label!r}; pick one from the list")
        with open_store(self._path) as store:
            content = store.plan(self._id[label])
        if content is None:
            raise ArgumentError(
                f"the plan of case {label!r} was not kept; run the study again and keep its plans"
            )
        with tempfile.TemporaryDirectory(prefix="armature") as folder:
            path = Path(folder) / "plan.npz"
            path.write_bytes(content)
            return load_plan(path)

    def table(self) -> str:
        """The first cases with what was found, as HTML."""
        rows = self._rows[:MOST_ROWS]
        names = [
            *dict.fromkeys(k for row in rows for k in row.inputs),
            *dict.fromkeys(k for row in rows for k in row.outcome),
        ][:7]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
        cells = lambda row: "".join(
            f"<td>{html.escape(_short({**row.inputs, **row.outcome}.get(name, '')))}</td>"
            for name in names
        )
        body = "".join(f"<tr><td>{row.number}</td>{cells(row)}</tr>" for row in rows)
        return (
            "<div"
            f' style="overflow-x:auto;font-size:0.75em"><table><tr><th>#</th>{head}</tr>{body}</table></div>'
        )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)[:24]

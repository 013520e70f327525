"""`armature study`: many plans as one table that survives a kill; run, look, export, draw, and try
again what failed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from armature.cli import output
from armature.cli.kinds import refuse_other
from armature.cli.verb import add

if TYPE_CHECKING:
    from armature.study.run import Progress
    from armature.study.summary import Results

app = typer.Typer(
    no_args_is_help=True, help="Many plans as one table: run it, stop it, go on, look at it."
)

STUDY = typer.Argument(help="study file (.yaml), or the store of one (.db)")
STORE = typer.Option(
    None,
    "--store",
    help="the file of the table; by default the study's with the ending .db",
    show_default=False,
)
WORKERS = typer.Option(
    None,
    "--workers",
    "-w",
    min=1,
    help="processes of this machine; by default one for each core",
    show_default=False,
)
CLUSTER = typer.Option(
    None,
    "--cluster",
    help="run on a Dask cluster: tcp://host:8786 or tls://host:8786; or local:N",
    show_default=False,
)
TLS_CA = typer.Option(
    None, "--tls-ca", help="certificate of the cluster's authority (PEM)", show_default=False
)
TLS_CERT = typer.Option(
    None, "--tls-cert", help="certificate of this client (PEM)", show_default=False
)
TLS_KEY = typer.Option(None, "--tls-key", help="its key (PEM)", show_default=False)


def run(
    study: Path = typer.Argument(help="study file (.yaml)"),
    workers: int | None = WORKERS,
    cluster: str | None = CLUSTER,
    tls_ca: Path | None = TLS_CA,
    tls_cert: Path | None = TLS_CERT,
    tls_key: Path | None = TLS_KEY,
    store: Path | None = STORE,
) -> int:
    """Run the cases that are missing. Ctrl-C: the cases at work are finished; twice: stop at once.
    Run it again to go on.

    Exit codes: 0 all cases have a row; 1 some failed; 130 interrupted.
    """
    from armature.study.file import load_study, store_of
    from armature.study.run import run_study

    refuse_other(study, frozenset({"task", "vary"}))
    what, where = load_study(study), store or store_of(study)
    with Bar(what.name) as bar:
        results = run_study(what, where, workers, cluster, bar, tls=_tls(tls_ca, tls_cert, tls_key))
    stopped = results.interrupted and not results.complete
    output.say(
        results,
        f"table: {where}",
        *(["stopped; the same command goes on where it was"] if stopped else []),
    )
    output.answer(facts(results))
    return output.INTERRUPTED if stopped else code(results)


def retry(
    study: Path = typer.Argument(help="study file (.yaml)"),
    case: list[int] = typer.Argument(
        None,
        help="numbers of cases; by default all that failed or were set aside",
        show_default=False,
    ),
    workers: int | None = WORKERS,
    cluster: str | None = CLUSTER,
    tls_ca: Path | None = TLS_CA,
    tls_cert: Path | None = TLS_CERT,
    tls_key: Path | None = TLS_KEY,
    store: Path | None = STORE,
) -> int:
    """Run cases again that failed or were set aside because they cost too many workers."""
    from armature.study.file import store_of
    from armature.study.store import open_store

    where = store or store_of(study)
    with open_store(where) as existing:  # a store that is not there is not made
        existing.counts()
    with open_store(where, write=True) as table:
        count = table.reset(("failed", "poisoned"), case or ())
    output.say(f"{count} cases are tried again")
    return run(study, workers, cluster, tls_ca, tls_cert, tls_key, store)


def _tls(ca: Path | None, cert: Path | None, key: Path | None) -> Any:
    """The certificates for a cluster: all three, or none."""
    from armature.errors import ArgumentError
    from armature.study.dask_pool import Tls

    if ca is None and cert is None and key is None:
        return None
    if ca is None or cert is None or key is None:
        raise ArgumentError("--tls-ca, --tls-cert and --tls-key belong together; give all three")
    return Tls(ca, cert, key)


def status(study: Path = STUDY, store: Path | None = STORE) -> int:
    """How far a study is, also while it runs."""
    results = loaded(study, store)
    output.say(results)
    output.answer(facts(results))
    return code(results)


def show(
    study: Path = STUDY,
    case: str | None = typer.Argument(
        None, help="number or id of a case; by default the table", show_default=False
    ),
    store: Path | None = STORE,
    state: str | None = typer.Option(
        None,
        "--state",
        help="only cases that are waiting, done, failed or poisoned",
        show_default=False,
    ),
    rows: int = typer.Option(30, "--rows", min=1, help="lines of the table"),
    save: Path | None = typer.Option(
        None,
        "--save",
        help="write the plan of the case: a folder, .npz or .json",
        show_default=False,
    ),
) -> int:
    """The table, or one case with all that is known about it."""
    results = loaded(study, store)
    if case is None:
        return show_table(results, state, rows)
    from armature.study.store import open_store

    with open_store(results.path) as table:
        row = table.row(case)
    about = {
        "case": row.number,
        "id": row.id,
        "state": row.state,
        "inputs": row.inputs,
        "outcome": row.outcome,
        "seconds": row.seconds,
    }
    about |= {"attempts": row.attempts, "reason": row.reason}
    lines = [
        f"case {row.number} ({row.id}): {row.state}",
        *(f"  {k} = {v}" for k, v in row.inputs.items()),
    ]
    lines += [f"  {k}: {_short(v)}" for k, v in row.outcome.items() if v not in (None, "")]
    lines += [f"  {row.reason}"] if row.reason else []
    output.say(*lines)
    if save is not None:
        results.plan(case).save(save)
        output.say(f"written: {save}")
    output.answer(about)
    return output.OK


def show_table(results: Results, state: str | None, most: int) -> int:
    """Print the first lines of the table."""
    from armature.robot.guard import known
    from armature.study.store import STATES

    chosen = [
        k
        for k, row in enumerate(results.rows)
        if state is None or row.state == known("state", state, STATES)
    ]
    hidden = (
        "curve_durations",
        "curve_energies",
        "curve_losses",
        "minima",
        "id",
        "attempts",
        "iterations",
        "status",
    )
    table = {
        name: values
        for name, values in results.table().items()
        if name not in hidden and any(v not in (None, "") for v in values)
    }
    output.say(
        output.table(
            list(table), [[_short(values[k]) for values in table.values()] for k in chosen[:most]]
        )
    )
    if len(chosen) > most:
        output.say(
            f"… and {len(chosen) - most} more; --rows {len(chosen)} shows all, armature study"
            " export writes them"
        )
    whole = results.table()
    output.answer(
        {"columns": list(whole), "rows": [[values[k] for values in whole.values()] for k in chosen]}
    )
    return output.OK


def export(
    study: Path = STUDY,
    to: Path = typer.Argument(help="file to write: .csv or .parquet"),
    store: Path | None = STORE,
) -> int:
    """Write the table, one line a case (of curves, one line a duration)."""
    results = loaded(study, store)
    results.save(to)
    output.say(f"written: {to} ({len(results.rows)} cases)")
    output.answer({"written": str(to), "cases": len(results.rows)})
    return output.OK


def plot(
    study: Path = STUDY,
    to: Path = typer.Argument(Path("study.png"), help="picture to write: .png, .svg or .pdf"),
    store: Path | None = STORE,
) -> int:
    """Draw the table: energy against each varied key, what succeeded, the savings, and energy
    against time."""
    from armature.plot.study import study as draw

    draw(loaded(study, store), save=to)
    output.say(f"written: {to}")
    output.answer({"written": str(to)})
    return output.OK


for _verb in (run, status, show, export, plot, retry):
    add(app, _verb.__name__, _verb)


def loaded(study: Path, store: Path | None) -> Results:
    """The table of a study file, or of a store."""
    from armature.study.file import store_of
    from armature.study.summary import load_results

    return load_results(store or store_of(study))


def facts(results: Results) -> dict[str, Any]:
    """What programs want to know."""
    trouble = [
        {"case": r.number, "state": r.state, "reason": r.reason}
        for r in results.rows
        if r.state in ("failed", "poisoned")
    ]
    good = sum(bool(r.outcome.get("ok", True)) for r in results.rows if r.state == "done")
    return {
        "ok": code(results) == output.OK,
        "name": results.name,
        "store": str(results.path),
        "cases": len(results.rows),
        **results.counts,
        "with_plan": good,
        "interrupted": results.interrupted,
        "trouble": trouble,
    }


def code(results: Results) -> int:
    """0 unless cases failed or were set aside; a plan that does not exist is an answer."""
    return output.FAILED if results.counts["failed"] or results.counts["poisoned"] else output.OK


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.5g}"
    text = "" if value is None else str(value)
    return text if len(text) <= 60 else text[:57] + "…"


class Bar:
    """A bar with the remaining time on stderr; without a terminal, a line every ten seconds. Used
    as a context."""

    def __init__(self, title: str):
        self.title, self.told = title, 0.0
        self.live = sys.stderr.isatty() and not (output.settings.quiet or output.settings.json)
        self._bar: Any = None

    def __enter__(self) -> Bar:
        if self.live:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

            # drawn by us about four times a second: a thread of its own would take time from the
            # workers
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[words]}"),
            )
            self._bar = Progress(*columns, console=Console(stderr=True), auto_refresh=False)
            self._task = self._bar.add_task(self.title, total=None, words="")
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, now: Progress) -> None:
        """Show how far it is."""
        import time

        words = remaining(now)
        if self._bar is not None:
            if now.message:
                self._bar.console.print(now.message)
            self._bar.update(self._task, completed=now.done, total=now.total, words=words)
            self._bar.refresh()
        elif now.message:
            output.note(now.message)
        elif not output.settings.json and time.monotonic() - self.told > 10.0:
            self.told = time.monotonic()
            output.note(f"{self.title}: {now.done} of {now.total}{', ' + words if words else ''}")


def remaining(now: Progress) -> str:
    """What is left, in words."""
    parts = [f"{now.failed} failed"] if now.failed else []
    parts += [f"{now.poisoned} set aside"] if now.poisoned else []
    if now.remaining is not None and now.done < now.total:
        s = round(now.remaining)
        clock = (
            f"{s // 3600} h {s % 3600 // 60} min"
            if s >= 3600
            else f"{s // 60} min {s % 60} s"
            if s >= 60
            else f"{s} s"
        )
        parts.append(f"{clock} left")
    return ", ".join(parts)

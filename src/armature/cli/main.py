"""`armature`: the verbs put together; every error becomes one readable line and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

import typer

from armature.cli import (
    bench,
    cell,
    check,
    curve,
    design,
    excite,
    export,
    figure,
    identify,
    init,
    library,
    line,
    linearize,
    loads,
    output,
    place,
    plan,
    schema,
    simulate,
    study,
    view,
    ways,
)
from armature.cli.verb import add
from armature.errors import ArmatureError
from armature.version import __version__

app = typer.Typer(
    name="armature",
    help="Least-energy and least-time robot motions that the drives can really do, with the proof.",
    epilog=(
        "Exit codes: 0 done; 1 there is no such motion, or it is not certified; 2 bad input; 3 a"
        " fault of the program; 130 interrupted."
    ),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
add(app, "init", init.init)
add(app, "check", check.check)
add(app, "plan", plan.plan)
add(app, "curve", curve.curve)
add(app, "ways", ways.ways)
add(app, "simulate", simulate.simulate)
add(app, "linearize", linearize.linearize)
add(app, "loads", loads.loads)
add(app, "excite", excite.excite)
add(app, "identify", identify.identify)
add(app, "figure", figure.figure)
add(app, "export", export.export)
add(app, "library", library.library)
add(app, "schema", schema.schema)
add(app, "bench", bench.bench)
add(app, "view", view.view)
app.add_typer(study.app, name="study")
add(app, "line", line.line)
add(app, "cell", cell.cell)
add(app, "design", design.design)
add(app, "place", place.place)
add(app, "info", check.check, hidden=True)  # its old name


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"armature {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    """Armature's command line."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit code. Nothing but this function turns errors into
    words."""
    output.start(
        json="--json" in arguments, debug="--debug" in arguments
    )  # known before anything can go wrong
    try:
        code = app(list(arguments), prog_name="armature", standalone_mode=False)
        sys.stdout.flush()
        if code == output.INTERRUPTED:
            output.note("interrupted")
        return code if isinstance(code, int) else output.OK
    except ArmatureError as error:
        return _fail(str(error), output.BAD_INPUT)
    except KeyboardInterrupt:
        return _fail("interrupted", output.INTERRUPTED)
    except BrokenPipeError:
        return _closed()
    except (
        SystemExit
    ) as end:  # click's answer to a closed pipe is 1, which here means that there is no such motion
        if isinstance(end.__context__, BrokenPipeError):
            return _closed()
        raise
    except Exception as error:
        if hasattr(error, "format_message"):  # a mistake on the command line itself, found by typer
            words = error.format_message()  # type: ignore[attr-defined]
            return (
                _fail(f"{words} (see armature --help)", output.BAD_INPUT)
                if words
                else output.BAD_INPUT
            )  # none: help was shown
        if isinstance(error, typer.Abort):
            return _fail("interrupted", output.INTERRUPTED)
        if isinstance(error, MemoryError):
            return _fail(
                "there is not enough memory for this; ask for less (fewer knots, a smaller file)",
                output.INTERNAL,
            )
        name = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        return _fail(
            f"internal error: {name}; run it again with --debug and report what it prints",
            output.INTERNAL,
        )


def _closed() -> int:
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1
    )  # what is still buffered goes nowhere
    return output.CLOSED_PIPE


def _fail(message: str, code: int) -> int:
    """Tell an error: one line on stderr, and with --json an object on stdout."""
    if output.settings.debug:
        traceback.print_exc()
    print(
        message if message.startswith(("interrupted", "internal error")) else f"error: {message}",
        file=sys.stderr,
    )
    output.answer({"ok": False, "error": message, "exit_code": code})
    return code
